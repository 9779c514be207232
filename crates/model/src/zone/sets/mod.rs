//! What is in an array element at each moment, who needs it, and when the element could hold something else.
//!
//! Words. The original schedule, padded with zeros to one length n ≥ 1, gives every instance its own **time point** in Zⁿ, ordered
//! lexicographically. The successor of a time point t is t + e, where e = (0, …, 0, 1). A **zone** is a set of half-open unit
//! intervals ]z − e, z], each named by the time point z that *ends* it; so the zone ]a, b] is { z : a < z ≤ b }. The unit z is the
//! moment just before the instance at z writes: what that instance reads is what the element contains in z. A write at t is
//! seen from t + e on. Not every z is the time of an instance; the others repeat what the next instance would find.
//!
//! Example: `for i : 0 <= i < 3 { T: write c; S: read c }` has the time points T(i) = (i, 0) and S(i) = (i, 1). The content that T(1)
//! writes is in `c` in the zone ](1, 0), (2, 0)] = { (1, z) : z > 0 } ∪ { (2, z) : z ≤ 0 }. Its **lifetime** ends with its last read:
//! ](1, 0), (1, 1)] = { (1, 1) }. The rest, { (1, z) : z > 1 } ∪ { (2, z) : z ≤ 0 }, is **unused**: who overwrites `c` there
//! changes nothing that anybody reads.
//!
//! Elements are cells: where accesses of several sizes share an array, each covers all its cells, and definitions and lifetimes
//! are exact cell by cell; only values that fill more than a cell have no name (see [`Values`]).
//!
//! All relations hold for the parameter values at which the context and the assumptions of the region do; elsewhere they may say
//! anything. They know nothing of aliases: arrays are disjoint here because a check separates them *wherever one is written*,
//! so who lets a read-only array be written has to extend that check.

mod knowledge;
mod oracle;
mod tests;
mod values;

pub use knowledge::{Conflict, Immovable};
pub use values::{Value, Values};

use super::ZONE;
use crate::dataflow::{Answer, Question};
use crate::known::KnownParams;
use crate::scop::{AccessKind, ArrayId, Scop, StatementId};
use indexmap::IndexMap;
use isl::{Ctx, DimType, IslError, Map, Set, Space, UnionMap};
use std::cell::OnceCell;

/// Whose content an element of an array has, unit zone by unit zone.
#[derive(Clone, Debug)]
pub struct Reaching {
    /// `{ [A[e…] -> Zone[z…]] -> S[i…] }`: the instance that wrote what is there.
    pub definitions: UnionMap,
    /// `{ [A[e…] -> Zone[z…]] }`: nobody wrote; the element contains what it did before the region.
    pub initial: Set,
}

/// The zones of all arrays of a region.
pub struct Zones {
    ctx: Ctx,
    /// The parameter values that count.
    known: KnownParams,
    /// `{ S[i…] -> Time[t…] }`
    times: IndexMap<StatementId, Map>,
    /// `{ Zone[z…] -> Time[z… − e] }`: a write at the time point is seen in the zone.
    start: Map,
    arrays: IndexMap<ArrayId, ArrayZones>,
}

struct ArrayZones {
    accesses: Vec<Touch>,
    /// `{ [A[e…] -> Zone[z…]] }`, all of them.
    universe: Set,
    live_out: bool,
    /// Computed when somebody asks.
    contents: OnceCell<Contents>,
}

struct Contents {
    reaching: Reaching,
    /// `{ [A[e…] -> Zone[z…]] -> [A[e…] -> S[i…]] }` or `-> [A[e…] -> Initial[]]`: the last instance that wrote or may have.
    /// Total and single-valued; the content is the same wherever the image is.
    segment: UnionMap,
    live: Set,
    unused: Set,
}

/// Writes of one instance have no order among them here: an instance that certainly writes a cell has defined it, whatever else
/// it may write there. So the two are disjoint.
struct Writes {
    /// `{ S[i…] -> A[e…] }`
    certain: UnionMap,
    /// `{ S[i…] -> A[e…] }`
    possible: UnionMap,
}

/// One access, with what it says for certain.
struct Touch {
    statement: StatementId,
    /// Its position in the statement.
    index: usize,
    writes: bool,
    /// A write that certainly overwrites all related cells.
    certain: bool,
    /// Exactly one cell in each instance, and nothing but it.
    whole: bool,
    /// `{ S[i…] -> A[e…] }`
    relation: Map,
}

