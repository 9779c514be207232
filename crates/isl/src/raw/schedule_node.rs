use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_schedule_node_from_domain(domain: Take<isl_union_set>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_from_extension(extension: Take<isl_union_map>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_copy(node: Keep<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_free(node: Take<isl_schedule_node>);
    pub fn isl_schedule_node_is_equal(node1: Keep<isl_schedule_node>, node2: Keep<isl_schedule_node>) -> isl_bool;
    pub fn isl_schedule_node_get_type(node: Keep<isl_schedule_node>) -> isl_schedule_node_type;
    pub fn isl_schedule_node_get_schedule(node: Keep<isl_schedule_node>) -> Give<isl_schedule>;
    pub fn isl_schedule_node_has_parent(node: Keep<isl_schedule_node>) -> isl_bool;
    pub fn isl_schedule_node_n_children(node: Keep<isl_schedule_node>) -> isl_size;
    pub fn isl_schedule_node_root(node: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_parent(node: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_ancestor(node: Take<isl_schedule_node>, generation: c_int) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_child(node: Take<isl_schedule_node>, pos: c_int) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_group(node: Take<isl_schedule_node>, group_id: Take<isl_id>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_band_get_space(node: Keep<isl_schedule_node>) -> Give<isl_space>;
    pub fn isl_schedule_node_band_get_partial_schedule(node: Keep<isl_schedule_node>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_schedule_node_band_get_partial_schedule_union_map(node: Keep<isl_schedule_node>) -> Give<isl_union_map>;
    pub fn isl_schedule_node_band_member_set_ast_loop_type(node: Take<isl_schedule_node>, pos: c_int, kind: isl_ast_loop_type) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_band_n_member(node: Keep<isl_schedule_node>) -> isl_size;
    pub fn isl_schedule_node_band_member_get_coincident(node: Keep<isl_schedule_node>, pos: c_int) -> isl_bool;
    pub fn isl_schedule_node_band_member_set_coincident(node: Take<isl_schedule_node>, pos: c_int, coincident: c_int) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_band_get_permutable(node: Keep<isl_schedule_node>) -> isl_bool;
    pub fn isl_schedule_node_band_set_permutable(node: Take<isl_schedule_node>, permutable: c_int) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_band_tile(node: Take<isl_schedule_node>, sizes: Take<isl_multi_val>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_filter_get_filter(node: Keep<isl_schedule_node>) -> Give<isl_union_set>;
    pub fn isl_schedule_node_extension_get_extension(node: Keep<isl_schedule_node>) -> Give<isl_union_map>;
    pub fn isl_schedule_node_mark_get_id(node: Keep<isl_schedule_node>) -> Give<isl_id>;
    pub fn isl_schedule_node_get_schedule_depth(node: Keep<isl_schedule_node>) -> isl_size;
    pub fn isl_schedule_node_get_domain(node: Keep<isl_schedule_node>) -> Give<isl_union_set>;
    pub fn isl_schedule_node_get_universe_domain(node: Keep<isl_schedule_node>) -> Give<isl_union_set>;
    pub fn isl_schedule_node_get_prefix_schedule_multi_union_pw_aff(node: Keep<isl_schedule_node>) -> Give<isl_multi_union_pw_aff>;
    pub fn isl_schedule_node_insert_partial_schedule(node: Take<isl_schedule_node>, schedule: Take<isl_multi_union_pw_aff>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_insert_mark(node: Take<isl_schedule_node>, mark: Take<isl_id>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_insert_sequence(node: Take<isl_schedule_node>, filters: Take<isl_union_set_list>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_cut(node: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_delete(node: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_graft_before(node: Take<isl_schedule_node>, graft: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_reset_user(node: Take<isl_schedule_node>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_align_params(node: Take<isl_schedule_node>, space: Take<isl_space>) -> Give<isl_schedule_node>;
    pub fn isl_schedule_node_to_str(node: Keep<isl_schedule_node>) -> Give<c_char>;
}
