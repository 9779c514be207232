//! Which of the possible orders is worth it.

use super::attempts::{best_steps, drawn_reversals, is_drawn, permuted_and_tiled, with_steps_of};
use super::contest::{Contest, new_cost, new_cost_in_cache};
use super::cost::{Code, Cost, Lanes, Nest, References, estimate, only, uses_vectors, with_waiting};
use super::nominal::assumed_sizes;
use super::orders::is_uncarried;
use super::prices::{Price, Prices};
use super::region::EstimatedRegion;
use super::shape::{BandTree, EstimatedTree, instances_of_band};
use super::split::{MIN_SPLIT, is_one_loop, paying_iterations};
use super::trials::Trials;
use super::{AS_GOOD, Decision, Fusion, Machine, Order, OrderError, Orders, Scalars, ScheduleOptions, Start};
use crate::dependence::{Dependences, LiveRanges};
use crate::scop::{Scop, StatementId};
use crate::transform::{BandId, KeptOrder, Step, StepError, Steps, Tree, keeps_order, label_above, labelled};
use isl::{Budget, IslError, STEPS_OF_A_SECOND, Schedule, ScheduleNode, ScheduleNodeType};
use std::collections::BTreeSet;

/// Of two estimates this close, the simpler order wins.
pub(super) const TIE: f64 = 0.98;
/// Live ranges may change places along the loops in whose iterations they stay; one loop alone cannot be permuted with another.
const LOOPS_TO_PERMUTE: usize = 2;
/// An order that takes no more than this share of the original's time, and uses again what is in registers or caches along more than one
/// loop, is good enough: others are not looked for.
const GREAT: f64 = 0.5;
/// This share of all instances may lose the vectors that it has in the original.
const LOST_VECTORS: f64 = 0.02;
/// What loses more of them is as if it took so many times as long: it is taken for none that keeps them.
const LAST_RESORT: f64 = 1000.0;

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
    prices: Prices,
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
    /// The estimate of the order as it is.
    original_cycles: f64,
    /// More instances than this must not run without vectors.
    most_without_vectors: f64,
}

