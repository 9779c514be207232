//! An estimate of how long a loop nest takes: memory traffic on two cache levels, arithmetic with or without vectors, loop
//! overhead. Only comparisons of two orders of the same statements mean something.
//!
//! Words. A **nest** is a tree of loops and statements. A **reference** is one access of a statement with the distance in bytes
//! that it moves per iteration of each loop around it. The **footprint** of a part of the nest is the set of cache lines that one
//! execution of it touches.

use super::Machine;
use crate::scop::{ArrayId, StatementId};
use crate::transform::BandId;
use num_integer::gcd;
use std::collections::{BTreeSet, HashMap};

/// A loop of the nest: the member of a band, by its position before any step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LoopKey {
    pub band: BandId,
    pub position: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Nest {
    Loop {
        key: LoopKey,
        trips: f64,
        /// How iterations may be combined into vectors.
        lanes: Lanes,
        /// It is innermost and written out.
        jammed: bool,
        body: Vec<Nest>,
    },
    Statement(StatementId),
}

/// What stands between a loop and vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Iterations are independent.
    Independent,
    /// Iterations only share reductions that may be reordered.
    Reductions,
    /// Iterations must keep their order, but next to none of them waits for what another computes.
    Ordered,
    /// A value travels from iteration to iteration.
    Chained,
}

impl Lanes {
    /// An iteration begins when the one before has ended.
    pub(super) fn wait(self) -> bool {
        matches!(self, Lanes::Reductions | Lanes::Chained)
    }
}

/// Whose loops they are: LLVM makes of the program's what it can, and of ours what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Original,
    New,
}

#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub array: ArrayId,
    pub bytes: u64,
    pub write: bool,
    /// A read of what was a scalar in the source: where the innermost loop does not move it, it is loaded before.
    pub was_scalar: bool,
    /// Bytes per iteration; a loop that is absent does not move it. `None`: moves in an unknown way.
    pub strides: Strides,
    /// The strides are the program's, without sizes that are only taken to be something.
    pub certain: bool,
}

/// By loop, in order. There are few, and all that is estimated asks for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strides(Vec<(LoopKey, Option<f64>)>);

impl Strides {
    pub(super) fn get(&self, key: LoopKey) -> Option<Option<f64>> {
        self.0.iter().find(|(other, _)| *other == key).map(|(_, stride)| *stride)
    }
    pub(super) fn insert(&mut self, key: LoopKey, stride: Option<f64>) {
        match self.0.binary_search_by_key(&key, |(other, _)| *other) {
            Ok(at) => self.0[at].1 = stride,
            Err(at) => self.0.insert(at, (key, stride)),
        }
    }
}

impl Reference {
    /// What it touches in one iteration of the loop, it touches in no other.
    pub(super) fn steps_over(&self, key: LoopKey) -> bool {
        self.along(key).is_some_and(|stride| stride.abs() >= self.bytes as f64)
    }

    /// The stride along a loop.
    pub(super) fn along(&self, key: LoopKey) -> Option<f64> {
        self.strides.get(key).unwrap_or(Some(0.0))
    }
}

/// A statement as its loops move it.
#[derive(Clone, Debug, Default)]
pub(super) struct Moving {
    /// The loops that run more than one instance of it.
    pub loops: BTreeSet<LoopKey>,
    pub references: Vec<Reference>,
    /// How many values it shares with other statements of its iteration.
    pub scalars: usize,
    /// Products and quotients that an instance computes.
    pub operations: usize,
}

pub(super) type References = HashMap<StatementId, Moving>;

