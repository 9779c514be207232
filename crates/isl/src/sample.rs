//! Is there a point? isl asks that after every intersection, and it is a quarter of what it does for us. It answers by changes of
//! basis and tableaus; but nearly all sets are simple, most of them have points, and to find one is to have the answer.
//!
//! isl calls the function below in place of its own, see `build.rs`, from where it wants to know no more than that; where a point is
//! the result, it calls its own.
//!
//! Each variable has an interval, and each constraint narrows those of its variables until nothing changes any more. If one is empty
//! then, so is the set. Else the variables are given numbers, one after the other, the nearest to zero in its interval, which narrows the
//! others. What comes of it is a point if all constraints say so. If it is none, or numbers are large, isl's function is called as if it
//! had been called in the first place.

use std::ffi::{c_int, c_uint};

use crate::inside::{Basic, value};
use crate::raw;
use crate::small::{Int, ZERO, decode, is_small};

/// isl's `isl_vec`.
enum Vector {}

unsafe extern "C" {
    fn isl_basic_set_sample_vec(set: *mut Basic) -> *mut Vector;
    fn isl_vec_alloc(ctx: *mut raw::isl_ctx, size: c_uint) -> *mut Vector;
    fn isl_vec_set_element_si(vector: *mut Vector, at: c_int, value: c_int) -> *mut Vector;
}

/// A point of the set, after a 1; or nothing, where it has none.
#[unsafe(no_mangle)]
unsafe extern "C" fn loopwright_isl_basic_set_sample_vec(set: *mut Basic) -> *mut Vector {
    // SAFETY: isl passes a set that it gives away, to this function as it would to its own; which gets the same.
    unsafe {
        let Some(answer) = System::of(set).and_then(|system| system.sample()) else {
            return isl_basic_set_sample_vec(set);
        };
        let point = match &answer {
            Sample::Nothing => isl_vec_alloc((*set).ctx(), 0),
            Sample::Point(point) => {
                let mut vector = isl_vec_alloc((*set).ctx(), 1 + point.len() as c_uint);
                for (at, value) in [1].iter().chain(point).enumerate() {
                    vector = isl_vec_set_element_si(vector, at as c_int, *value);
                }
                vector
            }
        };
        Basic::free(set);
        point
    }
}

#[derive(Debug, PartialEq)]
enum Sample {
    Nothing,
    Point(Vec<c_int>),
}

/// Others have more than is looked at here.
const MOST_VARIABLES: usize = 64;
/// In so many rounds nearly all that can be narrowed is.
const MOST_ROUNDS: usize = 24;
/// About as long as an operation of isl takes.
const TERMS_FOR_AN_OPERATION: usize = 40;

/// Sums of products are not negative, or zero.
struct System {
    variables: usize,
    rows: Vec<Row>,
    /// Variables, and by what they are multiplied.
    terms: Vec<(u8, i32)>,
}

struct Row {
    constant: i128,
    /// Where its terms are.
    terms: std::ops::Range<usize>,
    /// One bit for each variable.
    about: u64,
    is_equation: bool,
}

impl System {
    /// # Safety
    /// NULL, or a set.
    unsafe fn of(set: *mut Basic) -> Option<System> {
        // SAFETY: by the contract of this function.
        unsafe {
            let set = set.as_ref()?;
            let variables = set.plain_variables().filter(|variables| *variables <= MOST_VARIABLES)?;
            let rows = set.rows(variables);
            let (count, terms) = (rows.len(), rows.len() * variables.min(8));
            let mut system = System { variables, rows: Vec::with_capacity(count), terms: Vec::with_capacity(terms) };
            for (row, is_equation) in rows {
                system.add(row, is_equation)?;
            }
            let steps = system.terms.len() + system.rows.len();
            for _ in 0..=steps / TERMS_FOR_AN_OPERATION {
                // What is found after the budget is used up is right, too.
                raw::isl_ctx_next_operation(set.ctx());
            }
            Some(system)
        }
    }

    /// `None`: there are large coefficients.
    fn add(&mut self, row: &[Int], is_equation: bool) -> Option<()> {
        let (constant, coefficients) = row.split_first()?;
        let (first, mut about) = (self.terms.len(), 0);
        for (v, &times) in coefficients.iter().enumerate().filter(|(_, times)| **times != ZERO) {
            if !is_small(times) {
                return None;
            }
            self.terms.push((v as u8, decode(times) as i32));
            about |= 1 << v;
        }
        // SAFETY: it is one of isl's numbers.
        let constant = unsafe { value(*constant) }?;
        self.rows.push(Row { constant, terms: first..self.terms.len(), about, is_equation });
        Some(())
    }

