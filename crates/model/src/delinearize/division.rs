//! Dividing polynomials by polynomials in the parameters, and finding affine factors.

use crate::polynomial::{Monomial, Polynomial, TooLarge, Var};
use std::cmp::Ordering;

/// `dividend = quotient · divisor + remainder`, by the divisor's leading monomial; coefficients are rounded to the nearest.
///
/// Let m be the leading monomial of the divisor in the graded order. Subtracting a multiple of the divisor that cancels a
/// monomial μ·m changes only monomials below μ·m, because the order respects products. So every monomial is settled once, in
/// descending order, and the loop ends. The remainder is unique if the leading coefficient is 1.
pub fn divide(dividend: &Polynomial, divisor: &Polynomial) -> Result<(Polynomial, Polynomial), TooLarge> {
    let Some((lead, c)) = leading(divisor) else { return Ok((Polynomial::zero(), dividend.clone())) };
    if divisor.as_constant() == Some(1) {
        return Ok((dividend.clone(), Polynomial::zero()));
    }
    if !dividend.terms().any(|(m, _)| m.over(lead).is_some()) {
        return Ok((Polynomial::zero(), dividend.clone()));
    }
    let (lead, mut rest) = (lead.clone(), dividend.clone());
    let (mut quotient, mut remainder) = (Polynomial::zero(), Polynomial::zero());
    while let Some((monomial, x)) = leading(&rest) {
        let monomial = monomial.clone();
        if let Some(over) = monomial.over(&lead) {
            let n = nearest(x, c);
            if n != 0 {
                let part = Polynomial::term(over, n);
                rest = rest.sub(&part.mul(divisor)?)?;
                quotient = quotient.add(&part)?;
            }
        }
        let left = Polynomial::term(monomial.clone(), rest.coefficient(&monomial));
        rest = rest.sub(&left)?;
        remainder = remainder.add(&left)?;
    }
    Ok((quotient, remainder))
}

/// The greatest monomial by degree, then by the exponents of the variables in turn.
fn leading(polynomial: &Polynomial) -> Option<(&Monomial, i128)> {
    polynomial.terms().max_by(|(a, _), (b, _)| graded(a, b))
}

/// Graded lexicographic: it respects products, unlike the order of the list of factors.
fn graded(a: &Monomial, b: &Monomial) -> Ordering {
    let by_exponents = || {
        let (mut a, mut b) = (a.factors().iter(), b.factors().iter());
        loop {
            match (a.next(), b.next()) {
                (None, None) => return Ordering::Equal,
                (Some(_), None) => return Ordering::Greater,
                (None, Some(_)) => return Ordering::Less,
                // The smaller variable has the greater weight: whoever contains it is greater.
                (Some((x, e)), Some((y, f))) => match y.cmp(x).then(e.cmp(f)) {
                    Ordering::Equal => {}
                    decided => return decided,
                },
            }
        }
    };
    a.degree().cmp(&b.degree()).then_with(by_exponents)
}

/// With a positive leading coefficient: strides of loops that run backwards are strides.
pub fn positive(polynomial: &Polynomial) -> Polynomial {
    match leading(polynomial) {
        Some((_, c)) if c < 0 => polynomial.scale(-1).unwrap_or_else(|TooLarge| polynomial.clone()),
        _ => polynomial.clone(),
    }
}

/// The polynomial divided by the greatest number that divides it.
pub fn primitive(polynomial: &Polynomial) -> Polynomial {
    polynomial.exact_div(polynomial.content().max(1)).unwrap_or_else(|| polynomial.clone())
}

/// The integer nearest to the quotient.
fn nearest(value: i128, divisor: i128) -> i128 {
    // Halves go down: a coefficient of half a row stays in the row.
    let (value, divisor) = if divisor < 0 { (value.saturating_neg(), -divisor) } else { (value, divisor) };
    value.saturating_add((divisor - 1) / 2).div_euclid(divisor)
}

