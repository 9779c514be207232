//! Which regions are read: as large as can be, and every loop in one of them or behind a refusal.

use super::attempts::read_region;
use super::legality;
use super::region::{ChainEnd, Piece, Region, chain};
use super::{FoundRegion, Inputs, Memory, Reading, Stop, refusal_of_isl};
use crate::facts::{BlockId, FunctionFacts, LoopId, Op, ValueId};
use isl::Budget;
use model::refusal::{Refusal, RefusalKind};
use std::collections::BTreeSet;

/// Domains, access relations and contexts of one region.
const READ: Budget = Budget::new("read", 500_000);
const READ_HASTILY: Budget = Budget::new("read", 50_000);

struct Search<'a> {
    inputs: Inputs<'a>,
    found: Reading,
    /// Where each level was entered: control flow that never ends leads back to where it came from.
    searched: BTreeSet<(Option<LoopId>, BlockId)>,
    /// Blocks of the regions found.
    taken: BTreeSet<BlockId>,
    memory: &'a mut Memory,
}

pub fn search(inputs: Inputs, memory: &mut Memory) -> Reading {
    let (searched, taken) = (BTreeSet::new(), BTreeSet::new());
    let mut search = Search { inputs, found: Reading::default(), searched, taken, memory };
    if inputs.facts.loops.is_empty() {
        return search.found;
    }
    match legality::refuse_function(inputs.facts) {
        Some(refusal) => search.found.refusals.push(refusal),
        None => {
            search.level(None, BlockId(0), None);
            search.handlers();
        }
    }
    search.found
}

