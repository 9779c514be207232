//! The subscripts of one access in a given shape, and where they leave it.

use super::access::{Linear, covering};
use super::candidates::Chain;
use super::division::divide;
use crate::polynomial::Polynomial;
use isl::{DimType, IslError, Map, PwAff, Set};

/// Subscripts on disjoint parts of the domain; they are right for all parameters outside of `broken`.
pub struct View {
    pub pieces: Vec<(Set, Vec<Polynomial>)>,
    /// `None`: in range for all parameters.
    pub broken: Option<Set>,
}

/// What is done about a subscript that may leave its dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// The shape is not taken.
    Proof,
    /// The parameters for which it does are excluded.
    Condition,
}

/// `cells = Σ subscriptₖ·strideₖ`, all subscripts affine; nothing is said about their range.
pub fn divide_offset(cells: &Polynomial, chain: &Chain) -> Option<Vec<Polynomial>> {
    let mut subscripts = Vec::new();
    let mut rest = cells.clone();
    for stride in &chain.strides {
        let (quotient, left) = divide(&rest, stride).ok()?;
        if !quotient.is_affine() {
            return None;
        }
        subscripts.push(quotient);
        rest = left;
    }
    subscripts.push(rest);
    subscripts.last()?.is_affine().then_some(subscripts)
}

/// `None`: the shape does not fit this access, or fits only where it never happens.
pub fn view(access: &Linear, chain: &Chain, demand: Demand) -> Result<Option<View>, IslError> {
    let mut whole = View { pieces: Vec::new(), broken: None };
    for (domain, cells) in &access.pieces {
        let Some(subscripts) = divide_offset(cells, chain) else { return Ok(None) };
        let mut parts = vec![(domain.clone(), subscripts)];
        for dim in (1..=chain.sizes.len()).rev() {
            let count = if dim == chain.sizes.len() { access.count } else { 1 };
            let mut placed = Vec::new();
            for part in parts {
                let dimension = Dimension { at: dim, size: &chain.sizes[dim - 1], count, demand };
                let Some(more) = dimension.place(part, &mut whole.broken)? else { return Ok(None) };
                placed.extend(more);
            }
            parts = placed;
        }
        whole.pieces.extend(parts);
    }
    Ok(Some(whole))
}

/// One inner dimension: subscripts there should be in 0 .. size, for `count` cells from them on.
struct Dimension<'a> {
    at: usize,
    size: &'a Polynomial,
    count: i64,
    demand: Demand,
}

type Part = (Set, Vec<Polynomial>);

