//! Whether two contents can share one place.

use super::super::ZONE;
use super::{Values, Zones};
use crate::scop::ArrayId;
use isl::{Ctx, DimType, IslError, Map, Set, UnionMap, UnionSet};
use std::fmt;

/// What must stay, and what is overwritten, in the elements of some arrays: of what is there, or of what one wishes to put there.
#[derive(Clone, Debug)]
pub struct Knowledge {
    ctx: Ctx,
    valid: Set,
    /// `{ [A[e…] -> Zone[z…]] }`: somebody needs the content.
    occupied: UnionSet,
    /// `{ [A[e…] -> Zone[z…]] -> value }`, inside of `occupied` only: elsewhere a content that nobody needs may give way to another
    /// one, and its name would outlive it.
    known: UnionMap,
    /// `{ [A[e…] -> Time[t…]] }`: all writes, certain or not.
    written: UnionSet,
    /// `{ [A[e…] -> Time[t…]] -> value }`: the values of those of which one knows it.
    stored: UnionMap,
    /// `{ Zone[z…] -> Time[z… − e] }`
    start: Map,
}

/// Why two contents cannot share a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Both are needed at once and are not known to be equal.
    BothNeeded,
    /// The first overwrites, with another value, what the second needs.
    FirstOverwrites,
    /// The second overwrites, with another value, what the first needs.
    SecondOverwrites,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conflict::BothNeeded => "both contents are needed at once and are not known to be equal",
            Conflict::FirstOverwrites => "the first content is written while the second is needed",
            Conflict::SecondOverwrites => "the second content is written while the first is needed",
        })
    }
}

/// Why the content of a scalar cannot be put elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immovable {
    /// It has more than one cell.
    NotScalar,
    /// Somebody reads what it contained before the region, or what is in it after the region; those accesses cannot be changed.
    CrossesRegion,
    /// Somebody reads what only may have been written.
    Uncertain,
    /// Some instance that writes it has no target, or more than one.
    NoTarget,
}

impl fmt::Display for Immovable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Immovable::NotScalar => "it has more than one cell",
            Immovable::CrossesRegion => "its content is needed before or after the region",
            Immovable::Uncertain => "it is not certain who wrote what is read",
            Immovable::NoTarget => "not every write has one target",
        })
    }
}

impl Knowledge {
    /// Whether the two, put into the same elements, disturb each other; the answer "no" is a proof.
    ///
    /// Proof. Let r be a read at z that belongs to A, of a content that the write of A at d defined (or that was there before: d is
    /// −∞). All of ]d, z] is occupied by A, and A writes the element nowhere in between. Let B write it at t with d ≤ t < z.
    /// Then t + e is in ]d, z], where A is occupied, so that B stores a value that is A's content there: nothing changes.
    /// For t = d both write in one instance, in whatever order, and both store the same. So r finds what it found before. The
    /// same holds with A and B exchanged, and for contents visible after the region. Two writes at one instant of which neither
    /// is needed afterwards may store what they like. What was there before the region is one content for both: where both
    /// need it no write is in the way, so only the rule on needs at once catches that.
    pub fn conflict(&self, other: &Knowledge) -> Result<Option<Conflict>, IslError> {
        self.ctx.within(ZONE, || {
            let (occupied, needed) = (self.occupied.intersect_params(&self.valid)?, &other.occupied);
            let both = occupied.intersect(needed)?;
            if !both.is_subset(&self.known.intersect(&other.known)?.domain()?)? {
                return Ok(Some(Conflict::BothNeeded));
            }
            if self.overwrites(other)? {
                return Ok(Some(Conflict::FirstOverwrites));
            }
            Ok(if other.overwrites(self)? { Some(Conflict::SecondOverwrites) } else { None })
        })
    }

    /// Whether there is a [`Knowledge::conflict`].
    pub fn conflicts_with(&self, other: &Knowledge) -> Result<bool, IslError> {
        Ok(self.conflict(other)?.is_some())
    }

    /// What is known after both share their elements.
    ///
    /// Requires: they do not conflict.
    pub fn merged(&self, other: &Knowledge) -> Result<Knowledge, IslError> {
        self.ctx.within(ZONE, || {
            // A write of the one where the other stores too, at the same instant, leaves the value of either if neither is
            // needed; a name is kept only if the other does not write, or has the same.
            let stored = |one: &Knowledge, two: &Knowledge| -> Result<UnionMap, IslError> {
                one.stored.subtract_domain(&two.written)?.union(&one.stored.intersect(&two.stored)?)
            };
            Ok(Knowledge {
                ctx: self.ctx.clone(),
                valid: self.valid.clone(),
                occupied: self.occupied.union(&other.occupied)?.coalesce()?,
                known: self.known.union(&other.known)?.coalesce()?,
                written: self.written.union(&other.written)?.coalesce()?,
                stored: stored(self, other)?.union(&stored(other, self)?)?.coalesce()?,
                start: self.start.clone(),
            })
        })
    }