    /// `None`: it is not simple.
    fn sample(&self) -> Option<Sample> {
        let mut all = Intervals { first: vec![None; self.variables], last: vec![None; self.variables] };
        match all.narrow(self, u64::MAX) {
            Ok(()) => {}
            Err(End::Impossible) => return Some(Sample::Nothing),
            Err(End::Large) => return None,
        }
        // What is introduced for a division comes last and decides most.
        let point = self.point(all.clone(), (0..self.variables).rev()).or_else(|| self.point(all, 0..self.variables));
        Some(Sample::Point(point?))
    }

    fn point(&self, mut intervals: Intervals, order: impl Iterator<Item = usize>) -> Option<Vec<c_int>> {
        let mut point = vec![0; self.variables];
        for v in order {
            let (first, last) = (intervals.first[v], intervals.last[v]);
            let value = 0.max(first.unwrap_or(0)).min(last.unwrap_or(i64::MAX));
            point[v] = c_int::try_from(value).ok()?;
            if first != Some(value) || last != Some(value) {
                (intervals.first[v], intervals.last[v]) = (Some(value), Some(value));
                intervals.narrow(self, 1 << v).ok()?;
            }
        }
        self.has(&point).then_some(point)
    }

    fn has(&self, point: &[c_int]) -> bool {
        self.rows.iter().all(|row| {
            let terms = self.terms[row.terms.clone()].iter();
            let sum = terms
                .fold(row.constant, |sum, (v, times)| sum + i128::from(*times) * i128::from(point[usize::from(*v)]));
            if row.is_equation { sum == 0 } else { sum >= 0 }
        })
    }
}

/// Of each variable; `None` is infinity.
#[derive(Clone)]
struct Intervals {
    first: Vec<Option<i64>>,
    last: Vec<Option<i64>>,
}

enum End {
    Impossible,
    /// Nothing is known.
    Large,
}

/// Beyond that, an end is taken for infinity; so sums of a hundred products of one by a small number fit.
const LARGEST: i128 = 1 << 62;

impl Intervals {
    /// Ensures: every point of the system that was in the intervals is in them; there is none if that is impossible.
    fn narrow(&mut self, system: &System, mut changed: u64) -> Result<(), End> {
        for _ in 0..MOST_ROUNDS {
            let mut next = 0;
            for row in &system.rows {
                if row.about & (changed | next) == 0 && row.about != 0 {
                    continue;
                }
                next |= self.narrow_by(row, &system.terms[row.terms.clone()], 1)?;
                if row.is_equation {
                    next |= self.narrow_by(row, &system.terms[row.terms.clone()], -1)?;
                }
            }
            changed = next;
            if changed == 0 {
                break;
            }
        }
        Ok(())
    }

    /// By `sign` times the row, which is not negative. Gives the variables whose intervals are others now.
    fn narrow_by(&mut self, row: &Row, terms: &[(u8, i32)], sign: i64) -> Result<u64, End> {
        // The largest value of the sum, and which of its terms has none.
        let mut largest = i128::from(sign) * row.constant;
        let mut endless = None;
        for (at, &(v, times)) in terms.iter().enumerate() {
            let times = i64::from(times);
            let end = if times * sign > 0 { self.last[usize::from(v)] } else { self.first[usize::from(v)] };
            match end {
                Some(end) => largest += i128::from(times * sign) * i128::from(end),
                None if endless.is_none() => endless = Some(at),
                None => return Ok(0),
            }
        }
        if endless.is_none() && largest < 0 {
            return Err(End::Impossible);
        }
        let mut changed = 0;
        let range = endless.map_or(0..terms.len(), |at| at..at + 1);
        for &(v, times) in &terms[range] {
            let (v, times) = (usize::from(v), i64::from(times) * sign);
            let (first, last) = (self.first[v], self.last[v]);
            let end = if times > 0 { last } else { first };
            // times · v + rest ≥ 0
            let rest = largest - end.map_or(0, |end| i128::from(times) * i128::from(end));
            if times > 0 {
                let least = -divided(rest, times);
                if least > LARGEST {
                    return Err(End::Large);
                }
                if least >= -LARGEST && first.is_none_or(|first| i128::from(first) < least) {
                    self.first[v] = Some(least as i64);
                    changed |= 1 << v;
                }
            } else {
                let most = divided(rest, -times);
                if most < -LARGEST {
                    return Err(End::Large);
                }
                if most <= LARGEST && last.is_none_or(|last| i128::from(last) > most) {
                    self.last[v] = Some(most as i64);
                    changed |= 1 << v;
                }
            }
            if let (Some(first), Some(last)) = (self.first[v], self.last[v])
                && first > last
            {
                return Err(End::Impossible);
            }
        }
        Ok(changed)
    }
}