impl Zones {
    /// Cheap: arrays are looked at when somebody asks for them, two dataflow computations each, each array within a budget of its
    /// own; who asks for many nests those in one. Exact where all accesses are; else lifetimes are too long rather than too
    /// short, and reaching definitions say less.
    ///
    /// Requires: `scop.schedule` orders all instances totally, and arrays asked for are those of the region.
    pub fn of(scop: &Scop) -> Result<Zones, IslError> {
        scop.ctx.within(ZONE, || Zones::read(scop))
    }

    /// Who certainly wrote what is in the elements, at most one instance; and where certainly nobody did. Where the last write
    /// only may have happened, neither.
    pub fn reaching_definitions(&self, array: ArrayId) -> Result<&Reaching, IslError> {
        Ok(&self.contents(array)?.reaching)
    }

    /// All who may have written what is in the elements, and where it may be that nobody did. The same as
    /// `reaching_definitions` for arrays without writes that only may happen; dear for the others.
    pub fn possible_definitions(&self, array: ArrayId) -> Result<Reaching, IslError> {
        self.ctx.within(ZONE, || {
            let zones = &self.arrays[&array];
            let Writes { certain, possible } = self.writes(&zones.accesses)?;
            if possible.is_empty()? {
                return Ok(self.contents(array)?.reaching.clone());
            }
            let (last, initial) = self.last_before(&zones.universe, &certain)?;
            let segment = self.segment(&zones.universe, &last, &initial)?;
            let mut definitions = last;
            let zone = UnionMap::from_map(&zones.universe.unwrap()?.range_map()?)?;
            for write in possible.maps()? {
                let name = write.get_tuple_name(DimType::In)?;
                let Some(time) = StatementId::from_isl_name(&name).and_then(|id| self.times.get(&id)) else { continue };
                // The write at t may be what is in z > t if no certain write lies between, in other words if z and t are in one
                // segment of the certain writes; the instance itself is none of those.
                let own = write.range_product(&time.apply_range(&self.at_end()?)?)?;
                let same = segment.apply_range(&UnionMap::from_map(&own)?.apply_range(&segment)?.reverse()?)?;
                let later = time.apply_range(&self.at_end()?)?.lex_lt_map(&self.start.domain()?.identity()?)?;
                let later = zone.apply_range(&UnionMap::from_map(&later.reverse()?)?)?;
                definitions = definitions.union(&same.intersect(&later)?)?;
            }
            Ok(Reaching { definitions, initial })
        })
    }

    /// `{ [A[e…] -> Zone[z…]] }`: somebody may read what is there, or it is visible after the region and nobody certainly
    /// overwrites it. So elements that no access touches are needed all the time, if the array is visible after the region.
    pub fn lifetime(&self, array: ArrayId) -> Result<&Set, IslError> {
        Ok(&self.contents(array)?.live)
    }

    /// `{ [A[e…] -> Zone[z…]] }`: overwriting the element changes nothing that anybody reads. The complement of `lifetime`.
    pub fn unused(&self, array: ArrayId) -> Result<&Set, IslError> {
        Ok(&self.contents(array)?.unused)
    }

    /// `{ S[i…] -> [A[e…] -> Zone[z…]] }`: the lifetime of what each instance certainly writes.
    pub fn lifetime_of_definitions(&self, array: ArrayId) -> Result<UnionMap, IslError> {
        let contents = self.contents(array)?;
        let live = isl::UnionSet::from_set(&contents.live)?;
        self.ctx.within(ZONE, || contents.reaching.definitions.intersect_domain(&live)?.reverse()?.coalesce())
    }

    /// `{ [A[e…] -> Time[t…]] }`: the time points at which the element is, or may be, overwritten.
    pub fn written(&self, array: ArrayId) -> Result<Set, IslError> {
        self.ctx.within(ZONE, || {
            let zones = &self.arrays[&array];
            let space = self.point_space(&zones.universe)?;
            let mut written = Set::empty(&space)?;
            for touch in zones.accesses.iter().filter(|a| a.writes) {
                written = written.union(&self.at(touch)?.range()?)?;
            }
            written.coalesce()
        })
    }

