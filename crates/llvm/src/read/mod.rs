//! LLVM IR → model. Reads maximal single-entry regions; what it cannot read, it refuses with a reason.
//!
//! [`search`] proposes regions; [`attempts`] reads one, again where an attempt says why. An attempt goes through these rooms, and each
//! knows what stands before it:
//!
//! - [`values`]: which values are the same, which are known before the region, those in memory that nobody seems to change too;
//! - [`arithmetic`]: integers, conditions and addresses as functions of counters and parameters, and what was assumed for it;
//! - [`control`]: the instances of every block, errors and promises;
//! - [`statement`]: blocks cut into statements, and the scalars between them;
//! - [`memory`]: what statements touch, and the cells that are loaded before the region;
//! - [`assemble`]: arrays with their shapes, statements with their accesses, the original order.

mod arithmetic;
mod assemble;
mod attempts;
mod behind;
mod cfg;
mod control;
mod legality;
mod memory;
mod region;
mod search;
mod statement;
mod values;

use crate::body::ReadRegion;
use crate::facts::{BlockId, FunctionFacts, Oracle};
use attempts::Again;
use model::assume::Allowed;
use model::refusal::{Refusal, RefusalKind, SMALL_GAIN, THIS_FILE};
use model::source::Line;
use std::cell::Cell;
use std::collections::BTreeMap;

/// All that was read of a function: regions and, for every loop outside of them, a refusal.
#[derive(Default)]
pub struct Reading {
    pub regions: Vec<FoundRegion>,
    pub refusals: Vec<Refusal>,
}

pub enum FoundRegion {
    Region(Box<ReadRegion>),
    /// The region that was found there the last time.
    AsBefore(Place),
}

/// Entry and exit of a region.
pub type Place = (BlockId, BlockId);

/// What is kept of a function between one reading and the next.
#[derive(Default)]
pub struct Memory {
    /// Regions that are too large for what comes after reading or to be worth it as a whole, and how that was found out.
    pub too_large: BTreeMap<Place, Refusal>,
    /// Regions that are left alone with loops in them that were not read, which may be by themselves.
    pub opaque: BTreeMap<Place, Refusal>,
    /// The blocks of regions that were read.
    read: BTreeMap<Place, Vec<BlockId>>,
    /// Why others were not; without a block where a budget was used up.
    refused: BTreeMap<Place, (Refusal, Option<BlockId>)>,
    /// Operations of isl that looking for array shapes took so far.
    shaping: Cell<u64>,
    /// How often a budget was used up.
    in_vain: usize,
}

/// Why reading a region stopped.
#[derive(Debug)]
pub enum Stop {
    Refused {
        refusal: Refusal,
        block: BlockId,
    },
    /// For this attempt.
    Again(Again),
    Isl(isl::IslError),
}
impl Stop {
    fn refuse(kind: RefusalKind, line: Line, subject: impl Into<String>, block: BlockId) -> Stop {
        Stop::Refused { refusal: Refusal::new(kind, line, subject), block }
    }
}
impl From<isl::IslError> for Stop {
    fn from(error: isl::IslError) -> Self {
        Stop::Isl(error)
    }
}

/// Requires: nothing of the function has changed since `facts` were taken.
/// Ensures: the regions do not overlap; every loop of the function lies in a region or is covered by a refusal. Instead of a region
/// that is too large, its parts are read.
pub fn read_function(
    facts: &FunctionFacts,
    oracle: &dyn Oracle,
    ctx: &isl::Ctx,
    memory: &mut Memory,
    allowed: Allowed,
) -> Reading {
    search::search(Inputs { facts, oracle, ctx, allowed }, memory)
}

/// What all of reading may look at.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    facts: &'a FunctionFacts,
    oracle: &'a dyn Oracle,
    ctx: &'a isl::Ctx,
    /// What may be assumed.
    allowed: Allowed,
}

pub fn refusal_of_isl(error: &isl::IslError, line: Line) -> Refusal {
    match error {
        isl::IslError::OutOfBudget { stage: stage @ (THIS_FILE | SMALL_GAIN) } => {
            Refusal::new(RefusalKind::LeftOut, line, *stage)
        }
        isl::IslError::OutOfBudget { stage } => Refusal::new(RefusalKind::OutOfBudget, line, *stage),
        other => Refusal::new(RefusalKind::InternalError, line, other.to_string()),
    }
}
