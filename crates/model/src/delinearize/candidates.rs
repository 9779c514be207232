//! Which shapes the strides of an array suggest: pure algebra, nothing is proved here.
//!
//! In the shape `[] [L₁] … [Lₖ]` with strides T₀ = L₁⋯Lₖ, …, Tₖ = 1, a counter that occurs with the integer coefficients a₀ … aₖ
//! in the subscripts has the stride Σ aⱼ·Tⱼ. So, once Lₖ … Lⱼ₊₁ are known, the division of any stride by Tⱼ must leave a
//! remainder that is an integer combination of Tⱼ₊₁ … Tₖ, and its quotient is aⱼ plus multiples of the next size Lⱼ. Sizes are
//! guessed from those quotients, innermost first, until all of them are numbers.
//!
//! Sizes that are numbers are not guessed among parametric ones: `[4][n]` and `[n][4]` hold exactly the cells of `[n]` and `[4n]`
//! in the same order, and the merged subscripts are in range whenever the separate ones are.

use super::access::Linear;
use super::division::{affine_factors, divide, positive, primitive};
use crate::polynomial::{Monomial, Polynomial, Var};
use num_integer::gcd;
use std::collections::{BTreeMap, BTreeSet};

/// Inner sizes, and the strides of all dimensions but the last, whose stride is 1; both outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub sizes: Vec<Polynomial>,
    pub strides: Vec<Polynomial>,
    /// How far-fetched it is.
    pub cost: u32,
}

impl Chain {
    /// The numbers that are added to parametric sizes.
    pub fn added(&self) -> i128 {
        self.sizes.iter().filter(|s| s.degree() > 0).map(|s| s.constant_term().abs()).sum()
    }

    /// The same sizes, but for numbers added to them, of which this one has less.
    pub fn is_simpler_than(&self, other: &Chain) -> bool {
        let alike = |(a, b): (&Polynomial, &Polynomial)| {
            a.sub(b).is_ok_and(|difference| difference.degree() == 0) && (a.degree() > 0 || a == b)
        };
        self.added() < other.added()
            && self.sizes.len() == other.sizes.len()
            && self.sizes.iter().zip(&other.sizes).all(alike)
    }

    /// Does it only divide dimensions of the other one, into constant sizes of at least `least`?
    pub fn refines(&self, other: &Chain, least: i128) -> bool {
        let is_new = |size: &&Polynomial| !other.sizes.contains(size);
        self.strides.len() > other.strides.len()
            && other.strides.iter().all(|s| self.strides.contains(s))
            && self.sizes.iter().filter(is_new).all(|s| s.degree() == 0 && s.constant_term() >= least)
    }
}

/// More different strides than this say nothing about a shape.
const MAX_STRIDES: usize = 12;
/// More inner dimensions are not looked for.
const MAX_INNER: usize = 6;
/// More shapes are not considered, and more steps are not made to find them.
const MAX_CHAINS: usize = 24;
const MAX_STEPS: usize = 60;
const MAX_OPEN: usize = 80;
/// Readings of a product of parameters without any counter.
const MAX_READINGS: usize = 4;
/// Sizes up to this far from a stride are tried where sums of counters may hide the true one.
const MAX_SCAN: i128 = 3;

/// The greatest multiple that all strides allow, another one, a size with less added than the stride, the difference of two
/// strides, and a number added by trial.
const COST_MULTIPLE: u32 = 1;
const COST_OTHER_MULTIPLE: u32 = COST_SCAN;
const COST_NEARER: u32 = 2;
const COST_DIFFERENCE: u32 = 8;
pub const COST_SCAN: u32 = 16;

/// Shapes with parametric sizes in which all strides are integer combinations of the dimensions' strides, and which leave affine
/// subscripts; the most natural first, none that costs more than `limit`.
pub fn parametric_chains(accesses: &[&Linear], limit: u32) -> Vec<Chain> {
    let mut distinct: Vec<Chain> = Vec::new();
    for reading in readings(accesses) {
        for chain in reading.chains(limit) {
            if !distinct.iter().any(|c| c.sizes == chain.sizes) {
                distinct.push(chain);
            }
        }
    }
    distinct.sort_by_key(|c| (c.cost, c.sizes.len()));
    distinct.truncate(MAX_CHAINS);
    distinct
}

