//! The values of a region: which are the same, which are known before it, and what they are computed from.
//!
//! All of it is found out before anything is read, and does not change any more.

mod invariant;
mod outside;
mod rows;
mod sign;
mod twins;

pub use invariant::Readable;
pub use rows::Trust;

use super::Inputs;
use super::region::Region;
use crate::facts::{BlockId, CastOp, FunctionFacts, IntOp, LoopId, Op, Oracle, Scev, Type, ValueId, ValueKind};
use indexmap::IndexMap;
use invariant::InvariantLoads;
use outside::Outside;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

/// Computations deeper than this are not repeated before the region: the check would pay for them.
const MAX_HOISTED_DEPTH: u32 = 6;
/// Products nested deeper than this in values from outside are not looked for.
const MAX_PRODUCT_DEPTH: u32 = 6;
/// Pointers that are chosen among others by more conditions than this are arrays of their own.
const MAX_CHOSEN_DEPTH: u32 = 2;
/// Pointers that were moved more often than this are not followed to where they started.
const MAX_POINTER_STEPS: usize = 64;

pub struct Values<'a> {
    pub ctx: &'a isl::Ctx,
    pub facts: &'a FunctionFacts,
    pub oracle: &'a dyn Oracle,
    pub region: &'a Region,
    /// The entry is a loop header: its φs belong to the region.
    entry_is_header: bool,
    /// φs to which the same is brought on all edges, loads of one cell, and what they are.
    pub twins: HashMap<ValueId, ValueId>,
    /// Loads taken for values from outside, by the one that stands for all loads of its cell.
    pub invariants: IndexMap<ValueId, InvariantLoads>,
    /// Loads taken for pointers to rows: functions of the counters that any statement can compute.
    pub rows: BTreeSet<ValueId>,
    /// The uses of every value, once somebody asks.
    users: OnceCell<Vec<Vec<ValueId>>>,
    outside: OnceCell<Outside>,
}

impl<'a> Values<'a> {
    pub fn new(inputs: Inputs<'a>, region: &'a Region, trust: &Trust) -> Self {
        let Inputs { ctx, facts, oracle, .. } = inputs;
        let mut values = Values {
            ctx,
            facts,
            oracle,
            region,
            entry_is_header: facts.child_loop_of(region.scope, region.entry).is_some(),
            twins: HashMap::new(),
            invariants: IndexMap::new(),
            rows: BTreeSet::new(),
            users: OnceCell::new(),
            outside: OnceCell::new(),
        };
        values.find_twins();
        if trust.invariants {
            values.find_invariants(&trust.distrusted);
        }
        if trust.rows {
            values.find_rows();
        }
        values
    }

    /// The same value in all instances, known before the region starts.
    pub fn is_outside(&self, value: ValueId) -> bool {
        self.is_defined_before(value) || self.invariants.contains_key(&self.stands_for(value))
    }

    pub fn is_defined_before(&self, value: ValueId) -> bool {
        match &self.facts.value(value).kind {
            ValueKind::Instruction(instruction) => {
                !self.region.contains(instruction.block)
                    || (!self.entry_is_header && instruction.block == self.region.entry && self.facts.is_phi(value))
            }
            _ => true,
        }
    }

    /// The name under which a value from outside reaches the region.
    ///
    /// A scalar evolution looks through the φ that carries a value out of an earlier loop and names the value inside. The program
    /// itself does not use that one here, so whoever versions the earlier loop would not know that it is needed.
    pub fn handed_on(&self, value: ValueId) -> Option<ValueId> {
        let facts = self.facts;
        if self.invariants.contains_key(&value) {
            return Some(value);
        }
        let Some(instruction) = facts.instruction(value) else { return Some(value) };
        let Some(l) = facts.block(instruction.block).innermost_loop else { return Some(value) };
        if facts.in_loop(self.region.entry, l) {
            return Some(value);
        }
        let mut used_directly = false;
        for (index, block) in facts.blocks.iter().enumerate() {
            let at = BlockId(index as u32);
            if facts.in_loop(at, l) {
                continue;
            }
            for &user in &block.instructions {
                let operands = &facts.instruction(user).expect("an instruction").operands;
                if !operands.contains(&value) {
                    continue;
                }
                let carries = facts.is_phi(user) && operands.iter().all(|&o| o == value);
                if carries && !self.region.contains(at) && facts.dominates(at, self.region.entry) {
                    return self.handed_on(user);
                }
                used_directly |= !facts.is_phi(user);
            }
        }
        used_directly.then_some(value)
    }

    /// Is every loop around the φ among these, or around the whole region? A φ of any other loop is seen from inside a box,
    /// where it varies; scalar evolution would answer with its value behind that loop.
    pub fn turns_with(&self, phi: ValueId, loops: &[LoopId]) -> bool {
        let block = self.facts.instruction(phi).expect("a φ").block;
        let around = self.facts.block(block).innermost_loop;
        around.is_none_or(|l| {
            loops.contains(&l) || self.facts.in_loop(self.region.entry, l) && Some(l) == self.region.scope
        })
    }

