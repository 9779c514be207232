//! Which of the possible orders is worth it.

use super::cost::{Cost, Nest, References, estimate, uses_vectors};
use super::orders::is_uncarried;
use super::shape::{Choice, Choices, Region, Shape, Tree};
use super::{Decision, Fusion, Machine, Orders, Scalars, ScheduleOptions, apply, flag_coincident};
use crate::dependence::Dependences;
use crate::scop::Scop;
use isl::{Budget, IslError, Schedule};

/// Of two estimates this close, the simpler order wins.
const TIE: f64 = 0.98;
/// So many more instances without vectors than in the original are tolerated, as a share of all.
const LOST_VECTORS: f64 = 0.02;

/// The budget of one run of isl's scheduler: every convex piece of a dependence adds rows to the tableaux, so pivots cost more where
/// there are many.
fn one_attempt(scop: &Scop, deps: &Dependences) -> Result<Budget, IslError> {
    const FEW_PIECES: u64 = 24;
    let mut pieces = 0;
    for map in deps.validity()?.maps()? {
        pieces += map.n_basic_map()? as u64;
    }
    let full = Budget::schedule_of(scop.statements.len() as u64);
    Ok(Budget { operations: full.operations * FEW_PIECES / pieces.max(FEW_PIECES), ..full })
}

struct Candidate {
    schedule: Schedule,
    fusion: Fusion,
    tree: Tree,
    choices: Choices,
    cost: Cost,
}

impl Candidate {
    fn of(
        schedule: Schedule,
        fusion: Fusion,
        region: &Region,
        machine: &Machine,
        options: &ScheduleOptions,
    ) -> Result<Candidate, IslError> {
        let tree = Tree::of(region, &schedule)?;
        let (choices, cost) = best_choices(&tree, machine, options);
        Ok(Candidate { schedule, fusion, tree, choices, cost })
    }
}

