//! Who writes what is in an array element, who reads it, and what lies between.
//!
//! Words. The original schedule, padded to one length, gives every instance its own **time point**, ordered lexicographically. A
//! **zone** is a set of half-open intervals of time. What an instance at time t writes is in its cells in the zone ]t, u], where u
//! is the next write; the instance at u still reads it, because of one instance all reads come before all writes. The
//! **lifetime** of the content ends with its last read; from there to u the element is **unused**.
//!
//! Here a content is kept as the pairs of its writer and its readers, with the element: `{ writer -> [reader -> A[e]] }`. That is what
//! a dataflow computation yields at once, and whether something happens within a lifetime is whether a relation is empty:
//! an instance at x is within if not_after(writer, x) and before(x, reader). The zones themselves, as sets of points in time, say
//! the same and take isl a hundred times as long.

use crate::dataflow::Question;
use crate::known::KnownParams;
use crate::scop::{Scop, StatementId};
use indexmap::IndexMap;
use isl::{Budget, DimType, IslError, Map, UnionMap};
use std::cell::RefCell;
use std::collections::HashMap;

/// Lifetimes, and what can be done with them.
pub(crate) const ZONE: Budget = Budget::new("zone", 500_000);

/// The original order.
pub(crate) struct Timeline {
    /// `{ S[i…] -> [t…] }`, all of one length.
    times: IndexMap<StatementId, Map>,
    strict: RefCell<HashMap<(StatementId, StatementId), Map>>,
    weak: RefCell<HashMap<(StatementId, StatementId), Map>>,
}

impl Timeline {
    pub(crate) fn of(scop: &Scop, known: &KnownParams) -> Result<Timeline, IslError> {
        let maps = scop.schedule.get_map()?.maps()?;
        let mut length = 0;
        for map in &maps {
            length = length.max(map.dim(DimType::Out)?);
        }
        let mut times = IndexMap::new();
        for map in maps {
            let Some(id) = StatementId::from_isl_name(&map.get_tuple_name(DimType::In)?) else { continue };
            let own = map.dim(DimType::Out)?;
            let map = known.shorten(&map.intersect_domain(&scop.statements[&id].domain)?)?;
            // The last one is 0, and something else for copies.
            let mut time = map.add_dims(DimType::Out, length + 1 - own)?;
            for pad in own..=length {
                time = time.fix_si(DimType::Out, pad, 0)?;
            }
            times.insert(id, time);
        }
        Ok(Timeline { times, strict: RefCell::default(), weak: RefCell::default() })
    }

    /// `{ S[i…] -> [t…] }`, if it ever runs.
    pub(crate) fn time(&self, statement: StatementId) -> Option<&Map> {
        self.times.get(&statement)
    }

    pub(crate) fn runs(&self, statement: StatementId) -> bool {
        self.times.contains_key(&statement)
    }

    /// The copy runs when the original does, for other instances. It has a place of its own in the text, as isl's
    /// dataflow analysis expects of statements.
    pub(crate) fn copy(&mut self, original: StatementId, copy: StatementId) -> Result<(), IslError> {
        let time = self.times[&original].set_tuple_name(DimType::In, &copy.to_string())?;
        let last = time.dim(DimType::Out)? - 1;
        let time = time.project_out(DimType::Out, last, 1)?.add_dims(DimType::Out, 1)?;
        let time = time.fix_si(DimType::Out, last, i64::from(copy.0) + 1)?;
        self.times.insert(copy, time);
        // The number may have been that of a part of another statement, which came to nothing.
        for known in [&self.strict, &self.weak] {
            known.borrow_mut().retain(|&(a, b), _| a != copy && b != copy);
        }
        Ok(())
    }

    /// `{ a[i…] -> b[j…] }`, the first before the second.
    pub(crate) fn before(&self, a: StatementId, b: StatementId) -> Result<Map, IslError> {
        if let Some(known) = self.strict.borrow().get(&(a, b)) {
            return Ok(known.clone());
        }
        let map = self.times[&a].lex_lt_map(&self.times[&b])?;
        self.strict.borrow_mut().insert((a, b), map.clone());
        Ok(map)
    }

