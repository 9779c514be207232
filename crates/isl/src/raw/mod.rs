//! isl's C functions, as declared in its headers. Ownership is in the types: [`Take`] is `__isl_take`, [`Keep`] is
//! `__isl_keep`, [`Give`] is `__isl_give`; the safe types are lowered to and lifted from them in `object`.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_ulong};

/// A C type with reference-counted objects.
pub trait Counted {
    /// # Safety
    /// `ptr` points to a live object; the caller owns the reference it gets.
    unsafe fn copy(ptr: *mut Self) -> *mut Self;
    /// # Safety
    /// The caller owns a reference to `ptr` and gives it up.
    unsafe fn free(ptr: *mut Self);
}

/// A reference that the function called takes over. Dropped before the call, it is given back.
#[repr(transparent)]
pub struct Take<T: Counted>(*mut T);

impl<T: Counted> Take<T> {
    /// # Safety
    /// `ptr` is NULL or a reference that the caller owns and gives up.
    pub unsafe fn new(ptr: *mut T) -> Take<T> {
        Take(ptr)
    }

    pub fn into_ptr(self) -> *mut T {
        let ptr = self.0;
        std::mem::forget(self);
        ptr
    }
}

impl<T: Counted> Drop for Take<T> {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: by the contract of `new`, this is an owned reference.
            unsafe { T::free(self.0) }
        }
    }
}

/// A pointer that the function called only looks at.
#[repr(transparent)]
pub struct Keep<T>(pub *mut T);

/// A reference that the caller owns from now on, or NULL for an error.
#[repr(transparent)]
#[must_use]
pub struct Give<T>(pub *mut T);

/// -1 for an error, 0, 1.
#[repr(transparent)]
pub struct isl_bool(pub c_int);

/// -1 for an error, 0.
#[repr(transparent)]
pub struct isl_stat(pub c_int);

/// -1 for an error, else a size.
#[repr(transparent)]
pub struct isl_size(pub c_int);

/// A string that belongs to the object asked for it, or NULL.
#[repr(transparent)]
pub struct KeptString(pub *const c_char);

pub const STAT_OK: c_int = 0;
pub const STAT_ERROR: c_int = -1;

pub const ERROR_NONE: c_int = 0;
pub const ERROR_ALLOC: c_int = 2;
pub const ERROR_UNKNOWN: c_int = 3;
pub const ERROR_INVALID: c_int = 5;
pub const ERROR_QUOTA: c_int = 6;
pub const ERROR_UNSUPPORTED: c_int = 7;

pub const ON_ERROR_CONTINUE: c_int = 1;

pub type isl_dim_type = c_int;
pub type isl_ast_loop_type = c_int;
pub type isl_ast_expr_type = c_int;
pub type isl_ast_expr_op_type = c_int;
pub type isl_ast_node_type = c_int;
pub type isl_schedule_node_type = c_int;

/// One line per function, in the order of isl's headers.
macro_rules! functions {
    ($($declarations:tt)*) => {
        #[allow(clippy::missing_safety_doc)]
        unsafe extern "C" { $($declarations)* }
    };
}

/// Types that have functions of their own and no list.
macro_rules! opaque {
    ($($name:ident: $copy:ident $free:ident;)*) => {$(
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
            _not_send: std::marker::PhantomData<*mut u8>,
        }

        impl Counted for $name {
            unsafe fn copy(ptr: *mut Self) -> *mut Self {
                // SAFETY: by the contract of this function.
                unsafe { $copy(Keep(ptr)).0 }
            }

            unsafe fn free(ptr: *mut Self) {
                // SAFETY: by the contract of this function. The reference moves into the `Take`, which C consumes.
                unsafe { $free(Take::new(ptr)) };
            }
        }
    )*};
}

mod aff;
mod ast;
mod ast_build;
mod basic_map;
mod basic_set;
mod callbacks;
mod fixed_box;
mod flow;
mod id;
mod map;
mod multi_aff;
mod point;
mod schedule;
mod schedule_node;
mod set;
mod space;
mod union_aff;
mod union_map;
mod union_set;
mod val;

pub use aff::*;
pub use ast::*;
pub use ast_build::*;
pub use basic_map::*;
pub use basic_set::*;
pub use callbacks::*;
pub use fixed_box::*;
pub use flow::*;
pub use id::*;
pub use map::*;
pub use multi_aff::*;
pub use point::*;
pub use schedule::*;
pub use schedule_node::*;
pub use set::*;
pub use space::*;
pub use union_aff::*;
pub use union_map::*;
pub use union_set::*;
pub use val::*;

#[repr(C)]
pub struct isl_ctx {
    _opaque: [u8; 0],
    _not_send: std::marker::PhantomData<*mut u8>,
}

