//! Descriptors of nests, loop by loop from the inside.

use super::{Dim, Ground, Lmad, Mark, Side};
use crate::polynomial::{Answer, Facts, Symbol, TooLarge, Var, Whole};

/// A loop counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub index: Symbol,
    /// The last value of the counter, negative if the loop does not run; in terms of the loops around it.
    pub last: Whole,
}

/// Nobody knows in which direction the addresses of a loop go, they depend on a value that each iteration has for itself, or they are
/// beyond what we compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMonotonic;

impl From<TooLarge> for NotMonotonic {
    fn from(TooLarge: TooLarge) -> Self {
        NotMonotonic
    }
}

impl Lmad {
    /// What an access at `offset`, a function of the counters, touches while the loops run; innermost loop first.
    pub fn of_nest(offset: Whole, bytes: i128, loops: &[Loop], ground: &mut Ground) -> Result<Lmad, NotMonotonic> {
        let mut lmad = Lmad::element(offset, bytes);
        for (depth, inner) in loops.iter().enumerate() {
            // What is around it runs, and so it is known where its counters are.
            let outer = &loops[depth + 1..];
            let known = outer.iter().fold(ground.facts.clone(), |facts, l| facts.and_counter(l.index, &l.last));
            let facts = std::mem::replace(&mut ground.facts, known);
            let expanded = lmad.expand(inner, ground);
            ground.facts = facts;
            lmad = expanded?;
        }
        Ok(lmad)
    }

    /// What all iterations of the loop touch together.
    ///
    /// The stride is the difference of the base, from which the inner dimensions start, so that it counts how they are moved by inner
    /// bounds. If it is negative the index counts from the last iteration down: then the base is the lowest address, and what the
    /// inner dimensions say of the index is said in the new one.
    pub fn expand(&self, around: &Loop, ground: &mut Ground) -> Result<Lmad, NotMonotonic> {
        let index = around.index;
        debug_assert!(self.dims.iter().all(|dim| dim.index != index));
        if self.has_values_of(index) {
            return Err(NotMonotonic);
        }
        let (mut lmad, last) = self.clone().within_guards(around, &ground.facts)?;
        let mut stride = lmad.base.difference(index)?;
        if !stride.is_zero() {
            let (facts, steps) = (lmad.where_any_free(&ground.facts, index), last.plus(-1)?);
            let facts = facts.and_counter(index, &steps);
            let rises = facts.not_negative(&stride);
            let falls = if rises.is_proved() { Answer::Unknown } else { facts.not_negative(&stride.neg()?) };
            let is_down = falls.is_proved() || (!rises.is_known() && falls.is_known());
            if !ground.accepts(if is_down { falls } else { rises }) {
                return Err(NotMonotonic);
            }
            if is_down {
                let reversed = last.sub(&Whole::symbol(index))?;
                lmad = lmad.with(index, &reversed)?;
                stride = lmad.base.difference(index)?;
            }
        }
        let span = lmad.base.with(index, &last)?;
        lmad.base = lmad.base.with(index, &Whole::zero())?;
        let span = span.sub(&lmad.base)?;
        let moves = !stride.is_zero() || lmad.depends_on(index);
        if last.is_zero() && !lmad.depends_on(index) {
            return Ok(lmad);
        }
        if moves {
            // In front of those that it depends on there is nothing: outer loops come later.
            lmad.dims.push(Dim { index, stride, span, last });
        } else {
            if !ground.facts.proves_not_negative(&last) {
                lmad = lmad.guarded(last);
            }
        }
        Ok(lmad)
    }

    /// It speaks of a value that is another one in each iteration of the loop, or of a loop in it.
    fn has_values_of(&self, index: Symbol) -> bool {
        let Symbol::Var(Var::Counter(counter)) = index else { return false };
        let mut found = false;
        let mut look = |x: &Whole| {
            x.for_each_symbol(&mut |s| found |= matches!(s, Symbol::Opaque(id) if id.counter >= counter));
        };
        look(&self.base);
        self.guards.iter().for_each(&mut look);
        self.dims.iter().for_each(|dim| [&dim.stride, &dim.span, &dim.last].into_iter().for_each(&mut look));
        found
    }

