//! Proofs that one descriptor lies in another, and that two are the same.

use super::{Dim, Ground, Lmad, Side};
use crate::polynomial::{Answer, Facts, TooLarge, Whole};
use num_integer::gcd;

/// So many ways to write the strides of one in those of the other are tried.
const MAX_WAYS: usize = 24;

impl Lmad {
    /// The same strides and lasts, in any order (Definition 2): the one is the other one, moved.
    pub fn isomorphic(&self, other: &Lmad, facts: &Facts) -> Answer {
        if !self.is_closed() || !other.is_closed() || self.bytes != other.bytes || self.guards != other.guards {
            return Answer::Unknown;
        }
        self.matched(other, facts).map_or(Answer::Unknown, |(_, answer)| answer)
    }

    /// For each dimension the other's with the same stride and last.
    pub(super) fn matched(&self, other: &Lmad, facts: &Facts) -> Option<(Vec<usize>, Answer)> {
        if self.dims.len() != other.dims.len() {
            return None;
        }
        let mut left: Vec<usize> = (0..other.dims.len()).collect();
        let mut answer = Answer::Proved;
        let mut pairs = Vec::new();
        for dim in &self.dims {
            let same = |k: usize| {
                let theirs = &other.dims[k];
                facts.equal(&dim.stride, &theirs.stride).and_then(|| facts.equal(&dim.last, &theirs.last))
            };
            let best = |want: fn(&Answer) -> bool| left.iter().position(|&k| want(&same(k)));
            let at = best(Answer::is_proved).or_else(|| best(Answer::is_known))?;
            let k = left.remove(at);
            answer = answer.and(same(k));
            pairs.push(k);
        }
        Some((pairs, answer))
    }

    /// The same bytes (Definition 3).
    pub fn equivalent(&self, other: &Lmad, facts: &Facts) -> Answer {
        if self.is_empty(facts) && other.is_empty(facts) {
            return Answer::Proved;
        }
        let moved = self.isomorphic(other, facts).and_then(|| facts.equal(&self.base, &other.base));
        if moved.is_proved() {
            return moved;
        }
        moved.or(self.contained_in(other, facts).and_then(|| other.contained_in(self, facts)))
    }

    /// Whether every byte of it is one of the other's.
    ///
    /// Every step of it is written as steps of the other one, and so is the distance of their bases. If the steps that come together in
    /// each dimension of the other one are always in its range, what is reached by the first is reached by the second.
    pub fn contained_in(&self, other: &Lmad, facts: &Facts) -> Answer {
        let proved = self.is_within(other, facts, false);
        if proved.is_proved() { proved } else { self.is_within(other, facts, true) }
    }

    /// Without a condition.
    pub(super) fn proves_contained_in(&self, other: &Lmad, facts: &Facts) -> bool {
        self.is_within(other, facts, false).is_proved()
    }

    fn is_within(&self, other: &Lmad, facts: &Facts, may_assume: bool) -> Answer {
        if self == other || self.is_empty(facts) {
            return Answer::Proved;
        }
        if !other.is_closed() {
            return Answer::Unknown;
        }
        let Some(inner) = self.on_side(Side::May, facts) else { return Answer::Unknown };
        let facts = inner.where_any(facts);
        if !may_assume && inner.sticks_out_of(other, &facts).unwrap_or(true) {
            return Answer::Unknown;
        }
        let fits = |inner: &Lmad, outer: &Lmad| {
            // Guards of its own, and what two of its dimensions were put together under.
            let runs = outer.guards.iter().fold(Answer::Proved, |answer, g| answer.and_then(|| facts.not_negative(g)));
            runs.and_then(|| Digits { inner, outer, facts: &facts, may_assume }.fit())
        };
        let width = gcd(inner.bytes, other.bytes);
        let mut answer = Answer::Unknown;
        if inner.bytes == width && other.bytes == width {
            answer = fits(&inner, other);
            if answer.is_proved() {
                return answer;
            }
        }
        // Elements side by side are one run, and so are dimensions that are one.
        let run =
            |lmad: &Lmad| lmad.refined(width).and_then(|finer| finer.simplified(&mut Ground::proved(facts.clone())));
        let (Ok(inner_run), Ok(outer_run)) = (run(&inner), run(other)) else { return answer };
        if inner_run == *inner && outer_run == *other { answer } else { answer.or(fits(&inner_run, &outer_run)) }
    }

    /// It begins before the other one, or ends behind it, for some values: a short way to see that there is nothing to prove.
    fn sticks_out_of(&self, other: &Lmad, facts: &Facts) -> Result<bool, TooLarge> {
        let end = |lmad: &Lmad| lmad.dims.iter().try_fold(lmad.base.plus(lmad.bytes)?, |end, dim| end.add(&dim.span));
        Ok(facts.refutes_not_negative(&self.base.sub(&other.base)?)
            || facts.refutes_not_negative(&end(other)?.sub(&end(self)?)?))
    }
}

/// How steps of one are written in steps of another.
struct Digits<'d> {
    inner: &'d Lmad,
    outer: &'d Lmad,
    facts: &'d Facts,
    may_assume: bool,
}

