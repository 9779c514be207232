//! Which of the possible orders is worth it.

use super::cost::{Code, Cost, Lanes, Nest, References, chains_through_memory, estimate, only, uses_vectors};
use super::nominal::assumed_sizes;
use super::orders::is_uncarried;
use super::shape::{BandTree, EstimatedBand, EstimatedRegion, EstimatedTree, instances_of_band};
use super::split::{MIN_SPLIT, is_one_loop, paying_iterations};
use super::{AS_GOOD, Decision, Fusion, Machine, Order, OrderError, Orders, Scalars, ScheduleOptions, Start};
use crate::dependence::{Dependences, LiveRanges};
use crate::scop::{Scop, StatementId};
use crate::transform::{BandId, KeptOrder, Step, StepError, Steps, Tree, keeps_order, label_above, labelled};
use isl::{Budget, IslError, STEPS_OF_A_SECOND, Schedule, ScheduleNode, ScheduleNodeType};
use std::collections::{BTreeMap, BTreeSet};

/// Of two estimates this close, the simpler order wins.
const TIE: f64 = 0.98;
/// Live ranges may change places along the loops in whose iterations they stay; one loop alone cannot be permuted with another.
const LOOPS_TO_PERMUTE: usize = 2;
/// More code is worth it only if it is faster by this.
const SIDE_BY_SIDE: f64 = 1.1;
/// An order that takes no more than this share of the original's time, and uses again what is in registers or caches along more than one
/// loop, is good enough: others are not looked for.
const GREAT: f64 = 1.0 / 3.0;
/// This share of all instances may lose the vectors that it has in the original.
const LOST_VECTORS: f64 = 0.02;

/// With threads an order may take this much longer on one of them.
const AS_FAST_WITH_THREADS: f64 = 1.1;

/// The budget of one run of isl's scheduler: about a second at most.
///
/// The tableaux of its linear programs have a row per dependence and columns for every statement, so that the cost of a pivot grows
/// about as the square: 5 µs each were measured for 4 statements of depth 3, 30 µs for 12, 290 µs for 24. Every convex piece of a
/// dependence adds rows too, so pivots cost more where there are many.
fn one_attempt(scop: &Scop, deps: &Dependences) -> Result<Budget, IslError> {
    const FEW_STATEMENTS: u64 = 4;
    const FEW_PIECES: u64 = 24;
    let statements = (scop.statements.len() as u64).max(FEW_STATEMENTS);
    let mut pieces = 0;
    for map in deps.validity()?.maps()? {
        pieces += map.n_basic_map()? as u64;
    }
    let operations = 10_000_000 / (statements * statements) * FEW_PIECES / pieces.max(FEW_PIECES);
    Ok(Budget { name: "schedule", operations, steps: STEPS_OF_A_SECOND })
}

struct Candidate {
    start: Start,
    /// What it starts with, and the steps that make it the schedule that was looked at.
    first: Schedule,
    skews: Steps,
    schedule: Schedule,
    tree: EstimatedTree,
    steps: Steps,
    cost: Cost,
    /// Some of the steps were taken to be legal without asking.
    is_open: bool,
    trials: Trials,
}

impl Candidate {
    /// Nothing runs side by side, and the order as it is was looked at for that alone.
    fn is_original(&self) -> bool {
        self.start == Start::Original && !self.steps.iter().any(|step| matches!(step, Step::Jam { .. }))
    }

    fn is_blocked(&self) -> bool {
        let jams = self.steps.iter().filter(|step| matches!(step, Step::Jam { .. })).count();
        jams > 1 || self.steps.iter().any(|step| matches!(step, Step::Tile { .. }))
    }
}

/// Questions about one tree, whether steps on it are legal: few are asked, and not again what is known.
struct Trials {
    left: usize,
    /// What was found to be illegal side by side. As much of the same loops, or more, is taken to be, whatever else is done: that may be
    /// wrong, and then an order is missed.
    refused: Vec<Groups>,
    /// The tree of those that were found to be legal last.
    kept: Option<KeptOrder>,
}

/// How many iterations of which loops run side by side: by the number of a band, and the member's place in it before it is permuted.
type Groups = BTreeMap<(u32, usize), i64>;

impl Trials {
    fn new() -> Trials {
        Trials { left: MAX_TRIALS, refused: Vec::new(), kept: None }
    }

    fn are_legal(
        &mut self,
        steps: &Steps,
        ask: impl Fn(&Steps) -> Result<Option<KeptOrder>, IslError>,
    ) -> Result<bool, IslError> {
        let groups = groups_in(steps);
        let covers = |less: &Groups| less.iter().all(|(at, by)| groups.get(at).is_some_and(|own| own >= by));
        if self.left == 0 || self.refused.iter().any(covers) {
            return Ok(false);
        }
        self.left -= 1;
        // It is mostly not their number that is wrong, nor the tiles that they are in, and this is quicker to find out.
        let plainest = plainest(steps);
        if plainest != *steps && !groups.is_empty() && ask(&plainest)?.is_none() {
            self.refused.push(groups_in(&plainest));
            return Ok(false);
        }
        let kept = ask(steps)?;
        if kept.is_none() && !groups.is_empty() {
            self.refused.push(groups);
        }
        let are_legal = kept.is_some();
        self.kept = kept.or(self.kept.take());
        Ok(are_legal)
    }
}

