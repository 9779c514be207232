//! Tests that polynomials are not negative, whatever the instance.
//!
//! Counters count from 0, so a product of counters is least where all of them are least, and greatest where all are greatest. A
//! polynomial is a sum of such products, each with a factor of parameters: the sum of the least that each can be, in the box around
//! the instances, is no more than any of its values. It is all of them where the instances are a box and no counter is in two
//! products with factors of different signs.

use super::extent::{End, Extents, Unchecked, product, sum};
use crate::assume::Bound;
use crate::loop_ast::{BinaryOp, Expr, Ranges, expr_from_set};
use crate::polynomial::{Monomial, Polynomial, Var};
use crate::scop::Scop;
use crate::source::Line;
use isl::{IslError, PwAff, Set, Space};

/// Which numbers a factor can be.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    NeverNegative,
    NeverPositive,
    Any,
}

/// Ensures: where the parameters are in `known` and the test holds, the polynomial is not negative in any of the instances. Nothing if
/// that is known.
pub(super) fn test_of(scop: &Scop, known: &Set, bound: &Bound) -> Result<Option<Expr>, Unchecked> {
    let domain = bound.domain.intersect_params(known)?.coalesce()?;
    if domain.is_empty()? {
        return Ok(None);
    }
    let some = domain.params()?.coalesce()?;
    let unknown = || Unchecked::Unknown { line: Line::UNKNOWN };
    let extents = Extents::new(scop, known)?;
    let ranges = Ranges::of_params(&super::build::known_params(scop, &some)?);
    // Is `less <= more + constant`?
    let constant = bound.polynomial.constant_term();
    let (mut less, mut more) = (Expr::Int(0), Expr::Int(0));
    for (counters, stride) in bound.polynomial.by_counters() {
        if counters == Monomial::one() {
            let Ok(stride) = stride.sub(&Polynomial::constant(constant)) else { return Err(unknown()) };
            (more, less) = (sum(more, terms(&stride, true)), sum(less, terms(&stride, false)));
            continue;
        }
        let (mut low, mut high) = (Expr::Int(1), Expr::Int(1));
        for &(var, exponent) in counters.factors() {
            let Var::Counter(d) = var else { unreachable!("split from the parameters") };
            let counts_from_0 = domain.dim_min_val(d as usize)?.to_i128().is_some_and(|least| least >= 0);
            let cells = std::slice::from_ref(&domain);
            let least = extents.bound(cells, d as usize, End::Low, &some)?;
            let greatest = extents.bound(cells, d as usize, End::High, &some)?;
            let (Some(least), Some(greatest), true) = (least, greatest, counts_from_0) else {
                return Err(unknown());
            };
            for _ in 0..exponent {
                (low, high) = (product(low, least.clone()), product(high, greatest.clone()));
            }
        }
        match sign_of(&stride, &some, &ranges)? {
            Sign::NeverNegative => more = sum(more, product(expression(&stride), low)),
            Sign::NeverPositive => {
                let amount = stride.scale(-1).map_err(|_| unknown())?;
                less = sum(less, product(expression(&amount), high));
            }
            Sign::Any => {
                let stride = expression(&stride);
                let (a, b) = (product(stride.clone(), low), product(stride, high));
                more = sum(more, Expr::binary(BinaryOp::Min, a, b));
            }
        }
    }
    let difference = Expr::binary(BinaryOp::Sub, sum(more.clone(), Expr::Int(constant)), less.clone());
    if difference.interval(&ranges).is_some_and(|(least, _)| least >= 0) {
        return Ok(None);
    }
    let test = match constant {
        -1 => Expr::binary(BinaryOp::Lt, less, more),
        c if c < 0 => Expr::binary(BinaryOp::Le, sum(less, Expr::Int(-c)), more),
        c => Expr::binary(BinaryOp::Le, less, sum(more, Expr::Int(c))),
    };
    if known.is_subset(&some)? {
        return Ok(Some(test));
    }
    // Elsewhere there is no instance.
    let exists = expr_from_set(&some.gist(known)?.coalesce()?, known)?;
    let otherwise = Box::new(Expr::truth(true));
    Ok(Some(Expr::Select { condition: Box::new(exists), then: Box::new(test), otherwise }))
}

