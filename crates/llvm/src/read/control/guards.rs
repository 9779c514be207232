//! What is known because control gets to the region at all.

use super::Control;
use crate::facts::{BlockId, FunctionFacts, IgnorableKind, Op, ValueId};
use crate::read::Stop;
use crate::read::arithmetic::{NotAffine, Scope, set_space};
use isl::Set;

/// What guards tell is kept in at most this many parts.
const MAX_CONTEXT_PARTS: usize = 2;
/// Guards further up seldom speak of the same values.
const MAX_GUARDS: usize = 16;

impl Control<'_, '_> {
    /// Adds to the context what must hold for control to reach the region: conditions of branches that dominate it.
    pub(super) fn learn_from_guards(&mut self) -> Result<(), Stop> {
        let facts = self.values.facts;
        let mut below = self.values.region.entry;
        let mut seen = 0;
        while let Some(above) = facts.block(below).immediate_dominator {
            self.learn_from_hints_above(above)?;
            if let [taken, other] = facts.block(above).successors[..] {
                let leads_here =
                    |edge: BlockId| facts.dominates(edge, below) && facts.block(edge).predecessors == [above];
                let branch = facts.terminator(above).filter(|t| matches!(t.op, Op::Branch { .. }) && taken != other);
                let truth = if leads_here(taken) { Some(true) } else { leads_here(other).then_some(false) };
                if let (Some(branch), Some(truth)) = (branch, truth) {
                    self.learn(branch.operands[0], truth, above)?;
                    seen += 1;
                }
            }
            if seen >= MAX_GUARDS {
                break;
            }
            below = above;
        }
        Ok(())
    }

    fn learn(&mut self, condition: ValueId, truth: bool, block: BlockId) -> Result<(), Stop> {
        let domain = Set::universe(&set_space(self.values.ctx, 0)?)?;
        let scope = Scope { loops: Vec::new(), domain, block, line: self.values.facts.line_of_block(block) };
        self.arithmetic.prove(|this| {
            let set = this.condition(condition, &scope)?;
            let set = if truth { set } else { set.complement()? }.params()?;
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

    /// Conditions that the program promises in blocks before the region.
    fn learn_from_hints_above(&mut self, above: BlockId) -> Result<(), Stop> {
        let facts = self.values.facts;
        hints(facts, above).try_for_each(|condition| self.learn(condition, true, above))
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
