//! In which order the check may read pointers to rows.
//!
//! The check reads the pointers of all rows that the region touches, before the region. It must not read what the original would not.
//! Where control, and where the pointers are, rest on nothing but values that are known before the region, the original reads every
//! pointer that the model says, and any order will do. But they may rest on invariants: values in memory that are taken not to change,
//! because no write hits them. A row that is written may hit one, and that is only known when its pointer is.
//!
//! So the check compares each written row with the cells of invariants as soon as it has its pointer, and reads pointers in an order
//! in which that is enough. Let the rows of some arrays be looked at, and found to miss the cells; and let p be the pointer of row r in
//! the next array, where all writes of rows that come before the original's first use of p go to rows of those arrays, or to rows of this
//! one that were looked at before r. (Arrays without rows were compared before.) Then up to there no write has hit a cell, so that
//! all was as modelled: the original gets to that use, and reads p, if its statement is certain to run. When all arrays that are written have had their turn, no write
//! hits a cell at all, and the pointers of the others can be read in any order.

use crate::known::KnownParams;
use crate::scop::{ArrayId, Scop, Turn};
use crate::zone::Timeline;
use isl::{Budget, IslError, Map};

const TURNS: Budget = Budget::new("the order of rows", 200_000);

/// Gives arrays with rows their turns. False if there is no such order, or none was found.
///
/// Requires: the statements, and their order, are the program's own.
pub fn give_turns(scop: &mut Scop) -> Result<bool, IslError> {
    let arrays = scop.arrays.iter().filter(|(_, array)| array.rows.is_some());
    let arrays: Vec<ArrayId> = arrays.map(|(&array, _)| array).collect();
    let rests_on_memory = scop.invariants.values().any(|invariant| invariant.cell.is_some());
    if arrays.is_empty() || !rests_on_memory {
        return Ok(true);
    }
    let Some(turns) = scop.ctx.try_within(TURNS, || turns(scop, &arrays))?.flatten() else { return Ok(false) };
    for (array, turn) in turns {
        if let Some(rows) = &mut scop.arrays[&array].rows {
            rows.turn = turn;
        }
    }
    Ok(true)
}

