//! Which instances of every block run: exact sets, found by following control flow once through every level of the loop tree.

mod count;
mod errors;
mod guards;
mod inside;
mod origin;

use super::Stop;
use super::arithmetic::{Arithmetic, Scope, set_space};
use super::attempts::Again;
use super::region::single_entry_part;
use super::values::Values;
use crate::facts::{BlockId, FunctionFacts, Loop, LoopId, Op, ValueId};
use count::turns;
use errors::ErrorBranch;
pub use inside::{Inside, Turning};
use isl::{DimType, Set};
use model::refusal::{Refusal, RefusalKind};
use model::scop::Predicate;
use model::source::Line;
use origin::turns_from_origin;
use planted::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// The region as a tree, in an order of execution.
pub enum Item {
    Block(Scope),
    Loop {
        id: LoopId,
        body: Vec<Item>,
    },
    /// Control flow that is not modelled: one unit, entered in the instances of `scope`.
    Boxed(Boxed),
}

#[derive(Clone)]
pub struct Boxed {
    pub scope: Scope,
    pub blocks: BTreeSet<BlockId>,
    pub exit: BlockId,
    pub inside: Inside,
}

/// Branches on data that were to be predicates, and what was refused under them then.
pub type Undivided = BTreeMap<BlockId, (Refusal, BlockId)>;

/// One level of the loop tree while it is read.
struct Level {
    loops: Vec<LoopId>,
    /// Instances that reach each block of the level.
    reached: BTreeMap<BlockId, Set>,
    /// Behind the block where the loop is left, one iteration less runs.
    exiting: Option<(BlockId, Set)>,
    /// Under which the whole level runs, and further ones of some blocks.
    predicates: Vec<Predicate>,
    predicated: BTreeMap<BlockId, Predicate>,
}

impl Level {
    fn new(loops: Vec<LoopId>, exiting: Option<(BlockId, Set)>, predicates: Vec<Predicate>) -> Level {
        Level { loops, reached: BTreeMap::new(), exiting, predicates, predicated: BTreeMap::new() }
    }

    fn predicates_of(&self, facts: &FunctionFacts, block: BlockId) -> Vec<Predicate> {
        // Those that were found first are around the others.
        let own = self.predicated.iter().filter(|(above, _)| facts.dominates(**above, block)).map(|(_, p)| *p);
        self.predicates.iter().copied().chain(own).collect()
    }

    fn reach(&mut self, block: BlockId, instances: Set) -> Result<(), isl::IslError> {
        let all = match self.reached.remove(&block) {
            Some(known) => known.union(&instances)?.coalesce()?,
            None => instances,
        };
        self.reached.insert(block, all);
        Ok(())
    }
}

/// When control first got to a block: for which parameters, and how much was assumed by then.
pub type Arrivals = BTreeMap<BlockId, (Set, usize)>;

/// Follows control through the region once.
struct Control<'r, 'a> {
    values: &'a Values<'a>,
    arithmetic: &'r mut Arithmetic<'a>,
    arrivals: Arrivals,
    /// The parameters for which each of these promises is broken: what they tell is not known yet.
    promises: Vec<Set>,
    undivided: &'r Undivided,
    /// Why there are boxes with loops.
    hidden: Vec<Hidden>,
}

/// Loops that were put into a box, and what would have been refused without it.
struct Hidden {
    /// How deep counted loops are nested in it, with those around.
    depth: usize,
    /// More than one of them is inside.
    is_nest: bool,
    refusal: Refusal,
    block: BlockId,
}

