//! Quotients of sums of products.

use super::atom::{Atom, Sign, Symbol};
use super::order::Facts;
use super::whole::cancel_powers;
use super::{Product, Sum, TooLarge, Whole};
use num_integer::gcd;
use std::collections::BTreeMap;

/// `dividend = quotient · divisor + remainder`, by the divisor's leading product; coefficients are rounded to the nearest.
///
/// Let m be the leading product of the divisor in the graded order. Subtracting a multiple of the divisor that cancels a
/// monomial μ·m changes only monomials below μ·m, because the order respects products. So every monomial is settled once, in
/// descending order, and the loop ends. The remainder is unique if the leading coefficient is 1.
pub fn divide<V: Clone + Ord>(dividend: &Sum<V>, divisor: &Sum<V>) -> Result<(Sum<V>, Sum<V>), TooLarge> {
    let Some((lead, c)) = divisor.leading() else { return Ok((Sum::zero(), dividend.clone())) };
    if divisor.as_constant() == Some(1) {
        return Ok((dividend.clone(), Sum::zero()));
    }
    if !dividend.terms().any(|(m, _)| m.over(lead).is_some()) {
        return Ok((Sum::zero(), dividend.clone()));
    }
    let (lead, mut rest) = (lead.clone(), dividend.clone());
    let (mut quotient, mut remainder) = (Sum::zero(), Sum::zero());
    while let Some((monomial, x)) = rest.leading() {
        let monomial = monomial.clone();
        if let Some(over) = monomial.over(&lead) {
            let n = nearest(x, c);
            if n != 0 {
                let part = Sum::term(over, n);
                rest = rest.sub(&part.mul(divisor)?)?;
                quotient = quotient.add(&part)?;
            }
        }
        let left = Sum::term(monomial.clone(), rest.coefficient(&monomial));
        rest = rest.sub(&left)?;
        remainder = remainder.add(&left)?;
    }
    Ok((quotient, remainder))
}

/// The integer nearest to the quotient.
fn nearest(value: i128, divisor: i128) -> i128 {
    // Halves go down: a coefficient of half a row stays in the row.
    let (value, divisor) = if divisor < 0 { (value.saturating_neg(), -divisor) } else { (value, divisor) };
    value.saturating_add((divisor - 1) / 2).div_euclid(divisor)
}

/// Quotients of more terms are not looked for.
const MAX_STEPS: usize = 64;

impl Whole {
    /// `self / divisor`, if that is an integer wherever the facts hold and the divisor is not 0.
    pub fn exact_quotient(&self, divisor: &Whole, facts: &Facts) -> Option<Whole> {
        if self.is_zero() {
            return Some(Whole::zero());
        }
        if divisor.is_one() {
            return Some(self.clone());
        }
        if let (1, Some(number)) = (self.by(), divisor.as_constant().filter(|n| *n > 0))
            && let Some(quotient) = self.over().exact_div(number)
        {
            return Whole::quotient(quotient, 1).ok();
        }
        // Powers of two that are in all terms of the divisor are taken out of both.
        let common = least_exponents(divisor.over());
        let below = times_powers(divisor.over(), &common, -1).ok()?;
        let above = times_powers(self.over(), &common, -1).ok()?;
        let mut lowest = least_exponents(&above);
        lowest.retain(|_, e| *e < 0);
        let above = times_powers(&above, &lowest, -1).ok()?;
        let (quotient, scale) = exact(&above, &below)?;
        let quotient = times_powers(&quotient, &lowest, 1).ok()?.scale(divisor.by()).ok()?;
        whole_where(quotient, scale.checked_mul(self.by())?, facts)
    }

    /// A quotient to start with where there is a remainder: exact for numbers, and the one of the largest terms otherwise.
    pub fn rough_quotient(&self, divisor: &Whole) -> Option<Whole> {
        if let (Some(x), Some(d)) = (self.as_constant(), divisor.as_constant()) {
            return (d > 0).then(|| Whole::constant(x.div_euclid(d)));
        }
        let above = self.over().scale(divisor.by()).ok()?;
        let below = divisor.over().scale(self.by()).ok()?;
        let (quotient, _) = divide(&above, &below).ok()?;
        Whole::fraction(quotient, 1)
    }
}