/// The fewest iterations of the same loops side by side, and no tiles.
fn plainest(steps: &Steps) -> Steps {
    let of_step = |step: &Step| match step {
        Step::Tile { .. } => None,
        Step::Jam { band, member, .. } => {
            let is_tiled = |step: &Step| matches!(step, Step::Tile { band: tiled, .. } if tiled.points() == *band);
            let whole = steps.iter().filter(|step| is_tiled(step)).map(Step::band).next();
            Some(Step::Jam { band: whole.unwrap_or(*band), member: *member, by: GROUPS[0] })
        }
        other => Some(other.clone()),
    };
    steps.iter().filter_map(of_step).collect()
}

fn groups_in(steps: &Steps) -> Groups {
    let order_of = |number: u32| {
        steps.iter().find_map(|step| match step {
            Step::Permute { band, order } if band.number == number => Some(order),
            _ => None,
        })
    };
    let of_step = |step: &Step| match step {
        Step::Jam { band, member, by } => {
            Some(((band.number, order_of(band.number).map_or(*member, |order| order[*member])), *by))
        }
        _ => None,
    };
    steps.iter().filter_map(of_step).collect()
}

/// When it is asked whether steps are legal that isl does not vouch for. Of the candidates only one is taken: the others need not be
/// asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Now,
    Later,
}

/// What candidates are made for.
#[derive(Clone, Copy)]
struct Task<'a> {
    region: &'a EstimatedRegion<'a>,
    deps: &'a Dependences,
    machine: &'a Machine,
    options: &'a ScheduleOptions,
}

impl Task<'_> {
    fn candidate(self, schedule: &Schedule, start: Start, asks: Asks) -> Result<Candidate, IslError> {
        let first = labelled(schedule)?;
        let mut schedule = first.clone();
        let mut tree = EstimatedTree::of(self.region, &schedule)?;
        let skews = tree.straightening();
        if !skews.is_empty() {
            schedule = applied(&schedule, &skews, self.region.scop())?.schedule;
            tree = EstimatedTree::of(self.region, &schedule)?;
        }
        let mut trials = Trials::new();
        let (steps, cost, is_open) = self.steps(&schedule, &tree, asks, &mut trials)?;
        Ok(Candidate { start, first, skews, schedule, tree, steps, cost, is_open, trials })
    }

    fn steps(
        self,
        schedule: &Schedule,
        tree: &EstimatedTree,
        asks: Asks,
        trials: &mut Trials,
    ) -> Result<(Steps, Cost, bool), IslError> {
        let mut is_open = false;
        let mut is_legal = |steps: &Steps| match asks {
            Asks::Later => {
                is_open = true;
                Ok(true)
            }
            Asks::Now => trials.are_legal(steps, |steps| self.is_legal(schedule, steps)),
        };
        let reversals = drawn_reversals(&tree.shape, self.options);
        let (steps, cost) = best_steps(tree, reversals, self.machine, self.options, &mut is_legal)?;
        Ok((steps, cost, is_open))
    }

    fn is_legal(self, schedule: &Schedule, steps: &Steps) -> Result<Option<KeptOrder>, IslError> {
        let scop = self.region.scop();
        let left = scop.ctx.operations_left().map_or(u64::MAX, |left| left / 2);
        let judged = scop.ctx.try_within(TRIAL.at_most(left), || {
            keeps_order(&applied(schedule, steps, scop)?.schedule, scop, self.deps)
        })?;
        Ok(judged.flatten())
    }
}

/// The orders that were found so far.
struct Found<'a> {
    task: Task<'a>,
    orders: Orders,
    candidates: Vec<Candidate>,
    /// Why some were not.
    failure: Option<IslError>,
}