/// The items of the region, and when control first got to each block. What is `undivided` is put into one piece.
pub fn follow(arithmetic: &mut Arithmetic, undivided: &Undivided) -> Result<(Vec<Item>, Arrivals), Stop> {
    let values = arithmetic.values;
    let (arrivals, promises, hidden) = (Arrivals::new(), Vec::new(), Vec::new());
    let mut control = Control { values, arithmetic, arrivals, promises, undivided, hidden };
    control.learn_from_guards()?;
    let everything = Set::universe(&set_space(values.ctx, 0)?)?;
    let mut level = Level::new(Vec::new(), None, Vec::new());
    level.reach(values.region.entry, everything)?;
    let mut items = control.read_level(level, values.region.scope)?;
    control.expect_more_than_boxes(&items)?;
    control.look_into_boxes(&mut items)?;
    Ok((items, control.arrivals))
}

impl Control<'_, '_> {
    fn read_level(&mut self, mut level: Level, current: Option<LoopId>) -> Result<Vec<Item>, Stop> {
        match self.read_items(&mut level, current) {
            // In one piece the rest of the region can be read.
            Err(Stop::Refused { refusal, block }) => match self.branch_around(&level, block, current) {
                Some(branch) => Err(Stop::Again(Again::Undivided { branch, refusal, block })),
                None => Err(Stop::Refused { refusal, block }),
            },
            read => read,
        }
    }

    /// The outermost branch of the level that a block is under a predicate of, if it can be put into one piece with all of that.
    fn branch_around(&self, level: &Level, block: BlockId, current: Option<LoopId>) -> Option<BlockId> {
        /// More of them are not worth reading the region as often.
        const MOST: usize = 4;
        let facts = self.values.facts;
        let side = level.predicated.keys().find(|side| facts.dominates(**side, block))?;
        let branch = *facts.block(*side).predecessors.first()?;
        let may = self.undivided.len() < MOST && !self.undivided.contains_key(&branch);
        self.box_around(branch, current).filter(|_| may).map(|_| branch)
    }