    /// `{ a[i…] -> b[j…] }`, the first before the second or the same instance.
    pub(crate) fn not_after(&self, a: StatementId, b: StatementId) -> Result<Map, IslError> {
        if let Some(known) = self.weak.borrow().get(&(a, b)) {
            return Ok(known.clone());
        }
        let map = self.times[&a].lex_le_map(&self.times[&b])?;
        self.weak.borrow_mut().insert((a, b), map.clone());
        Ok(map)
    }

    /// When the instances of `{ S[i…] -> A[e…] }` read and write, the reads of each coming first.
    fn phases(&self, accesses: &UnionMap, phase: i64) -> Result<UnionMap, IslError> {
        let mut phases = UnionMap::empty_ctx(accesses.ctx())?;
        for map in accesses.domain()?.sets()? {
            let name = map.get_tuple_name()?;
            let Some(time) = StatementId::from_isl_name(&name).and_then(|id| self.times.get(&id)) else { continue };
            let last = time.dim(DimType::Out)?;
            let time = time.add_dims(DimType::Out, 1)?.fix_si(DimType::Out, last, phase)?;
            phases = phases.union(&UnionMap::from_map(&phased(&time, phase)?)?)?;
        }
        Ok(phases)
    }

    /// `{ reader -> [writer -> A[e…]] }` for all that may have written what the reader finds, and `{ reader -> A[e…] }` where it may
    /// find what was there before the region. Exact where all writes are certain.
    pub(crate) fn flow(&self, reads: &UnionMap, certain: &UnionMap, possible: &UnionMap) -> Result<Flow, IslError> {
        let times = self.phases(reads, 0)?.union(&self.phases(&certain.union(possible)?, 1)?)?;
        let all = |accesses: &UnionMap, phase| -> Result<UnionMap, IslError> {
            let mut out = UnionMap::empty_ctx(accesses.ctx())?;
            for map in accesses.maps()? {
                out = out.union(&UnionMap::from_map(&phased(&map, phase)?)?)?;
            }
            Ok(out)
        };
        let (sinks, certain, possible) = (all(reads, 0)?, all(certain, 1)?, all(possible, 1)?);
        let question = Question { sinks: &sinks, certain: Some(&certain), possible: Some(&possible) };
        let flow = question.ask(&times)?;
        let mut pairs = Vec::new();
        for map in flow.possible_with_elements()?.maps()? {
            // { W<s>[i] -> [R<s>[j] -> A[e]] }
            let writer = instance(&map.get_tuple_name(DimType::In)?);
            let reader = instance(&map.range_factor_domain()?.get_tuple_name(DimType::Out)?);
            let (Some(writer), Some(reader)) = (writer, reader) else { continue };
            let to_writer = unphased(&map.domain()?, writer)?;
            let to_reader = unphased(&map.range_factor_domain()?.range()?, reader)?;
            let element = map.range_factor_range()?.range()?.identity()?;
            let map = map.apply_domain(&to_writer)?.apply_range(&to_reader.product(&element)?)?;
            pairs.push(Pair { writer, reader, map: map.coalesce()? });
        }
        let mut initial = Vec::new();
        for map in flow.maybe_without_source()?.maps()? {
            let Some(reader) = instance(&map.get_tuple_name(DimType::In)?) else { continue };
            initial.push((reader, map.set_tuple_name(DimType::In, &reader.to_string())?));
        }
        Ok(Flow { pairs, initial })
    }
}

#[derive(Clone)]
pub(crate) struct Flow {
    pub pairs: Vec<Pair>,
    /// `{ reader[j…] -> A[e…] }`
    pub initial: Vec<(StatementId, Map)>,
}

impl Flow {
    /// The same of an array of this name.
    pub(crate) fn of_array(&self, name: &str) -> Result<Flow, IslError> {
        let mut flow = self.clone();
        for Pair { map, .. } in &mut flow.pairs {
            *map = map.uncurry()?.set_tuple_name(DimType::Out, name)?.curry()?;
        }
        for (_, map) in &mut flow.initial {
            *map = map.set_tuple_name(DimType::Out, name)?;
        }
        Ok(flow)
    }
}

