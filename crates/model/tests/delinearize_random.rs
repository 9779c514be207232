//! Random multi-dimensional accesses, linearized and recovered; every answer is checked point by point.
//!
//! An answer is *sound* if, for all small parameters that its condition admits, every instance has exactly one tuple of subscripts,
//! the inner ones in range, and they make the offset (also as an identity of polynomials). The generating shape is *recovered* if
//! the condition admits all small parameters for which the generating subscripts are themselves in range.
//!
//! `DELINEARIZE_ACCESSES` sets another number of accesses for quick runs; `DELINEARIZE_SHOW` prints the cases that are missed.

use isl::{BasicSet, Constraint, Ctx, DimType, LocalSpace, Set};
use model::delinearize::{LinearAccess, Offset, Shape, recover_shape};
use model::polynomial::{Monomial, PiecewisePolynomial, Polynomial, Var};
use model::scop::ParamId;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

const ACCESSES: usize = 100_000;
/// Of the cases in each family.
const RECOVERED_SHARE: f64 = 0.95;
/// The cases are divided in so many sequences, whatever the number of threads: the same cases on every machine.
const LANES: usize = 16;
const MAX_PARAMS: usize = 4;
const MAX_COUNTERS: usize = 4;

/// SplitMix64: the same cases on every machine.
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }
    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    SingleParameters,
    SeveralAccesses,
    SizesInSubscripts,
    Multiples,
    Borders,
    Constants,
}
const FAMILIES: [Family; 6] = [
    Family::SingleParameters,
    Family::SeveralAccesses,
    Family::SizesInSubscripts,
    Family::Multiples,
    Family::Borders,
    Family::Constants,
];

/// An affine function of counters and parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Affine {
    constant: i64,
    counters: [i64; MAX_COUNTERS],
    params: [i64; MAX_PARAMS],
}
type Point = [i64; MAX_COUNTERS];
type Values = [i64; MAX_PARAMS];
impl Affine {
    fn number(constant: i64) -> Self {
        Affine { constant, ..Affine::default() }
    }
    fn param(k: usize) -> Self {
        let mut f = Affine::default();
        f.params[k] = 1;
        f
    }
    fn counter(k: usize) -> Self {
        let mut f = Affine::default();
        f.counters[k] = 1;
        f
    }
    fn plus(mut self, other: &Self, times: i64) -> Self {
        self.constant += times * other.constant;
        for k in 0..MAX_COUNTERS {
            self.counters[k] += times * other.counters[k];
        }
        for k in 0..MAX_PARAMS {
            self.params[k] += times * other.params[k];
        }
        self
    }
    fn at(&self, point: &Point, values: &Values) -> i64 {
        let of =
            |coefficients: &[i64], values: &[i64]| coefficients.iter().zip(values).map(|(c, v)| c * v).sum::<i64>();
        self.constant + of(&self.counters, point) + of(&self.params, values)
    }
    fn text(&self) -> String {
        let mut text = self.constant.to_string();
        for (k, c) in self.counters.iter().enumerate().filter(|(_, c)| **c != 0) {
            write!(text, " + {c}i{k}").unwrap();
        }
        for (k, c) in self.params.iter().enumerate().filter(|(_, c)| **c != 0) {
            write!(text, " + {c}p{k}").unwrap();
        }
        text
    }
    fn polynomial(&self) -> Polynomial {
        let mut sum = Polynomial::constant(self.constant.into());
        let counters = self.counters.iter().enumerate().map(|(k, c)| (Var::Counter(k as u32), *c));
        let params = self.params.iter().enumerate().map(|(k, c)| (Var::Param(ParamId(k as u32)), *c));
        for (var, c) in counters.chain(params) {
            sum = sum.add(&Polynomial::term(Monomial::var(var), c.into())).unwrap();
        }
        sum
    }
    fn from_polynomial(p: &Polynomial) -> Self {
        let mut f = Affine::default();
        for (monomial, c) in p.terms() {
            let c = i64::try_from(c).unwrap();
            match monomial.factors() {
                [] => f.constant = c,
                [(Var::Counter(k), 1)] => f.counters[*k as usize] = c,
                [(Var::Param(id), 1)] => f.params[id.index()] = c,
                _ => panic!("{p} is not affine"),
            }
        }
        f
    }
}

