//! Pointers in memory that lead to rows: `rows[i][j]`, `v[i][j]` of a vector of vectors.
//!
//! Such a load is what an invariant is, once for each row: taken for a function of the counters around it, which any statement may
//! compute again, because nothing that the region writes hits the pointer. That is assumed and tested, with the rows being apart
//! (kind RP; `model::plan::rows` has the proof). Whether the address is a function that can be told, and whether the load is certain to
//! run, is found out where accesses are read.

use super::Values;
use crate::facts::{Op, Type, ValueId};
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
