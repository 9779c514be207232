//! Descriptors that are one together: contained in each other, contiguous (Definition 5, Theorem 3), interleaved (Theorem 2).

use super::{Dim, Ground, Lmad, Mark};
use crate::polynomial::{Answer, Atom, Facts, TooLarge, Whole};

/// The dimensions of two descriptors, side by side: all alike but for one.
struct Bridge {
    /// Where it is in the first, and how far it goes there; in the second it may be missing (Theorem 1).
    stride: Whole,
    first: Whole,
    second: Whole,
    others: Vec<Dim>,
    answer: Answer,
}

impl Lmad {
    /// One descriptor that is exactly what the two are together.
    pub fn union(&self, other: &Lmad, ground: &mut Ground) -> Option<Lmad> {
        if self.is_empty(&ground.facts) {
            return Some(other.clone());
        }
        if other.is_empty(&ground.facts) {
            return Some(self.clone());
        }
        let mark = union_mark(self.mark, other.mark)?;
        if self.proves_contained_in(other, &ground.facts) {
            return Some(other.clone().remarked(mark));
        }
        if other.proves_contained_in(self, &ground.facts) {
            return Some(self.clone().remarked(mark));
        }
        if let Some(joined) = self.joined(other, ground) {
            return Some(joined.remarked(mark));
        }
        if !ground.may_assume {
            return None;
        }
        if ground.accepts(self.contained_in(other, &ground.facts)) {
            return Some(other.clone().remarked(mark));
        }
        if ground.accepts(other.contained_in(self, &ground.facts)) {
            return Some(self.clone().remarked(mark));
        }
        None
    }

    fn joined(&self, other: &Lmad, ground: &mut Ground) -> Option<Lmad> {
        let (a, b) = (self.in_common_elements(other, &ground.facts)?, other.in_common_elements(self, &ground.facts)?);
        if let Some(joined) = a.contiguous(&b, ground).or_else(|| interleaved(&[&a, &b], ground)) {
            return Some(joined);
        }
        // In fewer dimensions they may be more alike.
        let mut proved = Ground::proved(ground.facts.clone());
        let (c, d) = (a.simplified(&mut proved).ok()?, b.simplified(&mut proved).ok()?);
        if (&a, &b) != (&c, &d)
            && let Some(joined) = c.contiguous(&d, ground).or_else(|| interleaved(&[&c, &d], ground))
        {
            return Some(joined);
        }
        // The same twice, moved: a dimension of two steps.
        a.twice(&b, ground).or_else(|| c.twice(&d, ground))
    }

    pub(super) fn remarked(self, mark: Mark) -> Lmad {
        Lmad { mark, ..self }
    }

    /// In elements that both can be cut into.
    fn in_common_elements(&self, other: &Lmad, facts: &Facts) -> Option<Lmad> {
        let bytes = num_integer::gcd(self.bytes, other.bytes);
        if bytes == self.bytes {
            return self.clone().normalised(facts).ok();
        }
        self.refined(bytes).and_then(|finer| finer.simplified(&mut Ground::proved(facts.clone()))).ok()
    }

    /// The two as one, if all their dimensions are alike but one, along which the second begins at the latest where the first ends.
    ///
    /// Let t ≥ 0 be the distance of the bases in steps of that dimension, m and n the last steps, and t ≤ m + 1. Then the steps are
    /// 0 ..= m and t ..= t + n, together 0 ..= max(m, t + n). If the first does not run, then m ≤ −1, t = 0 and m = −1, and that is n;
    /// if the second does not, t + n ≤ t − 1 ≤ m. Other dimensions that do not run, and guards, are the same in both.
    fn contiguous(&self, other: &Lmad, ground: &mut Ground) -> Option<Lmad> {
        if self.bytes != other.bytes || !self.is_closed() || !other.is_closed() || self.guards != other.guards {
            return None;
        }
        let mut open = None;
        for (low, high) in [(self, other), (other, self)] {
            for bridge in low.bridges(high, &ground.facts) {
                let facts = low.guards.iter().fold(ground.facts.clone(), |facts, guard| facts.and(&[guard]));
                let facts = bridge.others.iter().fold(facts, |facts, dim| facts.and(&[&dim.last]));
                let Some(joined) = bridge.across(low, high, &facts) else { continue };
                let (joined, answer) = joined.ok()?;
                // What was known where both run need not hold elsewhere: guards stay.
                let joined = joined.normalised(&ground.facts).ok()?;
                if answer.is_proved() {
                    return Some(joined);
                }
                if answer.is_known() {
                    open.get_or_insert((joined, answer));
                }
            }
        }
        let (joined, answer) = open?;
        ground.accepts(answer).then_some(joined)
    }