/// Cycles for a line that comes from the second cache level behind its neighbour, as processors expect it, and from beyond it.
const L2_LINE: f64 = 2.0;
/// A line from the second cache level that nobody expects counts as so many.
const UNEXPECTED: f64 = 2.0;
const MEMORY_LINE: f64 = 12.0;
/// A cache never holds exactly the lines the model thinks of: only this share of it is counted on. What fills more of it is evicted
/// now and then, and what fills all of it always.
const USABLE_CACHE: f64 = 0.75;
/// So many lines whose addresses are equal modulo a part of the cache have a place in it.
const WAYS: f64 = 8.0;
/// Cycles of a floating point operation whose input is the previous one's output.
const CHAIN_LATENCY: f64 = 4.0;
/// Entering an innermost loop, with and without vectors (alignment, remainder, reduction of lanes).
const VECTOR_ENTRY: f64 = 25.0;
const SCALAR_ENTRY: f64 = 4.0;
/// An element that is fetched before an innermost loop, to all lanes of a vector, or stored behind it.
const KEPT_ENTRY: f64 = 4.0;
/// A statement, a reference that the innermost loop moves, and a product, where there are many of them: now and then LLVM computes two
/// of these at once.
const STATEMENT: f64 = 0.5;
const TOUCH: f64 = 0.5;
const OPERATION: f64 = 0.4;
/// An element that has no register, of those that should: now and then two share one.
const SPILT: f64 = 0.5;
/// An element that comes into a lane of a vector, or leaves it, by itself; and one of a pair that takes turns with its neighbour, so
/// that two vectors are shuffled into two others.
const LANE: f64 = 1.0;
const SHUFFLED_LANE: f64 = 0.33;
/// So many copies of a statement, and no more, share what they load.
const MOST_SIDE_BY_SIDE: f64 = 8.0;
/// From storing a value to having loaded it again.
const STORE_TO_LOAD: f64 = 14.0;
/// One iteration of a loop that is not innermost.
const LOOP_STEP: f64 = 1.5;

/// The estimate and what the profit decision asks beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    pub cycles: f64,
    /// Instances in innermost loops that run with vectors, and all others.
    pub vector_instances: f64,
    pub scalar_instances: f64,
    pub l1_lines: f64,
    pub l2_lines: f64,
}

pub(super) fn estimate(nest: &[Nest], references: &References, machine: &Machine, code: Code) -> Cost {
    with_waiting(computing(nest, references, machine, code), nest, references, machine)
}

/// With the lines that it waits for.
pub(super) fn with_waiting(computing: Cost, nest: &[Nest], references: &References, machine: &Machine) -> Cost {
    let mut cost = computing;
    cost.l1_lines = traffic(nest, references, &Cache { unexpected: UNEXPECTED, ..Cache::of(machine, machine.l1) });
    cost.l2_lines = traffic(nest, references, &Cache::of(machine, machine.l2));
    cost.cycles += waiting(cost.l1_lines, cost.l2_lines);
    cost
}

/// If every line were in the first cache.
pub(super) fn computing(nest: &[Nest], references: &References, machine: &Machine, code: Code) -> Cost {
    let mut cost = Cost::default();
    for part in nest {
        arithmetic(part, references, machine, code, &mut Vec::new(), &mut cost);
    }
    cost
}

/// For lines that come from beyond each of the two caches, one after the other.
fn waiting(l1_lines: f64, l2_lines: f64) -> f64 {
    L2_LINE * (l1_lines - l2_lines).max(0.0) + MEMORY_LINE * l2_lines
}

/// What new code takes longer than the estimate says, where an element that an innermost loop does not move is written in it while the loop
/// moves along the same array. We know that these are others, LLVM does not, so that the element stays in memory; in the original a scalar
/// may have been there instead.
pub(super) fn chains_through_memory(nest: &[Nest], refs: &References, entries: f64) -> f64 {
    let of_loop = |part: &Nest| {
        let Nest::Loop { key, trips, jammed: false, body, .. } = part else { return 0.0 };
        let Some(statements) = side_by_side(body) else {
            return chains_through_memory(body, refs, entries * trips);
        };
        let all = || statements.iter().flat_map(|s| &refs[&s.statement].references);
        let moves = |array| all().any(|r| r.array == array && r.along(*key) != Some(0.0));
        let stays = all().any(|r| r.write && r.along(*key) == Some(0.0) && moves(r.array));
        if stays { entries * trips * STORE_TO_LOAD } else { 0.0 }
    };
    nest.iter().map(of_loop).sum()
}

/// Cycles that the estimate of no order of these statements is below: every line comes from memory once, every statement runs in the loop
/// that suits it best, with vectors if it could have them there, and loops cost nothing. Those that are `stuck` run as they do.
pub(super) fn least(nest: &[Nest], refs: &References, machine: &Machine, stuck: &BTreeSet<StatementId>) -> f64 {
    let as_it_is = estimate(&only(nest, &|s| stuck.contains(s)), refs, machine, Code::Original);
    let lines = Footprint::of(nest, refs, &Cache::of(machine, machine.l2)).travelling;
    let mut cycles = as_it_is.cycles + MEMORY_LINE * (lines - as_it_is.l2_lines).max(0.0);
    for part in &only(nest, &|s| !stuck.contains(s)) {
        least_arithmetic(part, refs, machine, &mut Vec::new(), &mut cycles);
    }
    cycles
}

