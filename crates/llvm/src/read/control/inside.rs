//! What can be told of the loops inside a box: for each block in one, which iterations may get there, for the sake of what it touches.
//!
//! Nothing here is certain to run, and nothing is assumed for it, but that numbers are far from the limits of their types where that bounds
//! a loop. All that is claimed of a block is that control gets to it in no other iterations than these. That rests on the terminators
//! of the blocks in front of it alone. In an iteration that gets to one of them its condition is decided as it was read, since poison
//! there would be undefined, and one that does not get to it gets to nothing behind it; what other iterations are said to do there
//! makes no difference. Likewise a count that LLVM has for one of the ways out of a loop holds where the loop is entered: an iteration
//! behind the last one it allows is none that control gets to.

use super::Control;
use super::count::{both, either, most_turns};
use crate::facts::{BlockId, LoopId, Op, Scev, ValueId};
use crate::read::arithmetic::{Arithmetic, NotAffine, Read, Scope};
use isl::{DimType, IslError, Set};
use planted::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// By block that is in a loop of the box.
pub type Inside = BTreeMap<BlockId, Turning>;

/// Which iterations may get to a block.
#[derive(Clone)]
pub struct Turning {
    /// With all loops around, from the outermost of the region on, those of the box too; its domain has all iterations that get there, at
    /// least.
    pub scope: Scope,
    /// The dimensions of loops without a known bound.
    pub endless: Vec<usize>,
}

/// A box while its loops are looked at.
struct Survey<'s> {
    blocks: &'s BTreeSet<BlockId>,
    found: Inside,
}

impl Control<'_, '_> {
    /// Requires: the box is entered in the instances of `scope` alone.
    pub fn look_inside(
        &mut self,
        scope: &Scope,
        blocks: &BTreeSet<BlockId>,
        current: Option<LoopId>,
    ) -> Result<Inside, IslError> {
        let mut survey = Survey { blocks, found: Inside::new() };
        let is_in_loop = |b: &BlockId| self.values.facts.block(*b).innermost_loop != current;
        if blocks.iter().any(is_in_loop) {
            let entry = BTreeMap::from([(scope.block, scope.domain.clone())]);
            let around = Turning { scope: scope.clone(), endless: Vec::new() };
            self.survey_level(&mut survey, &around, current, entry, false)?;
        }
        Ok(survey.found)
    }

    /// Follows what may reach the blocks of one level. `is_inside`: the level is a loop of the box.
    fn survey_level(
        &mut self,
        survey: &mut Survey,
        around: &Turning,
        current: Option<LoopId>,
        mut reached: BTreeMap<BlockId, Set>,
        is_inside: bool,
    ) -> Result<(), IslError> {
        let facts = self.values.facts;
        let header = current.filter(|_| is_inside).map(|l| facts.loops[l.index()].header);
        for &block in survey.blocks {
            let Some(domain) = reached.get(&block).cloned() else { continue };
            let scope =
                Scope { domain: domain.clone(), block, line: facts.line_of_block(block), ..around.scope.clone() };
            let mut onwards: Vec<(BlockId, Set)> = Vec::new();
            if facts.block(block).innermost_loop == current {
                for &next in &facts.block(block).successors {
                    onwards.push((next, self.arithmetic.may_go(block, next, &scope)?));
                }
                if is_inside {
                    survey.found.insert(block, Turning { scope, endless: around.endless.clone() });
                }
            } else if let Some(child) = facts.child_loop_of(current, block) {
                let (inner, is_bounded) = self.arithmetic.may_turn(child, &scope)?;
                let begun = BTreeMap::from([(block, inner.domain.clone())]);
                let mut endless = around.endless.clone();
                endless.extend((!is_bounded).then_some(scope.loops.len()));
                self.survey_level(survey, &Turning { scope: inner, endless }, Some(child), begun, true)?;
                onwards.extend(facts.loops[child.index()].exits.iter().map(|&exit| (exit, domain.clone())));
            }
            for (next, instances) in onwards {
                let stays = survey.blocks.contains(&next) && Some(next) != header;
                if stays && (!is_inside || current.is_none_or(|l| facts.in_loop(next, l))) {
                    let all = match reached.remove(&next) {
                        Some(known) => known.union(&instances)?.coalesce()?,
                        None => instances,
                    };
                    reached.insert(next, all);
                }
            }
        }
        Ok(())
    }
}

