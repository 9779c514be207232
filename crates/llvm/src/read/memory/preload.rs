//! Invariants become part of the model: which cell each is, when it may be loaded, and in which order.

use crate::facts::{BlockId, ValueId};
use crate::read::Stop;
use crate::read::arithmetic::{Arithmetic, Scope, set_space};
use crate::read::attempts::Again;
use crate::read::control::Arrivals;
use crate::read::values::Readable;
use isl::{PwAff, Set};
use model::scop::Preload;
use model::source::Line;
use std::collections::BTreeSet;

/// A cell that is read before the region, or was.
pub struct InvariantRead {
    pub load: ValueId,
    /// All loads of the cell in the region.
    pub loads: Vec<ValueId>,
    /// Where it is, unless the region reads it before it writes anything, and never again.
    pub cell: Option<CellRead>,
    /// Without what is known with it.
    pub preload: Option<Preload>,
    pub line: Line,
}

/// Where a cell is, and when it is read.
pub struct CellRead {
    pub base: ValueId,
    pub offset: PwAff,
    pub bytes: u64,
    /// `{ [] : … }`: the parameters for which the region reads it.
    pub domain: Set,
}

impl InvariantRead {
    pub fn base(&self) -> Option<ValueId> {
        self.cell.as_ref().map(|cell| cell.base)
    }
}

/// Ensures: what each needs stands before it.
pub fn read_invariants(arithmetic: &mut Arithmetic, arrivals: &Arrivals) -> Result<Vec<InvariantRead>, Stop> {
    let mut found = Vec::new();
    for &load in arithmetic.values.invariants.keys() {
        found.push(read_invariant(arithmetic, arrivals, load)?);
    }
    in_order_of_need(arithmetic, found)
}

fn read_invariant(arithmetic: &mut Arithmetic, arrivals: &Arrivals, load: ValueId) -> Result<InvariantRead, Stop> {
    let (values, facts) = (arithmetic.values, arithmetic.values.facts);
    let invariant = &values.invariants[&load];
    let (loads, readable) = (invariant.loads.clone(), invariant.readable.clone());
    let varies = || Stop::Again(Again::Varies(loads.clone()));
    let nowhere = Set::empty(&set_space(values.ctx, 0)?)?.params()?;
    let arrival = |block: &BlockId| arrivals.get(block);
    // Inside a box, or never reached: not without getting to what dominates it.
    let arrival_above = |block: &BlockId| {
        let above = |b: &BlockId| facts.block(*b).immediate_dominator.filter(|b| values.region.contains(*b));
        std::iter::successors(Some(*block), above).find_map(|b| arrivals.get(&b))
    };
    type Arrival<'a> = dyn Fn(&BlockId) -> Option<&'a (Set, usize)> + 'a;
    let arrivals = |loads: &[ValueId], arrival: &Arrival| -> Result<Option<(Set, usize)>, Stop> {
        let mut all = (nowhere.clone(), 0);
        for &load in loads {
            let block = facts.instruction(load).expect("a load").block;
            let Some((params, assumptions)) = arrival(&block) else { return Ok(None) };
            all = (all.0.union(params)?.coalesce()?, all.1.max(*assumptions));
        }
        Ok(Some(all))
    };
    let runs = arrivals(&loads, &arrival_above)?;
    let everywhere = Set::universe(&set_space(values.ctx, 0)?)?;
    let preload = |when: Set, after| Some(Preload { when, after, params: Vec::new(), arrays: Vec::new() });
    let preload = match readable {
        Readable::Known => None,
        Readable::Always => preload(everywhere.params()?, 0),
        Readable::Where(safe) => {
            let (Some((when, after)), Some((runs, _))) = (arrivals(&safe, &arrival)?, &runs) else {
                return Err(varies());
            };
            if !runs.intersect(&arithmetic.known.assumed)?.is_subset(&when)? {
                return Err(varies());
            }
            preload(when.gist(&arithmetic.known.context)?, after)
        }
    };
    let domain = match runs {
        Some((runs, _)) => everywhere.intersect_params(&runs)?,
        None => everywhere,
    };
    let instruction = facts.instruction(loads[0]).expect("a load");
    let line = instruction.line.or(facts.line_of_block(instruction.block));
    let (loops, predicates) = (Vec::new(), Vec::new());
    let scope = Scope { loops, domain: domain.clone(), block: instruction.block, line, predicates };
    let mut cell = None;
    if !loads.iter().all(|&load| values.is_read_once_before_writes(load)) {
        let read = arithmetic.attempt(|this| this.pointer(instruction.operands[0], &scope))?;
        let (base, offset) = read.ok_or_else(varies)?;
        cell = Some(CellRead { base, offset, bytes: facts.value(load).bytes, domain });
    }
    Ok(InvariantRead { load, loads, cell, preload, line })
}

fn in_order_of_need(arithmetic: &Arithmetic, found: Vec<InvariantRead>) -> Result<Vec<InvariantRead>, Stop> {
    let mut waiting = Vec::new();
    for read in found {
        let mut needs = BTreeSet::new();
        if let Some(preload) = &read.preload {
            needs.extend(arithmetic.values.needed_by(read.load));
            needs.extend(invariants_in(arithmetic, &preload.when)?);
            for assumption in &arithmetic.known.assumptions[..preload.after] {
                needs.extend(invariants_in(arithmetic, &assumption.valid)?);
                for bound in &assumption.bounds {
                    let values = bound.params()?.into_iter().map(|p| arithmetic.known.params[p.index()].value);
                    needs.extend(values.flat_map(|v| arithmetic.values.invariants_behind(v)));
                }
            }
        }
        waiting.push((read, needs));
    }
    let mut order: Vec<InvariantRead> = Vec::new();
    while !waiting.is_empty() {
        let is_placed = |load: &ValueId| order.iter().any(|read| read.load == *load);
        let Some(next) = waiting.iter().position(|(_, needs)| needs.iter().all(is_placed)) else {
            let varying = waiting.into_iter().flat_map(|(read, _)| read.loads).collect();
            return Err(Stop::Again(Again::Varies(varying)));
        };
        order.push(waiting.remove(next).0);
    }
    Ok(order)
}

fn invariants_in(arithmetic: &Arithmetic, set: &Set) -> Result<BTreeSet<ValueId>, isl::IslError> {
    Ok(arithmetic.known.values_in(set)?.into_iter().flat_map(|v| arithmetic.values.invariants_behind(v)).collect())
}