/// Is the second known to hold where the first one does? It does if nothing that is added to the first is ever negative.
pub(super) fn implies(scop: &Scop, known: &Set, first: &Bound, second: &Bound) -> Result<bool, Unchecked> {
    if !second.domain.plain_is_equal(&first.domain)? {
        return Ok(false);
    }
    let Ok(difference) = second.polynomial.sub(&first.polynomial) else { return Ok(false) };
    Ok(test_of(scop, known, &Bound { polynomial: difference, ..second.clone() })?.is_none())
}

fn sign_of(stride: &Polynomial, some: &Set, ranges: &Ranges) -> Result<Sign, IslError> {
    if let Some(aff) = stride.to_aff(&Space::params_alloc(some.ctx(), 0)?)? {
        let function = PwAff::from_aff(&aff)?;
        let zero = function.sub(&function)?;
        if function.lt_set(&zero)?.intersect(some)?.is_empty()? {
            return Ok(Sign::NeverNegative);
        }
        let positive = function.gt_set(&zero)?.intersect(some)?.is_empty()?;
        return Ok(if positive { Sign::NeverPositive } else { Sign::Any });
    }
    Ok(match expression(stride).interval(ranges) {
        Some((least, _)) if least >= 0 => Sign::NeverNegative,
        Some((_, greatest)) if greatest <= 0 => Sign::NeverPositive,
        _ => Sign::Any,
    })
}

fn expression(polynomial: &Polynomial) -> Expr {
    match (terms(polynomial, true), terms(polynomial, false)) {
        (plus, Expr::Int(0)) => plus,
        (plus, minus) => Expr::binary(BinaryOp::Sub, plus, minus),
    }
}

