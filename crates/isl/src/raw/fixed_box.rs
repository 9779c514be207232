use std::ffi::c_char;

use super::*;

functions! {
    pub fn isl_fixed_box_is_valid(fixed_box: Keep<isl_fixed_box>) -> isl_bool;
    pub fn isl_fixed_box_get_offset(fixed_box: Keep<isl_fixed_box>) -> Give<isl_multi_aff>;
    pub fn isl_fixed_box_get_size(fixed_box: Keep<isl_fixed_box>) -> Give<isl_multi_val>;
    pub fn isl_fixed_box_copy(fixed_box: Keep<isl_fixed_box>) -> Give<isl_fixed_box>;
    pub fn isl_fixed_box_free(fixed_box: Take<isl_fixed_box>);
    pub fn isl_fixed_box_to_str(fixed_box: Keep<isl_fixed_box>) -> Give<c_char>;
}
