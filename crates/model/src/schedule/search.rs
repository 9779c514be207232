//! Which of the possible orders is worth it.

use super::cost::{Cost, Lanes, Nest, References, estimate, uses_vectors};
use super::nominal::assumed_sizes;
use super::orders::is_uncarried;
use super::shape::{BandTree, EstimatedRegion, EstimatedTree, instances_of_band};
use super::split::{is_one_loop, paying_iterations};
use super::{Decision, Fusion, Machine, Order, OrderError, Orders, Scalars, ScheduleOptions, Start};
use crate::dependence::Dependences;
use crate::scop::Scop;
use crate::transform::{self, BandId, Step, StepError, Steps, label_above, labelled};
use isl::{Budget, IslError, STEPS_OF_A_SECOND, Schedule, ScheduleNode, ScheduleNodeType};
use std::collections::BTreeSet;

/// Of two estimates this close, the simpler order wins.
const TIE: f64 = 0.98;
/// A single loop of fewer instances is not split.
const MIN_SPLIT: f64 = 256.0;
/// This share of all instances may lose the vectors that it has in the original.
const LOST_VECTORS: f64 = 0.02;

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
    schedule: Schedule,
    start: Start,
    tree: EstimatedTree,
    steps: Steps,
    cost: Cost,
}

impl Candidate {
    fn of(
        schedule: Schedule,
        start: Start,
        region: &EstimatedRegion,
        machine: &Machine,
        options: &ScheduleOptions,
    ) -> Result<Candidate, IslError> {
        let schedule = labelled(&schedule)?;
        let tree = EstimatedTree::of(region, &schedule)?;
        let (steps, cost) = best_steps(&tree, machine, options);
        let steps = drawn_reversals(&tree.shape, options).into_iter().chain(steps).collect();
        Ok(Candidate { schedule, start, tree, steps, cost })
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
    let before = estimate(&nest, &references, machine);
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
    let fusions: &[Fusion] = match options.fusion {
        Fusion::Smart => &[Fusion::Min, Fusion::Max],
        Fusion::Min => &[Fusion::Min],
        Fusion::Max => &[Fusion::Max],
    };
    let mut best: Option<Candidate> = None;
    let mut failure = None;
    let mut found = 0;
    let mut offer = |candidate: Candidate, best: &mut Option<Candidate>| {
        let better = |b: &Candidate| match options.draw {
            Some(number) => number >> (found - 1) & 1 == 1,
            None => candidate.cost.cycles < TIE * b.cost.cycles,
        };
        let is_better = best.as_ref().is_none_or(better);
        found += 1;
        if is_better {
            *best = Some(candidate);
        }
    };
    let mut orders = Orders::of(scop, deps, Scalars::InOrder)?;
    for &fusion in fusions {
        // One attempt must not use up what the others and the rest of the work need.
        match scop.ctx.within(one_attempt(scop, deps)?, || orders.find(fusion)) {
            Ok(Some(schedule)) => {
                let start = Start::Scheduler { fusion, scalars: Scalars::InOrder };
                let candidate = Candidate::of(schedule, start, &region, machine, options)?;
                // Where everything depends on everything, nothing can be serialized and both strategies are one.
                let one_component = !matches!(candidate.tree.shape, BandTree::Sequence(_));
                offer(candidate, &mut best);
                if one_component {
                    break;
                }
            }
            // Within the limits on coefficients there is no order but, perhaps, the original's.
            Ok(None) => {}
            Err(e) if is_uncarried(&e) => {}
            Err(e) => failure = Some(e),
        }
    }
    if deps.ranges.is_some() {
        // isl makes use of the freedom where it can, not where it pays, and takes longer: one more attempt, and not at the expense
        // of what was found before.
        let fusion = match best.as_ref().map(|b| b.start) {
            Some(Start::Scheduler { fusion, .. }) => fusion,
            _ => fusions[0],
        };
        let left = scop.ctx.operations_left().map_or(u64::MAX, |left| left / 2);
        let attempt = one_attempt(scop, deps)?.at_most(left);
        let candidate = scop.ctx.within(attempt, || {
            let schedule = Orders::of(scop, deps, Scalars::Reordered)?.find(fusion)?;
            let start = Start::Scheduler { fusion, scalars: Scalars::Reordered };
            schedule.map(|s| Candidate::of(s, start, &region, machine, options)).transpose()
        });
        match candidate {
            Ok(Some(candidate)) => offer(candidate, &mut best),
            Ok(None) => {}
            Err(e) if is_uncarried(&e) => {}
            Err(e) => failure = Some(e),
        }
    }
    let Some(best) = best else {
        return match failure {
            Some(e) => Err(e),
            None => leave("the scheduler found none that keeps the dependences".into(), false),
        };
    };
    let parallel_steps = options.parallel.then(|| parallel_steps(&best)).flatten();
    let lost = best.cost.scalar_instances - before.scalar_instances;
    let keeps_vectors = lost <= LOST_VECTORS * instances || options.worthwhile.is_infinite();
    let worthwhile = if is_skewed(&best.tree.shape) { options.worthwhile_skewed } else { options.worthwhile };
    let memory = cycles_for_memory(region.temporary_bytes()?);
    let after = best.cost.cycles + memory;
    let must_pay = is_one_loop && !options.worthwhile.is_infinite();
    let least_instances = match must_pay {
        true => {
            let least = paying_iterations(scop, [&original.nest(&[]), &best.tree.nest(&best.steps)], machine, options);
            least.filter(|least| *least as f64 * scop.statements.len() as f64 <= instances)
        }
        false => None,
    };
    let pays = !must_pay || least_instances.is_some();
    let gains = after < worthwhile * before.cycles && keeps_vectors && pays;
    let finish = |from: &Candidate, steps: &Steps, reason: String, cycles: f64| {
        let Candidate { start, schedule, tree, .. } = from;
        let steps = &if options.spoil { spoilt(&tree.shape, steps) } else { steps.clone() };
        let vectors = innermost_with_vectors(tree, steps);
        let packed = &drawn_packs(schedule, steps.clone(), scop, options)?;
        let order = |steps: &Steps| match Order::from_steps((*start, schedule), steps, scop, deps) {
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
                Ok(Decision::Transform { order, reason, cycles, least_instances })
            }
            Err(OrderError::Violated(pairs)) => Ok(Decision::Illegal { steps: steps.clone(), pairs }),
            Err(OrderError::Step(error)) => panic!("steps are made for this tree: {error}"),
        }
    };
    let has_threads =
        |decision: &Decision| matches!(decision, Decision::Transform { order, .. } if order.is_for_threads());
    if gains {
        let steps = parallel_steps.as_ref().unwrap_or(&best.steps);
        return finish(&best, steps, reason(&before, &best.cost), after);
    }
    if options.parallel {
        // Threads alone can be the gain: keep the original order where it has an outer loop to distribute.
        let gain = || "independent iterations".to_string();
        let original =
            Candidate { schedule, start: Start::Original, tree: original, steps: Steps::new(), cost: before };
        let decision = finish(&original, &original.steps, gain(), before.cycles + memory)?;
        if has_threads(&decision) {
            return Ok(decision);
        }
        if let Some(steps) = parallel_steps.filter(|_| keeps_vectors && after < 1.1 * before.cycles) {
            let decision = finish(&best, &steps, gain(), after)?;
            if has_threads(&decision) {
                return Ok(decision);
            }
        }
    }
    let ratio = after / before.cycles;
    let reason = if !keeps_vectors {
        "every better order loses vector instructions".to_string()
    } else if after < worthwhile * before.cycles {
        "what could use vectors runs as fast beside what waits for the iteration before".to_string()
    } else {
        let percent = 100.0 * ratio;
        format!("the best order found takes about {percent:.0} % of the original's time{}", assumed_sizes(scop)?)
    };
    // If the whole gains a little, or loses, a part of it may gain enough; one loop has none.
    let part_may_gain = (ratio - 1.0).abs() > AS_GOOD && !is_one_loop;
    Ok(Decision::Leave { reason, too_small: false, part_may_gain, cycles: before.cycles })
}

