//! Intersection and subtraction of two descriptors, exact where the steps of both can be told apart.

use super::{Dim, Ground, Lmad, Mark, Side};
use crate::polynomial::{Facts, Symbol, TooLarge, Whole};
use num_integer::{Integer, gcd};

impl Lmad {
    /// What is in both: exactly, or estimated on the given side; `None` is the empty set.
    ///
    /// Requires: one of them at least is exact or an estimate on that side.
    pub fn intersection(&self, other: &Lmad, side: Side, ground: &mut Ground) -> Option<Lmad> {
        let mark = if (self.mark, other.mark) == (Mark::Exact, Mark::Exact) { Mark::Exact } else { side.mark() };
        Some(self.common(other, side, ground)?.marked(mark))
    }

    fn common(&self, other: &Lmad, side: Side, ground: &mut Ground) -> Option<Lmad> {
        match (side.bears(self.mark), side.bears(other.mark), side) {
            (true, true, _) => {}
            (true, false, Side::May) => return Some(self.clone()),
            (false, true, Side::May) => return Some(other.clone()),
            (false, _, Side::Must) | (_, false, Side::Must) => return None,
            (false, false, Side::May) => return Some(self.clone()),
        }
        if ground.accepts(self.disjoint(other, &ground.facts)) {
            return None;
        }
        if self.proves_contained_in(other, &ground.facts) {
            return Some(self.clone());
        }
        if other.proves_contained_in(self, &ground.facts) {
            return Some(other.clone());
        }
        if let Ok(Some(common)) = Boxes::of(self, other, &ground.facts)
            && let Ok(both) = common.both(&ground.facts)
        {
            if common.is_exact {
                return Some(both);
            }
            if side == Side::Must {
                return Some(both.marked(Mark::Under));
            }
        }
        if let Some(both) = self.progression_with(other) {
            return Some(both);
        }
        match side {
            // Each contains what is in both.
            Side::May if other.dims.len() < self.dims.len() => Some(other.clone().marked(Mark::Over)),
            Side::May => Some(self.clone().marked(Mark::Over)),
            Side::Must => Some(Lmad::empty(self.bytes).marked(Mark::Under)),
        }
    }

    /// What is in it and not in the other one, exactly or estimated on the given side, in several pieces or none.
    ///
    /// Requires: it is exact or an estimate on that side. The other one is of use where it is not: what may be taken away makes certain
    /// what is left, what is taken away for certain bounds it.
    pub fn subtract(&self, other: &Lmad, side: Side, ground: &mut Ground) -> Vec<Lmad> {
        let other_side = if side == Side::May { Side::Must } else { Side::May };
        let mark = if (self.mark, other.mark) == (Mark::Exact, Mark::Exact) { Mark::Exact } else { side.mark() };
        let pieces = match (other_side.bears(other.mark), side) {
            (true, _) => self.without(other, side, ground),
            (false, Side::May) => vec![self.clone()],
            (false, Side::Must) => Vec::new(),
        };
        pieces.into_iter().map(|piece| piece.marked(mark)).collect()
    }

    fn without(&self, other: &Lmad, side: Side, ground: &mut Ground) -> Vec<Lmad> {
        if ground.accepts(self.disjoint(other, &ground.facts)) {
            return vec![self.clone()];
        }
        if ground.accepts(self.contained_in(other, &ground.facts)) {
            return Vec::new();
        }
        if let Ok(Some(common)) = Boxes::of(self, other, &ground.facts)
            && let Ok(pieces) = common.first_alone(&ground.facts)
        {
            // Steps that both have are left out. Other steps may lead to the same bytes, so that too much is left.
            if common.is_exact {
                return pieces;
            }
            if side == Side::May {
                return pieces.into_iter().map(|piece| piece.marked(Mark::Over)).collect();
            }
        }
        match side {
            Side::May => vec![self.clone().marked(Mark::Over)],
            Side::Must => Vec::new(),
        }
    }

