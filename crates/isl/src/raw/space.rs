use std::ffi::{c_char, c_int, c_uint};

use super::*;

functions! {
    pub fn isl_local_space_from_space(space: Take<isl_space>) -> Give<isl_local_space>;
    pub fn isl_local_space_copy(ls: Keep<isl_local_space>) -> Give<isl_local_space>;
    pub fn isl_local_space_free(ls: Take<isl_local_space>);
    pub fn isl_space_set_alloc(ctx: *mut isl_ctx, nparam: c_uint, dim: c_uint) -> Give<isl_space>;
    pub fn isl_space_params_alloc(ctx: *mut isl_ctx, nparam: c_uint) -> Give<isl_space>;
    pub fn isl_space_copy(space: Keep<isl_space>) -> Give<isl_space>;
    pub fn isl_space_free(space: Take<isl_space>);
    pub fn isl_space_set_tuple_name(space: Take<isl_space>, kind: isl_dim_type, s: *const c_char) -> Give<isl_space>;
    pub fn isl_space_get_tuple_name(space: Keep<isl_space>, kind: isl_dim_type) -> KeptString;
    pub fn isl_space_has_dim_id(space: Keep<isl_space>, kind: isl_dim_type, pos: c_uint) -> isl_bool;
    pub fn isl_space_find_dim_by_name(space: Keep<isl_space>, kind: isl_dim_type, name: *const c_char) -> c_int;
    pub fn isl_space_set_dim_name(space: Take<isl_space>, kind: isl_dim_type, pos: c_uint, name: *const c_char) -> Give<isl_space>;
    pub fn isl_space_get_dim_name(space: Keep<isl_space>, kind: isl_dim_type, pos: c_uint) -> KeptString;
    pub fn isl_space_add_dims(space: Take<isl_space>, kind: isl_dim_type, n: c_uint) -> Give<isl_space>;
    pub fn isl_space_map_from_set(space: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_map_from_domain_and_range(domain: Take<isl_space>, range: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_domain(space: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_params(space: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_align_params(space1: Take<isl_space>, space2: Take<isl_space>) -> Give<isl_space>;
    pub fn isl_space_has_equal_tuples(space1: Keep<isl_space>, space2: Keep<isl_space>) -> isl_bool;
    pub fn isl_space_dim(space: Keep<isl_space>, kind: isl_dim_type) -> isl_size;
    pub fn isl_space_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_space>;
    pub fn isl_space_to_str(space: Keep<isl_space>) -> Give<c_char>;
}
