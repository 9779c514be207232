use std::ffi::{c_char, c_int, c_long, c_ulong};

use super::*;

functions! {
    pub fn isl_multi_val_get_list(multi: Keep<isl_multi_val>) -> Give<isl_val_list>;
    pub fn isl_multi_val_from_val_list(space: Take<isl_space>, list: Take<isl_val_list>) -> Give<isl_multi_val>;
    pub fn isl_multi_val_copy(multi: Keep<isl_multi_val>) -> Give<isl_multi_val>;
    pub fn isl_multi_val_free(multi: Take<isl_multi_val>);
    pub fn isl_val_nan(ctx: *mut isl_ctx) -> Give<isl_val>;
    pub fn isl_val_int_from_si(ctx: *mut isl_ctx, i: c_long) -> Give<isl_val>;
    pub fn isl_val_int_from_ui(ctx: *mut isl_ctx, u: c_ulong) -> Give<isl_val>;
    pub fn isl_val_copy(v: Keep<isl_val>) -> Give<isl_val>;
    pub fn isl_val_free(v: Take<isl_val>);
    pub fn isl_val_get_num_si(v: Keep<isl_val>) -> c_long;
    pub fn isl_val_get_d(v: Keep<isl_val>) -> f64;
    pub fn isl_val_neg(v: Take<isl_val>) -> Give<isl_val>;
    pub fn isl_val_mul(v1: Take<isl_val>, v2: Take<isl_val>) -> Give<isl_val>;
    pub fn isl_val_is_one(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_pos(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_neg(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_int(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_nan(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_is_infty(v: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_lt(v1: Keep<isl_val>, v2: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_gt(v1: Keep<isl_val>, v2: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_eq(v1: Keep<isl_val>, v2: Keep<isl_val>) -> isl_bool;
    pub fn isl_val_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_val>;
    pub fn isl_val_to_str(v: Keep<isl_val>) -> Give<c_char>;
    pub fn isl_multi_val_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_multi_val>;
    pub fn isl_multi_val_to_str(mv: Keep<isl_multi_val>) -> Give<c_char>;
    pub fn isl_val_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_val_list>;
    pub fn isl_val_list_copy(list: Keep<isl_val_list>) -> Give<isl_val_list>;
    pub fn isl_val_list_free(list: Take<isl_val_list>);
    pub fn isl_val_list_add(list: Take<isl_val_list>, el: Take<isl_val>) -> Give<isl_val_list>;
    pub fn isl_val_list_size(list: Keep<isl_val_list>) -> isl_size;
    pub fn isl_val_list_get_at(list: Keep<isl_val_list>, index: c_int) -> Give<isl_val>;
}