/// The sum of the terms with positive coefficients, or of the others without their sign.
fn terms(polynomial: &Polynomial, positive: bool) -> Expr {
    let all = polynomial.terms().filter(|(_, c)| (*c > 0) == positive);
    let one = |(monomial, c): (&Monomial, i128)| {
        let factors = monomial.factors().iter().flat_map(|&(var, exponent)| {
            let Var::Param(id) = var else { unreachable!("split from the counters") };
            std::iter::repeat_n(Expr::Param(id), exponent as usize)
        });
        factors.fold(Expr::Int(c.abs()), product)
    };
    all.map(one).fold(Expr::Int(0), sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::names::Names;
    use crate::scop::ParamId;
    use std::collections::HashMap;

    /// `2*p0*i1 - 3`
    fn polynomial(text: &str) -> Polynomial {
        text.replace("- ", "+ -").split('+').fold(Polynomial::zero(), |all, term| {
            let (sign, term) = term.trim().strip_prefix('-').map_or((1, term.trim()), |term| (-1, term));
            let factor = |factor: &str| match factor.split_at(1) {
                ("i", d) => Polynomial::counter(d.parse().unwrap()),
                ("p", p) => Polynomial::param(ParamId(p.parse().unwrap())),
                _ => Polynomial::constant(factor.parse().unwrap()),
            };
            let product = term.split('*').map(factor).fold(Polynomial::constant(sign), |a, b| a.mul(&b).unwrap());
            all.add(&product).unwrap()
        })
    }

    fn bound(scop: &Scop, domain: &str, text: &str) -> Bound {
        let domain = Set::read_from_str(&scop.ctx, domain).unwrap();
        Bound { domain, polynomial: polynomial(text), counters: Vec::new() }
    }

    const BOX: &str = "[p0, p1, p2] -> { [i, j] : 0 <= i < p0 and 0 <= j < p1 }";
    const TRIANGLE: &str = "[p0, p1, p2] -> { [i, j] : 1 <= i < p0 and 0 <= j < i }";

    /// (instances, what is not to be negative, the test)
    #[test]
    fn tests_are_those_of_the_extreme_instances() {
        let table = [
            (BOX, "p2 - p1*i0 - i1 - 1", "p1 * (p0 - 1) + (p1 - 1) < p2"),
            // The sign of the stride is not known.
            (BOX, "p2*i0 + i1", "p2"),
            (BOX, "p1*i0 + i1", "nothing"),
            (BOX, "p1*i0 - p1*p0 + p1", "p0 * p1 <= p1"),
            (TRIANGLE, "p2 - i0*i0 - i1", "(p0 - 1) * (p0 - 1) + (p0 - 2) <= p2"),
            (TRIANGLE, "p2*i0*i1 - 5*i0", "5 * (p0 - 1) <= min(0, p2 * ((p0 - 1) * (p0 - 2)))"),
            ("[p0, p1, p2] -> { [i, j] : 0 <= i < p0 and p0 < i }", "0 - 1*i0*p1 - 1", "nothing"),
        ];
        let sketch = "context 2 <= p0 <= 50 and 1 <= p1 <= 50 and -50 <= p2 <= 50
                      for i : 0 <= i < p0
                        write A0[i]";
        let scop = test_scop(sketch);
        let names = Names::of(&scop);
        for (domain, text, expected) in table {
            let test = test_of(&scop, &scop.context, &bound(&scop, domain, text)).ok().unwrap();
            let found = test.map_or("nothing".into(), |test| names.expr(&test));
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    /// Where the test holds no instance is negative; and where none is the test holds, if the instances are a box and no counter has
    /// two factors.
    #[test]
    fn tests_hold_for_no_parameters_at_which_an_instance_is_negative() {
        let table = [
            (BOX, "p2 - p1*i0 - i1 - 1", true),
            (BOX, "p2*i0 + i1 - 1", true),
            (BOX, "p2*i0 - p1*i1 + 7", true),
            (BOX, "p2*i0*i1 - p1*i1 + 7", false),
            (BOX, "p0*p1*p2 - i0*i1 - 3", true),
            (TRIANGLE, "p2*i0 - p2*i1", false),
            (TRIANGLE, "20 - p2*i0*i0 + i1*p1", false),
        ];
        let sketch = "context -3 <= p0 <= 4 and -3 <= p1 <= 4 and -9 <= p2 <= 9
                      for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          write A0[i, p2]";
        let scop = test_scop(sketch);
        for (domain, text, exact) in table {
            let bound = bound(&scop, domain, text);
            let test = test_of(&scop, &scop.context, &bound).ok().unwrap().expect("not known");
            for p in (-3..=4).flat_map(|a| (-3..=4).flat_map(move |b| (-9..=9).map(move |c| [a, b, c]))) {
                let holds = test.evaluate(&p, &HashMap::new()).unwrap() != 0;
                let mut negative = false;
                for (i, j) in (0..4i128).flat_map(|i| (0..4i128).map(move |j| (i, j))) {
                    let runs = if domain == BOX { i < p[0] && j < p[1] } else { 1 <= i && i < p[0] && j < i };
                    let value = bound.polynomial.at(|var| match var {
                        Var::Counter(0) => i,
                        Var::Counter(_) => j,
                        Var::Param(id) => p[id.index()],
                    });
                    negative |= runs && value.unwrap() < 0;
                }
                assert!(!(holds && negative), "{text} at {p:?}");
                assert!(!exact || holds != negative, "{text} at {p:?}");
            }
        }
    }

    #[test]
    fn a_bound_implies_those_that_ask_for_less() {
        let sketch = "context 1 <= p0 <= 50 and 1 <= p1 <= 50 and -50 <= p2 <= 50
                      for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          write A0[i, p2]";
        let scop = test_scop(sketch);
        let implies = |a: &str, b: &str| {
            implies(&scop, &scop.context, &bound(&scop, BOX, a), &bound(&scop, BOX, b)).ok().unwrap()
        };
        assert!(implies("p2 - p1*i0 - i1 - p1", "p2 - p1*i0 - i1"));
        assert!(!implies("p2 - p1*i0 - i1", "p2 - p1*i0 - i1 - p1"));
        assert!(!implies("p2 - p1*i0 - i1", "p2 - p1*i0 - i1 + p2"));
    }
}