impl Search<'_> {
    /// A function in which reading ran out of its budget again and again, for ever smaller parts of the same, is not worth as much.
    fn budget(&self) -> Budget {
        const PATIENCE: usize = 8;
        if self.memory.in_vain < PATIENCE { READ } else { READ_HASTILY }
    }

    /// Searches one level of the loop tree from `start` to `stop`.
    fn level(&mut self, scope: Option<LoopId>, start: BlockId, stop: Option<BlockId>) {
        if !self.searched.insert((scope, start)) {
            return;
        }
        let (pieces, end) = chain(self.inputs.facts, scope, start, stop);
        self.run(scope, &pieces);
        match end {
            ChainEnd::Stop => {}
            ChainEnd::Broken(block) => self.unstructured(scope, block),
            ChainEnd::Joined(block) => self.level(scope, block, stop),
        }
    }

    /// Reads a run of pieces as one region, or cuts it where it is refused.
    fn run(&mut self, scope: Option<LoopId>, pieces: &[Piece]) {
        // Where paths do not meet again, two of them may lead to the same loops.
        let is_taken = |b: &BlockId| self.taken.contains(b);
        if let Some(met) = pieces.iter().position(|p| p.blocks.iter().any(is_taken)) {
            let entirely = pieces[met].blocks.iter().all(is_taken);
            self.run(scope, &pieces[..met]);
            if pieces[met].has_loop && !entirely {
                self.inside(scope, &pieces[met]);
            }
            self.run(scope, &pieces[met + 1..]);
            return;
        }
        let Some((region, covered)) = Region::of_run(self.inputs.facts, scope, pieces) else {
            for piece in pieces.iter().filter(|p| p.has_loop) {
                self.inside(scope, piece);
            }
            return;
        };
        for piece in pieces[..covered.start].iter().filter(|p| p.has_loop) {
            self.inside(scope, piece);
        }
        let pieces = &pieces[covered];
        // Loops of which only some run have nothing to give each other, and sets that tell them apart are expensive.
        if let Some(choice) = pieces.iter().position(|p| is_choice(self.inputs.facts, scope, p)) {
            self.run(scope, &pieces[..choice]);
            self.inside(scope, &pieces[choice]);
            self.run(scope, &pieces[choice + 1..]);
            return;
        }
        // A condition that is decided by data is a number where it comes from outside. A guard around all loops need not be part of the
        // region: that they run is known of the way to them.
        if let [piece] = pieces
            && is_guard(self.inputs.facts, scope, piece)
            && tests_data_in_front(self.inputs.facts, scope, piece)
        {
            return self.inside(scope, piece);
        }
        // One loop after the other can be taken apart; of a loop, only what is too large is.
        let facts = self.inputs.facts;
        let outermost =
            |b: &&BlockId| facts.child_loop_of(scope, **b).is_some_and(|l| facts.loops[l.index()].header == **b);
        let falls_apart = region.blocks.iter().filter(outermost).count() > 1;
        let Err((refusal, block)) = self.read(&region, falls_apart) else { return };
        self.memory.refused.insert((region.entry, region.exit), (refusal.clone(), block));
        let cut = match block {
            Some(block) => pieces.iter().position(|p| p.blocks.contains(&block)).unwrap_or(0),
            // Half of the run may do with the budget; a single piece that does not is refused.
            None => pieces.len() / 2,
        };
        self.run(scope, &pieces[..cut]);
        if block.is_none() && pieces.len() > 1 {
            self.run(scope, &pieces[cut..]);
            return;
        }
        // A piece without a loop only separates regions, and one that is no loop only adds a condition around loops, each of which
        // can be read from inside or is in its own way: nothing is lost with it.
        if pieces[cut].has_loop {
            let is_loop = self.inputs.facts.child_loop_of(scope, pieces[cut].entry).is_some();
            let before = (self.found.regions.len(), self.found.refusals.len());
            self.inside(scope, &pieces[cut]);
            let nothing_found = (self.found.regions.len(), self.found.refusals.len()) == before;
            if is_loop || nothing_found {
                self.found.refusals.push(refusal);
            }
        }
        self.run(scope, &pieces[cut + 1..]);
    }

    /// Reads the region, or says why not, and in which block; without a block, half of it may do.
    fn read(&mut self, region: &Region, falls_apart: bool) -> Result<(), (Refusal, Option<BlockId>)> {
        let place = (region.entry, region.exit);
        let too_large = self.memory.too_large.get(&place);
        let too_large = too_large.filter(|r| falls_apart || r.kind == RefusalKind::OutOfBudget);
        if let Some(refusal) = too_large.or(self.memory.opaque.get(&place)) {
            return Err((refusal.clone(), None));
        }
        if let Some(blocks) = self.memory.read.get(&place) {
            self.taken.extend(blocks);
            self.found.regions.push(FoundRegion::AsBefore(place));
            return Ok(());
        }
        if let Some(refused) = self.memory.refused.get(&place) {
            return Err(refused.clone());
        }
        let read = || read_region(self.inputs, region, &self.memory.shaping);
        match self.inputs.ctx.within(self.budget(), read) {
            Ok(read) => {
                self.taken.extend(read.region.blocks.iter().copied());
                self.memory.read.insert(place, read.region.blocks.clone());
                self.found.regions.push(FoundRegion::Region(Box::new(read.region)));
                Ok(())
            }
            Err(Stop::Refused { refusal, block }) => Err((refusal, Some(block))),
            Err(Stop::Again(_)) => unreachable!("it was read again"),
            Err(Stop::Isl(error)) => {
                self.memory.in_vain += usize::from(error.is_out_of_budget());
                Err((refusal_of_isl(&error, self.inputs.facts.line_of_block(region.entry)), None))
            }
        }
    }

    /// Searches the insides of a piece that is not (part of) a region itself.
    fn inside(&mut self, scope: Option<LoopId>, piece: &Piece) {
        match self.inputs.facts.child_loop_of(scope, piece.entry) {
            Some(l) => self.level(Some(l), self.inputs.facts.loops[l.index()].header, None),
            None => {
                for arm in arms(self.inputs.facts, piece) {
                    self.level(scope, arm, Some(piece.exit));
                }
            }
        }
    }

    /// From `block` on, paths do not meet again on this level (several returns, `noreturn` calls): search what each of them leads to.
    fn unstructured(&mut self, scope: Option<LoopId>, block: BlockId) {
        if let Some(l) = self.inputs.facts.child_loop_of(scope, block) {
            let info = &self.inputs.facts.loops[l.index()];
            let why = "by `return`, `goto` or a call that does not come back";
            self.found.refusals.push(Refusal::new(RefusalKind::LoopExits, info.line, why));
            self.level(Some(l), info.header, None);
            for &exit in &info.exits {
                if scope.is_none_or(|s| self.inputs.facts.in_loop(exit, s))
                    && self.inputs.facts.dominates(info.header, exit)
                {
                    self.dominated_child(scope, info.header, exit);
                }
            }
            return;
        }
        for &next in &self.inputs.facts.block(block).successors {
            self.dominated_child(scope, block, next);
        }
    }

    /// Code that only errors lead to, and that goes on: there may be loops in it.
    fn handlers(&mut self) {
        let facts = self.inputs.facts;
        for (index, block) in facts.blocks.iter().enumerate() {
            let by_error = |b: &BlockId| facts.block(*b).is_error;
            if !block.is_error && !block.predecessors.is_empty() && block.predecessors.iter().all(by_error) {
                self.level(block.innermost_loop, BlockId(index as u32), None);
            }
        }
    }

    fn dominated_child(&mut self, scope: Option<LoopId>, above: BlockId, block: BlockId) {
        let is_back_edge = self.inputs.facts.dominates(block, above);
        let on_level = scope.is_none_or(|s| self.inputs.facts.in_loop(block, s));
        if !is_back_edge && on_level && self.inputs.facts.dominates(above, block) {
            self.level(scope, block, None);
        }
    }
}

