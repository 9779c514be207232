//! Operand trees: what another statement computed is computed again where it is needed, or loaded again from an element that is
//! known to contain it.
//!
//! The user's instance j finds the value that the instance f(j) of the definer computed. An operation is repeated with the operands
//! of f(j): it ran there, so it may run again. A load is repeated if nobody wrote the element in between; what f(j) stored is
//! loaded if nobody wrote it since. The value of a φ has no operation; but if all that may arrive in it were in elements that one
//! function of j names, it is there.

use super::code::{CounterValue, Fetch, Operand, Origin, Role, ValueId};
use super::work::{Work, WorkingAccess};
use crate::polynomial::Polynomial;
use crate::scop::{AccessKind, ArrayId, StatementId};
use isl::{IslError, Map};
use planted::Fault;
use std::collections::{BTreeSet, HashMap};

/// A statement does not fetch more than this for one operand.
const MAX_FETCHED: usize = 32;
/// Chains of φs that hand on to φs are followed to this depth.
const MAX_DEPTH: usize = 12;

/// Where a value is at the moment the user runs.
#[derive(Clone)]
struct Located {
    array: ArrayId,
    bytes: u64,
    /// `{ user[j…] -> A[e…] }`
    cells: Map,
}

/// A value in the instance of a statement that belongs to the user's instance.
#[derive(Clone, Copy)]
struct At<'m> {
    value: ValueId,
    statement: StatementId,
    /// `{ user[j…] -> statement[i…] }`
    instance: &'m Map,
}

/// What one operand needs, until it is certain that all of it can be had.
struct Tree {
    user: StatementId,
    fetched: Vec<Fetch>,
    /// Loads among them that nobody needed any more: their accesses are gone.
    dropped: BTreeSet<usize>,
    accesses: Vec<(Located, usize)>,
    known: HashMap<(ValueId, StatementId, Vec<Polynomial>), Operand>,
    copied: u64,
    reloaded: u64,
}