/// Without the other statements, and loops that are empty without them.
pub(super) fn only(nest: &[Nest], keep: &impl Fn(&StatementId) -> bool) -> Vec<Nest> {
    let kept = |part: &Nest| match part {
        Nest::Statement(s) => keep(s).then(|| part.clone()),
        Nest::Loop { key, trips, lanes, jammed, body } => {
            let body = only(body, keep);
            let (key, trips, lanes, jammed) = (*key, *trips, *lanes, *jammed);
            (!body.is_empty()).then_some(Nest::Loop { key, trips, lanes, jammed, body })
        }
    };
    nest.iter().filter_map(kept).collect()
}

fn least_arithmetic(
    part: &Nest,
    refs: &References,
    machine: &Machine,
    around: &mut Vec<(LoopKey, f64)>,
    cycles: &mut f64,
) {
    match part {
        Nest::Loop { key, trips, body, .. } => {
            around.push((*key, *trips));
            body.iter().for_each(|b| least_arithmetic(b, refs, machine, around, cycles));
            around.pop();
        }
        Nest::Statement(s) => {
            let moving = &refs[s];
            let own = around.iter().filter(|(key, _)| moving.loops.contains(key));
            let times: f64 = own.clone().map(|(_, trips)| trips).product();
            let innermost = |(key, _): &(LoopKey, f64)| {
                let vectors = is_vectorizable(&[moving], *key, Lanes::Independent);
                // As many as possible run side by side in it, and share what they can.
                let shared = |r: &Reference| own.clone().any(|(other, _)| other != key && r.along(*other) == Some(0.0));
                let touched = moving.references.iter().filter(|r| r.along(*key) != Some(0.0));
                let touched: f64 = touched.map(|r| if shared(r) { 1.0 / MOST_SIDE_BY_SIDE } else { 1.0 }).sum();
                moving.cycles(1.0, touched) / if vectors { vector_factor(moving, machine) } else { 1.0 }
            };
            *cycles += times * own.clone().map(innermost).fold(scalar_cycles(moving), f64::min);
        }
    }
}

/// The innermost loop of `part`, if it is one, can use vectors.
pub(super) fn uses_vectors(part: &Nest, refs: &References) -> bool {
    match part {
        Nest::Loop { jammed: true, .. } | Nest::Statement(_) => false,
        Nest::Loop { key, lanes, body, .. } => side_by_side(body).is_some_and(|statements| {
            let statements: Vec<&Moving> = statements.iter().map(|s| &refs[&s.statement]).collect();
            is_vectorizable(&statements, *key, *lanes)
        }),
    }
}

/// A statement directly in an innermost loop, with the loops that are written out around it.
struct SideBySide {
    statement: StatementId,
    points: Vec<(LoopKey, f64, Lanes)>,
}

/// `None`: there are other loops.
fn side_by_side(body: &[Nest]) -> Option<Vec<SideBySide>> {
    let mut out = Vec::new();
    for part in body {
        match part {
            Nest::Statement(statement) => out.push(SideBySide { statement: *statement, points: Vec::new() }),
            Nest::Loop { key, trips, lanes, jammed: true, body } => {
                for mut inner in side_by_side(body)? {
                    inner.points.push((*key, *trips, *lanes));
                    out.push(inner);
                }
            }
            Nest::Loop { .. } => return None,
        }
    }
    Some(out)
}

