//! A few instances at a few parameter values, to rank shapes before anything is proved about them.
//!
//! Ranking only decides what is looked at first: whether a shape is right is proved, or becomes the condition.

use super::access::Linear;
use super::candidates::Chain;
use super::subscripts::divide_offset;
use crate::polynomial::{Polynomial, Var};
use crate::scop::ParamId;
use isl::{BasicSet, IslError};

/// Parameter values that are tried.
const WORLDS: usize = 24;
/// Instances of one access at one of them.
const MAX_POINTS: usize = 8;
/// Where the domain bounds a counter by others only, this many values from its start on.
const REACH: i64 = 3;

/// What it is worth that an access needs one piece only.
const STEADY: usize = 3;

/// An affine function, for quick evaluation.
struct Row {
    constant: i64,
    counters: Vec<i64>,
    params: Vec<i64>,
}

impl Row {
    fn new(polynomial: &Polynomial, counters: usize, params: &[ParamId]) -> Option<Row> {
        let mut row = Row { constant: 0, counters: vec![0; counters], params: vec![0; params.len()] };
        for (monomial, c) in polynomial.terms() {
            let c = i64::try_from(c).ok().filter(|c| c.abs() < 1 << 32)?;
            match monomial.factors() {
                [] => row.constant = c,
                [(Var::Counter(d), 1)] => *row.counters.get_mut(*d as usize)? = c,
                [(Var::Param(id), 1)] => row.params[params.iter().position(|p| p == id)?] = c,
                _ => return None,
            }
        }
        Some(row)
    }
    fn at(&self, point: &[i64], world: &[i64]) -> i64 {
        let of =
            |coefficients: &[i64], values: &[i64]| coefficients.iter().zip(values).map(|(c, v)| c * v).sum::<i64>();
        self.constant + of(&self.counters, point) + of(&self.params, world)
    }
}

struct Point {
    world: usize,
    counters: Vec<i64>,
}

/// Instances per access and piece of its offset.
pub struct Samples {
    params: Vec<ParamId>,
    worlds: Vec<Vec<i64>>,
    points: Vec<Vec<Vec<Point>>>,
}

/// How well a shape does on the samples; greater is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Score {
    /// Accesses that have affine subscripts.
    pub views: usize,
    /// Parameter values at which all instances are in range, with greater weight where each access stays in one row.
    pub fitting: usize,
}

impl Samples {
    pub fn new(accesses: &[Linear]) -> Result<Self, IslError> {
        let mut params: Vec<ParamId> = Vec::new();
        let mut conjunctions: Vec<Vec<Vec<(bool, Polynomial)>>> = Vec::new();
        for access in accesses {
            let mut of_access = Vec::new();
            for (domain, cells) in &access.pieces {
                let first = domain.basic_sets()?.into_iter().next();
                let constraints = first.map(|b| constraints(&b)).transpose()?.unwrap_or_default();
                for polynomial in constraints.iter().map(|(_, p)| p).chain([cells]) {
                    params
                        .extend(polynomial.vars().filter_map(|v| if let Var::Param(id) = v { Some(id) } else { None }));
                }
                of_access.push(constraints);
            }
            conjunctions.push(of_access);
        }
        params.sort();
        params.dedup();
        let is_bit = |id: &ParamId| {
            let bit = Polynomial::constant(1).sub(&Polynomial::param(*id)).ok();
            let decides = |equality: bool, p: &Polynomial| {
                equality && p.vars().count() == 1 && p.vars().any(|v| v == Var::Param(*id)) || Some(p) == bit.as_ref()
            };
            conjunctions.iter().flatten().flatten().any(|(equality, p)| decides(*equality, p))
        };
        let worlds = worlds(&params.iter().map(is_bit).collect::<Vec<_>>());
        let mut points = Vec::new();
        for (access, of_access) in accesses.iter().zip(&conjunctions) {
            let mut of_pieces = Vec::new();
            for ((domain, _), constraints) in access.pieces.iter().zip(of_access) {
                let counters = domain.tuple_dim()?;
                let rows = constraints.iter().filter_map(|(e, p)| Some((*e, Row::new(p, counters, &params)?)));
                let rows: Vec<(bool, Row)> = rows.collect();
                let mut found = Vec::new();
                for (k, world) in worlds.iter().enumerate() {
                    let mut here = Vec::new();
                    corners(&rows, world, &mut vec![0; counters], 0, &mut here);
                    found.extend(here.into_iter().map(|counters| Point { world: k, counters }));
                }
                of_pieces.push(found);
            }
            points.push(of_pieces);
        }
        Ok(Samples { params, worlds, points })
    }

    /// The score of a shape that does everything right.
    pub fn perfect(&self, accesses: &[Linear]) -> Score {
        let mut seen = vec![false; self.worlds.len()];
        for point in self.points.iter().flatten().flatten() {
            seen[point.world] = true;
        }
        let views = accesses.iter().filter(|a| a.obstacle.is_none()).count();
        Score { views, fitting: (1 + STEADY) * seen.iter().filter(|s| **s).count() }
    }

