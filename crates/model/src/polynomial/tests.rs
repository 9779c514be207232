//! Wide polynomials: what they are, and what is proved of them.

use super::*;
use crate::loop_ast::Expr;
use std::collections::HashMap;

const N: Symbol = Symbol::Var(Var::Param(ParamId(0)));
const M: Symbol = Symbol::Var(Var::Param(ParamId(1)));
const I: Symbol = Symbol::Var(Var::Counter(0));
const J: Symbol = Symbol::Var(Var::Counter(1));

fn n() -> Whole {
    Whole::symbol(N)
}
fn m() -> Whole {
    Whole::symbol(M)
}
fn i() -> Whole {
    Whole::symbol(I)
}
fn j() -> Whole {
    Whole::symbol(J)
}
fn plus(a: &Whole, b: &Whole) -> Whole {
    a.add(b).unwrap()
}
fn times(a: &Whole, b: &Whole) -> Whole {
    a.mul(b).unwrap()
}
fn power(exponent: &Whole) -> Whole {
    exponent.power_of_two().unwrap()
}

/// A value for each of the four.
fn at(x: &Whole, values: [i128; 4]) -> Option<i128> {
    let all = [N, M, I, J];
    x.at(&|s| all.iter().position(|other| *other == s).map(|k| values[k]))
}

fn facts(known: &[Whole]) -> Facts {
    let mut facts = Facts::new();
    known.iter().for_each(|x| facts.know(x));
    facts
}

#[test]
fn halves_of_even_products_are_whole() {
    let triangle = i().plus(1).unwrap().choose(2).unwrap();
    assert_eq!(triangle.to_string(), "(i0*i0 + i0)/2");
    assert_eq!(at(&triangle, [0, 0, 7, 0]), Some(28));
    assert_eq!(at(&triangle, [0, 0, -4, 0]), Some(6));
    // From one row of a packed triangle to the next.
    assert_eq!(triangle.difference(I).unwrap().to_string(), "i0 + 1");
    assert_eq!(plus(&triangle, &triangle).to_string(), "i0*i0 + i0");
    assert_eq!(Whole::fraction(triangle.over().clone(), 2), Some(triangle.clone()));
    assert_eq!(Whole::fraction(triangle.over().clone(), 4), None);
    assert_eq!(Whole::fraction(n().over().clone(), 2), None);
}

#[test]
fn powers_multiply_by_adding_exponents() {
    // 2^(l − 1) · 2^(m − l) = 2^(m − 1), as the strides and counts of a Fourier transform
    let product = times(&power(&n().plus(-1).unwrap()), &power(&m().sub(&n()).unwrap()));
    assert_eq!(product, power(&m().plus(-1).unwrap()));
    assert_eq!(product.to_string(), "2^(p1 - 1)");
    assert_eq!(at(&product, [3, 5, 0, 0]), Some(16));
    assert_eq!(at(&power(&n()), [-1, 0, 0, 0]), None);
    assert_eq!(power(&i()).difference(I).unwrap(), power(&i()));
    assert_eq!(power(&n().plus(2).unwrap()).to_string(), "2^(p0 + 2)");
    assert_eq!(times(&n(), &n()).power_of_two(), Err(TooLarge));
}

#[test]
fn maxima_and_quotients_have_one_form() {
    let (a, b) = (n().maximum(&m()).unwrap(), m().maximum(&n()).unwrap());
    assert_eq!(a, b);
    assert_eq!(plus(&n().minimum(&m()).unwrap(), &a), plus(&n(), &m()));
    assert_eq!(n().plus(3).unwrap().maximum(&n()).unwrap(), n().plus(3).unwrap());
    let third = n().scale(7).unwrap().plus(5).unwrap().floor_div(3).unwrap();
    assert_eq!(third.to_string(), "2*p0 + floor((p0 + 2)/3) + 1");
    assert_eq!(third.floor_div(2).unwrap().show(&|_| "n".into()).matches("floor").count(), 2);
    for value in -9..9 {
        assert_eq!(at(&third, [value, 0, 0, 0]), Some((7 * value + 5).div_euclid(3)));
    }
}