impl SideBySide {
    /// Instances in one iteration of the innermost loop.
    fn count(&self, moving: &Moving) -> f64 {
        self.points.iter().filter(|(key, ..)| moving.loops.contains(key)).map(|(_, trips, _)| trips).product()
    }
    /// How many of them wait for each other: those that write one element.
    fn chained(&self, moving: &Moving) -> f64 {
        let writes_one = |key| moving.references.iter().any(|r| r.write && r.along(key) == Some(0.0));
        let waits = |(key, _, lanes): &&(LoopKey, f64, Lanes)| lanes.wait() && writes_one(*key);
        self.points.iter().filter(waits).map(|(_, trips, _)| trips).product()
    }
    /// The elements that they touch by a reference.
    fn elements(&self, reference: &Reference) -> f64 {
        self.points.iter().filter(|(key, ..)| reference.along(*key) != Some(0.0)).map(|(_, trips, _)| trips).product()
    }
    /// Elements that the innermost loop does not move: they live in registers.
    fn kept(&self, moving: &Moving, innermost: LoopKey) -> f64 {
        let mut homes: Vec<&Reference> = Vec::new();
        for reference in moving.references.iter().filter(|r| r.along(innermost) == Some(0.0)) {
            if !homes.iter().any(|home| home.array == reference.array && home.strides == reference.strides) {
                homes.push(reference);
            }
        }
        let elements: f64 = homes.into_iter().map(|reference| self.elements(reference)).sum();
        elements + moving.scalars as f64 * self.count(moving)
    }
    /// Lines that come from the second cache in one iteration of the innermost loop, because they are gone from the first one before the
    /// loop comes to their next element. It walks through as many rows at once as run side by side. How far apart these are is not known,
    /// and in practice it is often a power of two: then only so many have a place. One that has none takes that of another, and of twice as
    /// many none stays until it is needed.
    fn evicted(&self, moving: &Moving, innermost: LoopKey, machine: &Machine) -> f64 {
        let line = machine.cache_line as f64;
        let walks = |r: &&Reference| r.along(innermost).is_some_and(|stride| stride != 0.0 && stride.abs() < line);
        let is_unknown = |r: &&Reference| !r.certain;
        let mut homes: Vec<&Reference> = Vec::new();
        for reference in moving.references.iter().filter(walks).filter(is_unknown) {
            if !homes.iter().any(|home| home.array == reference.array && home.strides == reference.strides) {
                homes.push(reference);
            }
        }
        let rows: f64 = homes.iter().map(|reference| self.elements(reference)).sum();
        (2.0 * (rows - WAYS)).clamp(0.0, rows)
    }
    /// What one iteration of the innermost loop takes without vectors. Loads, stores and as many operations; what the loop does not move
    /// costs nothing as long as there are registers enough.
    /// What it does not move in an array of `written` is loaded again.
    fn cycles(&self, moving: &Moving, innermost: LoopKey, registers: f64, written: &BTreeSet<ArrayId>) -> f64 {
        let again = |r: &Reference| !r.write && !r.was_scalar && written.contains(&r.array);
        let touched = moving.references.iter().filter(|r| r.along(innermost) != Some(0.0) || again(r));
        let touched: f64 = touched.map(|reference| self.elements(reference)).sum();
        // One for what is loaded and one for what is computed.
        let needed = self.kept(moving, innermost) + 2.0;
        let spilt = if self.points.is_empty() { 0.0 } else { (needed - registers).max(0.0) };
        moving.cycles(self.count(moving), touched + SPILT / TOUCH * spilt)
    }
}

impl Moving {
    /// Without vectors, so many instances that touch so many elements: what is loaded and stored, or what is computed, whichever takes
    /// longer.
    fn cycles(&self, count: f64, touched: f64) -> f64 {
        (STATEMENT * count + TOUCH * touched).max(OPERATION * self.operations as f64 * count)
    }

    /// With vectors whose lanes are filled one by one, where the elements are not side by side. LLVM does so in loops of which it
    /// sees that iterations are independent; `share` is what one lane has of an instruction for all.
    fn cycles_in_lanes(&self, innermost: LoopKey, share: f64) -> f64 {
        let (mut together, mut apart) = (STATEMENT, 0.0);
        for reference in &self.references {
            let bytes = reference.bytes as f64;
            match reference.along(innermost).map(f64::abs) {
                Some(0.0) => {}
                Some(stride) if stride == bytes => together += TOUCH,
                Some(stride) if stride == 2.0 * bytes => apart += SHUFFLED_LANE,
                _ => apart += LANE,
            }
        }
        (together * share + apart).max(OPERATION * self.operations as f64 * share)
    }
}

/// What one lane has of a vector instruction in a loop of so many iterations: the remainder of the trip count runs without vectors.
fn share_of_lane(factor: f64, trips: f64) -> f64 {
    let remainder = ((factor - 1.0) / 2.0).min(trips) / trips;
    (1.0 - remainder) / factor + remainder
}

