//! Proofs that two descriptors have no byte in common: by range, by what is left modulo a stride, or digit by digit.

use super::{Lmad, Side};
use crate::polynomial::{Answer, Facts, TooLarge, Whole};
use num_integer::gcd;
use std::cell::Cell;

/// So many sums are looked at for one proof.
const MAX_STEPS: u32 = 64;
/// Of so many values at most a digit is tried.
const MAX_DIGITS: usize = 6;

impl Lmad {
    /// Whether the two sets have no byte in common. Of an over-estimate that says so of what is touched, of an under-estimate it does not.
    pub fn disjoint(&self, other: &Lmad, facts: &Facts) -> Answer {
        if self.is_empty(facts) || other.is_empty(facts) {
            return Answer::Proved;
        }
        let (Some(a), Some(b)) = (self.on_side(Side::May, facts), other.on_side(Side::May, facts)) else {
            return Answer::Unknown;
        };
        // If one is empty there is nothing to prove.
        let facts = b.where_any(&a.where_any(facts));
        Gaps::between(&a, &b, &facts).map_or(Answer::Unknown, |gaps| gaps.prove())
    }

    /// No two different steps of it lead to bytes in common; with other lasts, too, as far as `reach` says for each dimension.
    pub(super) fn is_injective(&self, reach: &[Whole], facts: &Facts) -> Answer {
        let mut terms = Vec::new();
        for (dim, reach) in self.dims.iter().zip(reach) {
            let Ok(low) = reach.neg() else { return Answer::Unknown };
            terms.push(Term { stride: dim.stride.clone(), low, high: reach.clone() });
        }
        let width = Whole::constant(self.bytes - 1);
        // The first digit that differs, from the largest one: the smaller ones cannot make up for it.
        let mut answer = Answer::Proved;
        while let Some(largest) = terms.pop() {
            let rest = |term: &Term| term.stride.mul(&term.high);
            let reach = terms.iter().try_fold(width.clone(), |sum, term| sum.add(&rest(term)?));
            let Ok(reach) = reach else { return Answer::Unknown };
            answer = answer.and_then(|| facts.less(&reach, &largest.stride));
        }
        answer
    }
}

/// Steps k · stride for low ≤ k ≤ high.
#[derive(Clone, Debug)]
struct Term {
    stride: Whole,
    low: Whole,
    high: Whole,
}

/// That no sum of steps, one of each term, is in low ..= high.
struct Gaps<'f> {
    facts: &'f Facts,
    /// From small to large strides.
    terms: Vec<Term>,
    low: Whole,
    high: Whole,
}