    pub fn score(&self, accesses: &[Linear], chain: &Chain) -> Score {
        let sizes: Option<Vec<Row>> = chain.sizes.iter().map(|s| Row::new(s, 0, &self.params)).collect();
        let Some(sizes) = sizes else { return Score { views: 0, fitting: 0 } };
        let at = |world: &Vec<i64>| sizes.iter().map(|s| s.at(&[], world)).collect::<Vec<_>>();
        let sizes: Vec<Vec<i64>> = self.worlds.iter().map(at).collect();
        let mut views = 0;
        // Per parameter values: nothing happens, everything is in range, everything is in range and in one row.
        let (mut seen, mut fits, mut steady) =
            (vec![false; self.worlds.len()], vec![true; self.worlds.len()], vec![true; self.worlds.len()]);
        for (access, of_pieces) in accesses.iter().zip(&self.points) {
            let mut rows = Vec::new();
            for (domain, cells) in &access.pieces {
                let counters = domain.tuple_dim().unwrap_or(0);
                let subscripts = divide_offset(cells, chain);
                let row = |s: Vec<Polynomial>| s.iter().map(|f| Row::new(f, counters, &self.params)).collect();
                rows.push(subscripts.and_then(row));
            }
            let Some(rows) = rows.into_iter().collect::<Option<Vec<Vec<Row>>>>() else { continue };
            if access.obstacle.is_some() {
                continue;
            }
            views += 1;
            for (subscripts, points) in rows.iter().zip(of_pieces) {
                let moves: Vec<Option<usize>> =
                    points.iter().map(|p| moves(subscripts, &sizes[p.world], p, &self.worlds[p.world])).collect();
                let usual = most_frequent(&moves);
                for (point, moves) in points.iter().zip(&moves) {
                    seen[point.world] = true;
                    fits[point.world] &= moves.is_some();
                    steady[point.world] &= moves.is_some() && *moves == usual;
                }
            }
        }
        let fitting = (0..self.worlds.len()).filter(|w| seen[*w]);
        Score { views, fitting: fitting.map(|w| usize::from(fits[w]) + STEADY * usize::from(steady[w])).sum() }
    }
}

/// By how many rows each subscript has to be moved to be in range, as digits; `None` if more than by one.
fn moves(subscripts: &[Row], sizes: &[i64], point: &Point, world: &[i64]) -> Option<usize> {
    let (mut carry, mut digits) = (0, 0);
    for (f, size) in subscripts[1..].iter().zip(sizes).rev() {
        if *size <= 0 {
            return None;
        }
        carry = (f.at(&point.counters, world) + carry).div_euclid(*size);
        digits = 3 * digits + usize::try_from(carry + 1).ok().filter(|d| *d < 3)?;
    }
    Some(digits)
}

fn most_frequent(moves: &[Option<usize>]) -> Option<usize> {
    let mut sorted: Vec<usize> = moves.iter().flatten().copied().collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map(|run| run[0])
}

/// Those without integer divisions, as "= 0" or "≥ 0".
fn constraints(set: &BasicSet) -> Result<Vec<(bool, Polynomial)>, IslError> {
    let mut found = Vec::new();
    for constraint in set.remove_unknown_divs()?.constraints()? {
        if let Some(polynomial) = Polynomial::from_aff(&constraint.get_aff()?)? {
            found.push((constraint.is_equality()?, polynomial));
        }
    }
    Ok(found)
}

/// Small numbers in many orders, the same in every run; 0 or 1 for parameters that decide what happens.
fn worlds(bits: &[bool]) -> Vec<Vec<i64>> {
    let mut state: u64 = 1;
    let mut next = |bound: u64| {
        // The constants of Knuth's MMIX generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound) as i64
    };
    (0..WORLDS).map(|k| bits.iter().map(|&bit| next(if bit { 2 } else { 4 + k as u64 / 2 })).collect()).collect()
}

/// Instances where each counter in turn takes the least, the second and the greatest value that the constraints on it and on the
/// outer ones allow.
fn corners(rows: &[(bool, Row)], world: &[i64], point: &mut Vec<i64>, at: usize, found: &mut Vec<Vec<i64>>) {
    if found.len() >= MAX_POINTS {
        return;
    }
    if at == point.len() {
        let holds = |(equality, row): &(bool, Row)| {
            let value = row.at(point, world);
            value == 0 || !equality && value > 0
        };
        if rows.iter().all(holds) {
            found.push(point.clone());
        }
        return;
    }
    let (mut low, mut high) = (None, None);
    for (equality, row) in rows {
        let c = row.counters[at];
        if c == 0 || row.counters[at + 1..].iter().any(|c| *c != 0) {
            continue;
        }
        point[at] = 0;
        // c·x + rest ≥ 0, or = 0
        let rest = row.at(point, world);
        if c > 0 || *equality {
            let bound =
                if c > 0 { (-rest).div_euclid(c) + i64::from((-rest).rem_euclid(c) != 0) } else { rest.div_euclid(-c) };
            low = Some(low.map_or(bound, |l: i64| l.max(bound)));
        }
        if c < 0 || *equality {
            let bound = if c < 0 { rest.div_euclid(-c) } else { (-rest).div_euclid(c) };
            high = Some(high.map_or(bound, |h: i64| h.min(bound)));
        }
    }
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low + REACH),
        (None, Some(high)) => (high - REACH, high),
        (None, None) => (0, REACH),
    };
    let mut values = vec![high, low, low + 1];
    values.retain(|v| (low..=high).contains(v));
    values.dedup();
    for value in values {
        point[at] = value;
        corners(rows, world, point, at + 1, found);
    }
    point[at] = 0;
}
