//! Greedy value coalescing: a scalar moves into array elements that nobody needs while it is needed.
//!
//! For every store U of the region: the scalars that U reads are tried first, at the elements that U overwrites; what those that
//! write the scalar read in turn comes next, and so on. An instance that writes the scalar puts the value into the element
//! that belongs to the reader it is for.
//!
//! A scalar may move if, for every element,
//! 1. nobody else writes it between a write of the scalar and its reads, except the same value to the same cell;
//! 2. no write of the scalar comes between another content of it and that content's reads, except the same value in the same cell;
//! 3. every write of the scalar is followed by a certain write of the region to it, or comes behind one of the same value to the same
//!    cell in the instance itself, with no other between: so memory is written only where the region writes it anyway, and what
//!    stays there in the end is what stayed before.
//!
//! From 1, every read of the scalar finds its value; from 2, every other read finds what it found before. Elements may be wider than
//! cells and overlap in part; what "the same cell" means is said in `cells.rs`. A value is the same in two instances if it
//! comes from outside the region, and else in one instance only.

use super::cells::Span;
use super::code::{Element, Role, ValueId};
use super::work::{Work, WorkingAccess};
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Access, AccessKind, ArrayId, StatementId};
use crate::zone::{Flow, Pair};
use indexmap::IndexMap;
use isl::{IslError, Map};
use planted::Fault;
use std::collections::VecDeque;

/// A scalar, and where its content would go.
pub(super) struct Proposal {
    pub scalar: ArrayId,
    pub flow: Flow,
    /// `{ writer[i…] -> A[e…] }`
    pub writes: IndexMap<StatementId, Destination>,
    /// `{ reader[j…] -> A[e…] }`
    pub reads: IndexMap<StatementId, Destination>,
}

pub(super) struct Destination {
    /// Its access to the scalar.
    pub item: usize,
    pub cells: Map,
    pub element: Element,
}

impl Destination {
    fn span(&self) -> Span<'_> {
        Span { array: self.element.array, bytes: self.element.bytes, cells: &self.cells, exact: true }
    }
}

/// Elements of an array, as wide as what is stored there.
#[derive(Clone, Copy)]
pub(super) struct Into {
    pub array: ArrayId,
    pub bytes: u64,
}

/// A scalar that `reader` reads; `{ reader[j…] -> A[e…] }` are elements in which it could be.
struct Candidate {
    scalar: ArrayId,
    reader: StatementId,
    target: Map,
}