/// `around`: the loops around, outermost first, with their trips.
fn arithmetic(
    part: &Nest,
    refs: &References,
    machine: &Machine,
    code: Code,
    around: &mut Vec<(LoopKey, f64)>,
    cost: &mut Cost,
) {
    let instances = |m: &Moving, around: &[(LoopKey, f64)]| -> f64 {
        around.iter().filter(|(key, _)| m.loops.contains(key)).map(|(_, trips)| trips).product()
    };
    match part {
        Nest::Statement(s) => {
            let times = instances(&refs[s], around);
            cost.scalar_instances += times;
            cost.cycles += times * scalar_cycles(&refs[s]);
        }
        Nest::Loop { key, trips, jammed: true, body, .. } => {
            around.push((*key, *trips));
            body.iter().for_each(|b| arithmetic(b, refs, machine, code, around, cost));
            around.pop();
        }
        Nest::Loop { key, trips, lanes, body, .. } => {
            let entries: f64 = around.iter().map(|(_, trips)| trips).product();
            around.push((*key, *trips));
            let Some(statements) = side_by_side(body) else {
                cost.cycles += entries * trips * LOOP_STEP;
                body.iter().for_each(|b| arithmetic(b, refs, machine, code, around, cost));
                around.pop();
                return;
            };
            let vectors = uses_vectors(part, refs);
            let mut cycles_in_loop = entries * if vectors { VECTOR_ENTRY } else { SCALAR_ENTRY };
            // If LLVM fills lanes one by one.
            let may_fill = !vectors && code == Code::Original && may_fill_lanes(&statements, refs, *key, *lanes);
            let mut with_filled_lanes = entries * VECTOR_ENTRY;
            // Of all statements, one waits longest; the others run meanwhile.
            let (mut computing, mut chain): (f64, f64) = (0.0, 0.0);
            let written = if code == Code::New { written(&statements, refs, *key) } else { BTreeSet::new() };
            for side_by_side in statements {
                let moving = &refs[&side_by_side.statement];
                let times = instances(moving, around);
                let count = side_by_side.count(moving);
                let cycles = side_by_side.cycles(moving, *key, machine.registers(), &written);
                if count > 1.0 {
                    cycles_in_loop += entries * KEPT_ENTRY * side_by_side.kept(moving, *key);
                    cycles_in_loop += times * side_by_side.evicted(moving, *key, machine) * L2_LINE;
                }
                let share = share_of_lane(vector_factor(moving, machine), *trips);
                if vectors {
                    cost.vector_instances += times * count;
                    cycles_in_loop += times * cycles * share;
                } else {
                    let latency = if lanes.wait() { CHAIN_LATENCY } else { 0.0 };
                    cost.scalar_instances += times * count;
                    computing += times * cycles;
                    chain = chain.max(times * latency * side_by_side.chained(moving));
                    with_filled_lanes += times * moving.cycles_in_lanes(*key, share);
                }
            }
            cycles_in_loop += computing.max(chain);
            cost.cycles += if may_fill { cycles_in_loop.min(with_filled_lanes) } else { cycles_in_loop };
            around.pop();
        }
    }
}

/// How many instances one vector has.
fn vector_factor(statement: &Moving, machine: &Machine) -> f64 {
    let widest = statement.references.iter().map(|r| r.bytes).max().unwrap_or(8).max(1);
    (machine.vector_bits as f64 / 8.0 / widest as f64).max(1.0)
}

/// The arrays along which the loop writes. We know that what stands still in them is something else, LLVM does not; in the original
/// a scalar may have been there instead.
fn written(statements: &[SideBySide], refs: &References, key: LoopKey) -> BTreeSet<ArrayId> {
    let all = statements.iter().flat_map(|s| &refs[&s.statement].references);
    all.filter(|r| r.write && r.along(key) != Some(0.0)).map(|r| r.array).collect()
}

/// Nothing stands between the loop and vectors but that elements are apart. Of our own loops LLVM is not told so (see below), and what
/// it would have to find out by itself is more than in the program's: pointers that it knew to be other ones are in one array there.
fn may_fill_lanes(statements: &[SideBySide], refs: &References, key: LoopKey, lanes: Lanes) -> bool {
    let are_known = |m: &Moving| m.loops.contains(&key) && m.references.iter().all(|r| r.along(key).is_some());
    matches!(lanes, Lanes::Independent | Lanes::Reductions) && statements.iter().all(|s| are_known(&refs[&s.statement]))
}

/// Every reference is invariant or moves by its own size.
///
/// Two references that take turns, such as the parts of complex numbers, are no exception. LLVM would take them for a group, and where a
/// loop is said to have independent iterations it moves groups over accesses of the same iteration, too.
fn is_vectorizable(statements: &[&Moving], key: LoopKey, lanes: Lanes) -> bool {
    matches!(lanes, Lanes::Independent | Lanes::Reductions)
        && statements.iter().all(|m| m.loops.contains(&key))
        && statements.iter().flat_map(|m| m.references.iter()).all(|r| match r.along(key) {
            Some(stride) => stride == 0.0 || stride.abs() == r.bytes as f64,
            None => false,
        })
}

