use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_union_set_from_set(set: Take<isl_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_empty_ctx(ctx: *mut isl_ctx) -> Give<isl_union_set>;
    pub fn isl_union_set_get_space(uset: Keep<isl_union_set>) -> Give<isl_space>;
    pub fn isl_union_set_copy(uset: Keep<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_free(uset: Take<isl_union_set>);
    pub fn isl_union_set_coalesce(uset: Take<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_union(uset1: Take<isl_union_set>, uset2: Take<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_subtract(uset1: Take<isl_union_set>, uset2: Take<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_intersect(uset1: Take<isl_union_set>, uset2: Take<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_intersect_params(uset: Take<isl_union_set>, set: Take<isl_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_product(uset1: Take<isl_union_set>, uset2: Take<isl_union_set>) -> Give<isl_union_set>;
    pub fn isl_union_set_is_empty(uset: Keep<isl_union_set>) -> isl_bool;
    pub fn isl_union_set_is_subset(uset1: Keep<isl_union_set>, uset2: Keep<isl_union_set>) -> isl_bool;
    pub fn isl_union_set_is_equal(uset1: Keep<isl_union_set>, uset2: Keep<isl_union_set>) -> isl_bool;
    pub fn isl_union_set_n_set(uset: Keep<isl_union_set>) -> isl_size;
    pub fn isl_union_set_get_set_list(uset: Keep<isl_union_set>) -> Give<isl_set_list>;
    pub fn isl_union_set_extract_set(uset: Keep<isl_union_set>, space: Take<isl_space>) -> Give<isl_set>;
    pub fn isl_union_set_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_union_set>;
    pub fn isl_union_set_to_str(uset: Keep<isl_union_set>) -> Give<c_char>;
    pub fn isl_union_set_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_union_set_list>;
    pub fn isl_union_set_list_copy(list: Keep<isl_union_set_list>) -> Give<isl_union_set_list>;
    pub fn isl_union_set_list_free(list: Take<isl_union_set_list>);
    pub fn isl_union_set_list_add(list: Take<isl_union_set_list>, el: Take<isl_union_set>) -> Give<isl_union_set_list>;
    pub fn isl_union_set_list_size(list: Keep<isl_union_set_list>) -> isl_size;
    pub fn isl_union_set_list_get_at(list: Keep<isl_union_set_list>, index: c_int) -> Give<isl_union_set>;
}
