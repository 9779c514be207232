use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_id_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_id_list>;
    pub fn isl_id_list_copy(list: Keep<isl_id_list>) -> Give<isl_id_list>;
    pub fn isl_id_list_free(list: Take<isl_id_list>);
    pub fn isl_id_list_add(list: Take<isl_id_list>, el: Take<isl_id>) -> Give<isl_id_list>;
    pub fn isl_id_list_size(list: Keep<isl_id_list>) -> isl_size;
    pub fn isl_id_list_get_at(list: Keep<isl_id_list>, index: c_int) -> Give<isl_id>;
    pub fn isl_id_copy(id: Keep<isl_id>) -> Give<isl_id>;
    pub fn isl_id_free(id: Take<isl_id>);
    pub fn isl_id_get_name(id: Keep<isl_id>) -> KeptString;
    pub fn isl_id_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_id>;
    pub fn isl_id_to_str(id: Keep<isl_id>) -> Give<c_char>;
}
