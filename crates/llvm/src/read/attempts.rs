//! One region, read until an attempt succeeds or nothing is left to be changed.
//!
//! An attempt looks at the region in some way ([`View`]). Where it fails, or reads less than it might, it says what to change
//! ([`Stop::Again`], [`Attempt::may_gain_from_symbols`]), and the next one begins from nothing but that. That ends: with each set of
//! trusted loads products become symbols once at most, and pointers meet once with either; loads are only ever distrusted, counters
//! once read without windows, sizes only ever taken to pieces, and branches only ever made one piece, a few of them.

use super::arithmetic::{Arithmetic, Sizes};
use super::control::Undivided;
use super::region::Region;
use super::values::{Trust, Values};
use super::{Inputs, Stop, assemble, control, legality, memory, statement};
use crate::body::ReadRegion;
use crate::facts::{BlockId, ValueId};
use model::assume::AssumptionKind;
use model::refusal::Refusal;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// A region is read at most this often with loads taken for invariant, fewer each time, and then with none.
const MAX_DISAPPOINTMENTS: usize = 4;

/// What to change before a region is read again.
#[derive(Debug)]
pub enum Again {
    /// These loads must not be taken for invariant.
    Varies(Vec<ValueId>),
    /// These sizes are one number here and another there: their pieces must be told apart.
    Pieces(BTreeSet<ValueId>),
    /// A counter was read under a condition that no access has, so that nobody would test it.
    Unframed,
    /// A branch on data must be one piece with all that it decides about: under a predicate, this was refused.
    Undivided { branch: BlockId, refusal: Refusal, block: BlockId },
    /// Pointers that looked unrelated point into one array, and statements were cut in between. By load or store: its array.
    Meet(HashMap<ValueId, ValueId>),
}

/// How a region is looked at.
struct View {
    /// Which loads are taken for values that do not change.
    trust: Trust,
    /// Values from outside that are products are read as such.
    expand_products: bool,
    /// Counters that walk on from what is computed in few bits are read as if it did not wrap around, where accesses have that tested.
    may_frame: bool,
    /// Sizes that are read in pieces.
    in_pieces: BTreeSet<ValueId>,
    /// Branches that are no predicates.
    undivided: Undivided,
    /// By load or store: the array it touches, as far as is known beforehand.
    arrays: HashMap<ValueId, ValueId>,
}

/// A region, and how well it was understood.
pub struct Attempt {
    pub region: ReadRegion,
    /// How many arrays have a shape that holds under a condition only.
    pub conditional: usize,
    /// Values from outside were read as products, though they could have been symbols.
    pub expanded_products: bool,
}

impl Attempt {
    fn doubts(&self) -> (usize, usize) {
        (self.region.unshaped.len(), self.conditional)
    }

    /// `A[i*nm + j]` with nm = n*m may have no shape in n and m, and two matrices in one buffer have no common one: where products
    /// are symbols and pointers computed before the region are arrays of their own, such accesses are affine. The same may save a
    /// condition.
    fn may_gain_from_symbols(&self) -> bool {
        !self.region.unshaped.is_empty() || self.conditional > 0 && self.expanded_products
    }
}

/// Ensures: the result's model describes the region exactly, given its assumptions and that its `may_alias` pairs are disjoint.
pub fn read_region(inputs: Inputs, region: &Region, shaping: &Cell<u64>) -> Result<Attempt, Stop> {
    region.blocks.iter().try_for_each(|&block| legality::check_block(inputs.facts, block))?;
    let mut view = View {
        trust: Trust {
            invariants: inputs.allowed.contains(AssumptionKind::RT),
            rows: inputs.allowed.contains(AssumptionKind::RP),
            distrusted: BTreeSet::new(),
        },
        expand_products: true,
        may_frame: true,
        in_pieces: BTreeSet::new(),
        undivided: Undivided::new(),
        arrays: HashMap::new(),
    };
    let mut disappointments = 0;
    // Better than nothing, but symbols for products may do better.
    let mut doubtful: Option<Attempt> = None;
    loop {
        let values = Values::new(inputs, region, &view.trust);
        view = match (read(&values, &view, inputs, shaping), doubtful.take()) {
            (Err(Stop::Again(Again::Meet(arrays))), before) => {
                doubtful = before;
                View { arrays, ..view }
            }
            (Err(Stop::Again(Again::Undivided { branch, refusal, block })), before) => {
                doubtful = before;
                view.undivided.insert(branch, (refusal, block));
                View { arrays: HashMap::new(), ..view }
            }
            (Err(Stop::Again(Again::Pieces(sizes))), before) => {
                doubtful = before;
                view.in_pieces.extend(sizes);
                view
            }
            (Err(Stop::Again(Again::Unframed)), before) => {
                doubtful = before;
                View { may_frame: false, ..view }
            }
            (Err(Stop::Isl(error)), _) if !error.is_out_of_budget() => return Err(Stop::Isl(error)),
            (Ok(symbolic), Some(before)) if symbolic.doubts() < before.doubts() => return Ok(symbolic),
            (_, Some(before)) => return Ok(before),
            (Ok(attempt), None) if attempt.may_gain_from_symbols() => {
                doubtful = Some(attempt);
                View { expand_products: false, arrays: HashMap::new(), ..view }
            }
            (Ok(attempt), None) => return Ok(attempt),
            (Err(Stop::Again(Again::Varies(loads))), None) if disappointments + 1 < MAX_DISAPPOINTMENTS => {
                disappointments += 1;
                view.trust.distrusted.extend(loads);
                View { arrays: HashMap::new(), ..view }
            }
            // Without invariants it may be simpler: with pointers to rows alone, and then without those.
            (Err(_), None) if !values.invariants.is_empty() || !values.rows.is_empty() => {
                let rows = !values.invariants.is_empty() && !values.rows.is_empty();
                View { trust: Trust { rows, ..Trust::default() }, arrays: HashMap::new(), ..view }
            }
            (Err(stop), None) => return Err(stop),
        };
    }
}

/// One attempt.
fn read(values: &Values, view: &View, inputs: Inputs, shaping: &Cell<u64>) -> Result<Attempt, Stop> {
    let mut arithmetic =
        Arithmetic::new(values, inputs.allowed, (view.expand_products, view.may_frame), Sizes::new(&view.in_pieces))?;
    let (items, arrivals) = control::follow(&mut arithmetic, &view.undivided)?;
    let cut = statement::cut(&mut arithmetic, &items, &view.arrays)?;
    let accesses = memory::read_accesses(&mut arithmetic, &cut)?;
    let disagreeing = arithmetic.sizes.disagreeing();
    if !disagreeing.is_empty() {
        return Err(Stop::Again(Again::Pieces(disagreeing)));
    }
    memory::expect_unchanged_rows(values, &accesses)?;
    if cut.swaps(&accesses, values.facts) {
        assert!(view.arrays.is_empty(), "statements of a block swap accesses to one array");
        let arrays = accesses.by_base.iter().flat_map(|(&base, all)| all.iter().map(move |a| (a.instruction, base)));
        return Err(Stop::Again(Again::Meet(arrays.collect())));
    }
    let invariants = memory::read_invariants(&mut arithmetic, &arrivals)?;
    memory::expect_rows(&arithmetic, &cut, &accesses)?;
    assemble::assemble(arithmetic, &items, cut, accesses, invariants, shaping)
}
