//! Where to look: the pieces that control flow falls into, and maximal runs of them.
//!
//! A *piece* is a part of the control flow with one entry block and one block, outside of it, where all its paths meet again: a
//! block, a conditional, or a loop. The pieces on one level of the loop tree form a chain; a *run* is a stretch of that chain.
//! A run is offered to the reader whole; where the reader refuses a piece, the run is cut there and the insides of the refused
//! piece are searched in turn. So the regions found are maximal, and every loop is in a region or behind a refusal.

use crate::facts::{BlockId, FunctionFacts, LoopId};
use std::collections::BTreeSet;

/// A single-entry region: `blocks` from `entry` up to, not including, `exit`.
#[derive(Clone, Debug)]
pub struct Region {
    pub entry: BlockId,
    pub exit: BlockId,
    /// Reverse post-order.
    pub blocks: Vec<BlockId>,
    /// The innermost loop around the region.
    pub scope: Option<LoopId>,
}

#[derive(Clone, Debug)]
pub struct Piece {
    pub entry: BlockId,
    pub exit: BlockId,
    pub blocks: BTreeSet<BlockId>,
    pub has_loop: bool,
}

/// Why a chain ends.
pub enum ChainEnd {
    /// Where it should.
    Stop,
    /// At a block from which paths do not meet again.
    Broken(BlockId),
    /// At a block to which other paths lead than the chain's.
    Joined(BlockId),
}

/// The chain of pieces from `start`, on the level of `scope`, up to `stop` or the last block whose paths meet again.
///
/// Ensures: `start` dominates all its blocks.
pub fn chain(
    facts: &FunctionFacts,
    scope: Option<LoopId>,
    start: BlockId,
    stop: Option<BlockId>,
) -> (Vec<Piece>, ChainEnd) {
    let mut pieces = Vec::new();
    let mut at = start;
    loop {
        if Some(at) == stop {
            return (pieces, ChainEnd::Stop);
        }
        if !facts.dominates(start, at) {
            return (pieces, ChainEnd::Joined(at));
        }
        let child = facts.child_loop_of(scope, at);
        let mut meet = facts.block(at).immediate_post_dominator;
        if let Some(l) = child {
            while meet.is_some_and(|m| facts.in_loop(m, l)) {
                meet = facts.block(meet.unwrap()).immediate_post_dominator;
            }
        }
        // Paths that meet again only behind the surrounding loop, or by going round in it, do not meet on this level.
        let Some(exit) = meet.filter(|&m| m > at && scope.is_none_or(|s| facts.in_loop(m, s))) else {
            return (pieces, ChainEnd::Broken(at));
        };
        let Some(blocks) = single_entry_part(facts, at, exit, scope) else {
            return (pieces, ChainEnd::Broken(at));
        };
        // Who catches an error may go on here.
        let inside = |b: &BlockId| blocks.contains(b) || pieces.iter().any(|p: &Piece| p.blocks.contains(b));
        if at != start && !facts.block(at).predecessors.iter().all(inside) {
            return (pieces, ChainEnd::Joined(at));
        }
        let has_loop = blocks.iter().any(|&b| facts.block(b).innermost_loop != scope);
        pieces.push(Piece { entry: at, exit, blocks, has_loop });
        at = exit;
    }
}

/// Blocks reachable from `entry` without passing `exit` if nothing goes wrong, if they are entered at `entry` only and none leads back
/// to the header of `scope`.
pub fn single_entry_part(
    facts: &FunctionFacts,
    entry: BlockId,
    exit: BlockId,
    scope: Option<LoopId>,
) -> Option<BTreeSet<BlockId>> {
    let header = scope.map(|s| facts.loops[s.index()].header);
    let mut seen = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(block) = work.pop() {
        // A way out that does not meet `exit` ends here.
        facts.ways_on(block).next()?;
        for next in facts.ways_on(block) {
            if next == exit {
                continue;
            }
            if Some(next) == header && (next != entry || facts.in_loop(block, scope?)) {
                return None; // the back edge of the surrounding loop
            }
            if !facts.dominates(entry, next) {
                return None;
            }
            if seen.insert(next) {
                work.push(next);
            }
        }
    }
    // Who catches an error may go on in the middle.
    let entered = |b: &BlockId| *b == entry || facts.block(*b).predecessors.iter().all(|p| seen.contains(p));
    seen.iter().all(entered).then_some(seen)
}

impl Region {
    /// The run as one region; pieces without loops at both ends are left outside.
    ///
    /// Returns the range of pieces that the region covers beside it.
    pub fn of_run(
        facts: &FunctionFacts,
        scope: Option<LoopId>,
        pieces: &[Piece],
    ) -> Option<(Region, std::ops::Range<usize>)> {
        let enterable = |p: &Piece| {
            // The φs of an entry that is no loop header stay outside (the block is split behind them); those of a loop header
            // belong to the region and must know one value to start from.
            let outside = facts.block(p.entry).predecessors.iter().filter(|b| !p.blocks.contains(b)).count();
            let is_loop = facts.child_loop_of(scope, p.entry).is_some();
            p.has_loop && (!is_loop || outside == 1)
        };
        let first = pieces.iter().position(enterable)?;
        let last = pieces.iter().rposition(|p| p.has_loop)?;
        let blocks: BTreeSet<BlockId> = pieces[first..=last].iter().flat_map(|p| p.blocks.iter().copied()).collect();
        let region =
            Region { entry: pieces[first].entry, exit: pieces[last].exit, blocks: blocks.into_iter().collect(), scope };
        Some((region, first..last + 1))
    }

    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}
