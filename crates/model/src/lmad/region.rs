//! What something touches of one array: a few descriptors together.

use super::aggregate::{interleaved, union_mark};
use super::{Dim, Ground, Lmad, Loop, Mark, Side};
use crate::polynomial::{Answer, Facts, Symbol, TooLarge, Whole};
use num_integer::gcd;

/// More are estimated, or left out.
pub const MAX_DESCRIPTORS: usize = 16;

/// The union of its parts: what may be touched, or what certainly is.
///
/// Every part is exact or an estimate on the region's side. Without a part that is all: nothing is touched.
#[derive(Clone, Debug)]
pub struct Region {
    side: Side,
    parts: Vec<Lmad>,
    /// So many of the first parts are not one with each other, as far as it was found out.
    settled: usize,
    /// So many of the first parts have no dimensions that are one.
    simple: usize,
    /// Anything of the array may be touched.
    all: bool,
    /// Something certain was left out, or something that is not touched is in it.
    is_estimate: bool,
}

impl Region {
    pub fn nothing(side: Side) -> Region {
        Region { side, parts: Vec::new(), settled: 0, simple: 0, all: false, is_estimate: false }
    }
    /// Nobody knows what: any byte of what may be touched, none of what certainly is.
    pub fn anything(side: Side) -> Region {
        Region { all: side == Side::May, is_estimate: true, ..Region::nothing(side) }
    }
    pub fn parts(&self) -> &[Lmad] {
        &self.parts
    }
    pub fn side(&self) -> Side {
        self.side
    }
    pub fn is_all(&self) -> bool {
        self.all
    }
    pub fn mark(&self) -> Mark {
        let exact = !self.is_estimate && self.parts.iter().all(|part| part.mark == Mark::Exact);
        if exact { Mark::Exact } else { self.side.mark() }
    }

    /// With another descriptor; one that is an estimate on the other side says nothing. What is one together is found by
    /// [`Self::simplify`].
    pub fn add(&mut self, lmad: &Lmad, ground: &mut Ground) {
        if !self.side.bears(lmad.mark) {
            self.forget();
            return;
        }
        if self.all || lmad.is_empty(&ground.facts) {
            return;
        }
        if let Some(at) = self.parts.iter().position(|part| lmad.proves_contained_in(part, &ground.facts)) {
            // It adds nothing to the set, but what it is not sure of it is not.
            let mark = union_mark(self.parts[at].mark, lmad.mark).unwrap_or(self.side.mark());
            let part = self.parts.remove(at).remarked(mark);
            self.parts.insert(at, part);
            return;
        }
        self.parts.push(lmad.clone());
        if self.parts.len() > MAX_DESCRIPTORS {
            self.simplify(ground);
        }
    }
    pub fn add_all(&mut self, other: &Region, ground: &mut Ground) {
        if other.all {
            self.forget();
        }
        self.is_estimate |= other.is_estimate;
        for part in &other.parts {
            self.add(part, ground);
        }
    }
    fn forget(&mut self) {
        self.is_estimate = true;
        if self.side == Side::May {
            *self = Region::anything(Side::May);
        }
    }
    fn take(&mut self, at: usize) -> Lmad {
        self.settled -= usize::from(at < self.settled);
        self.simple -= usize::from(at < self.simple);
        self.parts.remove(at)
    }

    /// Puts together what is one, until nothing is, and keeps to the limit.
    ///
    /// Which pairs are put together first makes no difference where they meet along the same dimension (Theorem 4); where several
    /// take turns, all of them are needed at once, so that these are looked for first.
    pub fn simplify(&mut self, ground: &mut Ground) {
        loop {
            // Dimensions that are not yet one with others are what they meet along.
            while self.take_turns(ground) || self.join_pair(ground) {}
            let mut is_simpler = false;
            for part in &mut self.parts[self.simple..] {
                if let Ok(simple) = part.simplified(ground) {
                    is_simpler |= simple.dims.len() < part.dims.len();
                    *part = simple;
                }
            }
            // Each round has fewer parts, or as many with fewer dimensions.
            if is_simpler {
                self.settled = self.simple;
                continue;
            }
            self.simple = self.parts.len();
            if self.parts.len() <= MAX_DESCRIPTORS {
                return;
            }
            self.estimate_one(ground);
        }
    }

