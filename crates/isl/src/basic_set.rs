use crate::object::{methods, object};
use crate::{Aff, BasicMap, Constraint, DimType, Id, LocalSpace, MultiAff, Point, Set, Space, Val};

object! {
    /// The integer points of one polyhedron, projected along existentially quantified variables.
    BasicSet(isl_basic_set), print isl_basic_set_to_str, parse isl_basic_set_read_from_str,
        list isl_basic_set_list isl_basic_set_list_alloc isl_basic_set_list_add isl_basic_set_list_size isl_basic_set_list_get_at
}

methods! { BasicSet;
    fn dim(&self, kind: DimType) -> usize = isl_basic_set_dim;
    fn get_space(&self) -> Space = isl_basic_set_get_space;
    fn get_div(&self, pos: usize) -> Aff = isl_basic_set_get_div;
    fn get_local_space(&self) -> LocalSpace = isl_basic_set_get_local_space;
    /// The name of the tuple; an error if it has none.
    fn get_tuple_name(&self) -> String = isl_basic_set_get_tuple_name;
    fn set_tuple_name(&self, s: &str) -> BasicSet = isl_basic_set_set_tuple_name;
    /// The name of the dimension; an error if it has none.
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_basic_set_get_dim_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> BasicSet = isl_basic_set_set_dim_name;
    fn set_tuple_id(&self, id: &Id) -> BasicSet = isl_basic_set_set_tuple_id;
    fn empty(space: &Space) -> BasicSet = isl_basic_set_empty;
    fn universe(space: &Space) -> BasicSet = isl_basic_set_universe;
    fn intersect(&self, other: &BasicSet) -> BasicSet = isl_basic_set_intersect;
    fn intersect_params(&self, other: &BasicSet) -> BasicSet = isl_basic_set_intersect_params;
    /// The image under the relation.
    fn apply(&self, bmap: &BasicMap) -> BasicSet = isl_basic_set_apply;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> BasicSet = isl_basic_set_affine_hull;
    fn sample(&self) -> BasicSet = isl_basic_set_sample;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> BasicSet = isl_basic_set_fix_si;
    fn fix_val(&self, kind: DimType, pos: usize, v: &Val) -> BasicSet = isl_basic_set_fix_val;
    fn is_equal(&self, other: &BasicSet) -> bool = isl_basic_set_is_equal;
    fn is_disjoint(&self, other: &BasicSet) -> bool = isl_basic_set_is_disjoint;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> Set = isl_basic_set_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> Set = isl_basic_set_lexmax;
    fn union(&self, other: &BasicSet) -> Set = isl_basic_set_union;
    /// The values of the parameters for which there is an element.
    fn params(&self) -> BasicSet = isl_basic_set_params;
    /// The set of zero-dimensional, unnamed tuples under these conditions on the parameters.
    fn from_params(&self) -> BasicSet = isl_basic_set_from_params;
    /// Whether it is obviously everything: `false` proves nothing.
    fn plain_is_universe(&self) -> bool = isl_basic_set_plain_is_universe;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_basic_set_plain_is_empty;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_basic_set_is_empty;
    fn is_bounded(&self) -> bool = isl_basic_set_is_bounded;
    fn is_subset(&self, other: &BasicSet) -> bool = isl_basic_set_is_subset;
    /// Whether the two are obviously equal: `false` proves nothing.
    fn plain_is_equal(&self, other: &BasicSet) -> bool = isl_basic_set_plain_is_equal;
    fn to_set(&self) -> Set = isl_basic_set_to_set;
    /// Some element, or the void point if there is none.
    fn sample_point(&self) -> Point = isl_basic_set_sample_point;
    fn flat_product(&self, other: &BasicSet) -> BasicSet = isl_basic_set_flat_product;
    fn insert_dims(&self, kind: DimType, pos: usize, n: usize) -> BasicSet = isl_basic_set_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> BasicSet = isl_basic_set_add_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> BasicSet
        = isl_basic_set_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> BasicSet = isl_basic_set_project_out,
        require crate::object::in_range(first, n, self.dim(kind)?);
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> BasicSet = isl_basic_set_remove_divs;
    /// Forgets all constraints on these dimensions, which stay; exact projection and back.
    fn eliminate(&self, kind: DimType, first: usize, n: usize) -> BasicSet = isl_basic_set_eliminate;
    /// An overapproximation without the divisions that have no explicit form.
    fn remove_unknown_divs(&self) -> BasicSet = isl_basic_set_remove_unknown_divs;
    /// An overapproximation: drops every constraint that mentions one of these dimensions.
    fn drop_constraints_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicSet
        = isl_basic_set_drop_constraints_involving_dims;
    /// An overapproximation: drops every constraint that mentions none of these dimensions.
    fn drop_constraints_not_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicSet
        = isl_basic_set_drop_constraints_not_involving_dims;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_basic_set_involves_dims;
    fn neg(&self) -> BasicSet = isl_basic_set_neg;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &BasicSet) -> BasicSet = isl_basic_set_gist,
        require self.get_space()?.is_equal(&context.get_space()?)?;
    fn lift(&self) -> BasicSet = isl_basic_set_lift;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> BasicSet = isl_basic_set_align_params;
    fn from_multi_aff(ma: &MultiAff) -> BasicSet = isl_basic_set_from_multi_aff;
    fn coefficients(&self) -> BasicSet = isl_basic_set_coefficients;
    fn solutions(&self) -> BasicSet = isl_basic_set_solutions;
    fn constraints(&self) -> Vec<Constraint> = isl_basic_set_get_constraint_list;
    fn add_constraint(&self, constraint: &Constraint) -> BasicSet = isl_basic_set_add_constraint;
    /// The largest value of `obj`: ∞ if unbounded, NaN if empty.
    fn max_val(&self, obj: &Aff) -> Val = isl_basic_set_max_val;
    /// The largest value of this dimension over all parameters: ∞ if unbounded, NaN if empty.
    fn dim_max_val(&self, pos: usize) -> Val = isl_basic_set_dim_max_val;
    fn is_wrapping(&self) -> bool = isl_basic_set_is_wrapping;
    /// The relation that this set wraps.
    fn unwrap(&self) -> BasicMap = isl_basic_set_unwrap;
    fn flatten(&self) -> BasicSet = isl_basic_set_flatten;
}