/// The offsets of all accesses, taken apart under the assumption that certain parameters are sizes.
struct SplitOffsets {
    /// What counters, and parameters that are no sizes, are multiplied with; leading coefficients positive.
    strides: Vec<Polynomial>,
    /// What is left: polynomials in the sizes.
    rests: Vec<Polynomial>,
}

/// What counters are multiplied with in some access; leading coefficients positive.
pub fn strides_of_counters<'a>(accesses: impl IntoIterator<Item = &'a Linear>) -> BTreeSet<Polynomial> {
    let cells = accesses.into_iter().flat_map(|a| &a.pieces).map(|(_, cells)| cells);
    let factors = cells.flat_map(Polynomial::by_counters).filter(|(counters, _)| *counters != Monomial::one());
    factors.map(|(_, stride)| positive(&stride)).collect()
}

/// A parameter that a counter is multiplied with is a size. Products of other parameters are read in several ways.
fn readings(accesses: &[&Linear]) -> Vec<SplitOffsets> {
    let of_counters = strides_of_counters(accesses.iter().copied());
    let cells = accesses.iter().flat_map(|a| &a.pieces).map(|(_, cells)| cells);
    let invariant: BTreeSet<Polynomial> =
        cells.filter_map(|cells| cells.by_counters().remove(&Monomial::one())).collect();
    let certain: BTreeSet<Var> = of_counters.iter().flat_map(Polynomial::vars).collect();
    let mut open = vec![certain];
    let mut readings = Vec::new();
    while let Some(sizes) = open.pop() {
        if readings.len() >= MAX_READINGS {
            break;
        }
        match SplitOffsets::new(&of_counters, &invariant, &sizes) {
            Ok(reading) => readings.extend(reading),
            Err(product) => {
                // One factor is an index, the others are sizes; or all are.
                let factors: Vec<Var> = product.factors().iter().map(|(v, _)| *v).collect();
                open.push(sizes.iter().chain(&factors).copied().collect());
                for index in factors.iter().filter(|v| !sizes.contains(v) && product.exponent(**v) == 1).rev() {
                    open.push(sizes.iter().chain(factors.iter().filter(|v| *v != index)).copied().collect());
                }
            }
        }
    }
    readings
}

impl SplitOffsets {
    /// A product of several parameters that are no sizes is an error.
    fn new(
        of_counters: &BTreeSet<Polynomial>,
        invariant: &BTreeSet<Polynomial>,
        sizes: &BTreeSet<Var>,
    ) -> Result<Option<SplitOffsets>, Monomial> {
        let mut strides = of_counters.clone();
        let mut rests = Vec::new();
        for part in invariant {
            let mut by_index: BTreeMap<Var, Polynomial> = BTreeMap::new();
            let mut rest = Polynomial::zero();
            for (monomial, c) in part.terms() {
                let mut index = monomial.factors().iter().filter(|(v, _)| !sizes.contains(v));
                let (sum, term) = match (index.next(), index.next()) {
                    (None, _) => (&mut rest, monomial.clone()),
                    (Some((var, 1)), None) => {
                        let stride = monomial.over(&Monomial::var(*var)).expect("a factor of it");
                        (by_index.entry(*var).or_default(), stride)
                    }
                    _ => return Err(monomial.clone()),
                };
                let Ok(more) = sum.add(&Polynomial::term(term, c)) else { return Ok(None) };
                *sum = more;
            }
            strides.extend(by_index.values().map(positive));
            rests.push(rest);
        }
        strides.remove(&Polynomial::zero());
        rests.retain(|r| r.degree() > 1);
        let strides: Vec<Polynomial> = strides.into_iter().collect();
        let flat = rests.is_empty() && strides.iter().all(|s| s.degree() == 0);
        Ok((!flat && strides.len() <= MAX_STRIDES).then_some(SplitOffsets { strides, rests }))
    }