impl<'f> Gaps<'f> {
    /// Bytes a + s and b + t are the same for some s < v and t < w where a − b is in 1 − v ..= w − 1.
    fn between(a: &Lmad, b: &Lmad, facts: &'f Facts) -> Result<Gaps<'f>, TooLarge> {
        let mut terms: Vec<Term> = Vec::new();
        for dim in &a.dims {
            terms.push(Term { stride: dim.stride.clone(), low: Whole::zero(), high: dim.last.clone() });
        }
        for dim in &b.dims {
            match terms.iter_mut().find(|term| term.stride == dim.stride) {
                // A difference of two digits is a digit.
                Some(term) => term.low = term.low.sub(&dim.last)?,
                None => terms.push(Term { stride: dim.stride.clone(), low: dim.last.neg()?, high: Whole::zero() }),
            }
        }
        let mut sorted: Vec<Term> = Vec::new();
        for term in terms {
            let larger = |other: &Term| facts.proves_less(&term.stride, &other.stride);
            let at = sorted.iter().position(larger).unwrap_or(sorted.len());
            sorted.insert(at, term);
        }
        let offset = b.base.sub(&a.base)?;
        Ok(Gaps { facts, terms: sorted, low: offset.plus(1 - a.bytes)?, high: offset.plus(b.bytes - 1)? })
    }

    fn prove(&self) -> Answer {
        let steps = Cell::new(MAX_STEPS);
        self.apart(&self.terms, &self.low, &self.high, &steps).unwrap_or(Answer::Unknown)
    }

    fn apart(&self, terms: &[Term], low: &Whole, high: &Whole, steps: &Cell<u32>) -> Result<Answer, TooLarge> {
        let Some(left) = steps.get().checked_sub(1) else { return Ok(Answer::Unknown) };
        steps.set(left);
        let by_range = self.by_range(terms, low, high)?;
        if by_range.is_proved() || terms.is_empty() {
            return Ok(by_range);
        }
        let by_residue = self.by_residue(terms, low, high)?;
        if by_residue.is_proved() {
            return Ok(by_residue);
        }
        let mut answer = by_range.or(by_residue);
        // Whatever digit is looked at first, the proof is right; the largest is the one that tells most.
        for at in (0..terms.len()).rev() {
            let by_digit = self.by_digit(terms, at, low, high, steps)?;
            if by_digit.is_proved() {
                return Ok(by_digit);
            }
            if !answer.is_known() {
                answer = by_digit;
            }
            if terms.iter().all(|term| term.stride.as_constant().is_some()) {
                break;
            }
        }
        Ok(answer)
    }

    /// The least and the greatest sum.
    fn range(&self, terms: &[Term]) -> Result<(Whole, Whole), TooLarge> {
        let (mut least, mut greatest) = (Whole::zero(), Whole::zero());
        for term in terms {
            least = least.add(&term.stride.mul(&term.low)?)?;
            greatest = greatest.add(&term.stride.mul(&term.high)?)?;
        }
        Ok((least, greatest))
    }

    fn by_range(&self, terms: &[Term], low: &Whole, high: &Whole) -> Result<Answer, TooLarge> {
        let (least, greatest) = self.range(terms)?;
        let rising =
            terms.iter().fold(Answer::Proved, |answer, term| answer.and_then(|| self.facts.not_negative(&term.stride)));
        let apart = self.facts.less(high, &least).or_else(|| self.facts.less(&greatest, low));
        Ok(apart.and(rising))
    }

    /// All sums are multiples of one number, between two of which the range lies.
    fn by_residue(&self, terms: &[Term], low: &Whole, high: &Whole) -> Result<Answer, TooLarge> {
        let mut answer = Answer::Unknown;
        for divisor in self.divisors(terms) {
            let Some(rough) = low.rough_quotient(&divisor) else { continue };
            for by in [-1, 0, 1] {
                // divisor·q < low and high < divisor·(q + 1)
                let below = divisor.mul(&rough.plus(by)?)?;
                let above = below.add(&divisor)?;
                let between = self.facts.less(&below, low).and_then(|| self.facts.less(high, &above));
                if between.is_proved() {
                    return Ok(between);
                }
                // What holds for few numbers is no condition to ask for.
                if !answer.is_known() && low.sub(&below)?.as_constant().is_some() {
                    answer = between;
                }
            }
        }
        Ok(answer)
    }

    /// What divides all strides.
    fn divisors(&self, terms: &[Term]) -> Vec<Whole> {
        let divides =
            |divisor: &Whole| terms.iter().all(|term| term.stride.exact_quotient(divisor, self.facts).is_some());
        let mut all: Vec<Whole> = Vec::new();
        for term in terms {
            if term.stride.as_constant().is_none() && !all.contains(&term.stride) && divides(&term.stride) {
                all.push(term.stride.clone());
            }
        }
        let content = terms
            .iter()
            .fold(0, |g, term| if term.stride.by() == 1 { gcd(g, term.stride.over().content()) } else { 1 });
        if content > 1 {
            all.push(Whole::constant(content));
        }
        all
    }

    /// By the values that one digit can have: with each of them the others must miss what is left of the range.
    fn by_digit(
        &self,
        terms: &[Term],
        at: usize,
        low: &Whole,
        high: &Whole,
        steps: &Cell<u32>,
    ) -> Result<Answer, TooLarge> {
        let term = &terms[at];
        let others: Vec<Term> = terms.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, t)| t.clone()).collect();
        let (least, greatest) = self.range(&others)?;
        let mut answer = others
            .iter()
            .chain([term])
            .fold(Answer::Proved, |answer, term| answer.and_then(|| self.facts.not_negative(&term.stride)));
        // k · stride is in here.
        let (from, to) = (low.sub(&greatest)?, high.sub(&least)?);
        let Some((first, count)) = self.digits(term, &from, &to)? else { return Ok(Answer::Unknown) };
        for by in 0..count {
            let digit = first.plus(by as i128)?;
            if self.facts.proves_less(&digit, &term.low) || self.facts.proves_less(&term.high, &digit) {
                continue;
            }
            let moved = term.stride.mul(&digit)?;
            let rest = self.apart(&others, &low.sub(&moved)?, &high.sub(&moved)?, steps)?;
            let rest =
                rest.or_else(|| self.facts.less(&digit, &term.low).or_else(|| self.facts.less(&term.high, &digit)));
            answer = answer.and(rest);
            if !answer.is_known() {
                break;
            }
        }
        Ok(answer)
    }

    /// The values of k for which `k · stride` may be in from ..= to: the first, and how many there are, if they are few.
    fn digits(&self, term: &Term, from: &Whole, to: &Whole) -> Result<Option<(Whole, usize)>, TooLarge> {
        let numbers = [&term.stride, from, to].map(Whole::as_constant);
        if let [Some(stride), Some(from), Some(to)] = numbers {
            if stride <= 0 {
                return Ok(None);
            }
            let mut first = from.checked_add(stride - 1).ok_or(TooLarge)?.div_euclid(stride);
            let mut last = to.div_euclid(stride);
            if let Some(low) = term.low.as_constant() {
                first = first.max(low);
            }
            if let Some(high) = term.high.as_constant() {
                last = last.min(high);
            }
            let count = usize::try_from((last - first + 1).max(0)).map_err(|_| TooLarge)?;
            return Ok((count <= 2 * MAX_DIGITS).then_some((Whole::constant(first), count)));
        }
        let (Some(near), Some(far)) = (from.rough_quotient(&term.stride), to.rough_quotient(&term.stride)) else {
            return Ok(None);
        };
        // The greatest k for which all smaller ones are known to be too small, and the least for which all greater ones are too large.
        let too_small = |k: &Whole| Ok::<_, TooLarge>(self.facts.proves_less(&term.stride.mul(k)?, from));
        let too_large = |k: &Whole| Ok::<_, TooLarge>(self.facts.proves_less(to, &term.stride.mul(k)?));
        let (mut first, mut last) = (None, None);
        for by in [1, 0, -1, -2] {
            if first.is_none() && too_small(&near.plus(by)?)? {
                first = Some(near.plus(by + 1)?);
            }
        }
        for by in [-1, 0, 1, 2] {
            if last.is_none() && too_large(&far.plus(by)?)? {
                last = Some(far.plus(by - 1)?);
            }
        }
        let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
        let Some(count) = last.sub(&first)?.plus(1)?.as_constant() else { return Ok(None) };
        Ok(usize::try_from(count.max(0)).ok().filter(|count| *count <= MAX_DIGITS).map(|count| (first, count)))
    }
}
