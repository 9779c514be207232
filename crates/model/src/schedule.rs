//! In which order to run the instances.
//!
//! isl's scheduler finds orders that respect all dependences, with bands of permutable loops; an estimate of the running time
//! chooses among them, chooses the order of the loops in each band and their tiles, and compares with the original order. Where
//! no gain is predicted the region is left alone.

mod attempts;
mod contest;
mod cost;
mod linear;
mod nominal;
mod order;
mod orders;
mod outlook;
mod prices;
mod region;
mod search;
mod shape;
mod split;
mod trials;

pub use order::{Order, OrderError, Start};
pub use orders::{Orders, Scalars};
pub use outlook::Outlook;

use crate::dependence::Dependences;
use crate::scop::Scop;
use crate::transform::Steps;
use isl::{Budget, IslError, UnionMap};

/// What the estimate knows of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub vector_bits: u32,
    /// Bytes of the first and second level data caches of one core.
    pub l1: u64,
    pub l2: u64,
    pub cache_line: u64,
}

impl Machine {
    /// Of vectors or floating point numbers.
    fn registers(&self) -> f64 {
        if self.vector_bits >= 512 { 32.0 } else { 16.0 }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine { vector_bits: 256, l1: 32 << 10, l2: 512 << 10, cache_line: 64 }
    }
}

/// Which statements may share loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Only those that a cycle of dependences ties together.
    Min,
    /// As many as isl's scheduler manages.
    Max,
    /// Whichever of the two is estimated to be faster.
    Smart,
}

#[derive(Clone, Debug)]
pub struct ScheduleOptions {
    pub fusion: Fusion,
    /// Edge of a tile in every loop but the innermost; 0: no tiling.
    pub tile: i64,
    /// Candidates for the edge in the innermost loop.
    pub inner_tiles: Vec<i64>,
    /// Loops may be distributed over threads.
    pub parallel: bool,
    /// The new order must take at most this share of the original's estimated time.
    pub worthwhile: f64,
    /// The same for orders that skew loops: their bounds cost more than the estimate knows.
    pub worthwhile_skewed: f64,
    /// Fewer instances than this are never worth a second version of the loops.
    pub min_instances: f64,
    /// A loop is distributed over threads only if one execution of it runs this many instances.
    pub min_parallel_instances: f64,
    /// Not the choices estimated to be the fastest, but any, drawn with this number: to test the transformations.
    pub draw: Option<u64>,
    /// Steps may need memory of our own.
    pub may_allocate: bool,
    /// The order that is chosen is made wrong: to test that it is refused.
    pub spoil: bool,
}

impl Default for ScheduleOptions {
    fn default() -> Self {
        ScheduleOptions {
            fusion: Fusion::Smart,
            tile: 32,
            inner_tiles: vec![32, 64, 128, 256, 512],
            parallel: false,
            worthwhile: 0.85,
            worthwhile_skewed: 0.6,
            min_instances: 4096.0,
            min_parallel_instances: 20_000.0,
            draw: None,
            may_allocate: true,
            spoil: false,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Decision {
    Leave {
        reason: String,
        /// Whatever the order: there are too few instances.
        too_small: bool,
        /// Some of its loops, by themselves, might be worth it.
        part_may_gain: bool,
        /// The estimate for the original order.
        cycles: f64,
    },
    Transform {
        order: Order,
        /// For people: what is gained.
        reason: String,
        /// The estimate for the new order, on one thread.
        cycles: f64,
        /// With fewer instances of a statement it does not pay, if that is known.
        least_instances: Option<i64>,
        /// It consists of parts, one after the other, some of which are not faster: these would better be left alone.
        idles: bool,
    },
    /// What looked best breaks these dependences: whoever made it is wrong.
    Illegal { steps: Steps, pairs: UnionMap },
}

/// All attempts at an order together, and their estimates; each run of the scheduler has a budget of its own.
const SEARCH: Budget = Budget::new("schedule", 1_500_000);

/// Estimates that differ by less say nothing.
const AS_GOOD: f64 = 0.05;

/// What may be expected of a region whose dependences are not known yet.
pub fn outlook(scop: &Scop, target: &Machine, options: &ScheduleOptions) -> Result<Outlook, IslError> {
    scop.ctx.within(SEARCH, || outlook::outlook(scop, target, options))
}

/// The order to run the region in.
///
/// Requires: `deps` are the dependences of `scop`.
pub fn choose(
    scop: &Scop,
    deps: &Dependences,
    target: &Machine,
    options: &ScheduleOptions,
) -> Result<Decision, IslError> {
    scop.ctx.within(SEARCH, || search::choose(scop, deps, target, options))
}

#[cfg(test)]
mod tests;
