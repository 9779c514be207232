use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};
use std::fmt;
use std::panic::resume_unwind;
use std::rc::Rc;

use crate::budget::Limit;
use crate::{IslError, Result, raw};

/// An isl context: the arena, options, error state and operation counter that a family of isl objects shares.
///
/// Cloning gives another handle on the same context. Every object holds one, so the context lives as long as its last object.
/// Objects of different contexts must not meet; the wrapper checks it. Neither contexts nor objects can leave their thread:
///
/// ```compile_fail
/// fn to_another_thread<T: Send>() {}
/// to_another_thread::<isl::Set>();
/// ```
#[derive(Clone)]
pub struct Ctx(Rc<State>);

struct State {
    ptr: *mut raw::isl_ctx,
    limit: Cell<Option<Limit>>,
    /// What a callback stored from a panic until isl has returned.
    panic: RefCell<Option<Box<dyn Any + Send>>>,
    /// What a callback that isl kept stored as its error until isl has returned.
    error: RefCell<Option<IslError>>,
}

impl Ctx {
    pub fn new() -> Ctx {
        // SAFETY: no precondition; NULL is checked below.
        let ptr = unsafe { raw::isl_ctx_alloc() };
        assert!(!ptr.is_null(), "isl_ctx_alloc: out of memory");
        // SAFETY: `ptr` is a fresh context.
        unsafe { raw::isl_options_set_on_error(ptr, raw::ON_ERROR_CONTINUE) };
        Ctx(Rc::new(State { ptr, limit: Cell::new(None), panic: RefCell::new(None), error: RefCell::new(None) }))
    }

    pub fn is_same(&self, other: &Ctx) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn as_ptr(&self) -> *mut raw::isl_ctx {
        self.0.ptr
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        self.0.limit.get()
    }

    pub(crate) fn store_limit(&self, limit: Option<Limit>) {
        self.0.limit.set(limit);
    }

    pub(crate) fn store_panic(&self, payload: Box<dyn Any + Send>) {
        self.0.panic.borrow_mut().get_or_insert(payload);
    }

    pub(crate) fn store_error(&self, error: IslError) {
        self.0.error.borrow_mut().get_or_insert(error);
    }

    pub(crate) fn reset_error(&self) {
        // SAFETY: the context is alive.
        unsafe { raw::isl_ctx_reset_error(self.as_ptr()) }
    }

    /// Fails if a callback panicked or failed during the call that just returned, or if the budget ran out in it. isl may have
    /// worked around the latter, but we do not build on an answer that was cut short.
    pub(crate) fn check_interrupted(&self) -> Result<()> {
        self.pending()?;
        // SAFETY: the context is alive.
        if unsafe { raw::isl_ctx_last_error(self.as_ptr()) } == raw::ERROR_QUOTA {
            return Err(self.take_error("isl"));
        }
        Ok(())
    }

    /// The error of the call that just returned, and a clean slate for the next one.
    pub(crate) fn take_error(&self, function: &'static str) -> IslError {
        if let Err(error) = self.pending() {
            return error;
        }
        // SAFETY: the context is alive; the message is NULL or a string that lives until the error is reset.
        let (kind, message) = unsafe {
            let message = raw::isl_ctx_last_error_msg(self.as_ptr());
            let message = if message.is_null() {
                "isl gave no reason".to_string()
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            };
            (raw::isl_ctx_last_error(self.as_ptr()), message)
        };
        self.reset_error();
        if kind == raw::ERROR_QUOTA || self.is_exhausted() {
            // A function that finds the result of another one missing may have given a reason of its own since.
            let stage = self.limit().map_or("unlimited", |limit| limit.stage);
            return IslError::OutOfBudget { stage };
        }
        match kind {
            raw::ERROR_ALLOC => IslError::OutOfMemory { function },
            // Assertions in isl are about arguments, and report this kind.
            raw::ERROR_INVALID | raw::ERROR_UNKNOWN => IslError::Invalid { function, message },
            raw::ERROR_UNSUPPORTED => IslError::Unsupported { function, message },
            _ => IslError::Internal { function, message },
        }
    }

