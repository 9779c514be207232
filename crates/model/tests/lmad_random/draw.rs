//! Random descriptors, pairs of them, and nests.

use crate::sets::{Bytes, Values, value_of};
use model::lmad::{Ground, Lmad, Loop};
use model::polynomial::{Facts, Symbol, Whole};
use model::scop::ParamId;
use std::collections::HashMap;

/// SplitMix64: the same cases on every machine.
pub struct Rng(pub u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn between(&mut self, low: i128, high: i128) -> i128 {
        low + self.below((high - low + 1) as usize) as i128
    }
    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn number(value: i128) -> Whole {
    Whole::constant(value)
}
fn param(k: u32) -> Whole {
    Whole::param(ParamId(k))
}
fn plus(a: &Whole, b: &Whole) -> Whole {
    a.add(b).unwrap()
}
fn minus(a: &Whole, b: &Whole) -> Whole {
    a.sub(b).unwrap()
}
fn times(a: &Whole, b: &Whole) -> Whole {
    a.mul(b).unwrap()
}

pub fn text(lmad: &Lmad) -> String {
    let dims: Vec<String> = lmad.dims().iter().map(|d| format!("{}: {} x{}", d.index, d.stride, d.last)).collect();
    let guards: Vec<String> = lmad.guards().iter().map(ToString::to_string).collect();
    format!("{} [{}] of {} if {:?} {:?}", lmad.base(), dims.join(", "), lmad.bytes(), guards, lmad.mark())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Two that have nothing to do with each other.
    Any,
    /// One, cut in two along a dimension.
    Cut,
    /// Two that take turns in a dimension.
    Turns,
    /// A part of one, and all of it.
    Part,
}

impl Family {
    pub const ALL: [Family; 4] = [Family::Any, Family::Cut, Family::Turns, Family::Part];

    pub fn is_split(self) -> bool {
        matches!(self, Family::Cut | Family::Turns)
    }
}

pub struct Pair {
    pub family: Family,
    pub first: Lmad,
    pub second: Lmad,
    /// One descriptor is both together.
    pub is_mergeable: bool,
    pub facts: Facts,
    pub values: Vec<Values>,
    known: Vec<Whole>,
}

/// What is known of the parameters n, m and l.
fn known(rng: &mut Rng) -> Vec<Whole> {
    let (n, m, l) = (param(0), param(1), param(2));
    match rng.below(4) {
        0 => Vec::new(),
        1 => vec![n, m, l],
        _ => vec![n.plus(-1).unwrap(), m.plus(-1).unwrap(), l.clone(), minus(&n, &l)],
    }
}

/// Small values that the facts admit.
fn values(rng: &mut Rng, known: &[Whole], most: usize) -> Vec<Values> {
    let mut all = Vec::new();
    for n in -1..=4 {
        for m in -1..=4 {
            for l in -1..=4 {
                let values = Values([n, m, l]);
                let value = |x: &Whole| x.at(&|s| value_of(s, &HashMap::new(), &values)).unwrap();
                if known.iter().all(|x| value(x) >= 0) {
                    all.push(values);
                }
            }
        }
    }
    while all.len() > most {
        let at = rng.below(all.len());
        all.swap_remove(at);
    }
    all
}

fn facts_of(known: &[Whole]) -> Facts {
    let mut facts = Facts::new();
    known.iter().for_each(|x| facts.know(x));
    facts
}

type Steps = Vec<(Whole, Whole)>;

/// Strides and lasts in numbers: mostly those of an array, or of a part of it.
fn steps_in_numbers(rng: &mut Rng, bytes: i128) -> Steps {
    let mut steps = Vec::new();
    let is_array = rng.percent(70);
    let mut extent = bytes;
    for _ in 0..rng.below(5) {
        let last = if rng.percent(4) { -1 } else { rng.between(0, 3) };
        let stride = if is_array {
            extent * rng.between(1, 2) + if rng.percent(30) { bytes * rng.between(0, 3) } else { 0 }
        } else {
            rng.between(1, 13)
        };
        extent = if is_array { stride * (last.max(0) + 1) } else { extent };
        steps.push((number(stride), number(last)));
    }
    steps
}

/// Strides that are products of sizes, and lasts below the sizes.
fn steps_in_symbols(rng: &mut Rng, bytes: i128) -> Steps {
    let (n, m, l) = (param(0), param(1), param(2));
    let sizes = [n.clone(), m.clone(), n.plus(1).unwrap(), plus(&n, &l), number(2), number(3), m.scale(2).unwrap()];
    let mut steps = Vec::new();
    let mut stride = number(bytes);
    for _ in 0..rng.below(4) {
        let size = rng.one_of(&sizes);
        let last = match rng.below(8) {
            0 => size.plus(-2).unwrap(),
            1 => l.plus(-1).unwrap(),
            2 => number(rng.between(0, 1)),
            _ => size.plus(-1).unwrap(),
        };
        steps.push((stride.clone(), last));
        stride = times(&stride, &size);
        if rng.percent(10) {
            stride = stride.plus(bytes).unwrap();
        }
    }
    steps
}

fn base(rng: &mut Rng, in_symbols: bool, bytes: i128) -> Whole {
    let mut base = number(rng.between(-6, 12) * if rng.percent(80) { bytes } else { 1 });
    if in_symbols && rng.percent(50) {
        let more = rng.one_of(&[param(0), param(1), param(2), times(&param(0), &param(1))]);
        base = plus(&base, &more.scale(bytes * rng.between(-1, 2)).unwrap());
    }
    base
}

fn shuffled(rng: &mut Rng, mut steps: Steps) -> Steps {
    for k in (1..steps.len()).rev() {
        let other = rng.below(k + 1);
        steps.swap(k, other);
    }
    steps
}

/// In another form: other orders, smaller elements, fewer dimensions.
fn disguised(rng: &mut Rng, base: &Whole, steps: Steps, bytes: i128, facts: &Facts) -> Lmad {
    let mut steps = shuffled(rng, steps);
    let mut smaller = bytes;
    if bytes % 2 == 0 && rng.percent(15) {
        smaller = bytes / 2;
        steps.push((number(smaller), number(1)));
    }
    let lmad = Lmad::regular(base.clone(), &steps, smaller).unwrap();
    if rng.percent(30) {
        return lmad.simplified(&mut Ground::proved(facts.clone())).unwrap();
    }
    lmad
}

impl Pair {
    /// `None`: nothing came of it.
    pub fn random(family: Family, rng: &mut Rng) -> Option<Pair> {
        let in_symbols = rng.percent(50);
        let known = if in_symbols { known(rng) } else { Vec::new() };
        let facts = facts_of(&known);
        let values = if in_symbols { values(rng, &known, 16) } else { vec![Values::default()] };
        let bytes = rng.one_of(&[1, 1, 2, 4, 8]);
        let steps = |rng: &mut Rng, bytes: i128| {
            if in_symbols { steps_in_symbols(rng, bytes) } else { steps_in_numbers(rng, bytes) }
        };
        let (first_steps, first_base) = (steps(rng, bytes), base(rng, in_symbols, bytes));
        let mut is_mergeable = false;
        let (mut first, mut second) = if family == Family::Any {
            let other_bytes = if rng.percent(80) { bytes } else { rng.one_of(&[1, 2, 4, 8]) };
            let (other_steps, other_base) = match rng.percent(60) {
                true => (steps(rng, other_bytes), base(rng, in_symbols, other_bytes)),
                false => (first_steps.clone(), base(rng, in_symbols, bytes)),
            };
            let first = disguised(rng, &first_base, first_steps, bytes, &facts);
            (first, disguised(rng, &other_base, other_steps, other_bytes, &facts))
        } else {
            let count = first_steps.len();
            if count == 0 {
                return None;
            }
            let at = rng.below(count);
            let (stride, last) = first_steps[at].clone();
            let with = |change: Whole| {
                let mut steps = first_steps.clone();
                steps[at].1 = change;
                steps
            };
            match family {
                Family::Cut => {
                    let t = match last.as_constant() {
                        Some(last) if last < 1 => return None,
                        Some(last) => number(rng.between(1, last)),
                        None => rng.one_of(&[number(1), param(2), last.plus(-1).unwrap(), last.clone()]),
                    };
                    let value = |x: &Whole, v: &Values| x.at(&|s| value_of(s, &HashMap::new(), v)).unwrap();
                    is_mergeable = values.iter().all(|v| (0..=value(&last, v) + 1).contains(&value(&t, v)));
                    let behind = plus(&first_base, &times(&stride, &t));
                    let a = disguised(rng, &first_base, with(t.plus(-1).unwrap()), bytes, &facts);
                    (a, disguised(rng, &behind, with(minus(&last, &t)), bytes, &facts))
                }
                Family::Turns => {
                    let n = rng.between(2, 3);
                    is_mergeable = n == 2;
                    let lmad = Lmad::regular(first_base, &first_steps, bytes).unwrap();
                    let turns = lmad.interleave(at, n).unwrap();
                    let again = |rng: &mut Rng, lmad: &Lmad| {
                        let steps = lmad.dims().iter().map(|d| (d.stride.clone(), d.last.clone())).collect();
                        disguised(rng, lmad.base(), steps, bytes, &facts)
                    };
                    (again(rng, &turns[0]), again(rng, &turns[1]))
                }
                _ => {
                    let mut part = first_steps.clone();
                    let mut low = first_base.clone();
                    for (stride, last) in &mut part {
                        let most = last.as_constant().unwrap_or(1);
                        let (from, less) = (rng.between(0, most.clamp(0, 2)), rng.between(0, 1));
                        low = plus(&low, &stride.scale(from).unwrap());
                        *last = last.plus(-from - less).unwrap();
                    }
                    let a = disguised(rng, &low, part, bytes, &facts);
                    (a, disguised(rng, &first_base, first_steps.clone(), bytes, &facts))
                }
            }
        };
        if rng.percent(50) && family != Family::Part {
            std::mem::swap(&mut first, &mut second);
        }
        if in_symbols && rng.percent(10) {
            let guard = rng.one_of(&[param(0), param(1).plus(-2).unwrap(), minus(&param(0), &param(1))]);
            let both = rng.percent(50);
            if both || family == Family::Any {
                first = first.guarded(guard.clone());
                second = if both { second.guarded(guard) } else { second };
            }
        }
        Some(Pair { family, first, second, is_mergeable, facts, values, known })
    }

    pub fn text(&self) -> String {
        let known: Vec<String> = self.known.iter().map(ToString::to_string).collect();
        format!("{:?}: {}\n   and {}\n   known {known:?}", self.family, text(&self.first), text(&self.second))
    }
}

/// Small ones that may lie anywhere.
pub fn scattered(rng: &mut Rng) -> Lmad {
    let bytes = rng.one_of(&[1, 2, 4]);
    let steps: Steps =
        (0..rng.below(3)).map(|_| (number(rng.between(1, 9) * bytes), number(rng.between(-1, 3)))).collect();
    Lmad::regular(number(rng.between(0, 800)), &steps, bytes).unwrap()
}

pub struct Nest {
    pub offset: Whole,
    pub bytes: i128,
    /// Inner loops first.
    pub loops: Vec<Loop>,
    pub facts: Facts,
    pub values: Vec<Values>,
}

impl Nest {
    pub fn random(rng: &mut Rng) -> Nest {
        let known = known(rng);
        let depth = 1 + rng.below(3);
        let (n, m) = (param(0), param(1));
        let mut loops = Vec::new();
        let mut offset = number(rng.between(-5, 5));
        for d in 0..depth {
            let index = Symbol::counter(d);
            let counter = Whole::symbol(index);
            let mut lasts = vec![n.plus(-1).unwrap(), m.clone(), number(rng.between(-1, 4)), n.clone()];
            for outer in (0..d).map(Whole::counter) {
                lasts.extend([
                    outer.clone(),
                    outer.plus(-1).unwrap(),
                    minus(&n, &outer),
                    outer.scale(2).unwrap(),
                    minus(&outer, &n),
                ]);
            }
            loops.push(Loop { index, last: rng.one_of(&lasts) });
            let mut steps = vec![number(rng.between(-3, 4)), number(1), number(-1), n.clone(), n.plus(1).unwrap()];
            steps.extend((0..d).map(Whole::counter));
            let moved = match rng.below(10) {
                // A packed triangle, its other half, squares and powers.
                0 | 1 => counter.plus(1).and_then(|c| c.choose(2)).unwrap(),
                2 => counter.choose(2).unwrap(),
                3 => times(&counter, &minus(&n.scale(2).unwrap(), &counter)),
                4 => counter.power_of_two().unwrap(),
                _ => counter,
            };
            offset = plus(&offset, &times(&rng.one_of(&steps), &moved));
        }
        loops.reverse();
        let values = values(rng, &known, 12);
        Nest { offset, bytes: rng.one_of(&[1, 1, 2]), loops, facts: facts_of(&known), values }
    }

    /// `None`: too many.
    pub fn bytes_at(&self, values: &Values) -> Option<Bytes> {
        let mut all = Vec::new();
        self.walk(self.loops.len(), &mut HashMap::new(), values, &mut all)?;
        Some(Bytes::new(all))
    }
    fn walk(
        &self,
        left: usize,
        indices: &mut HashMap<Symbol, i128>,
        values: &Values,
        all: &mut Vec<i128>,
    ) -> Option<()> {
        let Some(at) = left.checked_sub(1) else {
            let offset = self.offset.at(&|s| value_of(s, indices, values))?;
            all.extend((0..self.bytes).map(|byte| offset + byte));
            return (all.len() < 4000).then_some(());
        };
        let Loop { index, last } = &self.loops[at];
        for k in 0..=last.at(&|s| value_of(s, indices, values))? {
            indices.insert(*index, k);
            self.walk(at, indices, values, all)?;
        }
        indices.remove(index);
        Some(())
    }

    pub fn text(&self) -> String {
        let loops: Vec<String> = self.loops.iter().map(|l| format!("{} <= {}", l.index, l.last)).collect();
        format!("{} for {} knowing {:?}", self.offset, loops.join(", "), self.facts)
    }
}