/// Who reads what whom wrote: one content of an element, from its write to one of its reads.
#[derive(Clone)]
pub(crate) struct Pair {
    pub writer: StatementId,
    pub reader: StatementId,
    /// `{ writer[i…] -> [reader[j…] -> A[e…]] }`
    pub map: Map,
}

impl Pair {
    /// `{ writer[i…] -> reader[j…] }`
    pub(crate) fn readers(&self) -> Result<Map, IslError> {
        self.map.range_factor_domain()
    }
}

fn phased(map: &Map, phase: i64) -> Result<Map, IslError> {
    let name = map.get_tuple_name(DimType::In)?;
    let prefix = if phase == 0 { 'R' } else { 'W' };
    let name = name.strip_prefix('S').map_or_else(|| name.clone(), |number| format!("{prefix}{number}"));
    map.set_tuple_name(DimType::In, &name)
}

fn instance(phased: &str) -> Option<StatementId> {
    phased.strip_prefix(['R', 'W'])?.parse().ok().map(StatementId)
}

/// `{ R<s>[i…] -> S<s>[i…] }` or the same for `W`.
fn unphased(of: &isl::Set, statement: StatementId) -> Result<Map, IslError> {
    isl::Set::universe(&of.get_space()?)?.identity()?.set_tuple_name(DimType::Out, &statement.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;

    /// A statement cut into the iterations 0, 1, … and the rest, of which only some still read: each sees what the part of the
    /// iteration before wrote.
    #[test]
    fn parts_of_a_statement_see_each_other_in_order() {
        let scop = test_scop(
            "
            array A0 scalar
            for i : 0 <= i < p0
              write A0[]
              for k : 0 <= k < p1
                read A0[]; write A0[]
            ",
        );
        let union = |texts: &[String]| {
            let none = UnionMap::empty_ctx(&scop.ctx).unwrap();
            texts.iter().fold(none, |all, text| {
                let text = format!("[p0, p1] -> {{ {text} and 0 <= i < p0 }}");
                all.union(&UnionMap::read_from_str(&scop.ctx, &text).unwrap()).unwrap()
            })
        };
        // isl sorts by hash what it cannot sort otherwise, so that one order of numbers says nothing about another.
        for mut order in permutations(5) {
            order.iter_mut().for_each(|n| *n += 1);
            let mut timeline = Timeline::of(&scop, &KnownParams::of(&scop).unwrap()).unwrap();
            let last = order.len() - 1;
            let mut writes = vec!["S0[i] -> A0[] : p1 > 0".to_string()];
            let mut reads = Vec::new();
            for (part, &number) in order.iter().enumerate() {
                if number != 1 {
                    timeline.copy(StatementId(1), StatementId(number)).unwrap();
                }
                let when = if part == last { format!("{part} <= k < p1") } else { format!("k = {part} and k < p1") };
                writes.push(format!("S{number}[i, k] -> A0[] : {when}"));
                if part == last {
                    reads.push(format!("S{number}[i, k] -> A0[] : {when}"));
                }
            }
            let flow = timeline.flow(&union(&reads), &union(&writes), &union(&[])).unwrap();
            assert!(flow.initial.iter().all(|(_, map)| map.is_empty().unwrap()), "{order:?}");
            let mut found = Vec::new();
            for pair in flow.pairs {
                let readers = pair.readers().unwrap();
                let (writer, reader) = (pair.writer, pair.reader);
                let text = format!("[p0, p1] -> {{ {writer}[i, k] -> {reader}[i, k + 1] }}");
                assert!(
                    readers.is_subset(&Map::read_from_str(&scop.ctx, &text).unwrap()).unwrap(),
                    "{order:?}: {readers}"
                );
                found.push(writer.0);
            }
            found.sort_unstable();
            let mut expected = vec![order[last], order[last - 1]];
            expected.sort_unstable();
            assert_eq!(found, expected, "{order:?}");
        }
    }
    fn permutations(n: u32) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let insert = |shorter: &Vec<u32>| {
            let shorter = shorter.clone();
            (0..n as usize).map(move |at| {
                let mut longer = shorter.clone();
                longer.insert(at, n - 1);
                longer
            })
        };
        permutations(n - 1).iter().flat_map(insert).collect()
    }
}