/// Of each dimension of the outer one: what the steps of the inner one add to it at least, and at most.
#[derive(Clone)]
struct Reach {
    low: Whole,
    high: Whole,
}

impl Digits<'_> {
    fn fit(&self) -> Answer {
        let none = vec![Reach { low: Whole::zero(), high: Whole::zero() }; self.outer.dims.len()];
        let mut ways = MAX_WAYS;
        self.place(0, &none, &mut ways).unwrap_or(Answer::Unknown)
    }

    /// Dimensions of the inner one from this on, and then the distance of the bases.
    fn place(&self, from: usize, reach: &[Reach], ways: &mut usize) -> Result<Answer, TooLarge> {
        let Some(dim) = self.inner.dims.get(from) else {
            let distance = self.inner.base.sub(&self.outer.base)?;
            return self.place_base(&distance, self.outer.dims.len(), reach, ways);
        };
        let mut best = Answer::Unknown;
        for digits in self.ways_to_write(&dim.stride)? {
            let mut reach = reach.to_vec();
            let mut is_signed = true;
            for (reach, digit) in reach.iter_mut().zip(&digits) {
                if digit.is_zero() {
                    continue;
                }
                let moved = digit.mul(&dim.last)?;
                if self.facts.proves_not_negative(digit) {
                    reach.high = reach.high.add(&moved)?;
                } else if self.facts.proves_not_negative(&digit.neg()?) {
                    reach.low = reach.low.add(&moved)?;
                } else {
                    is_signed = false;
                }
            }
            if is_signed {
                let answer = self.place(from + 1, &reach, ways)?;
                if answer.is_proved() {
                    return Ok(answer);
                }
                best = best.or(answer);
            }
            if *ways == 0 {
                break;
            }
        }
        Ok(best)
    }

    /// Writes the distance in dimensions below `above`, from large to small strides.
    fn place_base(
        &self,
        distance: &Whole,
        above: usize,
        reach: &[Reach],
        ways: &mut usize,
    ) -> Result<Answer, TooLarge> {
        let Some(at) = above.checked_sub(1) else {
            *ways = ways.saturating_sub(1);
            return Ok(Answer::if_proved(distance.is_zero()));
        };
        let Dim { stride, last, .. } = &self.outer.dims[at];
        let Reach { low, high } = &reach[at];
        let in_range = |digit: &Whole| -> Result<Answer, TooLarge> {
            let (above, below) = (digit.add(low)?, last.sub(&digit.add(high)?)?);
            if self.may_assume {
                return Ok(self.facts.not_negative(&above).and_then(|| self.facts.not_negative(&below)));
            }
            let proves = |x: &Whole| self.facts.proves_not_negative(x);
            Ok(Answer::if_proved(proves(&above) && proves(&below)))
        };
        let mut tried: Vec<Whole> = Vec::new();
        if let Some(digit) = distance.exact_quotient(stride, self.facts) {
            tried.push(digit);
        }
        if above > 1 {
            let rough = distance.rough_quotient(stride).unwrap_or(Whole::zero());
            for digit in
                [rough.clone(), rough.plus(-1)?, rough.plus(1)?, Whole::zero(), rough.plus(-2)?, rough.plus(-3)?]
            {
                if !tried.contains(&digit) {
                    tried.push(digit);
                }
            }
        }
        let mut best = Answer::Unknown;
        for digit in tried {
            let answer = in_range(&digit)?;
            if !answer.is_known() {
                continue;
            }
            let rest = distance.sub(&digit.mul(stride)?)?;
            let answer = answer.and(self.place_base(&rest, at, reach, ways)?);
            if answer.is_proved() {
                return Ok(answer);
            }
            if !best.is_known() {
                best = answer;
            }
            if *ways == 0 {
                break;
            }
        }
        Ok(best)
    }

    /// Sums of the outer strides that the stride is.
    fn ways_to_write(&self, stride: &Whole) -> Result<Vec<Vec<Whole>>, TooLarge> {
        let count = self.outer.dims.len();
        let mut all = Vec::new();
        for (at, dim) in self.outer.dims.iter().enumerate().rev() {
            if let Some(digit) = stride.exact_quotient(&dim.stride, self.facts) {
                let mut digits = vec![Whole::zero(); count];
                digits[at] = digit;
                all.push(digits);
            }
        }
        // As much as there is of the largest, and so on; and one more of the largest, and back.
        for more in [0, 1] {
            let (mut digits, mut rest) = (vec![Whole::zero(); count], stride.clone());
            for (at, dim) in self.outer.dims.iter().enumerate().rev() {
                let exact = if at == 0 { rest.exact_quotient(&dim.stride, self.facts) } else { None };
                let Some(rough) = exact.or_else(|| rest.rough_quotient(&dim.stride)) else { continue };
                let digit = if at + 1 == count && count > 1 { rough.plus(more)? } else { rough };
                rest = rest.sub(&digit.mul(&dim.stride)?)?;
                digits[at] = digit;
            }
            if rest.is_zero() && !all.contains(&digits) {
                all.push(digits);
            }
        }
        Ok(all)
    }
}
