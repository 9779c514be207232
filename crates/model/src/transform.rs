//! What is done to the order of a region, as a value: a schedule tree to start with, and steps on it.
//!
//! Producers of orders (the search, drawn orders, isl's scheduler as a start) make such values. One function changes trees
//! ([`Step::apply`]), and one says which trees may become loops ([`check_legal`]): no producer is believed.
//!
//! Every band of a tree has an id, in the mark directly above it ([`Label`]). Bands are numbered in the tree that the steps start with,
//! and keep their numbers whatever becomes of the nodes around them.

mod apart;
mod apply;
mod copy;
mod distance;
mod jam;
mod label;
mod legal;
mod reach;

pub use apply::StepError;
pub use copy::{Copies, Copy, Reader};
pub use jam::{ApartPoints, Points, PrivateScalars, apart_points};
pub use label::{Label, label_above, labelled};
pub use legal::{KeptOrder, Legal, Legality, check_legal, check_legal_knowing, keeps_order};

pub(crate) use apart::are_apart;
pub(crate) use distance::{agreement_at, all_equal_at};
pub(crate) use jam::{ApartLoops, apart_by_both};
pub(crate) use reach::{instances_at, statements_of};

use crate::scop::ArrayId;
use isl::Schedule;
use std::fmt;

/// A schedule tree, and the statements that the model made for it.
#[derive(Clone, Debug)]
pub struct Tree {
    pub schedule: Schedule,
    pub copies: Copies,
    /// Scalars of which each iteration that runs side by side has one of its own. [`check_legal`] says which.
    pub private: PrivateScalars,
}

/// Nothing is made yet.
impl From<Schedule> for Tree {
    fn from(schedule: Schedule) -> Tree {
        Tree { schedule, copies: Copies::new(), private: PrivateScalars::new() }
    }
}

/// A band of a schedule tree. Tiling a band makes two of it: its number stays, and the level counts its cuts, the tiles keeping the
/// level of the band and the points having the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BandId {
    pub number: u32,
    pub level: u32,
}

impl BandId {
    /// The loops inside of the tiles of this band.
    pub fn points(self) -> BandId {
        BandId { level: self.level + 1, ..self }
    }
    /// One that no other of these has, for another cut of the same band.
    pub(crate) fn cut_beside(self, others: impl IntoIterator<Item = BandId>) -> BandId {
        let same = others.into_iter().filter(|other| other.number == self.number);
        BandId { level: same.map(|other| other.level).max().unwrap_or(self.level) + 1, ..self }
    }
}

/// One change of a tree. Members of bands are counted from the outermost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `order[k]` is the member that becomes the k-th.
    Permute { band: BandId, order: Vec<usize> },
    /// One size for each member.
    Tile { band: BandId, sizes: Vec<i64> },
    /// The iterations of one member run backwards.
    Reverse { band: BandId, member: usize },
    /// One member counts from where another, of the same band or one around it, stands, or that many times it: `i` runs at `i + by * j`.
    Skew { band: BandId, member: usize, by: i64, of: (BandId, usize) },
    /// So many iterations of one member run side by side in all loops below it: the member counts groups, and a loop over a group,
    /// written out, is innermost.
    Jam { band: BandId, member: usize, by: i64 },
    /// What loads below the band read of an array is copied into memory of our own before it, where they find it. Steps that change
    /// the loops around come before.
    Pack { band: BandId, array: ArrayId },
    /// The first member's iterations are distributed over threads.
    Threads { band: BandId },
    /// The last member is meant for vector instructions.
    Vectors { band: BandId },
}

impl Step {
    pub fn band(&self) -> BandId {
        match self {
            Step::Permute { band, .. }
            | Step::Tile { band, .. }
            | Step::Reverse { band, .. }
            | Step::Skew { band, .. }
            | Step::Jam { band, .. }
            | Step::Pack { band, .. }
            | Step::Threads { band }
            | Step::Vectors { band } => *band,
        }
    }
    /// It says what a loop is for, and changes no order.
    pub fn is_label(&self) -> bool {
        match self {
            Step::Threads { .. } | Step::Vectors { .. } => true,
            Step::Permute { .. }
            | Step::Tile { .. }
            | Step::Reverse { .. }
            | Step::Skew { .. }
            | Step::Jam { .. }
            | Step::Pack { .. } => false,
        }
    }
}

/// All that was done to a tree, first things first.
pub type Steps = Vec<Step>;

impl fmt::Display for BandId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.level {
            0 => write!(f, "B{}", self.number),
            level => write!(f, "B{}.{level}", self.number),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fn list(all: &[impl ToString], between: &str) -> String {
            all.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
        }
        match self {
            Step::Permute { band, order } => write!(f, "permute {band} ({})", list(order, ", ")),
            Step::Tile { band, sizes } => write!(f, "tile {band} by {}", list(sizes, " x ")),
            Step::Reverse { band, member } => write!(f, "reverse {band} ({member})"),
            Step::Skew { band, member, by, of: (other, of) } => {
                write!(f, "skew {band} ({member}) by {by} x {other} ({of})")
            }
            Step::Jam { band, member, by } => write!(f, "jam {band} ({member}) by {by}"),
            Step::Pack { band, array } => write!(f, "pack {array} before {band}"),
            Step::Threads { band } => write!(f, "threads {band}"),
            Step::Vectors { band } => write!(f, "vectors {band}"),
        }
    }
}