    fn join_pair(&mut self, ground: &mut Ground) -> bool {
        while self.settled < self.parts.len() {
            let new = self.settled;
            for other in 0..new {
                if let Some(joined) = self.parts[other].union(&self.parts[new], ground) {
                    self.take(new);
                    self.take(other);
                    self.parts.push(joined);
                    return true;
                }
            }
            self.settled += 1;
        }
        false
    }

    /// Three or more that are interleaved.
    fn take_turns(&mut self, ground: &mut Ground) -> bool {
        let most = if self.settled < self.parts.len() { self.parts.len() } else { 0 };
        for n in (3..=most).rev() {
            for at in 0..self.parts.len() {
                let Some(turns) = self.turns_from(at, n, &ground.facts) else { continue };
                let all: Vec<&Lmad> = turns.iter().map(|&k| &self.parts[k]).collect();
                let Some(mark) = all.iter().try_fold(Mark::Exact, |mark, lmad| union_mark(mark, lmad.mark)) else {
                    continue;
                };
                if let Some(joined) = interleaved(&all, ground) {
                    let mut gone = turns.clone();
                    gone.sort();
                    gone.into_iter().rev().for_each(|k| drop(self.take(k)));
                    self.parts.push(joined.remarked(mark));
                    return true;
                }
            }
        }
        false
    }

    /// Those of the parts that would come one n-th of a stride of this one after the other.
    fn turns_from(&self, at: usize, n: usize, facts: &Facts) -> Option<Vec<usize>> {
        let first = &self.parts[at];
        let count = Whole::constant(n as i128);
        first.dims.iter().find_map(|dim| {
            let step = dim.stride.exact_quotient(&count, facts)?;
            let mut base = first.base.clone();
            let mut found = vec![at];
            for _ in 1..n {
                base = base.add(&step).ok()?;
                found
                    .push(self.parts.iter().position(|part| part.base == base && part.dims.len() == first.dims.len())?);
            }
            Some(found)
        })
    }