impl Arithmetic<'_> {
    /// At least the instances in which control goes from a block to this one, if it comes to its end.
    fn may_go(&mut self, block: BlockId, next: BlockId, scope: &Scope) -> Result<Set, IslError> {
        let terminator = self.values.facts.terminator(block);
        let Some((condition, targets)) = terminator.and_then(|t| match &t.op {
            Op::Branch { targets } if targets.len() == 2 && targets[0] != targets[1] => {
                Some((t.operands[0], targets.clone()))
            }
            _ => None,
        }) else {
            return Ok(scope.domain.clone());
        };
        scope.domain.intersect(&self.may_be(condition, next == targets[0], scope, 0)?)?.coalesce()
    }

    /// At least the instances in which the condition is true, or false, if control depends on it there.
    ///
    /// Of `a && b` that is true both are, and of `a || b` that is false neither is; what is not chosen by one need not be looked at.
    fn may_be(&mut self, condition: ValueId, truth: bool, scope: &Scope, depth: u32) -> Result<Set, IslError> {
        /// Of conditions that are combined.
        const DEPTH: u32 = 4;
        let facts = self.values.facts;
        let params = self.known.params.len();
        let read = self.prove(|this| {
            let holds = this.condition(condition, scope)?;
            // What only this condition speaks of tells nothing of places in arrays, and would be one more parameter everywhere.
            let is_news = this.known.params.len() > params;
            if is_news { Err(NotAffine::Because("another parameter".into())) } else { Ok(holds) }
        })?;
        if let Some(holds) = read {
            let opposite = planted::is(Fault::BoxGuardsTurned);
            return if truth != opposite { Ok(holds) } else { scope.domain.subtract(&holds) };
        }
        let (both, either) = (both(facts, condition), either(facts, condition));
        let Some([a, b]) = both.or(either).filter(|_| depth < DEPTH) else { return Ok(scope.domain.clone()) };
        let (a, b) = (self.may_be(a, truth, scope, depth + 1)?, self.may_be(b, truth, scope, depth + 1)?);
        if truth == both.is_some() { a.intersect(&b) } else { a.union(&b) }
    }

    /// At least the iterations of a loop that begin, where it is entered in the instances of `scope`; and whether a bound is known.
    fn may_turn(&mut self, id: LoopId, scope: &Scope) -> Result<(Scope, bool), IslError> {
        let info = &self.values.facts.loops[id.index()];
        let dimension = scope.loops.len();
        let mut inner = scope.clone();
        inner.loops.push(id);
        inner.domain = scope.domain.add_dims(DimType::Set, 1)?.lower_bound_si(DimType::Set, dimension, 0)?;
        // It is left at each of these places after so many turns, if not elsewhere before.
        let exact = Some(&info.backedge_taken_count);
        let counts: Vec<&Scev> = exact.into_iter().chain(&info.exit_counts).collect();
        let mut is_bounded = false;
        for (at, count) in counts.iter().enumerate() {
            if matches!(count, Scev::Other { .. }) || counts[..at].contains(count) {
                continue;
            }
            let within = self.prove(|this| this.within_count(count, scope, &inner))?;
            if let Some(within) = within {
                inner.domain = inner.domain.intersect(&within)?;
                is_bounded = true;
            }
        }
        if !is_bounded && let Some(begun) = most_turns(self, id, scope, &inner)? {
            inner.domain = begun;
            is_bounded = true;
        }
        Ok((inner, is_bounded))
    }

    fn within_count(&mut self, count: &Scev, scope: &Scope, inner: &Scope) -> Read<Set> {
        let count = self.of_scev(count, scope, 0)?;
        let count = self.as_unsigned(count, scope)?;
        let counter = self.iteration(inner, scope.loops.len())?;
        let last = count.function.add_dims(DimType::In, 1)?;
        Ok(if planted::is(Fault::BoxCountShort) { counter.lt_set(&last)? } else { counter.le_set(&last)? })
    }
}
