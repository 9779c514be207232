//! What is known because control gets to the region at all: of the values that it is about, and nothing else. A guard of others would
//! bring parameters that nobody asks for, and each makes all sets dearer.

use super::Control;
use crate::facts::{BlockId, FunctionFacts, IgnorableKind, IntOp, Op, ValueId, ValueKind};
use crate::read::Stop;
use crate::read::arithmetic::{NotAffine, Scope, set_space};
use isl::Set;
use std::collections::BTreeSet;

/// What guards tell is kept in at most this many parts.
const MAX_CONTEXT_PARTS: usize = 2;
/// Guards further up seldom speak of the same values.
const MAX_GUARDS: usize = 16;

/// A condition that must have been true (or false) in a block for control to reach the region.
struct Guard {
    condition: ValueId,
    truth: bool,
    block: BlockId,
}

impl Control<'_, '_> {
    /// Adds to the context what must hold for control to reach the region: conditions of branches that dominate it.
    pub(super) fn learn_from_guards(&mut self) -> Result<(), Stop> {
        let used = &self.values.outside().all;
        let mut learnt = 0;
        for guard in guards(self.values.facts, self.values.region.entry) {
            let mut about = BTreeSet::new();
            self.values.collect_leaves(guard.condition, &mut about);
            if about.is_subset(used) {
                self.learn(&guard)?;
                learnt += 1;
            }
            if learnt >= MAX_GUARDS {
                break;
            }
        }
        Ok(())
    }

    fn learn(&mut self, guard: &Guard) -> Result<(), Stop> {
        let domain = Set::universe(&set_space(self.values.ctx, 0)?)?;
        let block = guard.block;
        let (line, predicates) = (self.values.facts.line_of_block(block), Vec::new());
        let scope = Scope { loops: Vec::new(), domain, block, line, predicates };
        self.arithmetic.prove(|this| {
            let set = this.condition(guard.condition, &scope)?;
            let set = if guard.truth { set } else { set.complement()? }.params()?;
            let context = this.known.context.intersect(&set)?.coalesce()?;
            // A context in pieces, from `n != 3`, takes all that meets it to pieces: that costs more than it tells.
            if context.basic_sets()?.len() > MAX_CONTEXT_PARTS {
                return Err(NotAffine::Because("a condition in pieces".into()));
            }
            this.known.context = context;
            this.known.assumed = this.known.assumed.intersect(&set)?;
            Ok(())
        })?;
        Ok(())
    }
}

/// All guards of a region, the nearest first: what the program promises in blocks above, and the branches that lead here.
fn guards(facts: &FunctionFacts, entry: BlockId) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut below = entry;
    while let Some(above) = facts.block(below).immediate_dominator {
        guards.extend(hints(facts, above).map(|condition| Guard { condition, truth: true, block: above }));
        if let [taken, other] = facts.block(above).successors[..] {
            let leads_here = |edge: BlockId| facts.dominates(edge, below) && facts.block(edge).predecessors == [above];
            let branch = facts.terminator(above).filter(|t| matches!(t.op, Op::Branch { .. }) && taken != other);
            let truth = if leads_here(taken) { Some(true) } else { leads_here(other).then_some(false) };
            if let (Some(branch), Some(truth)) = (branch, truth) {
                add_parts(facts, Guard { condition: branch.operands[0], truth, block: above }, &mut guards);
            }
        }
        below = above;
    }
    guards
}

/// Of `a && b` each is true, of `a || b` that is false neither is: they may be about different values.
fn add_parts(facts: &FunctionFacts, guard: Guard, guards: &mut Vec<Guard>) {
    let is = |value: ValueId, bit: i64| matches!(facts.value(value).kind, ValueKind::ConstantInt(c) if c & 1 == bit);
    let parts = facts.instruction(guard.condition).and_then(|i| match (&i.op, &i.operands[..], guard.truth) {
        (Op::Int(IntOp::And), &[a, b], true) | (Op::Int(IntOp::Or), &[a, b], false) => Some([a, b]),
        (Op::Select, &[a, b, no], true) if is(no, 0) => Some([a, b]),
        (Op::Select, &[a, yes, b], false) if is(yes, 1) => Some([a, b]),
        _ => None,
    });
    match parts {
        Some(parts) => parts.into_iter().for_each(|condition| add_parts(facts, Guard { condition, ..guard }, guards)),
        None => guards.push(guard),
    }
}

/// The conditions that `block` promises.
pub(super) fn hints(facts: &FunctionFacts, block: BlockId) -> impl Iterator<Item = ValueId> + '_ {
    facts.block(block).instructions.iter().filter_map(|&v| {
        let instruction = facts.instruction(v)?;
        let is_hint = matches!(instruction.op, Op::Ignorable(IgnorableKind::Assume));
        instruction.operands.first().copied().filter(|_| is_hint)
    })
}
