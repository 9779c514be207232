//! Steps for the bands of a tree: which there are, and which have the lowest estimate.

use super::ScheduleOptions;
use super::cost::{Cost, Lanes};
use super::search::TIE;
use super::shape::{BandTree, EstimatedBand, EstimatedTree};
use crate::scop::StatementId;
use crate::transform::{BandId, Step, Steps};
use isl::IslError;
use std::collections::BTreeSet;

/// More code is worth it only if it is faster by this.
const SIDE_BY_SIDE: f64 = 1.1;

/// Goes through the bands once, outermost first, and keeps for each the steps with the lowest price of the whole. `price` may give none for
/// what takes as many cycles as the number beside it, or more; `without` is what all but these statements take.
///
/// A candidate is taken if it takes less than [`TIE`] of all before it. So if one before it is legal for sure, and takes no longer, it is
/// not: either that one was taken, or it was not far enough below others.
///
/// Ensures: the steps are legal if `is_legal` says so and isl's bands are as permutable as it says.
pub(super) fn best_steps(
    tree: &EstimatedTree,
    first: Steps,
    price: &mut impl FnMut(&Steps, f64) -> Option<Cost>,
    without: &impl Fn(&Steps, &BTreeSet<StatementId>) -> f64,
    options: &ScheduleOptions,
    is_legal: &mut impl FnMut(&Steps) -> Result<bool, IslError>,
) -> Result<(Steps, Cost), IslError> {
    let mut steps = first;
    let mut best = price(&steps, f64::INFINITY).expect("no price is too high");
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
        let is_jam = |step: &Step| matches!(step, Step::Jam { .. }) && step.band().number == band.id.number;
        // What takes as long is never taken: less is found here before, or will be.
        let mut of_no_interest = if options.draw.is_none() { TIE * best.cycles } else { f64::INFINITY };
        // It is this band's code that there is more of.
        let others = without(&steps, &band.inside);
        let mut attempts: Vec<Priced> = Vec::new();
        for Attempt { own, is_sure } in candidates(&band, &steps, options) {
            let is_sure = is_sure && !is_tangled(&own);
            let attempt = with_steps_of(band.id, &steps, own);
            let weight = if attempt.iter().any(is_jam) { SIDE_BY_SIDE } else { 1.0 };
            let weighted = |cycles: f64| cycles + (weight - 1.0) * (cycles - others).max(0.0);
            let Some(cost) = price(&attempt, of_no_interest) else { continue };
            let cycles = weighted(cost.cycles);
            if is_sure && options.draw.is_none() {
                of_no_interest = of_no_interest.min(cycles);
            }
            attempts.push(Priced { steps: attempt, cost, cycles, is_sure });
        }
        if let Some(number) = options.draw {
            for attempt in attempts {
                tried += 1;
                if is_drawn(number, band.id, tried - 1) && (attempt.is_sure || is_legal(&attempt.steps)?) {
                    (steps, best) = (attempt.steps, attempt.cost);
                    if !attempt.is_sure {
                        tangled.insert(band.id.number);
                    }
                }
            }
            continue;
        }
        // In the order of candidates, so that a simpler one wins unless another is better by more than a tie.
        loop {
            let mut found: Option<usize> = None;
            let mut least = best.cycles;
            for (at, attempt) in attempts.iter().enumerate() {
                if attempt.cycles < TIE * least {
                    (found, least) = (Some(at), attempt.cycles);
                }
            }
            let Some(at) = found else { break };
            let attempt = attempts.remove(at);
            if attempt.is_sure || is_legal(&attempt.steps)? {
                (steps, best) = (attempt.steps, attempt.cost);
                if !attempt.is_sure {
                    tangled.insert(band.id.number);
                }
                break;
            }
        }
    }
    Ok((steps, best))
}

/// Steps for the whole tree.
struct Priced {
    steps: Steps,
    cost: Cost,
    /// What counts when they are compared: more code has to gain more.
    cycles: f64,
    is_sure: bool,
}

/// This order, these tiles and groups of a band in place of those it has.
pub(super) fn with_steps_of(band: BandId, steps: &Steps, own: Steps) -> Steps {
    let stays = |step: &&Step| {
        let is_order = matches!(step, Step::Permute { .. } | Step::Tile { .. } | Step::Jam { .. });
        step.band().number != band.number || !is_order
    };
    steps.iter().filter(stays).cloned().chain(own).collect()
}

/// Backwards is never faster: only drawn orders have it, for some of the loops along which no dependence moves.
pub(super) fn drawn_reversals(shape: &BandTree, options: &ScheduleOptions) -> Steps {
    let Some(number) = options.draw else { return Steps::new() };
    let mut steps = Steps::new();
    shape.for_each_band(&mut |band, members, _| {
        let free = members.iter().filter(|m| m.coincident && is_drawn(!number, band, m.position as u64));
        steps.extend(free.map(|m| Step::Reverse { band, member: m.position }));
    });
    steps
}

/// Whether to take one more candidate for a band in place of what it has: any number draws about every third.
pub(super) fn is_drawn(number: u64, band: BandId, tried: u64) -> bool {
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
pub(super) const GROUPS: [i64; 3] = [2, 4, 8];
const GROUPS_OF_TWO: [(i64, i64); 3] = [(2, 4), (4, 2), (4, 4)];
/// More copies of a statement are too many.
const MAX_COPIES: usize = 32;

/// Which members, at their places in this order of the band, and how many iterations of each, where there are so many copies already.
/// An innermost loop has nothing below it to run them in, and a loop should go round more than once.
fn groups_of(band: &EstimatedBand, order: &[usize], copies: i64) -> Vec<Vec<(usize, i64)>> {
    let outer = order.len() - usize::from(band.is_innermost);
    // What is innermost then has vectors if it has none now, or a chain, as long as nothing moves along it.
    let innermost = &band.members[order[order.len() - 1]];
    if band.is_innermost && !innermost.coincident && innermost.lanes != Lanes::Chained {
        return Vec::new();
    }
    // Predicates are asked before a loop of independent iterations, or in it again and again.
    let ends_independent = if band.is_leaf { innermost.coincident } else { band.ends_independent };
    if band.is_predicated && !ends_independent {
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

pub(super) fn permuted_and_tiled(band: BandId, order: Vec<usize>, sizes: Option<Vec<i64>>) -> Steps {
    let permutes = order.iter().enumerate().any(|(at, m)| at != *m);
    let permute = permutes.then_some(Step::Permute { band, order });
    permute.into_iter().chain(sizes.map(|sizes| Step::Tile { band, sizes })).collect()
}
