use crate::error::or_unchanged;
use crate::object::{methods, object, with_exactness};
use crate::{
    BasicMap, Ctx, DimType, Id, IslError, Map, MultiUnionPwAff, Result, Set, Space, UnionPwAff, UnionSet, callback, raw,
};

object! {
    /// A union of relations in different spaces.
    UnionMap(isl_union_map), print isl_union_map_to_str, parse isl_union_map_read_from_str,
        list isl_union_map_list isl_union_map_list_alloc isl_union_map_list_add isl_union_map_list_size isl_union_map_list_get_at
}

methods! { UnionMap;
    fn from_union_pw_aff(upa: &UnionPwAff) -> UnionMap = isl_union_map_from_union_pw_aff;
    fn dim(&self, kind: DimType) -> usize = isl_union_map_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_union_map_involves_dims;
    fn from_basic_map(bmap: &BasicMap) -> UnionMap = isl_union_map_from_basic_map;
    fn from_map(map: &Map) -> UnionMap = isl_union_map_from_map;
    fn empty_ctx(ctx: &Ctx) -> UnionMap = isl_union_map_empty_ctx;
    fn empty(space: &Space) -> UnionMap = isl_union_map_empty;
    fn get_space(&self) -> Space = isl_union_map_get_space;
    /// Forgets the numbers of all ids.
    fn reset_user(&self) -> UnionMap = isl_union_map_reset_user;
    /// The position of the dimension with this name, if there is one.
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_union_map_find_dim_by_name;
    fn universe(&self) -> UnionMap = isl_union_map_universe;
    /// The values of the parameters for which there is an element.
    fn params(&self) -> Set = isl_union_map_params;
    fn domain(&self) -> UnionSet = isl_union_map_domain;
    fn range(&self) -> UnionSet = isl_union_map_range;
    fn domain_map(&self) -> UnionMap = isl_union_map_domain_map;
    fn range_map(&self) -> UnionMap = isl_union_map_range_map;
    fn from_domain(uset: &UnionSet) -> UnionMap = isl_union_map_from_domain;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> UnionMap = isl_union_map_affine_hull;
    /// An overapproximation by one conjunction, whose constraints are shifts of those that occur. Cheap.
    fn simple_hull(&self) -> UnionMap = isl_union_map_simple_hull;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> UnionMap = isl_union_map_coalesce;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> UnionMap = isl_union_map_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> UnionMap = isl_union_map_lexmax;
    fn union(&self, other: &UnionMap) -> UnionMap = isl_union_map_union;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &UnionMap) -> UnionMap = isl_union_map_subtract;
    fn intersect(&self, other: &UnionMap) -> UnionMap = isl_union_map_intersect;
    fn intersect_params(&self, set: &Set) -> UnionMap = isl_union_map_intersect_params;
    fn product(&self, other: &UnionMap) -> UnionMap = isl_union_map_product;
    fn domain_product(&self, other: &UnionMap) -> UnionMap = isl_union_map_domain_product;
    fn range_product(&self, other: &UnionMap) -> UnionMap = isl_union_map_range_product;
    fn flat_range_product(&self, other: &UnionMap) -> UnionMap = isl_union_map_flat_range_product;
    fn domain_factor_domain(&self) -> UnionMap = isl_union_map_domain_factor_domain;
    fn range_factor_domain(&self) -> UnionMap = isl_union_map_range_factor_domain;
    fn range_factor_range(&self) -> UnionMap = isl_union_map_range_factor_range;
    fn factor_domain(&self) -> UnionMap = isl_union_map_factor_domain;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &UnionMap) -> UnionMap = isl_union_map_gist;
    /// Drops what the parameters being in `context` implies.
    fn gist_params(&self, set: &Set) -> UnionMap = isl_union_map_gist_params;
    fn gist_domain(&self, uset: &UnionSet) -> UnionMap = isl_union_map_gist_domain;
    fn gist_range(&self, uset: &UnionSet) -> UnionMap = isl_union_map_gist_range;
    fn intersect_domain(&self, uset: &UnionSet) -> UnionMap = isl_union_map_intersect_domain;
    fn intersect_range(&self, uset: &UnionSet) -> UnionMap = isl_union_map_intersect_range;
    /// The relation with its inputs replaced by their image under the argument.
    fn apply_domain(&self, other: &UnionMap) -> UnionMap = isl_union_map_apply_domain;
    /// The composition: first `self`, then the argument.
    fn apply_range(&self, other: &UnionMap) -> UnionMap = isl_union_map_apply_range;
    fn reverse(&self) -> UnionMap = isl_union_map_reverse;
    fn from_domain_and_range(domain: &UnionSet, range: &UnionSet) -> UnionMap = isl_union_map_from_domain_and_range;
    /// { out − in }.
    fn deltas(&self) -> UnionSet = isl_union_map_deltas;
    fn project_out_param_id(&self, id: &Id) -> UnionMap = isl_union_map_project_out_param_id;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> UnionMap = isl_union_map_project_out;
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> UnionMap = isl_union_map_remove_divs;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_union_map_plain_is_empty;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_union_map_is_empty;
    /// Whether every input has at most one output. Exact.
    fn is_single_valued(&self) -> bool = isl_union_map_is_single_valued;
    /// Whether every output has at most one input. Exact.
    fn is_injective(&self) -> bool = isl_union_map_is_injective;
    fn is_bijective(&self) -> bool = isl_union_map_is_bijective;
    fn is_identity(&self) -> bool = isl_union_map_is_identity;
    fn is_subset(&self, other: &UnionMap) -> bool = isl_union_map_is_subset;
    fn is_equal(&self, other: &UnionMap) -> bool = isl_union_map_is_equal;
    fn is_disjoint(&self, other: &UnionMap) -> bool = isl_union_map_is_disjoint;
    fn is_strict_subset(&self, other: &UnionMap) -> bool = isl_union_map_is_strict_subset;
    fn n_map(&self) -> usize = isl_union_map_n_map;
    /// The maps, one per space, in the order of a hash table: the same from run to run, and otherwise arbitrary.
    fn maps(&self) -> Vec<Map> = isl_union_map_get_map_list;
    fn contains(&self, space: &Space) -> bool = isl_union_map_contains;
    /// The part in this space; empty if there is none.
    fn extract_map(&self, space: &Space) -> Map = isl_union_map_extract_map;
    fn sample(&self) -> BasicMap = isl_union_map_sample;
    fn lex_lt_union_map(&self, other: &UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
    fn eq_at_multi_union_pw_aff(&self, mupa: &MultiUnionPwAff) -> UnionMap = isl_union_map_eq_at_multi_union_pw_aff;
    fn lex_le_at_multi_union_pw_aff(&self, mupa: &MultiUnionPwAff) -> UnionMap = isl_union_map_lex_le_at_multi_union_pw_aff;
    fn wrap(&self) -> UnionSet = isl_union_map_wrap;
    fn zip(&self) -> UnionMap = isl_union_map_zip;
    fn curry(&self) -> UnionMap = isl_union_map_curry;
    fn uncurry(&self) -> UnionMap = isl_union_map_uncurry;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> UnionMap = isl_union_map_align_params;
}

impl UnionMap {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<UnionMap> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// The relation's powers as a function of their exponent, and whether they are exact; if not, an overapproximation.
    pub fn power(&self) -> Result<(UnionMap, bool)> {
        with_exactness(self, "isl_union_map_power", raw::isl_union_map_power)
    }

    /// The transitive closure, and whether it is exact; if not, it is an overapproximation.
    pub fn transitive_closure(&self) -> Result<(UnionMap, bool)> {
        with_exactness(self, "isl_union_map_transitive_closure", raw::isl_union_map_transitive_closure)
    }

    /// Whether `test` holds for every map; stops at the first for which it does not.
    pub fn every_map<E: From<IslError>>(&self, test: impl FnMut(&Map) -> Result<bool, E>) -> Result<bool, E> {
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, "isl_union_map_every_map", raw::isl_union_map_every_map, test) }
    }
}
