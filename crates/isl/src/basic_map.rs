use crate::object::{methods, object};
use crate::{Aff, BasicSet, Constraint, DimType, Id, LocalSpace, Map, MultiAff, PwMultiAff, Space, Val};

object! {
    /// A relation given by one conjunction of affine constraints.
    BasicMap(isl_basic_map), print isl_basic_map_to_str, parse isl_basic_map_read_from_str,
        list isl_basic_map_list isl_basic_map_list_alloc isl_basic_map_list_add isl_basic_map_list_size isl_basic_map_list_get_at
}

methods! { BasicMap;
    fn constraints(&self) -> Vec<Constraint> = isl_basic_map_get_constraint_list;
    fn add_constraint(&self, constraint: &Constraint) -> BasicMap = isl_basic_map_add_constraint;
    fn dim(&self, kind: DimType) -> usize = isl_basic_map_dim;
    fn get_space(&self) -> Space = isl_basic_map_get_space;
    fn get_div(&self, pos: usize) -> Aff = isl_basic_map_get_div;
    fn get_local_space(&self) -> LocalSpace = isl_basic_map_get_local_space;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> BasicMap = isl_basic_map_set_tuple_name;
    /// The name of the tuple; an error if it has none.
    fn get_tuple_name(&self, kind: DimType) -> String = isl_basic_map_get_tuple_name;
    /// The name of the dimension; an error if it has none.
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_basic_map_get_dim_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> BasicMap = isl_basic_map_set_dim_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> BasicMap = isl_basic_map_set_tuple_id;
    fn has_dim_id(&self, kind: DimType, pos: usize) -> bool = isl_basic_map_has_dim_id;
    /// The position of the dimension with this name, if there is one.
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_basic_map_find_dim_by_name;
    fn identity(space: &Space) -> BasicMap = isl_basic_map_identity;
    fn equal(space: &Space, n_equal: usize) -> BasicMap = isl_basic_map_equal,
        require n_equal <= space.dim(DimType::In)?.min(space.dim(DimType::Out)?);
    fn empty(space: &Space) -> BasicMap = isl_basic_map_empty;
    fn universe(space: &Space) -> BasicMap = isl_basic_map_universe;
    fn intersect_domain(&self, bset: &BasicSet) -> BasicMap = isl_basic_map_intersect_domain;
    fn intersect_range(&self, bset: &BasicSet) -> BasicMap = isl_basic_map_intersect_range;
    fn intersect(&self, other: &BasicMap) -> BasicMap = isl_basic_map_intersect;
    fn union(&self, other: &BasicMap) -> Map = isl_basic_map_union;
    /// The relation with its inputs replaced by their image under the argument.
    fn apply_domain(&self, other: &BasicMap) -> BasicMap = isl_basic_map_apply_domain;
    /// The composition: first `self`, then the argument.
    fn apply_range(&self, other: &BasicMap) -> BasicMap = isl_basic_map_apply_range;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> BasicMap = isl_basic_map_affine_hull;
    fn reverse(&self) -> BasicMap = isl_basic_map_reverse;
    fn domain(&self) -> BasicSet = isl_basic_map_domain;
    fn range(&self) -> BasicSet = isl_basic_map_range;
    fn domain_map(&self) -> BasicMap = isl_basic_map_domain_map;
    fn range_map(&self) -> BasicMap = isl_basic_map_range_map;
    /// Forgets all constraints on these dimensions, which stay; exact projection and back.
    fn eliminate(&self, kind: DimType, first: usize, n: usize) -> BasicMap = isl_basic_map_eliminate;
    fn sample(&self) -> BasicMap = isl_basic_map_sample;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> BasicMap = isl_basic_map_fix_si;
    fn fix_val(&self, kind: DimType, pos: usize, v: &Val) -> BasicMap = isl_basic_map_fix_val;
    fn lower_bound_si(&self, kind: DimType, pos: usize, value: i64) -> BasicMap = isl_basic_map_lower_bound_si;
    fn upper_bound_si(&self, kind: DimType, pos: usize, value: i64) -> BasicMap = isl_basic_map_upper_bound_si;
    fn sum(&self, other: &BasicMap) -> BasicMap = isl_basic_map_sum;
    fn neg(&self) -> BasicMap = isl_basic_map_neg;
    fn is_equal(&self, other: &BasicMap) -> bool = isl_basic_map_is_equal;
    fn is_disjoint(&self, other: &BasicMap) -> bool = isl_basic_map_is_disjoint;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> Map = isl_basic_map_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> Map = isl_basic_map_lexmax;
    fn lexmin_pw_multi_aff(&self) -> PwMultiAff = isl_basic_map_lexmin_pw_multi_aff;
    /// The value of the dimension if it is obviously fixed, else NaN.
    fn plain_get_val_if_fixed(&self, kind: DimType, pos: usize) -> Val = isl_basic_map_plain_get_val_if_fixed;
    /// Whether it is obviously everything: `false` proves nothing.
    fn plain_is_universe(&self) -> bool = isl_basic_map_plain_is_universe;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_basic_map_plain_is_empty;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_basic_map_is_empty;
    fn is_subset(&self, other: &BasicMap) -> bool = isl_basic_map_is_subset;
    fn is_strict_subset(&self, other: &BasicMap) -> bool = isl_basic_map_is_strict_subset;
    fn product(&self, other: &BasicMap) -> BasicMap = isl_basic_map_product;
    fn domain_product(&self, other: &BasicMap) -> BasicMap = isl_basic_map_domain_product;
    fn range_product(&self, other: &BasicMap) -> BasicMap = isl_basic_map_range_product;
    fn flat_product(&self, other: &BasicMap) -> BasicMap = isl_basic_map_flat_product;
    fn flat_range_product(&self, other: &BasicMap) -> BasicMap = isl_basic_map_flat_range_product;
    /// { out − in }.
    fn deltas(&self) -> BasicSet = isl_basic_map_deltas;
    fn add_dims(&self, kind: DimType, n: usize) -> BasicMap = isl_basic_map_add_dims;
    fn insert_dims(&self, kind: DimType, pos: usize, n: usize) -> BasicMap = isl_basic_map_insert_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> BasicMap
        = isl_basic_map_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> BasicMap = isl_basic_map_project_out,
        require crate::object::in_range(first, n, self.dim(kind)?);
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> BasicMap = isl_basic_map_remove_divs;
    fn equate(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> BasicMap = isl_basic_map_equate;
    fn wrap(&self) -> BasicSet = isl_basic_map_wrap;
    fn flatten(&self) -> BasicMap = isl_basic_map_flatten;
    fn from_domain(bset: &BasicSet) -> BasicMap = isl_basic_map_from_domain;
    fn from_domain_and_range(domain: &BasicSet, range: &BasicSet) -> BasicMap = isl_basic_map_from_domain_and_range;
    /// Whether every input has at most one output. Exact.
    fn is_single_valued(&self) -> bool = isl_basic_map_is_single_valued;
    fn zip(&self) -> BasicMap = isl_basic_map_zip;
    fn curry(&self) -> BasicMap = isl_basic_map_curry;
    fn uncurry(&self) -> BasicMap = isl_basic_map_uncurry;
    /// An overapproximation: drops every constraint that mentions one of these dimensions.
    fn drop_constraints_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicMap
        = isl_basic_map_drop_constraints_involving_dims;
    /// An overapproximation: drops every constraint that mentions none of these dimensions.
    fn drop_constraints_not_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicMap
        = isl_basic_map_drop_constraints_not_involving_dims;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_basic_map_involves_dims;
    fn gist_domain(&self, context: &BasicSet) -> BasicMap = isl_basic_map_gist_domain,
        require self.get_space()?.domain()?.is_equal(&context.get_space()?)?;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &BasicMap) -> BasicMap = isl_basic_map_gist,
        require self.get_space()?.is_equal(&context.get_space()?)?;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> BasicMap = isl_basic_map_align_params;
    fn from_aff(aff: &Aff) -> BasicMap = isl_basic_map_from_aff;
    fn from_multi_aff(maff: &MultiAff) -> BasicMap = isl_basic_map_from_multi_aff;
}
