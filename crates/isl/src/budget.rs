use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use crate::large::Meter;
use crate::{Ctx, IslError, Result, raw};

/// A named allowance of isl operations. An operation is an allocation or a pivot of a simplex tableau: about a microsecond
/// where tableaux are small, so a million is about a second. Counting operations rather than time keeps results the same on every
/// machine. How much a stage may use is said where the stage is.
///
/// Numbers of many digits make operations slow, so the arithmetic on them uses up operations too, in proportion to `steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub name: &'static str,
    pub operations: u64,
    /// So much arithmetic on large numbers uses up all of it. A step is about a nanosecond.
    pub steps: u64,
}

/// Of arithmetic on large numbers.
pub const STEPS_OF_A_SECOND: u64 = 1_000_000_000;

impl Budget {
    /// As many operations as are allowed, each worth about a microsecond.
    pub const fn new(name: &'static str, operations: u64) -> Budget {
        Budget { name, operations, steps: operations.saturating_mul(STEPS_OF_A_SECOND / 1_000_000) }
    }

    /// The same with at most so many operations, each worth as many steps as before.
    pub fn at_most(self, operations: u64) -> Budget {
        let operations = operations.min(self.operations);
        Budget { operations, steps: operations.saturating_mul(self.steps_per_operation()), ..self }
    }

    fn steps_per_operation(&self) -> u64 {
        self.steps / self.operations.max(1)
    }
}

/// The limit that is set in isl now: the tightest of the enclosing budgets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Operations left when the counter was last reset; 0 means there is none left, not that there is no limit.
    pub left: u64,
    /// The budget that runs out first.
    pub stage: &'static str,
}

/// Operations and time under a budget, without those under budgets inside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub operations: u64,
    pub time: Duration,
}

thread_local! {
    /// By the budget's name.
    static SPENT: RefCell<BTreeMap<&'static str, Spent>> = const { RefCell::new(BTreeMap::new()) };
    /// Under the budgets that ended inside of the one that is in force.
    static INSIDE: Cell<Spent> = const { Cell::new(Spent { operations: 0, time: Duration::ZERO }) };
}

/// What this thread has spent under each budget so far, by its name.
pub fn spent() -> BTreeMap<&'static str, Spent> {
    SPENT.with_borrow(Clone::clone)
}

impl Ctx {
    /// Runs `work` with at most `budget.operations` isl operations. Budgets nest: what the inner one uses is used up in the
    /// outer one too, and the error names the budget that ran out.
    ///
    /// After running out, every isl call in `work` fails; those after it succeed again.
    ///
    /// Arithmetic on large numbers is counted for the innermost context that a thread has called this for.
    pub fn within<T, E: From<IslError>>(&self, budget: Budget, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.bounded(budget, work).0
    }

    /// As [`Ctx::within`]; nothing if this budget ran out, and not one around it or inside of it.
    pub fn try_within<T>(&self, budget: Budget, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        match self.bounded(budget, work) {
            (Err(IslError::OutOfBudget { .. }), true) => Ok(None),
            (other, _) => other.map(Some),
        }
    }

    /// As [`Ctx::try_within`], with one of so many equal parts of what the budget in force still allows; without limit if there is
    /// none.
    pub fn try_within_part<T>(
        &self,
        name: &'static str,
        parts: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(left) = self.operations_left() else {
            return work().map(Some);
        };
        let operations = left / parts;
        let steps = operations.saturating_mul(Meter::steps_per_operation());
        self.try_within(Budget { name, operations, steps }, work)
    }