    /// `{ [A[e…] -> Zone[z…]] }`: where somebody needs the content.
    pub fn occupied(&self) -> &UnionSet {
        &self.occupied
    }

    fn overwrites(&self, other: &Knowledge) -> Result<bool, IslError> {
        // { [A[e] -> Zone[z]] -> [A[e] -> Time[z − e]] }
        let mut starts = UnionMap::empty_ctx(&self.ctx)?;
        for set in other.occupied.sets()? {
            let elements = set.unwrap()?.domain()?.get_space()?;
            let same = Map::identity(&elements.map_from_set()?)?;
            starts = starts.union(&UnionMap::from_map(&same.product(&self.start)?)?)?;
        }
        let into = other.occupied.apply(&starts)?.intersect(&self.written)?.intersect_params(&self.valid)?;
        if into.is_empty()? {
            return Ok(false);
        }
        let same = other.known.apply_domain(&starts)?.intersect(&self.stored)?.domain()?;
        Ok(!into.is_subset(&same)?)
    }
}

impl Zones {
    /// What is in the elements of an array.
    pub fn knowledge(&self, array: ArrayId, values: &Values) -> Result<Knowledge, IslError> {
        let known = self.known(array, values)?;
        let written = self.written(array)?;
        self.ctx.within(ZONE, || {
            let mut stored = UnionMap::empty_ctx(&self.ctx)?;
            for touch in self.arrays[&array].accesses.iter().filter(|t| t.writes && t.whole) {
                let Some(value) = values.get(touch.statement, touch.index) else { continue };
                let points = self.undisputed(array, touch, values)?.range_product(&self.times[&touch.statement])?;
                stored =
                    stored.union(&UnionMap::from_map(&points.reverse()?.apply_range(&self.value(touch, value)?)?)?)?;
            }
            let occupied = UnionSet::from_set(self.lifetime(array)?)?;
            Ok(Knowledge {
                ctx: self.ctx.clone(),
                valid: self.known.values.clone(),
                known: known.intersect_domain(&occupied)?,
                occupied,
                written: UnionSet::from_set(&written)?,
                stored,
                start: self.start.clone(),
            })
        })
    }

    /// What putting a scalar elsewhere would add: `target` is `{ S[i…] -> A[e…] }`, from each instance that writes the scalar to the
    /// element that gets the value in its stead, and from which it is then read.
    pub fn proposal(
        &self,
        scalar: ArrayId,
        target: &UnionMap,
        values: &Values,
    ) -> Result<Result<Knowledge, Immovable>, IslError> {
        let here = self.knowledge(scalar, values)?;
        self.ctx.within(ZONE, || {
            let zones = &self.arrays[&scalar];
            if zones.universe.unwrap()?.dim(DimType::In)? > 0 {
                return Ok(Err(Immovable::NotScalar));
            }
            let contents = self.contents(scalar)?;
            let live = contents.live.intersect_params(&self.known.values)?;
            if zones.live_out || !live.is_disjoint(&contents.reaching.initial)? {
                return Ok(Err(Immovable::CrossesRegion));
            }
            let alive = contents.reaching.definitions.intersect_domain(&UnionSet::from_set(&live)?)?;
            if !UnionSet::from_set(&live)?.is_subset(&alive.domain()?)? {
                return Ok(Err(Immovable::Uncertain));
            }
            // { S[i] -> [c[] -> Time[t]] }
            let mut writes = UnionMap::empty_ctx(&self.ctx)?;
            for touch in zones.accesses.iter().filter(|t| t.writes) {
                writes = writes.union(&UnionMap::from_map(&self.at(touch)?.intersect_params(&self.known.values)?)?)?;
            }
            let target = target.intersect_domain(&writes.domain()?)?;
            if !writes.domain()?.is_subset(&target.domain()?)? || !target.is_single_valued()? {
                return Ok(Err(Immovable::NoTarget));
            }
            // In any unit one instance defines the one cell, so that contents of different instances never meet in a target; and
            // while one is needed no other is written.
            let zone = UnionMap::from_map(&zones.universe.unwrap()?.range_map()?)?;
            let moved = alive.apply_range(&target)?.range_product(&zone)?;
            let points = writes.reverse()?;
            let time = Set::universe(&self.point_space(&zones.universe)?)?.unwrap()?.range_map()?;
            let written = points.apply_range(&target)?.range_product(&UnionMap::from_map(&time)?)?;
            Ok(Ok(Knowledge {
                occupied: moved.range()?.coalesce()?,
                known: here.known.apply_domain(&moved)?,
                written: written.range()?.coalesce()?,
                stored: here.stored.apply_domain(&written)?,
                ..here
            }))
        })
    }
}