    /// All ways to pair the dimensions up to one.
    fn bridges(&self, other: &Lmad, facts: &Facts) -> Vec<Bridge> {
        let mut all = Vec::new();
        let (m, n) = (self.dims.len(), other.dims.len());
        let without = |lmad: &Lmad, k: Option<usize>| {
            let dims = lmad.dims.iter().enumerate().filter(|(d, _)| Some(*d) != k).map(|(_, dim)| dim.clone());
            Lmad { dims: dims.collect(), ..lmad.clone() }
        };
        let mut pair = |p: Option<usize>, q: Option<usize>| {
            let (a, b) = (without(self, p), without(other, q));
            let Some((_, answer)) = a.matched(&b, facts) else { return };
            let (first, second) = (p.map(|p| &self.dims[p]), q.map(|q| &other.dims[q]));
            let stride = match (first, second) {
                (Some(x), Some(y)) if x.stride == y.stride => x.stride.clone(),
                (Some(x), None) => x.stride.clone(),
                (None, Some(y)) => y.stride.clone(),
                _ => return,
            };
            let last = |dim: Option<&Dim>| dim.map_or(Whole::zero(), |dim| dim.last.clone());
            all.push(Bridge { stride, first: last(first), second: last(second), others: a.dims, answer });
        };
        if m == n {
            (0..m).for_each(|p| (0..n).for_each(|q| pair(Some(p), Some(q))));
        } else if m == n + 1 {
            (0..m).for_each(|p| pair(Some(p), None));
        } else if n == m + 1 {
            (0..n).for_each(|q| pair(None, Some(q)));
        }
        all
    }

    /// It and the same moved by a distance that is no step: a dimension of two steps more.
    fn twice(&self, other: &Lmad, ground: &mut Ground) -> Option<Lmad> {
        if self.bytes != other.bytes || !self.is_closed() || self.guards != other.guards {
            return None;
        }
        let moved = self.isomorphic(other, &ground.facts);
        if !moved.is_proved() {
            return None;
        }
        let distance = other.base.sub(&self.base).ok()?;
        let (low, stride) = if ground.facts.proves_not_negative(&distance) {
            (self, distance)
        } else {
            (other, distance.neg().ok().filter(|d| ground.facts.proves_not_negative(d))?)
        };
        let mut both = low.clone();
        both.dims.push(Dim::even(low.free_index(), stride, Whole::one()).ok()?);
        both.simplified(ground).ok()
    }
}

impl Bridge {
    fn across(self, low: &Lmad, high: &Lmad, facts: &Facts) -> Option<Result<(Lmad, Answer), TooLarge>> {
        let distance = high.base.sub(&low.base).ok()?;
        let steps = distance.exact_quotient(&self.stride, facts)?;
        let join = || -> Result<(Lmad, Answer), TooLarge> {
            let answer = self
                .answer
                .clone()
                .and_then(|| facts.not_negative(&steps))
                .and_then(|| steps.plus(-1).map_or(Answer::Unknown, |t| facts.at_most_as(&t, &self.first)));
            // With what has been asked for, it is often known which of the ends is the last.
            let facts = facts.and(&[&steps, &self.first.plus(1)?.sub(&steps)?]);
            let last = facts.max(&self.first, &steps.add(&self.second)?)?;
            let mut joined = low.clone();
            joined.dims = self.others.clone();
            let index = joined.free_index();
            joined.dims.push(Dim::even(index, self.stride.clone(), last)?);
            Ok((joined, answer))
        };
        Some(join())
    }
}

/// Estimates to both sides are none.
pub(super) fn union_mark(a: Mark, b: Mark) -> Option<Mark> {
    match (a, b) {
        (Mark::Exact, mark) | (mark, Mark::Exact) => Some(mark),
        (a, b) => (a == b).then_some(a),
    }
}

/// n descriptors that take turns (Theorem 2): every n-th step each, one after the other, where the first ones may have one step more.
///
/// With base τ + j·δ, stride n·δ and last step L for j < r, and L − 1 for r ≤ j < n, the steps are all of 0 ..= n·L + r − 1: a step
/// x is the ⌊x/n⌋-th of descriptor x mod n, which is at most L, and at most L − 1 if x mod n ≥ r. If L = −1 none runs, and the
/// last step is negative; for less it stays so. The same are the steps 0 ..= m where the j-th ends with ⌊(m − j)/n⌋.
pub(super) fn interleaved(all: &[&Lmad], ground: &mut Ground) -> Option<Lmad> {
    let (dims, n) = (all.iter().map(|lmad| lmad.dims.len()).max()?, all.len() as i128);
    for at in 0..dims {
        if let Ok(Some((joined, answer))) = taking_turns(all, n, at, &ground.facts)
            && ground.accepts(answer)
        {
            return Some(joined);
        }
    }
    None
}