    /// The intersection of two progressions of numbers.
    fn progression_with(&self, other: &Lmad) -> Option<Lmad> {
        let progression = |lmad: &Lmad| {
            let [Dim { stride, last, .. }] = lmad.dims.as_slice() else { return None };
            let numbers = (lmad.base.as_constant()?, stride.as_constant()?, last.as_constant()?);
            (numbers.1 > 0 && numbers.2 >= 0 && lmad.guards.is_empty()).then_some(numbers)
        };
        let ((a, s, m), (b, t, n)) = (progression(self)?, progression(other)?);
        if self.bytes != other.bytes {
            return None;
        }
        // Elements that lie on each other in part meet in fewer bytes than one has.
        let g = gcd(s, t);
        if g < self.bytes {
            return None;
        }
        let distance = b.checked_sub(a)?;
        if distance % g != 0 {
            return None;
        }
        // a + s·x ≡ b modulo t
        let euclid = (s / g).extended_gcd(&(t / g));
        let first = (distance / g).checked_mul(euclid.x)?.rem_euclid(t / g);
        let step = s.checked_mul(t / g)?;
        let common = a.checked_add(s.checked_mul(first)?)?;
        let low = a.max(b);
        let low = if common < low {
            common.checked_add(step.checked_mul(Integer::div_ceil(&(low - common), &step))?)?
        } else {
            common
        };
        let high = a.checked_add(s.checked_mul(m)?)?.min(b.checked_add(t.checked_mul(n)?)?);
        let last = Whole::constant((high.checked_sub(low)?).div_euclid(step));
        Lmad::regular(Whole::constant(low), &[(Whole::constant(step), last)], self.bytes).ok()
    }
}

/// Two descriptors as boxes of steps along the same strides.
struct Boxes {
    axes: Vec<Axis>,
    base: Whole,
    bytes: i128,
    guards: Vec<Whole>,
    of_first: Vec<Whole>,
    /// Different steps lead to different elements, which have no byte in common.
    is_exact: bool,
}

/// The first goes from 0 to `first`, the second from `start` to `start + second`.
struct Axis {
    index: Symbol,
    stride: Whole,
    first: Whole,
    start: Whole,
    second: Whole,
}

impl Boxes {
    fn of(a: &Lmad, b: &Lmad, facts: &Facts) -> Result<Option<Boxes>, TooLarge> {
        if !a.is_closed() || !b.is_closed() || a.bytes != b.bytes {
            return Ok(None);
        }
        let mut axes: Vec<Axis> = Vec::new();
        for dim in &a.dims {
            let (stride, first) = (dim.stride.clone(), dim.last.clone());
            axes.push(Axis { index: dim.index, stride, first, start: Whole::zero(), second: Whole::zero() });
        }
        let mut taken = vec![false; axes.len()];
        let mut finer: Option<Lmad> = None;
        for dim in &b.dims {
            match (0..a.dims.len()).find(|&k| !taken[k] && axes[k].stride == dim.stride) {
                Some(k) => {
                    taken[k] = true;
                    axes[k].second = dim.last.clone();
                }
                None => {
                    let all = finer.get_or_insert_with(|| a.clone());
                    let index = all.free_index();
                    all.dims.push(Dim::even(index, dim.stride.clone(), Whole::zero())?);
                    let (stride, second) = (dim.stride.clone(), dim.last.clone());
                    axes.push(Axis { index, stride, first: Whole::zero(), start: Whole::zero(), second });
                }
            }
        }
        let facts = b.where_any(&a.where_any(facts));
        let mut sorted: Vec<Axis> = Vec::new();
        for axis in axes {
            let larger = |other: &Axis| facts.proves_less(&axis.stride, &other.stride);
            let at = sorted.iter().position(larger).unwrap_or(sorted.len());
            sorted.insert(at, axis);
        }
        let mut axes = sorted;
        let distance = b.base.sub(&a.base)?;
        let Some(starts) = starts(&axes, axes.len(), &distance, &facts)? else { return Ok(None) };
        for (axis, start) in axes.iter_mut().zip(starts) {
            axis.start = start;
        }
        // How far two of all these steps are from each other at most.
        let mut together = Lmad::element(Whole::zero(), a.bytes);
        let mut reach = Vec::new();
        for axis in &axes {
            let low = facts.min(&axis.start, &Whole::zero())?;
            let high = facts.max(&axis.first, &axis.start.add(&axis.second)?)?;
            reach.push(high.sub(&low)?);
            together.dims.push(Dim::even(axis.index, axis.stride.clone(), high)?);
        }
        let is_exact = together.is_injective(&reach, &facts).is_proved();
        let mut guards = a.guards.clone();
        guards.extend(b.guards.iter().cloned());
        Ok(Some(Boxes { axes, base: a.base.clone(), bytes: a.bytes, guards, of_first: a.guards.clone(), is_exact }))
    }

