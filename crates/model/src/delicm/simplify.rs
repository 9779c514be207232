//! What has become unnecessary goes: values written back to where they came from, the same value written twice, scalars that nobody
//! reads, operations that nobody needs, statements that do nothing.

use super::code::{Operation, Origin, Role, ValueId};
use super::work::{Work, WorkingStatement};
use crate::scop::{AccessKind, ArrayId, StatementId};
use crate::update::Update;
use isl::{IslError, Set};
use std::collections::BTreeSet;

/// An update: which access reads the old content, and the operation that makes the new one of it.
struct Updating {
    read: usize,
    operation: ValueId,
    update: Update,
}

impl Work<'_> {
    pub(super) fn simplify(&mut self) -> Result<(), IslError> {
        self.drop_write_backs()?;
        self.drop_duplicates()?;
        loop {
            let scalars = self.drop_unread_scalars()?;
            let operations = self.drop_unneeded();
            if !scalars && !operations {
                return Ok(());
            }
        }
    }

    /// Instances of which nobody reads anything need not run. What the region leaves in a scalar is read behind it.
    pub(super) fn drop_unread_instances(&mut self) -> Result<(), IslError> {
        for id in self.drafts.keys().copied().collect::<Vec<_>>() {
            let draft = &self.drafts[&id];
            let passes_on = draft.alive().filter(|(_, i)| i.writes()).all(|(_, i)| self.is_scalar(i.access.array));
            if !draft.alive || draft.boxed || !draft.code.effects.is_empty() || !passes_on {
                continue;
            }
            let written: Vec<ArrayId> =
                draft.alive().filter(|(_, i)| i.writes()).map(|(_, i)| i.access.array).collect();
            let mut read = Set::empty(&draft.domain.get_space()?)?;
            for scalar in written {
                for pair in self.flow(scalar)?.pairs.iter().filter(|p| p.writer == id) {
                    read = read.union(&pair.map.domain()?)?;
                }
                if self.array(scalar).live_out {
                    read = read.union(&self.last_writes(id, scalar)?)?;
                }
            }
            let read = read.coalesce()?;
            let domain = &self.drafts[&id].domain;
            // More pieces would cost more than they save.
            if read.n_basic_set()? > domain.n_basic_set()?
                || domain.intersect_params(&self.known.values)?.is_subset(&read)?
            {
                continue;
            }
            match read.intersect_params(&self.known.values)?.is_empty()? {
                true => self.remove(id),
                false => self.restrict(id, &read)?,
            }
        }
        Ok(())
    }

    /// The statement does nothing that anybody needs.
    fn remove(&mut self, id: StatementId) {
        let draft = &mut self.drafts[&id];
        draft.alive = false;
        let mut freed = Vec::new();
        for item in draft.items.iter_mut().filter(|i| i.alive) {
            item.alive = false;
            freed.push(item.access.array);
        }
        freed.into_iter().for_each(|array| self.forget_flow(array));
    }

    /// The instances that may write what the scalar contains in the end: no certain write of it comes later.
    fn last_writes(&self, id: StatementId, scalar: ArrayId) -> Result<Set, IslError> {
        let mut last = self.drafts[&id].domain.clone();
        for (&writer, draft) in self.drafts.iter().filter(|(_, draft)| !draft.boxed) {
            for (_, item) in draft.alive().filter(|(_, i)| i.access.array == scalar && i.overwrites()) {
                let later = self.timeline.before(id, writer)?.intersect_range(&item.relation.domain()?)?;
                last = last.subtract(&later.domain()?)?;
            }
        }
        last.coalesce()
    }

    pub(super) fn restrict(&mut self, id: StatementId, domain: &Set) -> Result<(), IslError> {
        let mut touched = Vec::new();
        let valid = self.known.values.clone();
        let draft = &mut self.drafts[&id];
        draft.domain = domain.clone();
        draft.in_loop &= !domain.intersect_params(&valid)?.is_singleton()?;
        for item in draft.items.iter_mut().filter(|i| i.alive) {
            item.relation = item.relation.intersect_domain(domain)?;
            item.access.relation = item.access.relation.intersect_domain(&domain.intersect_params(&valid)?)?;
            touched.push(item.access.array);
        }
        touched.into_iter().for_each(|array| self.forget_flow(array));
        Ok(())
    }

    /// `A[i] = c` where c lives in A[i].
    fn drop_write_backs(&mut self) -> Result<(), IslError> {
        for id in self.drafts.keys().copied().collect::<Vec<_>>() {
            for k in 0..self.drafts[&id].items.len() {
                let item = &self.drafts[&id].items[k];
                let moved = item.element.is_some();
                let reads_moved = self.drafts[&id].alive().any(|(_, i)| {
                    i.element.is_some() && matches!(i.access.role, Role::ReadScalar(_)) && i.value() == item.value()
                });
                // What the programmer wrote is left to the compiler, unless it is our doing that it has no effect.
                if !item.writes() || self.is_scalar(item.access.array) || !(moved || reads_moved) {
                    continue;
                }
                if self.writes_back(id, k)? {
                    self.kill(id, k);
                }
            }
        }
        Ok(())
    }

    /// The same value to the same cells twice in one instance, and nothing else between.
    fn drop_duplicates(&mut self) -> Result<(), IslError> {
        for id in self.drafts.keys().copied().collect::<Vec<_>>() {
            for k in 0..self.drafts[&id].items.len() {
                let draft = &self.drafts[&id];
                let item = &draft.items[k];
                if !item.writes() || item.element.is_none() {
                    continue;
                }
                let mut again = false;
                for (other, twin) in draft.alive().filter(|(_, i)| i.overwrites()) {
                    let first = other < k || twin.element.is_none();
                    if other != k
                        && first
                        && twin.value() == item.value()
                        && self.same_cells(item.span(), twin.span())?
                        && self.is_undisturbed(id, other, Some(k))?
                    {
                        again = true;
                    }
                }
                if again {
                    self.kill(id, k);
                }
            }
        }
        Ok(())
    }

    /// Removes an access; a store goes with it.
    fn kill(&mut self, id: StatementId, index: usize) {
        let draft = &mut self.drafts[&id];
        draft.items[index].alive = false;
        if let Role::Store { instruction, .. } = draft.items[index].access.role {
            draft.code.operations.retain(|&v| v != instruction);
            draft.code.effects.retain(|&v| v != instruction);
        }
        let array = self.drafts[&id].items[index].access.array;
        self.forget_flow(array);
    }

    fn drop_unread_scalars(&mut self) -> Result<bool, IslError> {
        let mut any = false;
        for (&scalar, array) in &self.scop.arrays {
            if !array.kind.is_scalar() || array.live_out {
                continue;
            }
            let mut written: Vec<(StatementId, usize)> = Vec::new();
            let mut read = false;
            for (&id, draft) in &self.drafts {
                for (k, item) in draft.alive().filter(|(_, i)| i.access.array == scalar) {
                    if item.writes() {
                        written.push((id, k));
                    } else {
                        read = true;
                    }
                }
            }
            if written.is_empty() {
                continue;
            }
            let flow = if read { Some(self.flow(scalar)?) } else { None };
            for (id, k) in written {
                let needed = flow.as_ref().is_some_and(|f| f.pairs.iter().any(|p| p.writer == id));
                // What a box writes, and where, is not looked at.
                if !needed && !self.drafts[&id].boxed {
                    self.kill(id, k);
                    any = true;
                }
            }
        }
        Ok(any)
    }

    /// Operations, loads and reads without a use.
    fn drop_unneeded(&mut self) -> bool {
        let mut any = false;
        for id in self.drafts.keys().copied().collect::<Vec<_>>() {
            if self.drafts[&id].boxed || !self.drafts[&id].alive {
                continue;
            }
            let needed = self.needed(&self.drafts[&id]);
            let draft = &mut self.drafts[&id];
            draft.code.operations.retain(|v| needed.contains(v));
            draft.bindings.retain(|v, _| needed.contains(v));
            let fetched = draft.needed_fetches();
            let mut freed = Vec::new();
            for item in draft.items.iter_mut().filter(|i| i.alive) {
                let used = match item.access.role {
                    Role::Load(value) => draft.code.operations.contains(&value),
                    Role::ReadScalar(value) => needed.contains(&value),
                    Role::Reload(n) => fetched.contains(&n),
                    _ => true,
                };
                if !used {
                    item.alive = false;
                    freed.push(item.access.array);
                }
            }
            let acts = draft.alive().any(|(_, i)| i.writes()) || !draft.code.effects.is_empty();
            any |= !freed.is_empty() || !acts;
            freed.into_iter().for_each(|array| self.forget_flow(array));
            if !acts {
                self.remove(id);
            }
        }
        any
    }

    /// What the statement's effects and writes are computed from.
    fn needed(&self, draft: &WorkingStatement) -> BTreeSet<ValueId> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<ValueId> = draft.code.effects.clone();
        open.extend(draft.predicates.iter().map(|p| p.condition));
        open.extend(draft.alive().filter(|(_, i)| i.writes()).filter_map(|(_, i)| match i.access.role {
            Role::WriteScalar(value) => value,
            Role::Store { instruction, .. } => Some(instruction),
            _ => None,
        }));
        while let Some(value) = open.pop() {
            if needed.insert(value) && draft.code.operations.contains(&value) {
                open.extend(self.program.operands(value));
            }
        }
        needed
    }

    /// Finds `a = a op x` where a is an array element on both sides. What the region was read with counts no more: its reads and
    /// writes may have been joined by others, and their values may have found other uses.
    pub(super) fn mark_updates(&mut self) -> Result<(), IslError> {
        for id in self.drafts.keys().copied().collect::<Vec<_>>() {
            let draft = &mut self.drafts[&id];
            draft.updating.clear();
            draft.items.iter_mut().for_each(|item| item.access.update = None);
            if draft.boxed || !draft.alive {
                continue;
            }
            let draft = &self.drafts[&id];
            let writes: Vec<usize> =
                draft.alive().filter(|(_, i)| i.writes() && !self.is_scalar(i.access.array)).map(|(k, _)| k).collect();
            for k in writes {
                if let Some(Updating { read, operation, update }) = self.update(id, k)? {
                    let draft = &mut self.drafts[&id];
                    draft.items[k].access.update = Some(update);
                    draft.items[read].access.update = Some(update);
                    draft.updating.push(operation);
                    if let Role::Load(load) = draft.items[read].access.role {
                        draft.updating.push(load);
                    }
                }
            }
        }
        Ok(())
    }

    fn update(&self, id: StatementId, write: usize) -> Result<Option<Updating>, IslError> {
        let draft = &self.drafts[&id];
        let item = &draft.items[write];
        if !item.access.exact || item.access.kind != AccessKind::Write {
            return Ok(None);
        }
        let Some(operation) = item.value().filter(|v| draft.code.operations.contains(v)) else { return Ok(None) };
        let Some(Origin::Operation(Operation { operands, update: Some((update, commutes)), .. })) =
            self.program.origins.get(&operation)
        else {
            return Ok(None);
        };
        let sides = &operands[..if *commutes { 2 } else { 1 }];
        for (read, old) in draft.alive().filter(|(_, i)| !i.access.is_write() && i.access.exact) {
            let Some(content) = old.value().filter(|v| sides.contains(v)) else { continue };
            let used_here_only = self.uses(draft, content) == 1 && self.uses(draft, operation) == 1;
            if used_here_only && self.same_cells(item.span(), old.span())? {
                return Ok(Some(Updating { read, operation, update: *update }));
            }
        }
        Ok(None)
    }

    /// How often the value is used in the statement, by operations and by what is written.
    fn uses(&self, draft: &WorkingStatement, value: ValueId) -> usize {
        let by_operations = draft.code.operations.iter().flat_map(|&v| self.program.operands(v));
        let written = draft.alive().filter(|(_, i)| matches!(i.access.role, Role::WriteScalar(v) if v == Some(value)));
        let asked = draft.predicates.iter().filter(|p| p.condition == value);
        by_operations.filter(|&&v| v == value).count() + written.count() + asked.count()
    }
}
