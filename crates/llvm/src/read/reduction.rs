//! Recognises `a[x] = a[x] op y` where the order of such updates does not change the result bit for bit, or fast-math lets it.

use super::Reader;
use crate::facts::{FloatOp, IntOp, MinMaxOp, Op, ValueId};
use model::update::{Combine, Number, Update};
use planted::Fault;
use std::collections::HashMap;

/// A load, the operation and the store that update one cell.
pub struct Updating {
    pub load: ValueId,
    pub operation: ValueId,
    pub store: ValueId,
    pub update: Update,
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
    /// The update that `store` completes, if it does. `same_cell(load, store)`: both touch the same bytes in every instance.
    pub(super) fn update_at(
        &self,
        store: ValueId,
        uses: &HashMap<ValueId, u32>,
        same_cell: impl Fn(ValueId, ValueId) -> bool,
    ) -> Option<Updating> {
        let once = |v: ValueId| uses.get(&v) == Some(&1);
        let Op::Store { value: operation, .. } = self.facts.instruction(store)?.op else { return None };
        let instruction = self.facts.instruction(operation)?;
        let (update, commutes) = self.update_by(operation)?;
        if !once(operation) {
            return None;
        }
        let sides = if commutes { &instruction.operands[..2] } else { &instruction.operands[..1] };
        let load = sides.iter().copied().find(|&side| {
            matches!(self.facts.instruction(side), Some(i) if matches!(i.op, Op::Load { .. }))
                && once(side)
                && same_cell(side, store)
        })?;
        Some(Updating { load, operation, store, update })
    }

    /// What updates of one cell by the operation do, if their order may be changed; and whether the old content may be either
    /// operand, not the first alone.
    pub(super) fn update_by(&self, operation: ValueId) -> Option<(Update, bool)> {
        let value = self.facts.value(operation);
        let instruction = self.facts.instruction(operation)?;
        let flags = instruction.flags;
        // Which zero, or which NaN, survives would depend on the order.
        let either = flags.nnan && flags.nsz;
        let reassociates = flags.reassoc || planted::is(Fault::FloatSumsCommute);
        let op = match instruction.op {
            Op::Int(IntOp::Add | IntOp::Sub) => Combine::Add,
            Op::Int(IntOp::Mul) => Combine::Mul,
            Op::Int(IntOp::And) => Combine::And,
            Op::Int(IntOp::Or) => Combine::Or,
            Op::Int(IntOp::Xor) => Combine::Xor,
            Op::Float(FloatOp::Add | FloatOp::Sub) if reassociates => Combine::Add,
            Op::Float(FloatOp::Mul) if reassociates => Combine::Mul,
            Op::MinMax(MinMaxOp::SMin) => Combine::SignedMin,
            Op::MinMax(MinMaxOp::SMax) => Combine::SignedMax,
            Op::MinMax(MinMaxOp::UMin) if planted::is(Fault::MinimaCommute) => Combine::SignedMin,
            Op::MinMax(MinMaxOp::UMin) => Combine::UnsignedMin,
            Op::MinMax(MinMaxOp::UMax) => Combine::UnsignedMax,
            Op::MinMax(MinMaxOp::FMin) if either => Combine::FloatMin,
            Op::MinMax(MinMaxOp::FMax) if either => Combine::FloatMax,
            Op::MinMax(MinMaxOp::FMinimum) if either => Combine::FloatMinimum,
            Op::MinMax(MinMaxOp::FMaximum) if either => Combine::FloatMaximum,
            _ => return None,
        };
        let (number, lanes) = Number::lanes_from_llvm_name(&value.type_name)?;
        let commutes = !matches!(instruction.op, Op::Int(IntOp::Sub) | Op::Float(FloatOp::Sub));
        Some((Update { op, number, lanes }, commutes))
    }
}