#[derive(Debug)]
struct Access {
    /// Counter k runs from the greatest `lower` to below the least `upper`, which name outer counters only.
    bounds: Vec<(Affine, Affine)>,
    /// All ≥ 0.
    guards: Vec<Affine>,
    subscripts: Vec<Affine>,
}

impl Access {
    fn domain(&self, ctx: &Ctx, params: usize) -> Set {
        let list = |letter: char, n: usize| (0..n).map(|k| format!("{letter}{k}")).collect::<Vec<_>>().join(", ");
        let everything = format!("[{}] -> {{ [{}] }}", list('p', params), list('i', self.bounds.len()));
        let mut domain = BasicSet::read_from_str(ctx, &everything).unwrap();
        let space = LocalSpace::from_space(&domain.get_space().unwrap()).unwrap();
        let bounds = self.bounds.iter().enumerate().flat_map(|(k, (lower, upper))| {
            let counter = Affine::counter(k);
            [counter.plus(lower, -1), upper.plus(&counter, -1).plus(&Affine::number(1), -1)]
        });
        for f in bounds.chain(self.guards.iter().copied()) {
            let mut constraint = Constraint::alloc_inequality(&space).unwrap().set_constant_si(f.constant).unwrap();
            for (kind, coefficients) in [(DimType::Param, &f.params), (DimType::Set, &f.counters)] {
                for (k, c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
                    constraint = constraint.set_coefficient_si(kind, k, *c).unwrap();
                }
            }
            domain = domain.add_constraint(&constraint).unwrap();
        }
        domain.to_set().unwrap()
    }

    /// Whether `visit` says so of all instances.
    fn all_instances(&self, values: &Values, visit: &mut impl FnMut(&Point) -> bool) -> bool {
        self.instances_from(0, &mut [0; MAX_COUNTERS], values, visit)
    }
    fn instances_from(
        &self,
        k: usize,
        point: &mut Point,
        values: &Values,
        visit: &mut impl FnMut(&Point) -> bool,
    ) -> bool {
        if k == self.bounds.len() {
            return self.guards.iter().any(|g| g.at(point, values) < 0) || visit(point);
        }
        let (lower, upper) = &self.bounds[k];
        for value in lower.at(point, values)..upper.at(point, values) {
            point[k] = value;
            if !self.instances_from(k + 1, point, values, visit) {
                point[k] = 0;
                return false;
            }
        }
        point[k] = 0;
        true
    }
}

#[derive(Debug)]
struct Case {
    params: usize,
    sizes: Vec<Affine>,
    accesses: Vec<Access>,
    /// All parameters are at least this.
    least: Option<i64>,
    bytes: u64,
}

impl Case {
    fn random(family: Family, rng: &mut Rng) -> Case {
        let inner = rng.between(1, 3) as usize;
        let size_params = rng.between(1, inner as i64) as usize;
        let params = (size_params + rng.below(3)).min(MAX_PARAMS);
        let distinct = rng.percent(50);
        let size_params = if distinct { inner.min(params) } else { size_params };
        let sizes: Vec<Affine> = (0..inner)
            .map(|k| {
                let p = Affine::param(if distinct { k % params } else { rng.below(size_params) });
                match family {
                    Family::Multiples => Affine::default().plus(&p, rng.between(1, 3)),
                    Family::Borders => p.plus(&Affine::number(rng.between(1, 3)), 1),
                    Family::Constants => match rng.below(4) {
                        0 | 1 => Affine::number(rng.between(2, 5)),
                        2 => p,
                        _ => Affine::default().plus(&p, 2),
                    },
                    _ => p,
                }
            })
            .collect();
        let accesses = match family {
            Family::SeveralAccesses => rng.between(2, 4),
            Family::SizesInSubscripts | Family::Borders => rng.between(1, 2),
            _ => 1,
        };
        let accesses = (0..accesses).map(|_| Access::random(family, params, &sizes, rng)).collect();
        let least = [None, Some(0), Some(1)][rng.below(3)];
        Case { params, sizes, accesses, least, bytes: [1, 4, 8][rng.below(3)] }
    }

