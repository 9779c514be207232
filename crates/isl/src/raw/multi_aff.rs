use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_multi_aff_get_list(multi: Keep<isl_multi_aff>) -> Give<isl_aff_list>;
    pub fn isl_multi_aff_from_aff_list(space: Take<isl_space>, list: Take<isl_aff_list>) -> Give<isl_multi_aff>;
    pub fn isl_multi_aff_copy(multi: Keep<isl_multi_aff>) -> Give<isl_multi_aff>;
    pub fn isl_multi_aff_free(multi: Take<isl_multi_aff>);
    pub fn isl_multi_aff_get_at(multi: Keep<isl_multi_aff>, pos: c_int) -> Give<isl_aff>;
    pub fn isl_multi_aff_dim(multi: Keep<isl_multi_aff>, kind: isl_dim_type) -> isl_size;
    pub fn isl_multi_aff_pullback_multi_aff(ma1: Take<isl_multi_aff>, ma2: Take<isl_multi_aff>) -> Give<isl_multi_aff>;
    pub fn isl_multi_aff_to_str(ma: Keep<isl_multi_aff>) -> Give<c_char>;
    pub fn isl_multi_aff_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_multi_aff>;
    pub fn isl_pw_multi_aff_copy(pma: Keep<isl_pw_multi_aff>) -> Give<isl_pw_multi_aff>;
    pub fn isl_pw_multi_aff_free(pma: Take<isl_pw_multi_aff>);
    pub fn isl_pw_multi_aff_to_str(pma: Keep<isl_pw_multi_aff>) -> Give<c_char>;
    pub fn isl_pw_multi_aff_get_at(pma: Keep<isl_pw_multi_aff>, pos: c_int) -> Give<isl_pw_aff>;
    pub fn isl_pw_multi_aff_from_map(map: Take<isl_map>) -> Give<isl_pw_multi_aff>;
    pub fn isl_pw_multi_aff_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_pw_multi_aff>;
    pub fn isl_pw_multi_aff_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_pw_multi_aff_list>;
    pub fn isl_pw_multi_aff_list_copy(list: Keep<isl_pw_multi_aff_list>) -> Give<isl_pw_multi_aff_list>;
    pub fn isl_pw_multi_aff_list_free(list: Take<isl_pw_multi_aff_list>);
    pub fn isl_pw_multi_aff_list_add(list: Take<isl_pw_multi_aff_list>, el: Take<isl_pw_multi_aff>) -> Give<isl_pw_multi_aff_list>;
    pub fn isl_pw_multi_aff_list_size(list: Keep<isl_pw_multi_aff_list>) -> isl_size;
    pub fn isl_pw_multi_aff_list_get_at(list: Keep<isl_pw_multi_aff_list>, index: c_int) -> Give<isl_pw_multi_aff>;
}
