use crate::error::or_unchanged;
use crate::object::{methods, object};
use crate::{BasicMap, Ctx, Id, IslError, Map, MultiUnionPwAff, Result, Set, Space, UnionSet, callback, raw};

object! {
    /// A union of relations in different spaces.
    UnionMap(isl_union_map), print isl_union_map_to_str, parse isl_union_map_read_from_str,
        list isl_union_map_list isl_union_map_list_alloc isl_union_map_list_add isl_union_map_list_size isl_union_map_list_get_at
}

methods! { UnionMap;
    fn from_basic_map(bmap: &BasicMap) -> UnionMap = isl_union_map_from_basic_map;
    fn reverse(&self) -> UnionMap = isl_union_map_reverse;
    fn from_map(map: &Map) -> UnionMap = isl_union_map_from_map;
    fn empty_ctx(ctx: &Ctx) -> UnionMap = isl_union_map_empty_ctx;
    fn domain(&self) -> UnionSet = isl_union_map_domain;
    fn range(&self) -> UnionSet = isl_union_map_range;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> UnionMap = isl_union_map_coalesce;
    fn union(&self, other: &UnionMap) -> UnionMap = isl_union_map_union;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &UnionMap) -> UnionMap = isl_union_map_subtract;
    fn intersect(&self, other: &UnionMap) -> UnionMap = isl_union_map_intersect;
    fn intersect_params(&self, set: &Set) -> UnionMap = isl_union_map_intersect_params;
    fn product(&self, other: &UnionMap) -> UnionMap = isl_union_map_product;
    fn range_product(&self, other: &UnionMap) -> UnionMap = isl_union_map_range_product;
    fn factor_domain(&self) -> UnionMap = isl_union_map_factor_domain;
    fn gist_domain(&self, uset: &UnionSet) -> UnionMap = isl_union_map_gist_domain;
    fn gist_range(&self, uset: &UnionSet) -> UnionMap = isl_union_map_gist_range;
    fn intersect_domain(&self, uset: &UnionSet) -> UnionMap = isl_union_map_intersect_domain;
    fn intersect_range(&self, uset: &UnionSet) -> UnionMap = isl_union_map_intersect_range;
    /// The relation with its inputs replaced by their image under the argument.
    fn apply_domain(&self, other: &UnionMap) -> UnionMap = isl_union_map_apply_domain;
    /// The composition: first `self`, then the argument.
    fn apply_range(&self, other: &UnionMap) -> UnionMap = isl_union_map_apply_range;
    fn from_domain_and_range(domain: &UnionSet, range: &UnionSet) -> UnionMap = isl_union_map_from_domain_and_range;
    fn project_out_param_id(&self, id: &Id) -> UnionMap = isl_union_map_project_out_param_id;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_union_map_is_empty;
    /// Whether every output has at most one input. Exact.
    fn is_injective(&self) -> bool = isl_union_map_is_injective;
    fn is_subset(&self, other: &UnionMap) -> bool = isl_union_map_is_subset;
    fn is_equal(&self, other: &UnionMap) -> bool = isl_union_map_is_equal;
    fn n_map(&self) -> usize = isl_union_map_n_map;
    /// The maps, one per space, in the order of a hash table: the same from run to run, and otherwise arbitrary.
    fn maps(&self) -> Vec<Map> = isl_union_map_get_map_list;
    /// The part in this space; empty if there is none.
    fn extract_map(&self, space: &Space) -> Map = isl_union_map_extract_map;
    fn lex_lt_union_map(&self, other: &UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
    fn lex_gt_union_map(&self, other: &UnionMap) -> UnionMap = isl_union_map_lex_gt_union_map;
    fn eq_at_multi_union_pw_aff(&self, mupa: &MultiUnionPwAff) -> UnionMap = isl_union_map_eq_at_multi_union_pw_aff;
    fn lex_le_at_multi_union_pw_aff(&self, mupa: &MultiUnionPwAff) -> UnionMap = isl_union_map_lex_le_at_multi_union_pw_aff;
}

impl UnionMap {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<UnionMap> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// Whether `test` holds for every map; stops at the first for which it does not.
    pub fn every_map<E: From<IslError>>(&self, test: impl FnMut(&Map) -> Result<bool, E>) -> Result<bool, E> {
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, "isl_union_map_every_map", raw::isl_union_map_every_map, test) }
    }
}
