//! Rows behind pointers: which pointer each access goes through, and that the pointers can be read before the region.
//!
//! The check reads the pointers of all rows that the region may touch. The original does so too, if the statements that load them are
//! certain to run where the model says: under no condition on data, not inside of a box, and behind nothing that may never end. A row
//! that is touched under a condition will do, if its pointer is loaded for certain by another statement. What there is to it where
//! control rests on values in memory is found out in the end (`model::turns`).

use super::{AccessReader, AccessStart, Accesses, RowPointers};
use crate::facts::{Op, ValueId};
use crate::read::Stop;
use crate::read::arithmetic::{Arithmetic, set_space};
use crate::read::statement::{Cut, Draft};
use crate::read::values::Values;
use isl::{Map, Set};
use model::delinearize::Offset;
use model::polynomial::{PiecewisePolynomial, Polynomial};
use model::refusal::RefusalKind;
use model::scop::AccessKind;
use std::collections::BTreeSet;

impl AccessReader<'_, '_> {
    /// What the access is listed under, and where the pointer to its row is.
    pub(super) fn base_and_row(
        &mut self,
        start: &AccessStart,
        draft: &Draft,
    ) -> Result<(ValueId, Option<Polynomial>), Stop> {
        let values = self.arithmetic.values;
        let load = start.base;
        if !values.rows.contains(&load) {
            return Ok((load, None));
        }
        let unfit = || refuse_row(values, load);
        if start.offset.is_none() || start.may_wrap || start.framed.is_some() {
            return Err(unfit());
        }
        let pointer = values.facts.instruction(load).expect("a load").operands[0];
        let read = self.arithmetic.attempt(|this| this.pointer(pointer, &draft.scope))?;
        let (base, offset) = read.filter(|(base, _)| !values.rows.contains(base)).ok_or_else(unfit)?;
        let offset = PiecewisePolynomial::from_pw_aff(&offset)?.map(|function| function.pieces);
        let Some([(_, row)]) = offset.as_deref() else { return Err(unfit()) };
        let known = self.found.rows.iter_mut().find(|(_, pointers)| pointers.base == base);
        let stands_for_all = match known {
            Some((&first, pointers)) => {
                pointers.loads.insert(load);
                first
            }
            None => {
                self.found.rows.insert(load, RowPointers { base, loads: BTreeSet::from([load]) });
                load
            }
        };
        Ok((stands_for_all, Some(row.clone())))
    }
}

impl AccessReader<'_, '_> {
    /// Why the load of a pointer is not taken for one to a row, if that can be told.
    pub(super) fn why_no_row(&self, load: ValueId, draft: &Draft) -> Option<&'static str> {
        let values = self.arithmetic.values;
        let Op::Load { pointer, .. } = values.facts.instruction(load)?.op else { return None };
        let from = values.root_pointer(pointer);
        let writes = |v: ValueId| values.facts.instruction(v)?.op.memory()?.writes;
        if !values.is_outside(from) {
            let is_load = matches!(values.facts.instruction(from)?.op, Op::Load { .. });
            return is_load.then_some("behind another such pointer");
        }
        if values.instructions().filter_map(writes).any(|written| values.root_pointer(written) == from) {
            return Some("which the loop changes");
        }
        if self.leads_to_pointers(load) {
            return Some("which leads to further pointers");
        }
        (!draft.is_certain()).then_some("which is used under a condition on data")
    }
}

impl AccessReader<'_, '_> {
    /// Is a pointer loaded through it that something is loaded or stored through?
    fn leads_to_pointers(&self, load: ValueId) -> bool {
        let values = self.arithmetic.values;
        let touched = |v: ValueId| {
            let touched = values.facts.instruction(v)?.op.memory()?;
            Some([touched.reads, touched.writes].into_iter().flatten().map(|pointer| values.root_pointer(pointer)))
        };
        let roots = values.instructions().filter_map(touched).flatten();
        roots.filter(|&root| root != load).any(|root| match values.facts.instruction(root).map(|i| &i.op) {
            Some(Op::Load { pointer, .. }) => values.root_pointer(*pointer) == load,
            _ => false,
        })
    }
}

/// The load of a pointer is not taken for one to a row. Then nobody knows where it leads, and the region is refused; the next attempt, without
/// rows, says why.
pub fn refuse_row(values: &Values, load: ValueId) -> Stop {
    let instruction = values.facts.instruction(load).expect("a load");
    let what = values.facts.display_name(load);
    Stop::refuse(RefusalKind::UnknownBase, instruction.line, what, instruction.block)
}

/// Refuses rows whose pointers the region changes: loaded again, they would be others.
pub fn expect_unchanged_rows(values: &Values, accesses: &Accesses) -> Result<(), Stop> {
    let is_changed = |pointers: &RowPointers| accesses.of_pointers(pointers).iter().any(|a| a.kind != AccessKind::Read);
    let changed = accesses.rows.iter().find(|(_, pointers)| is_changed(pointers));
    changed.map_or(Ok(()), |(rows, _)| Err(refuse_row(values, *rows)))
}

/// Refuses rows whose pointers the region may never get to.
pub fn expect_rows(arithmetic: &Arithmetic, cut: &Cut, accesses: &Accesses) -> Result<(), Stop> {
    for (rows, pointers) in &accesses.rows {
        let unfit = || refuse_row(arithmetic.values, *rows);
        let mut certain = Set::empty(&set_space(arithmetic.values.ctx, 1)?)?;
        // Nobody knows whether a loop in a box turns.
        for pointer in accesses.of_pointers(pointers).iter().filter(|pointer| pointer.turns.is_none()) {
            let Some(Offset::Affine(offset)) = &pointer.offset else { return Err(unfit()) };
            let draft = &cut.drafts[pointer.draft];
            // A box begins with what decides which way it takes.
            let block = arithmetic.values.facts.instruction(pointer.instruction).expect("a load").block;
            if draft.scope.predicates.is_empty() && (draft.boxed.is_none() || block == draft.scope.block) {
                certain = certain.union(&Map::from_pw_aff(offset)?.intersect_domain(&draft.scope.domain)?.range()?)?;
            }
        }
        for access in &accesses.by_base[rows] {
            let draft = &cut.drafts[access.draft];
            let row = access.row.as_ref().expect("a row").to_aff(&draft.scope.domain.get_space()?)?;
            let Some(row) = row else { return Err(unfit()) };
            let pointers = Map::from_aff(&row)?.intersect_domain(&draft.scope.domain)?.range()?;
            if !draft.is_certain() && !pointers.intersect_params(&arithmetic.known.assumed)?.is_subset(&certain)? {
                return Err(unfit());
            }
        }
    }
    Ok(())
}