    /// The linearized accesses, and the context.
    fn question(&self, ctx: &Ctx) -> (Vec<LinearAccess>, Set) {
        let linear = |a: &Access| {
            let domain = a.domain(ctx, self.params);
            let everywhere = Set::universe(&domain.get_space().unwrap()).unwrap();
            let bytes = a.offset(&self.sizes).scale(self.bytes.into()).unwrap();
            let offset = Offset::Polynomial(PiecewisePolynomial { pieces: vec![(everywhere, bytes)] });
            LinearAccess { domain, offset, bytes: self.bytes }
        };
        let accesses: Vec<LinearAccess> = self.accesses.iter().map(linear).collect();
        let mut context = Set::universe(&accesses[0].domain.get_space().unwrap().params().unwrap()).unwrap();
        for k in 0..self.params {
            if let Some(least) = self.least {
                context = context.lower_bound_si(DimType::Param, k, least).unwrap();
            }
        }
        (accesses, context)
    }
}

impl Access {
    fn random(family: Family, params: usize, sizes: &[Affine], rng: &mut Rng) -> Access {
        let counters = rng.between(1, (sizes.len() as i64 + 2).min(MAX_COUNTERS as i64)) as usize;
        let mut fresh: Vec<usize> = (0..counters).collect();
        // The size of the dimension in which a counter occurs first.
        let mut extent: Vec<Option<Affine>> = vec![None; counters];
        let mut subscripts = Vec::new();
        for dim in 0..=sizes.len() {
            let size = dim.checked_sub(1).map(|k| sizes[k]);
            let mut take = |rng: &mut Rng| {
                let k = if fresh.is_empty() { rng.below(counters) } else { fresh.remove(rng.below(fresh.len())) };
                if extent[k].is_none() {
                    extent[k] = size;
                }
                Affine::counter(k)
            };
            let own = size.unwrap_or(Affine::number(4));
            let with_size = family == Family::SizesInSubscripts && rng.percent(50) || rng.percent(8);
            let mut f = match rng.below(20) {
                _ if with_size && rng.percent(70) => own.plus(&Affine::number(1), -1).plus(&take(rng), -1),
                _ if with_size => own.plus(&Affine::number(rng.between(1, 2)), -1),
                0..10 => take(rng),
                10..13 => take(rng).plus(&Affine::counter(rng.below(counters)), if rng.percent(75) { 1 } else { -1 }),
                13..15 => Affine::default().plus(&take(rng), 2),
                15..17 => Affine::number(rng.between(0, 1)),
                17 => take(rng).plus(&Affine::param(rng.below(params)), 1),
                _ => take(rng).plus(&take(rng), 1),
            };
            if rng.percent(25) {
                f.constant += rng.between(-1, 1);
            }
            subscripts.push(f);
        }
        let mut bounds: Vec<(Affine, Affine)> = Vec::new();
        for (k, extent) in extent.iter().enumerate() {
            let outer = |rng: &mut Rng| Affine::counter(rng.below(k.max(1)));
            let triangular = k > 0 && rng.percent(25);
            let lower = match rng.below(10) {
                _ if triangular && rng.percent(50) => outer(rng),
                0 => Affine::number(1),
                _ => Affine::number(0),
            };
            let upper = match (rng.below(10), extent) {
                _ if triangular && lower.counters == [0; MAX_COUNTERS] => outer(rng).plus(&Affine::number(1), 1),
                (0..5, Some(size)) => *size,
                (5..8, _) => Affine::param(rng.below(params)),
                (8, Some(size)) => size.plus(&Affine::number(1), -1),
                _ => Affine::number(rng.between(2, 4)),
            };
            bounds.push((lower, upper));
        }
        let mut guards = Vec::new();
        if rng.percent(40) {
            for (f, size) in subscripts[1..].iter().zip(sizes) {
                guards.push(*f);
                guards.push(size.plus(f, -1).plus(&Affine::number(1), -1));
            }
        }
        Access { bounds, guards, subscripts }
    }

