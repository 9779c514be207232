//! The subscripts of one access in a given shape, and where they leave it.

use super::access::{Linear, covering};
use super::candidates::Chain;
use super::condition::Broken;
use super::division::divide;
use crate::polynomial::Polynomial;
use isl::{DimType, IslError, Map, MultiAff, Set, Space};
use std::collections::BTreeMap;

/// Subscripts on disjoint parts of the domain; they are right for all parameters outside of `broken`.
pub struct Subscripts {
    pub pieces: Vec<(Set, Vec<Polynomial>)>,
    pub broken: Broken,
}

/// What is known of subscripts in rows of constant size, for one shape: the accesses of a stencil have most of them in common.
#[derive(Default)]
pub struct Placements {
    found: BTreeMap<(usize, usize, Polynomial, i64), Option<Placement>>,
}

/// The subscript is in range `rows` rows further, but for the parameters in `broken`.
#[derive(Clone)]
struct Placement {
    rows: i128,
    broken: Vec<Set>,
}

/// Neighbours of a counter are at most this far from it.
const MAX_NEIGHBOUR: i128 = 8;

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
pub fn view(
    access: &Linear,
    chain: &Chain,
    demand: Demand,
    placements: &mut Placements,
) -> Result<Option<Subscripts>, IslError> {
    let mut whole = Subscripts { pieces: Vec::new(), broken: Broken::default() };
    // Parametric sizes may cut the domain into pieces; then it is not that of the class any more.
    let constant = chain.sizes.iter().all(|s| s.degree() == 0);
    let class = (constant && access.is_whole()?).then_some(access.domain.class);
    for (domain, cells) in &access.pieces {
        let Some(subscripts) = divide_offset(cells, chain) else { return Ok(None) };
        let mut parts = vec![(domain.clone(), subscripts)];
        for dim in (1..=chain.sizes.len()).rev() {
            let count = if dim == chain.sizes.len() { access.count } else { 1 };
            let mut placed = Vec::new();
            for part in parts {
                let dimension = Dimension { at: dim, size: &chain.sizes[dim - 1], count, demand };
                let more = match dimension.size.degree() {
                    0 => dimension.place_in_constant(part, class, placements, &mut whole.broken)?.map(|p| vec![p]),
                    _ => dimension.place(part, &mut whole.broken)?,
                };
                let Some(more) = more else { return Ok(None) };
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
    fn place(&self, part: Part, broken: &mut Broken) -> Result<Option<Vec<Part>>, IslError> {
        let (domain, subscripts) = &part;
        let f = &subscripts[self.at];
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
        broken: &mut Broken,
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
            broken.add(left.params()?)?;
            let inside = domain.subtract(other)?;
            return Ok(Some(vec![(inside, subscripts.clone()), (other.clone(), moved)]));
        }
        if possible {
            broken.add(here)?;
            return Ok(Some(vec![part]));
        }
        for k in [-1, 1] {
            let Some(moved) = self.moved(&part, k) else { return Ok(None) };
            let (low, high) = self.outside(domain, &moved[self.at])?;
            let there = low.union(&high)?.params()?.coalesce()?;
            if !happens.is_subset(&there)? {
                broken.add(there)?;
                return Ok(Some(vec![(domain.clone(), moved)]));
            }
        }
        self.in_pieces(part, low, high, broken)
    }

    /// The row before, this one, and the row after, each for the instances that are there.
    fn in_pieces(&self, part: Part, low: &Set, high: &Set, broken: &mut Broken) -> Result<Option<Vec<Part>>, IslError> {
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
        broken.add(left)?;
        pieces.retain(|(d, _)| !d.plain_is_empty().unwrap_or(false));
        Ok(Some(pieces))
    }

    /// The same where the size is a number: one row for all instances. Domains of one class are equal.
    fn place_in_constant(
        &self,
        part: Part,
        class: Option<usize>,
        placements: &mut Placements,
        broken: &mut Broken,
    ) -> Result<Option<Part>, IslError> {
        let f = &part.1[self.at];
        let key = class.map(|class| (class, self.at, f.clone(), self.count));
        let known = key.as_ref().and_then(|key| placements.found.get(key));
        let placement = match known {
            Some(known) => known.clone(),
            None => {
                let new = self.placement(&part.0, f)?;
                placements.found.extend(key.map(|key| (key, new.clone())));
                new
            }
        };
        let Some(Placement { rows, broken: parts }) = placement else { return Ok(None) };
        parts.into_iter().try_for_each(|part| broken.add(part))?;
        Ok(self.moved(&part, rows).map(|moved| (part.0, moved)))
    }

    fn placement(&self, domain: &Set, f: &Polynomial) -> Result<Option<Placement>, IslError> {
        let rows = self.likely_rows(domain, f)?;
        for (at, &row) in rows.iter().enumerate() {
            let Some(f) = self.size.scale(row).ok().and_then(|first| f.sub(&first).ok()) else { return Ok(None) };
            let (low, high) = self.outside(domain, &f)?;
            let mut placement = Placement { rows: row, broken: Vec::new() };
            for outside in [low, high] {
                if !outside.is_empty()? {
                    placement.broken.push(outside.params()?);
                }
            }
            if self.demand == Demand::Proof && !placement.broken.is_empty() {
                return Ok(None);
            }
            let is_last = at + 1 == rows.len();
            if is_last || !placement.is_impossible(domain)? {
                return Ok(Some(placement));
            }
        }
        Ok(None)
    }

    fn pieces(
        &self,
        pieces: Vec<Part>,
        low: &Set,
        high: &Set,
        broken: &mut Broken,
    ) -> Result<Option<Vec<Part>>, IslError> {
        for outside in [low, high] {
            if !outside.is_empty()? {
                if self.demand == Demand::Proof {
                    return Ok(None);
                }
                broken.add(outside.params()?)?;
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

    /// Rows of constant size: with the least value in range the greatest is, or no row does it for all parameters. Then the
    /// likeliest first.
    fn likely_rows(&self, domain: &Set, f: &Polynomial) -> Result<Vec<i128>, IslError> {
        let size = self.size.constant_term();
        let row_of = |value: i128| value.div_euclid(size);
        let Some(aff) = f.to_aff(&domain.get_space()?)? else { return Ok(vec![row_of(f.constant_term())]) };
        let least = |domain: &Set| -> Result<Option<i128>, IslError> {
            Ok(if domain.is_empty()? { None } else { domain.min_val(&aff)?.to_i64().map(i128::from) })
        };
        let certain = least(domain)?;
        if self.demand == Demand::Proof {
            return Ok(vec![row_of(certain.unwrap_or(f.constant_term()))]);
        }
        // Where `j + start` is least is where `start` is, which is as good as never. Parameters are usually small and not negative.
        let mut usual = vec![domain.clone(), domain.clone()];
        for at in 0..domain.dim(DimType::Param)? {
            if aff.involves_dims(DimType::Param, at, 1)? {
                usual[0] = usual[0].upper_bound_si(DimType::Param, at, 0)?.lower_bound_si(DimType::Param, at, 0)?;
                usual[1] = usual[1].lower_bound_si(DimType::Param, at, 0)?;
            }
        }
        let mut value = certain;
        for domain in &usual {
            if let Some(low) = least(domain)? {
                value = Some(low);
                break;
            }
        }
        let value = value.unwrap_or(f.constant_term());
        let mut rows = vec![row_of(value)];
        if f.has_counters() {
            // The neighbour `i - 1` of i from `start` on is in the row of i, if it can be.
            rows.insert(0, row_of(value + MAX_NEIGHBOUR.min((size - 1) / 4)));
            rows.dedup();
        }
        Ok(rows)
    }
}

impl Placement {
    /// Whenever anything happens, some subscript is out of range.
    fn is_impossible(&self, domain: &Set) -> Result<bool, IslError> {
        let happens = domain.params()?;
        for part in &self.broken {
            if happens.is_subset(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Subscripts {
    /// `{ [i…] -> [subscripts] }` on the domain of the access.
    pub fn relation(&self, access: &Linear, dims: usize) -> Result<Option<Map>, IslError> {
        let mut relation: Option<Map> = None;
        for (domain, subscripts) in &self.pieces {
            let space = domain.get_space()?;
            let affine = subscripts.iter().map(|s| s.to_aff(&space)).collect::<Result<Option<Vec<_>>, _>>()?;
            let Some(affine) = affine else { return Ok(None) };
            let range = Space::set_alloc(domain.ctx(), 0, affine.len())?.align_params(&space)?;
            let all = MultiAff::from_aff_list(&space.map_from_domain_and_range(&range)?, &affine)?;
            let piece = Map::from_multi_aff(&all)?.intersect_domain(domain)?;
            relation = Some(match relation {
                None => piece,
                Some(other) => other.union(&piece)?,
            });
        }
        match relation {
            Some(relation) => covering(&relation, access.count)?.coalesce().map(Some),
            // An access that never happens.
            None => Map::from_domain(&access.domain.known)?.add_dims(DimType::Out, dims).map(Some),
        }
    }
}
