use std::ffi::{c_char, c_int};

use super::*;

functions! {
    pub fn isl_union_map_reverse(umap: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_from_basic_map(bmap: Take<isl_basic_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_from_map(map: Take<isl_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_empty_ctx(ctx: *mut isl_ctx) -> Give<isl_union_map>;
    pub fn isl_union_map_copy(umap: Keep<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_free(umap: Take<isl_union_map>);
    pub fn isl_union_map_from_domain_and_range(domain: Take<isl_union_set>, range: Take<isl_union_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_domain(umap: Take<isl_union_map>) -> Give<isl_union_set>;
    pub fn isl_union_map_range(umap: Take<isl_union_map>) -> Give<isl_union_set>;
    pub fn isl_union_map_coalesce(umap: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_union(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_subtract(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_intersect(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_intersect_params(umap: Take<isl_union_map>, set: Take<isl_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_product(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_range_product(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_factor_domain(umap: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_gist_domain(umap: Take<isl_union_map>, uset: Take<isl_union_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_gist_range(umap: Take<isl_union_map>, uset: Take<isl_union_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_intersect_domain(umap: Take<isl_union_map>, uset: Take<isl_union_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_intersect_range(umap: Take<isl_union_map>, uset: Take<isl_union_set>) -> Give<isl_union_map>;
    pub fn isl_union_map_apply_domain(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_apply_range(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_project_out_param_id(umap: Take<isl_union_map>, id: Take<isl_id>) -> Give<isl_union_map>;
    pub fn isl_union_map_is_empty(umap: Keep<isl_union_map>) -> isl_bool;
    pub fn isl_union_map_is_injective(umap: Keep<isl_union_map>) -> isl_bool;
    pub fn isl_union_map_is_subset(umap1: Keep<isl_union_map>, umap2: Keep<isl_union_map>) -> isl_bool;
    pub fn isl_union_map_is_equal(umap1: Keep<isl_union_map>, umap2: Keep<isl_union_map>) -> isl_bool;
    pub fn isl_union_map_n_map(umap: Keep<isl_union_map>) -> isl_size;
    pub fn isl_union_map_get_map_list(umap: Keep<isl_union_map>) -> Give<isl_map_list>;
    pub fn isl_union_map_extract_map(umap: Keep<isl_union_map>, space: Take<isl_space>) -> Give<isl_map>;
    pub fn isl_union_map_lex_lt_union_map(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_lex_gt_union_map(umap1: Take<isl_union_map>, umap2: Take<isl_union_map>) -> Give<isl_union_map>;
    pub fn isl_union_map_eq_at_multi_union_pw_aff(umap: Take<isl_union_map>, mupa: Take<isl_multi_union_pw_aff>) -> Give<isl_union_map>;
    pub fn isl_union_map_lex_le_at_multi_union_pw_aff(umap: Take<isl_union_map>, mupa: Take<isl_multi_union_pw_aff>) -> Give<isl_union_map>;
    pub fn isl_union_map_read_from_str(ctx: *mut isl_ctx, str: *const c_char) -> Give<isl_union_map>;
    pub fn isl_union_map_to_str(umap: Keep<isl_union_map>) -> Give<c_char>;
    pub fn isl_union_map_list_alloc(ctx: *mut isl_ctx, n: c_int) -> Give<isl_union_map_list>;
    pub fn isl_union_map_list_copy(list: Keep<isl_union_map_list>) -> Give<isl_union_map_list>;
    pub fn isl_union_map_list_free(list: Take<isl_union_map_list>);
    pub fn isl_union_map_list_add(list: Take<isl_union_map_list>, el: Take<isl_union_map>) -> Give<isl_union_map_list>;
    pub fn isl_union_map_list_size(list: Keep<isl_union_map_list>) -> isl_size;
    pub fn isl_union_map_list_get_at(list: Keep<isl_union_map_list>, index: c_int) -> Give<isl_union_map>;
}