    fn in_range(&self, sizes: &[Affine], point: &Point, values: &Values) -> bool {
        let inner = self.subscripts[1..].iter().zip(sizes);
        inner.into_iter().all(|(f, size)| (0..size.at(point, values)).contains(&f.at(point, values)))
    }

    /// In cells.
    fn offset(&self, sizes: &[Affine]) -> Polynomial {
        let mut offset = self.subscripts[0].polynomial();
        for (f, size) in self.subscripts[1..].iter().zip(sizes) {
            offset = offset.mul(&size.polynomial()).unwrap().add(&f.polynomial()).unwrap();
        }
        offset
    }
}

/// A conjunction of constraints.
enum Conjunction {
    /// Affine ones; the flag says: an equality.
    Plain(Vec<(bool, Affine)>),
    /// With divisions, for isl.
    Divided(BasicSet),
}
impl Conjunction {
    fn all(set: &Set) -> Vec<Conjunction> {
        let affine = |c: Constraint| {
            let polynomial = Polynomial::from_aff(&c.get_aff().unwrap()).unwrap()?;
            Some((c.is_equality().unwrap(), Affine::from_polynomial(&polynomial)))
        };
        let one = |b: BasicSet| {
            let plain = b.constraints().unwrap().into_iter().map(affine).collect::<Option<Vec<_>>>();
            plain.map_or(Conjunction::Divided(b), Conjunction::Plain)
        };
        set.basic_sets().unwrap().into_iter().map(one).collect()
    }
    fn holds(&self, point: &Point, values: &Values) -> bool {
        match self {
            Conjunction::Plain(constraints) => constraints.iter().all(|(equality, f)| {
                let value = f.at(point, values);
                value == 0 || !equality && value > 0
            }),
            Conjunction::Divided(set) => {
                let mut here = set.to_set().unwrap();
                for (kind, known) in [(DimType::Param, &values[..]), (DimType::Set, &point[..])] {
                    let dims = here.dim(kind).unwrap();
                    for (k, value) in known.iter().enumerate().take(dims) {
                        here = here.fix_si(kind, k, *value).unwrap();
                    }
                }
                !here.is_empty().unwrap()
            }
        }
    }
    fn has_equality(&self) -> bool {
        match self {
            Conjunction::Plain(constraints) => constraints.iter().any(|(equality, _)| *equality),
            Conjunction::Divided(_) => true,
        }
    }
}

