use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_basic_map_get_constraint_list(bmap: Keep<isl_basic_map>) -> Give<isl_constraint_list>;
    pub fn isl_basic_map_add_constraint(bmap: Take<isl_basic_map>, constraint: Take<isl_constraint>) -> Give<isl_basic_map>;
    pub fn isl_basic_map_dim(bmap: Keep<isl_basic_map>, kind: isl_dim_type) -> isl_size;
    pub fn isl_basic_map_get_space(bmap: Keep<isl_basic_map>) -> Give<isl_space>;
    pub fn isl_basic_map_free(bmap: Take<isl_basic_map>);
    pub fn isl_basic_map_copy(bmap: Keep<isl_basic_map>) -> Give<isl_basic_map>;
    pub fn isl_basic_map_universe(space: Take<isl_space>) -> Give<isl_basic_map>;
    pub fn isl_basic_map_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_basic_map>;
    pub fn isl_basic_map_to_str(bmap: Keep<isl_basic_map>) -> Give<c_char>;
    pub fn isl_basic_map_wrap(bmap: Take<isl_basic_map>) -> Give<isl_basic_set>;
    pub fn isl_basic_map_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_basic_map_list>;
    pub fn isl_basic_map_list_copy(list: Keep<isl_basic_map_list>) -> Give<isl_basic_map_list>;
    pub fn isl_basic_map_list_free(list: Take<isl_basic_map_list>);
    pub fn isl_basic_map_list_add(list: Take<isl_basic_map_list>, el: Take<isl_basic_map>) -> Give<isl_basic_map_list>;
    pub fn isl_basic_map_list_size(list: Keep<isl_basic_map_list>) -> isl_size;
    pub fn isl_basic_map_list_get_at(list: Keep<isl_basic_map_list>, index: c_int) -> Give<isl_basic_map>;
}