impl Found<'_> {
    fn look_for(&mut self, fusion: Fusion) -> Result<(), IslError> {
        let Task { region, deps, .. } = self.task;
        let scop = region.scop();
        // One attempt must not use up what the others and the rest of the work need.
        let found = scop.ctx.within(one_attempt(scop, deps)?, || self.orders.find(fusion));
        match found {
            Ok(Some(schedule)) if is_known(&self.candidates, &schedule)? => {}
            Ok(Some(schedule)) => {
                let start = Start::Scheduler { fusion, scalars: Scalars::InOrder };
                self.candidates.push(self.task.candidate(&schedule, start, Asks::Later)?);
            }
            // Within the limits on coefficients there is no order but, perhaps, the original's.
            Ok(None) => {}
            Err(e) if is_uncarried(&e) => {}
            Err(e) => self.failure = Some(e),
        }
        Ok(())
    }

    /// isl makes use of the freedom of live ranges where it can, not where it pays, and takes longer: one more attempt, and not at the
    /// expense of what was found before.
    fn look_for_reordered_scalars(&mut self, otherwise: Fusion) -> Result<(), IslError> {
        let Task { region, deps, .. } = self.task;
        let scop = region.scop();
        let is_free = |ranges: &LiveRanges| ranges.scalars.iter().any(|s| s.local_loops >= LOOPS_TO_PERMUTE);
        if !deps.ranges.as_ref().is_some_and(is_free) {
            return Ok(());
        }
        let by_scheduler = self.candidates.iter().filter(|c| c.start != Start::Original);
        let fusion = match by_scheduler.min_by(|a, b| a.cost.cycles.total_cmp(&b.cost.cycles)).map(|c| c.start) {
            Some(Start::Scheduler { fusion, .. }) => fusion,
            _ => otherwise,
        };
        let left = scop.ctx.operations_left().map_or(u64::MAX, |left| left / 2);
        let attempt = one_attempt(scop, deps)?.at_most(left);
        let candidate = scop.ctx.within(attempt, || {
            let schedule = self.orders.with_scalars_reordered()?.find(fusion)?;
            let start = Start::Scheduler { fusion, scalars: Scalars::Reordered };
            schedule.map(|s| self.task.candidate(&s, start, Asks::Later)).transpose()
        });
        match candidate {
            Ok(Some(candidate)) => self.candidates.push(candidate),
            Ok(None) => {}
            Err(e) if is_uncarried(&e) => {}
            Err(e) => self.failure = Some(e),
        }
        Ok(())
    }

    /// Where everything depends on everything, nothing can be serialized and both strategies of fusion are one.
    fn is_one_component(&self) -> bool {
        let by_scheduler = self.candidates.iter().find(|c| c.start != Start::Original);
        by_scheduler.is_some_and(|c| !matches!(c.tree.shape, BandTree::Sequence(_)))
    }

    /// The best of them that is legal as far as is known; the first of several that are as good, the original order last. One that takes
    /// as many cycles as `of_interest`, or more, is of no use to anybody, and is not asked about.
    fn best(&mut self, of_interest: f64) -> Result<Option<usize>, IslError> {
        let Found { task, candidates, .. } = self;
        candidates.sort_by_key(|c| c.start == Start::Original);
        loop {
            let mut best: Option<usize> = None;
            for (at, candidate) in candidates.iter().enumerate() {
                let is_better = best.is_none_or(|best| match task.options.draw {
                    Some(number) => number >> (at - 1) & 1 == 1,
                    None => candidate.cost.cycles < TIE * candidates[best].cost.cycles,
                });
                if is_better {
                    best = Some(at);
                }
            }
            let Some(best) = best else { return Ok(None) };
            let candidate = &mut candidates[best];
            let Candidate { schedule, tree, steps, cost, is_open, trials, .. } = candidate;
            if !*is_open || cost.cycles >= of_interest {
                return Ok(Some(best));
            }
            let is_legal = trials.are_legal(steps, |steps| task.is_legal(schedule, steps))?;
            if !is_legal {
                (*steps, *cost, _) = task.steps(schedule, tree, Asks::Now, trials)?;
            }
            *is_open = false;
            if is_legal {
                return Ok(Some(best));
            }
            if candidate.is_original() {
                candidates.remove(best);
            }
        }
    }
}

