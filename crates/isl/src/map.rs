use crate::error::or_unchanged;
use crate::object::{methods, object, with_exactness, with_rest};
use crate::{
    Aff, BasicMap, Constraint, DimType, FixedBox, Id, MultiAff, MultiPwAff, PwAff, PwMultiAff, Result, Set, Space,
    StrideInfo, UnionMap, Val, raw,
};

object! {
    /// A finite union of [`BasicMap`]s in one space: the relation { [in] -> [out] : constraints }.
    Map(isl_map), print isl_map_to_str, parse isl_map_read_from_str,
        list isl_map_list isl_map_list_alloc isl_map_list_add isl_map_list_size isl_map_list_get_at
}

methods! { Map;
    fn from_pw_aff(pwaff: &PwAff) -> Map = isl_map_from_pw_aff;
    fn from_pw_multi_aff(pma: &PwMultiAff) -> Map = isl_map_from_pw_multi_aff;
    fn as_pw_multi_aff(&self) -> PwMultiAff = isl_map_as_pw_multi_aff;
    fn from_multi_pw_aff(mpa: &MultiPwAff) -> Map = isl_map_from_multi_pw_aff;
    fn add_constraint(&self, constraint: &Constraint) -> Map = isl_map_add_constraint;
    fn domain_tuple_dim(&self) -> usize = isl_map_domain_tuple_dim;
    fn range_tuple_dim(&self) -> usize = isl_map_range_tuple_dim;
    fn dim(&self, kind: DimType) -> usize = isl_map_dim;
    fn get_space(&self) -> Space = isl_map_get_space;
    fn has_tuple_name(&self, kind: DimType) -> bool = isl_map_has_tuple_name;
    /// The name of the tuple; an error if it has none.
    fn get_tuple_name(&self, kind: DimType) -> String = isl_map_get_tuple_name;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> Map = isl_map_set_tuple_name;
    fn has_dim_name(&self, kind: DimType, pos: usize) -> bool = isl_map_has_dim_name;
    /// The name of the dimension; an error if it has none.
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_map_get_dim_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> Map = isl_map_set_dim_name;
    fn set_dim_id(&self, kind: DimType, pos: usize, id: &Id) -> Map = isl_map_set_dim_id;
    fn has_dim_id(&self, kind: DimType, pos: usize) -> bool = isl_map_has_dim_id;
    fn get_dim_id(&self, kind: DimType, pos: usize) -> Id = isl_map_get_dim_id;
    fn set_domain_tuple_id(&self, id: &Id) -> Map = isl_map_set_domain_tuple_id;
    fn set_range_tuple_id(&self, id: &Id) -> Map = isl_map_set_range_tuple_id;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> Map = isl_map_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> Map = isl_map_reset_tuple_id;
    fn has_domain_tuple_id(&self) -> bool = isl_map_has_domain_tuple_id;
    fn has_range_tuple_id(&self) -> bool = isl_map_has_range_tuple_id;
    fn has_tuple_id(&self, kind: DimType) -> bool = isl_map_has_tuple_id;
    fn get_domain_tuple_id(&self) -> Id = isl_map_get_domain_tuple_id;
    fn get_range_tuple_id(&self) -> Id = isl_map_get_range_tuple_id;
    /// The id of the tuple; an error if it has none.
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_map_get_tuple_id;
    /// Forgets the numbers of all ids.
    fn reset_user(&self) -> Map = isl_map_reset_user;
    /// The position of the dimension with this id, if there is one.
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_map_find_dim_by_id;
    /// The position of the dimension with this name, if there is one.
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_map_find_dim_by_name;
    /// Drops constraints that the others imply; the same elements.
    fn remove_redundancies(&self) -> Map = isl_map_remove_redundancies;
    /// An overapproximation by one conjunction, whose constraints are shifts of those that occur. Cheap.
    fn simple_hull(&self) -> BasicMap = isl_map_simple_hull;
    /// An overapproximation by one conjunction of constraints that occur. Cheaper than `simple_hull`, and looser.
    fn unshifted_simple_hull(&self) -> BasicMap = isl_map_unshifted_simple_hull;
    /// As `unshifted_simple_hull`, by syntactic comparison only.
    fn plain_unshifted_simple_hull(&self) -> BasicMap = isl_map_plain_unshifted_simple_hull;
    fn lower_bound_multi_pw_aff(&self, lower: &MultiPwAff) -> Map = isl_map_lower_bound_multi_pw_aff;
    fn upper_bound_multi_pw_aff(&self, upper: &MultiPwAff) -> Map = isl_map_upper_bound_multi_pw_aff;
    fn sum(&self, other: &Map) -> Map = isl_map_sum;
    fn neg(&self) -> Map = isl_map_neg;
    fn floordiv_val(&self, d: &Val) -> Map = isl_map_floordiv_val;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> Map = isl_map_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> Map = isl_map_lexmax;
    fn lexmin_pw_multi_aff(&self) -> PwMultiAff = isl_map_lexmin_pw_multi_aff;
    fn lexmax_pw_multi_aff(&self) -> PwMultiAff = isl_map_lexmax_pw_multi_aff;
    fn min_multi_pw_aff(&self) -> MultiPwAff = isl_map_min_multi_pw_aff;
    fn max_multi_pw_aff(&self) -> MultiPwAff = isl_map_max_multi_pw_aff;
    fn universe(space: &Space) -> Map = isl_map_universe;
    fn nat_universe(space: &Space) -> Map = isl_map_nat_universe;
    fn empty(space: &Space) -> Map = isl_map_empty;
    fn identity(space: &Space) -> Map = isl_map_identity;
    fn lex_lt_first(space: &Space, n: usize) -> Map = isl_map_lex_lt_first,
        require n <= space.dim(DimType::In)?.min(space.dim(DimType::Out)?);
    fn lex_le_first(space: &Space, n: usize) -> Map = isl_map_lex_le_first,
        require n <= space.dim(DimType::In)?.min(space.dim(DimType::Out)?);
    fn lex_lt(set_space: &Space) -> Map = isl_map_lex_lt;
    fn lex_le(set_space: &Space) -> Map = isl_map_lex_le;
    fn lex_gt_first(space: &Space, n: usize) -> Map = isl_map_lex_gt_first,
        require n <= space.dim(DimType::In)?.min(space.dim(DimType::Out)?);
    fn lex_ge_first(space: &Space, n: usize) -> Map = isl_map_lex_ge_first,
        require n <= space.dim(DimType::In)?.min(space.dim(DimType::Out)?);
    fn lex_gt(set_space: &Space) -> Map = isl_map_lex_gt;
    fn lex_ge(set_space: &Space) -> Map = isl_map_lex_ge;
    fn reverse(&self) -> Map = isl_map_reverse;
    fn range_reverse(&self) -> Map = isl_map_range_reverse;
    fn union(&self, other: &Map) -> Map = isl_map_union;
    fn union_disjoint(&self, other: &Map) -> Map = isl_map_union_disjoint;
    fn intersect_domain(&self, set: &Set) -> Map = isl_map_intersect_domain;
    fn intersect_range(&self, set: &Set) -> Map = isl_map_intersect_range;
    fn intersect_domain_factor_domain(&self, factor: &Map) -> Map = isl_map_intersect_domain_factor_domain;
    fn intersect_domain_factor_range(&self, factor: &Map) -> Map = isl_map_intersect_domain_factor_range;
    fn intersect_range_factor_domain(&self, factor: &Map) -> Map = isl_map_intersect_range_factor_domain;
    fn intersect_range_factor_range(&self, factor: &Map) -> Map = isl_map_intersect_range_factor_range;
    fn intersect_domain_wrapped_domain(&self, domain: &Set) -> Map = isl_map_intersect_domain_wrapped_domain;
    fn intersect_range_wrapped_domain(&self, domain: &Set) -> Map = isl_map_intersect_range_wrapped_domain;
    /// The relation with its inputs replaced by their image under the argument.
    fn apply_domain(&self, other: &Map) -> Map = isl_map_apply_domain;
    /// The composition: first `self`, then the argument.
    fn apply_range(&self, other: &Map) -> Map = isl_map_apply_range;
    fn preimage_domain_multi_aff(&self, ma: &MultiAff) -> Map = isl_map_preimage_domain_multi_aff;
    fn preimage_range_multi_aff(&self, ma: &MultiAff) -> Map = isl_map_preimage_range_multi_aff;
    fn preimage_domain_pw_multi_aff(&self, pma: &PwMultiAff) -> Map = isl_map_preimage_domain_pw_multi_aff;
    fn preimage_range_pw_multi_aff(&self, pma: &PwMultiAff) -> Map = isl_map_preimage_range_pw_multi_aff;
    fn preimage_domain_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_preimage_domain_multi_pw_aff;
    fn product(&self, other: &Map) -> Map = isl_map_product;
    fn domain_product(&self, other: &Map) -> Map = isl_map_domain_product;
    fn range_product(&self, other: &Map) -> Map = isl_map_range_product;
    fn flat_product(&self, other: &Map) -> Map = isl_map_flat_product;
    fn flat_domain_product(&self, other: &Map) -> Map = isl_map_flat_domain_product;
    fn flat_range_product(&self, other: &Map) -> Map = isl_map_flat_range_product;
    fn domain_is_wrapping(&self) -> bool = isl_map_domain_is_wrapping;
    fn range_is_wrapping(&self) -> bool = isl_map_range_is_wrapping;
    fn is_product(&self) -> bool = isl_map_is_product;
    fn factor_domain(&self) -> Map = isl_map_factor_domain;
    fn factor_range(&self) -> Map = isl_map_factor_range;
    fn domain_factor_domain(&self) -> Map = isl_map_domain_factor_domain;
    fn domain_factor_range(&self) -> Map = isl_map_domain_factor_range;
    fn range_factor_domain(&self) -> Map = isl_map_range_factor_domain;
    fn range_factor_range(&self) -> Map = isl_map_range_factor_range;
    fn intersect(&self, other: &Map) -> Map = isl_map_intersect;
    fn intersect_params(&self, params: &Set) -> Map = isl_map_intersect_params;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &Map) -> Map = isl_map_subtract;
    fn subtract_domain(&self, dom: &Set) -> Map = isl_map_subtract_domain;
    fn subtract_range(&self, dom: &Set) -> Map = isl_map_subtract_range;
    /// Exact. The number of pieces can grow as the product of the constraints.
    fn complement(&self) -> Map = isl_map_complement;
    fn fix_input_si(&self, input: usize, value: i64) -> Map = isl_map_fix_input_si;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> Map = isl_map_fix_si;
    fn fix_val(&self, kind: DimType, pos: usize, v: &Val) -> Map = isl_map_fix_val;
    fn lower_bound_si(&self, kind: DimType, pos: usize, value: i64) -> Map = isl_map_lower_bound_si;
    fn lower_bound_val(&self, kind: DimType, pos: usize, value: &Val) -> Map = isl_map_lower_bound_val;
    fn upper_bound_si(&self, kind: DimType, pos: usize, value: i64) -> Map = isl_map_upper_bound_si;
    fn upper_bound_val(&self, kind: DimType, pos: usize, value: &Val) -> Map = isl_map_upper_bound_val;
    /// { out − in }.
    fn deltas(&self) -> Set = isl_map_deltas;
    /// { [in -> out] -> out − in }.
    fn deltas_map(&self) -> Map = isl_map_deltas_map;
    /// Makes implicit equalities explicit; the same elements.
    fn detect_equalities(&self) -> Map = isl_map_detect_equalities;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> BasicMap = isl_map_affine_hull;
    /// The convex hull over the rationals. Exponential in the worst case: prefer `simple_hull` on sets that users shape.
    fn convex_hull(&self) -> BasicMap = isl_map_convex_hull;
    /// The intersection of the affine hull and the convex hull over the rationals. As expensive as `convex_hull`.
    fn polyhedral_hull(&self) -> BasicMap = isl_map_polyhedral_hull;
    fn add_dims(&self, kind: DimType, n: usize) -> Map = isl_map_add_dims;
    fn insert_dims(&self, kind: DimType, pos: usize, n: usize) -> Map = isl_map_insert_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> Map
        = isl_map_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn project_out_param_id(&self, id: &Id) -> Map = isl_map_project_out_param_id;
    fn project_out_param_id_list(&self, list: &[Id]) -> Map = isl_map_project_out_param_id_list;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> Map = isl_map_project_out;
    fn project_out_all_params(&self) -> Map = isl_map_project_out_all_params;
    /// An overapproximation without the divisions that have no explicit form.
    fn remove_unknown_divs(&self) -> Map = isl_map_remove_unknown_divs;
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> Map = isl_map_remove_divs;
    /// Forgets all constraints on these dimensions, which stay; exact projection and back.
    fn eliminate(&self, kind: DimType, first: usize, n: usize) -> Map = isl_map_eliminate;
    fn remove_dims(&self, kind: DimType, first: usize, n: usize) -> Map = isl_map_remove_dims;
    fn remove_divs_involving_dims(&self, kind: DimType, first: usize, n: usize) -> Map = isl_map_remove_divs_involving_dims;
    fn remove_inputs(&self, first: usize, n: usize) -> Map = isl_map_remove_inputs;
    fn order_ge(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_order_ge;
    fn order_le(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_order_le;
    fn equate(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_equate;
    fn oppose(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_oppose;
    fn order_lt(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_order_lt;
    fn order_gt(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_order_gt;
    fn wrap(&self) -> Set = isl_map_wrap;
    fn flatten(&self) -> Map = isl_map_flatten;
    fn flatten_domain(&self) -> Map = isl_map_flatten_domain;
    fn flatten_range(&self) -> Map = isl_map_flatten_range;
    /// The values of the parameters for which there is an element.
    fn params(&self) -> Set = isl_map_params;
    fn domain(&self) -> Set = isl_map_domain;
    fn range(&self) -> Set = isl_map_range;
    fn domain_map(&self) -> Map = isl_map_domain_map;
    fn range_map(&self) -> Map = isl_map_range_map;
    fn from_basic_map(bmap: &BasicMap) -> Map = isl_map_from_basic_map;
    fn from_domain(set: &Set) -> Map = isl_map_from_domain;
    fn from_range(set: &Set) -> Map = isl_map_from_range;
    fn from_domain_and_range(domain: &Set, range: &Set) -> Map = isl_map_from_domain_and_range;
    fn sample(&self) -> BasicMap = isl_map_sample;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_map_plain_is_empty;
    /// Whether it is obviously everything: `false` proves nothing.
    fn plain_is_universe(&self) -> bool = isl_map_plain_is_universe;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_map_is_empty;
    fn is_subset(&self, other: &Map) -> bool = isl_map_is_subset;
    fn is_strict_subset(&self, other: &Map) -> bool = isl_map_is_strict_subset;
    fn is_equal(&self, other: &Map) -> bool = isl_map_is_equal;
    fn is_disjoint(&self, other: &Map) -> bool = isl_map_is_disjoint;
    /// Whether it obviously has at most one output per input: `false` proves nothing.
    fn plain_is_single_valued(&self) -> bool = isl_map_plain_is_single_valued;
    /// Whether every input has at most one output. Exact.
    fn is_single_valued(&self) -> bool = isl_map_is_single_valued;
    /// Whether it is obviously injective: `false` proves nothing.
    fn plain_is_injective(&self) -> bool = isl_map_plain_is_injective;
    /// Whether every output has at most one input. Exact.
    fn is_injective(&self) -> bool = isl_map_is_injective;
    fn is_bijective(&self) -> bool = isl_map_is_bijective;
    fn is_identity(&self) -> bool = isl_map_is_identity;
    fn is_translation(&self) -> bool = isl_map_is_translation;
    fn has_equal_space(&self, other: &Map) -> bool = isl_map_has_equal_space;
    fn can_zip(&self) -> bool = isl_map_can_zip;
    fn zip(&self) -> Map = isl_map_zip;
    fn can_curry(&self) -> bool = isl_map_can_curry;
    fn curry(&self) -> Map = isl_map_curry;
    fn can_range_curry(&self) -> bool = isl_map_can_range_curry;
    fn range_curry(&self) -> Map = isl_map_range_curry;
    fn can_uncurry(&self) -> bool = isl_map_can_uncurry;
    fn uncurry(&self) -> Map = isl_map_uncurry;
    /// The same elements in pieces that do not overlap.
    fn make_disjoint(&self) -> Map = isl_map_make_disjoint;
    /// Finds an explicit form ⌊e/d⌋ for every existentially quantified variable; may split into more pieces.
    fn compute_divs(&self) -> Map = isl_map_compute_divs;
    /// An overapproximation: drops every constraint that mentions one of these dimensions.
    fn drop_constraints_involving_dims(&self, kind: DimType, first: usize, n: usize) -> Map
        = isl_map_drop_constraints_involving_dims;
    /// An overapproximation: drops every constraint that mentions none of these dimensions.
    fn drop_constraints_not_involving_dims(&self, kind: DimType, first: usize, n: usize) -> Map
        = isl_map_drop_constraints_not_involving_dims;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_map_involves_dims;
    /// The value of the dimension if it is obviously fixed, else NaN.
    fn plain_get_val_if_fixed(&self, kind: DimType, pos: usize) -> Val = isl_map_plain_get_val_if_fixed;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &Map) -> Map = isl_map_gist,
        require self.get_space()?.has_equal_tuples(&context.get_space()?)?;
    fn gist_domain(&self, context: &Set) -> Map = isl_map_gist_domain,
        require self.get_space()?.domain()?.has_equal_tuples(&context.get_space()?)?;
    fn gist_range(&self, context: &Set) -> Map = isl_map_gist_range,
        require self.get_space()?.range()?.has_equal_tuples(&context.get_space()?)?;
    /// Drops what the parameters being in `context` implies.
    fn gist_params(&self, context: &Set) -> Map = isl_map_gist_params;
    fn gist_basic_map(&self, context: &BasicMap) -> Map = isl_map_gist_basic_map,
        require self.get_space()?.has_equal_tuples(&context.get_space()?)?;
    fn get_range_stride_info(&self, pos: usize) -> StrideInfo = isl_map_get_range_stride_info;
    fn get_range_lattice_tile(&self) -> FixedBox = isl_map_get_range_lattice_tile;
    fn get_range_simple_fixed_box_hull(&self) -> FixedBox = isl_map_get_range_simple_fixed_box_hull;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> Map = isl_map_coalesce;
    /// Whether the two are obviously equal: `false` proves nothing.
    fn plain_is_equal(&self, other: &Map) -> bool = isl_map_plain_is_equal;
    fn n_basic_map(&self) -> usize = isl_map_n_basic_map;
    /// The pieces; they may overlap.
    fn basic_maps(&self) -> Vec<BasicMap> = isl_map_get_basic_map_list;
    fn fixed_power_val(&self, exp: &Val) -> Map = isl_map_fixed_power_val;
    fn lex_le_map(&self, other: &Map) -> Map = isl_map_lex_le_map;
    fn lex_lt_map(&self, other: &Map) -> Map = isl_map_lex_lt_map;
    fn lex_ge_map(&self, other: &Map) -> Map = isl_map_lex_ge_map;
    fn lex_gt_map(&self, other: &Map) -> Map = isl_map_lex_gt_map;
    fn eq_at_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_eq_at_multi_pw_aff;
    fn lex_lt_at_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_lex_lt_at_multi_pw_aff;
    fn lex_le_at_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_lex_le_at_multi_pw_aff;
    fn lex_gt_at_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_lex_gt_at_multi_pw_aff;
    fn lex_ge_at_multi_pw_aff(&self, mpa: &MultiPwAff) -> Map = isl_map_lex_ge_at_multi_pw_aff;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> Map = isl_map_align_params;
    fn drop_unused_params(&self) -> Map = isl_map_drop_unused_params;
    fn from_aff(aff: &Aff) -> Map = isl_map_from_aff;
    fn from_multi_aff(maff: &MultiAff) -> Map = isl_map_from_multi_aff;
    /// The smallest value of this dimension, as a function of the parameters (and inputs).
    fn dim_min(&self, pos: usize) -> PwAff = isl_map_dim_min;
    /// The largest value of this dimension, as a function of the parameters (and inputs).
    fn dim_max(&self, pos: usize) -> PwAff = isl_map_dim_max;
    fn to_union_map(&self) -> UnionMap = isl_map_to_union_map;
    /// The only map in the union; an error if there are several spaces.
    fn from_union_map(umap: &UnionMap) -> Map = isl_map_from_union_map;
}

impl Map {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<Map> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// The relation's powers as a function of their exponent, { [k] -> [[in] -> [out]] }, and whether they are exact; if not, it
    /// is an overapproximation.
    pub fn power(&self) -> Result<(Map, bool)> {
        with_exactness(self, "isl_map_power", raw::isl_map_power)
    }

    /// The transitive closure, and whether it is exact; if not, it is an overapproximation.
    pub fn transitive_closure(&self) -> Result<(Map, bool)> {
        with_exactness(self, "isl_map_transitive_closure", raw::isl_map_transitive_closure)
    }

    /// The lengths of the paths from inputs to outputs, and whether they are exact; if not, it is an overapproximation.
    pub fn reaching_path_lengths(&self) -> Result<(Map, bool)> {
        with_exactness(self, "isl_map_reaching_path_lengths", raw::isl_map_reaching_path_lengths)
    }

    /// The smallest output for each input in `domain`, and the inputs for which there is none.
    pub fn partial_lexmin(&self, domain: &Set) -> Result<(Map, Set)> {
        with_rest(self, domain, "isl_map_partial_lexmin", raw::isl_map_partial_lexmin)
    }

    /// The largest output for each input in `domain`, and the inputs for which there is none.
    pub fn partial_lexmax(&self, domain: &Set) -> Result<(Map, Set)> {
        with_rest(self, domain, "isl_map_partial_lexmax", raw::isl_map_partial_lexmax)
    }
}
