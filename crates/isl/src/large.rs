//! What arithmetic on large numbers costs. isl's operations say nothing about the size of numbers: one pivot of a tableau whose
//! entries have a thousand digits takes minutes. So such arithmetic is counted too, in steps, and so many steps use up an
//! operation of the budget in force.
//!
//! isl calls the functions below in place of imath's, see `build.rs`; up to 31 bits it needs neither. A step is about a
//! nanosecond.
//!
//! A budget that runs out in the middle of an operation does not end it: what isl computes has to be right until it asks.

use std::cell::Cell;
use std::ptr::null_mut;

use crate::raw;

/// Whose operations are used up, and how fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meter {
    /// NULL: nobody's. Else alive as long as this meter is in force.
    ctx: *mut raw::isl_ctx,
    steps_per_operation: u64,
    /// Those that do not make up an operation yet.
    steps: u64,
}

thread_local! {
    static METER: Cell<Meter> =
        const { Cell::new(Meter { ctx: null_mut(), steps_per_operation: u64::MAX, steps: 0 }) };
}

impl Meter {
    /// # Safety
    /// The context is alive as long as the meter is in force.
    pub unsafe fn new(ctx: *mut raw::isl_ctx, steps_per_operation: u64) -> Meter {
        Meter { ctx, steps_per_operation: steps_per_operation.max(1), steps: 0 }
    }

    /// The meter of this thread from now on. Gives the one before.
    pub fn replace(self) -> Meter {
        METER.replace(self)
    }

    pub fn steps_per_operation() -> u64 {
        METER.get().steps_per_operation
    }
}

#[cfg(isl_calls_us)]
pub(crate) use counted::Number;

#[cfg(isl_calls_us)]
mod counted {
    use std::ffi::c_int;

    use super::METER;
    use crate::raw;

    /// imath's `mpz_t`.
    #[repr(C)]
    pub struct Number {
        single: u32,
        digits: *mut u32,
        alloc: u32,
        /// The number of digits, of 32 bits each.
        used: u32,
        sign: u8,
    }

    impl Number {
        /// `None` if it has more than three digits.
        pub fn to_i128(&self) -> Option<i128> {
            let used = (self.used <= 3).then_some(self.used as usize)?;
            // SAFETY: it has as many digits as it says.
            let digits = unsafe { std::slice::from_raw_parts(self.digits, used) };
            let value = digits.iter().rev().fold(0, |value, digit| value << 32 | i128::from(*digit));
            Some(if self.sign == 0 { value } else { -value })
        }
    }

    unsafe extern "C" {
        fn mp_int_mul(a: *mut Number, b: *mut Number, product: *mut Number) -> c_int;
        fn mp_int_div(a: *mut Number, b: *mut Number, quotient: *mut Number, rest: *mut Number) -> c_int;
        fn mp_int_gcd(a: *mut Number, b: *mut Number, gcd: *mut Number) -> c_int;
        fn mp_int_lcm(a: *mut Number, b: *mut Number, lcm: *mut Number) -> c_int;
    }

    /// Counts the steps for operands of these numbers of digits.
    ///
    /// # Safety
    /// `a` and `b` are numbers; the context of the meter in force is alive.
    unsafe fn count(a: *const Number, b: *const Number, steps: impl FnOnce(u64, u64) -> u64) {
        // SAFETY: by the contract of this function.
        let (a, b) = unsafe { (u64::from((*a).used), u64::from((*b).used)) };
        let mut meter = METER.get();
        if meter.ctx.is_null() {
            return;
        }
        meter.steps = meter.steps.saturating_add(steps(a, b));
        while meter.steps >= meter.steps_per_operation {
            meter.steps -= meter.steps_per_operation;
            // SAFETY: by the contract of this function; this call only counts.
            if unsafe { raw::isl_ctx_next_operation(meter.ctx) } < 0 {
                meter.steps = 0;
            }
        }
        METER.set(meter);
    }

    /// Digit by digit. The constants here and below were measured for 1 to 1024 digits.
    fn multiplying(a: u64, b: u64) -> u64 {
        50 + a * b
    }

    /// A digit of the quotient after the other.
    fn dividing(a: u64, b: u64) -> u64 {
        200 + 3 * a.saturating_sub(b) * b
    }

    /// Bit by bit of both, each time subtracting and shifting.
    fn dividing_both(a: u64, b: u64) -> u64 {
        16 * (a + b) * (a.max(b) + 24)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn loopwright_mp_int_mul(a: *mut Number, b: *mut Number, product: *mut Number) -> c_int {
        // SAFETY: isl passes what imath expects; `Ctx::within` keeps the context alive.
        unsafe {
            count(a, b, multiplying);
            mp_int_mul(a, b, product)
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn loopwright_mp_int_div(
        a: *mut Number,
        b: *mut Number,
        quotient: *mut Number,
        rest: *mut Number,
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            count(a, b, dividing);
            mp_int_div(a, b, quotient, rest)
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn loopwright_mp_int_gcd(a: *mut Number, b: *mut Number, gcd: *mut Number) -> c_int {
        // SAFETY: as above.
        unsafe {
            count(a, b, dividing_both);
            mp_int_gcd(a, b, gcd)
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn loopwright_mp_int_lcm(a: *mut Number, b: *mut Number, lcm: *mut Number) -> c_int {
        // SAFETY: as above.
        unsafe {
            // The rest of it is little beside the greatest common divisor.
            count(a, b, dividing_both);
            mp_int_lcm(a, b, lcm)
        }
    }
}