/// Loads, stores and as many operations, in no loop.
fn scalar_cycles(statement: &Moving) -> f64 {
    statement.cycles(1.0, statement.references.len() as f64)
}

struct Cache {
    bytes: f64,
    line: f64,
    /// As so many counts a line that is not behind the one before.
    unexpected: f64,
}

impl Cache {
    fn of(machine: &Machine, bytes: u64) -> Cache {
        Cache { bytes: bytes as f64, line: machine.cache_line as f64, unexpected: 1.0 }
    }

    /// How likely it is that such a footprint is gone when it is needed again.
    fn evicts(&self, places: f64) -> f64 {
        ((places * self.line / self.bytes - USABLE_CACHE) / (1.0 - USABLE_CACHE)).clamp(0.0, 1.0)
    }

    /// Lines of { Σ kᵢ·strideᵢ | 0 ≤ kᵢ < tripsᵢ }, strides ascending (unknown ones count as large): small strides grow one
    /// interval, a stride beyond it makes copies of the interval.
    ///
    /// And so many lines' place they take, which is more if they may lie in some sets of the cache only: rows of 4096 bytes are all
    /// in the same place of a cache with ways of that size.
    fn lines_of(&self, bytes: f64, steps: &[(Option<f64>, f64)]) -> (f64, f64) {
        let steps = &straight(steps, self.line);
        let way = (self.bytes / WAYS) as u64;
        let (mut extent, mut copies) = (bytes, 1.0);
        // Begins of copies are multiples of this, modulo a way.
        let mut apart = way;
        for (stride, trips) in steps {
            match stride {
                Some(stride) if *stride <= extent.max(self.line) => extent += stride * (trips - 1.0),
                _ => {
                    copies *= trips;
                    apart = stride.map_or(1, |stride| gcd(apart, stride as u64));
                }
            }
        }
        let interval = (extent - 1.0) / self.line + 1.0;
        let lines = copies * interval;
        let sets = way as f64 / self.line;
        let used = (copies.min((way / apart) as f64) * interval).min(sets);
        (lines, lines * (sets / used).min(copies))
    }
}

/// The same elements, about, by other steps: where two loops move nearly as far as each other, as those of `A[i + j][j]` do, lines that
/// one of them leaves are found again by the other. { k·a + l·b } is { (k + l)·a + l·(b - a) }, where for each k + l there are so many l
/// that all together are as many as before.
fn straight(steps: &[(Option<f64>, f64)], line: f64) -> Vec<(Option<f64>, f64)> {
    let mut steps = steps.to_vec();
    for outer in 1..steps.len() {
        for inner in 0..outer {
            if let (Some(a), Some(b)) = (steps[inner].0, steps[outer].0)
                && a > line
                && b > a
                && b - a <= line
            {
                let (short, long) = (steps[inner].1, steps[outer].1);
                steps[inner].1 = short + long;
                steps[outer] = (Some(b - a), (short * long / (short + long)).max(1.0));
                break;
            }
        }
    }
    steps.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    steps
}

/// Lines that come from beyond a cache while the parts run once, one after the other.
///
/// The rule: as long as what runs between two touches of a line fits the cache, the second touch is free. Between two touches
/// by consecutive iterations one iteration's footprint runs; so where that fits, a loop costs the lines of its whole footprint
/// once; where it does not, it costs its body's traffic anew in every iteration.
fn traffic(parts: &[Nest], refs: &References, cache: &Cache) -> f64 {
    traffic_of(parts, Footprint::of(parts, refs, cache), refs, cache)
}

/// The same where the footprint of the parts is known.
fn traffic_of(parts: &[Nest], all: Footprint, refs: &References, cache: &Cache) -> f64 {
    let between = |evicts: f64, kept: f64, again: &dyn Fn() -> f64| match evicts {
        0.0 => kept,
        _ => (1.0 - evicts) * kept + evicts * again(),
    };
    let one = |part: &Nest| {
        let kept = match parts {
            [_] => all.travelling,
            _ => Footprint::of(std::slice::from_ref(part), refs, cache).travelling,
        };
        let Nest::Loop { trips, body, .. } = part else { return kept };
        let of_body = Footprint::of(body, refs, cache);
        between(cache.evicts(of_body.places), kept, &|| trips * traffic_of(body, of_body, refs, cache))
    };
    between(cache.evicts(all.places), all.travelling, &|| parts.iter().map(one).sum())
}

