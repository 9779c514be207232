//! Pointers in memory that lead to rows: `rows[i][j]`, `v[i][j]` of a vector of vectors.
//!
//! Such a load is what an invariant is, once for each row: taken for a function of the counters around it, which any statement may
//! compute again, because nothing that the region writes hits the pointer. That is assumed and tested, with the rows being apart
//! (kind RP; `model::plan::rows` has the proof). Whether the address is a function that can be told, and whether the load is certain to
//! run, is found out where accesses are read.

use super::Values;
use crate::facts::{Op, Type, ValueId};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Which loads of a region are taken for values that do not change while it runs.
#[derive(Default)]
pub struct Trust {
    pub invariants: bool,
    /// But not these.
    pub distrusted: BTreeSet<ValueId>,
    /// Pointers to rows.
    pub rows: bool,
}

impl Values<'_> {
    /// Finds the loads that addresses start from, of pointers that are reached from outside.
    pub(super) fn find_rows(&mut self) {
        let twins = self.find_twins_of_rows();
        self.twins.extend(twins.iter().copied());
        let mut rows = BTreeSet::new();
        for instruction in self.instructions().filter_map(|v| self.facts.instruction(v)) {
            let Some(touched) = instruction.op.memory() else { continue };
            for pointer in [touched.reads, touched.writes].into_iter().flatten() {
                let root = self.root_pointer(pointer);
                if !self.is_outside(root) && self.is_reached_from_outside(root) {
                    rows.insert(root);
                }
            }
        }
        self.rows = rows;
        // What is no pointer to a row is not known to stay as it is.
        for (phi, load) in twins {
            if !self.rows.contains(&load) {
                self.twins.remove(&phi);
            }
        }
    }

    /// A pointer that was loaded again after every write is brought to a φ from several loads of one cell: `p = rows[i]` here, and once
    /// more behind `if (…) p[j] = x`.
    ///
    /// Let a be the address of all these loads. Each of them dominates the edges over which it is brought, and a dominates it. If a
    /// were computed anew between the load and the edge there would be a way from a to the edge without the load, and one to a
    /// without it as well, since a comes before it: it would not dominate the edge. So what is brought is what is at the present a
    /// when the load runs, and nothing that the region writes changes that. As for φs that bring it to each other, see
    /// [`Values::take_choices_between_equals`].
    fn find_twins_of_rows(&self) -> Vec<(ValueId, ValueId)> {
        let address = |v: ValueId| match self.facts.instruction(v)?.op {
            Op::Load { pointer, .. } if !self.is_outside(v) && self.is_reached_from_outside(v) => Some(pointer),
            _ => None,
        };
        let mut loads: IndexMap<ValueId, Vec<ValueId>> = IndexMap::new();
        for (load, address) in self.instructions().filter_map(|v| Some((v, address(v)?))) {
            loads.entry(address).or_default().push(load);
        }
        let is_pointer = |v: &ValueId| matches!(self.facts.value(*v).ty, Type::Pointer { .. });
        let is_free = |v: &ValueId| !self.is_outside(*v) && !self.twins.contains_key(v);
        let phis: Vec<ValueId> =
            self.instructions().filter(|&v| self.facts.is_phi(v)).filter(is_pointer).filter(is_free).collect();
        let mut twins = Vec::new();
        for loads in loads.values() {
            let mut same: BTreeSet<ValueId> = phis.iter().copied().collect();
            loop {
                let is_it = |v: &ValueId| same.contains(v) || loads.contains(v);
                let is_brought = |phi: &ValueId| self.facts.instruction(*phi).expect("a φ").operands.iter().all(is_it);
                let kept: BTreeSet<ValueId> = same.iter().copied().filter(is_brought).collect();
                if kept.len() == same.len() {
                    break;
                }
                same = kept;
            }
            twins.extend(same.into_iter().map(|phi| (phi, loads[0])));
        }
        twins
    }

    /// Is it the load of a pointer, from an array that is known before the region?
    fn is_reached_from_outside(&self, load: ValueId) -> bool {
        let Some(Op::Load { pointer, simple: true, .. }) = self.facts.instruction(load).map(|i| &i.op) else {
            return false;
        };
        let ty = self.facts.value(load).ty;
        let is_plain = matches!(ty, Type::Pointer { address_space, integral } if address_space == 0 && integral);
        is_plain && self.is_outside(self.root_pointer(*pointer))
    }
}