    /// Does the computation of a value from outside multiply values that are not constant? Read as one parameter it hides its factors.
    pub fn hides_product(&self, value: ValueId, depth: u32) -> bool {
        let Some(instruction) = self.facts.instruction(value) else { return false };
        let is_constant = |v: &ValueId| matches!(self.facts.value(*v).kind, ValueKind::ConstantInt(_));
        match &instruction.op {
            _ if depth > MAX_PRODUCT_DEPTH => false,
            Op::Int(IntOp::Mul) if !instruction.operands.iter().any(is_constant) => true,
            Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Shl | IntOp::Or) | Op::Cast(_) => {
                instruction.operands.iter().any(|&operand| self.hides_product(operand, depth + 1))
            }
            _ => false,
        }
    }

    /// Could the value be computed before the region, without harm and from what is known there?
    pub fn is_hoistable(&self, value: ValueId, depth: u32) -> bool {
        let Some(instruction) = self.facts.instruction(value) else { return true };
        self.is_outside(value)
            || depth < MAX_HOISTED_DEPTH
                && instruction.pure_and_speculatable
                && !instruction.reads_memory
                && !self.facts.is_phi(value)
                && instruction.operands.iter().all(|&operand| self.is_hoistable(operand, depth + 1))
    }

    /// What the pointer is computed from, whatever the offsets.
    pub fn root_pointer(&self, pointer: ValueId) -> ValueId {
        self.root_within(pointer, 0)
    }

    fn root_within(&self, pointer: ValueId, depth: u32) -> ValueId {
        let mut at = pointer;
        for _ in 0..MAX_POINTER_STEPS {
            at = self.stands_for(at);
            let Some(instruction) = self.facts.instruction(at) else {
                return match self.facts.value(at).kind {
                    ValueKind::ConstantGep { base, .. } => base,
                    _ => at,
                };
            };
            at = match &instruction.op {
                Op::Gep { base, .. } => *base,
                // Either way into one array, or a pointer of its own.
                Op::Select if depth < MAX_CHOSEN_DEPTH && !self.is_outside(at) => {
                    let root = |side: usize| self.root_within(instruction.operands[side], depth + 1);
                    let root = (root(1), root(2));
                    return if root.0 == root.1 { root.0 } else { at };
                }
                Op::Cast(CastOp::BitCast) | Op::Freeze => instruction.operands[0],
                Op::Phi { incoming } => {
                    // A pointer that walks: where it starts.
                    let Some(l) = self.facts.block(instruction.block).innermost_loop else { return at };
                    let info = &self.facts.loops[l.index()];
                    if info.header != instruction.block || self.is_outside(at) {
                        return at;
                    }
                    let edges = instruction.operands.iter().copied().zip(incoming);
                    let (steps, starts): (Vec<_>, Vec<_>) = edges.partition(|(_, from)| info.blocks.contains(from));
                    let steps_on_itself = steps.iter().all(|&(v, _)| self.walks_from(v, at));
                    match starts[..] {
                        [(start, _)] if steps_on_itself => start,
                        _ => return at,
                    }
                }
                _ => return at,
            };
        }
        at
    }

    /// Is `value` the pointer `phi` moved by some offset?
    fn walks_from(&self, value: ValueId, phi: ValueId) -> bool {
        let mut at = value;
        for _ in 0..MAX_POINTER_STEPS {
            if at == phi {
                return true;
            }
            match self.facts.instruction(at).map(|i| &i.op) {
                Some(Op::Gep { base, .. }) => at = *base,
                _ => return false,
            }
        }
        false
    }

    pub fn is_pointer(&self, scev: &Scev) -> bool {
        match scev {
            Scev::Unknown { value, .. } => matches!(self.facts.value(*value).ty, Type::Pointer { .. }),
            Scev::Add { operands, .. } => operands.iter().any(|o| self.is_pointer(o)),
            Scev::AddRec { operands, .. } => operands.first().is_some_and(|o| self.is_pointer(o)),
            _ => false,
        }
    }
    /// The one value that all edges of the region bring to a φ at its exit.
    pub fn only_from_region(&self, phi: ValueId) -> Option<ValueId> {
        let instruction = self.facts.instruction(phi)?;
        let Op::Phi { incoming } = &instruction.op else { return None };
        let edges = instruction.operands.iter().zip(incoming).filter(|(_, from)| self.region.contains(**from));
        let values: BTreeSet<ValueId> = edges.map(|(&value, _)| value).collect();
        values.first().copied().filter(|_| values.len() == 1)
    }

    /// Code outside of the region that only its errors lead to: new code never gets there, so that it need not provide for it.
    pub fn reached_by_errors_only(&self) -> BTreeSet<BlockId> {
        let (facts, region) = (self.facts, self.region);
        let behind = |starts: BTreeSet<BlockId>| {
            let mut work: Vec<BlockId> = starts.iter().copied().collect();
            let mut seen = starts;
            while let Some(block) = work.pop() {
                for &next in &facts.block(block).successors {
                    if next != region.entry && seen.insert(next) {
                        work.push(next);
                    }
                }
            }
            seen
        };
        let errors = self.errors();
        if errors.is_empty() {
            return errors;
        }
        behind(errors).difference(&behind(BTreeSet::from([region.exit]))).copied().collect()
    }

    /// The instructions of the region, in program order.
    pub fn instructions(&self) -> impl Iterator<Item = ValueId> {
        self.region.blocks.iter().flat_map(|&b| &self.facts.block(b).instructions).copied()
    }

    /// Where edges of the region lead to errors.
    pub fn errors(&self) -> BTreeSet<BlockId> {
        let successors = self.region.blocks.iter().flat_map(|&b| &self.facts.block(b).successors);
        successors.copied().filter(|&b| self.facts.block(b).is_error).collect()
    }

    /// The values of the region that an invariant is.
    pub fn all_the_same_as(&self, load: ValueId) -> Vec<ValueId> {
        self.instructions().filter(|&v| self.stands_for(v) == load).collect()
    }

    pub fn array_name(&self, base: ValueId) -> String {
        self.name_of(base).unwrap_or_else(|| format!("m{}", base.0))
    }
}