    /// One descriptor less: two are replaced by a hull, or one is left out.
    fn estimate_one(&mut self, ground: &mut Ground) {
        self.is_estimate = true;
        if self.parts.is_empty() {
            return;
        }
        let last = self.take(self.parts.len() - 1);
        if self.side == Side::Must {
            return;
        }
        // The nearest one, by the numbers; what cannot be compared comes last.
        let distance = |part: &Lmad| {
            let distance = part.base.sub(&last.base).ok().and_then(|d| d.as_constant()).map(i128::unsigned_abs);
            (distance.is_none(), distance.unwrap_or(0), part.bytes != last.bytes)
        };
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|&k| distance(&self.parts[k]));
        for k in order {
            if let Some(hull) = self.parts[k].hull(&last, &ground.facts) {
                self.take(k);
                self.parts.push(hull);
                return;
            }
        }
        self.forget();
    }

    /// What all iterations of a loop touch together.
    pub fn expand(&self, around: &Loop, ground: &mut Ground) -> Region {
        let mut whole = Region { is_estimate: self.is_estimate, all: self.all, ..Region::nothing(self.side) };
        for part in &self.parts {
            match part.expand(around, ground) {
                Ok(expanded) => {
                    let expanded = expanded.simplified(ground).unwrap_or(expanded);
                    whole.add(&expanded, ground);
                }
                Err(_) => whole.forget(),
            }
        }
        whole
    }

    /// With a value that is known up to a range.
    pub fn bounded(&self, value: Symbol, low: &Whole, high: &Whole, ground: &mut Ground) -> Region {
        let mut whole = Region { is_estimate: self.is_estimate, all: self.all, ..Region::nothing(self.side) };
        for part in &self.parts {
            match part.bounded(value, low, high, self.side, &ground.facts) {
                Ok(Some(bounded)) => whole.add(&bounded, ground),
                Ok(None) | Err(TooLarge) => whole.forget(),
            }
        }
        whole
    }

    /// Nothing of it is in the other one. Both are regions of what may be touched.
    pub fn disjoint(&self, other: &Region, facts: &Facts) -> Answer {
        if self.side != Side::May || other.side != Side::May {
            return Answer::Unknown;
        }
        let is_nothing = |region: &Region| !region.all && region.parts.is_empty();
        if is_nothing(self) || is_nothing(other) {
            return Answer::Proved;
        }
        if self.all || other.all {
            return Answer::Unknown;
        }
        let mut answer = Answer::Proved;
        for part in &self.parts {
            for theirs in &other.parts {
                answer = answer.and_then(|| part.disjoint(theirs, facts));
            }
        }
        answer
    }

    /// All of it is in the other one: what may be touched in what certainly is.
    pub fn covered_by(&self, other: &Region, facts: &Facts) -> Answer {
        let says = |region: &Region, side: Side| region.side == side || region.mark() == Mark::Exact;
        if self.all || !says(self, Side::May) || !says(other, Side::Must) {
            return Answer::Unknown;
        }
        let each = |part: &Lmad| {
            let mut answer = Answer::Unknown;
            for cover in &other.parts {
                answer = answer.or_else(|| part.contained_in(cover, facts));
            }
            if answer.is_known() {
                return answer;
            }
            // Several may cover it together.
            let mut ground = Ground::proved(facts.clone());
            let mut left = vec![part.clone()];
            for cover in &other.parts {
                left = left.iter().flat_map(|piece| piece.subtract(cover, Side::May, &mut ground)).collect();
                if left.len() > MAX_DESCRIPTORS {
                    return Answer::Unknown;
                }
            }
            Answer::if_proved(left.is_empty())
        };
        self.parts.iter().fold(Answer::Proved, |answer, part| answer.and_then(|| each(part)))
    }

    pub fn intersection(&self, other: &Region, ground: &mut Ground) -> Region {
        let mut both = Region { is_estimate: self.is_estimate || other.is_estimate, ..Region::nothing(self.side) };
        if self.all || other.all {
            let rest = if self.all { other } else { self };
            return Region { side: self.side, is_estimate: true, ..rest.clone() };
        }
        for part in &self.parts {
            for theirs in &other.parts {
                if let Some(common) = part.intersection(theirs, self.side, ground) {
                    both.add(&common, ground);
                }
            }
        }
        both
    }

    /// Without what is in the other one, which is of the other side.
    pub fn subtract(&self, other: &Region, ground: &mut Ground) -> Region {
        if self.all || other.all && self.side == Side::May {
            return self.clone();
        }
        if other.all {
            return Region { is_estimate: true, ..Region::nothing(self.side) };
        }
        let mut left = self.parts.clone();
        for theirs in &other.parts {
            left = left.iter().flat_map(|piece| piece.subtract(theirs, self.side, ground)).collect();
        }
        let mut rest = Region { is_estimate: self.is_estimate || other.is_estimate, ..Region::nothing(self.side) };
        left.iter().for_each(|piece| rest.add(piece, ground));
        rest
    }
}

impl Lmad {
    /// One run of equal steps in which both are.
    fn hull(&self, other: &Lmad, facts: &Facts) -> Option<Lmad> {
        let hull = || -> Result<Option<Lmad>, TooLarge> {
            let (Some(a), Some(b)) = (self.closed(Side::May, facts)?, other.closed(Side::May, facts)?) else {
                return Ok(None);
            };
            // Both ends of both, as if they ran: the run between is only longer for that.
            let ends = |lmad: &Lmad| {
                let (mut low, mut high) = (lmad.base.clone(), lmad.base.plus(lmad.bytes)?);
                for dim in &lmad.dims {
                    let span = facts.max(&dim.last, &Whole::zero())?.mul(&dim.stride)?;
                    low = low.add(&facts.min(&span, &Whole::zero())?)?;
                    high = high.add(&facts.max(&span, &Whole::zero())?)?;
                }
                Ok::<_, TooLarge>((low, high))
            };
            let ((low, high), (other_low, other_high)) = (ends(&a)?, ends(&b)?);
            let (low, high) = (facts.min(&low, &other_low)?, facts.max(&high, &other_high)?);
            let length = high.sub(&low)?;
            let bytes = gcd(a.bytes, b.bytes);
            let elements = length.exact_quotient(&Whole::constant(bytes), facts).map(|n| (bytes, n));
            let (bytes, elements) = elements.unwrap_or((1, length));
            let dim = Dim::even(self.free_index(), Whole::constant(bytes), elements.plus(-1)?)?;
            let run = Lmad { dims: vec![dim], mark: Mark::Over, ..Lmad::element(low, bytes) };
            run.normalised(facts).map(Some)
        };
        hull().ok().flatten()
    }
}
