//! Dividing polynomials by polynomials in the parameters, and finding affine factors.

pub use crate::polynomial::divide;
use crate::polynomial::{Polynomial, TooLarge, Var};

/// With a positive leading coefficient: strides of loops that run backwards are strides.
pub fn positive(polynomial: &Polynomial) -> Polynomial {
    match polynomial.leading() {
        Some((_, c)) if c < 0 => polynomial.scale(-1).unwrap_or_else(|TooLarge| polynomial.clone()),
        _ => polynomial.clone(),
    }
}

/// The polynomial divided by the greatest number that divides it.
pub fn primitive(polynomial: &Polynomial) -> Polynomial {
    polynomial.exact_div(polynomial.content().max(1)).unwrap_or_else(|| polynomial.clone())
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
    let scale = product.leading().map_or(1, |(_, c)| c);
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