/// Rounded down. Mostly by one, and of numbers that fit a register.
fn divided(dividend: i128, by: i64) -> i128 {
    match i64::try_from(dividend) {
        _ if by == 1 => dividend,
        Ok(dividend) => dividend.div_euclid(by).into(),
        Err(_) => dividend.div_euclid(by.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::{Ctx, Set};
    use std::ffi::CString;

    unsafe extern "C" {
        fn isl_vec_size(vector: *mut Vector) -> c_int;
        fn isl_vec_free(vector: *mut Vector) -> *mut Vector;
    }

    /// What is found here, and whether isl finds a point.
    fn sampled(ctx: &Ctx, text: &str) -> (Option<Sample>, bool) {
        let text = CString::new(text).unwrap();
        // SAFETY: a set of a context that is alive, which is used twice: isl is given its own reference.
        unsafe {
            let set = raw::isl_basic_set_read_from_str(ctx.as_ptr(), text.as_ptr()).0;
            assert!(!set.is_null(), "{text:?}");
            let found = System::of(set.cast()).and_then(|system| system.sample());
            let point = isl_basic_set_sample_vec(set.cast());
            let has_point = isl_vec_size(point) > 0;
            isl_vec_free(point);
            (found, has_point)
        }
    }

    #[test]
    fn points_are_points_and_nothing_is_nothing() {
        let ctx = Ctx::new();
        let (mut points, mut nothings, mut unknown, mut missed) = (0, 0, 0, 0);
        for seed in 0..4000 {
            let mut random = Random::new(seed);
            let variables = 1 + random.below(5);
            let large = random.below(8) == 0;
            let mut constraints = Vec::new();
            for _ in 0..1 + random.below(9) {
                let row: Vec<i128> = (0..variables).map(|_| [0, 0, 0, 1, 1, -1, -1, 2, -32][random.below(9)]).collect();
                let constant = match random.below(6) {
                    0 if large => 1 << 31,
                    1 if large => -(1 << 40),
                    _ => random.below(41) as i128 - 20,
                };
                constraints.push((row, constant, random.below(5) == 0));
            }
            let names: Vec<String> = (0..variables).map(|v| format!("x{v}")).collect();
            let told = constraints.iter().map(|(row, constant, is_equation)| {
                let terms: String = row.iter().zip(&names).map(|(times, name)| format!("{times}{name} + ")).collect();
                format!("{terms}{constant} {} 0", if *is_equation { "=" } else { ">=" })
            });
            let text = format!("{{ [{}] : {} }}", names.join(", "), told.collect::<Vec<_>>().join(" and "));
            let (found, has_point) = sampled(&ctx, &text);
            match found {
                Some(Sample::Nothing) => {
                    assert!(!has_point, "{text}");
                    nothings += 1;
                }
                Some(Sample::Point(point)) => {
                    assert!(has_point, "{text}");
                    for (row, constant, is_equation) in &constraints {
                        let terms = row.iter().zip(&point).map(|(times, value)| times * i128::from(*value));
                        let sum = terms.sum::<i128>() + constant;
                        assert!(if *is_equation { sum == 0 } else { sum >= 0 }, "{text} at {point:?}");
                    }
                    points += 1;
                }
                None if has_point => missed += 1,
                None => unknown += 1,
            }
        }
        // Most that have none are told by isl at a glance, and never come here.
        assert!(points > 4 * missed && nothings > 50, "{points} {missed} {nothings} {unknown}");
    }

    #[test]
    fn shapes_of_loops_are_simple() {
        let ctx = Ctx::new();
        for (text, expected) in [
            (
                "{ [n, i, j] : 0 <= i < n and 0 <= j <= i and n <= 2147483647 and n >= -2147483648 }",
                Some(vec![1, 0, 0]),
            ),
            ("{ [i, t] : 0 <= i < 1000 and i - 31 <= 32t <= i and i >= 100 }", Some(vec![100, 3])),
            ("{ [n, i] : 0 <= i < n and n <= 0 and i >= n - 5 }", None),
        ] {
            let (found, has_point) = sampled(&ctx, text);
            assert_eq!(has_point, expected.is_some(), "{text}");
            assert_eq!(found, Some(expected.map_or(Sample::Nothing, Sample::Point)), "{text}");
        }
    }

    /// isl asks here.
    #[test]
    fn emptiness_is_asked_for_here() {
        let ctx = Ctx::new();
        let even = "{ [i, j] : exists (a, b : i = 2a and j = 2b) and 1 <= i - j <= ";
        for (last, is_empty) in [(1, true), (2, false)] {
            let set = Set::read_from_str(&ctx, &format!("{even}{last} }}")).unwrap();
            assert_eq!(set.is_empty().unwrap(), is_empty);
        }
    }
}
