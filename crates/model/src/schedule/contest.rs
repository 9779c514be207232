//! Whether a new order that is faster on the whole is faster everywhere: with each choice between loops, in each part, at smaller sizes.

use super::cost::{Code, Cost, Nest, References, chains_through_memory, computing, estimate, only, with_waiting};
use super::region::EstimatedRegion;
use super::shape::EstimatedTree;
use super::{AS_GOOD, Machine};
use crate::scop::StatementId;
use crate::transform::Steps;
use isl::{Budget, IslError};
use std::collections::BTreeSet;

/// Parts of a region that take less than this share of its time do not matter.
const SMALL_PART: f64 = 0.1;
/// Sizes below the one that is assumed of what is unknown.
const SMALLER_SIZES: [i64; 6] = [128, 192, 256, 384, 512, 768];
/// What it may take to look at one of them.
const SMALLER: Budget = Budget::new("a smaller size", 50_000);

/// What new loops take.
pub(super) fn new_cost(nest: &[Nest], references: &References, machine: &Machine) -> Cost {
    with_waiting(new_cost_in_cache(nest, references, machine), nest, references, machine)
}

/// What they take at least: all but the time that they wait for lines, which takes longest to estimate.
pub(super) fn new_cost_in_cache(nest: &[Nest], references: &References, machine: &Machine) -> Cost {
    let mut cost = computing(nest, references, machine, Code::New);
    cost.cycles += chains_through_memory(nest, references, 1.0);
    cost
}

pub(super) struct Contest<'a> {
    pub region: &'a EstimatedRegion<'a>,
    pub original: &'a EstimatedTree,
    /// The new order is what these steps make of it.
    pub tree: &'a EstimatedTree,
    pub steps: &'a Steps,
    pub machine: &'a Machine,
}

impl Contest<'_> {
    /// Where a parameter chooses between loops, the new order must win with each choice, not only with both together.
    pub(super) fn is_won_with_each_choice(&self) -> bool {
        let alternatives = self.region.alternatives();
        alternatives.len() == 1 || alternatives.iter().all(|statements| self.is_won(statements))
    }

    /// Where these statements run, and no others.
    fn is_won(&self, statements: &BTreeSet<StatementId>) -> bool {
        let (before, references) = self.original.nest(&[]);
        let (after, new_references) = self.tree.nest(self.steps);
        let runs = |s: &StatementId| statements.contains(s);
        let all = estimate(&before, &references, self.machine, Code::Original).cycles;
        let was = estimate(&only(&before, &runs), &references, self.machine, Code::Original).cycles;
        let is = new_cost(&only(&after, &runs), &new_references, self.machine).cycles;
        was < SMALL_PART * all || is < (1.0 - AS_GOOD) * was
    }

    /// Of loops that stay one after the other, as they were, some are not faster, and wait for themselves. How long that takes is up to
    /// what LLVM makes of the chain, which is better as it was.
    pub(super) fn idles(&self) -> bool {
        let old = self.original.nest(&[]).0;
        let parts: Vec<BTreeSet<StatementId>> = old.iter().map(statements_in).collect();
        let (new, _) = self.tree.nest(self.steps);
        let stays_apart = |new: &Nest| parts.iter().any(|part| statements_in(new).is_subset(part));
        let idles = |(part, statements): (&Nest, &BTreeSet<StatementId>)| waits(part) && !self.is_won(statements);
        parts.len() > 1 && new.iter().all(stays_apart) && old.iter().zip(&parts).any(idles)
    }

    /// So many instances, counted as a check does, up to which the new order is no faster; `None`: it is faster at the smallest size that
    /// we look at.
    ///
    /// What an order gains by lines that come to the cache once instead of again and again, it does not gain where they stay there anyway.
    /// So small loops run the original. An order that gains at the smallest size gains by what it computes, and does so at any.
    pub(super) fn loses_up_to(&self) -> Result<Option<i64>, IslError> {
        let ctx = &self.region.scop().ctx;
        let mut found = None;
        for size in SMALLER_SIZES {
            let left = ctx.operations_left().map_or(u64::MAX, |left| left / 2);
            let lost = ctx.try_within(SMALLER.at_most(left), || self.instances_where_it_loses(size))?;
            let Some(instances) = lost.flatten() else { break };
            found = Some(instances);
        }
        Ok(found)
    }

    /// If the new order is no faster where what is unknown is so large.
    fn instances_where_it_loses(&self, size: i64) -> Result<Option<i64>, IslError> {
        let Some(sized) = self.region.of_size(size)? else { return Ok(None) };
        let (nest, references) = self.original.with_size(&sized)?.nest(&[]);
        let before = estimate(&nest, &references, self.machine, Code::Original).cycles;
        let (nest, references) = self.tree.with_size(&sized)?.nest(self.steps);
        let after = new_cost(&nest, &references, self.machine).cycles;
        if after < (1.0 - AS_GOOD) * before {
            return Ok(None);
        }
        Ok(Some(sized.box_of_instances()? as i64))
    }
}

/// An innermost loop of it hands a value on.
fn waits(part: &Nest) -> bool {
    match part {
        Nest::Statement(_) => false,
        Nest::Loop { lanes, body, .. } => {
            let is_innermost = body.iter().all(|inner| matches!(inner, Nest::Statement(_)));
            is_innermost && lanes.wait() || body.iter().any(waits)
        }
    }
}

fn statements_in(part: &Nest) -> BTreeSet<StatementId> {
    match part {
        Nest::Statement(s) => [*s].into(),
        Nest::Loop { body, .. } => body.iter().flat_map(statements_in).collect(),
    }
}
