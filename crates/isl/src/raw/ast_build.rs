use super::*;

functions! {
    pub fn isl_ast_build_alloc(ctx: *mut isl_ctx) -> Give<isl_ast_build>;
    pub fn isl_ast_build_from_context(set: Take<isl_set>) -> Give<isl_ast_build>;
    pub fn isl_ast_build_get_schedule_space(build: Keep<isl_ast_build>) -> Give<isl_space>;
    pub fn isl_ast_build_get_schedule(build: Keep<isl_ast_build>) -> Give<isl_union_map>;
    pub fn isl_ast_build_restrict(build: Take<isl_ast_build>, set: Take<isl_set>) -> Give<isl_ast_build>;
    pub fn isl_ast_build_copy(build: Keep<isl_ast_build>) -> Give<isl_ast_build>;
    pub fn isl_ast_build_free(build: Take<isl_ast_build>);
    pub fn isl_ast_build_set_options(build: Take<isl_ast_build>, options: Take<isl_union_map>) -> Give<isl_ast_build>;
    pub fn isl_ast_build_set_iterators(build: Take<isl_ast_build>, iterators: Take<isl_id_list>) -> Give<isl_ast_build>;
    pub fn isl_ast_build_expr_from_set(build: Keep<isl_ast_build>, set: Take<isl_set>) -> Give<isl_ast_expr>;
    pub fn isl_ast_build_expr_from_pw_aff(build: Keep<isl_ast_build>, pa: Take<isl_pw_aff>) -> Give<isl_ast_expr>;
    pub fn isl_ast_build_node_from_schedule(build: Keep<isl_ast_build>, schedule: Take<isl_schedule>) -> Give<isl_ast_node>;
}