#[derive(Clone, Copy)]
struct Footprint {
    /// In lines' places of the cache.
    places: f64,
    /// In lines; written ones travel twice.
    travelling: f64,
}

impl Footprint {
    fn of(parts: &[Nest], refs: &References, cache: &Cache) -> Footprint {
        let groups = groups(parts, refs, cache);
        let weight = |g: &Group| if g.write { 2.0 } else { 1.0 } * if g.jumps { cache.unexpected } else { 1.0 };
        Footprint {
            places: groups.iter().map(|g| g.places).sum(),
            travelling: groups.iter().map(|g| weight(g) * g.lines).sum(),
        }
    }
}

/// References of one array that move alike: neighbours (a stencil), which count once.
struct Group {
    array: ArrayId,
    steps: Vec<(Option<f64>, f64)>,
    lines: f64,
    /// So many lines' place they take in the cache.
    places: f64,
    write: bool,
    /// From line to line, over others.
    jumps: bool,
}

fn groups(parts: &[Nest], refs: &References, cache: &Cache) -> Vec<Group> {
    /// `walk`: the innermost loop that is not written out, if there is one.
    fn collect(
        part: &Nest,
        refs: &References,
        cache: &Cache,
        loops: &mut Vec<(LoopKey, f64)>,
        walk: Option<LoopKey>,
        out: &mut Vec<Group>,
    ) {
        match part {
            Nest::Loop { key, trips, body, jammed, .. } => {
                loops.push((*key, *trips));
                let walk = if *jammed { walk } else { Some(*key) };
                body.iter().for_each(|b| collect(b, refs, cache, loops, walk, out));
                loops.pop();
            }
            Nest::Statement(s) => {
                for r in &refs[s].references {
                    let mut steps: Vec<(Option<f64>, f64)> = loops
                        .iter()
                        .map(|(key, trips)| (r.along(*key).map(f64::abs), *trips))
                        .filter(|(stride, trips)| *stride != Some(0.0) && *trips > 1.0)
                        .collect();
                    let far = |key| r.along(key).is_none_or(|stride| stride.abs() > cache.line);
                    let jumps = walk.is_some_and(far);
                    steps.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
                    match out.iter_mut().find(|g| g.array == r.array && g.steps == steps) {
                        Some(group) => {
                            group.write |= r.write;
                            group.jumps &= jumps;
                        }
                        None => {
                            let (lines, places) = cache.lines_of(r.bytes as f64, &steps);
                            let places = if r.certain { places } else { lines };
                            out.push(Group { array: r.array, steps, lines, places, write: r.write, jumps });
                        }
                    }
                }
            }
        }
    }
    let mut out = Vec::new();
    parts.iter().for_each(|p| collect(p, refs, cache, &mut Vec::new(), None, &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: f64 = 1000.0;

    fn key(number: usize) -> LoopKey {
        LoopKey { band: BandId { number: number as u32, level: 0 }, position: 0 }
    }

    fn reference(array: u32, write: bool, strides: &[(usize, f64)]) -> Reference {
        let mut all = Strides::default();
        strides.iter().for_each(|(k, s)| all.insert(key(*k), Some(*s)));
        Reference { array: ArrayId(array), bytes: 8, write, was_scalar: false, strides: all, certain: true }
    }
    fn one(references: Vec<Reference>) -> References {
        [(StatementId(0), Moving { loops: (0..6).map(key).collect(), references, scalars: 0, operations: 1 })].into()
    }
    fn nest(order: &[(usize, f64, Lanes)]) -> Vec<Nest> {
        let mut inner = vec![Nest::Statement(StatementId(0))];
        for (number, trips, lanes) in order.iter().rev() {
            inner = vec![Nest::Loop { key: key(*number), trips: *trips, lanes: *lanes, jammed: false, body: inner }];
        }
        inner
    }
    /// C[i][j] += A[i][k] * B[k][j] with i, j, k = 0, 1, 2.
    fn matmul() -> References {
        let row = 8.0 * N;
        let refs = vec![
            reference(0, true, &[(0, row), (1, 8.0)]),
            reference(1, false, &[(0, row), (2, 8.0)]),
            reference(2, false, &[(2, row), (1, 8.0)]),
        ];
        one(refs)
    }
    use Code::{New, Original};
    use Lanes::{Chained, Independent};

    #[test]
    fn interchange_makes_a_matrix_product_cheaper() {
        let m = Machine::default();
        let ijk = estimate(&nest(&[(0, N, Independent), (1, N, Independent), (2, N, Chained)]), &matmul(), &m, New);
        let ikj = estimate(&nest(&[(0, N, Independent), (2, N, Chained), (1, N, Independent)]), &matmul(), &m, New);
        assert!(ikj.cycles < 0.5 * ijk.cycles, "{ikj:?} {ijk:?}");
        assert!(ijk.vector_instances == 0.0 && ikj.scalar_instances == 0.0);
    }

    #[test]
    fn tiling_keeps_a_matrix_product_in_cache() {
        let m = Machine::default();
        let untiled = estimate(&nest(&[(0, N, Independent), (2, N, Chained), (1, N, Independent)]), &matmul(), &m, New);
        let mut refs = matmul();
        for r in &mut refs.get_mut(&StatementId(0)).unwrap().references {
            for k in 0..3 {
                if let Some(Some(s)) = r.strides.get(key(k)) {
                    r.strides.insert(key(k + 3), Some(s * 32.0));
                }
            }
        }
        let tiles = [(3, N / 32.0, Independent), (5, N / 32.0, Chained), (4, N / 32.0, Independent)];
        let points = [(0, 32.0, Independent), (2, 32.0, Chained), (1, 32.0, Independent)];
        let tiled = estimate(&nest(&[tiles, points].concat()), &refs, &m, New);
        assert!(tiled.l2_lines < 0.1 * untiled.l2_lines, "{tiled:?} {untiled:?}");
    }

    /// B[i] -= A[i][0] * b: LLVM has vectors for what is computed, and puts the elements of A into them one by one.
    #[test]
    fn lanes_are_filled_one_by_one_in_the_original_only() {
        let m = Machine::default();
        let walk = [(0, 8.0)];
        let refs = vec![reference(0, false, &walk), reference(0, true, &walk), reference(1, false, &[(0, 8.0 * N)])];
        let (nest, refs) = (nest(&[(0, N, Independent)]), one(refs));
        let [original, new] = [Original, New].map(|code| computing(&nest, &refs, &m, code).cycles);
        assert!(original < 0.8 * new, "{original} {new}");
    }

    #[test]
    fn a_diagonal_walk_finds_lines_again() {
        let refs = one(vec![reference(0, false, &[(0, 8.0 * N), (1, 8.0 * N + 8.0)])]);
        let lines = Footprint::of(&nest(&[(0, N, Independent), (1, N, Independent)]), &refs, &L1).places;
        assert!((0.1 * N * N..0.2 * N * N).contains(&lines), "{lines}");
    }

    #[test]
    fn walking_columns_costs_a_line_per_element() {
        let m = Machine::default();
        let refs = one(vec![reference(0, false, &[(0, 8.0), (1, 8.0 * N)])]);
        let columns = nest(&[(0, N, Independent), (1, N, Independent)]);
        let rows = nest(&[(1, N, Independent), (0, N, Independent)]);
        assert!(estimate(&columns, &refs, &m, New).l1_lines > 0.9 * N * N);
        assert!(estimate(&rows, &refs, &m, New).l1_lines < 0.2 * N * N);
    }

    #[test]
    fn neighbours_of_a_stencil_count_once() {
        let refs = vec![reference(0, false, &[(0, 8.0)]), reference(0, false, &[(0, 8.0)])];
        let refs = one(refs);
        let lines = Footprint::of(&nest(&[(0, N, Independent)]), &refs, &L1).places;
        assert!((120.0..130.0).contains(&lines), "{lines}");
    }

    const L1: Cache = Cache { bytes: 32768.0, line: 64.0, unexpected: 1.0 };

    #[test]
    fn rows_of_a_power_of_two_have_few_places() {
        let tile = nest(&[(0, 32.0, Independent), (1, 64.0, Independent)]);
        let places =
            |row: f64| Footprint::of(&tile, &one(vec![reference(0, false, &[(0, row), (1, 8.0)])]), &L1).places;
        assert!(L1.evicts(places(8000.0)) < 0.1, "{}", places(8000.0));
        assert!(L1.evicts(places(8192.0)) > 0.9, "{}", places(8192.0));
        // Rows of 2 kB are in two places, and half of them in each.
        assert!((places(2048.0) / places(4096.0) - 0.5).abs() < 0.01);
        // Whole rows side by side are all over the cache.
        assert!(places(512.0) < 300.0);
    }
}
