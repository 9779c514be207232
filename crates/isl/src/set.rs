use crate::error::or_unchanged;
use crate::object::{methods, object, with_rest};
use crate::{Aff, BasicSet, DimType, Id, IslError, Map, Point, PwAff, Result, Space, Val, callback, raw};

object! {
    /// A finite union of [`BasicSet`]s in one space.
    Set(isl_set), print isl_set_to_str, parse isl_set_read_from_str,
        list isl_set_list isl_set_list_alloc isl_set_list_add isl_set_list_size isl_set_list_get_at
}

methods! { Set;
    fn pw_aff_on_domain_val(&self, v: &Val) -> PwAff = isl_set_pw_aff_on_domain_val;
    fn tuple_dim(&self) -> usize = isl_set_tuple_dim;
    fn dim(&self, kind: DimType) -> usize = isl_set_dim;
    fn get_space(&self) -> Space = isl_set_get_space;
    /// The name of the tuple; an error if it has none.
    fn get_tuple_name(&self) -> String = isl_set_get_tuple_name;
    fn set_tuple_name(&self, s: &str) -> Set = isl_set_set_tuple_name;
    /// The name of the dimension; an error if it has none.
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_set_get_dim_name;
    fn set_tuple_id(&self, id: &Id) -> Set = isl_set_set_tuple_id;
    fn reset_tuple_id(&self) -> Set = isl_set_reset_tuple_id;
    /// The id of the tuple; an error if it has none.
    fn get_tuple_id(&self) -> Id = isl_set_get_tuple_id;
    /// Forgets the numbers of all ids.
    fn reset_user(&self) -> Set = isl_set_reset_user;
    /// The position of the dimension with this id, if there is one.
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_set_find_dim_by_id;
    /// The position of the dimension with this name, if there is one.
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_set_find_dim_by_name;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> Set = isl_set_fix_si;
    fn lower_bound_si(&self, kind: DimType, pos: usize, value: i64) -> Set = isl_set_lower_bound_si;
    fn upper_bound_si(&self, kind: DimType, pos: usize, value: i64) -> Set = isl_set_upper_bound_si;
    fn equate(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Set = isl_set_equate;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> Set = isl_set_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> Set = isl_set_lexmax;
    /// The values of the parameters for which there is an element.
    fn params(&self) -> Set = isl_set_params;
    /// The set of zero-dimensional, unnamed tuples under these conditions on the parameters.
    fn from_params(&self) -> Set = isl_set_from_params;
    fn empty(space: &Space) -> Set = isl_set_empty;
    fn universe(space: &Space) -> Set = isl_set_universe;
    fn from_basic_set(bset: &BasicSet) -> Set = isl_set_from_basic_set;
    /// Some element, or the void point if there is none.
    fn sample_point(&self) -> Point = isl_set_sample_point;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> BasicSet = isl_set_affine_hull;
    /// An overapproximation by one conjunction, whose constraints are shifts of those that occur. Cheap.
    fn simple_hull(&self) -> BasicSet = isl_set_simple_hull;
    fn union(&self, other: &Set) -> Set = isl_set_union;
    fn product(&self, other: &Set) -> Set = isl_set_product;
    fn flat_product(&self, other: &Set) -> Set = isl_set_flat_product;
    fn intersect(&self, other: &Set) -> Set = isl_set_intersect;
    fn intersect_params(&self, params: &Set) -> Set = isl_set_intersect_params;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &Set) -> Set = isl_set_subtract;
    /// Exact. The number of pieces can grow as the product of the constraints.
    fn complement(&self) -> Set = isl_set_complement;
    /// The image under the relation.
    fn apply(&self, map: &Map) -> Set = isl_set_apply;
    fn fix_val(&self, kind: DimType, pos: usize, v: &Val) -> Set = isl_set_fix_val;
    fn insert_dims(&self, kind: DimType, pos: usize, n: usize) -> Set = isl_set_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> Set = isl_set_add_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> Set
        = isl_set_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn project_out_param_id(&self, id: &Id) -> Set = isl_set_project_out_param_id;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> Set = isl_set_project_out;
    /// Forgets all constraints on these dimensions, which stay; exact projection and back.
    fn eliminate(&self, kind: DimType, first: usize, n: usize) -> Set = isl_set_eliminate;
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> Set = isl_set_remove_divs;
    /// An overapproximation: drops every constraint that mentions one of these dimensions.
    fn drop_constraints_involving_dims(&self, kind: DimType, first: usize, n: usize) -> Set
        = isl_set_drop_constraints_involving_dims;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_set_involves_dims;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_set_plain_is_empty;
    /// Whether it is obviously everything: `false` proves nothing.
    fn plain_is_universe(&self) -> bool = isl_set_plain_is_universe;
    fn is_params(&self) -> bool = isl_set_is_params;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_set_is_empty;
    fn is_bounded(&self) -> bool = isl_set_is_bounded;
    fn is_subset(&self, other: &Set) -> bool = isl_set_is_subset;
    fn is_strict_subset(&self, other: &Set) -> bool = isl_set_is_strict_subset;
    fn is_equal(&self, other: &Set) -> bool = isl_set_is_equal;
    fn is_disjoint(&self, other: &Set) -> bool = isl_set_is_disjoint;
    fn is_singleton(&self) -> bool = isl_set_is_singleton;
    fn is_box(&self) -> bool = isl_set_is_box;
    fn sum(&self, other: &Set) -> Set = isl_set_sum;
    fn neg(&self) -> Set = isl_set_neg;
    fn dim_has_lower_bound(&self, kind: DimType, pos: usize) -> bool = isl_set_dim_has_lower_bound;
    fn dim_has_upper_bound(&self, kind: DimType, pos: usize) -> bool = isl_set_dim_has_upper_bound;
    fn dim_has_any_lower_bound(&self, kind: DimType, pos: usize) -> bool = isl_set_dim_has_any_lower_bound;
    fn dim_has_any_upper_bound(&self, kind: DimType, pos: usize) -> bool = isl_set_dim_has_any_upper_bound;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &Set) -> Set = isl_set_gist,
        require self.get_space()?.has_equal_tuples(&context.get_space()?)?;
    /// Drops what the parameters being in `context` implies.
    fn gist_params(&self, context: &Set) -> Set = isl_set_gist_params;
    fn get_stride(&self, pos: usize) -> Val = isl_set_get_stride;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> Set = isl_set_coalesce;
    /// Whether the two are obviously equal: `false` proves nothing.
    fn plain_is_equal(&self, other: &Set) -> bool = isl_set_plain_is_equal;
    fn n_basic_set(&self) -> usize = isl_set_n_basic_set;
    /// The pieces; they may overlap.
    fn basic_sets(&self) -> Vec<BasicSet> = isl_set_get_basic_set_list;
    /// The number of elements, by enumeration; infinite if unbounded. There must be no parameters.
    fn count_val(&self) -> Val = isl_set_count_val;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> Set = isl_set_align_params;
    /// The largest value of this dimension, as a function of the parameters (and inputs).
    fn dim_max(&self, pos: usize) -> PwAff = isl_set_dim_max;
    /// The smallest value of this dimension, as a function of the parameters (and inputs).
    fn dim_min(&self, pos: usize) -> PwAff = isl_set_dim_min;
    /// The smallest value of `obj`: −∞ if unbounded, NaN if empty.
    fn min_val(&self, obj: &Aff) -> Val = isl_set_min_val;
    /// The largest value of `obj`: ∞ if unbounded, NaN if empty.
    fn max_val(&self, obj: &Aff) -> Val = isl_set_max_val;
    /// The smallest value of this dimension over all parameters: −∞ if unbounded, NaN if empty.
    fn dim_min_val(&self, pos: usize) -> Val = isl_set_dim_min_val;
    /// The largest value of this dimension over all parameters: ∞ if unbounded, NaN if empty.
    fn dim_max_val(&self, pos: usize) -> Val = isl_set_dim_max_val;
    fn identity(&self) -> Map = isl_set_identity;
    fn is_wrapping(&self) -> bool = isl_set_is_wrapping;
    /// The relation that this set wraps.
    fn unwrap(&self) -> Map = isl_set_unwrap;
}

impl Set {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<Set> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// Gives every point to `visit`. The set has to be bounded and free of parameters; the cost is that of enumerating it.
    pub fn foreach_point<E: From<IslError>>(&self, visit: impl FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        // SAFETY: the function gives the points to its callback.
        unsafe { callback::for_each(self, "isl_set_foreach_point", raw::isl_set_foreach_point, visit) }
    }

    /// The largest element for each value of the parameters in `domain`, and those values for which there is none.
    pub fn partial_lexmax(&self, domain: &Set) -> Result<(Set, Set)> {
        with_rest(self, domain, "isl_set_partial_lexmax", raw::isl_set_partial_lexmax)
    }
}