    /// The cheapest first.
    fn chains(&self, limit: u32) -> Vec<Chain> {
        let mut found = Vec::new();
        let start = Partial { cost: 0, sizes: Vec::new(), products: vec![Polynomial::constant(1)] };
        let Some(quotients) = self.quotients(&start.products) else { return found };
        let mut open = vec![(start, quotients)];
        for _ in 0..MAX_STEPS {
            // Those with more sizes first among equals, and earlier ones first.
            let best = open.iter().enumerate().min_by_key(|(k, (p, _))| (p.cost, std::cmp::Reverse(p.sizes.len()), *k));
            let Some((best, _)) = best else { break };
            let (partial, (quotients, rests)) = open.remove(best);
            if quotients.iter().all(|q| q.degree() == 0) && rests.iter().all(Polynomial::is_affine) {
                found.push(partial.into_chain());
                if found.len() == MAX_CHAINS {
                    break;
                }
                continue;
            }
            if partial.sizes.len() == MAX_INNER {
                continue;
            }
            for (size, more) in next_sizes(&quotients, &rests) {
                if partial.cost + more > limit || open.len() > MAX_OPEN {
                    continue;
                }
                let Some(longer) = partial.with(size, more) else { continue };
                if let Some(quotients) = self.quotients(&longer.products) {
                    open.push((longer, quotients));
                }
            }
        }
        found
    }

    /// Of all strides and rests by the last product, if what they leave is made of the smaller products: integer multiples for
    /// strides, affine ones for rests.
    fn quotients(&self, products: &[Polynomial]) -> Option<(Vec<Polynomial>, Vec<Polynomial>)> {
        let (last, smaller) = products.split_last()?;
        let quotient = |dividend: &Polynomial, degree: u32| {
            let (quotient, mut rest) = divide(dividend, last).ok()?;
            for product in smaller.iter().rev() {
                let (times, left) = divide(&rest, product).ok()?;
                if times.degree() > degree {
                    return None;
                }
                rest = left;
            }
            rest.is_zero().then_some(quotient)
        };
        let of_strides = self.strides.iter().map(|s| quotient(s, 0)).collect::<Option<_>>()?;
        let of_rests = self.rests.iter().map(|r| quotient(r, 1)).collect::<Option<_>>()?;
        Some((of_strides, of_rests))
    }
}

/// The inner sizes of a shape.
struct Partial {
    cost: u32,
    /// Innermost first.
    sizes: Vec<Polynomial>,
    /// The products of the first sizes: of none, one, two …
    products: Vec<Polynomial>,
}

impl Partial {
    fn with(&self, size: Polynomial, cost: u32) -> Option<Partial> {
        let product = self.products.last()?.mul(&size).ok()?;
        let sizes = self.sizes.iter().cloned().chain([size]).collect();
        let products = self.products.iter().cloned().chain([product]).collect();
        Some(Partial { cost: self.cost + cost, sizes, products })
    }

    fn into_chain(self) -> Chain {
        let strides = self.products[1..].iter().rev().cloned().collect();
        Chain { sizes: self.sizes.into_iter().rev().collect(), strides, cost: self.cost }
    }
}