/// To get memory and give it back costs this much, whatever its size; and every page of it is fetched from the system when it is
/// touched for the first time.
const ALLOCATION: f64 = 300.0;
const FRESH_PAGE: f64 = 1000.0;
const PAGE_BYTES: f64 = 4096.0;

fn cycles_for_memory(bytes: f64) -> f64 {
    if bytes == 0.0 { 0.0 } else { ALLOCATION + FRESH_PAGE * bytes / PAGE_BYTES }
}

/// Estimates that differ by less say nothing.
const AS_GOOD: f64 = 0.05;

/// With a loop reversed that a dependence moves along, if there is one.
fn spoilt(shape: &BandTree, steps: &Steps) -> Steps {
    let mut wrong = None;
    shape.for_each_band(&mut |band, members, _| {
        let carries = members.iter().find(|m| m.lanes == Lanes::Chained);
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
    let mut tree = transform::Tree::from(schedule.clone());
    for step in &steps {
        tree = match step.apply(&tree, scop) {
            Err(StepError::Isl(error)) => return Err(error),
            other => other.expect("steps are made for this tree"),
        };
    }
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
fn reason(before: &Cost, after: &Cost) -> String {
    let mut gains = Vec::new();
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

/// Goes through the bands once, outermost first, and keeps for each the steps with the lowest estimate of the whole.
///
/// Ensures: only bands that isl declared permutable are changed.
fn best_steps(tree: &EstimatedTree, machine: &Machine, options: &ScheduleOptions) -> (Steps, Cost) {
    let price = |steps: &Steps| {
        let (nest, references) = tree.nest(steps);
        estimate(&nest, &references, machine)
    };
    let mut steps = Steps::new();
    let mut best = price(&steps);
    let mut tried = 0;
    tree.shape.for_each_band(&mut |band, members, permutable| {
        if !permutable || members.len() < 2 {
            return;
        }
        for candidate in candidates(band, members.len(), options) {
            let attempt = with_steps_of(band, &steps, candidate);
            let cost = price(&attempt);
            let better = match options.draw {
                Some(number) => is_drawn(number, band, tried),
                None => cost.cycles < TIE * best.cycles,
            };
            tried += 1;
            if better {
                best = cost;
                steps = attempt;
            }
        }
    });
    (steps, best)
}

/// This order and these tiles of a band in place of those it has.
fn with_steps_of(band: BandId, steps: &Steps, own: Steps) -> Steps {
    let stays = |step: &&Step| step.band() != band || !matches!(step, Step::Permute { .. } | Step::Tile { .. });
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

/// Every member innermost in turn, the others in isl's order, without tiles and with.
fn candidates(band: BandId, members: usize, options: &ScheduleOptions) -> Vec<Steps> {
    let mut out = Vec::new();
    for innermost in (0..members).rev() {
        let order: Vec<usize> = (0..members).filter(|m| *m != innermost).chain([innermost]).collect();
        out.push(permuted_and_tiled(band, order.clone(), None));
        if options.tile > 0 {
            for &inner in &options.inner_tiles {
                let sizes = (0..members).map(|m| if m + 1 == members { inner } else { options.tile }).collect();
                out.push(permuted_and_tiled(band, order.clone(), Some(sizes)));
            }
        }
    }
    out
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