pub(super) fn choose(
    scop: &Scop,
    deps: &Dependences,
    machine: &Machine,
    options: &ScheduleOptions,
) -> Result<Decision, IslError> {
    let region = EstimatedRegion::of(scop, deps)?;
    let schedule = labelled(&scop.schedule)?;
    let original = EstimatedTree::of(&region, &schedule)?;
    let (nest, references) = original.nest(&[]);
    let before = estimate(&nest, &references, machine, Code::Original);
    let leave = |reason: String, too_small: bool| {
        Ok(Decision::Leave { reason, too_small, part_may_gain: false, cycles: before.cycles })
    };
    let instances = before.vector_instances + before.scalar_instances;
    let is_one_loop = is_one_loop(scop)?;
    // One loop may gain if it can be split.
    let may_split = is_one_loop && before.scalar_instances > 0.0 && scop.statements.len() > 1;
    if instances < options.min_instances && !(may_split && instances >= MIN_SPLIT) {
        return leave(format!("only about {instances:.0} statement instances{}", assumed_sizes(scop)?), true);
    }
    let (fusion, other_fusion) = match options.fusion {
        Fusion::Smart => (Fusion::Min, Some(Fusion::Max)),
        chosen => (chosen, None),
    };
    let task = Task { region: &region, deps, machine, options };
    let mut found = Found { task, orders: Orders::of(scop, deps)?, candidates: Vec::new(), failure: None };
    let most =
        [options.worthwhile, options.worthwhile_skewed, if options.parallel { AS_FAST_WITH_THREADS } else { 0.0 }];
    let of_interest = most.into_iter().fold(0.0, f64::max) * before.cycles;
    found.look_for(fusion)?;
    // isl may have taken apart, or put together, what runs best side by side as it is.
    let left = scop.ctx.operations_left().map_or(u64::MAX, |left| left / 2);
    let as_it_is =
        scop.ctx.try_within(AS_IT_IS.at_most(left), || task.candidate(&schedule, Start::Original, Asks::Later))?;
    found.candidates.extend(as_it_is.filter(|candidate| !candidate.is_original()));
    let early = if options.draw.is_none() { found.best(of_interest)? } else { None };
    let is_great = |c: &Candidate| c.cost.cycles < GREAT * before.cycles && c.is_blocked();
    let best = match early.filter(|&at| is_great(&found.candidates[at])) {
        Some(best) => Some(best),
        None => {
            if let Some(fusion) = other_fusion.filter(|_| !found.is_one_component()) {
                found.look_for(fusion)?;
            }
            found.look_for_reordered_scalars(fusion)?;
            found.best(of_interest)?
        }
    };
    let Some(best) = best else {
        return match found.failure {
            Some(e) => Err(e),
            None => leave("the scheduler found none that keeps the dependences".into(), false),
        };
    };
    let best = found.candidates.swap_remove(best);
    let parallel_steps = options.parallel.then(|| parallel_steps(&best)).flatten();
    let lost = best.cost.scalar_instances - before.scalar_instances;
    let keeps_vectors = lost <= LOST_VECTORS * instances || options.worthwhile.is_infinite();
    let worthwhile = if is_skewed(&best.tree.shape) { options.worthwhile_skewed } else { options.worthwhile };
    let memory = cycles_for_memory(region.temporary_bytes()?);
    let after = best.cost.cycles + memory;
    let must_pay = is_one_loop && !options.worthwhile.is_infinite();
    let is_better = after < worthwhile * before.cycles && keeps_vectors;
    let (pays, least_instances) = if must_pay {
        let least = paying_iterations(scop, [&original.nest(&[]), &best.tree.nest(&best.steps)], machine, options);
        let least = least.filter(|least| *least as f64 * scop.statements.len() as f64 <= instances);
        (least.is_some(), least)
    } else if is_better && !options.worthwhile.is_infinite() {
        let contest = Contest { original: &original, best: &best, machine };
        let alternatives = region.alternatives();
        (alternatives.len() == 1 || alternatives.iter().all(|statements| contest.is_won(statements)), None)
    } else {
        (!must_pay, None)
    };
    let gains = is_better && pays;
    let is_free = options.worthwhile.is_infinite() || options.parallel;
    let least_instances = match least_instances {
        None if gains && !is_free => loses_up_to(task, [&original, &best.tree], &best.steps)?,
        least => least,
    };
    let idles = gains && !is_free && Contest { original: &original, best: &best, machine }.idles();
    let finish = |from: &Candidate, steps: &Steps, reason: String, cycles: f64| {
        let Candidate { start, first, skews, tree, trials, .. } = from;
        let steps = &if options.spoil { spoilt(&tree.shape, steps) } else { steps.clone() };
        let vectors = innermost_with_vectors(tree, steps);
        let steps = &skews.iter().chain(steps).cloned().collect();
        let packed = &drawn_packs(first, Steps::clone(steps), scop, options)?;
        let order = |steps: &Steps| match Order::from_steps((*start, first), steps, scop, deps, trials.kept.as_ref()) {
            Err(OrderError::Step(StepError::Isl(error))) => Err(error),
            other => Ok(other),
        };
        // Copies that are hard to judge are left out.
        let judged =
            if packed.len() > steps.len() { scop.ctx.try_within_part(COPIES, 2, || order(packed))? } else { None };
        let (steps, order) = match judged {
            Some(judged) => (packed, judged),
            None => (steps, order(steps)?),
        };
        match order {
            Ok(mut order) => {
                let threads_from = options.parallel.then_some(options.min_parallel_instances);
                label(&mut order, scop, &tree.shape, threads_from, &vectors)?;
                Ok(Decision::Transform { order, reason, cycles, least_instances, idles })
            }
            Err(OrderError::Violated(pairs)) => Ok(Decision::Illegal { steps: steps.clone(), pairs }),
            Err(OrderError::Step(error)) => panic!("steps are made for this tree: {error}"),
        }
    };
    let has_threads =
        |decision: &Decision| matches!(decision, Decision::Transform { order, .. } if order.is_for_threads());
    if gains {
        let steps = parallel_steps.as_ref().unwrap_or(&best.steps);
        return finish(&best, steps, reason(&before, &best), after);
    }
    if options.parallel {
        // Threads alone can be the gain: keep the original order where it has an outer loop to distribute.
        let gain = || "independent iterations".to_string();
        let original = Candidate {
            first: schedule.clone(),
            skews: Steps::new(),
            schedule,
            start: Start::Original,
            tree: original,
            steps: Steps::new(),
            cost: before,
            is_open: false,
            trials: Trials::new(),
        };
        let decision = finish(&original, &original.steps, gain(), before.cycles + memory)?;
        if has_threads(&decision) {
            return Ok(decision);
        }
        if let Some(steps) = parallel_steps.filter(|_| keeps_vectors && after < AS_FAST_WITH_THREADS * before.cycles) {
            let decision = finish(&best, &steps, gain(), after)?;
            if has_threads(&decision) {
                return Ok(decision);
            }
        }
    }
    let ratio = after / before.cycles;
    let reason = if !keeps_vectors {
        "every better order loses vector instructions".to_string()
    } else if is_better && must_pay {
        "what could use vectors runs as fast beside what waits for the iteration before".to_string()
    } else if is_better {
        "a condition chooses between loops, and one of them would not be faster".to_string()
    } else {
        let percent = 100.0 * ratio;
        format!("the best order found takes about {percent:.0} % of the original's time{}", assumed_sizes(scop)?)
    };
    // If the whole gains a little, or loses, a part of it may gain enough; one loop has none.
    let part_may_gain = (ratio - 1.0).abs() > AS_GOOD && !is_one_loop;
    Ok(Decision::Leave { reason, too_small: false, part_may_gain, cycles: before.cycles })
}