impl Task<'_> {
    /// A skewed order has to gain more than another, and one that does not must not hide that other. Threads are a gain by themselves.
    fn is_worth_its_skew(self, candidate: &Candidate) -> bool {
        let most = self.options.worthwhile_skewed * self.original_cycles;
        self.options.parallel || candidate.cost.cycles < most || !is_skewed(&candidate.tree.shape)
    }

    fn candidate(self, schedule: &Schedule, start: Start, asks: Asks) -> Result<Candidate, IslError> {
        let first = labelled(schedule)?;
        let mut schedule = first.clone();
        let mut tree = EstimatedTree::of(self.region, &schedule)?;
        let skews = tree.straightening();
        if !skews.is_empty() {
            schedule = applied(&schedule, &skews, self.region.scop())?.schedule;
            tree = EstimatedTree::of(self.region, &schedule)?;
        }
        let (mut trials, mut prices) = (Trials::new(), Prices::default());
        let (steps, cost, is_open) = self.steps(&schedule, &tree, asks, &mut trials, &mut prices)?;
        Ok(Candidate { start, first, skews, schedule, tree, steps, cost, is_open, trials, prices })
    }

    fn steps(
        self,
        schedule: &Schedule,
        tree: &EstimatedTree,
        asks: Asks,
        trials: &mut Trials,
        prices: &mut Prices,
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
        let mut price = |steps: &Steps, most: f64| prices.of(steps, most, || self.price(tree, steps, most));
        let without = |steps: &Steps, statements: &BTreeSet<StatementId>| {
            let (nest, references) = tree.nest(steps);
            let others = only(&nest, &|s| !statements.contains(s));
            if others.is_empty() { 0.0 } else { new_cost(&others, &references, self.machine).cycles }
        };
        let (steps, cost) = best_steps(tree, reversals, &mut price, &without, self.options, &mut is_legal)?;
        Ok((steps, cost, is_open))
    }

    /// Or what it is at least, if that is `most` or more.
    fn price(self, tree: &EstimatedTree, steps: &Steps, most: f64) -> Price {
        let (nest, references) = tree.nest(steps);
        let least = new_cost_in_cache(&nest, &references, self.machine);
        let loses_vectors = least.scalar_instances > self.most_without_vectors;
        let weight = if loses_vectors { LAST_RESORT } else { 1.0 };
        if most.is_finite() && weight * least.cycles >= most {
            return Price::AtLeast(weight * least.cycles);
        }
        let cost = with_waiting(least, &nest, &references, self.machine);
        Price::Known(Cost { cycles: weight * cost.cycles, ..cost })
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
    orders: Orders<'a>,
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
                    None => match [candidate, &candidates[best]].map(|c| task.is_worth_its_skew(c)) {
                        [true, false] => true,
                        [false, true] => false,
                        _ => candidate.cost.cycles < TIE * candidates[best].cost.cycles,
                    },
                });
                if is_better {
                    best = Some(at);
                }
            }
            let Some(best) = best else { return Ok(None) };
            let candidate = &mut candidates[best];
            let Candidate { schedule, tree, steps, cost, is_open, trials, prices, .. } = candidate;
            if !*is_open || cost.cycles >= of_interest {
                return Ok(Some(best));
            }
            let is_legal = trials.are_legal(steps, |steps| task.is_legal(schedule, steps))?;
            if !is_legal {
                (*steps, *cost, _) = task.steps(schedule, tree, Asks::Now, trials, prices)?;
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
    let may_lose_vectors = options.worthwhile.is_infinite();
    let most_without_vectors =
        if may_lose_vectors { f64::INFINITY } else { before.scalar_instances + LOST_VECTORS * instances };
    let task = Task { region: &region, deps, machine, options, original_cycles: before.cycles, most_without_vectors };
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
    let keeps_vectors = best.cost.scalar_instances <= most_without_vectors;
    let worthwhile = if is_skewed(&best.tree.shape) { options.worthwhile_skewed } else { options.worthwhile };
    let memory = cycles_for_memory(region.temporary_bytes()?);
    let after = best.cost.cycles + memory;
    let must_pay = is_one_loop && !options.worthwhile.is_infinite();
    let is_better = after < worthwhile * before.cycles && keeps_vectors;
    let contest = Contest { region: &region, original: &original, tree: &best.tree, steps: &best.steps, machine };
    let (pays, least_instances) = if must_pay {
        let least = paying_iterations(scop, [&original.nest(&[]), &best.tree.nest(&best.steps)], machine, options);
        let least = least.filter(|least| *least as f64 * scop.statements.len() as f64 <= instances);
        (least.is_some(), least)
    } else if is_better && !options.worthwhile.is_infinite() {
        (contest.is_won_with_each_choice(), None)
    } else {
        (!must_pay, None)
    };
    let gains = is_better && pays;
    let is_free = options.worthwhile.is_infinite() || options.parallel;
    let least_instances = match least_instances {
        None if gains && !is_free => contest.loses_up_to()?.map(|lost| lost.max(options.min_instances as i64)),
        least => least,
    };
    let idles = gains && !is_free && contest.idles();
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
        // Copies that are hard to judge are left out, and so are those in which a reader might not find what it reads.
        let judged =
            if packed.len() > steps.len() { scop.ctx.try_within_part(COPIES, 2, || order(packed))? } else { None };
        let (steps, order) = match judged {
            Some(judged @ Ok(_)) => (packed, judged),
            _ => (steps, order(steps)?),
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
            prices: Prices::default(),
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

/// What it may take to look at the original order again.
const AS_IT_IS: Budget = Budget::new("the order as it is", 300_000);
/// What each of these questions may take.
const TRIAL: Budget = Budget::new("an order that may be illegal", 200_000);

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