#[test]
fn quotients_are_whole_or_none() {
    let triangle = i().plus(1).unwrap().choose(2).unwrap();
    let none = Facts::new();
    assert_eq!(times(&triangle, &n()).exact_quotient(&n(), &none), Some(triangle.clone()));
    assert_eq!(triangle.exact_quotient(&i(), &none), None);
    assert_eq!(n().scale(3).unwrap().exact_quotient(&Whole::constant(2), &none), None);
    // Half of 2^n is whole from n = 1 on.
    let (half, two) = (power(&n()), Whole::constant(2));
    assert_eq!(half.exact_quotient(&two, &none), None);
    assert_eq!(half.exact_quotient(&two, &facts(&[n().plus(-1).unwrap()])), Some(power(&n().plus(-1).unwrap())));
    let ratio = times(&power(&m()), &n()).exact_quotient(&power(&n()), &facts(&[m().sub(&n()).unwrap()]));
    assert_eq!(ratio, Some(times(&power(&m().sub(&n()).unwrap()), &n())));
}

#[test]
fn signs_follow_from_bounds_of_counters() {
    // 0 ≤ i ≤ n − 1, 0 ≤ j ≤ i: an element of a packed triangle is in front of its end.
    let known = facts(&[n().plus(-1).unwrap()]).and_counter(I, &n().plus(-1).unwrap()).and_counter(J, &i());
    let element = plus(&i().plus(1).unwrap().choose(2).unwrap(), &j());
    let end = n().plus(1).unwrap().choose(2).unwrap();
    assert!(known.less(&element, &end).is_proved());
    assert!(!known.less(&element.plus(1).unwrap(), &end).is_known());
    // n·i + j < n·m
    let known = facts(&[]).and_counter(I, &m().plus(-1).unwrap()).and_counter(J, &n().plus(-1).unwrap());
    let element = plus(&times(&n(), &i()), &j());
    assert!(known.less(&element, &times(&n(), &m())).is_proved());
    // i·(n − i) is least at one of its ends.
    let known = facts(&[]).and_counter(I, &n());
    assert!(known.not_negative(&times(&i(), &n().sub(&i()).unwrap())).is_proved());
    // 2^n > n is not tried by differences of both; 2^n ≥ 2^i is.
    assert!(known.not_negative(&power(&n()).sub(&power(&i())).unwrap()).is_proved());
    assert!(known.not_negative(&n().maximum(&i()).unwrap().sub(&n()).unwrap()).is_proved());
    let quotient = n().floor_div(3).unwrap();
    assert!(known.not_negative(&n().sub(&quotient.scale(3).unwrap()).unwrap()).is_proved());
}

#[test]
fn what_is_not_known_becomes_a_condition_of_the_parameters() {
    // n·i ≤ n·m for i ≤ 3: n = 0 or m ≥ 3, and nothing is known of n.
    let known = facts(&[n()]).and_counter(I, &Whole::constant(3));
    let Answer::Under(condition) = known.at_most_as(&times(&n(), &i()), &times(&n(), &m())) else { panic!() };
    let holds = |n: i128, m: i128| condition.evaluate(&[n, m], &HashMap::new()) == Some(1);
    assert!(holds(2, 3) && holds(0, 1) && !holds(2, 2));
    let mut counters = 0;
    condition.for_each(&mut |e| counters += usize::from(matches!(e, Expr::Counter(_))));
    assert_eq!(counters, 0);
    // What is never so is no condition.
    assert_eq!(known.not_negative(&n().neg().unwrap().plus(-1).unwrap()), Answer::Unknown);
}