impl Work<'_> {
    /// Moves what can be moved. Says whether anything was.
    pub(super) fn coalesce(&mut self) -> Result<bool, IslError> {
        let mut any = false;
        for statement in self.drafts.keys().copied().collect::<Vec<_>>() {
            for item in 0..self.drafts[&statement].items.len() {
                let Some(into) = self.eligible_store(statement, item)? else { continue };
                let target = self.drafts[&statement].items[item].relation.clone();
                let mut queue: VecDeque<Candidate> = self.inputs(statement, &target, Some(item)).into();
                while let Some(candidate) = queue.pop_front() {
                    let Some(proposal) = self.propose(into, &candidate)? else { continue };
                    if self.is_conflicting(into, &proposal)? {
                        continue;
                    }
                    any = true;
                    for (&writer, target) in &proposal.writes {
                        queue.extend(self.inputs(writer, &target.cells, None));
                    }
                    self.apply(into, proposal)?;
                }
            }
        }
        Ok(any)
    }

    /// A certain store in a loop that walks over elements.
    fn eligible_store(&self, statement: StatementId, index: usize) -> Result<Option<Into>, IslError> {
        let draft = &self.drafts[&statement];
        let item = &draft.items[index];
        let is_store = matches!(item.access.role, Role::Store { .. }) && item.alive && !draft.boxed;
        if !is_store || !item.access.exact || item.access.kind != AccessKind::Write || !draft.in_loop {
            return Ok(None);
        }
        let array = item.access.array;
        if self.is_scalar(array) || self.array(array).cell_bytes == 0 {
            return Ok(None);
        }
        // One element for all instances would tie them together as the scalar does.
        let dims = item.relation.dim(isl::DimType::In)?;
        if !self.first_cells(array, item.access.bytes, &item.relation)?.involves_dims(isl::DimType::In, 0, dims)? {
            return Ok(None);
        }
        Ok(Some(Into { array, bytes: item.access.bytes }))
    }

    /// Scalars that the statement reads; what the store stores comes first.
    fn inputs(&self, statement: StatementId, target: &Map, store: Option<usize>) -> Vec<Candidate> {
        let draft = &self.drafts[&statement];
        let stored = store.and_then(|k| draft.items[k].value());
        let mut scalars: Vec<(bool, ArrayId)> = draft
            .alive()
            .filter_map(|(_, i)| match i.access.role {
                Role::ReadScalar(value) if i.element.is_none() => Some((Some(value) != stored, i.access.array)),
                _ => None,
            })
            .collect();
        scalars.sort_by_key(|(other, _)| *other);
        let candidate = |(_, scalar)| Candidate { scalar, reader: statement, target: target.clone() };
        scalars.into_iter().map(candidate).collect()
    }

    fn propose(&mut self, into: Into, candidate: &Candidate) -> Result<Option<Proposal>, IslError> {
        let scalar = candidate.scalar;
        let array = &self.array(scalar);
        // What it holds before or after the region cannot be moved.
        if array.live_out || array.cell_bytes != into.bytes || self.program.initial.contains(&scalar) {
            return Ok(None);
        }
        let mut accesses: Vec<(StatementId, usize)> = Vec::new();
        for (&id, draft) in &self.drafts {
            for (k, item) in draft.alive().filter(|(_, i)| i.access.array == scalar) {
                if draft.boxed || item.element.is_some() || !item.access.exact || item.value().is_none() {
                    return Ok(None);
                }
                accesses.push((id, k));
            }
        }
        // It moved meanwhile.
        if accesses.is_empty() {
            return Ok(None);
        }
        let flow = self.flow(scalar)?;
        if !flow.initial.is_empty() {
            return Ok(None);
        }
        let mut writes: IndexMap<StatementId, Destination> = IndexMap::new();
        for &(id, k) in accesses.iter().filter(|&&(id, k)| self.drafts[&id].items[k].writes()) {
            let mut cells: Option<Map> = None;
            for pair in flow.pairs.iter().filter(|p| p.writer == id && p.reader == candidate.reader) {
                let part = pair.readers()?.apply_range(&candidate.target)?;
                cells = Some(match cells {
                    None => part,
                    Some(all) => all.union(&part)?,
                });
            }
            let Some(cells) = cells else { return Ok(None) };
            let Some(target) = self.for_all_instances(into, (id, k), &cells.coalesce()?, &candidate.target)? else {
                return Ok(None);
            };
            if writes.insert(id, target).is_some() {
                return Ok(None);
            }
        }
        let mut reads = IndexMap::new();
        for &(id, k) in accesses.iter().filter(|&&(id, k)| !self.drafts[&id].items[k].writes()) {
            let mut cells: Option<Map> = None;
            for pair in flow.pairs.iter().filter(|p| p.reader == id) {
                let part = pair.readers()?.reverse()?.apply_range(&writes[&pair.writer].cells)?;
                cells = Some(match cells {
                    None => part,
                    Some(all) => all.union(&part)?,
                });
            }
            let Some(cells) = cells else { return Ok(None) };
            let cells = cells.coalesce()?;
            let domain = self.drafts[&id].domain.intersect_params(&self.known.values)?;
            if !domain.is_subset(&cells.domain()?)? {
                return Ok(None);
            }
            let Some(element) = self.element(into.array, into.bytes, &cells)? else {
                return Ok(None);
            };
            if reads.insert(id, Destination { item: k, cells, element }).is_some() {
                return Ok(None);
            }
        }
        Ok(Some(Proposal { scalar, flow, writes, reads }))
    }

    /// The writer's elements, known for those instances whose value is read, for all of its instances: the others write too, unless
    /// that would be to an element that the region might not write.
    fn for_all_instances(
        &self,
        Into { array, bytes }: Into,
        (writer, item): (StatementId, usize),
        cells: &Map,
        target: &Map,
    ) -> Result<Option<Destination>, IslError> {
        let domain = &self.drafts[&writer].domain;
        if domain.intersect_params(&self.known.values)?.is_subset(&cells.domain()?)? {
            let Some(element) = self.element(array, bytes, cells)? else { return Ok(None) };
            let target = Destination { item, cells: cells.clone(), element };
            return Ok(self.is_written_anyway(writer, &target)?.then_some(target));
        }
        // Where the reader's subscripts are functions of loops around both, they hold for the instances that nobody reads, too.
        let dims = domain.dim(isl::DimType::Set)?;
        let is_shared = |p: &Polynomial| p.vars().all(|v| !matches!(v, Var::Counter(d) if d as usize >= dims));
        let shared = self.function(&self.first_cells(array, bytes, target)?)?;
        let shared = shared.filter(|s| s.iter().all(is_shared));
        let own = self.function(&self.first_cells(array, bytes, cells)?)?;
        for subscripts in shared.into_iter().chain(own) {
            let Some(first) = self.relation(domain, array, &subscripts)? else { continue };
            let whole = self.with_width(array, bytes, &first)?;
            if !self.is_inside(cells, &whole)? {
                continue;
            }
            let Some(element) = self.element_at(array, bytes, &subscripts, &first)? else { continue };
            let target = Destination { item, cells: whole, element };
            if self.is_written_anyway(writer, &target)? {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    /// Rule 3.
    fn is_written_anyway(&self, writer: StatementId, target: &Destination) -> Result<bool, IslError> {
        let value = self.drafts[&writer].items[target.item].value();
        let cells = &target.cells;
        let mut covered = Map::empty(&cells.get_space()?)?;
        for (&other, draft) in self.drafts.iter().filter(|(_, d)| !d.boxed) {
            let certain = |i: &WorkingAccess| i.overwrites() && i.access.array == target.element.array;
            for (k, by) in draft.alive().filter(|(_, i)| certain(i)) {
                let later = self.timeline.before(writer, other)?.apply_range(&by.relation)?;
                covered = covered.union(&later.intersect(cells)?)?;
                if writer == other && by.value() == value && self.is_undisturbed(writer, k, None)? {
                    let same = self.same_cell(target.span(), by.span())?.intersect(&draft.domain.identity()?)?;
                    covered = covered.union(&cells.intersect_domain(&same.domain()?)?)?;
                }
            }
            if self.is_inside(cells, &covered)? {
                return Ok(true);
            }
        }
        Ok(planted::is(Fault::MovedWhereNothingIsWritten))
    }

    pub(super) fn is_conflicting(&mut self, into: Into, proposal: &Proposal) -> Result<bool, IslError> {
        let there = self.flow(into.array)?;
        for (&writer, target) in &proposal.writes {
            let overwritten = self.is_overwritten(into, proposal, writer, target)?;
            if overwritten && !planted::is(Fault::MovedIntoOverwritten) {
                return Ok(true);
            }
            if self.overwrites(into, &there, writer, target)? && !planted::is(Fault::MovedOverContents) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Rule 1.
    fn is_overwritten(
        &self,
        into: Into,
        proposal: &Proposal,
        writer: StatementId,
        target: &Destination,
    ) -> Result<bool, IslError> {
        let value = self.drafts[&writer].items[target.item].value();
        for (&other, draft) in &self.drafts {
            for (k, item) in draft.alive().filter(|(_, i)| i.writes() && i.access.array == into.array) {
                let meets = self.meeting(target.span(), item.span())?;
                let mut meets = meets.intersect(&self.timeline.not_after(writer, other)?)?;
                if self.is_impossible(&meets)? || self.writes_back(other, k)? {
                    continue;
                }
                meets = meets.subtract(&self.writes_the_same(writer, (value, target), (other, item))?)?;
                for pair in proposal.flow.pairs.iter().filter(|p| p.writer == writer) {
                    let readers = pair.readers()?;
                    let before = self.timeline.before(other, pair.reader)?.reverse()?;
                    let mut between = readers.apply_range(&before)?.intersect(&meets)?;
                    // It stores what it found in the scalar.
                    if pair_of_own(proposal, other).is_some_and(|k| draft.items[k].value() == item.value()) {
                        let same = self.same_cell(target.span(), item.span())?;
                        for own in proposal.flow.pairs.iter().filter(|p| p.writer == writer && p.reader == other) {
                            between = between.subtract(&own.readers()?.intersect(&same)?)?;
                        }
                    }
                    if !self.is_impossible(&between)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Rule 2.
    fn overwrites(
        &self,
        into: Into,
        there: &Flow,
        writer: StatementId,
        target: &Destination,
    ) -> Result<bool, IslError> {
        let own = &self.drafts[&writer].items[target.item];
        let value = own.value();
        if self.yields_what_is_there(writer, value, target)? {
            return Ok(false);
        }
        // { writer[i] -> [reader[j] -> A[e]] }: the scalar is written to what is read later
        let hits = |reader: StatementId| -> Result<Map, IslError> {
            self.timeline.before(writer, reader)?.range_product(&target.cells)
        };
        for (reader, map) in &there.initial {
            if !self.is_impossible(&hits(*reader)?.intersect_range(&map.wrap()?)?)? {
                return Ok(true);
            }
        }
        for pair in &there.pairs {
            let mut between = hits(pair.reader)?.apply_range(&pair.map.reverse()?)?;
            if self.is_impossible(&between)? {
                continue;
            }
            between = between.intersect(&self.timeline.not_after(pair.writer, writer)?.reverse()?)?;
            if self.is_impossible(&between)? {
                continue;
            }
            // All that the instance may have written there is the same as what is written now.
            let (mut same, mut other) = (Map::empty(&between.get_space()?)?, Map::empty(&between.get_space()?)?);
            let contents = self.drafts[&pair.writer].alive().map(|(_, i)| i);
            for item in contents.filter(|i| i.writes() && i.access.array == into.array) {
                let alike = self.writes_the_same(writer, (value, target), (pair.writer, item))?;
                other = other.union(&self.meeting(target.span(), item.span())?.subtract(&alike)?)?;
                same = same.union(&alike)?;
            }
            if !self.is_impossible(&between.subtract(&same.subtract(&other)?)?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `{ writer[i…] -> other[j…] }`: the second writes the same value to the same cell.
    fn writes_the_same(
        &self,
        writer: StatementId,
        (value, target): (Option<ValueId>, &Destination),
        (other, item): (StatementId, &WorkingAccess),
    ) -> Result<Map, IslError> {
        match value.filter(|_| item.value() == value) {
            Some(v) if self.program.is_outside(v) => self.same_cell(target.span(), item.span()),
            Some(_) if writer == other => {
                let same = self.same_cell(target.span(), item.span())?;
                same.intersect(&self.drafts[&writer].domain.identity()?)
            }
            _ => Map::empty(&self.timeline.not_after(writer, other)?.get_space()?),
        }
    }

    /// The value is what the instance found in those very cells, and nothing else was written there before it ends.
    fn yields_what_is_there(
        &self,
        writer: StatementId,
        value: Option<ValueId>,
        target: &Destination,
    ) -> Result<bool, IslError> {
        for (k, item) in self.drafts[&writer].alive().filter(|(_, i)| !i.access.is_write()) {
            if item.value() == value
                && value.is_some()
                && self.same_cells(item.span(), target.span())?
                && self.is_undisturbed(writer, k, None)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Does the access store what its instance found in the same cells, where nothing else was written since?
    pub(super) fn writes_back(&self, statement: StatementId, index: usize) -> Result<bool, IslError> {
        let draft = &self.drafts[&statement];
        let item = &draft.items[index];
        if draft.boxed || !item.overwrites() {
            return Ok(false);
        }
        for (k, read) in draft.alive().filter(|(_, i)| !i.access.is_write() && i.value() == item.value()) {
            if item.value().is_some()
                && self.same_cells(item.span(), read.span())?
                && self.is_undisturbed(statement, k, Some(index))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn apply(&mut self, into: Into, proposal: Proposal) -> Result<(), IslError> {
        let Proposal { scalar, flow, writes, reads } = proposal;
        let mut there = self.flow(into.array)?;
        for Pair { writer, reader, map } in flow.pairs {
            // { writer[i] -> [reader[j] -> A[e]] }
            let map = map.range_factor_domain()?.range_product(&writes[&writer].cells)?;
            there.pairs.push(Pair { writer, reader, map });
        }
        for (kind, targets) in [(AccessKind::Write, writes), (AccessKind::Read, reads)] {
            for (id, Destination { item, cells, element }) in targets {
                let Access { role, line, .. } = self.drafts[&id].items[item].access;
                let access = self.access((kind, role), &cells, &element, line)?;
                let item = &mut self.drafts[&id].items[item];
                item.access = access;
                item.relation = cells;
                item.element = Some(element);
            }
        }
        self.counts.mapped += 1;
        self.forget_flow(scalar);
        // Nobody's content is another one now, so what was known stays true.
        self.know_flow(into.array, there);
        Ok(())
    }

    /// `{ S[i…] -> A[functions] }` on the domain.
    pub(super) fn relation(
        &self,
        domain: &isl::Set,
        array: ArrayId,
        functions: &[Polynomial],
    ) -> Result<Option<Map>, IslError> {
        let space = domain.get_space()?;
        let mut out: Option<Map> = None;
        for function in functions {
            let Some(aff) = function.to_aff(&space)? else { return Ok(None) };
            let map = Map::from_aff(&aff)?;
            out = Some(match out {
                None => map,
                Some(all) => all.flat_range_product(&map)?,
            });
        }
        let Some(out) = out else { return Ok(None) };
        Ok(Some(out.set_tuple_name(isl::DimType::Out, &array.to_string())?.intersect_domain(domain)?))
    }
}

/// The access by which the statement reads the scalar.
fn pair_of_own(proposal: &Proposal, statement: StatementId) -> Option<usize> {
    proposal.reads.get(&statement).map(|t| t.item)
}