fn taking_turns(all: &[&Lmad], n: i128, at: usize, facts: &Facts) -> Result<Option<(Lmad, Answer)>, TooLarge> {
    let without = |lmad: &Lmad, k: usize| {
        let mut rest = lmad.clone();
        let dim = rest.dims.remove(k);
        (rest, dim)
    };
    let first = all.iter().max_by_key(|lmad| lmad.dims.len()).unwrap_or(&all[0]);
    let Some(at) = Some(at).filter(|at| *at < first.dims.len()) else { return Ok(None) };
    let (rest, dim) = without(first, at);
    if !all.iter().all(|lmad| lmad.is_closed() && lmad.bytes == rest.bytes && lmad.guards == rest.guards) {
        return Ok(None);
    }
    let Some(step) = dim.stride.exact_quotient(&Whole::constant(n), facts) else { return Ok(None) };
    // Each with its place, counted in steps from the first one given.
    let mut answer = Answer::Proved;
    let mut places: Vec<(i128, Whole)> = Vec::new();
    for lmad in all {
        let same = (0..lmad.dims.len()).find_map(|k| {
            let (others, theirs) = without(lmad, k);
            let (_, same) = rest.matched(&others, facts)?;
            let same = same.and_then(|| facts.equal(&dim.stride, &theirs.stride));
            same.is_proved().then_some((same, theirs.last))
        });
        // One that has but one step there may lack the dimension.
        let single = || {
            let (_, same) = rest.matched(lmad, facts)?;
            same.is_proved().then_some((same, Whole::zero()))
        };
        let same = same.or_else(single);
        let Some((same, last)) = same else { return Ok(None) };
        answer = answer.and(same);
        let distance = lmad.base.sub(&all[0].base)?;
        let Some(place) = distance.exact_quotient(&step, facts).and_then(|p| p.as_constant()) else { return Ok(None) };
        places.push((place, last));
    }
    places.sort();
    let joined = |first: i128, last: Whole| -> Result<Lmad, TooLarge> {
        let mut joined = rest.clone();
        joined.base = all[0].base.add(&step.scale(first)?)?;
        joined.dims.insert(at, Dim::even(dim.index, step.clone(), last)?);
        Ok(joined)
    };
    let in_order = |(k, (place, _)): (usize, &(i128, Whole))| *place == places[0].0 + k as i128;
    if !places.iter().enumerate().all(in_order) {
        return Ok(None);
    }
    if let Some(last) = rounded_down(&places, n)? {
        return Ok(Some((joined(places[0].0, last)?, answer)));
    }
    let (start, longest) = places[0].clone();
    let shorter = longest.plus(-1)?;
    let mut long = 0;
    for (k, (_, last)) in places.iter().enumerate() {
        if k as i128 == long && *last == longest {
            long += 1;
        } else if *last != shorter {
            return Ok(None);
        }
    }
    let last = longest.scale(n)?.plus(long - 1)?;
    Ok(Some((joined(start, last)?, answer)))
}

/// A number m such that the j-th of these is ⌊(m − j)/n⌋.
fn rounded_down(places: &[(i128, Whole)], n: i128) -> Result<Option<Whole>, TooLarge> {
    let quotients = places[0].1.over().vars();
    for atom in quotients {
        let Atom::Floor(inner, by) = &atom else { continue };
        if *by != n {
            continue;
        }
        let others = places[0].1.sub(&inner.floor_div(n)?)?.scale(n)?;
        let least = inner.add(&others)?;
        for more in 0..n {
            let m = least.plus(more)?;
            let mut all = true;
            for (j, (_, last)) in places.iter().enumerate() {
                all &= *last == m.plus(-(j as i128))?.floor_div(n)?;
            }
            if all {
                return Ok(Some(m));
            }
        }
    }
    Ok(None)
}

impl Lmad {
    /// The n descriptors that take turns in a dimension of it (Theorem 2).
    ///
    /// With the last step m, every n-th step from the j-th on ends with step ⌊(m − j)/n⌋, which is negative where there is none.
    pub fn interleave(&self, at: usize, n: i128) -> Result<Vec<Lmad>, TooLarge> {
        debug_assert!(n > 0 && self.is_closed());
        let dim = &self.dims[at];
        let part = |j: i128| {
            let mut part = self.clone();
            part.base = self.base.add(&dim.stride.scale(j)?)?;
            let last = dim.last.plus(-j)?.floor_div(n)?;
            part.dims[at] = Dim::even(dim.index, dim.stride.scale(n)?, last)?;
            Ok(part)
        };
        (0..n).map(part).collect()
    }
}