/// Whether one of them starts with this order.
fn is_known(candidates: &[Candidate], schedule: &Schedule) -> Result<bool, IslError> {
    let schedule = labelled(schedule)?;
    for candidate in candidates {
        if candidate.first.plain_is_equal(&schedule)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sizes below the one that is assumed of what is unknown.
const SMALLER_SIZES: [i64; 6] = [128, 192, 256, 384, 512, 768];
/// What it may take to look at one of them.
const SMALLER: Budget = Budget::new("a smaller size", 50_000);

/// So many instances, counted as a check does, up to which the new order is no faster; `None`: it is faster at the smallest size that we
/// look at.
///
/// What an order gains by lines that come to the cache once instead of again and again, it does not gain where they stay there anyway.
/// So small loops run the original. An order that gains at the smallest size gains by what it computes, and does so at any.
fn loses_up_to(task: Task, [original, new]: [&EstimatedTree; 2], steps: &Steps) -> Result<Option<i64>, IslError> {
    let Task { region, machine, .. } = task;
    let ctx = &region.scop().ctx;
    let mut found = None;
    for size in SMALLER_SIZES {
        let loses = || -> Result<Option<i64>, IslError> {
            let Some(sized) = region.of_size(size)? else { return Ok(None) };
            let (nest, references) = original.with_size(&sized)?.nest(&[]);
            let before = estimate(&nest, &references, machine, Code::Original).cycles;
            let (nest, references) = new.with_size(&sized)?.nest(steps);
            let is_slow = new_cost(&nest, &references, machine).cycles >= (1.0 - AS_GOOD) * before;
            if is_slow { sized.box_of_instances().map(|count| Some(count as i64)) } else { Ok(None) }
        };
        let left = ctx.operations_left().map_or(u64::MAX, |left| left / 2);
        let Some(instances) = ctx.try_within(SMALLER.at_most(left), loses)?.flatten() else { break };
        found = Some(instances.max(task.options.min_instances as i64));
    }
    Ok(found)
}

/// Parts of a region that take less than this share of its time do not matter.
const SMALL_PART: f64 = 0.1;

/// Which of the two orders is faster where a parameter chooses between loops: the new order must win with each choice, not only with both
/// together.
struct Contest<'a> {
    original: &'a EstimatedTree,
    best: &'a Candidate,
    machine: &'a Machine,
}

impl Contest<'_> {
    /// Where these statements run, and no others.
    fn is_won(&self, statements: &BTreeSet<StatementId>) -> bool {
        let (before, references) = self.original.nest(&[]);
        let (after, new_references) = self.best.tree.nest(&self.best.steps);
        let runs = |s: &StatementId| statements.contains(s);
        let all = estimate(&before, &references, self.machine, Code::Original).cycles;
        let was = estimate(&only(&before, &runs), &references, self.machine, Code::Original).cycles;
        let is = new_cost(&only(&after, &runs), &new_references, self.machine).cycles;
        was < SMALL_PART * all || is < (1.0 - AS_GOOD) * was
    }

    /// Of loops that stay one after the other, as they were, some are not faster, and wait for themselves. How long that takes is up to
    /// what LLVM makes of the chain, which is better as it was.
    fn idles(&self) -> bool {
        let old = self.original.nest(&[]).0;
        let parts: Vec<BTreeSet<StatementId>> = old.iter().map(statements_in).collect();
        let (new, _) = self.best.tree.nest(&self.best.steps);
        let stays_apart = |new: &Nest| parts.iter().any(|part| statements_in(new).is_subset(part));
        let idles = |(part, statements): (&Nest, &BTreeSet<StatementId>)| waits(part) && !self.is_won(statements);
        parts.len() > 1 && new.iter().all(stays_apart) && old.iter().zip(&parts).any(idles)
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

/// To get memory and give it back costs this much, whatever its size; and every page of it is fetched from the system when it is
/// touched for the first time.
const ALLOCATION: f64 = 300.0;
const FRESH_PAGE: f64 = 1000.0;
const PAGE_BYTES: f64 = 4096.0;

fn cycles_for_memory(bytes: f64) -> f64 {
    if bytes == 0.0 { 0.0 } else { ALLOCATION + FRESH_PAGE * bytes / PAGE_BYTES }
}

/// With a loop reversed that a dependence moves along, if there is one.
fn spoilt(shape: &BandTree, steps: &Steps) -> Steps {
    let mut wrong = None;
    shape.for_each_band(&mut |band, members, _| {
        let carries = members.iter().find(|m| matches!(m.lanes, Lanes::Ordered | Lanes::Chained));
        wrong = wrong.take().or(carries.map(|m| Step::Reverse { band, member: m.position }));
    });
    wrong.into_iter().chain(steps.iter().cloned()).collect()
}

/// What it may take to find out what a band reads of an array.
const PACK: Budget = Budget::new("one copy", 20_000);
/// So many copies show all that there is to see.
const MAX_DRAWN_PACKS: usize = 2;

const COPIES: &str = "copies";

/// What it is worth to have elements side by side is not estimated yet: only drawn orders have copies, behind these steps, where they
/// can be.
fn drawn_packs(
    schedule: &Schedule,
    mut steps: Steps,
    scop: &Scop,
    options: &ScheduleOptions,
) -> Result<Steps, IslError> {
    let Some(number) = options.draw.filter(|_| options.may_allocate) else { return Ok(steps) };
    let mut tree = applied(schedule, &steps, scop)?;
    for (band, ..) in bands(&tree.schedule)? {
        for &array in scop.arrays.keys() {
            let tried = u64::from(array.0) << 8 | u64::from(band.level);
            if tree.copies.len() == MAX_DRAWN_PACKS || !is_drawn(number.rotate_left(32), band, tried) {
                continue;
            }
            let step = Step::Pack { band, array };
            let packed = scop.ctx.try_within(PACK, || match step.apply(&tree, scop) {
                Err(StepError::Isl(error)) => Err(error),
                other => Ok(other.ok()),
            })?;
            if let Some(packed) = packed.flatten() {
                tree = packed;
                steps.push(step);
            }
        }
    }
    Ok(steps)
}

/// Requires: the steps are made for this tree.
fn applied(schedule: &Schedule, steps: &Steps, scop: &Scop) -> Result<Tree, IslError> {
    let mut tree = Tree::from(schedule.clone());
    for step in steps {
        tree = match step.apply(&tree, scop) {
            Err(StepError::Isl(error)) => return Err(error),
            other => other.expect("steps are made for this tree"),
        };
    }
    Ok(tree)
}

/// Labels the outermost loops for threads and innermost ones for vectors, where they are legal; threads where one execution of the band
/// runs at least so many instances.
fn label(
    order: &mut Order,
    scop: &Scop,
    shape: &BandTree,
    threads_from: Option<f64>,
    vectors: &BTreeSet<BandId>,
) -> Result<(), IslError> {
    for (band, members, depth) in bands(&order.tree().schedule)? {
        let mut try_step = |step: Step| match order.add_label(&step, scop) {
            Ok(()) => Ok(true),
            Err(StepError::Isl(error)) => Err(error),
            Err(_) => Ok(false),
        };
        let is_vector = vectors.contains(&band) && try_step(Step::Vectors { band })?;
        // A band that the shape does not have is one of copies, and all of its members are independent.
        let is_long = |least| instances_of_band(shape, band.number).is_none_or(|instances| instances >= least);
        if threads_from.is_some_and(is_long) && !(is_vector && members == 1 && depth > 0) {
            try_step(Step::Threads { band })?;
        }
    }
    Ok(())
}

/// All bands of a tree, outer before inner, with how many loops they have and how many are around them.
fn bands(schedule: &Schedule) -> Result<Vec<(BandId, usize, usize)>, IslError> {
    let mut out = Vec::new();
    schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        if node.get_type()? == ScheduleNodeType::Band
            && let Some(label) = label_above(node)?
        {
            out.push((label.band, node.band_n_member()?, node.get_schedule_depth()?));
        }
        Ok(true)
    })?;
    Ok(out)
}

