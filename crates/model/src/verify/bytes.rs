//! What is in memory while instances are replayed: terms for values, and which part of a value a cell holds.

use super::Trace;
use super::computes::{Combined, Computes};
use crate::delicm::Program;
use crate::scop::{AccessKind, ArrayKind, Scop, StatementId};
use crate::update::Update;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What all reads saw and what stayed, in terms that do not depend on the order of the replay.
pub(super) struct Replayed {
    /// Per instance, read and cell.
    pub reads: HashMap<(usize, usize, usize), Print>,
    pub finally: HashMap<usize, Print>,
}

/// A fingerprint of a term: equal terms have equal ones, and others have others but for a freak of chance.
type Print = u128;

/// What a cell holds: one of `parts` parts of a value.
#[derive(Clone)]
struct Content {
    value: Print,
    part: usize,
    parts: usize,
    /// The value is what was there before, combined with the operands of some instances, in whatever order.
    folded: Option<Folded>,
}

#[derive(Clone, PartialEq, Eq)]
struct Folded {
    update: Update,
    base: Print,
    /// Of the operands: a sum, for which their order does not matter.
    operands: Print,
    count: u64,
}

impl Content {
    fn print(&self) -> Print {
        mix(mix(self.value, self.part as u128), self.parts as u128)
    }
}

const ONE_VALUE: ArrayKind = ArrayKind::Errno { one_value: true };

/// One step of a replay.
pub(super) enum Event {
    Instance {
        /// In the trace.
        k: usize,
        /// Accesses to another cell than the original's.
        elsewhere: Vec<(usize, usize)>,
    },
    /// Cell by cell.
    Copy { from: usize, into: usize },
}

impl Event {
    pub(super) fn instance(k: usize) -> Event {
        Event::Instance { k, elsewhere: Vec::new() }
    }
}

/// What is in a cell; what was there before the region is its own, and as good as any other value.
fn content(cells: &HashMap<usize, Content>, cell: usize) -> Content {
    let initial = || Content { value: mix(6, cell as u128), part: 0, parts: 1, folded: None };
    cells.get(&cell).cloned().unwrap_or_else(initial)
}

/// Runs the instances in the given order.
///
/// A write that combines what its statement read from exactly the bytes that it writes is run as what it does to them: if all of
/// them hold the parts of one value that the same operation on the same type made of something, then one operand more goes into it,
/// else the operation begins with whatever pieces lie there. Every other write makes something new, and every other read is remembered.
pub(super) fn replay(scop: &Scop, program: &Program, trace: &Trace, order: Vec<Event>) -> Replayed {
    let of = |(&id, code)| (id, Computes::of(&scop.statements[&id].accesses, code, program));
    let computes: HashMap<StatementId, Computes> = program.statements.iter().map(of).collect();
    let nothing = Computes::default();
    let mut cells: HashMap<usize, Content> = HashMap::new();
    let mut reads = HashMap::new();
    for event in order {
        let (k, elsewhere) = match event {
            Event::Instance { k, elsewhere } => (k, elsewhere),
            Event::Copy { from, into } => {
                cells.insert(into, content(&cells, from));
                continue;
            }
        };
        let (statement, _) = trace.instances[k];
        let accesses = &scop.statements[&statement].accesses;
        let computes = computes.get(&statement).unwrap_or(&nothing);
        let touched = |access: usize| -> Vec<usize> {
            trace.touched[k].iter().filter(|(a, _)| *a == access).map(|(_, cell)| *cell).collect()
        };
        // What an update finds is the order of the operands before it, which may change.
        let combines = |write: usize| computes.combined(write, |read| touched(read) == touched(write));
        let place =
            |a: usize, cell: usize| elsewhere.iter().find(|(access, _)| *access == a).map_or(cell, |(_, cell)| *cell);
        let print = |cells: &HashMap<usize, Content>, cell: &usize| content(cells, *cell).print();
        for (a, access) in accesses.iter().enumerate().filter(|(_, a)| !a.is_write()) {
            if computes.write_of(a).and_then(combines).is_some_and(|c| c.read == a) && access.exact {
                continue;
            }
            let seen = |cell: usize| ((k, a, cell), print(&cells, &place(a, cell)));
            reads.extend(touched(a).into_iter().map(seen));
        }
        for (a, access) in accesses.iter().enumerate().filter(|(_, a)| a.is_write()) {
            let written: Vec<usize> = touched(a).into_iter().map(|cell| place(a, cell)).collect();
            let own = mix(mix(1, k as u128), a as u128);
            let (value, folded) = match combines(a) {
                Some(Combined { update, .. }) if access.kind == AccessKind::Write && access.exact => {
                    let folded = folded(&cells, &written, update, own);
                    (
                        mix(mix(mix(mix(2, folded.base), kind(update)), folded.operands), folded.count.into()),
                        Some(folded),
                    )
                }
                _ => (own, None),
            };
            for (part, cell) in written.iter().enumerate() {
                // What may not be written may be what it was.
                let value = match access.kind {
                    // What was there at first, or the number that all who may write there would write.
                    AccessKind::MayWrite if scop.arrays[&access.array].kind == ONE_VALUE => mix(5, 0),
                    AccessKind::MayWrite => mix(mix(3, print(&cells, cell)), own),
                    _ => value,
                };
                cells.insert(*cell, Content { value, part, parts: written.len(), folded: folded.clone() });
            }
        }
    }
    let finally = cells.into_iter().map(|(cell, content)| (cell, content.print())).collect();
    Replayed { reads, finally }
}

/// One operand more, on what the cells hold.
fn folded(cells: &HashMap<usize, Content>, touched: &[usize], update: Update, operand: Print) -> Folded {
    let held: Option<Vec<&Content>> = touched.iter().map(|cell| cells.get(cell)).collect();
    let whole = held.filter(|held| {
        let is_part = |(n, c): (usize, &&Content)| c.part == n && c.parts == touched.len() && c.value == held[0].value;
        held.iter().enumerate().all(is_part)
    });
    match whole.and_then(|held| held.first().and_then(|c| c.folded.clone())) {
        Some(before) if before.update == update => {
            Folded { operands: before.operands.wrapping_add(operand), count: before.count + 1, ..before }
        }
        _ => {
            let pieces = touched.iter().map(|cell| content(cells, *cell).print());
            Folded { update, base: pieces.fold(4, mix), operands: operand, count: 1 }
        }
    }
}

fn kind(update: Update) -> Print {
    let mut hasher = DefaultHasher::new();
    update.hash(&mut hasher);
    hasher.finish().into()
}

/// A fingerprint of an ordered pair: a few rounds of multiply and xor-shift over 128 bits.
fn mix(a: u128, b: u128) -> u128 {
    let mut x = a.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835) ^ b.rotate_left(61);
    for _ in 0..2 {
        x ^= x >> 59;
        x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93_A5A3_5625_E6C4_1D35).wrapping_add(0x9E37_79B9_7F4A_7C15);
    }
    x ^ (x >> 67)
}