    fn lmad(&self, ranges: &[(Whole, Whole)], guards: &[Whole], facts: &Facts) -> Result<Lmad, TooLarge> {
        let mut lmad = Lmad::element(self.base.clone(), self.bytes);
        for (axis, (low, high)) in self.axes.iter().zip(ranges) {
            lmad.base = lmad.base.add(&axis.stride.mul(low)?)?;
            lmad.dims.push(Dim::even(axis.index, axis.stride.clone(), high.sub(low)?)?);
        }
        lmad.guards = guards.to_vec();
        lmad.normalised(facts)
    }

    fn shared(axis: &Axis, facts: &Facts) -> Result<(Whole, Whole), TooLarge> {
        let end = axis.start.add(&axis.second)?;
        Ok((facts.max(&axis.start, &Whole::zero())?, facts.min(&axis.first, &end)?))
    }

    fn both(&self, facts: &Facts) -> Result<Lmad, TooLarge> {
        let ranges = self.axes.iter().map(|axis| Self::shared(axis, facts)).collect::<Result<Vec<_>, _>>()?;
        self.lmad(&ranges, &self.guards, facts)
    }

    /// Along each axis in turn: what is before the second, what is behind it, and the rest goes on.
    ///
    /// Where the second does not run along an axis, what is before and behind it is all of the first.
    fn first_alone(&self, facts: &Facts) -> Result<Vec<Lmad>, TooLarge> {
        let mut pieces = Vec::new();
        let mut ranges: Vec<(Whole, Whole)> =
            self.axes.iter().map(|axis| (Whole::zero(), axis.first.clone())).collect();
        for (k, axis) in self.axes.iter().enumerate().rev() {
            let before = (Whole::zero(), facts.min(&axis.first, &axis.start.plus(-1)?)?);
            let end = axis.start.add(&axis.second)?.plus(1)?;
            let behind = (facts.max(&end, &Whole::zero())?, axis.first.clone());
            for part in [before, behind] {
                ranges[k] = part;
                let piece = self.lmad(&ranges, &self.of_first, facts)?;
                if !piece.is_empty(facts) {
                    pieces.push(piece);
                }
            }
            ranges[k] = Self::shared(axis, facts)?;
        }
        // Where the second one is empty for another reason, all that was taken out is there.
        let others: Vec<&Whole> = self.guards.iter().filter(|guard| !self.of_first.contains(guard)).collect();
        for guard in others {
            let mut guards = self.of_first.clone();
            guards.push(guard.neg()?.plus(-1)?);
            let all = self.axes.iter().map(|axis| (Whole::zero(), axis.first.clone())).collect::<Vec<_>>();
            let piece = self.lmad(&all, &guards, facts)?;
            if !piece.is_empty(facts) {
                pieces.push(piece);
            }
        }
        Ok(pieces)
    }
}

/// The distance as steps along the axes, from the largest stride down.
fn starts(axes: &[Axis], above: usize, distance: &Whole, facts: &Facts) -> Result<Option<Vec<Whole>>, TooLarge> {
    let Some(at) = above.checked_sub(1) else { return Ok(distance.is_zero().then(Vec::new)) };
    let axis = &axes[at];
    let mut tried: Vec<Whole> = distance.exact_quotient(&axis.stride, facts).into_iter().collect();
    if above > 1 {
        let rough = distance.rough_quotient(&axis.stride).unwrap_or(Whole::zero());
        tried.extend([rough.clone(), rough.plus(1)?, Whole::zero()]);
    }
    // With these steps the two boxes meet along the axis, if there is such a way to write the distance.
    let meets = |start: &Whole| {
        !facts.proves_less(&axis.first, start) && start.add(&axis.second).is_ok_and(|end| !facts.is_negative(&end))
    };
    for start in tried.iter().filter(|start| meets(start)) {
        let rest = distance.sub(&start.mul(&axis.stride)?)?;
        if let Some(mut starts) = starts(axes, at, &rest, facts)? {
            starts.push(start.clone());
            return Ok(Some(starts));
        }
    }
    Ok(None)
}