/// Guesses for the next size outwards, each with what it costs to believe it.
fn next_sizes(quotients: &[Polynomial], rests: &[Polynomial]) -> Vec<(Polynomial, u32)> {
    let mut guesses = Guesses { sizes: Vec::new(), all: quotients.iter().chain(rests).collect() };
    let affine: Vec<&Polynomial> = quotients.iter().filter(|q| q.degree() == 1).collect();
    if affine.is_empty() {
        // Dimensions without a counter of their own: the sizes show only as a product.
        let least = |of: &[Polynomial], from: u32| of.iter().map(Polynomial::degree).filter(|d| *d >= from).min();
        let (products, degree, left) = match least(quotients, 1) {
            Some(degree) => (quotients, degree, 0),
            None => (rests, least(rests, 2).unwrap_or(0), 1),
        };
        for product in products.iter().filter(|q| q.degree() == degree) {
            for (factor, content) in affine_factors(product, left) {
                guesses.multiples(&factor, content, 0);
            }
        }
        return guesses.sizes;
    }
    for q in &affine {
        guesses.multiples(&primitive(q), q.content(), 0);
    }
    for (k, a) in affine.iter().enumerate() {
        for b in &affine[..k] {
            // The diagonal A[i][i] shows the stride plus one.
            if let Ok(difference) = a.sub(b) {
                guesses.multiples(&primitive(&difference), difference.content(), COST_DIFFERENCE);
            }
        }
    }
    for q in &affine {
        // Every counter of the outer dimension may be in the inner one too: q = b·size + a.
        let constant = q.constant_term();
        let variable = q.sub(&Polynomial::constant(constant)).unwrap_or_default();
        if constant != 0 {
            guesses.multiples(&primitive(&variable), variable.content(), COST_SCAN);
        }
        // A triangular loop, j from i on, shows n + 1 for rows of n.
        for nearer in (1..=constant.abs().min(MAX_SCAN)).map(|a| constant - a * constant.signum()) {
            if let Ok(size) = variable.add(&Polynomial::constant(nearer)) {
                guesses.add(&size, COST_NEARER);
            }
        }
        for b in divisors(variable.content()) {
            let Some(base) = variable.exact_div(b) else { continue };
            let near = constant.div_euclid(b);
            let nearby = (1..=MAX_SCAN).flat_map(|a| [near - a, near + a]);
            for border in [near].into_iter().chain(nearby) {
                if let Ok(size) = base.add(&Polynomial::constant(border)) {
                    guesses.add(&size, COST_SCAN + (near - border).unsigned_abs() as u32);
                }
            }
        }
    }
    guesses.sizes
}

struct Guesses<'a> {
    sizes: Vec<(Polynomial, u32)>,
    /// What has to be divided.
    all: Vec<&'a Polynomial>,
}

impl Guesses<'_> {
    /// A counter that runs backwards shows the size with the wrong sign. Where all parameters have one sign that is seen at once; of
    /// `ma - mb + 1` and `mb - ma - 1` either may be meant, and which is positive where anything happens is found out by trying.
    fn add(&mut self, size: &Polynomial, cost: u32) {
        let size = positive(size);
        if size.degree() != 1 {
            return;
        }
        let has_negative = size.terms().any(|(monomial, c)| monomial.degree() > 0 && c < 0);
        let negated = if has_negative { size.scale(-1).ok() } else { None };
        for size in [Some(size), negated].into_iter().flatten() {
            match self.sizes.iter_mut().find(|(known, _)| *known == size) {
                Some((_, known)) => *known = (*known).min(cost),
                None => self.sizes.push((size, cost)),
            }
        }
    }

    /// The size, and multiples of it by divisors of `content`. The larger an inner size the weaker is the condition on its
    /// subscripts, so the greatest multiple that goes into everything is the best if the size itself does not do.
    fn multiples(&mut self, size: &Polynomial, content: i128, cost: u32) {
        self.add(size, cost);
        let mut common = content;
        for polynomial in &self.all {
            if let Ok((quotient, _)) = divide(polynomial, size) {
                common = gcd(common, quotient.content());
            }
        }
        for multiple in divisors(content).into_iter().filter(|m| *m > 1) {
            let more = if multiple == common { COST_MULTIPLE } else { COST_OTHER_MULTIPLE };
            if let Ok(size) = size.scale(multiple) {
                self.add(&size, cost + more);
            }
        }
        if common > 1
            && let Ok(size) = size.scale(common)
        {
            self.add(&size, cost + COST_MULTIPLE);
        }
    }
}

/// 1, the number itself, and up to a few between; the useful extremes first.
fn divisors(number: i128) -> Vec<i128> {
    let mut all = vec![1];
    if number > 1 {
        all.push(number);
        all.extend((2..number.min(13)).filter(|d| number % d == 0));
    }
    all.truncate(6);
    all
}