fn all_values(params: usize) -> Vec<Values> {
    let (least, greatest) = if params > 3 { (0, 3) } else { (-1, 4) };
    let mut all = vec![[0; MAX_PARAMS]];
    for k in 0..params {
        let with = |v: &Values| -> Vec<Values> {
            (least..=greatest)
                .map(|x| {
                    let mut v = *v;
                    v[k] = x;
                    v
                })
                .collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

enum Outcome {
    Recovered,
    Missed,
    /// Some access is never in range in the generating shape, for small parameters: it says nothing that it is not recovered.
    Pointless,
}

fn run(case: &Case, ctx: &Ctx, spent: &mut Vec<u64>) -> Outcome {
    let values: Vec<Values> = all_values(case.params)
        .into_iter()
        .filter(|v| case.least.is_none_or(|least| v[..case.params].iter().all(|x| *x >= least)))
        .collect();
    let mut possible = vec![false; case.accesses.len()];
    let mut fits = |v: &Values| {
        let mut happens = vec![false; case.accesses.len()];
        let inside = case.accesses.iter().zip(&mut happens).all(|(a, happens)| {
            a.all_instances(v, &mut |p| {
                *happens = true;
                a.in_range(&case.sizes, p, v)
            })
        });
        if inside {
            possible.iter_mut().zip(&happens).for_each(|(p, h)| *p |= h);
        }
        inside && happens.contains(&true)
    };
    let fitting: Vec<Values> = values.iter().copied().filter(&mut fits).collect();
    if possible.contains(&false) {
        return Outcome::Pointless;
    }
    let offsets: Vec<Polynomial> = case.accesses.iter().map(|a| a.offset(&case.sizes)).collect();
    let (accesses, context) = case.question(ctx);
    let start = std::time::Instant::now();
    let shape = recover_shape(ctx, &accesses, &context).unwrap();
    spent.push(start.elapsed().as_nanos() as u64 / 1000);
    let condition = Conjunction::all(&shape.condition);
    let admits = |v: &Values| condition.iter().any(|c| c.holds(&[0; MAX_COUNTERS], v));
    let admitted: Vec<Values> = values.iter().copied().filter(admits).collect();
    for (access, (offset, relation)) in case.accesses.iter().zip(offsets.iter().zip(&shape.relations)) {
        if let Some(relation) = relation {
            check(access, offset, relation, &shape, &admitted, case);
        }
    }
    let complete = shape.relations.iter().all(Option::is_some);
    if complete && fitting.iter().all(admits) { Outcome::Recovered } else { Outcome::Missed }
}

/// One subscript on one piece.
enum Subscript {
    Plain(Affine),
    /// Where an equality determines a counter, isl may write it as a quotient.
    Divided(isl::Aff),
}
impl Subscript {
    fn at(&self, point: &Point, values: &Values) -> i64 {
        let aff = match self {
            Subscript::Plain(f) => return f.at(point, values),
            Subscript::Divided(aff) => aff,
        };
        let space = aff.get_domain_space().unwrap();
        let mut here = isl::Point::zero(&space).unwrap();
        for (kind, known) in [(DimType::Param, &values[..]), (DimType::Set, &point[..])] {
            let dims = space.dim(kind).unwrap();
            for (k, value) in known.iter().enumerate().take(dims) {
                let value = isl::Val::int_from_si(space.ctx(), *value).unwrap();
                here = here.set_coordinate_val(kind, k, &value).unwrap();
            }
        }
        aff.eval(&here).unwrap().to_i64().unwrap()
    }
}

fn check(access: &Access, offset: &Polynomial, relation: &isl::Map, shape: &Shape, admitted: &[Values], case: &Case) {
    let context = || format!("{case:?}\n{relation} under {}", shape.condition);
    let mut pieces: Vec<(Vec<Conjunction>, Vec<Subscript>)> = Vec::new();
    // A single offset can be given in larger cells than the elements'.
    let scale = i128::from(shape.cell_bytes / case.bytes);
    let found = relation.as_pw_multi_aff().unwrap().pieces().unwrap();
    let single = found.len() == 1;
    for (domain, subscripts) in found {
        let domain = Conjunction::all(&domain);
        let mut sum = Some(Polynomial::zero());
        let mut here = Vec::new();
        for k in 0..=shape.inner_sizes.len() {
            let aff = subscripts.get_at(k).unwrap();
            let plain = Polynomial::from_aff(&aff).unwrap();
            if k > 0 {
                sum = sum.map(|s| s.mul(&shape.inner_sizes[k - 1]).unwrap());
            }
            sum = sum.zip(plain.as_ref()).map(|(s, f)| s.add(f).unwrap());
            here.push(plain.map_or(Subscript::Divided(aff), |f| Subscript::Plain(Affine::from_polynomial(&f))));
        }
        // Equalities allow to write the same subscript in several ways, and isl fuses pieces of single points into one
        // expression; those are compared by value below.
        if single && !domain.iter().any(Conjunction::has_equality) {
            assert_eq!(sum.map(|s| s.scale(scale).unwrap()).as_ref(), Some(offset), "{}", context());
        }
        pieces.push((domain, here));
    }
    let sizes: Vec<Affine> = shape.inner_sizes.iter().map(Affine::from_polynomial).collect();
    let origin = [0; MAX_COUNTERS];
    for values in admitted {
        let inner: Vec<i64> = sizes.iter().map(|s| s.at(&origin, values)).collect();
        access.all_instances(values, &mut |point| {
            let mut here = pieces.iter().filter(|(domain, _)| domain.iter().any(|c| c.holds(point, values)));
            let (Some((_, subscripts)), None) = (here.next(), here.next()) else {
                panic!("{point:?} at {values:?} has not exactly one cell: {}", context());
            };
            let mut cell = subscripts[0].at(point, values);
            for (f, size) in subscripts[1..].iter().zip(&inner) {
                let f = f.at(point, values);
                assert!((0..*size).contains(&f), "{point:?} at {values:?} is out of range: {}", context());
                cell = cell * size + f;
            }
            let value = |v: Var| match v {
                Var::Counter(k) => point[k as usize].into(),
                Var::Param(id) => values[id.index()].into(),
            };
            assert_eq!(Some(i128::from(cell) * scale), offset.at(value), "{point:?} at {values:?}: {}", context());
            true
        });
    }
}

#[test]
fn random_shapes_are_recovered_and_every_answer_is_right() {
    let accesses = std::env::var("DELINEARIZE_ACCESSES").ok().and_then(|n| n.parse().ok()).unwrap_or(ACCESSES);
    let verbose = std::env::var("DELINEARIZE_SHOW").is_ok();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(LANES);
    let work = || {
        let ctx = Ctx::new();
        let mut spent: Vec<u64> = Vec::new();
        let mut tally = [(0usize, 0usize); FAMILIES.len()];
        loop {
            let lane = next.fetch_add(1, Ordering::Relaxed);
            if lane >= LANES {
                return (tally, spent);
            }
            let mut done = 0;
            for n in 0.. {
                if done >= accesses / LANES {
                    break;
                }
                let (seed, family) = (lane + LANES * n, n % FAMILIES.len());
                let case = Case::random(FAMILIES[family], &mut Rng(seed as u64));
                let outcome = run(&case, &ctx, &mut spent);
                if matches!(outcome, Outcome::Pointless) {
                    continue;
                }
                done += case.accesses.len();
                tally[family].0 += 1;
                tally[family].1 += usize::from(matches!(outcome, Outcome::Recovered));
                if verbose && matches!(outcome, Outcome::Missed) {
                    show(&case, seed, &ctx);
                }
            }
        }
    };
    let tallies: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let mut spent: Vec<u64> = tallies.iter().flat_map(|t| t.1.iter().copied()).collect();
    spent.sort_unstable();
    let total: u64 = spent.iter().sum();
    let slowest = spent.last().copied().unwrap_or(0);
    println!(
        "{} arrays, {} µs each, the median {}, the slowest {slowest}",
        spent.len(),
        total / spent.len() as u64,
        spent[spent.len() / 2]
    );
    let mut poor = Vec::new();
    for (k, family) in FAMILIES.iter().enumerate() {
        let cases: usize = tallies.iter().map(|t| t.0[k].0).sum();
        let recovered: usize = tallies.iter().map(|t| t.0[k].1).sum();
        let share = recovered as f64 / cases as f64;
        println!("{family:?}: {recovered} of {cases} recovered, {:.2} %", 100.0 * share);
        if share < RECOVERED_SHARE {
            poor.push(family);
        }
    }
    assert!(poor.is_empty(), "less than {RECOVERED_SHARE} recovered: {poor:?}");
}

fn show(case: &Case, seed: usize, ctx: &Ctx) {
    let (accesses, context) = case.question(ctx);
    let shape = recover_shape(ctx, &accesses, &context).unwrap();
    let mut text = format!("seed {seed} least {:?}: ", case.least);
    text.extend(case.sizes.iter().map(|s| format!("[{}]", s.text())));
    for (a, linear) in case.accesses.iter().zip(&accesses) {
        let subscripts: String = a.subscripts.iter().map(|f| format!("[{}]", f.text())).collect();
        write!(text, "\n   {subscripts} = {} on {}", a.offset(&case.sizes), linear.domain).unwrap();
    }
    write!(text, "\n   -> ").unwrap();
    text.extend(shape.inner_sizes.iter().map(|s| format!("[{s}]")));
    write!(text, " if {}", shape.condition).unwrap();
    for relation in &shape.relations {
        write!(text, "\n   -> {}", relation.as_ref().map_or("none".into(), ToString::to_string)).unwrap();
    }
    println!("{text}");
}
