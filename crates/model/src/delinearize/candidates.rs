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
use crate::polynomial::{Monomial, Polynomial, Var, gcd};
use std::collections::{BTreeMap, BTreeSet};

/// Inner sizes, and the strides of all dimensions but the last, whose stride is 1; both outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub sizes: Vec<Polynomial>,
    pub strides: Vec<Polynomial>,
    /// How far-fetched it is.
    pub cost: u32,
}

/// More different strides than this say nothing about a shape.
const MAX_STRIDES: usize = 12;
/// More inner dimensions are not looked for.
const MAX_INNER: usize = 6;
/// More shapes are not considered.
const MAX_CHAINS: usize = 48;
/// More steps of the search are not made.
const MAX_STEPS: usize = 400;
/// Sizes up to this far from a stride are tried where sums of counters may hide the true one.
const MAX_SCAN: i128 = 3;

/// A multiple of what the strides have in common, the difference of two strides, and a number added by trial.
const COST_MULTIPLE: u32 = 1;
const COST_DIFFERENCE: u32 = 4;
const COST_SCAN: u32 = 6;

/// Shapes with parametric sizes in which all strides are integer combinations of the dimensions' strides; the most natural first.
pub fn parametric_chains(accesses: &[&Linear]) -> Vec<Chain> {
    let strides: Vec<Polynomial> = strides(accesses).into_iter().collect();
    if strides.len() > MAX_STRIDES || strides.iter().all(|s| s.degree() == 0) {
        return Vec::new();
    }
    let mut search = Search { strides: &strides, steps: 0, found: Vec::new() };
    search.extend(&mut Vec::new(), &mut vec![Polynomial::constant(1)], 0);
    let mut chains = search.found;
    chains.sort_by_key(|c| (c.cost, c.sizes.len()));
    let mut distinct: Vec<Chain> = Vec::new();
    for chain in chains {
        if !distinct.iter().any(|c| c.sizes == chain.sizes) {
            distinct.push(chain);
        }
    }
    distinct.truncate(MAX_CHAINS);
    distinct
}

/// What counters, and parameters that are no sizes, are multiplied with; leading coefficients positive.
fn strides(accesses: &[&Linear]) -> BTreeSet<Polynomial> {
    let mut found = BTreeSet::new();
    let mut invariant = Vec::new();
    for (_, cells) in accesses.iter().flat_map(|a| &a.pieces) {
        for (counters, stride) in cells.by_counters() {
            if counters == Monomial::one() {
                invariant.push(stride);
            } else {
                found.insert(positive(&stride));
            }
        }
    }
    let sizes: BTreeSet<Var> = found.iter().flat_map(Polynomial::vars).collect();
    for part in &invariant {
        let mut by_index: BTreeMap<Var, Polynomial> = BTreeMap::new();
        for (monomial, c) in part.terms() {
            let index: Vec<Var> = monomial.factors().iter().map(|(v, _)| *v).filter(|v| !sizes.contains(v)).collect();
            let rest = |var: &Var| monomial.over(&Monomial::var(*var)).expect("a factor of it");
            match index.as_slice() {
                [] => {}
                [only] if monomial.exponent(*only) == 1 => {
                    let stride = by_index.entry(*only).or_default();
                    if let Ok(sum) = stride.add(&Polynomial::term(rest(only), c)) {
                        *stride = sum;
                    }
                }
                // No counter tells which of them is a size.
                several => found.extend(several.iter().map(|var| Polynomial::term(rest(var), c.saturating_abs()))),
            }
        }
        found.extend(by_index.values().map(positive));
    }
    // Without any counter beside a parameter, a product of sizes alone.
    if found.iter().all(|s| s.degree() == 0) {
        for (monomial, c) in invariant.iter().flat_map(Polynomial::terms).filter(|(m, _)| m.degree() > 1) {
            for (var, _) in monomial.factors() {
                let rest = monomial.over(&Monomial::var(*var)).expect("a factor of it");
                found.insert(Polynomial::term(rest, c.saturating_abs()));
            }
        }
    }
    found.remove(&Polynomial::zero());
    found
}

struct Search<'a> {
    strides: &'a [Polynomial],
    steps: usize,
    found: Vec<Chain>,
}