fn is_skewed(shape: &BandTree) -> bool {
    match shape {
        BandTree::Band { members, child, .. } => members.iter().any(|m| m.is_skewed()) || is_skewed(child),
        BandTree::Sequence(parts) => parts.iter().any(is_skewed),
        BandTree::Leaf(_) => false,
    }
}

/// For people.
fn reason(before: &Cost, Candidate { cost: after, steps, .. }: &Candidate) -> String {
    let mut gains = Vec::new();
    if steps.iter().any(|step| matches!(step, Step::Jam { .. })) {
        gains.push("values kept in registers");
    }
    if after.vector_instances > 1.1 * before.vector_instances {
        gains.push("vectors along consecutive elements");
    }
    if after.l2_lines < 0.8 * before.l2_lines || after.l1_lines < 0.8 * before.l1_lines {
        gains.push("fewer cache misses");
    }
    if gains.is_empty() {
        gains.push("less loop overhead");
    }
    format!("{} (estimated {:.1} times faster)", gains.join(" and "), before.cycles / after.cycles)
}

/// So many orders are asked about that may be illegal.
const MAX_TRIALS: usize = 4;
/// What it may take to look at the original order again.
const AS_IT_IS: Budget = Budget::new("the order as it is", 300_000);
/// What each of these questions may take.
const TRIAL: Budget = Budget::new("an order that may be illegal", 200_000);

/// What new loops take.
fn new_cost(nest: &[Nest], references: &References, machine: &Machine) -> Cost {
    let mut cost = estimate(nest, references, machine, Code::New);
    cost.cycles += chains_through_memory(nest, references, 1.0);
    cost
}

