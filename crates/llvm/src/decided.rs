//! Branches that were decided before.
//!
//! `for (i = n; i > 0 && i--;)` asks for i twice, and LLVM may leave the question at the end of the body and at its start: the loop seems
//! to be left in two places. Where control got over one edge of a branch on `c`, every further branch on `c` goes the same way. If its
//! other edge leads out of a loop it is set aside: whoever follows control flow passes it by. The code itself, and the φs at the end of
//! such an edge, stay what they are, but for those that lead out of a region for which there is new code: all of that is to be left at one
//! place.

use crate::facts::{BlockId, FunctionFacts, Op, ValueId, ValueKind};

impl FunctionFacts {
    /// Drops the ways out of loops that branches decided before do not take. Says whether there are any; the ways out of loops, and where paths
    /// meet again, are not adapted yet.
    pub(crate) fn set_untaken_edges_aside(&mut self) -> bool {
        let mut found = false;
        for id in (0..self.blocks.len() as u32).map(BlockId) {
            let Some((taken, untaken)) = self.decided_branch(id) else { continue };
            // A loop that is entered in two places has two values to start from, whatever is known of one of them.
            let leaves = self.block(id).innermost_loop.is_some_and(|l| !self.in_loop(untaken, l));
            if !leaves || self.loops.iter().any(|l| l.header == untaken) {
                continue;
            }
            let before = (self.block(id).successors.clone(), self.block(untaken).predecessors.clone());
            self.blocks[id.index()].successors = vec![taken];
            self.blocks[untaken.index()].predecessors.retain(|&from| from != id);
            // Code that nobody gets to has no place in the order of blocks that everybody goes by.
            if !self.all_are_reached() {
                self.blocks[id.index()].successors = before.0;
                self.blocks[untaken.index()].predecessors = before.1;
                continue;
            }
            let terminator = *self.block(id).instructions.last().expect("a block has an end");
            if let ValueKind::Instruction(branch) = &mut self.values[terminator.index()].kind {
                branch.op = Op::Branch { targets: vec![taken] };
            }
            found = true;
        }
        found
    }

    /// Does the block have another way on, in the code, than it ever takes?
    pub fn has_untaken_edge(&self, block: BlockId) -> bool {
        self.decided_way(block).is_some()
    }

    /// The way on, if there is another one in the code.
    pub fn decided_way(&self, block: BlockId) -> Option<BlockId> {
        let branch = self.terminator(block).filter(|branch| !branch.operands.is_empty())?;
        match &branch.op {
            Op::Branch { targets } => targets.as_slice().try_into().ok().map(|[way]: [BlockId; 1]| way),
            _ => None,
        }
    }

    /// Where the block's branch goes and where it does not, if a branch above says so.
    ///
    /// Let a branch on c in A lead to X, which dominates this block B, and all other predecessors of X be dominated by X. Then c is at B
    /// what it was when control last went from A to X. For suppose that c's definition D ran between that and B. D dominates A and
    /// so X, and is not X: there is a way to D without X, and from D control got to B. It did not do so without X, which dominates B.
    /// So it got to X once more, the first time from a block that X does not dominate, which is A. And c is not poison: A branched on
    /// it.
    fn decided_branch(&self, block: BlockId) -> Option<(BlockId, BlockId)> {
        let (condition, [on_true, on_false]) = self.two_ways(block)?;
        let mut below = block;
        while let Some(above) = self.block(below).immediate_dominator {
            if let Some((same, sides)) = self.two_ways(above)
                && same == condition
            {
                let comes_from_here = |side: BlockId, from: BlockId| from == above || self.dominates(side, from);
                let leads_here = |side: BlockId| {
                    let mut from = self.block(side).predecessors.iter();
                    self.dominates(side, block) && side != above && from.all(|&from| comes_from_here(side, from))
                };
                match sides.map(leads_here) {
                    [true, false] => return Some((on_true, on_false)),
                    [false, true] => return Some((on_false, on_true)),
                    _ => {}
                }
            }
            below = above;
        }
        None
    }

    /// The condition of a branch, and where it leads; two different blocks.
    fn two_ways(&self, block: BlockId) -> Option<(ValueId, [BlockId; 2])> {
        let terminator = self.terminator(block)?;
        let (Op::Branch { targets }, [condition, ..]) = (&terminator.op, &terminator.operands[..]) else { return None };
        let sides: [BlockId; 2] = targets[..].try_into().ok()?;
        (sides[0] != sides[1]).then_some((*condition, sides))
    }

    fn all_are_reached(&self) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut work = vec![BlockId(0)];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut seen[block.index()], true) {
                work.extend(&self.block(block).successors);
            }
        }
        seen.into_iter().all(|reached| reached)
    }
}