pub(super) fn choose(
    scop: &Scop,
    deps: &Dependences,
    machine: &Machine,
    options: &ScheduleOptions,
) -> Result<Decision, IslError> {
    let region = Region::of(scop, deps)?;
    let original = Tree::of(&region, &scop.schedule)?;
    let (nest, references) = original.nest(&Choices::new());
    let before = estimate(&nest, &references, machine);
    let leave = |reason: String| Ok(Decision::Leave { reason, part_may_gain: false, cycles: before.cycles });
    let instances = before.vector_instances + before.scalar_instances;
    if instances < options.min_instances {
        return leave(format!("only about {instances:.0} statement instances"));
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
    let mut orders = Orders::of(scop, deps, options.reuse_of_reads, Scalars::InOrder)?;
    for &fusion in fusions {
        // One attempt must not use up what the others and the rest of the work need.
        match scop.ctx.within(one_attempt(scop, deps)?, || orders.find(fusion)) {
            Ok(Some(schedule)) => {
                let candidate = Candidate::of(schedule, fusion, &region, machine, options)?;
                // Where everything depends on everything, nothing can be serialized and both strategies are one.
                let one_component = !matches!(candidate.tree.shape, Shape::Sequence(_));
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
        let fusion = best.as_ref().map_or(fusions[0], |b| b.fusion);
        let left = scop.ctx.operations_left().map_or(u64::MAX, |left| left / 2);
        let attempt = one_attempt(scop, deps)?.at_most(left);
        let candidate = scop.ctx.within(attempt, || {
            let schedule = Orders::of(scop, deps, options.reuse_of_reads, Scalars::Reordered)?.find(fusion)?;
            schedule.map(|s| Candidate::of(s, fusion, &region, machine, options)).transpose()
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
            None => leave("the scheduler found none that keeps the dependences".into()),
        };
    };
    let parallel_order = options.parallel.then(|| parallel_choices(&best)).flatten();
    let lost = best.cost.scalar_instances - before.scalar_instances;
    let keeps_vectors = lost <= LOST_VECTORS * instances || options.worthwhile.is_infinite();
    let worthwhile = if is_skewed(&best.tree.shape) { options.worthwhile_skewed } else { options.worthwhile };
    let memory = cycles_for_memory(region.temporary_bytes()?);
    let after = best.cost.cycles + memory;
    let gains = after < worthwhile * before.cycles && keeps_vectors;
    if gains {
        let choices = parallel_order.as_ref().unwrap_or(&best.choices);
        let reason = reason(&before, &best.cost);
        return transform(&best.schedule, &best.tree, choices, deps, scop, options, (reason, after));
    }
    if options.parallel {
        // Threads alone can be the gain: keep the original order where it has an outer loop to distribute.
        let flagged = flag_coincident(&scop.schedule, deps)?;
        let reason = ("independent iterations".into(), before.cycles + memory);
        let decision = transform(&flagged, &original, &Choices::new(), deps, scop, options, reason)?;
        if matches!(decision, Decision::Transform { parallel: true, .. }) {
            return Ok(decision);
        }
        if let Some(choices) = parallel_order.filter(|_| keeps_vectors && after < 1.1 * before.cycles) {
            let reason = ("independent iterations".into(), after);
            let decision = transform(&best.schedule, &best.tree, &choices, deps, scop, options, reason)?;
            if matches!(decision, Decision::Transform { parallel: true, .. }) {
                return Ok(decision);
            }
        }
    }
    let ratio = after / before.cycles;
    let reason = if keeps_vectors {
        format!("the best order found takes about {:.0} % of the original's time", 100.0 * ratio)
    } else {
        "every better order loses vector instructions".to_string()
    };
    // If the whole gains a little, or loses, a part of it may gain enough.
    Ok(Decision::Leave { reason, part_may_gain: (ratio - 1.0).abs() > AS_GOOD, cycles: before.cycles })
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

fn transform(
    schedule: &Schedule,
    tree: &Tree,
    choices: &Choices,
    deps: &Dependences,
    scop: &Scop,
    options: &ScheduleOptions,
    (reason, cycles): (String, f64),
) -> Result<Decision, IslError> {
    let (nest, references) = tree.nest(choices);
    let vector = innermost_with_vectors(&tree.shape, &nest, &references);
    let applied = apply::apply(schedule, choices)?;
    let flagged = flag_coincident(&applied, deps)?;
    let marked = apply::mark(
        &flagged,
        scop,
        options.parallel.then_some(options.min_parallel_instances),
        tree,
        choices,
        &vector,
    )?;
    Ok(Decision::Transform {
        schedule: marked.schedule,
        tiled: choices.values().any(|c| c.tiles.is_some()),
        parallel: marked.parallel,
        vectorized: marked.vector,
        reason,
        cycles,
    })
}

fn is_skewed(shape: &Shape) -> bool {
    match shape {
        Shape::Band { members, child, .. } => members.iter().any(|m| m.is_skewed()) || is_skewed(child),
        Shape::Sequence(parts) => parts.iter().any(is_skewed),
        Shape::Leaf(_) => false,
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

/// Goes through the bands once, outermost first, and keeps for each the choice with the lowest estimate of the whole.
///
/// Ensures: only bands that isl declared permutable are changed.
fn best_choices(tree: &Tree, machine: &Machine, options: &ScheduleOptions) -> (Choices, Cost) {
    let price = |choices: &Choices| {
        let (nest, references) = tree.nest(choices);
        estimate(&nest, &references, machine)
    };
    let mut choices = Choices::new();
    let mut best = price(&choices);
    let mut choices_tried = 0;
    for (index, members, permutable) in bands(&tree.shape) {
        if !permutable || members < 2 {
            continue;
        }
        for choice in candidates(members, options) {
            let mut attempt = choices.clone();
            attempt.insert(index, choice);
            let cost = price(&attempt);
            let better = match options.draw {
                Some(number) => is_drawn(number, index, choices_tried),
                None => cost.cycles < TIE * best.cycles,
            };
            choices_tried += 1;
            if better {
                best = cost;
                choices = attempt;
            }
        }
    }
    (choices, best)
}

/// Whether to take one more choice for a band in place of what it has: any number draws about every third.
fn is_drawn(number: u64, band: usize, tried: u64) -> bool {
    let mut x =
        number ^ (band as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ tried.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (x ^ (x >> 32)).is_multiple_of(3)
}

/// Every member innermost in turn, the others in isl's order, without tiles and with.
fn candidates(members: usize, options: &ScheduleOptions) -> Vec<Choice> {
    let mut out = Vec::new();
    for innermost in (0..members).rev() {
        let order: Vec<usize> = (0..members).filter(|m| *m != innermost).chain([innermost]).collect();
        out.push(Choice { order: order.clone(), tiles: None });
        if options.tile > 0 {
            for &inner in &options.inner_tiles {
                let tiles = (0..members).map(|m| if m + 1 == members { inner } else { options.tile }).collect();
                out.push(Choice { order: order.clone(), tiles: Some(tiles) });
            }
        }
    }
    out
}

/// The same choices with a coincident member in front of every outermost band, if that is possible for one of them.
fn parallel_choices(candidate: &Candidate) -> Option<Choices> {
    let mut choices = candidate.choices.clone();
    let mut found = false;
    visit_outermost(&candidate.tree.shape, &mut |index, members, permutable| {
        let unchanged = Choice::unchanged(members.len());
        let choice = choices.get(&index).cloned().unwrap_or(unchanged);
        let Some(at) = choice.order.iter().position(|m| members[*m].coincident) else { return };
        let innermost = at + 1 == choice.order.len() && at > 0;
        if at > 0 && (!permutable || innermost) {
            return;
        }
        let mut choice = choice;
        let front = choice.order.remove(at);
        choice.order.insert(0, front);
        if let Some(tiles) = &mut choice.tiles {
            let front = tiles.remove(at);
            tiles.insert(0, front);
        }
        found = true;
        if choice != Choice::unchanged(members.len()) {
            choices.insert(index, choice);
        }
    });
    found.then_some(choices)
}

fn visit_outermost(shape: &Shape, visit: &mut impl FnMut(usize, &[super::shape::Member], bool)) {
    match shape {
        Shape::Band { index, members, permutable, .. } => visit(*index, members, *permutable),
        Shape::Sequence(parts) => parts.iter().for_each(|p| visit_outermost(p, visit)),
        Shape::Leaf(_) => {}
    }
}

pub(super) fn bands(shape: &Shape) -> Vec<(usize, usize, bool)> {
    match shape {
        Shape::Band { index, members, permutable, child } => {
            [vec![(*index, members.len(), *permutable)], bands(child)].concat()
        }
        Shape::Sequence(parts) => parts.iter().flat_map(bands).collect(),
        Shape::Leaf(_) => Vec::new(),
    }
}

/// The indices of bands whose last loop is innermost and uses vectors.
fn innermost_with_vectors(shape: &Shape, nest: &[Nest], references: &References) -> Vec<usize> {
    fn loops<'a>(nest: &'a [Nest], out: &mut Vec<&'a Nest>) {
        for part in nest {
            if let Nest::Loop { body, .. } = part {
                out.push(part);
                loops(body, out);
            }
        }
    }
    let mut all = Vec::new();
    loops(nest, &mut all);
    let vector: Vec<_> = all.into_iter().filter(|l| uses_vectors(l, references)).collect();
    let band_of = |nest: &Nest| match nest {
        Nest::Loop { key, .. } => Some(super::shape::band_of(*key)),
        Nest::Statement(_) => None,
    };
    let found: Vec<usize> = vector.into_iter().filter_map(band_of).collect();
    bands(shape).into_iter().map(|(index, ..)| index).filter(|index| found.contains(index)).collect()
}