impl Work<'_> {
    /// Forwards what can be. Says whether anything was.
    pub(super) fn forward(&mut self) -> Result<bool, IslError> {
        let mut any = false;
        for user in self.drafts.keys().copied().collect::<Vec<_>>() {
            for index in 0..self.drafts[&user].items.len() {
                let item = &self.drafts[&user].items[index];
                if item.alive
                    && let Role::ReadScalar(value) = item.access.role
                    && item.element.is_none()
                {
                    any |= self.forward_operand(user, index, value)?;
                }
            }
        }
        Ok(any)
    }

    /// The same for one value that the statement reads.
    pub(super) fn forward_value(&mut self, user: StatementId, value: ValueId) -> Result<bool, IslError> {
        let is_read =
            |(_, i): &(usize, &WorkingAccess)| i.access.role == Role::ReadScalar(value) && i.element.is_none();
        let index = self.drafts[&user].alive().find(is_read).map(|(index, _)| index);
        match index {
            Some(index) => self.forward_operand(user, index, value),
            None => Ok(false),
        }
    }

    /// Could the user have the value that `writer` wrote for it, for the instances of `from`?
    pub(super) fn is_fetchable(
        &mut self,
        user: StatementId,
        (written, writer): (ValueId, StatementId),
        from: &Map,
    ) -> Result<bool, IslError> {
        let mut tree = self.tree(user);
        Ok(self.fetch(&mut tree, At { value: written, statement: writer, instance: from }, 1)?.is_some())
    }

    fn tree(&self, user: StatementId) -> Tree {
        let draft = &self.drafts[&user];
        let fetched = draft.fetched.clone();
        let is_read = |n: &usize| draft.alive().any(|(_, i)| i.access.role == Role::Reload(*n));
        let dropped = (0..fetched.len()).filter(|n| !is_read(n)).collect();
        Tree { user, fetched, dropped, accesses: Vec::new(), known: HashMap::new(), copied: 0, reloaded: 0 }
    }

    fn forward_operand(&mut self, user: StatementId, index: usize, value: ValueId) -> Result<bool, IslError> {
        let identity = self.drafts[&user].domain.identity()?;
        let mut tree = self.tree(user);
        let first = tree.fetched.len();
        let at = At { value, statement: user, instance: &identity };
        let Some(operand) = self.fetch(&mut tree, at, 0)? else { return Ok(false) };
        if tree.fetched.len() - first > MAX_FETCHED {
            return Ok(false);
        }
        let line = self.drafts[&user].items[index].access.line;
        for (found, fetch) in tree.accesses {
            let Fetch::Load { element, .. } = &tree.fetched[fetch] else { unreachable!("accesses belong to loads") };
            let access = self.access((AccessKind::Read, Role::Reload(fetch)), &found.cells, element, line)?;
            let item = WorkingAccess { relation: found.cells, access, element: Some(element.clone()), alive: true };
            self.drafts[&user].items.push(item);
            self.forget_flow(found.array);
        }
        let scalar = self.drafts[&user].items[index].access.array;
        let draft = &mut self.drafts[&user];
        draft.fetched = tree.fetched;
        draft.bindings.insert(value, operand);
        draft.items[index].alive = false;
        self.forget_flow(scalar);
        self.counts.forwarded += tree.copied;
        self.counts.reloaded += tree.reloaded;
        Ok(true)
    }

    /// `None`: it cannot be had.
    fn fetch(&mut self, tree: &mut Tree, at: At, depth: usize) -> Result<Option<Operand>, IslError> {
        let At { value, statement, instance } = at;
        if self.program.is_outside(value) {
            return Ok(Some(Operand::Outside(value)));
        }
        if let Some(Operand::Outside(value)) = self.drafts[&statement].bindings.get(&value) {
            return Ok(Some(Operand::Outside(*value)));
        }
        if depth > MAX_DEPTH || tree.fetched.len() > 2 * MAX_FETCHED {
            return Ok(None);
        }
        let Some(place) = self.function(instance)? else { return Ok(None) };
        let key = (value, statement, place);
        if let Some(known) = tree.known.get(&key) {
            return Ok(Some(known.clone()));
        }
        let Some(operand) = self.fetch_new(tree, at, &key.2, depth)? else { return Ok(None) };
        tree.known.insert(key, operand.clone());
        Ok(Some(operand))
    }

    fn fetch_new(
        &mut self,
        tree: &mut Tree,
        at: At,
        place: &[Polynomial],
        depth: usize,
    ) -> Result<Option<Operand>, IslError> {
        let At { value, statement, instance } = at;
        let draft = &self.drafts[&statement];
        // What runs under a predicate need not have run for who does not depend on it.
        if !self.drafts[&tree.user].predicates.starts_with(&draft.predicates) {
            return Ok(None);
        }
        if let Some(counter) = draft.code.counters.get(&value) {
            let offset = counter.offset.compose(place).ok();
            return Ok(offset.map(|offset| Operand::Counter(CounterValue { base: counter.base, offset })));
        }
        let is_own = statement == tree.user && depth == 0;
        // An operation on what is at hand everywhere is cheaper than memory.
        let simple = !is_own && self.is_simple(statement, value);
        if !simple {
            for found in self.locate(tree.user, at, &mut Vec::new())? {
                let whole = self.drafts[&tree.user].domain.intersect(&instance.domain()?)?;
                if !whole.intersect_params(&self.known.values)?.is_subset(&found.cells.domain()?)? {
                    continue;
                }
                if let Some(element) = self.element(found.array, found.bytes, &found.cells)? {
                    let load = Fetch::Load { value, element };
                    let mut same = (0..tree.fetched.len()).filter(|n| tree.fetched[*n] == load);
                    let position = same.find(|n| !tree.dropped.contains(n)).unwrap_or_else(|| {
                        tree.fetched.push(load);
                        tree.accesses.push((found.clone(), tree.fetched.len() - 1));
                        tree.reloaded += 1;
                        tree.fetched.len() - 1
                    });
                    return Ok(Some(Operand::Fetched(position)));
                }
            }
        }
        // From another statement, through a scalar that only one statement writes for these instances.
        if let Some(scalar) = self.scalar_read(statement, value) {
            return match &self.writers(statement, scalar, instance)?[..] {
                [(written, writer, from)] => {
                    let at = At { value: *written, statement: *writer, instance: from };
                    self.fetch(tree, at, depth + 1)
                }
                _ => Ok(None),
            };
        }
        let draft = &self.drafts[&statement];
        if draft.boxed || !draft.code.operations.contains(&value) {
            return Ok(None);
        }
        let Some(Origin::Operation(operation)) = self.program.origins.get(&value) else { return Ok(None) };
        if !operation.repeatable {
            return Ok(None);
        }
        let mut operands = Vec::new();
        for &operand in &operation.operands {
            match self.fetch(tree, At { value: operand, ..at }, depth + 1)? {
                None => return Ok(None),
                // It is what the operation has anyway.
                Some(Operand::Outside(same)) if same == operand => {}
                Some(fetched) => operands.push((operand, fetched)),
            }
        }
        tree.fetched.push(Fetch::Copy { value, operands });
        tree.copied += 1;
        Ok(Some(Operand::Fetched(tree.fetched.len() - 1)))
    }

    /// A repeatable operation whose operands are counters or the same everywhere.
    fn is_simple(&self, statement: StatementId, value: ValueId) -> bool {
        let at_hand =
            |v: &ValueId| self.program.is_outside(*v) || self.drafts[&statement].code.counters.contains_key(v);
        match self.program.origins.get(&value) {
            Some(Origin::Operation(operation)) => operation.repeatable && operation.operands.iter().all(at_hand),
            _ => false,
        }
    }

    /// The scalar from which the statement reads the value.
    pub(super) fn scalar_read(&self, statement: StatementId, value: ValueId) -> Option<ArrayId> {
        let mut items = self.drafts[&statement].alive().map(|(_, i)| i);
        let item = items.find(|i| i.access.role == Role::ReadScalar(value) && i.element.is_none())?;
        Some(item.access.array)
    }

    /// Who wrote what `statement` finds in a scalar: (value, writer, `{ user[j…] -> writer[k…] }`). Empty if it is not certain for all
    /// instances.
    pub(super) fn writers(
        &mut self,
        statement: StatementId,
        scalar: ArrayId,
        instance: &Map,
    ) -> Result<Vec<(ValueId, StatementId, Map)>, IslError> {
        let flow = self.flow(scalar)?;
        let mut out = Vec::new();
        let mut covered: Option<isl::Set> = None;
        if self.program.initial.contains(&scalar) && flow.initial.iter().any(|(reader, _)| *reader == statement) {
            return Ok(Vec::new());
        }
        for pair in flow.pairs.iter().filter(|p| p.reader == statement) {
            let from = instance.apply_range(&pair.readers()?.reverse()?)?;
            if self.is_impossible(&from)? {
                continue;
            }
            let draft = &self.drafts[&pair.writer];
            let mut written = draft.alive().map(|(_, i)| i).filter(|i| i.access.array == scalar && i.writes());
            // Under a predicate, what was there before may stay.
            let certain = written.next().filter(|i| i.overwrites() && !draft.boxed).map(|i| i.access.role);
            let (Some(Role::WriteScalar(Some(value))), None) = (certain, written.next()) else {
                return Ok(Vec::new());
            };
            let domain = from.domain()?;
            covered = Some(match covered {
                None => domain,
                Some(all) => all.union(&domain)?,
            });
            out.push((value, pair.writer, from));
        }
        let all = instance.domain()?.intersect_params(&self.known.values)?;
        match covered {
            Some(covered) if all.is_subset(&covered)? => Ok(out),
            _ => Ok(Vec::new()),
        }
    }

    /// Elements that contain the value when the user runs, for all instances of `at.instance`.
    fn locate(
        &mut self,
        user: StatementId,
        at: At,
        path: &mut Vec<(StatementId, ValueId)>,
    ) -> Result<Vec<Located>, IslError> {
        let At { value, statement, instance } = at;
        let mut out = Vec::new();
        let draft = &self.drafts[&statement];
        if !self.drafts[&user].predicates.starts_with(&draft.predicates) {
            return Ok(out);
        }
        // What the user itself stores is not there yet.
        let is_user = statement == user && instance.is_identity()?;
        for (k, item) in draft.alive().filter(|_| !draft.boxed && !is_user) {
            let fetched =
                matches!(item.access.role, Role::Reload(n) if draft.bindings.get(&value) == Some(&Operand::Fetched(n)));
            let is_value = item.value() == Some(value) || fetched;
            let certain = item.access.exact && item.access.kind != AccessKind::MayWrite;
            if self.is_scalar(item.access.array) || !is_value || !certain {
                continue;
            }
            let found = Located {
                array: item.access.array,
                bytes: item.access.bytes,
                cells: instance.apply_range(&item.relation)?.coalesce()?,
            };
            let own = item.writes().then_some((statement, k));
            if self.is_untouched(user, &found, (statement, instance), own)? {
                out.push(found);
            }
        }
        if self.program.is_outside(value) {
            out = self.locate_constant(user, at)?;
        }
        if !out.is_empty() || path.len() >= MAX_DEPTH || path.contains(&(statement, value)) {
            return Ok(out);
        }
        let Some(scalar) = self.scalar_read(statement, value) else { return Ok(out) };
        let writers = self.writers(statement, scalar, instance)?;
        path.push((statement, value));
        let mut common: Option<Vec<Located>> = None;
        for (written, writer, from) in &writers {
            let found = self.locate(user, At { value: *written, statement: *writer, instance: from }, path)?;
            common = Some(match common {
                None => found,
                Some(all) => united(&all, &found)?,
            });
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        path.pop();
        Ok(common.unwrap_or_default())
    }

    /// Elements into which a statement of the same loops stored the same constant before.
    fn locate_constant(&self, user: StatementId, at: At) -> Result<Vec<Located>, IslError> {
        let mut out = Vec::new();
        let dims = self.drafts[&at.statement].domain.dim(isl::DimType::Set)?;
        for (&other, draft) in &self.drafts {
            if draft.boxed || draft.domain.dim(isl::DimType::Set)? != dims {
                continue;
            }
            for (k, item) in draft.alive() {
                let is_store = matches!(item.access.role, Role::Store { .. }) && item.value() == Some(at.value);
                if !is_store || !item.access.exact || item.access.kind != AccessKind::Write {
                    continue;
                }
                // The instance of the other statement with the same counters.
                let instance = at.instance.set_tuple_name(isl::DimType::Out, &other.to_string())?;
                let instance = instance.intersect_range(&draft.domain)?;
                let whole = at.instance.domain()?.intersect_params(&self.known.values)?;
                let late = instance.subtract(&self.timeline.before(other, user)?.reverse()?)?;
                if !whole.is_subset(&instance.domain()?)? || !self.is_impossible(&late)? {
                    continue;
                }
                let found = Located {
                    array: item.access.array,
                    bytes: item.access.bytes,
                    cells: instance.apply_range(&item.relation)?.coalesce()?,
                };
                if self.is_untouched(user, &found, (other, &instance), Some((other, k)))? {
                    out.push(found);
                }
            }
        }
        Ok(out)
    }

    /// Does nobody write to the cells from the instance on in which the value was there, up to the user's?
    fn is_untouched(
        &self,
        user: StatementId,
        found: &Located,
        (since, instance): (StatementId, &Map),
        own: Option<(StatementId, usize)>,
    ) -> Result<bool, IslError> {
        for (&other, draft) in &self.drafts {
            for (k, item) in draft.alive() {
                if !item.writes() || item.access.array != found.array || own == Some((other, k)) {
                    continue;
                }
                let meets = found.cells.apply_range(&item.relation.reverse()?)?;
                if self.is_impossible(&meets)? {
                    continue;
                }
                let later = instance.apply_range(&self.timeline.not_after(since, other)?)?;
                let between = meets.intersect(&self.timeline.before(other, user)?.reverse()?)?.intersect(&later)?;
                if !self.is_impossible(&between)? && !planted::is(Fault::LoadedAgainFromOverwritten) {
                    return Ok(false);
                }
            }
            // The value's own store must not run again in between either, with another value.
            if let Some((writer, k)) = own
                && writer == other
            {
                let item = &draft.items[k];
                let meets = found.cells.apply_range(&item.relation.reverse()?)?;
                let later = instance.apply_range(&self.timeline.before(since, other)?)?;
                let between = meets.intersect(&self.timeline.before(other, user)?.reverse()?)?.intersect(&later)?;
                if !self.is_impossible(&between)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// What is found in the same array for both parts of the instances.
fn united(a: &[Located], b: &[Located]) -> Result<Vec<Located>, IslError> {
    let mut out = Vec::new();
    for one in a {
        for other in b.iter().filter(|o| o.array == one.array && o.bytes == one.bytes) {
            out.push(Located { cells: one.cells.union(&other.cells)?.coalesce()?, ..one.clone() });
        }
    }
    Ok(out)
}
