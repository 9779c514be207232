//! Estimates without indices: what is left of triangles and parabolas that are no regular sets.

use super::{Dim, Lmad, Mark, Side};
use crate::polynomial::{Facts, Symbol, TooLarge, Whole};
use std::borrow::Cow;

impl Lmad {
    /// A closed descriptor that contains it, or lies in it.
    ///
    /// `None`: none is known that contains it.
    pub fn closed(&self, side: Side, facts: &Facts) -> Result<Option<Cow<'_, Lmad>>, TooLarge> {
        if self.is_closed() {
            return Ok(Some(Cow::Borrowed(self)));
        }
        if side == Side::Must {
            return Ok(Some(Cow::Owned(Lmad::empty(self.bytes).marked(Mark::Under))));
        }
        let mut lmad = self.clone();
        // Without a condition there are no fewer bytes.
        let own: Vec<Symbol> = lmad.dims.iter().map(|dim| dim.index).collect();
        let bound = |x: &Whole| own.iter().any(|index| x.has(*index));
        lmad.guards.retain(|guard| !bound(guard));
        let each = self.where_each(facts);
        for at in 0..lmad.dims.len() {
            let Some(dim) = closed_dim(&lmad.dims[at], &own, &each)? else { return Ok(None) };
            lmad.dims[at] = dim;
        }
        Ok(Some(Cow::Owned(lmad.marked(Mark::Over))))
    }

    /// The steps of a closed descriptor: base, strides and lasts, each for itself.
    pub(super) fn on_side(&self, side: Side, facts: &Facts) -> Option<Cow<'_, Lmad>> {
        self.closed(side, facts).ok().flatten()
    }
}

/// A dimension in which all steps of this one are, whatever the indices.
fn closed_dim(dim: &Dim, own: &[Symbol], each: &Facts) -> Result<Option<Dim>, TooLarge> {
    let bound = |x: &Whole| own.iter().any(|index| x.has(*index));
    if !bound(&dim.stride) {
        let Some(last) = greatest(&dim.last, own, each)? else { return Ok(None) };
        return Dim::even(dim.index, dim.stride.clone(), last).map(Some);
    }
    // What divides all coefficients divides all strides, and so all their sums; none is beyond the whole span if none goes back.
    let before_last = dim.last.sub(&Whole::symbol(dim.index))?.plus(-1)?;
    if dim.stride.by() != 1 || !each.and(&[&before_last]).proves_not_negative(&dim.stride) {
        return Ok(None);
    }
    let stride = Whole::constant(dim.stride.over().content());
    let Some(span) = greatest(&dim.span, own, each)? else { return Ok(None) };
    let Some(last) = span.exact_quotient(&stride, each) else { return Ok(None) };
    Dim::even(dim.index, stride, last).map(Some)
}

/// The greatest value for any values of the indices.
fn greatest(x: &Whole, own: &[Symbol], each: &Facts) -> Result<Option<Whole>, TooLarge> {
    let mut x = x.clone();
    // From the inside: what an inner bound is replaced by may speak of outer ones.
    let mut left: Vec<Symbol> = own.iter().copied().filter(|index| x.has(*index)).collect();
    let mut rounds = own.len() * 2;
    while let Some(index) = left.first().copied() {
        let Some(value) = each.extreme_at(&x, index) else { return Ok(None) };
        x = x.with(index, &value)?;
        left = own.iter().copied().filter(|index| x.has(*index)).collect();
        rounds = match rounds.checked_sub(1) {
            Some(rounds) => rounds,
            None => return Ok(None),
        };
    }
    Ok(Some(x))
}
