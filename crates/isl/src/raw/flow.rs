use std::ffi::c_char;

use super::*;

functions! {
    pub fn isl_union_access_info_from_sink(sink: Take<isl_union_map>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_must_source(access: Take<isl_union_access_info>, must_source: Take<isl_union_map>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_may_source(access: Take<isl_union_access_info>, may_source: Take<isl_union_map>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_set_schedule_map(access: Take<isl_union_access_info>, schedule_map: Take<isl_union_map>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_copy(access: Keep<isl_union_access_info>) -> Give<isl_union_access_info>;
    pub fn isl_union_access_info_free(access: Take<isl_union_access_info>);
    pub fn isl_union_access_info_to_str(access: Keep<isl_union_access_info>) -> Give<c_char>;
    pub fn isl_union_access_info_compute_flow(access: Take<isl_union_access_info>) -> Give<isl_union_flow>;
    pub fn isl_union_flow_copy(flow: Keep<isl_union_flow>) -> Give<isl_union_flow>;
    pub fn isl_union_flow_get_must_dependence(flow: Keep<isl_union_flow>) -> Give<isl_union_map>;
    pub fn isl_union_flow_get_may_dependence(flow: Keep<isl_union_flow>) -> Give<isl_union_map>;
    pub fn isl_union_flow_get_full_may_dependence(flow: Keep<isl_union_flow>) -> Give<isl_union_map>;
    pub fn isl_union_flow_get_may_no_source(flow: Keep<isl_union_flow>) -> Give<isl_union_map>;
    pub fn isl_union_flow_free(flow: Take<isl_union_flow>);
    pub fn isl_union_flow_to_str(flow: Keep<isl_union_flow>) -> Give<c_char>;
}
