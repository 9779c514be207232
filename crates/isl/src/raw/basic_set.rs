use std::ffi::{c_char, c_int, c_uint};

use super::*;

functions! {
    pub fn isl_basic_set_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_basic_set_list>;
    pub fn isl_basic_set_list_copy(list: Keep<isl_basic_set_list>) -> Give<isl_basic_set_list>;
    pub fn isl_basic_set_list_free(list: Take<isl_basic_set_list>);
    pub fn isl_basic_set_list_add(list: Take<isl_basic_set_list>, el: Take<isl_basic_set>) -> Give<isl_basic_set_list>;
    pub fn isl_basic_set_list_size(list: Keep<isl_basic_set_list>) -> isl_size;
    pub fn isl_basic_set_list_get_at(list: Keep<isl_basic_set_list>, index: c_int) -> Give<isl_basic_set>;
    pub fn isl_basic_set_dim(bset: Keep<isl_basic_set>, kind: isl_dim_type) -> isl_size;
    pub fn isl_basic_set_get_space(bset: Keep<isl_basic_set>) -> Give<isl_space>;
    pub fn isl_basic_set_free(bset: Take<isl_basic_set>);
    pub fn isl_basic_set_copy(bset: Keep<isl_basic_set>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_basic_set>;
    pub fn isl_basic_set_to_set(bset: Take<isl_basic_set>) -> Give<isl_set>;
    pub fn isl_basic_set_remove_unknown_divs(bset: Take<isl_basic_set>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_drop_constraints_involving_dims(bset: Take<isl_basic_set>, kind: isl_dim_type, first: c_uint, n: c_uint) -> Give<isl_basic_set>;
    pub fn isl_basic_set_drop_constraints_not_involving_dims(bset: Take<isl_basic_set>, kind: isl_dim_type, first: c_uint, n: c_uint) -> Give<isl_basic_set>;
    pub fn isl_basic_set_to_str(bset: Keep<isl_basic_set>) -> Give<c_char>;
    pub fn isl_basic_set_get_constraint_list(bset: Keep<isl_basic_set>) -> Give<isl_constraint_list>;
    pub fn isl_basic_set_add_constraint(bset: Take<isl_basic_set>, constraint: Take<isl_constraint>) -> Give<isl_basic_set>;
    pub fn isl_basic_set_unwrap(bset: Take<isl_basic_set>) -> Give<isl_basic_map>;
}