/// By which power of 2, in each symbol, all terms can be divided; negative where one has an inverse.
fn least_exponents(sum: &Sum<Atom>) -> BTreeMap<Symbol, i64> {
    let exponents = |product: &Product<Atom>| {
        let mut all: BTreeMap<Symbol, i64> = BTreeMap::new();
        for (atom, times) in product.factors() {
            match atom {
                Atom::Power(symbol, Sign::Plus) => *all.entry(*symbol).or_default() += i64::from(*times),
                Atom::Power(symbol, Sign::Minus) => *all.entry(*symbol).or_default() -= i64::from(*times),
                _ => {}
            }
        }
        all
    };
    let each: Vec<BTreeMap<Symbol, i64>> = sum.terms().map(|(product, _)| exponents(product)).collect();
    let symbols: Vec<Symbol> = each.iter().flat_map(|e| e.keys().copied()).collect();
    let least = |symbol: &Symbol| each.iter().map(|e| e.get(symbol).copied().unwrap_or(0)).min().unwrap_or(0);
    symbols.into_iter().map(|symbol| (symbol, least(&symbol))).filter(|(_, e)| *e != 0).collect()
}

/// The sum times these powers of two, to the power of `sign`.
fn times_powers(sum: &Sum<Atom>, powers: &BTreeMap<Symbol, i64>, sign: i64) -> Result<Sum<Atom>, TooLarge> {
    if powers.is_empty() {
        return Ok(sum.clone());
    }
    let factors = powers.iter().map(|(symbol, exponent)| {
        let exponent = exponent * sign;
        let way = if exponent < 0 { Sign::Minus } else { Sign::Plus };
        (Atom::Power(*symbol, way), exponent.unsigned_abs() as u32)
    });
    let factors: BTreeMap<Atom, u32> = factors.collect();
    cancel_powers(sum.mul(&Sum::term(Product(factors.into_iter().collect()), 1))?)
}

/// A quotient and a number with `above · number = quotient · below`, if there is one.
///
/// The leading terms are divided as in [`divide`], and all is multiplied by what their coefficients lack.
fn exact(above: &Sum<Atom>, below: &Sum<Atom>) -> Option<(Sum<Atom>, i128)> {
    let (lead, c) = below.leading()?;
    let (mut rest, mut quotient, mut scale) = (above.clone(), Sum::zero(), 1i128);
    for _ in 0..MAX_STEPS {
        let Some((product, x)) = rest.leading() else { return Some((quotient, scale)) };
        let over = product.over(lead)?;
        let lacks = (c / gcd(c, x)).checked_abs()?;
        let part = Sum::term(over, x.checked_mul(lacks)? / c);
        if lacks != 1 {
            rest = rest.scale(lacks).ok()?;
            quotient = quotient.scale(lacks).ok()?;
            scale = scale.checked_mul(lacks)?;
        }
        rest = rest.sub(&part.mul(below).ok()?).ok()?;
        quotient = quotient.add(&part).ok()?;
    }
    None
}

/// `over / by`, if it is an integer wherever the facts hold.
fn whole_where(over: Sum<Atom>, by: i128, facts: &Facts) -> Option<Whole> {
    let has_power = |product: &Product<Atom>| product.factors().iter().any(|(a, _)| matches!(a, Atom::Power(..)));
    if !over.terms().any(|(product, _)| has_power(product)) {
        return Whole::fraction(over, by);
    }
    let divisor = gcd(over.content(), by);
    let (over, by) = (over.exact_div(divisor)?, by / divisor);
    // Each term with a power by itself, all others together.
    let mut rest = Sum::zero();
    for (product, c) in over.terms() {
        if !has_power(product) {
            rest.accumulate(product.clone(), c).ok()?;
            continue;
        }
        let lacks = by / gcd(by, c);
        if lacks.count_ones() != 1 {
            return None;
        }
        // 2^e with e at least as great as the number of twos that it must bring, and not negative.
        let mut exponent = Whole::constant(-i128::from(lacks.trailing_zeros()));
        for (atom, times) in product.factors() {
            let Atom::Power(symbol, sign) = atom else { continue };
            let times = if *sign == Sign::Plus { i128::from(*times) } else { -i128::from(*times) };
            exponent = exponent.add(&Whole::symbol(*symbol).scale(times).ok()?).ok()?;
        }
        if !facts.proves_not_negative(&exponent) {
            return None;
        }
    }
    Whole::fraction(rest, by)?;
    Whole::quotient(over, by).ok()
}
