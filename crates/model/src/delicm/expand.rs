//! Scalars for which no element was free get memory of their own, where that is allowed.
//!
//! ```text
//! for i { for j { t = 0; for k { t += A[i][k] * B[k][j]; } C[i][j] += t; } }     t becomes T[j], or T[i][j]
//! ```
//!
//! Take counters that a value has in common with all its readers: whoever reads what was written at j does so at j. With one element
//! for each j, a read finds what it found: its writer put it there, and nobody wrote the scalar in between, so nobody writes the element.
//! Which statements they are, how many write, and whether their loops are the same ones does not matter. The order of values with
//! different j is free then. A counter along which values travel, such as k above, gets no dimension: its iterations are in
//! order anyway, and memory would grow for nothing.

use super::coalesce::{Destination, Into, Proposal};
use super::code::Role;
use super::work::Work;
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Access, AccessKind, Array, ArrayId, ArrayKind, Recovered, StatementId};
use indexmap::IndexMap;
use isl::{DimType, IslError, Map, Set};
use planted::Fault;

/// How much memory scalars may be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expansion {
    /// None.
    #[default]
    None,
    /// One dimension for each scalar: the innermost loop in which its values are apart.
    Narrow,
    /// A dimension for each loop in which its values are apart.
    Wide,
}

/// A region in which more scalars would need memory is left as it is.
const MAX_TEMPORARIES: usize = 8;
/// Elements are as large as registers: a power of two, so that they are aligned.
const MAX_BYTES: u64 = 64;

/// A scalar, and the counters that become subscripts.
struct Candidate {
    scalar: ArrayId,
    /// The most loops around an access, then the number of accesses: whatever is handed on from here is found in its elements.
    rank: (usize, usize),
    accesses: Vec<(StatementId, usize)>,
    counters: Vec<usize>,
    inner_sizes: Vec<Polynomial>,
}

