//! Code that only runs when something has gone wrong.
//!
//! A block from which control does not come back to the function (a failed assertion, an exception, `STOP`) is seldom reached, and
//! the loops around it can only be understood without it. So it is set aside: whoever follows control flow passes it by, and the
//! reader takes for granted that it is not reached, or refuses.

use crate::facts::{BlockId, FunctionFacts, Op};
use std::collections::BTreeSet;

impl FunctionFacts {
    /// Sets aside what is never, or seldom, run: edges that are not taken, and the blocks that only errors lead to, which are marked.
    /// Post-dominators and exits of loops become those of a function without them.
    pub(crate) fn set_exceptions_aside(&mut self) {
        let has_untaken = self.set_untaken_edges_aside();
        if self.mark_errors() || has_untaken {
            self.forget_exits();
            let post_dominators = self.post_dominators();
            for (block, above) in self.blocks.iter_mut().zip(post_dominators) {
                block.immediate_post_dominator = above;
            }
        }
    }

    /// Says whether there are any.
    fn mark_errors(&mut self) -> bool {
        // Where all ways out of a loop seem to be errors, as in a program that ends by `exit(0)`, the usual one is not.
        let mut usual = BTreeSet::new();
        let errors = loop {
            let errors = self.errors(&usual);
            let before = usual.len();
            for l in &self.loops {
                if !l.exits.is_empty() && l.exits.iter().all(|e| errors.contains(e)) {
                    let at_end = l.latch.filter(|latch| l.exiting.contains(latch));
                    let leads_out = |b: &&BlockId| at_end.is_none_or(|latch| self.block(latch).successors.contains(b));
                    usual.extend(l.exits.iter().filter(leads_out));
                }
            }
            if usual.len() == before {
                break errors;
            }
        };
        for &block in &errors {
            self.blocks[block.index()].is_error = true;
        }
        !errors.is_empty()
    }

    /// Where control can go from a block if nothing goes wrong.
    pub fn ways_on(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.block(block).successors.iter().copied().filter(|&b| !self.block(b).is_error)
    }

    /// Does something go wrong right behind the block, in some case?
    pub fn may_fail(&self, block: BlockId) -> bool {
        self.block(block).successors.iter().any(|&b| self.block(b).is_error)
    }

    /// The blocks from which the function is left without returning, whatever happens; none of `usual`.
    ///
    /// Loops among them are left out: whoever loops has not given up yet, and the loop may be worth reading.
    fn errors(&self, usual: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
        let mut errors: BTreeSet<BlockId> = BTreeSet::new();
        // Successors of a block outside all loops come behind it in reverse post-order.
        for id in (0..self.blocks.len() as u32).rev().map(BlockId) {
            let block = self.block(id);
            let is_error = match self.terminator(id).map(|t| &t.op) {
                Some(Op::Unreachable) => true,
                Some(Op::Other(name)) if name == "resume" => true,
                // It throws and does nothing else, wherever that is caught.
                Some(Op::Other(name)) if name == "invoke" => errors.contains(&block.successors[0]),
                _ => {
                    block.innermost_loop.is_none()
                        && !block.successors.is_empty()
                        && block.successors.iter().all(|next| errors.contains(next))
                }
            };
            if is_error && !usual.contains(&id) {
                errors.insert(id);
            }
        }
        errors
    }

    /// Those that are errors, and those that no edge leads to any more.
    fn forget_exits(&mut self) {
        let mut loops = std::mem::take(&mut self.loops);
        for (id, l) in loops.iter_mut().enumerate() {
            let leaves = |b: BlockId| self.ways_on(b).any(|next| !l.blocks.contains(&next));
            let kept: Vec<bool> = l.exiting.iter().map(|&b| leaves(b)).collect();
            let is_exit = |e: &BlockId| l.exiting.iter().any(|&b| self.ways_on(b).any(|next| next == *e));
            let exits: Vec<BlockId> = l.exits.iter().copied().filter(is_exit).collect();
            if kept.iter().all(|&k| k) && exits.len() == l.exits.len() {
                continue;
            }
            let mut keep = kept.iter();
            l.exiting.retain(|_| *keep.next().expect("one each"));
            let mut keep = kept.iter();
            l.exit_counts.retain(|_| *keep.next().expect("one each"));
            l.exits = exits;
            if let [count] = &l.exit_counts[..] {
                l.backedge_taken_count = count.clone();
            }
            debug_assert!(!l.exits.is_empty() || l.exiting.is_empty(), "loop {id} is left, but to nowhere");
        }
        self.loops = loops;
    }

    /// The immediate post-dominator of each block where errors do not happen; none for a block from which paths never meet again.
    fn post_dominators(&self) -> Vec<Option<BlockId>> {
        let count = self.blocks.len();
        // The function's end is one more node, behind all blocks. Nodes are numbered so that a node's post-dominators come first.
        let end = count;
        let mut order = Vec::with_capacity(count + 1);
        let mut seen = vec![false; count + 1];
        let predecessors = |node: usize| -> Vec<usize> {
            let alive = |b: &usize| !self.blocks[*b].is_error;
            match node {
                node if node == end => {
                    let ends = |b: &usize| self.ways_on(BlockId(*b as u32)).next().is_none();
                    (0..count).filter(alive).filter(ends).collect()
                }
                node => self.blocks[node].predecessors.iter().map(|b| b.index()).filter(alive).collect(),
            }
        };
        let mut work = vec![(end, predecessors(end))];
        seen[end] = true;
        while let Some((node, open)) = work.last_mut() {
            match open.pop() {
                Some(next) if !seen[next] => {
                    seen[next] = true;
                    let further = predecessors(next);
                    work.push((next, further));
                }
                Some(_) => {}
                None => {
                    order.push(*node);
                    work.pop();
                }
            }
        }
        order.reverse();
        let mut place = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
        // By place in the order; a node's is smaller than its own.
        let mut above: Vec<Option<usize>> = vec![None; order.len()];
        above[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for at in 1..order.len() {
                let block = BlockId(order[at] as u32);
                let mut behind: Vec<usize> = self.ways_on(block).map(|b| place[b.index()]).collect();
                if behind.is_empty() {
                    behind.push(0);
                }
                let known = behind.into_iter().filter(|&b| b != usize::MAX && above[b].is_some());
                let meet = known.reduce(|mut a, mut b| {
                    while a != b {
                        while a > b {
                            a = above[a].expect("known");
                        }
                        while b > a {
                            b = above[b].expect("known");
                        }
                    }
                    a
                });
                if meet.is_some() && above[at] != meet {
                    above[at] = meet;
                    changed = true;
                }
            }
        }
        let block_above = |block: usize| {
            let at = place[block];
            let up = *above.get(at)?;
            up.map(|up| order[up]).filter(|&up| up != end).map(|up| BlockId(up as u32))
        };
        (0..count).map(block_above).collect()
    }
}
