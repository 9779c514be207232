//! What the addresses of elements are multiples of.
//!
//! A load or store of the program promises an alignment for the instances that it has. An element that something is moved to is
//! accessed in others, too, and in other widths; so it is asked what follows for each of its own addresses:
//! - an access of alignment a runs in some instance. Its offset is a number of whole cells, as all offsets of the array are, so the
//!   base, and with it every cell, is a multiple of a and of a cell's size as far as both are the same power of two (rows behind
//!   pointers have a base each, of which this says nothing);
//! - or each of these addresses is one that some access of alignment a has in one of its instances.
//!
//! What the original is certain to do, at these parameters, is certain whether or not its accesses are still there.

use super::code::Role;
use super::work::{Work, WorkingAccess};
use crate::scop::ArrayId;
use isl::{IslError, Map, Set};
use planted::Fault;
use std::collections::BTreeSet;

impl Work<'_> {
    /// What all of `{ S[i…] -> A[e…] }`, first cells of accesses, are multiples of.
    pub(super) fn alignment(&self, array: ArrayId, first: &Map) -> Result<u64, IslError> {
        let mut promised: Vec<(u64, &WorkingAccess)> = Vec::new();
        for draft in self.drafts.values().filter(|d| !d.boxed) {
            for item in draft.items.iter().filter(|i| i.access.array == array && i.access.exact) {
                promised.extend(self.promised(item).map(|alignment| (alignment, item)));
            }
        }
        let alignments: BTreeSet<u64> = promised.iter().map(|(alignment, _)| *alignment).collect();
        if planted::is(Fault::AlignmentOfAnyAccess) {
            return Ok(alignments.last().copied().unwrap_or(1));
        }
        let has_one_base = self.array(array).rows.is_none();
        let granule = if has_one_base { 1 << self.array(array).cell_bytes.trailing_zeros() } else { 1 };
        let first = first.intersect_params(&self.known.values)?;
        let at_least = |alignment: u64| promised.iter().filter(move |(a, _)| *a >= alignment).map(|(_, item)| item);
        let mut found = 1;
        let steps: BTreeSet<u64> = alignments.iter().map(|a| *a.min(&granule)).collect();
        for &step in steps.iter().rev() {
            let params = |item: &WorkingAccess| item.relation.domain()?.params();
            if is_among(&first.domain()?.params()?, at_least(step).map(|item| params(item)))? {
                found = step;
                break;
            }
        }
        let mut addresses: Option<Set> = None;
        for &alignment in alignments.iter().rev().filter(|a| **a > found) {
            if addresses.is_none() {
                addresses = Some(first.range()?);
            }
            let cells = |item: &WorkingAccess| self.first_cells(array, item.access.bytes, &item.relation)?.range();
            if let Some(addresses) = &addresses
                && is_among(addresses, at_least(alignment).map(|item| cells(item)))?
            {
                return Ok(alignment);
            }
        }
        Ok(found)
    }

    /// What the program promises of an access.
    fn promised(&self, item: &WorkingAccess) -> Option<u64> {
        let (Role::Load(access) | Role::Store { instruction: access, .. }) = item.access.role else { return None };
        self.program.alignments.get(&access).copied()
    }
}

/// Is all of it in one of the others?
fn is_among(all: &Set, others: impl Iterator<Item = Result<Set, IslError>>) -> Result<bool, IslError> {
    let mut rest = all.clone();
    for other in others {
        rest = rest.subtract(&other?)?;
        if rest.is_empty()? {
            return Ok(true);
        }
    }
    Ok(false)
}