impl Search<'_> {
    /// `sizes` are innermost first; `products[j]` is the product of the first j of them.
    fn extend(&mut self, sizes: &mut Vec<Polynomial>, products: &mut Vec<Polynomial>, cost: u32) {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.found.len() >= 4 * MAX_CHAINS {
            return;
        }
        let Some(quotients) = self.quotients(products) else { return };
        if quotients.iter().all(|q| q.degree() == 0) {
            let strides = products[1..].iter().rev().cloned().collect();
            self.found.push(Chain { sizes: sizes.iter().rev().cloned().collect(), strides, cost });
            return;
        }
        if sizes.len() == MAX_INNER {
            return;
        }
        for (size, more) in next_sizes(&quotients) {
            let Ok(product) = products.last().expect("never empty").mul(&size) else { continue };
            sizes.push(size);
            products.push(product);
            self.extend(sizes, products, cost + more);
            sizes.pop();
            products.pop();
        }
    }

    /// Of all strides by the last product, if what they leave is made of the smaller products.
    fn quotients(&self, products: &[Polynomial]) -> Option<Vec<Polynomial>> {
        let (last, smaller) = products.split_last()?;
        let mut quotients = Vec::new();
        for stride in self.strides {
            let (quotient, mut rest) = divide(stride, last).ok()?;
            for product in smaller.iter().rev() {
                let (times, left) = divide(&rest, product).ok()?;
                if times.degree() > 0 {
                    return None;
                }
                rest = left;
            }
            if !rest.is_zero() {
                return None;
            }
            quotients.push(quotient);
        }
        Some(quotients)
    }
}

/// Guesses for the next size outwards, each with what it costs to believe it.
fn next_sizes(quotients: &[Polynomial]) -> Vec<(Polynomial, u32)> {
    let mut guesses: Vec<(Polynomial, u32)> = Vec::new();
    let mut guess = |size: Polynomial, cost: u32| {
        let size = positive(&size);
        if size.degree() != 1 {
            return;
        }
        match guesses.iter_mut().find(|(known, _)| *known == size) {
            Some((_, known)) => *known = (*known).min(cost),
            None => guesses.push((size, cost)),
        }
    };
    let affine: Vec<&Polynomial> = quotients.iter().filter(|q| q.degree() == 1).collect();
    let multiples = |size: &Polynomial, content: i128, guess: &mut dyn FnMut(Polynomial, u32)| {
        for (k, factor) in divisors(content).into_iter().enumerate() {
            if let Ok(multiple) = size.scale(factor) {
                guess(multiple, COST_MULTIPLE * u32::from(k > 0));
            }
        }
    };
    if affine.is_empty() {
        // Dimensions without a counter of their own: the sizes show only as a product.
        let least = quotients.iter().map(Polynomial::degree).filter(|d| *d > 0).min();
        for product in quotients.iter().filter(|q| Some(q.degree()) == least) {
            for factor in affine_factors(product, &[]) {
                multiples(&factor, product.content(), &mut guess);
            }
        }
        return guesses;
    }
    for q in &affine {
        multiples(&primitive(q), q.content(), &mut guess);
    }
    for (k, a) in affine.iter().enumerate() {
        for b in &affine[..k] {
            // The diagonal A[i][i] shows the stride plus one.
            if let Ok(difference) = a.sub(b) {
                guess(primitive(&difference), COST_DIFFERENCE);
            }
        }
    }
    for q in &affine {
        // Every counter of the outer dimension may be in the inner one too: q = b·size + a.
        let variable = q.sub(&Polynomial::constant(q.constant_term())).unwrap_or_default();
        let b = variable.content();
        let near = q.constant_term().div_euclid(b.max(1));
        for a in -MAX_SCAN..=MAX_SCAN {
            if let Ok(size) = primitive(&variable).add(&Polynomial::constant(near + a)) {
                guess(size, COST_SCAN + a.unsigned_abs() as u32);
            }
            if b > 1
                && a != 0
                && let Ok(size) = q.add(&Polynomial::constant(a))
            {
                guess(size, COST_SCAN + 1 + a.unsigned_abs() as u32);
            }
        }
        guess(primitive(&variable), COST_SCAN + 2);
    }
    guesses
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
        let mut search = Search { strides: &strides, steps: 0, found: Vec::new() };
        search.extend(&mut Vec::new(), &mut vec![Polynomial::constant(1)], 0);
        let show = |c: &Chain| c.sizes.iter().map(|s| format!("[{s}]")).collect::<String>();
        search.found.iter().filter(|c| c.cost == 0).map(show).collect()
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