/// Goes through the bands once, outermost first, and keeps for each the steps with the lowest estimate of the whole.
///
/// Ensures: the steps are legal if `is_legal` says so and isl's bands are as permutable as it says.
fn best_steps(
    tree: &EstimatedTree,
    first: Steps,
    machine: &Machine,
    options: &ScheduleOptions,
    is_legal: &mut impl FnMut(&Steps) -> Result<bool, IslError>,
) -> Result<(Steps, Cost), IslError> {
    let price = |steps: &Steps| {
        let (nest, references) = tree.nest(steps);
        new_cost(&nest, &references, machine)
    };
    let mut steps = first;
    let mut best = price(&steps);
    let mut tried = 0;
    // What is said of bands and their members is said for one iteration of the loops around: if those run side by side below them, and
    // depend on each other, it may be otherwise. Nor is it said of loops that run backwards.
    let mut tangled: BTreeSet<u32> = BTreeSet::new();
    let is_reversed = !steps.is_empty();
    for band in tree.bands() {
        let is_tangled = |own: &Steps| {
            let around = band.around.iter().any(|number| tangled.contains(number));
            let jams = own.iter().any(|step| matches!(step, Step::Jam { .. }));
            around || jams && is_reversed
        };
        let mut attempts: Vec<(Steps, Cost, bool)> = Vec::new();
        for Attempt { own, is_sure } in candidates(&band, &steps, options) {
            let is_sure = is_sure && !is_tangled(&own);
            let attempt = with_steps_of(band.id, &steps, own);
            let cost = price(&attempt);
            attempts.push((attempt, cost, is_sure));
        }
        if let Some(number) = options.draw {
            for (attempt, cost, is_sure) in attempts {
                tried += 1;
                if is_drawn(number, band.id, tried - 1) && (is_sure || is_legal(&attempt)?) {
                    (steps, best) = (attempt, cost);
                    if !is_sure {
                        tangled.insert(band.id.number);
                    }
                }
            }
            continue;
        }
        // In the order of candidates, so that a simpler one wins unless another is better by more than a tie.
        let mut left = attempts;
        let is_jam = |step: &Step| matches!(step, Step::Jam { .. }) && step.band().number == band.id.number;
        let mut plain = left.iter().take_while(|(attempt, ..)| !attempt.iter().any(is_jam)).count();
        loop {
            let mut found: Option<usize> = None;
            let mut least = best.cycles;
            for (at, (_, cost, _)) in left.iter().enumerate() {
                let cycles = cost.cycles * if at < plain { 1.0 } else { SIDE_BY_SIDE };
                if cycles < TIE * least {
                    (found, least) = (Some(at), cycles);
                }
            }
            let Some(at) = found else { break };
            let (attempt, cost, is_sure) = left.remove(at);
            plain -= usize::from(at < plain);
            if is_sure || is_legal(&attempt)? {
                (steps, best) = (attempt, cost);
                if !is_sure {
                    tangled.insert(band.id.number);
                }
                break;
            }
        }
    }
    Ok((steps, best))
}

/// This order, these tiles and groups of a band in place of those it has.
fn with_steps_of(band: BandId, steps: &Steps, own: Steps) -> Steps {
    let stays = |step: &&Step| {
        let is_order = matches!(step, Step::Permute { .. } | Step::Tile { .. } | Step::Jam { .. });
        step.band().number != band.number || !is_order
    };
    steps.iter().filter(stays).cloned().chain(own).collect()
}

/// Backwards is never faster: only drawn orders have it, for some of the loops along which no dependence moves.
fn drawn_reversals(shape: &BandTree, options: &ScheduleOptions) -> Steps {
    let Some(number) = options.draw else { return Steps::new() };
    let mut steps = Steps::new();
    shape.for_each_band(&mut |band, members, _| {
        let free = members.iter().filter(|m| m.coincident && is_drawn(!number, band, m.position as u64));
        steps.extend(free.map(|m| Step::Reverse { band, member: m.position }));
    });
    steps
}