impl Work<'_> {
    /// Gives memory to scalars, those of the deepest loops first. Says whether that is of use: if not, what was done is no region.
    pub(super) fn expand(&mut self, expansion: Expansion) -> Result<bool, IslError> {
        if expansion == Expansion::None || self.scalar_writes() == 0 {
            return Ok(false);
        }
        let mut given: Vec<(ArrayId, Vec<usize>)> = Vec::new();
        loop {
            let mut deepest: Option<Candidate> = None;
            for &scalar in self.scop.arrays.keys().filter(|&&id| self.is_scalar(id)).collect::<Vec<_>>() {
                let candidate = self.expandable(scalar, expansion)?;
                deepest = match (deepest, candidate) {
                    (Some(best), Some(other)) if other.rank > best.rank => Some(other),
                    (best, other) => best.or(other),
                };
            }
            let Some(candidate) = deepest else { return Ok(!given.is_empty()) };
            if !self.share_memory(&candidate, &given)? {
                if given.len() == MAX_TEMPORARIES {
                    return Ok(false);
                }
                let Some(temporary) = self.give_memory(&candidate)? else { return Ok(false) };
                given.push((temporary, candidate.counters));
            }
            // A value that is handed on through several scalars needs one element only: the others find it there.
            self.forward()?;
            self.simplify()?;
        }
    }

    fn expandable(&mut self, scalar: ArrayId, expansion: Expansion) -> Result<Option<Candidate>, IslError> {
        let array = &self.scop.arrays[&scalar];
        // What it holds before or after the region is one value.
        if array.live_out || self.program.initial.contains(&scalar) {
            return Ok(None);
        }
        if !array.cell_bytes.is_power_of_two() || array.cell_bytes > MAX_BYTES {
            return Ok(None);
        }
        let mut accesses: Vec<(StatementId, usize)> = Vec::new();
        let (mut shared, mut depth) = (usize::MAX, 0);
        for (&id, draft) in &self.drafts {
            for (k, item) in draft.alive().filter(|(_, i)| i.access.array == scalar) {
                let is_plain = matches!(item.access.role, Role::ReadScalar(_) | Role::WriteScalar(Some(_)));
                let whole = item.access.bytes == array.cell_bytes && item.access.kind != AccessKind::MayWrite;
                if draft.boxed || item.element.is_some() || !item.access.exact || !is_plain || !whole {
                    return Ok(None);
                }
                accesses.push((id, k));
                let loops = draft.domain.dim(DimType::Set)?;
                (shared, depth) = (shared.min(loops), depth.max(loops));
            }
        }
        if accesses.is_empty() || shared == 0 {
            return Ok(None);
        }
        let flow = self.flow(scalar)?;
        if !flow.initial.is_empty() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for d in 0..shared {
            let mut common = true;
            for pair in &flow.pairs {
                let readers = pair.readers()?;
                let same = Map::universe(&readers.get_space()?)?.equate(DimType::In, d, DimType::Out, d)?;
                common = common && self.is_inside(&readers, &same)?;
            }
            if common {
                counters.push(d);
            }
        }
        if expansion == Expansion::Narrow {
            counters.drain(..counters.len().saturating_sub(1));
        }
        if counters.is_empty() {
            return Ok(None);
        }
        let mut inner_sizes = Vec::new();
        for &d in &counters[1..] {
            let Some(size) = self.size_along(&accesses, d)? else { return Ok(None) };
            inner_sizes.push(size);
        }
        let rank = (depth, accesses.len());
        Ok(Some(Candidate { scalar, rank, accesses, counters, inner_sizes }))
    }

    /// How many values counter `d` has in all these statements, from 0 on, if one function of the parameters tells.
    fn size_along(&self, accesses: &[(StatementId, usize)], d: usize) -> Result<Option<Polynomial>, IslError> {
        let mut values: Option<Set> = None;
        for (id, _) in accesses {
            let domain = self.drafts[id].domain.intersect_params(&self.known.values)?;
            let dims = domain.dim(DimType::Set)?;
            let own = domain.project_out(DimType::Set, d + 1, dims - d - 1)?.project_out(DimType::Set, 0, d)?;
            let own = own.reset_tuple_id()?;
            values = Some(match values {
                None => own,
                Some(all) => all.union(&own)?,
            });
        }
        let Some(values) = values else { return Ok(None) };
        let values = values.coalesce()?;
        if !values.dim_has_upper_bound(DimType::Set, 0)? {
            return Ok(None);
        }
        let last = values.dim_max(0)?.coalesce()?;
        for (_, piece) in last.pieces()? {
            let Some(greatest) = Polynomial::from_aff(&piece)? else { continue };
            let is_fixed = greatest.vars().all(|v| matches!(v, Var::Param(_)));
            let Ok(size) = greatest.add(&Polynomial::constant(1)) else { continue };
            if is_fixed && self.is_bound(&values, &size)? {
                return Ok(Some(size));
            }
        }
        Ok(None)
    }

    /// Are all these numbers less than `size`, and not negative?
    fn is_bound(&self, values: &Set, size: &Polynomial) -> Result<bool, IslError> {
        let space = values.get_space()?;
        let Some(size) = size.to_aff(&space)? else { return Ok(false) };
        let counter = isl::Aff::zero_on_domain_space(&space)?.set_coefficient_si(DimType::In, 0, 1)?;
        let zero = isl::Aff::zero_on_domain_space(&space)?;
        let inside = counter.lt_set(&size)?.intersect(&counter.ge_set(&zero)?)?;
        values.is_subset(&inside)
    }

    /// Elements that other scalars were given are as good as new ones, if nobody needs them meanwhile. Says whether there were any.
    fn share_memory(&mut self, candidate: &Candidate, given: &[(ArrayId, Vec<usize>)]) -> Result<bool, IslError> {
        let bytes = self.scop.arrays[&candidate.scalar].cell_bytes;
        for (temporary, counters) in given {
            let array = self.array(*temporary);
            let alike = array.cell_bytes == bytes && array.inner_sizes == candidate.inner_sizes;
            if !alike || *counters != candidate.counters {
                continue;
            }
            let Some(targets) = self.targets(candidate, *temporary)? else { continue };
            let flow = self.flow(candidate.scalar)?;
            let mut proposal =
                Proposal { scalar: candidate.scalar, flow, writes: IndexMap::new(), reads: IndexMap::new() };
            let mut once = true;
            for (&(id, k), target) in candidate.accesses.iter().zip(targets) {
                let writes = self.drafts[&id].items[k].writes();
                let into = if writes { &mut proposal.writes } else { &mut proposal.reads };
                once &= into.insert(id, target).is_none();
            }
            let into = Into { array: *temporary, bytes };
            if once && (planted::is(Fault::TemporariesShared) || !self.is_conflicting(into, &proposal)?) {
                self.apply(into, proposal)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where each access of the scalar goes in the temporary.
    fn targets(&self, candidate: &Candidate, temporary: ArrayId) -> Result<Option<Vec<Destination>>, IslError> {
        let bytes = self.array(temporary).cell_bytes;
        let subscripts: Vec<Polynomial> = candidate.counters.iter().map(|&d| Polynomial::counter(d)).collect();
        let mut targets = Vec::new();
        for &(id, item) in &candidate.accesses {
            let cells = self.relation(&self.drafts[&id].domain, temporary, &subscripts)?;
            // The sizes have products with coefficients beyond all bounds.
            let Some(cells) = cells else { return Ok(None) };
            let Some(element) = self.element_at(temporary, bytes, &subscripts, &cells)? else { return Ok(None) };
            targets.push(Destination { item, cells, element });
        }
        Ok(Some(targets))
    }

    /// The new array, if it can be addressed.
    fn give_memory(&mut self, candidate: &Candidate) -> Result<Option<ArrayId>, IslError> {
        let last = self.scop.arrays.keys().chain(self.temporaries.keys()).map(|id| id.0).max().unwrap_or(0);
        let (scalar, temporary) = (&self.scop.arrays[&candidate.scalar], ArrayId(last + 1));
        let array = Array {
            kind: ArrayKind::Temporary,
            rows: None,
            inner_sizes: candidate.inner_sizes.clone(),
            recovered: Recovered::None,
            condition: None,
            may_wrap: None,
            live_out: false,
            ..scalar.clone()
        };
        self.temporaries.insert(temporary, array);
        let Some(targets) = self.targets(candidate, temporary)? else {
            self.temporaries.shift_remove(&temporary);
            return Ok(None);
        };
        for (&(id, _), Destination { item, cells, element }) in candidate.accesses.iter().zip(targets) {
            let Access { kind, role, line, .. } = self.drafts[&id].items[item].access;
            let access = self.access((kind, role), &cells, &element, line)?;
            let item = &mut self.drafts[&id].items[item];
            item.access = access;
            item.relation = cells;
            item.element = Some(element);
        }
        self.counts.expanded += 1;
        self.forget_flow(candidate.scalar);
        Ok(Some(temporary))
    }
}
