//! Two dimensions that are one: small steps, and strides over them to the very next element (Figure 10).

use super::{Dim, Ground, Lmad};
use crate::polynomial::{Answer, Facts, Symbol, TooLarge, Whole};

impl Lmad {
    /// The same bytes with as few dimensions as are found.
    ///
    /// Ensures: it is the same set for all values of the symbols that the ground's facts and condition admit.
    pub fn simplified(&self, ground: &mut Ground) -> Result<Lmad, TooLarge> {
        let mut lmad = self.clone().normalised(&ground.facts)?;
        loop {
            let mut found = None;
            let pairs = |n: usize| (0..n).flat_map(move |j| (0..n).map(move |k| (j, k))).filter(|(j, k)| j != k);
            for (inner, outer) in pairs(lmad.dims.len()) {
                // One that became too large is none.
                if let Ok(Some((coalesced, answer))) = lmad.coalesced(inner, outer, &ground.facts)
                    && ground.accepts(answer)
                {
                    found = Some(coalesced);
                    break;
                }
            }
            match found {
                Some(coalesced) => lmad = coalesced.normalised(&ground.facts)?,
                None => return Ok(lmad),
            }
        }
    }

    /// With dimension `outer` in dimension `inner`, if what the answer says holds.
    fn coalesced(&self, inner: usize, outer: usize, facts: &Facts) -> Result<Option<(Lmad, Answer)>, TooLarge> {
        let (j, k) = (&self.dims[inner], &self.dims[outer]);
        let others = || self.dims.iter().enumerate().filter(|(d, _)| *d != inner && *d != outer).map(|(_, dim)| dim);
        let is_used =
            |index: Symbol| others().any(|dim| dim.has(index)) || self.guards.iter().any(|guard| guard.has(index));
        if is_used(j.index) || is_used(k.index) || j.stride.has(j.index) || j.stride.has(k.index) || k.has(j.index) {
            return Ok(None);
        }
        // Whatever is known of the rest stays known; that the two run must be said by what becomes of them.
        let mut rest = self.clone();
        rest.dims = others().cloned().collect();
        let kept = rest.where_each(facts);
        let mut around = kept.and(&[&k.last]);
        if !j.last.has(k.index) {
            around.know(&j.last);
        }
        let Some(steps) = k.stride.exact_quotient(&j.stride, &around) else { return Ok(None) };
        let merged = if j.last.has(k.index) || steps.has(k.index) {
            uneven(j, k, &steps, &around, &kept)?
        } else {
            even(j, k, &steps, &around, &kept)?
        };
        let Some(Merged { last, guards, answer }) = merged else { return Ok(None) };
        let mut lmad = self.clone();
        lmad.dims[inner] = Dim::even(j.index, j.stride.clone(), last)?;
        lmad.dims.remove(outer);
        for guard in guards {
            lmad = lmad.guarded(guard);
        }
        Ok(Some((lmad, answer)))
    }
}

/// Where the strides of k, or how far j goes, depend on k.
///
/// In steps of j, iteration k covers P(k) = τ(k) ..= e(k) with τ(k + 1) = τ(k) + q(k) and e(k) = τ(k) + m(k). Let q ≥ 0.
///
/// If e never falls, q(k) ≤ m(k) + 1 and m(k) ≥ −1, then P(0) ∪ … ∪ P(k) = τ(0) ..= e(k): by induction, P(k + 1) begins at
/// e(k) + 1 at the latest and at τ(0) at the earliest; if it is empty, then e(k + 1) = τ(k + 1) − 1 ≤ e(k), so that e stays.
///
/// If e never rises, all of them are within P(0).
fn uneven(j: &Dim, k: &Dim, steps: &Whole, around: &Facts, kept: &Facts) -> Result<Option<Merged>, TooLarge> {
    let Some(total) = k.span.exact_quotient(&j.stride, around) else { return Ok(None) };
    let each = around.and_counter(k.index, &k.last);
    let each_but_last = around.and_counter(k.index, &k.last.plus(-1)?);
    let rises = each_but_last.not_negative(steps);
    if !rises.is_known() {
        return Ok(None);
    }
    // e(k + 1) − e(k)
    let growth = steps.add(&j.last.difference(k.index)?)?;
    let falls = each_but_last.proves_not_negative(&growth.neg()?);
    if falls && rises.is_proved() {
        let last = j.last.with(k.index, &Whole::zero())?;
        return Ok(Some(Merged { last, guards: missing(&[&k.last], kept), answer: Answer::Proved }));
    }
    let room = j.last.plus(1)?;
    let gap = room.sub(steps)?;
    let answer = rises
        .and_then(|| each_but_last.not_negative(&growth))
        .and_then(|| each_but_last.not_negative(&gap))
        .and_then(|| each.not_negative(&room));
    if !answer.is_known() {
        return Ok(None);
    }
    let last = j.last.with(k.index, &k.last)?.add(&total)?;
    let mut guards = if j.last.has(k.index) { Vec::new() } else { missing(&[&j.last], kept) };
    // Where k does not run because its last is −1, this may be negative by itself.
    let minus_one = Whole::constant(-1);
    let of_none = j.last.with(k.index, &minus_one)?.add(&moved(k, &minus_one, j, around)?)?;
    if !(kept.proves_not_negative(&k.last.plus(1)?) && kept.is_negative(&of_none)) {
        guards.extend(missing(&[&k.last], kept));
    }
    Ok(Some(Merged { last, guards, answer }))
}

/// How far k has moved at `value`, in steps of j; a large number if that is not known.
fn moved(k: &Dim, value: &Whole, j: &Dim, around: &Facts) -> Result<Whole, TooLarge> {
    // Of spans only the sum up to the last is there; a stride that grows evenly has a formula.
    let (first, growth) = (k.stride.with(k.index, &Whole::zero())?, k.stride.difference(k.index)?);
    let sum = first.mul(value)?.add(&growth.mul(&value.choose(2)?)?)?;
    let steps = if growth.has(k.index) { None } else { sum.exact_quotient(&j.stride, around) };
    Ok(steps.unwrap_or(Whole::constant(i128::from(i64::MAX))))
}

/// What two dimensions become: steps of the inner stride.
struct Merged {
    last: Whole,
    guards: Vec<Whole>,
    answer: Answer,
}

/// Those of which it is not known that they hold.
fn missing(guards: &[&Whole], facts: &Facts) -> Vec<Whole> {
    guards.iter().filter(|guard| !facts.proves_not_negative(guard)).map(|guard| (*guard).clone()).collect()
}

/// Where nothing depends on the indices: k strides over q steps of j, 0 ≤ q ≤ m + 1 where m is the last step of j.
///
/// Then there is no gap between what j does at k and at k + 1, and all are the steps 0 ..= m + q·n. If q = m + 1 that is
/// (m + 1)(n + 1) − 1, of which the sign says whether both run if it is known of one of them.
fn even(j: &Dim, k: &Dim, steps: &Whole, around: &Facts, kept: &Facts) -> Result<Option<Merged>, TooLarge> {
    let rest = j.last.plus(1)?.sub(steps)?;
    let answer = around.not_negative(steps).and_then(|| around.not_negative(&rest));
    if !answer.is_known() {
        return Ok(None);
    }
    let last = j.last.add(&steps.mul(&k.last)?)?;
    let mut guards = missing(&[&j.last, &k.last], kept);
    if rest.is_zero() && !guards.is_empty() {
        // The other one follows.
        guards.truncate(guards.len() - 1);
    }
    Ok(Some(Merged { last, guards, answer }))
}