    /// What holds wherever there is a byte in it at one value of `index`, as far as it speaks of nothing that is bound in it.
    fn where_any_free(&self, facts: &Facts, index: Symbol) -> Facts {
        // Of one value of the index: what it says of that may not hold at the next.
        let free = |x: &&Whole| !x.has(index) && !self.dims.iter().any(|dim| x.has(dim.index));
        let known: Vec<&Whole> = self.guards.iter().chain(self.dims.iter().map(|dim| &dim.last)).filter(free).collect();
        facts.and(&known)
    }

    /// Guards that speak of the loop's counter become bounds of it; the others stay.
    ///
    /// `±i + r ≥ 0` cuts one end off. What is cut off in front is added to the counter, so that it counts from 0 again.
    fn within_guards(mut self, around: &Loop, facts: &Facts) -> Result<(Lmad, Whole), TooLarge> {
        let mut last = around.last.clone();
        let index = Whole::symbol(around.index);
        let mut at = 0;
        while let Some(guard) = self.guards.get(at).cloned() {
            if !guard.has(around.index) {
                at += 1;
                continue;
            }
            if facts.and_counter(around.index, &last).proves_not_negative(&guard) {
                self.guards.remove(at);
                continue;
            }
            let rest = guard.with(around.index, &Whole::zero())?;
            let slope = guard.sub(&rest)?;
            if slope == index.neg()? {
                self.guards.remove(at);
                last = facts.min(&last, &rest)?;
            } else if slope == index {
                // i ≥ −r: j = i − max(−r, 0)
                self.guards.remove(at);
                let cut = facts.max(&rest.neg()?, &Whole::zero())?;
                self = self.with(around.index, &index.add(&cut)?)?;
                last = last.sub(&cut)?;
                at = 0;
            } else {
                at += 1;
            }
        }
        Ok((self, last))
    }

    /// With a value of which only a range is known: all of the range for what may be touched, what is touched for each of its values for
    /// what certainly is.
    ///
    /// Requires: low ≤ value ≤ high in each iteration. `None`: nothing is known then.
    pub fn bounded(
        &self,
        value: Symbol,
        low: &Whole,
        high: &Whole,
        side: Side,
        facts: &Facts,
    ) -> Result<Option<Lmad>, TooLarge> {
        if !self.depends_on(value) {
            return Ok(Some(self.clone()));
        }
        let mut lmad = self.clone();
        let width = high.sub(low)?;
        let facts = facts.and(&[&width]);
        // Every dimension that it decides about has as many steps as it ever has, or as few.
        for dim in &mut lmad.dims {
            if dim.stride.has(value) {
                return Ok(None);
            }
            if dim.last.has(value) {
                let Some(last) = extreme(&dim.last, value, low, high, side, &facts)? else { return Ok(None) };
                let even = dim.stride.mul(&dim.last)? == dim.span;
                if !even {
                    return Ok(None);
                }
                *dim = Dim::even(dim.index, dim.stride.clone(), last)?;
            }
        }
        let guards = std::mem::take(&mut lmad.guards);
        for guard in guards {
            let Some(guard) = extreme(&guard, value, low, high, side, &facts)? else { return Ok(None) };
            lmad = lmad.guarded(guard);
        }
        if lmad.base.has(value) {
            if side == Side::Must {
                return Ok(None);
            }
            let index = lmad.free_index();
            lmad.base = lmad.base.with(value, &low.add(&Whole::symbol(index))?)?;
            let mut ground = Ground::proved(facts);
            // It runs: the value has a value.
            let Ok(expanded) = lmad.expand(&Loop { index, last: width }, &mut ground) else { return Ok(None) };
            lmad = expanded;
        }
        Ok(Some(match side {
            Side::May => lmad.marked(Mark::Over),
            Side::Must => lmad.marked(Mark::Under),
        }))
    }
}

/// The greatest `x` for any value in the range, or the least.
fn extreme(
    x: &Whole,
    value: Symbol,
    low: &Whole,
    high: &Whole,
    side: Side,
    facts: &Facts,
) -> Result<Option<Whole>, TooLarge> {
    if !x.has(value) {
        return Ok(Some(x.clone()));
    }
    let step = Whole::symbol(value).sub(low)?;
    let rest = high.sub(&Whole::symbol(value))?.plus(-1)?;
    let inside = facts.and(&[&step, &rest]);
    let difference = x.difference(value)?;
    let rises = inside.proves_not_negative(&difference);
    if !rises && !inside.proves_not_negative(&difference.neg()?) {
        return Ok(None);
    }
    x.with(value, if rises == (side == Side::May) { high } else { low }).map(Some)
}