/// More different constant strides than this say nothing about a shape.
const MAX_CONSTANT_STRIDES: usize = 6;
/// More constant shapes are not tried.
const MAX_CONSTANT_CHAINS: usize = 24;

/// Shapes with constant sizes, for offsets that are affine: those with strides that occur first, then those with more dimensions.
pub fn constant_chains(accesses: &[&Linear]) -> Vec<Chain> {
    let mut seen: BTreeSet<i128> = BTreeSet::new();
    for (_, cells) in accesses.iter().flat_map(|a| &a.pieces) {
        seen.extend(cells.terms().filter(|(m, _)| m.degree() > 0).map(|(_, c)| c.saturating_abs()));
    }
    seen.retain(|s| *s > 1);
    if seen.is_empty() || seen.len() > MAX_CONSTANT_STRIDES {
        return Vec::new();
    }
    // A loop of step 2 shows twice the stride of its dimension; a second one of step 3 reveals it as the common divisor.
    let known: Vec<i128> = seen.iter().copied().collect();
    for a in &known {
        for b in &known {
            let divisor = gcd(*a, *b);
            if divisor > 1 {
                seen.insert(divisor);
            }
            // The diagonal A[i][i] shows the stride plus one.
            if (a - b).abs() > 1 && *a > *b && a - b != *b {
                seen.insert(a - b);
            }
        }
    }
    // A lone diagonal, or its mirror image.
    if let [only] = known.as_slice() {
        seen.extend([only - 1, only + 1].into_iter().filter(|s| *s > 1));
    }
    let all: Vec<i128> = seen.into_iter().rev().take(10).collect();
    let mut lists = vec![Vec::new()];
    for stride in all {
        for k in 0..lists.len() {
            let list: &Vec<i128> = &lists[k];
            if list.last().is_none_or(|last| last % stride == 0) {
                let mut longer = list.clone();
                longer.push(stride);
                lists.push(longer);
            }
        }
    }
    lists.retain(|c| !c.is_empty());
    // Strides that really occur are more likely than computed ones; among those, more dimensions are better.
    let computed = |list: &Vec<i128>| list.iter().filter(|s| !known.contains(s)).count();
    lists.sort_by_key(|c| (computed(c), std::cmp::Reverse(c.len()), c.clone()));
    lists.truncate(MAX_CONSTANT_CHAINS);
    lists.iter().map(|list| constant_chain(list)).collect()
}

fn constant_chain(strides: &[i128]) -> Chain {
    let size = |k: usize| strides[k] / strides.get(k + 1).copied().unwrap_or(1);
    Chain {
        sizes: (0..strides.len()).map(|k| Polynomial::constant(size(k))).collect(),
        strides: strides.iter().map(|s| Polynomial::constant(*s)).collect(),
        cost: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::polynomial;
    use super::*;

    fn shapes(strides: &[&str]) -> Vec<String> {
        let strides: Vec<Polynomial> = strides.iter().map(|s| polynomial(s)).collect();
        let show = |c: &Chain| c.sizes.iter().map(|s| format!("[{s}]")).collect::<String>();
        SplitOffsets { strides, rests: Vec::new() }.chains(0).iter().map(show).collect()
    }

    #[test]
    fn each_stride_divides_the_next() {
        assert_eq!(shapes(&["p0*p1", "p1", "1"]), ["[p0][p1]"]);
        assert_eq!(shapes(&["p0*p1 + 2*p0 + 2*p1 + 4", "p1 + 2", "1"]), ["[p0 + 2][p1 + 2]"]);
        assert_eq!(shapes(&["p0*p0*p0", "p0*p0", "p0", "1"]), ["[p0][p0][p0]"]);
    }

    #[test]
    fn a_product_without_a_stride_between_has_two_orders() {
        assert_eq!(shapes(&["p0*p1", "1"]), ["[p1][p0]", "[p0][p1]"]);
    }
}