#[test]
fn numbers_that_do_not_fit_are_an_error() {
    let huge = Whole::constant(i128::MAX);
    assert_eq!(huge.plus(1), Err(TooLarge));
    assert_eq!(times(&huge, &n()).scale(2), Err(TooLarge));
    assert_eq!(Whole::constant(200).power_of_two(), Err(TooLarge));
    assert_eq!(at(&times(&n(), &n()), [i128::MAX, 0, 0, 0]), None);
    let facts = facts(&[n()]);
    assert_eq!(facts.less(&huge, &huge.neg().unwrap()), Answer::Unknown);
}

/// SplitMix64.
struct Rng(u64);
impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
    fn whole(&mut self, depth: u32) -> Whole {
        let leaf = [n(), m(), i(), j(), Whole::constant(self.below(7) as i128 - 3)];
        let one = |rng: &mut Rng| if depth == 0 { leaf[rng.below(5) as usize].clone() } else { rng.whole(depth - 1) };
        let (a, b) = (one(self), one(self));
        let made = match self.below(9) {
            0..=2 => a.add(&b),
            3 => a.sub(&b),
            4 => a.mul(&b),
            5 => a.maximum(&b),
            6 => a.floor_div(1 + self.below(4) as i128),
            7 => a.choose(2),
            _ => i().add(&Whole::constant(2)).and_then(|x| x.power_of_two()).and_then(|x| x.mul(&b)),
        };
        made.unwrap_or(a)
    }
}

/// Values, proofs, conditions and quotients of random ones, against evaluation.
#[test]
fn whatever_is_said_of_random_ones_is_so_for_small_values() {
    let mut proofs = 0;
    for seed in 0..1500 {
        let mut rng = Rng(seed);
        let known = [n(), m().plus(-1).unwrap()];
        let facts = facts(&known).and_counter(I, &n()).and_counter(J, &[i(), m(), n()][rng.below(3) as usize]);
        let (x, y) = (rng.whole(1), rng.whole(2));
        let x_is = facts.not_negative(&x);
        let y_is = facts.not_negative(&y);
        let (most, least) = (facts.max(&x, &y).ok(), facts.min(&x, &y).ok());
        let quotient = x.mul(&y).ok().and_then(|product| product.exact_quotient(&y, &facts));
        let expr = y.to_expr();
        proofs += usize::from(x_is.is_known()) + usize::from(y_is.is_known());
        for n in 0..4 {
            for m in 1..4 {
                for i in 0..=n {
                    for j in 0..=4 {
                        let values = [n, m, i, j];
                        let value = |x: &Whole| at(x, values).expect("small");
                        let admitted = facts_hold(&facts, values);
                        if !admitted {
                            continue;
                        }
                        let holds = |answer: &Answer| match answer {
                            Answer::Proved => true,
                            Answer::Under(e) => e.evaluate(&[n, m], &HashMap::new()).is_some_and(|v| v != 0),
                            Answer::Unknown => false,
                        };
                        for (x, answer) in [(&x, &x_is), (&y, &y_is)] {
                            assert!(!holds(answer) || value(x) >= 0, "{x} at {values:?}: {answer:?}");
                        }
                        if let (Some(most), Some(least)) = (&most, &least) {
                            assert_eq!(value(most), value(&x).max(value(&y)), "{most} of {x} and {y} at {values:?}");
                            assert_eq!(value(least), value(&x).min(value(&y)), "{least} of {x} and {y} at {values:?}");
                        }
                        if let Some(quotient) = &quotient {
                            assert_eq!(value(quotient) * value(&y), value(&x) * value(&y), "{x} and {y}");
                        }
                        if let Some(expr) = &expr {
                            assert_eq!(expr.evaluate(&[n, m], &HashMap::new()), Some(value(&y)), "{y} at {values:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(proofs > 600, "{proofs}");
}

fn facts_hold(facts: &Facts, values: [i128; 4]) -> bool {
    facts.known().all(|x| at(x, values).is_some_and(|x| x >= 0))
}