    fn read(scop: &Scop) -> Result<Zones, IslError> {
        let known = KnownParams::of(scop)?;
        let maps = scop.schedule.get_map()?.maps()?;
        let mut length = 1;
        for map in &maps {
            length = length.max(map.dim(DimType::Out)?);
        }
        let mut times = IndexMap::new();
        for map in maps {
            let Some(id) = StatementId::from_isl_name(&map.get_tuple_name(DimType::In)?) else { continue };
            let own = map.dim(DimType::Out)?;
            let map = map.intersect_domain(&scop.statements[&id].domain)?;
            let mut time = known.shorten(&map)?.add_dims(DimType::Out, length - own)?;
            for pad in own..length {
                time = time.fix_si(DimType::Out, pad, 0)?;
            }
            times.insert(id, time.set_tuple_name(DimType::Out, "Time")?);
        }
        times.sort_keys();
        let coordinates: Vec<String> = (0..length).map(|d| format!("z{d}")).collect();
        let coordinates = coordinates.join(", ");
        let start = Map::read_from_str(&scop.ctx, &format!("{{ Zone[{coordinates}] -> Time[{coordinates} - 1] }}"))?;
        let mut zones = Zones { ctx: scop.ctx.clone(), known, times, start, arrays: IndexMap::new() };
        for (&id, array) in &scop.arrays {
            let accesses = zones.accesses(scop, id)?;
            let dims = match accesses.first() {
                Some(touch) => touch.relation.dim(DimType::Out)?,
                None if array.kind.is_scalar() => 0,
                None => 1 + array.inner_sizes.len(),
            };
            let elements = Space::set_alloc(&scop.ctx, 0, dims)?.set_tuple_name(DimType::Set, &id.to_string())?;
            let units = zones.start.domain()?;
            let universe = Set::universe(&elements)?.product(&units)?;
            let live_out = array.live_out;
            zones.arrays.insert(id, ArrayZones { accesses, universe, live_out, contents: OnceCell::new() });
        }
        Ok(zones)
    }

    fn accesses(&self, scop: &Scop, array: ArrayId) -> Result<Vec<Touch>, IslError> {
        let mut out = Vec::new();
        for (&id, statement) in &scop.statements {
            if !self.times.contains_key(&id) {
                continue;
            }
            for (index, access) in statement.accesses.iter().enumerate().filter(|(_, a)| a.array == array) {
                let exact = access.exact && !statement.boxed;
                let relation = self.known.shorten(&access.relation.intersect_domain(&statement.domain)?)?;
                out.push(Touch {
                    statement: id,
                    index,
                    writes: access.is_write(),
                    certain: access.kind == AccessKind::Write && exact,
                    whole: exact
                        && access.kind != AccessKind::MayWrite
                        && access.bytes == scop.arrays[&array].cell_bytes
                        && relation.is_single_valued()?,
                    relation,
                });
            }
        }
        Ok(out)
    }

    fn contents(&self, array: ArrayId) -> Result<&Contents, IslError> {
        let zones = &self.arrays[&array];
        if let Some(contents) = zones.contents.get() {
            return Ok(contents);
        }
        let contents = self.ctx.within(ZONE, || self.compute_contents(zones))?;
        Ok(zones.contents.get_or_init(|| contents))
    }

    fn compute_contents(&self, zones: &ArrayZones) -> Result<Contents, IslError> {
        let ArrayZones { accesses, universe, live_out, .. } = zones;
        let mut reads = UnionMap::empty_ctx(&self.ctx)?;
        for touch in accesses.iter().filter(|t| !t.writes) {
            reads = reads.union(&UnionMap::from_map(&touch.relation)?)?;
        }
        let Writes { certain, possible } = self.writes(accesses)?;
        let element = universe.unwrap()?.domain_map()?;
        let sink = UnionMap::from_map(&element)?;

        let (last, initial) = self.last_before(universe, &certain.union(&possible)?)?;
        let last = last.coalesce()?;
        let definitions = if possible.is_empty()? {
            last.clone()
        } else {
            // { [A[e] -> Zone[z]] -> S[i] : S[i] certainly writes A[e] }
            last.intersect(&sink.apply_range(&certain.reverse()?)?)?
        };
        let reaching = Reaching { definitions, initial };

        // Backward: the next event at or after z. Time runs down, so the source is the last of those *before* (−z, 1): a read at
        // t is (−t, 0), a write (−t, −1); t = z is included, and of one instance the read comes up first. A write that only may
        // happen neither needs nor ends a content.
        let order = self.order(universe, &reads, true)?.union(&self.order(universe, &certain, true)?)?;
        let events = renamed(&reads, 'R')?.union(&renamed(&certain, 'W')?)?;
        let flow = Question::certain(&sink, &events).ask(&order)?;
        let never = without_source(&flow, universe)?;
        let (mut live, mut unused) = (Set::empty(&universe.get_space()?)?, Set::empty(&universe.get_space()?)?);
        for map in flow.certain()?.maps()? {
            let into = if map.get_tuple_name(DimType::In)?.starts_with('R') { &mut live } else { &mut unused };
            *into = into.union(&map.range()?)?;
        }
        let into = if *live_out { &mut live } else { &mut unused };
        *into = into.union(&never)?;

        let segment = self.segment(universe, &last, &reaching.initial)?;
        // `unused` has more pieces, as everything that is left over; finding fewer costs more than it saves.
        Ok(Contents { reaching, segment, live: live.coalesce()?, unused })
    }