/// How far a border around the data is looked for when no coefficient tells its width.
const MAX_BORDER: i128 = 4;
/// A larger coefficient is not the width of a border.
const MAX_COEFFICIENT_BORDER: i128 = 64;

/// Primitive affine polynomials that divide `product` up to a remainder of the given degree, each with the content of its
/// cofactor: variables, a variable plus a small number or plus one of the coefficients of `product`, and affine cofactors.
pub fn affine_factors(product: &Polynomial, remainder_degree: u32) -> Vec<(Polynomial, i128)> {
    let mut vars: Vec<Var> =
        product.terms().filter(|(m, _)| m.degree() > 1).flat_map(|(m, _)| m.factors()).map(|f| f.0).collect();
    vars.sort();
    vars.dedup();
    let mut borders: Vec<i128> = (1..=MAX_BORDER).flat_map(|a| [a, -a]).collect();
    borders.insert(0, 0);
    let scale = leading(product).map_or(1, |(_, c)| c);
    for (_, c) in product.terms() {
        if c % scale == 0 && c.abs() <= MAX_COEFFICIENT_BORDER && !borders.contains(&(c / scale)) {
            borders.push(c / scale);
        }
    }
    let mut found: Vec<(Polynomial, i128)> = Vec::new();
    for border in borders {
        for var in &vars {
            let Ok(factor) = Polynomial::var(*var).add(&Polynomial::constant(border)) else { continue };
            let Ok((quotient, remainder)) = divide(product, &factor) else { continue };
            if quotient.is_zero() || remainder.degree() > remainder_degree {
                continue;
            }
            let content = quotient.content();
            let cofactor = primitive(&positive(&quotient));
            let both = [Some(factor), (cofactor.degree() == 1).then_some(cofactor)];
            for factor in both.into_iter().flatten() {
                if !found.iter().any(|(known, _)| *known == factor) {
                    found.push((factor, content));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::polynomial;
    use super::*;

    fn divide_exactly(dividend: &Polynomial, divisor: &Polynomial) -> Option<Polynomial> {
        let (quotient, remainder) = divide(dividend, divisor).unwrap();
        remainder.is_zero().then_some(quotient)
    }

    #[test]
    fn products_divide_by_their_factors() {
        let product = polynomial("p0*p1 + 2*p0 + 3*p1 + 6");
        assert_eq!(divide_exactly(&product, &polynomial("p1 + 2")), Some(polynomial("p0 + 3")));
        assert_eq!(divide_exactly(&product, &polynomial("p1 + 1")), None);
        let square = polynomial("p0*p0 + 2*p0*p1 + p1*p1");
        assert_eq!(divide_exactly(&square, &polynomial("p0 + p1")), Some(polynomial("p0 + p1")));
    }

    #[test]
    fn what_a_divisor_leaves_is_the_remainder() {
        let (quotient, remainder) = divide(&polynomial("p0*i0 + p0 - 1"), &polynomial("p0")).unwrap();
        assert_eq!((quotient.to_string(), remainder.to_string()), ("i0 + 1".into(), "-1".into()));
        let (quotient, remainder) = divide(&polynomial("3*p0 + i0"), &polynomial("2*p0")).unwrap();
        assert_eq!((quotient.to_string(), remainder.to_string()), ("1".into(), "i0 + p0".into()));
    }

    #[test]
    fn factors_are_found_with_their_borders() {
        let factors = affine_factors(&polynomial("p0*p1 + 2*p0 + 3*p1 + 6"), 0);
        assert_eq!(factors, [(polynomial("p1 + 2"), 1), (polynomial("p0 + 3"), 1)]);
        let sum = affine_factors(&polynomial("2*p0*p2 + 2*p1*p2"), 0);
        assert_eq!(sum, [(polynomial("p2"), 2), (polynomial("p0 + p1"), 2)]);
    }
}
