//! How much a module is worth: an allowance of operations of isl, in proportion to its instructions, as the time is that compilers take.
//! Operations and not seconds, so that the same input gives the same output.

use isl::{Budget, Ctx, IslError};
use model::refusal::THIS_FILE;

/// For a file of one function, with the compiler's own start.
const FOR_THE_FILE: u64 = 6_000_000;
const FOR_AN_INSTRUCTION: u64 = 1_500;

/// What is left for a module.
pub struct Allowance {
    total: u64,
    left: u64,
}

impl Allowance {
    pub fn for_instructions(count: u64) -> Allowance {
        let total = FOR_THE_FILE.saturating_add(count.saturating_mul(FOR_AN_INSTRUCTION));
        Allowance { total, left: total }
    }

    pub fn without_limit() -> Allowance {
        let total = 1 << 40;
        Allowance { total, left: total }
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

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn left(&self) -> u64 {
        self.left
    }
}