impl Dimension<'_> {
    /// Moves whole multiples of the size between this subscript f and the next outer one until f is in range, innermost
    /// dimension first: (…, g, f, …) and (…, g + k, f − k·size, …) are the same cell for every k.
    fn place(&self, part: Part, broken: &mut Option<Set>) -> Result<Option<Vec<Part>>, IslError> {
        let (domain, subscripts) = &part;
        let f = &subscripts[self.at];
        if self.size.degree() == 0 {
            let k = self.constant_multiple(domain, f)?;
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let (low, high) = self.outside(domain, &moved[self.at])?;
            return self.one_piece((domain.clone(), moved), &low, &high, broken);
        }
        let (low, high) = self.outside(domain, f)?;
        let (is_low, is_high) = (!low.is_empty()?, !high.is_empty()?);
        if !is_low && !is_high {
            return Ok(Some(vec![part]));
        }
        // All on one side: one row further.
        if is_low != is_high {
            let k = if is_low { -1 } else { 1 };
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let (still_low, still_high) = self.outside(domain, &moved[self.at])?;
            if still_low.is_empty()? && still_high.is_empty()? {
                return Ok(Some(vec![(domain.clone(), moved)]));
            }
        }
        // Partly in the row before or after: a piece for each. Where f < 0 and f + size ≥ 0 the size is positive, so that
        // f + size is in range; likewise above.
        let mut pieces = Vec::new();
        let (mut low_left, mut high_left) = (low.clone(), high.clone());
        if self.count == 1 {
            if is_low {
                let Some(moved) = self.moved(&part, -1) else { return Ok(None) };
                let left = self.outside(&low, &moved[self.at])?.0;
                if left.is_empty()? {
                    pieces.push((low.clone(), moved));
                    low_left = left;
                }
            }
            if is_high {
                let Some(moved) = self.moved(&part, 1) else { return Ok(None) };
                let left = self.outside(&high, &moved[self.at])?.1;
                if left.is_empty()? {
                    pieces.push((high.clone(), moved));
                    high_left = left;
                }
            }
        }
        if !pieces.is_empty() {
            let mut middle = domain.clone();
            for (taken, _) in &pieces {
                middle = middle.subtract(taken)?;
            }
            if !middle.is_empty()? {
                pieces.insert(0, (middle.coalesce()?, subscripts.clone()));
            }
            return self.pieces(pieces, &low_left, &high_left, broken);
        }
        self.conditionally(part, &low, &high, broken)
    }

    /// The row under a condition on the parameters: this one, unless that never holds.
    fn conditionally(
        &self,
        part: Part,
        low: &Set,
        high: &Set,
        broken: &mut Option<Set>,
    ) -> Result<Option<Vec<Part>>, IslError> {
        if self.demand == Demand::Proof {
            return Ok(None);
        }
        let (domain, subscripts) = &part;
        let happens = domain.params()?;
        let here = low.union(high)?.params()?.coalesce()?;
        let possible = !happens.is_subset(&here)?;
        let f = &subscripts[self.at];
        let outer = subscripts[self.at - 1].constant_term();
        if possible && self.at == 1 && f.degree() == 1 && !f.has_counters() && outer != 0 && self.count == 1 {
            // A row that the parameters alone decide: both versions, each where it is right.
            let k = -outer.signum();
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let other = if k < 0 { low } else { high };
            let (still_low, still_high) = self.outside(other, &moved[self.at])?;
            let left = if k < 0 { still_low.union(high)? } else { still_high.union(low)? };
            exclude(broken, &left)?;
            let inside = domain.subtract(other)?;
            return Ok(Some(vec![(inside, subscripts.clone()), (other.clone(), moved)]));
        }
        if possible {
            exclude_params(broken, here)?;
            return Ok(Some(vec![part]));
        }
        for k in [-1, 1] {
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let (low, high) = self.outside(domain, &moved[self.at])?;
            let there = low.union(&high)?.params()?.coalesce()?;
            if !happens.is_subset(&there)? {
                exclude_params(broken, there)?;
                return Ok(Some(vec![(domain.clone(), moved)]));
            }
        }
        self.in_pieces(part, low, high, broken)
    }

    /// The row before, this one, and the row after, each for the instances that are there.
    fn in_pieces(
        &self,
        part: Part,
        low: &Set,
        high: &Set,
        broken: &mut Option<Set>,
    ) -> Result<Option<Vec<Part>>, IslError> {
        if self.count != 1 {
            return Ok(None);
        }
        let (domain, subscripts) = &part;
        let mut pieces = vec![(domain.subtract(low)?.subtract(high)?, subscripts.clone())];
        let mut left = Vec::new();
        // Where the size is not positive f may be on both sides; that is broken anyway, but the pieces must not overlap.
        for (instances, k) in [(low, -1), (&high.subtract(low)?, 1)] {
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let (still_low, still_high) = self.outside(instances, &moved[self.at])?;
            left.push(still_low.union(&still_high)?);
            pieces.push((instances.clone(), moved));
        }
        let left = left[0].union(&left[1])?.params()?.coalesce()?;
        if domain.params()?.is_subset(&left)? {
            return Ok(None);
        }
        exclude_params(broken, left)?;
        pieces.retain(|(d, _)| !d.plain_is_empty().unwrap_or(false));
        Ok(Some(pieces))
    }

    fn one_piece(
        &self,
        part: Part,
        low: &Set,
        high: &Set,
        broken: &mut Option<Set>,
    ) -> Result<Option<Vec<Part>>, IslError> {
        self.pieces(vec![part], low, high, broken)
    }

    fn pieces(
        &self,
        pieces: Vec<Part>,
        low: &Set,
        high: &Set,
        broken: &mut Option<Set>,
    ) -> Result<Option<Vec<Part>>, IslError> {
        for outside in [low, high] {
            if !outside.is_empty()? {
                if self.demand == Demand::Proof {
                    return Ok(None);
                }
                exclude(broken, outside)?;
            }
        }
        Ok(Some(pieces))
    }

    /// Where f < 0, and where f + count > size.
    fn outside(&self, domain: &Set, f: &Polynomial) -> Result<(Set, Set), IslError> {
        let space = domain.get_space()?;
        let negative = |p: Option<Polynomial>| -> Result<Set, IslError> {
            match p.map(|p| p.to_aff(&space)).transpose()?.flatten() {
                Some(aff) => aff.neg_basic_set()?.to_set()?.intersect(domain),
                // A coefficient that isl is not given: it may be anywhere.
                None => Ok(domain.clone()),
            }
        };
        let room = self.size.sub(&Polynomial::constant(self.count.into())).and_then(|s| s.sub(f));
        Ok((negative(Some(f.clone()))?, negative(room.ok())?))
    }

    /// The subscripts of the same cell k rows on.
    fn moved(&self, (_, subscripts): &Part, k: i128) -> Option<Vec<Polynomial>> {
        let mut moved = subscripts.clone();
        moved[self.at] = moved[self.at].sub(&self.size.scale(k).ok()?).ok()?;
        moved[self.at - 1] = moved[self.at - 1].add(&Polynomial::constant(k)).ok()?;
        Some(moved)
    }

    /// Rows of constant size: with the least value in range the greatest is, or no row does it for all parameters.
    fn constant_multiple(&self, domain: &Set, f: &Polynomial) -> Result<i128, IslError> {
        let size = self.size.constant_term();
        let Some(aff) = f.to_aff(&domain.get_space()?)? else { return Ok(f.constant_term().div_euclid(size)) };
        let least = |domain: &Set| -> Result<Option<i128>, IslError> {
            Ok(if domain.is_empty()? { None } else { domain.min_val(&aff)?.to_i64().map(i128::from) })
        };
        let row = least(domain)?.unwrap_or(f.constant_term()).div_euclid(size);
        if self.demand == Demand::Proof {
            return Ok(row);
        }
        // Where `j + start` is least is where `start` is, which is as good as never. Parameters are usually small and not negative.
        let mut usual = vec![domain.clone(), domain.clone()];
        for at in 0..domain.dim(DimType::Param)? {
            if aff.involves_dims(DimType::Param, at, 1)? {
                usual[0] = usual[0].upper_bound_si(DimType::Param, at, 0)?.lower_bound_si(DimType::Param, at, 0)?;
                usual[1] = usual[1].lower_bound_si(DimType::Param, at, 0)?;
            }
        }
        for domain in &usual {
            if let Some(low) = least(domain)? {
                return Ok(low.div_euclid(size));
            }
        }
        Ok(row)
    }
}