fn turns(scop: &Scop, arrays: &[ArrayId]) -> Result<Option<Vec<(ArrayId, Turn)>>, IslError> {
    let timeline = Timeline::of(scop, &KnownParams::of(scop)?)?;
    // { [r] -> [t…] }: when row r is touched, perhaps or for certain, and when it may be written.
    let mut uses = Vec::new();
    for &array in arrays {
        let (mut touched, mut certain, mut written): (Option<Map>, Option<Map>, Option<Map>) = (None, None, None);
        for (&id, statement) in &scop.statements {
            let Some(time) = timeline.time(id) else { continue };
            for access in statement.accesses.iter().filter(|a| a.array == array) {
                let row = access.row.as_ref().map(|row| row.to_aff(&statement.domain.get_space()?)).transpose()?;
                let Some(row) = row.flatten() else { return Ok(None) };
                let when = Map::from_aff(&row)?.intersect_domain(&statement.domain)?.reverse()?.apply_range(time)?;
                let certain = statement.is_certain().then_some(&mut certain);
                let written = access.is_write().then_some(&mut written);
                for known in [Some(&mut touched), certain, written].into_iter().flatten() {
                    *known = Some(match known.take() {
                        Some(others) => others.union(&when)?,
                        None => when.clone(),
                    });
                }
            }
        }
        let Some(touched) = touched else { continue };
        let Some(certain) = certain else { return Ok(None) };
        if !touched.domain()?.is_subset(&certain.domain()?)? {
            return Ok(None);
        }
        uses.push((array, certain.coalesce()?.lexmin()?, written));
    }
    let ctx = &scop.ctx;
    let (behind, ahead) =
        (Map::read_from_str(ctx, "{ [a] -> [b] : a > b }")?, Map::read_from_str(ctx, "{ [a] -> [b] : a < b }")?);
    let mut found = Vec::new();
    let (mut waiting, others): (Vec<_>, Vec<_>) = uses.into_iter().partition(|(.., written)| written.is_some());
    while !waiting.is_empty() {
        let mut next = None;
        'arrays: for (at, (array, first, _)) in waiting.iter().enumerate() {
            let mut own = None;
            for (other, _, written) in &waiting {
                // { [written] -> [first used] }, the one not after the other.
                let Some(before) = written.as_ref().map(|written| written.lex_le_map(first)).transpose()? else {
                    continue;
                };
                if other == array {
                    own = Some(before);
                } else if !before.is_empty()? {
                    continue 'arrays;
                }
            }
            let Some(own) = own else { continue };
            for (backwards, late) in [(false, &behind), (true, &ahead)] {
                if own.intersect(late)?.is_empty()? {
                    next = Some((at, backwards));
                    break 'arrays;
                }
            }
        }
        let Some((at, backwards)) = next else { return Ok(None) };
        found.push((waiting.remove(at).0, Turn { number: found.len(), backwards }));
    }
    let number = found.len();
    found.extend(others.into_iter().map(|(array, ..)| (array, Turn { number, backwards: false })));
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::scop::{Cell, Invariant, ValueId};

    /// The turns of arrays with rows where a value in A9 must not change, from the first to the last; `<` marks one that goes backwards.
    fn turns_of(sketch: &str) -> Option<String> {
        let mut scop = test_scop(sketch);
        let ctx = scop.ctx.clone();
        let cell = Cell {
            array: ArrayId(9),
            domain: isl::Set::read_from_str(&ctx, "{ [] }").unwrap(),
            relation: Map::read_from_str(&ctx, "{ [] -> A9[0] }").unwrap(),
            offset: isl::PwAff::read_from_str(&ctx, "{ [] -> [(0)] }").unwrap(),
            bytes: 8,
        };
        let line = crate::source::Line::UNKNOWN;
        let invariant = Invariant { name: "n".into(), line, same: vec![], cell: Some(cell), preload: None };
        scop.invariants.insert(ValueId(1000), invariant);
        if !give_turns(&mut scop).unwrap() {
            return None;
        }
        let mut found: Vec<(Turn, ArrayId)> =
            scop.arrays.iter().filter_map(|(&id, array)| Some((array.rows?.turn, id))).collect();
        found.sort();
        let shown = found.iter().map(|(turn, id)| format!("{id}{}", if turn.backwards { "<" } else { "" }));
        Some(shown.collect::<Vec<_>>().join(" "))
    }

    const ROWS: &str = "rows A0 A1\nrows A2 A3\n";

    /// (what runs, whose turn it is)
    #[test]
    fn a_pointer_is_read_when_all_that_is_written_before_its_use_was_looked_at() {
        let table = [
            // A product: the other matrix is only read.
            ("for i : 0 <= i < p0\n  for j : 0 <= j < p0\n    write A2[i, j]; read A0[j, i]", Some("A2 A0")),
            ("for i : 0 <= i < p0\n  for j : 0 <= j < p0\n    write A2[p0 - i, j]; read A0[j, i]", Some("A2< A0")),
            // A row is read that a later iteration writes; one more row is used before it is written.
            ("for i : 0 <= i < p0\n  for j : 0 <= j < p0\n    write A0[i, j]; read A0[i + 1, j]", Some("A0 A2")),
            // Two that are written: the second when the first was.
            (
                "for t : 0 <= t < p1\n  for i : 0 <= i < p0\n    write A2[i, 1]; read A0[i, 1]\n  for i : 0 <= i < p0\n    write A0[i, 1]",
                Some("A2 A0"),
            ),
            // Both at once, and rows in no order.
            ("for i : 0 <= i < p0\n  for j : 0 <= j < p0\n    write A2[i, j]; write A0[i, j]", None),
            ("for i : 0 <= i < 8\n  for j : 0 <= j < p0\n    write A2[i, j]; write A2[17 - i, j]", None),
        ];
        for (sketch, expected) in table {
            assert_eq!(turns_of(&format!("{ROWS}{sketch}")).as_deref(), expected, "{sketch}");
        }
    }
}