    /// Resumes a callback's panic, or gives a callback's error.
    fn pending(&self) -> Result<()> {
        if let Some(payload) = self.0.panic.borrow_mut().take() {
            self.reset_error();
            resume_unwind(payload);
        }
        match self.0.error.borrow_mut().take() {
            Some(error) => {
                self.reset_error();
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Whether the last failing call had a reason at all: NULL and -1 are also how isl says "none".
    pub(crate) fn has_error(&self) -> bool {
        // SAFETY: the context is alive.
        unsafe { raw::isl_ctx_last_error(self.as_ptr()) != raw::ERROR_NONE }
    }
}

impl Default for Ctx {
    fn default() -> Ctx {
        Ctx::new()
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctx({:p})", self.0.ptr)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: every object holds a handle on this state, so none is left, and the context is freed once.
        unsafe { raw::isl_ctx_free(self.ptr) }
    }
}

/// Which algorithm the scheduler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleAlgorithm {
    /// Pluto-like: bands of permutable loops.
    Isl,
    /// Feautrier: carries as many dependences as possible in the outer loops.
    Feautrier,
}

macro_rules! options {
    ($($(#[$meta:meta])* fn $name:ident($ty:ident) = $c:ident;)*) => {
        impl Ctx {
            $($(#[$meta])* pub fn $name(&self, value: $ty) {
                // SAFETY: the context is alive; setting an option stores an integer.
                unsafe { raw::$c(self.as_ptr(), c_int::from(OptionValue::from(value).0)) };
            })*
        }
    };
}

struct OptionValue(i32);

impl From<bool> for OptionValue {
    fn from(value: bool) -> Self {
        OptionValue(i32::from(value))
    }
}

impl From<i32> for OptionValue {
    fn from(value: i32) -> Self {
        OptionValue(value)
    }
}

impl From<ScheduleAlgorithm> for OptionValue {
    fn from(value: ScheduleAlgorithm) -> Self {
        OptionValue(match value {
            ScheduleAlgorithm::Isl => 0,
            ScheduleAlgorithm::Feautrier => 1,
        })
    }
}

options! {
    fn set_schedule_algorithm(ScheduleAlgorithm) = isl_options_set_schedule_algorithm;
    /// The largest coefficient of a variable in a schedule, in absolute value; -1 for no limit.
    fn set_schedule_max_coefficient(i32) = isl_options_set_schedule_max_coefficient;
    /// The largest constant term in a schedule; -1 for no limit.
    fn set_schedule_max_constant_term(i32) = isl_options_set_schedule_max_constant_term;
    fn set_schedule_serialize_sccs(bool) = isl_options_set_schedule_serialize_sccs;
    fn set_schedule_whole_component(bool) = isl_options_set_schedule_whole_component;
    fn set_schedule_maximize_band_depth(bool) = isl_options_set_schedule_maximize_band_depth;
    fn set_schedule_maximize_coincidence(bool) = isl_options_set_schedule_maximize_coincidence;
    fn set_schedule_outer_coincidence(bool) = isl_options_set_schedule_outer_coincidence;
    fn set_schedule_treat_coalescing(bool) = isl_options_set_schedule_treat_coalescing;
    fn set_tile_scale_tile_loops(bool) = isl_options_set_tile_scale_tile_loops;
    fn set_tile_shift_point_loops(bool) = isl_options_set_tile_shift_point_loops;
    fn set_ast_build_atomic_upper_bound(bool) = isl_options_set_ast_build_atomic_upper_bound;
    fn set_ast_build_prefer_pdiv(bool) = isl_options_set_ast_build_prefer_pdiv;
    fn set_ast_build_detect_min_max(bool) = isl_options_set_ast_build_detect_min_max;
    fn set_ast_build_exploit_nested_bounds(bool) = isl_options_set_ast_build_exploit_nested_bounds;
    fn set_ast_build_scale_strides(bool) = isl_options_set_ast_build_scale_strides;
}
