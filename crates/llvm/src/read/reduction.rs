//! Recognises `a[x] = a[x] op y` where the order of such updates does not change the result bit for bit, or fast-math lets it.

use super::Reader;
use crate::facts::{FloatOp, IntOp, MinMaxOp, Op, ValueId};
use model::scop::ReductionOp;
use std::collections::HashMap;

/// A load, the operation and the store that update one cell.
pub struct Update {
    pub load: ValueId,
    pub operation: ValueId,
    pub store: ValueId,
    pub op: ReductionOp,
}

/// How often every value is used, in the whole function.
pub fn use_counts(facts: &crate::facts::FunctionFacts) -> HashMap<ValueId, u32> {
    let mut counts = HashMap::new();
    for block in &facts.blocks {
        for &user in &block.instructions {
            for &operand in &facts.instruction(user).expect("an instruction").operands {
                *counts.entry(operand).or_insert(0) += 1;
            }
        }
    }
    counts
}

impl Reader<'_> {
    /// The reduction that `store` completes, if it does. `same_cell(load, store)`: both touch the same bytes in every instance.
    pub(super) fn reduction_at(
        &self,
        store: ValueId,
        uses: &HashMap<ValueId, u32>,
        same_cell: impl Fn(ValueId, ValueId) -> bool,
    ) -> Option<Update> {
        let once = |v: ValueId| uses.get(&v) == Some(&1);
        let Op::Store { value: operation, .. } = self.facts.instruction(store)?.op else { return None };
        let instruction = self.facts.instruction(operation)?;
        let op = self.reduction_op(operation)?;
        if !once(operation) {
            return None;
        }
        let commutes = !matches!(instruction.op, Op::Int(IntOp::Sub) | Op::Float(FloatOp::Sub));
        let sides = if commutes { &instruction.operands[..2] } else { &instruction.operands[..1] };
        let load = sides.iter().copied().find(|&side| {
            matches!(self.facts.instruction(side), Some(i) if matches!(i.op, Op::Load { .. }))
                && once(side)
                && same_cell(side, store)
        })?;
        Some(Update { load, operation, store, op })
    }

    /// The operation as one whose order may be changed.
    pub(super) fn reduction_op(&self, operation: ValueId) -> Option<ReductionOp> {
        let instruction = self.facts.instruction(operation)?;
        let flags = instruction.flags;
        Some(match instruction.op {
            Op::Int(IntOp::Add | IntOp::Sub) => ReductionOp::Add,
            Op::Int(IntOp::Mul) => ReductionOp::Mul,
            Op::Int(IntOp::And) => ReductionOp::And,
            Op::Int(IntOp::Or) => ReductionOp::Or,
            Op::Int(IntOp::Xor) => ReductionOp::Xor,
            Op::Float(FloatOp::Add | FloatOp::Sub) if flags.reassoc => ReductionOp::Add,
            Op::Float(FloatOp::Mul) if flags.reassoc => ReductionOp::Mul,
            Op::MinMax(MinMaxOp::SMin | MinMaxOp::UMin) => ReductionOp::Min,
            Op::MinMax(MinMaxOp::SMax | MinMaxOp::UMax) => ReductionOp::Max,
            // Which zero, or which NaN, survives would depend on the order.
            Op::MinMax(MinMaxOp::FMin | MinMaxOp::FMinimum) if flags.nnan && flags.nsz => ReductionOp::Min,
            Op::MinMax(MinMaxOp::FMax | MinMaxOp::FMaximum) if flags.nnan && flags.nsz => ReductionOp::Max,
            _ => return None,
        })
    }
}