opaque! {
    isl_val: isl_val_copy isl_val_free;
    isl_val_list: isl_val_list_copy isl_val_list_free;
    isl_multi_val: isl_multi_val_copy isl_multi_val_free;
    isl_id: isl_id_copy isl_id_free;
    isl_id_list: isl_id_list_copy isl_id_list_free;
    isl_space: isl_space_copy isl_space_free;
    isl_local_space: isl_local_space_copy isl_local_space_free;
    isl_aff: isl_aff_copy isl_aff_free;
    isl_aff_list: isl_aff_list_copy isl_aff_list_free;
    isl_pw_aff: isl_pw_aff_copy isl_pw_aff_free;
    isl_pw_aff_list: isl_pw_aff_list_copy isl_pw_aff_list_free;
    isl_multi_aff: isl_multi_aff_copy isl_multi_aff_free;
    isl_pw_multi_aff: isl_pw_multi_aff_copy isl_pw_multi_aff_free;
    isl_pw_multi_aff_list: isl_pw_multi_aff_list_copy isl_pw_multi_aff_list_free;
    isl_union_pw_aff: isl_union_pw_aff_copy isl_union_pw_aff_free;
    isl_union_pw_aff_list: isl_union_pw_aff_list_copy isl_union_pw_aff_list_free;
    isl_multi_union_pw_aff: isl_multi_union_pw_aff_copy isl_multi_union_pw_aff_free;
    isl_union_pw_multi_aff: isl_union_pw_multi_aff_copy isl_union_pw_multi_aff_free;
    isl_union_pw_multi_aff_list: isl_union_pw_multi_aff_list_copy isl_union_pw_multi_aff_list_free;
    isl_basic_set: isl_basic_set_copy isl_basic_set_free;
    isl_basic_set_list: isl_basic_set_list_copy isl_basic_set_list_free;
    isl_set: isl_set_copy isl_set_free;
    isl_set_list: isl_set_list_copy isl_set_list_free;
    isl_union_set: isl_union_set_copy isl_union_set_free;
    isl_union_set_list: isl_union_set_list_copy isl_union_set_list_free;
    isl_basic_map: isl_basic_map_copy isl_basic_map_free;
    isl_basic_map_list: isl_basic_map_list_copy isl_basic_map_list_free;
    isl_map: isl_map_copy isl_map_free;
    isl_map_list: isl_map_list_copy isl_map_list_free;
    isl_union_map: isl_union_map_copy isl_union_map_free;
    isl_union_map_list: isl_union_map_list_copy isl_union_map_list_free;
    isl_point: isl_point_copy isl_point_free;
    isl_constraint: isl_constraint_copy isl_constraint_free;
    isl_constraint_list: isl_constraint_list_copy isl_constraint_list_free;
    isl_schedule: isl_schedule_copy isl_schedule_free;
    isl_schedule_constraints: isl_schedule_constraints_copy isl_schedule_constraints_free;
    isl_schedule_node: isl_schedule_node_copy isl_schedule_node_free;
    isl_ast_node: isl_ast_node_copy isl_ast_node_free;
    isl_ast_node_list: isl_ast_node_list_copy isl_ast_node_list_free;
    isl_ast_expr: isl_ast_expr_copy isl_ast_expr_free;
    isl_ast_expr_list: isl_ast_expr_list_copy isl_ast_expr_list_free;
    isl_ast_build: isl_ast_build_copy isl_ast_build_free;
    isl_union_access_info: isl_union_access_info_copy isl_union_access_info_free;
    isl_union_flow: isl_union_flow_copy isl_union_flow_free;
    isl_fixed_box: isl_fixed_box_copy isl_fixed_box_free;
}

/// Frees what isl gives to be freed by C's `free`.
#[cfg(isl_calls_us)]
pub(crate) use crate::allocate::loopwright_free as free;

#[cfg(not(isl_calls_us))]
functions! {
    pub fn free(ptr: *mut std::ffi::c_void);
}

functions! {
    pub fn isl_ctx_alloc() -> *mut isl_ctx;
    pub fn isl_ctx_free(ctx: *mut isl_ctx);
    pub fn isl_ctx_last_error(ctx: *mut isl_ctx) -> c_int;
    pub fn isl_ctx_last_error_msg(ctx: *mut isl_ctx) -> *const c_char;
    pub fn isl_ctx_reset_error(ctx: *mut isl_ctx);
    pub fn isl_ctx_set_max_operations(ctx: *mut isl_ctx, max_operations: c_ulong);
    pub fn isl_ctx_reset_operations(ctx: *mut isl_ctx);
    // Not in the public headers, but exported: counts one operation, or fails if the maximum is reached.
    pub fn isl_ctx_next_operation(ctx: *mut isl_ctx) -> c_int;

    pub fn isl_options_set_on_error(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_max_coefficient(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_max_constant_term(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_maximize_band_depth(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_maximize_coincidence(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_outer_coincidence(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_treat_coalescing(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_serialize_sccs(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_whole_component(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_ast_build_atomic_upper_bound(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_ast_build_prefer_pdiv(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_ast_build_detect_min_max(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_ast_build_exploit_nested_bounds(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_ast_build_scale_strides(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_schedule_algorithm(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_tile_scale_tile_loops(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
    pub fn isl_options_set_tile_shift_point_loops(ctx: *mut isl_ctx, value: c_int) -> isl_stat;
}
