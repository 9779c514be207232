//! How much a module is worth: an allowance of operations of isl, in proportion to its instructions, as the time is that compilers take.
//! Operations and not seconds, so that the same input gives the same output.

use isl::{Budget, Ctx, IslError};
use model::refusal::{SMALL_GAIN, THIS_FILE};

/// For a file of one function, with the compiler's own start.
const FOR_THE_FILE: u64 = 1_500_000;
const FOR_AN_INSTRUCTION: u64 = 1_500;

/// A gain of so many cycles is worth all that is left: that is the order of a product of two matrices of the assumed size.
const LARGE_GAIN: f64 = 1e8;
/// Of the allowance this is for such gains alone.
const RESERVED: u64 = 1_000_000;
/// Otherwise a region may take this much, and one operation more for so many cycles. An operation takes about a thousand cycles: the
/// time is gained back after five thousand runs, or fewer.
const FOR_A_REGION: u64 = 350_000;
const CYCLES_FOR_AN_OPERATION: f64 = 5.0;
/// To read a function that may have many of them.
const FOR_READING: u64 = 400_000;
const TO_READ_AN_INSTRUCTION: u64 = 1_000;

/// What may be taken of it at once.
#[derive(Clone, Copy)]
pub struct Terms {
    is_limited: bool,
}

impl Terms {
    /// For reading a function, where so much is left: half of it at most, for what is read is to be looked at, too.
    pub fn reading(self, instructions: usize, left: u64) -> Budget {
        let most = FOR_READING.saturating_add(TO_READ_AN_INSTRUCTION.saturating_mul(instructions as u64));
        Budget::new(THIS_FILE, if self.is_limited { most.min(left / 2) } else { left / 2 })
    }

    /// For a region in which no more than these cycles can be gained.
    pub fn region(self, gain: f64, left: u64) -> Budget {
        if !self.is_limited || gain >= LARGE_GAIN {
            return Budget::new(THIS_FILE, left);
        }
        let worth = FOR_A_REGION + (gain.max(0.0) / CYCLES_FOR_AN_OPERATION) as u64;
        match left.saturating_sub(RESERVED) {
            unreserved if unreserved < worth => Budget::new(THIS_FILE, unreserved),
            _ => Budget::new(SMALL_GAIN, worth),
        }
    }
}

/// What is left for a module.
pub struct Allowance {
    terms: Terms,
    total: u64,
    left: u64,
}

impl Allowance {
    pub fn for_instructions(count: u64) -> Allowance {
        let total = FOR_THE_FILE.saturating_add(count.saturating_mul(FOR_AN_INSTRUCTION));
        Allowance { terms: Terms { is_limited: true }, total, left: total }
    }

    pub fn without_limit() -> Allowance {
        let total = 1 << 40;
        Allowance { terms: Terms { is_limited: false }, total, left: total }
    }

    /// Runs `work`, which finds that its budget is used up when nothing is left.
    pub fn spend<T>(&mut self, ctx: &Ctx, work: impl FnOnce() -> T) -> T {
        let done = ctx.within(Budget::new(THIS_FILE, self.left), || {
            let done = work();
            self.left = ctx.operations_left().unwrap_or(0);
            Ok::<T, IslError>(done)
        });
        done.expect("it has no other errors")
    }

    pub fn terms(&self) -> Terms {
        self.terms
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn left(&self) -> u64 {
        self.left
    }
}
