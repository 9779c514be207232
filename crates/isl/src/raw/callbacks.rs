use std::ffi::{c_char, c_int, c_void};

use super::*;

/// Looks at an object and answers -1 for an error, else 0 or 1.
pub type Visit<T> = unsafe extern "C" fn(*mut T, *mut c_void) -> c_int;
pub type VisitTwo<A, B> = unsafe extern "C" fn(*mut A, *mut B, *mut c_void) -> c_int;
/// Takes an object and gives another, or NULL for an error.
pub type Rewrite<T> = unsafe extern "C" fn(*mut T, *mut c_void) -> *mut T;
/// Takes a node, looks at the build, and gives a node, or NULL for an error.
pub type AtNode = unsafe extern "C" fn(*mut isl_ast_node, *mut isl_ast_build, *mut c_void) -> *mut isl_ast_node;
/// Looks at the build and gives an id, or NULL for an error.
pub type BeforeFor = unsafe extern "C" fn(*mut isl_ast_build, *mut c_void) -> *mut isl_id;
/// Looks at the mark and the build.
pub type BeforeMark = unsafe extern "C" fn(*mut isl_id, *mut isl_ast_build, *mut c_void) -> c_int;

functions! {
    // Exported, like the printing functions of all types, but missing in the headers.
    pub fn isl_constraint_to_str(constraint: Keep<isl_constraint>) -> Give<c_char>;
    pub fn isl_local_space_to_str(ls: Keep<isl_local_space>) -> Give<c_char>;

    pub fn isl_id_alloc(ctx: *mut isl_ctx, name: *const c_char, user: *mut c_void) -> Give<isl_id>;
    pub fn isl_id_get_user(id: Keep<isl_id>) -> *mut c_void;

    pub fn isl_set_foreach_point(set: Keep<isl_set>, visit: Visit<isl_point>, user: *mut c_void) -> isl_stat;
    pub fn isl_union_set_foreach_point(uset: Keep<isl_union_set>, visit: Visit<isl_point>, user: *mut c_void) -> isl_stat;
    pub fn isl_union_map_every_map(umap: Keep<isl_union_map>, test: Visit<isl_map>, user: *mut c_void) -> isl_bool;
    pub fn isl_pw_aff_foreach_piece(pa: Keep<isl_pw_aff>, visit: VisitTwo<isl_set, isl_aff>, user: *mut c_void) -> isl_stat;
    pub fn isl_pw_multi_aff_foreach_piece(pma: Keep<isl_pw_multi_aff>, visit: VisitTwo<isl_set, isl_multi_aff>, user: *mut c_void) -> isl_stat;

    pub fn isl_set_partial_lexmax(set: Take<isl_set>, dom: Take<isl_set>, empty: *mut *mut isl_set) -> Give<isl_set>;

    pub fn isl_map_transitive_closure(map: Take<isl_map>, exact: *mut isl_bool) -> Give<isl_map>;

    pub fn isl_schedule_foreach_schedule_node_top_down(schedule: Keep<isl_schedule>, visit: Visit<isl_schedule_node>, user: *mut c_void) -> isl_stat;
    pub fn isl_schedule_map_schedule_node_bottom_up(schedule: Take<isl_schedule>, rewrite: Rewrite<isl_schedule_node>, user: *mut c_void) -> Give<isl_schedule>;
    pub fn isl_schedule_node_foreach_descendant_top_down(node: Keep<isl_schedule_node>, visit: Visit<isl_schedule_node>, user: *mut c_void) -> isl_stat;
    pub fn isl_schedule_node_every_descendant(node: Keep<isl_schedule_node>, test: Visit<isl_schedule_node>, user: *mut c_void) -> isl_bool;
    pub fn isl_schedule_node_map_descendant_bottom_up(node: Take<isl_schedule_node>, rewrite: Rewrite<isl_schedule_node>, user: *mut c_void) -> Give<isl_schedule_node>;
    pub fn isl_ast_node_foreach_descendant_top_down(node: Keep<isl_ast_node>, visit: Visit<isl_ast_node>, user: *mut c_void) -> isl_stat;
    pub fn isl_ast_node_map_descendant_bottom_up(node: Take<isl_ast_node>, rewrite: Rewrite<isl_ast_node>, user: *mut c_void) -> Give<isl_ast_node>;

    pub fn isl_ast_build_set_at_each_domain(build: Take<isl_ast_build>, at: AtNode, user: *mut c_void) -> Give<isl_ast_build>;
    pub fn isl_ast_build_set_before_each_for(build: Take<isl_ast_build>, before: BeforeFor, user: *mut c_void) -> Give<isl_ast_build>;
    pub fn isl_ast_build_set_after_each_for(build: Take<isl_ast_build>, after: AtNode, user: *mut c_void) -> Give<isl_ast_build>;
    pub fn isl_ast_build_set_before_each_mark(build: Take<isl_ast_build>, before: BeforeMark, user: *mut c_void) -> Give<isl_ast_build>;
    pub fn isl_ast_build_set_after_each_mark(build: Take<isl_ast_build>, after: AtNode, user: *mut c_void) -> Give<isl_ast_build>;
}
