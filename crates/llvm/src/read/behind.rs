//! What the new code of one region needs from inside another that is written after it.
//!
//! A region's check looks through conversions and so names values that the original there does not use. Where such a value is computed
//! inside an earlier region that is to be rewritten too, that region must hand it on: as a live-out, or computed before it once more.

use crate::body::{LiveOut, ReadRegion};
use crate::facts::{FunctionFacts, ValueId};
use model::scop::Invariant;
use std::collections::BTreeSet;

impl ReadRegion {
    /// A value that the new code of `later` uses and that nobody has who comes from the new code of this region.
    pub fn cannot_hand_on(&self, later: &ReadRegion, facts: &FunctionFacts) -> Option<ValueId> {
        later.needs(facts).into_iter().find(|&value| self.computes(value, facts) && !self.hands_on(value, later, facts))
    }

    fn computes(&self, value: ValueId, facts: &FunctionFacts) -> bool {
        facts.instruction(value).is_some_and(|i| self.blocks.contains(&i.block))
    }

    /// The values from outside that the check, the slots and the statements start from. More than the writer uses is no harm: what
    /// the original uses too is live behind whoever computes it.
    fn needs(&self, facts: &FunctionFacts) -> BTreeSet<ValueId> {
        let bases = self.bodies.values().flat_map(|body| body.inductions.iter().filter_map(|i| i.base));
        let mut open: Vec<ValueId> = self.bases.values().copied().chain(bases).collect();
        open.extend(self.scop.params.iter().map(|param| param.value));
        open.extend(self.initial.iter().map(|(_, value)| value));
        open.extend(self.scop.invariants.keys());
        let mut seen = BTreeSet::new();
        let mut outside = BTreeSet::new();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match facts.instruction(value) {
                Some(instruction) if self.blocks.contains(&instruction.block) => open.extend(&instruction.operands),
                _ => drop(outside.insert(value)),
            }
        }
        outside
    }

    fn hands_on(&self, value: ValueId, later: &ReadRegion, facts: &FunctionFacts) -> bool {
        let is_live = self.live_outs.iter().any(|live| match *live {
            LiveOut::Value { value: live, .. } => live == value,
            LiveOut::ExitPhi { only, .. } => self.exit == later.entry && only == Some(value),
        });
        is_live || self.comes_from_before(value, facts)
    }

    /// Can it be computed before this region, from what is known there?
    fn comes_from_before(&self, value: ValueId, facts: &FunctionFacts) -> bool {
        let Some(instruction) = facts.instruction(value).filter(|_| self.computes(value, facts)) else { return true };
        let is_it = |(load, invariant): &(&ValueId, &Invariant)| **load == value || invariant.same.contains(&value);
        let known = self.scop.invariants.iter().find(is_it);
        if let Some((load, _)) = known {
            return !self.computes(*load, facts);
        }
        let is_alloca = matches!(instruction.op, crate::facts::Op::Alloca);
        let repeatable = !facts.is_phi(value) && !is_alloca && !instruction.reads_memory && !instruction.writes_memory;
        repeatable && instruction.operands.iter().all(|&operand| self.comes_from_before(operand, facts))
    }
}
