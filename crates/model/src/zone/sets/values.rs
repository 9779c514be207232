//! Names for what elements contain.

use super::super::ZONE;
use super::{Touch, Zones};
use crate::scop::{ArrayId, StatementId};
use isl::{IslError, Map, UnionMap};
use std::collections::HashMap;

/// The value that an access stores or yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// In each instance of the statement some value of its own. Equal numbers in one instance are equal values; in relations
    /// this is `[S[i…] -> V[number]]`.
    Own(u32),
    /// The same value in all instances of all statements: `Constant[number]`.
    Constant(u32),
}

/// Which value the accesses store or yield; an access that is absent has a value that nobody can name.
#[derive(Clone, Debug, Default)]
pub struct Values(HashMap<(StatementId, usize), Value>);

impl Values {
    /// Says what the access at this position of the statement stores or yields.
    pub fn insert(&mut self, statement: StatementId, access: usize, value: Value) {
        self.0.insert((statement, access), value);
    }
    pub fn get(&self, statement: StatementId, access: usize) -> Option<Value> {
        self.0.get(&(statement, access)).copied()
    }
}

impl Zones {
    /// `{ [A[e…] -> Zone[z…]] -> value }`: names of what the elements contain, from the writes before and from all reads of the same
    /// content; an element may have several names for one content. Nothing is known after a write that only may happen, until
    /// somebody reads.
    pub fn known(&self, array: ArrayId, values: &Values) -> Result<UnionMap, IslError> {
        let segments = &self.contents(array)?.segment;
        self.ctx.within(ZONE, || {
            let mut known = UnionMap::empty_ctx(&self.ctx)?;
            for touch in &self.arrays[&array].accesses {
                let Some(value) = values.get(touch.statement, touch.index).filter(|_| touch.whole) else { continue };
                let named = self.value(touch, value)?;
                let found = if touch.writes {
                    // { [A[e] -> S[i]] -> value }
                    let writer = self.undisputed(array, touch, values)?.reverse()?.range_map()?;
                    segments.apply_range(&UnionMap::from_map(&writer.apply_range(&named)?)?)?
                } else {
                    // The read at t yields what is in the unit t, and so in the whole segment: { S[j] -> [A[e] -> S'[i]] }
                    let time = self.times[&touch.statement].apply_range(&self.at_end()?)?;
                    let read = UnionMap::from_map(&touch.relation.range_product(&time)?)?;
                    let segment = read.apply_range(segments)?;
                    segments.apply_range(&segment.reverse()?)?.apply_range(&UnionMap::from_map(&named)?)?
                };
                known = known.union(&found)?;
            }
            known.coalesce()
        })
    }

    /// `{ S[i…] -> value }`
    pub(super) fn value(&self, touch: &Touch, value: Value) -> Result<Map, IslError> {
        let domain = touch.relation.domain()?;
        let (tuple, number) = match value {
            Value::Own(number) => ("V", number),
            Value::Constant(number) => ("Constant", number),
        };
        let number = isl::Set::read_from_str(&self.ctx, &format!("{{ {tuple}[{number}] }}"))?;
        let constant = Map::from_domain_and_range(&domain, &number)?;
        match value {
            Value::Own(_) => domain.identity()?.range_product(&constant),
            Value::Constant(_) => Ok(constant),
        }
    }

    /// The part of a write at which no other access of the instance writes, or may write, another value to the same cell: the
    /// value that stays is not known otherwise.
    pub(super) fn undisputed(&self, array: ArrayId, touch: &Touch, values: &Values) -> Result<Map, IslError> {
        let value = values.get(touch.statement, touch.index);
        let mut relation = touch.relation.clone();
        for other in &self.arrays[&array].accesses {
            if other.writes
                && other.statement == touch.statement
                && other.index != touch.index
                && !(other.whole && values.get(other.statement, other.index) == value)
            {
                relation = relation.subtract(&other.relation)?;
            }
        }
        Ok(relation)
    }

    /// `{ Time[t…] -> Zone[t…] }`: the unit that the time point ends.
    pub(super) fn at_end(&self) -> Result<Map, IslError> {
        self.start.range()?.identity()?.set_tuple_name(isl::DimType::Out, "Zone")
    }
}