fn exclude(broken: &mut Option<Set>, instances: &Set) -> Result<(), IslError> {
    exclude_params(broken, instances.params()?)
}

fn exclude_params(broken: &mut Option<Set>, params: Set) -> Result<(), IslError> {
    *broken = Some(match broken.take() {
        None => params,
        Some(others) => others.union(&params)?.coalesce()?,
    });
    Ok(())
}

impl View {
    /// `{ [i…] -> [subscripts] }` on the domain of the access.
    pub fn relation(&self, access: &Linear, dims: usize) -> Result<Option<Map>, IslError> {
        let mut relation: Option<Map> = None;
        for (domain, subscripts) in &self.pieces {
            let space = domain.get_space()?;
            let mut piece: Option<Map> = None;
            for subscript in subscripts {
                let Some(aff) = subscript.to_aff(&space)? else { return Ok(None) };
                let one = Map::from_pw_aff(&PwAff::alloc(domain, &aff)?)?;
                piece = Some(match piece {
                    None => one,
                    Some(outer) => outer.flat_range_product(&one)?,
                });
            }
            let Some(piece) = piece else { return Ok(None) };
            relation = Some(match relation {
                None => piece,
                Some(other) => other.union(&piece)?,
            });
        }
        match relation {
            Some(relation) => covering(&relation, access.count)?.coalesce().map(Some),
            // An access that never happens.
            None => Map::from_domain(&access.known)?.add_dims(DimType::Out, dims).map(Some),
        }
    }
}