/// Whether to take one more candidate for a band in place of what it has: any number draws about every third.
fn is_drawn(number: u64, band: BandId, tried: u64) -> bool {
    let mut x = number
        ^ (u64::from(band.number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ tried.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (x ^ (x >> 32)).is_multiple_of(3)
}

/// Steps for one band.
struct Attempt {
    own: Steps,
    /// They are legal if the band is permutable.
    is_sure: bool,
}

/// Every member innermost in turn, the others in isl's order, without tiles and with; each of these also with groups of iterations side
/// by side.
fn candidates(band: &EstimatedBand, so_far: &Steps, options: &ScheduleOptions) -> Vec<Attempt> {
    let members = band.members.len();
    let mut orders = Vec::new();
    if band.permutable && members > 1 {
        for innermost in (0..members).rev() {
            let order: Vec<usize> = (0..members).filter(|m| *m != innermost).chain([innermost]).collect();
            orders.push((order.clone(), None));
            if options.tile > 0 {
                for &inner in &options.inner_tiles {
                    let sizes = (0..members).map(|m| if m + 1 == members { inner } else { options.tile }).collect();
                    orders.push((order.clone(), Some(sizes)));
                }
            }
        }
    }
    let own =
        |(order, sizes): &(Vec<usize>, Option<Vec<i64>>)| permuted_and_tiled(band.id, order.clone(), sizes.clone());
    let mut out: Vec<Attempt> = orders.iter().map(|order| Attempt { own: own(order), is_sure: true }).collect();
    if band.may_be_jammed {
        let of_step = |step: &Step| match step {
            Step::Jam { band: outer, by, .. } if band.around.contains(&outer.number) => Some(*by),
            _ => None,
        };
        let copies = so_far.iter().filter_map(of_step).product();
        orders.insert(0, ((0..members).collect(), None));
        for order in &orders {
            let points = if order.1.is_some() { band.id.points() } else { band.id };
            for groups in groups_of(band, &order.0, copies) {
                let is_sure =
                    groups.iter().all(|&(m, _)| band.members[order.0[m]].coincident) || band.is_leaf && band.permutable;
                let jams = groups.iter().map(|&(member, by)| Step::Jam { band: points, member, by });
                out.push(Attempt { own: own(order).into_iter().chain(jams).collect(), is_sure });
            }
        }
    }
    out
}

/// How many iterations may run side by side: of one loop, and of two that are next to each other.
const GROUPS: [i64; 3] = [2, 4, 8];
const GROUPS_OF_TWO: [(i64, i64); 3] = [(2, 4), (4, 2), (4, 4)];
/// More copies of a statement are too many.
const MAX_COPIES: usize = 32;

/// Which members, at their places in this order of the band, and how many iterations of each, where there are so many copies already.
/// An innermost loop has nothing below it to
/// run them in, and a loop should go round more than once.
fn groups_of(band: &EstimatedBand, order: &[usize], copies: i64) -> Vec<Vec<(usize, i64)>> {
    let outer = order.len() - usize::from(band.is_innermost);
    // What is innermost then has vectors if it has none now, or a chain, as long as nothing moves along it.
    let innermost = &band.members[order[order.len() - 1]];
    if band.is_innermost && !innermost.coincident && innermost.lanes != Lanes::Chained {
        return Vec::new();
    }
    // Predicates are asked before a loop of independent iterations, or in it again and again.
    if band.is_predicated && !(band.is_leaf && innermost.coincident) {
        return Vec::new();
    }
    let fits = |groups: &Vec<(usize, i64)>| {
        let copies = copies * groups.iter().map(|(_, by)| by).product::<i64>();
        groups.iter().all(|&(m, by)| band.members[order[m]].trips >= 2.0 * by as f64)
            && copies as usize * band.statements <= MAX_COPIES
    };
    let one = (0..outer).flat_map(|m| GROUPS.map(|by| vec![(m, by)]));
    let two = (1..outer).flat_map(|m| GROUPS_OF_TWO.map(|(by, of_inner)| vec![(m - 1, by), (m, of_inner)]));
    one.chain(two).filter(fits).collect()
}

fn permuted_and_tiled(band: BandId, order: Vec<usize>, sizes: Option<Vec<i64>>) -> Steps {
    let permutes = order.iter().enumerate().any(|(at, m)| at != *m);
    let permute = permutes.then_some(Step::Permute { band, order });
    permute.into_iter().chain(sizes.map(|sizes| Step::Tile { band, sizes })).collect()
}

/// The same steps with a coincident member in front of every outermost band, if that is possible for one of them.
fn parallel_steps(candidate: &Candidate) -> Option<Steps> {
    let mut steps = candidate.steps.clone();
    let mut found = false;
    candidate.tree.shape.applied(&candidate.steps).for_each_outermost(&mut |band, members, permutable| {
        let Some(at) = members.iter().position(|m| m.coincident) else { return };
        let innermost = at + 1 == members.len() && at > 0;
        if at > 0 && (!permutable || innermost) {
            return;
        }
        found = true;
        if at == 0 {
            return;
        }
        let to_front = |k: usize| if k == 0 { at } else { k - usize::from(k <= at) };
        let order = (0..members.len()).map(|k| members[to_front(k)].position).collect();
        let sizes = steps.iter().find_map(|step| match step {
            Step::Tile { band: tiled, sizes } if *tiled == band => Some(sizes),
            _ => None,
        });
        let sizes = sizes.map(|sizes| (0..sizes.len()).map(|k| sizes[to_front(k)]).collect());
        steps = with_steps_of(band, &steps, permuted_and_tiled(band, order, sizes));
    });
    found.then_some(steps)
}

/// The bands whose last loop is innermost and uses vectors, after these steps.
fn innermost_with_vectors(tree: &EstimatedTree, steps: &Steps) -> BTreeSet<BandId> {
    fn collect(nest: &[Nest], references: &References, out: &mut BTreeSet<BandId>) {
        for part in nest {
            if let Nest::Loop { key, body, .. } = part {
                if uses_vectors(part, references) {
                    out.insert(key.band);
                }
                collect(body, references, out);
            }
        }
    }
    let (nest, references) = tree.nest(steps);
    let mut out = BTreeSet::new();
    collect(&nest, &references, &mut out);
    out
}
