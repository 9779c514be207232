use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_union_pw_multi_aff_copy(upma: Keep<isl_union_pw_multi_aff>) -> Give<isl_union_pw_multi_aff>;
    pub fn isl_union_pw_multi_aff_free(upma: Take<isl_union_pw_multi_aff>);
    pub fn isl_union_pw_multi_aff_from_union_map(umap: Take<isl_union_map>) -> Give<isl_union_pw_multi_aff>;
    pub fn isl_union_pw_multi_aff_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_union_pw_multi_aff>;
    pub fn isl_union_pw_multi_aff_to_str(upma: Keep<isl_union_pw_multi_aff>) -> Give<c_char>;
    pub fn isl_union_pw_aff_copy(upa: Keep<isl_union_pw_aff>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_free(upa: Take<isl_union_pw_aff>);
    pub fn isl_union_pw_aff_get_pw_aff_list(upa: Keep<isl_union_pw_aff>) -> Give<isl_pw_aff_list>;
    pub fn isl_union_pw_aff_neg(upa: Take<isl_union_pw_aff>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_union_add(upa1: Take<isl_union_pw_aff>, upa2: Take<isl_union_pw_aff>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_sub(upa1: Take<isl_union_pw_aff>, upa2: Take<isl_union_pw_aff>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_floor(upa: Take<isl_union_pw_aff>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_scale_val(upa: Take<isl_union_pw_aff>, v: Take<isl_val>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_scale_down_val(upa: Take<isl_union_pw_aff>, v: Take<isl_val>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_intersect_domain(upa: Take<isl_union_pw_aff>, uset: Take<isl_union_set>) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_aff_to_str(upa: Keep<isl_union_pw_aff>) -> Give<c_char>;
    pub fn isl_multi_union_pw_aff_get_list(multi: Keep<isl_multi_union_pw_aff>) -> Give<isl_union_pw_aff_list>;
    pub fn isl_multi_union_pw_aff_from_union_pw_aff_list(space: Take<isl_space>, list: Take<isl_union_pw_aff_list>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_multi_union_pw_aff_copy(multi: Keep<isl_multi_union_pw_aff>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_multi_union_pw_aff_free(multi: Take<isl_multi_union_pw_aff>);
    pub fn isl_multi_union_pw_aff_from_union_pw_aff(upa: Take<isl_union_pw_aff>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_multi_union_pw_aff_from_union_map(umap: Take<isl_union_map>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_multi_union_pw_aff_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_multi_union_pw_aff_to_str(mupa: Keep<isl_multi_union_pw_aff>) -> Give<c_char>;
    pub fn isl_union_pw_aff_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_union_pw_aff_list>;
    pub fn isl_union_pw_aff_list_copy(list: Keep<isl_union_pw_aff_list>) -> Give<isl_union_pw_aff_list>;
    pub fn isl_union_pw_aff_list_free(list: Take<isl_union_pw_aff_list>);
    pub fn isl_union_pw_aff_list_add(list: Take<isl_union_pw_aff_list>, el: Take<isl_union_pw_aff>) -> Give<isl_union_pw_aff_list>;
    pub fn isl_union_pw_aff_list_size(list: Keep<isl_union_pw_aff_list>) -> isl_size;
    pub fn isl_union_pw_aff_list_get_at(list: Keep<isl_union_pw_aff_list>, index: c_int) -> Give<isl_union_pw_aff>;
    pub fn isl_union_pw_multi_aff_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_union_pw_multi_aff_list>;
    pub fn isl_union_pw_multi_aff_list_copy(list: Keep<isl_union_pw_multi_aff_list>) -> Give<isl_union_pw_multi_aff_list>;
    pub fn isl_union_pw_multi_aff_list_free(list: Take<isl_union_pw_multi_aff_list>);
    pub fn isl_union_pw_multi_aff_list_add(list: Take<isl_union_pw_multi_aff_list>, el: Take<isl_union_pw_multi_aff>) -> Give<isl_union_pw_multi_aff_list>;
    pub fn isl_union_pw_multi_aff_list_size(list: Keep<isl_union_pw_multi_aff_list>) -> isl_size;
    pub fn isl_union_pw_multi_aff_list_get_at(list: Keep<isl_union_pw_multi_aff_list>, index: c_int) -> Give<isl_union_pw_multi_aff>;
}