    /// Also tells whether nothing is left of this budget, while those around it have more.
    fn bounded<T, E: From<IslError>>(
        &self,
        budget: Budget,
        work: impl FnOnce() -> Result<T, E>,
    ) -> (Result<T, E>, bool) {
        let outer = self.limit_now();
        let is_tightest = outer.is_none_or(|outer| outer.left > budget.operations);
        let inner = match outer {
            Some(outer) if !is_tightest => outer,
            _ => Limit { left: budget.operations, stage: budget.name },
        };
        self.set_limit(Some(inner));
        // SAFETY: this handle keeps the context alive until the meter is replaced below.
        let outer_meter = unsafe { Meter::new(self.as_ptr(), budget.steps_per_operation()) }.replace();
        let (start, beside) = (Instant::now(), INSIDE.take());
        let result = catch_unwind(AssertUnwindSafe(work));
        outer_meter.replace();
        // `work` may have reset the counter, with a budget of its own.
        let left = self.limit_now().map_or(0, |limit| limit.left);
        let used = inner.left - left;
        self.set_limit(outer.map(|outer| Limit { left: outer.left.saturating_sub(used), ..outer }));
        let (time, inside) = (start.elapsed(), INSIDE.take());
        SPENT.with_borrow_mut(|spent| {
            let own = spent.entry(budget.name).or_default();
            own.operations += used.saturating_sub(inside.operations);
            own.time += time.saturating_sub(inside.time);
        });
        INSIDE.set(Spent { operations: beside.operations + used, time: beside.time + time });
        (result.unwrap_or_else(|payload| resume_unwind(payload)), is_tightest && left == 0)
    }

    /// The operations that the budget in force still allows; `None` outside of [`Ctx::within`].
    pub fn operations_left(&self) -> Option<u64> {
        let limit = self.limit_now()?;
        self.set_limit(Some(limit));
        Some(limit.left)
    }

    /// Runs `work` without limit and without counting: for printing and for copies that must not fail.
    pub(crate) fn unbudgeted<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(limit) = self.limit_now() else {
            return work();
        };
        self.set_limit(None);
        let result = work();
        self.set_limit(Some(limit));
        result
    }

    /// Whether the budget in force allows nothing any more.
    pub(crate) fn is_exhausted(&self) -> bool {
        // SAFETY: the context is alive; this call only counts.
        let exhausted = self.limit().is_some() && unsafe { raw::isl_ctx_next_operation(self.as_ptr()) } < 0;
        self.reset_error();
        exhausted
    }

    /// What is left of the limit now. The counter has to be reset after this.
    fn limit_now(&self) -> Option<Limit> {
        self.limit().map(|limit| Limit { left: limit.left - self.operations_used(limit.left), ..limit })
    }

    fn set_limit(&self, limit: Option<Limit>) {
        self.store_limit(limit);
        // SAFETY: the context is alive; these calls only store numbers in it.
        unsafe {
            raw::isl_ctx_reset_operations(self.as_ptr());
            match limit {
                None => raw::isl_ctx_set_max_operations(self.as_ptr(), 0),
                Some(Limit { left: 0, .. }) => {
                    // isl reads 0 as "no limit": allow one operation and use it up.
                    raw::isl_ctx_set_max_operations(self.as_ptr(), 1);
                    raw::isl_ctx_next_operation(self.as_ptr());
                }
                Some(Limit { left, .. }) => raw::isl_ctx_set_max_operations(self.as_ptr(), left),
            }
        }
    }

    /// How many operations were counted since the counter was reset, at most `limit`.
    ///
    /// isl keeps the counter to itself, but tells whether it is below a maximum: `isl_ctx_next_operation` fails if and only if
    /// it is not, else it adds 1. So a binary search finds it. Let c be the counter at the start and s the number of probes
    /// that succeeded; the counter is always c + s. Invariant: low ≤ c < high, unless c ≥ limit.
    fn operations_used(&self, limit: u64) -> u64 {
        let mut succeeded = 0;
        // SAFETY: the context is alive; these calls only store numbers in it.
        let mut is_below = |bound: u64| unsafe {
            raw::isl_ctx_set_max_operations(self.as_ptr(), bound + succeeded);
            let below = raw::isl_ctx_next_operation(self.as_ptr()) >= 0;
            succeeded += u64::from(below);
            below
        };
        let (mut low, mut high) = (0, limit);
        while low < high {
            let middle = low + (high - low) / 2;
            // c < middle + 1, that is c ≤ middle
            if is_below(middle + 1) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.reset_error();
        low
    }
}
