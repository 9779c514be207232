use std::ffi::{c_char, c_int, c_uint};

use super::*;

functions! {
    pub fn isl_point_zero(space: Take<isl_space>) -> Give<isl_point>;
    pub fn isl_point_copy(pnt: Keep<isl_point>) -> Give<isl_point>;
    pub fn isl_point_free(pnt: Take<isl_point>);
    pub fn isl_point_get_coordinate_val(pnt: Keep<isl_point>, kind: isl_dim_type, pos: c_int) -> Give<isl_val>;
    pub fn isl_point_set_coordinate_val(pnt: Take<isl_point>, kind: isl_dim_type, pos: c_int, v: Take<isl_val>) -> Give<isl_point>;
    pub fn isl_point_is_void(pnt: Keep<isl_point>) -> isl_bool;
    pub fn isl_point_to_str(pnt: Keep<isl_point>) -> Give<c_char>;
    pub fn isl_constraint_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_constraint_list>;
    pub fn isl_constraint_list_copy(list: Keep<isl_constraint_list>) -> Give<isl_constraint_list>;
    pub fn isl_constraint_list_free(list: Take<isl_constraint_list>);
    pub fn isl_constraint_list_add(list: Take<isl_constraint_list>, el: Take<isl_constraint>) -> Give<isl_constraint_list>;
    pub fn isl_constraint_list_size(list: Keep<isl_constraint_list>) -> isl_size;
    pub fn isl_constraint_list_get_at(list: Keep<isl_constraint_list>, index: c_int) -> Give<isl_constraint>;
    pub fn isl_constraint_alloc_inequality(ls: Take<isl_local_space>) -> Give<isl_constraint>;
    pub fn isl_constraint_copy(c: Keep<isl_constraint>) -> Give<isl_constraint>;
    pub fn isl_constraint_free(c: Take<isl_constraint>);
    pub fn isl_constraint_dim(constraint: Keep<isl_constraint>, kind: isl_dim_type) -> isl_size;
    pub fn isl_constraint_involves_dims(constraint: Keep<isl_constraint>, kind: isl_dim_type, first: c_uint, n: c_uint) -> isl_bool;
    pub fn isl_constraint_get_constant_val(constraint: Keep<isl_constraint>) -> Give<isl_val>;
    pub fn isl_constraint_get_coefficient_val(constraint: Keep<isl_constraint>, kind: isl_dim_type, pos: c_int) -> Give<isl_val>;
    pub fn isl_constraint_set_constant_si(constraint: Take<isl_constraint>, v: c_int) -> Give<isl_constraint>;
    pub fn isl_constraint_set_coefficient_si(constraint: Take<isl_constraint>, kind: isl_dim_type, pos: c_int, v: c_int) -> Give<isl_constraint>;
    pub fn isl_constraint_is_equality(constraint: Keep<isl_constraint>) -> isl_bool;
    pub fn isl_constraint_get_aff(constraint: Keep<isl_constraint>) -> Give<isl_aff>;
}