    fn read_items(&mut self, level: &mut Level, current: Option<LoopId>) -> Result<Vec<Item>, Stop> {
        let mut items = Vec::new();
        let mut boxed = BTreeSet::new();
        for &block in &self.values.region.blocks {
            if boxed.contains(&block) {
                continue;
            }
            if self.values.facts.block(block).innermost_loop == current {
                // A block of this level that nothing reaches is dead code behind a condition that is always false.
                let Some(domain) = level.reached.get(&block).cloned() else { continue };
                let (line, predicates) =
                    (self.values.facts.line_of_block(block), level.predicates_of(self.values.facts, block));
                // Nothing is learnt from what may never run.
                let certain = predicates.is_empty();
                if certain {
                    self.note_arrival(block, &domain)?;
                }
                let scope = Scope { loops: level.loops.clone(), domain, block, line, predicates };
                if certain {
                    self.learn_from_hints(&scope)?;
                }
                match self.follow_edges(&scope, level, current) {
                    Ok(()) => items.push(Item::Block(scope)),
                    Err(Stop::Refused { refusal, .. }) if refusal.kind == RefusalKind::NonAffineBranch => {
                        let before = self.undivided.get(&block).cloned();
                        if before.is_none() && self.predicate(&scope, level, current)? {
                            items.push(Item::Block(scope));
                            continue;
                        }
                        let (refusal, at) = before.unwrap_or((refusal, block));
                        let Some((part, exit)) = self.box_around(block, current) else {
                            return Err(Stop::Refused { refusal, block: at });
                        };
                        level.reach(exit, scope.domain.clone())?;
                        boxed.extend(part.iter().copied());
                        items.push(self.boxed(scope, part, exit, current, (refusal, at)));
                    }
                    Err(stop) => return Err(stop),
                }
            } else if let Some(child) = self.values.facts.child_loop_of(current, block) {
                if self.values.facts.loops[child.index()].header != block {
                    continue;
                }
                let Some(domain) = level.reached.get(&block).cloned() else { continue };
                let info = &self.values.facts.loops[child.index()];
                let predicates = level.predicates_of(self.values.facts, block);
                let (loops, line) = (level.loops.clone(), info.line);
                let scope = Scope { loops, domain: domain.clone(), block, line, predicates };
                let (promises, hidden) = (self.promises.len(), self.hidden.len());
                match self.read_loop(child, &scope) {
                    Ok(body) => {
                        level.reach(info.exits[0], domain)?;
                        items.push(Item::Loop { id: child, body });
                        if level.loops.is_empty() {
                            self.believe_promises()?;
                        }
                    }
                    // A loop that cannot be counted, or that contains what cannot be modelled, is boxed if it has loops around it that
                    // can. Under a predicate there is little left that could gain from that; without the part, the rest may.
                    Err(Stop::Refused { refusal, block: at })
                        if !level.loops.is_empty() && scope.predicates.is_empty() && is_of_control(refusal.kind) =>
                    {
                        let Some((exit, part)) = self.box_of_loop(child, current) else {
                            return Err(Stop::Refused { refusal, block: at });
                        };
                        // Nothing orders a statement that loops forever and what is behind it, which then never runs.
                        if let Some(endless) =
                            self.endless(&part, current).filter(|_| !planted::is(Fault::EndlessPartBoxed))
                        {
                            if endless.header != block {
                                return Err(Stop::Refused { refusal, block: at });
                            }
                            let why = "nobody promises that it ends";
                            return Err(Stop::refuse(RefusalKind::UnknownTripCount, info.line, why, block));
                        }
                        level.reach(exit, domain)?;
                        self.promises.truncate(promises);
                        self.hidden.truncate(hidden);
                        boxed.extend(part.iter().copied());
                        items.push(self.boxed(scope, part, exit, current, (refusal, at)));
                    }
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(items)
    }

    /// Lets both ways of a branch on data run in all instances, under a predicate. Says whether that can be done: if each block up to
    /// where they meet again belongs to one of them, and there are loops that gain from it.
    fn predicate(&mut self, scope: &Scope, level: &mut Level, current: Option<LoopId>) -> Result<bool, Stop> {
        let (facts, block) = (self.values.facts, scope.block);
        let Some(exit) = self.values.facts.block(block).immediate_post_dominator else { return Ok(false) };
        let at_level = |b: BlockId| self.values.region.contains(b) && facts.block(b).innermost_loop == current;
        let Some(terminator) = facts.terminator(block) else { return Ok(false) };
        let (Op::Branch { targets }, &[condition, ..]) = (&terminator.op, &terminator.operands[..]) else {
            return Ok(false);
        };
        if scope.loops.is_empty() || !at_level(exit) {
            return Ok(false);
        }
        let Some(part) = self.boxable_part(block, exit, current) else { return Ok(false) };
        let has_loops = part.iter().any(|&b| facts.block(b).innermost_loop != current);
        let is_left = current.is_some_and(|l| facts.loops[l.index()].exiting.iter().any(|e| part.contains(e)));
        let sides: Vec<BlockId> = targets.iter().copied().filter(|&t| t != exit).collect();
        let is_entered = |side: &BlockId| facts.block(*side).predecessors == [block];
        let belongs = |b: &BlockId| *b == block || sides.iter().any(|&side| facts.dominates(side, *b));
        // Under a predicate nothing is put into one piece.
        let uncounted = facts.loops.iter().any(|l| part.contains(&l.header) && !l.is_counted());
        let is_value = facts.instruction(condition).is_some() && !self.values.is_outside(condition);
        if !has_loops || is_left || uncounted || !is_value || !sides.iter().all(is_entered) || !part.iter().all(belongs)
        {
            return Ok(false);
        }
        for side in sides {
            let predicate = Predicate { condition, truth: side == targets[0], depth: scope.loops.len() };
            level.predicated.insert(side, predicate);
            level.reach(side, scope.domain.clone())?;
        }
        level.reach(exit, scope.domain.clone())?;
        Ok(true)
    }

    /// The part from a block whose branch is not affine up to where its paths meet, if it can be one statement: its loops end.
    fn box_around(&self, block: BlockId, current: Option<LoopId>) -> Option<(BTreeSet<BlockId>, BlockId)> {
        let exit = self.values.facts.block(block).immediate_post_dominator?;
        let in_level =
            |b: BlockId| self.values.region.contains(b) && self.values.facts.block(b).innermost_loop == current;
        if !(in_level(exit) || exit == self.values.region.exit)
            || current == self.values.region.scope && self.values.region.scope.is_none()
        {
            // Outside all loops a box gains nothing: the region can be cut here instead.
            return None;
        }
        let part = self.boxable_part(block, exit, current)?;
        let leaves_loop =
            current.is_some_and(|l| self.values.facts.loops[l.index()].exiting.iter().any(|e| part.contains(e)));
        let is_around_loops = |b: &BlockId| current.is_none_or(|l| self.values.facts.in_loop(*b, l));
        let may_be = part.iter().all(is_around_loops) && !leaves_loop;
        // Outside the loops of the region, those inside the box may well be all there is.
        let has_loops = !part.iter().all(|&b| in_level(b));
        let is_of_use = !has_loops || current != self.values.region.scope;
        let ends = self.endless(&part, current).is_none() || planted::is(Fault::EndlessPartBoxed);
        (may_be && is_of_use && ends).then_some((part, exit))
    }

    /// A whole loop, up to where all ways out of it meet on the level around it.
    fn box_of_loop(&self, id: LoopId, current: Option<LoopId>) -> Option<(BlockId, BTreeSet<BlockId>)> {
        let facts = self.values.facts;
        let info = &facts.loops[id.index()];
        let exit = match info.exits[..] {
            [exit] => exit,
            _ => {
                let mut meet = facts.block(info.header).immediate_post_dominator?;
                while facts.in_loop(meet, id) {
                    meet = facts.block(meet).immediate_post_dominator?;
                }
                meet
            }
        };
        let in_level = self.values.region.contains(exit) && facts.block(exit).innermost_loop == current;
        if !in_level && exit != self.values.region.exit {
            return None;
        }
        let part = self.boxable_part(info.header, exit, current)?;
        let leaves_loop = current.is_some_and(|l| facts.loops[l.index()].exiting.iter().any(|e| part.contains(e)));
        (!leaves_loop).then_some((exit, part))
    }

    /// Nobody knows when a check inside of a box fails; and all the ways out of a box lead to its exit, those that are never taken too.
    /// What turns in it is a loop that LLVM knows: of a circle that is entered in several ways nobody says that it ends.
    fn boxable_part(&self, block: BlockId, exit: BlockId, current: Option<LoopId>) -> Option<BTreeSet<BlockId>> {
        let part = single_entry_part(self.values.facts, block, exit, current)?;
        let facts = self.values.facts;
        let turns_back = |b: BlockId, next: BlockId| {
            let innermost = facts.block(next).innermost_loop;
            let is_back_edge = innermost.is_some_and(|l| facts.loops[l.index()].header == next && facts.in_loop(b, l));
            part.contains(&next) && next <= b && !is_back_edge
        };
        let is_odd = |&b: &BlockId| {
            let turns = facts.block(b).successors.iter().any(|&next| turns_back(b, next));
            turns || facts.may_fail(b) || facts.has_untaken_edge(b)
        };
        (!part.iter().any(is_odd)).then_some(part)
    }

    /// A loop of the part that nobody knows to end.
    fn endless(&self, part: &BTreeSet<BlockId>, current: Option<LoopId>) -> Option<&Loop> {
        self.loops_in(part, current).into_iter().find(|l| l.may_never_end())
    }

    /// The loops of a part of a level. What is in front may be the header of the loop around.
    fn loops_in(&self, part: &BTreeSet<BlockId>, current: Option<LoopId>) -> Vec<&Loop> {
        let facts = self.values.facts;
        let is_inside = |l: &&Loop| part.contains(&l.header) && facts.child_loop_of(current, l.header).is_some();
        facts.loops.iter().filter(is_inside).collect()
    }

    /// Control flow as one item, and what would be refused without it.
    fn boxed(
        &mut self,
        scope: Scope,
        blocks: BTreeSet<BlockId>,
        exit: BlockId,
        current: Option<LoopId>,
        (refusal, block): (Refusal, BlockId),
    ) -> Item {
        let loops = self.loops_in(&blocks, current);
        if !loops.is_empty() {
            let is_around = |outer: &Loop, l: &Loop| outer.blocks.contains(&l.header);
            let counted_around = |l: &&Loop| loops.iter().filter(|o| o.is_counted() && is_around(o, l)).count();
            let nested = loops.iter().map(counted_around).max().unwrap_or(0);
            let depth = scope.loops.len() + nested;
            self.hidden.push(Hidden { depth, is_nest: nested > 1, refusal, block });
        }
        // Numbered from 0 in there, whatever was found for loops while they were not yet known to be part of a box.
        let facts = self.values.facts;
        let is_inside = |l: &LoopId| {
            let header = facts.loops[l.index()].header;
            blocks.contains(&header) && facts.child_loop_of(current, header).is_some()
        };
        self.arithmetic.origins.retain(|l, _| !is_inside(l));
        Item::Boxed(Boxed { scope, blocks, exit, inside: Inside::new() })
    }

    fn look_into_boxes(&mut self, items: &mut [Item]) -> Result<(), Stop> {
        for item in items {
            match item {
                Item::Block(_) => {}
                Item::Loop { body, .. } => self.look_into_boxes(body)?,
                Item::Boxed(Boxed { scope, blocks, inside, .. }) => {
                    let current = scope.loops.last().copied().or(self.values.region.scope);
                    *inside = self.look_inside(scope, blocks, current)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a region in which little would be left beside what is hidden in boxes: without them, what they hide can be read by itself.
    fn expect_more_than_boxes(&self, items: &[Item]) -> Result<(), Stop> {
        let depth = self.depth_of_stores(items);
        let hides_much = |h: &&Hidden| depth == 0 || h.is_nest && h.depth >= depth;
        match self.hidden.iter().find(hides_much) {
            Some(Hidden { refusal, block, .. }) => Err(Stop::Refused { refusal: refusal.clone(), block: *block }),
            None => Ok(()),
        }
    }

    /// In how many loops something is written outside of boxes.
    fn depth_of_stores(&self, items: &[Item]) -> usize {
        let depth = |item: &Item| match item {
            Item::Boxed(_) => 0,
            Item::Loop { body, .. } => self.depth_of_stores(body),
            Item::Block(scope) => {
                let instructions = &self.values.facts.block(scope.block).instructions;
                let writes = |v: &ValueId| self.values.facts.instruction(*v).is_some_and(|i| i.writes_memory);
                if instructions.iter().any(writes) { scope.loops.len() } else { 0 }
            }
        };
        items.iter().map(depth).max().unwrap_or(0)
    }

    /// Requires: `scope` is that of the loop's header before the loop is entered.
    fn read_loop(&mut self, id: LoopId, scope: &Scope) -> Result<Vec<Item>, Stop> {
        let info = &self.values.facts.loops[id.index()];
        let refuse = |kind, why: &str| Err(Stop::refuse(kind, info.line, why, info.header));
        if info.hinted {
            return refuse(RefusalKind::Metadata, "a pragma");
        }
        let (Some(latch), [exiting], [_]) = (info.latch, &info.exiting[..], &info.exits[..]) else {
            return refuse(RefusalKind::LoopExits, "by `break`, `return` or `goto`, or it never ends");
        };
        if self.values.facts.block(*exiting).innermost_loop != Some(id) || !self.values.facts.dominates(*exiting, latch)
        {
            return refuse(RefusalKind::LoopExits, "from inside another loop or a condition");
        }
        // In the first iteration, control gets to the exit whatever the bound is, unless something goes wrong before.
        let doubtful = self.behind_checks(id);
        let in_first = |b: &BlockId| self.values.facts.dominates(*b, *exiting) && !doubtful.contains(b);
        let (certain, others): (Vec<BlockId>, Vec<BlockId>) = info.blocks.iter().copied().partition(in_first);
        for block in certain.into_iter().filter(|_| scope.predicates.is_empty()) {
            self.note_arrival(block, &scope.domain)?;
        }
        let mut inner = scope.clone();
        inner.loops.push(id);
        inner.domain = scope.domain.add_dims(DimType::Set, 1)?;
        let from_origin = turns_from_origin(self.arithmetic, id, *exiting, scope, &inner)?;
        let turns = match from_origin {
            Some(turns) => turns,
            None => {
                inner.domain = inner.domain.lower_bound_si(DimType::Set, scope.loops.len(), 0)?;
                turns(self.arithmetic, id, *exiting, scope, &inner)?
            }
        };
        let exiting = Some((*exiting, turns.completed));
        let mut level = Level::new(inner.loops, exiting, inner.predicates);
        level.reach(info.header, turns.begun)?;
        let items = self.read_level(level, Some(id))?;
        // Control may first get to the others in a later iteration: only if no check of the loop failed before, wherever it stands, and
        // every loop in it ended.
        if self.may_stop_in(id) {
            for block in others {
                if let Some((_, assumptions)) = self.arrivals.get_mut(&block) {
                    *assumptions = self.arithmetic.known.assumptions.len();
                }
            }
        }
        Ok(items)
    }

    /// The blocks of a loop to which control does not get in the first iteration if something goes wrong in it, or does not end.
    fn behind_checks(&self, id: LoopId) -> BTreeSet<BlockId> {
        let info = &self.values.facts.loops[id.index()];
        let mut behind = BTreeSet::new();
        let endless =
            |l: &Loop| l.header != info.header && l.may_never_end() && self.values.facts.in_loop(l.header, id);
        let endless = self.values.facts.loops.iter().filter(|l| endless(l)).flat_map(|l| &l.exiting);
        let fails = info.blocks.iter().filter(|&&b| self.values.facts.may_fail(b));
        let mut work: Vec<BlockId> = fails.chain(endless).copied().collect();
        while let Some(block) = work.pop() {
            for next in self.values.facts.ways_on(block) {
                if next != info.header && self.values.facts.in_loop(next, id) && behind.insert(next) {
                    work.push(next);
                }
            }
        }
        behind
    }

    /// The first time that control gets to a block says the least of what is known by then.
    fn note_arrival(&mut self, block: BlockId, instances: &Set) -> Result<(), isl::IslError> {
        if !self.arrivals.contains_key(&block) {
            let params = instances.params()?.coalesce()?;
            self.arrivals.insert(block, (params, self.arithmetic.known.assumptions.len()));
        }
        Ok(())
    }

    /// Sends the instances of a block along its edges.
    fn follow_edges(&mut self, scope: &Scope, level: &mut Level, current: Option<LoopId>) -> Result<(), Stop> {
        let facts = self.values.facts;
        let block = scope.block;
        let header = current.map(|l| facts.loops[l.index()].header);
        let stays = |next: BlockId| {
            self.values.region.contains(next)
                && Some(next) != header.filter(|_| current != self.values.region.scope)
                && current.is_none_or(|l| facts.in_loop(next, l))
        };
        let terminator = facts.terminator(block).ok_or_else(|| {
            Stop::refuse(RefusalKind::UnsupportedInstruction, scope.line, "a block without an end", block)
        })?;
        if let Some((_, runs_again)) = level.exiting.clone().filter(|(exiting, _)| *exiting == block) {
            let on: BTreeSet<BlockId> = facts.block(block).successors.iter().copied().filter(|&s| stays(s)).collect();
            // Besides leaving, the exiting block may only go on one way; otherwise the way it goes on is a condition of its own.
            if on.len() > 1 || facts.may_fail(block) {
                return Err(Stop::refuse(RefusalKind::LoopExits, scope.line, "by one case of a `switch`", block));
            }
            for next in on {
                let last_too = planted::is(Fault::LastIterationGoesOn);
                let goes_on = if last_too { scope.domain.clone() } else { scope.domain.intersect(&runs_again)? };
                level.reach(next, goes_on)?;
            }
            return Ok(());
        }
        let edges: Vec<(BlockId, Set)> = match &terminator.op {
            Op::Branch { targets } if targets.len() == 1 => vec![(targets[0], scope.domain.clone())],
            Op::Branch { targets } if facts.may_fail(block) => {
                let fails = usize::from(facts.block(targets[1]).is_error);
                let condition = terminator.operands[0];
                let check = ErrorBranch { condition: Some((condition, fails == 0)), error: targets[fails] };
                self.assume_passed(check, scope)?;
                vec![(targets[1 - fails], scope.domain.clone())]
            }
            Op::Branch { targets } => {
                if targets.iter().all(|&t| !stays(t)) {
                    return Ok(());
                }
                let taken = self.branch_condition(terminator.operands[0], scope, terminator.line)?;
                vec![(targets[0], scope.domain.intersect(&taken)?), (targets[1], scope.domain.subtract(&taken)?)]
            }
            Op::Switch { default, cases } => {
                let value = self
                    .arithmetic
                    .affine(terminator.operands[0], scope, true)
                    .and_then(|v| self.arithmetic.as_signed(v, scope))
                    .map_err(|error| error.refused(RefusalKind::NonAffineBranch, scope))?;
                let mut rest = scope.domain.clone();
                let mut edges = Vec::new();
                for (case, target) in cases {
                    let constant = self
                        .arithmetic
                        .constant(scope, *case)
                        .map_err(|error| error.refused(RefusalKind::NonAffineBranch, scope))?;
                    let hit = value.function.eq_set(&constant)?;
                    edges.push((*target, scope.domain.intersect(&hit)?));
                    rest = if planted::is(Fault::DefaultTakesAll) { rest } else { rest.subtract(&hit)? };
                }
                edges.push((*default, rest));
                edges
            }
            _ => {
                return Err(Stop::refuse(RefusalKind::UnsupportedInstruction, scope.line, "this kind of jump", block));
            }
        };
        for (next, instances) in edges {
            if facts.block(next).is_error {
                self.assume_no_error(&instances, &ErrorBranch { condition: None, error: next }, scope)?;
            } else if stays(next) && !instances.intersect_params(&self.arithmetic.known.assumed)?.is_empty()? {
                if next <= block && Some(next) != header {
                    return Err(Stop::refuse(RefusalKind::Irreducible, scope.line, "by `goto`", block));
                }
                level.reach(next, instances.coalesce()?)?;
            }
        }
        Ok(())
    }

    fn branch_condition(&mut self, value: ValueId, scope: &Scope, line: Line) -> Result<Set, Stop> {
        // A box is the better answer than assumptions made on the way to nothing.
        self.arithmetic.or_forget(|this| this.condition(value, scope)).map_err(|error| {
            let scope = Scope { line: line.or(scope.line), ..scope.clone() };
            error.refused(RefusalKind::NonAffineBranch, &scope)
        })
    }
}

/// What is refused because of where control goes: in one piece it need not be known.
fn is_of_control(kind: RefusalKind) -> bool {
    matches!(
        kind,
        RefusalKind::UnknownTripCount
            | RefusalKind::LoopExits
            | RefusalKind::NonAffineBound
            | RefusalKind::NonAffineBranch
            | RefusalKind::MayWrap
    )
}
