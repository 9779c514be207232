//! What isl's sets are made of, as far as we look into them: into those of Polly's copy, which is of one version.

use std::ffi::{c_int, c_uint};
use std::slice;

use crate::large::Number;
use crate::raw;
use crate::small::{Int, decode, is_small};

/// The beginning of isl's `isl_basic_set`.
#[repr(C)]
pub(crate) struct Basic {
    references: c_int,
    flags: c_uint,
    ctx: *mut raw::isl_ctx,
    space: *mut raw::isl_space,
    extra: c_uint,
    equations: c_uint,
    inequalities: c_uint,
    allocated: usize,
    equation: *const *const Int,
    inequality: *const *const Int,
    divisions: c_uint,
}

/// It is known to be empty.
const EMPTY: c_uint = 1 << 1;
/// Its points need not be integers.
const RATIONAL: c_uint = 1 << 4;

/// isl's `isl_dim_set` and `isl_dim_all`.
const SET: c_int = 3;
const ALL: c_int = 5;

/// The functions require that the object is alive.
impl Basic {
    /// Gives up a reference.
    pub unsafe fn free(this: *mut Basic) {
        // SAFETY: by the contract of these functions, as below.
        unsafe { raw::isl_basic_set_free(raw::Take::new(this.cast())) };
    }

    pub fn ctx(&self) -> *mut raw::isl_ctx {
        self.ctx
    }

    /// How many variables it has, if it is of integer points, not known to be empty, and without parameters or divisions.
    pub unsafe fn plain_variables(&self) -> Option<usize> {
        // SAFETY: as above.
        let [in_set, all] = [SET, ALL].map(|kind| unsafe { raw::isl_space_dim(raw::Keep(self.space), kind) }.0);
        let is_plain = self.flags & (EMPTY | RATIONAL) == 0 && self.divisions == 0 && in_set == all;
        is_plain.then_some(usize::try_from(all).ok()?)
    }

    /// Each the constant, then the coefficients of all variables; equations first.
    pub unsafe fn rows(&self, variables: usize) -> impl ExactSizeIterator<Item = (&[Int], bool)> {
        let (equations, inequalities) = (self.equations as usize, self.inequalities as usize);
        (0..equations + inequalities).map(move |at| {
            // SAFETY: as above; it has as many rows as it says, of as many numbers as it has variables, and one more.
            let row = unsafe {
                let row = if at < equations { self.equation.add(at) } else { self.inequality.add(at - equations) };
                slice::from_raw_parts(*row, 1 + variables)
            };
            (row, at < equations)
        })
    }
}

/// Of one of isl's numbers, if it is not of many digits.
///
/// # Safety
/// It is one.
pub(crate) unsafe fn value(number: Int) -> Option<i128> {
    if is_small(number) {
        return Some(decode(number).into());
    }
    // SAFETY: then it points to a large one.
    unsafe { (*(number as *const Number)).to_i128() }
}
