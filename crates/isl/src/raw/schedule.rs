use std::ffi::c_char;

use super::*;

functions! {
    pub fn isl_schedule_constraints_copy(sc: Keep<isl_schedule_constraints>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_on_domain(domain: Take<isl_union_set>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_set_validity(sc: Take<isl_schedule_constraints>, validity: Take<isl_union_map>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_set_coincidence(sc: Take<isl_schedule_constraints>, coincidence: Take<isl_union_map>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_set_proximity(sc: Take<isl_schedule_constraints>, proximity: Take<isl_union_map>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_set_conditional_validity(sc: Take<isl_schedule_constraints>, condition: Take<isl_union_map>, validity: Take<isl_union_map>) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_free(sc: Take<isl_schedule_constraints>);
    pub fn isl_schedule_constraints_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_schedule_constraints>;
    pub fn isl_schedule_constraints_to_str(sc: Keep<isl_schedule_constraints>) -> Give<c_char>;
    pub fn isl_schedule_constraints_compute_schedule(sc: Take<isl_schedule_constraints>) -> Give<isl_schedule>;
    pub fn isl_schedule_empty(space: Take<isl_space>) -> Give<isl_schedule>;
    pub fn isl_schedule_from_domain(domain: Take<isl_union_set>) -> Give<isl_schedule>;
    pub fn isl_schedule_copy(sched: Keep<isl_schedule>) -> Give<isl_schedule>;
    pub fn isl_schedule_free(sched: Take<isl_schedule>);
    pub fn isl_schedule_get_map(sched: Keep<isl_schedule>) -> Give<isl_union_map>;
    pub fn isl_schedule_plain_is_equal(schedule1: Keep<isl_schedule>, schedule2: Keep<isl_schedule>) -> isl_bool;
    pub fn isl_schedule_get_root(schedule: Keep<isl_schedule>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_get_domain(schedule: Keep<isl_schedule>) -> Give<isl_union_set>;
    pub fn isl_schedule_insert_partial_schedule(schedule: Take<isl_schedule>, partial: Take<isl_multi_union_pw_aff>) -> Give<isl_schedule>;
    pub fn isl_schedule_sequence(schedule1: Take<isl_schedule>, schedule2: Take<isl_schedule>) -> Give<isl_schedule>;
    pub fn isl_schedule_set(schedule1: Take<isl_schedule>, schedule2: Take<isl_schedule>) -> Give<isl_schedule>;
    pub fn isl_schedule_intersect_domain(schedule: Take<isl_schedule>, domain: Take<isl_union_set>) -> Give<isl_schedule>;
    pub fn isl_schedule_gist_domain_params(schedule: Take<isl_schedule>, context: Take<isl_set>) -> Give<isl_schedule>;
    pub fn isl_schedule_reset_user(schedule: Take<isl_schedule>) -> Give<isl_schedule>;
    pub fn isl_schedule_align_params(schedule: Take<isl_schedule>, space: Take<isl_space>) -> Give<isl_schedule>;
    pub fn isl_schedule_pullback_union_pw_multi_aff(schedule: Take<isl_schedule>, upma: Take<isl_union_pw_multi_aff>) -> Give<isl_schedule>;
    pub fn isl_schedule_expand(schedule: Take<isl_schedule>, contraction: Take<isl_union_pw_multi_aff>, expansion: Take<isl_schedule>) -> Give<isl_schedule>;
    pub fn isl_schedule_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_schedule>;
    pub fn isl_schedule_to_str(schedule: Keep<isl_schedule>) -> Give<c_char>;
}
