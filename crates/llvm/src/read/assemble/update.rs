//! Recognises `a[x] = a[x] op y` where the order of such updates does not change the result bit for bit, or fast-math lets it.

use crate::facts::{FloatOp, FunctionFacts, IntOp, MinMaxOp, Op, ValueId};
use crate::read::memory::{AccessSize, AccessesByBase, MemoryAccess};
use crate::read::statement::Cut;
use model::scop::AccessKind;
use model::update::{Combine, NumberFormat, Update};
use planted::Fault;
use std::collections::HashMap;

/// A load, the operation and the store that update one cell.
pub struct Updating {
    pub load: ValueId,
    pub operation: ValueId,
    pub store: ValueId,
    pub update: Update,
}

/// The updates that stores of the region complete.
pub fn updates(facts: &FunctionFacts, cut: &Cut, accesses: &AccessesByBase) -> Vec<Updating> {
    let uses = use_counts(facts);
    let mut updates = Vec::new();
    for list in accesses.values() {
        let plain = |a: &&MemoryAccess| a.kind == AccessKind::Write && cut.drafts[a.draft].boxed.is_none();
        for store in list.iter().filter(plain) {
            let same_cell = |load: ValueId| {
                let load = list.iter().find(|a| a.instruction == load && a.draft == store.draft);
                let Some(load) = load.filter(|load| load.row == store.row) else { return false };
                match (&load.offset, &store.offset, &load.extent, &store.extent) {
                    (Some(a), Some(b), AccessSize::Bytes(m), AccessSize::Bytes(n)) => m == n && a.is_plainly_equal(b),
                    _ => false,
                }
            };
            updates.extend(update_at(facts, store.instruction, &uses, same_cell));
        }
    }
    updates
}

/// How often every value is used, in the whole function.
fn use_counts(facts: &FunctionFacts) -> HashMap<ValueId, u32> {
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

/// The update that `store` completes, if it does. `same_cell(load)`: both touch the same bytes in every instance.
fn update_at(
    facts: &FunctionFacts,
    store: ValueId,
    uses: &HashMap<ValueId, u32>,
    same_cell: impl Fn(ValueId) -> bool,
) -> Option<Updating> {
    let once = |v: ValueId| uses.get(&v) == Some(&1);
    let Op::Store { value: operation, .. } = facts.instruction(store)?.op else { return None };
    let instruction = facts.instruction(operation)?;
    let (update, commutes) = update_by(facts, operation)?;
    if !once(operation) {
        return None;
    }
    let sides = if commutes { &instruction.operands[..2] } else { &instruction.operands[..1] };
    let load = sides.iter().copied().find(|&side| {
        matches!(facts.instruction(side), Some(i) if matches!(i.op, Op::Load { .. })) && once(side) && same_cell(side)
    })?;
    Some(Updating { load, operation, store, update })
}

/// What updates of one cell by the operation do, if their order may be changed; and whether the old content may be either
/// operand, not the first alone.
pub fn update_by(facts: &FunctionFacts, operation: ValueId) -> Option<(Update, bool)> {
    let value = facts.value(operation);
    let instruction = facts.instruction(operation)?;
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
    let (number, lanes) = NumberFormat::lanes_from_llvm_name(&value.type_name)?;
    let commutes = !matches!(instruction.op, Op::Int(IntOp::Sub) | Op::Float(FloatOp::Sub));
    Some((Update { op, number, lanes }, commutes))
}