/// The ways that begin at a conditional piece and belong to it alone.
fn arms(facts: &FunctionFacts, piece: &Piece) -> Vec<BlockId> {
    let mut arms = facts.block(piece.entry).successors.clone();
    arms.dedup();
    arms.retain(|&arm| {
        let own = piece.blocks.contains(&arm) && facts.dominates(arm, arm);
        own && facts.block(arm).immediate_dominator == Some(piece.entry) && arm != piece.exit
    });
    arms
}

/// The arms of a conditional that have loops, if these are all loops of it.
fn arms_with_loops(facts: &FunctionFacts, scope: Option<LoopId>, piece: &Piece) -> Vec<BlockId> {
    if !piece.has_loop || facts.child_loop_of(scope, piece.entry).is_some() {
        return Vec::new();
    }
    let in_loops: Vec<BlockId> =
        piece.blocks.iter().copied().filter(|&b| facts.block(b).innermost_loop != scope).collect();
    let mut arms = arms(facts, piece);
    arms.retain(|&arm| in_loops.iter().any(|&b| facts.dominates(arm, b)));
    let belongs = |b: &BlockId| arms.iter().any(|&arm| facts.dominates(arm, *b));
    if in_loops.iter().all(belongs) { arms } else { Vec::new() }
}

/// All loops are in one arm of this conditional.
fn is_guard(facts: &FunctionFacts, scope: Option<LoopId>, piece: &Piece) -> bool {
    arms_with_loops(facts, scope, piece).len() == 1
}

/// Control in the loops depends on a comparison of floating-point numbers that is made once, in front of them.
fn tests_data_in_front(facts: &FunctionFacts, scope: Option<LoopId>, piece: &Piece) -> bool {
    let is_in_loop = |b: &&BlockId| facts.block(**b).innermost_loop != scope;
    let is_in_front = |at: BlockId| piece.blocks.contains(&at) && !is_in_loop(&&at);
    piece.blocks.iter().filter(is_in_loop).filter_map(|&b| facts.block(b).instructions.last()).any(|&last| {
        let end = facts.instruction(last);
        let mut open: Vec<ValueId> = end.iter().flat_map(|end| end.operands.first()).copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(condition) = open.pop() {
            if !seen.insert(condition) {
                continue;
            }
            match facts.instruction(condition) {
                Some(test) if matches!(test.op, Op::FCmp) && is_in_front(test.block) => return true,
                Some(made) if matches!(made.op, Op::Int(_) | Op::Select | Op::Freeze) => open.extend(&made.operands),
                _ => {}
            }
        }
        false
    })
}

/// Control chooses between loops here: several arms of the conditional have some, or all of them are in such a conditional in one arm.
fn is_choice(facts: &FunctionFacts, scope: Option<LoopId>, piece: &Piece) -> bool {
    match arms_with_loops(facts, scope, piece)[..] {
        [] => false,
        [arm] => {
            let (inner, _) = chain(facts, scope, arm, Some(piece.exit));
            let mut with_loops = inner.iter().filter(|p| p.has_loop);
            with_loops.next().is_some_and(|p| is_choice(facts, scope, p)) && with_loops.next().is_none()
        }
        _ => true,
    }
}