    /// The last of `writes` before each unit, `{ [A[e…] -> Zone[z…]] -> S[i…] }`, and the units before which there is none.
    fn last_before(&self, universe: &Set, writes: &UnionMap) -> Result<(UnionMap, Set), IslError> {
        // The write at t comes before the unit z if and only if (t, 1) < (z, 0), that is t < z.
        let order = self.order(universe, writes, false)?;
        let sink = UnionMap::from_map(&universe.unwrap()?.domain_map()?)?;
        let flow = Question::certain(&sink, writes).ask(&order)?;
        Ok((flow.certain()?.reverse()?, without_source(&flow, universe)?))
    }

    /// `{ [A[e…] -> Zone[z…]] -> [A[e…] -> S[i…]] }` or `-> [A[e…] -> Initial[]]`, from what [`Zones::last_before`] gives.
    fn segment(&self, universe: &Set, last: &UnionMap, initial: &Set) -> Result<UnionMap, IslError> {
        let before = Set::read_from_str(&self.ctx, "{ Initial[] }")?;
        let before = UnionMap::from_map(&Map::from_domain_and_range(initial, &before)?)?;
        UnionMap::from_map(&universe.unwrap()?.domain_map()?)?.range_product(&last.union(&before)?)
    }

    fn writes(&self, accesses: &[Touch]) -> Result<Writes, IslError> {
        let mut certain = UnionMap::empty_ctx(&self.ctx)?;
        let mut possible = certain.clone();
        for touch in accesses.iter().filter(|t| t.writes) {
            let into = if touch.certain { &mut certain } else { &mut possible };
            *into = into.union(&UnionMap::from_map(&touch.relation)?)?;
        }
        Ok(Writes { possible: possible.subtract(&certain)?, certain })
    }

    /// The order of the unit zones and of the instances in `events`; `backward` for time running down, with the instances split
    /// into a reading phase `R<s>` and a writing phase `W<s>`.
    fn order(&self, universe: &Set, events: &UnionMap, backward: bool) -> Result<UnionMap, IslError> {
        let place = |time: &Map, phase: i64| -> Result<UnionMap, IslError> {
            let time = time.reset_tuple_id(DimType::Out)?;
            let time = if backward { time.neg()? } else { time };
            let last = time.dim(DimType::Out)?;
            UnionMap::from_map(&time.add_dims(DimType::Out, 1)?.fix_si(DimType::Out, last, phase)?)
        };
        let units = universe.unwrap()?.range_map()?;
        let mut order = place(&units, i64::from(backward))?;
        for map in events.maps()? {
            let name = map.get_tuple_name(DimType::In)?;
            let Some(time) = StatementId::from_isl_name(&name).and_then(|id| self.times.get(&id)) else { continue };
            if backward {
                for (prefix, phase) in [('R', 0), ('W', -1)] {
                    order = order.union(&renamed(&place(time, phase)?, prefix)?)?;
                }
            } else {
                order = order.union(&place(time, 1)?)?;
            }
        }
        Ok(order)
    }

    /// `{ S[i…] -> [A[e…] -> Time[t…]] }`
    fn at(&self, touch: &Touch) -> Result<Map, IslError> {
        touch.relation.range_product(&self.times[&touch.statement])
    }

    /// The space of `{ [A[e…] -> Time[t…]] }`.
    fn point_space(&self, universe: &Set) -> Result<Space, IslError> {
        let elements = universe.unwrap()?.domain()?;
        elements.product(&self.start.range()?)?.get_space()
    }
}

fn without_source(flow: &Answer, universe: &Set) -> Result<Set, IslError> {
    flow.without_source()?.domain()?.extract_set(&universe.get_space()?)
}

/// `S<s>` as `R<s>` or `W<s>`.
fn renamed(map: &UnionMap, prefix: char) -> Result<UnionMap, IslError> {
    let mut out = UnionMap::empty_ctx(map.ctx())?;
    for map in map.maps()? {
        let name = map.get_tuple_name(DimType::In)?;
        let name = name.strip_prefix('S').map_or_else(|| name.clone(), |number| format!("{prefix}{number}"));
        out = out.union(&UnionMap::from_map(&map.set_tuple_name(DimType::In, &name)?)?)?;
    }
    Ok(out)
}
