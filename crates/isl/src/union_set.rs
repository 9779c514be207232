use crate::error::or_unchanged;
use crate::object::{methods, object};
use crate::{BasicSet, Ctx, DimType, IslError, Point, Result, Schedule, Set, Space, UnionMap, callback, raw};

object! {
    /// A union of sets in different spaces.
    UnionSet(isl_union_set), print isl_union_set_to_str, parse isl_union_set_read_from_str,
        list isl_union_set_list isl_union_set_list_alloc isl_union_set_list_add isl_union_set_list_size isl_union_set_list_get_at
}

methods! { UnionSet;
    fn compute_schedule(&self, validity: &UnionMap, proximity: &UnionMap) -> Schedule = isl_union_set_compute_schedule;
    fn identity(&self) -> UnionMap = isl_union_set_identity;
    /// The relation that this set wraps.
    fn unwrap(&self) -> UnionMap = isl_union_set_unwrap;
    /// Brings the parameters into the order of `model`, adding those that are missing.
    fn align_params(&self, model: &Space) -> UnionSet = isl_union_set_align_params;
    fn dim(&self, kind: DimType) -> usize = isl_union_set_dim;
    fn from_basic_set(bset: &BasicSet) -> UnionSet = isl_union_set_from_basic_set;
    fn from_set(set: &Set) -> UnionSet = isl_union_set_from_set;
    fn empty_ctx(ctx: &Ctx) -> UnionSet = isl_union_set_empty_ctx;
    fn empty(space: &Space) -> UnionSet = isl_union_set_empty;
    fn get_space(&self) -> Space = isl_union_set_get_space;
    /// Forgets the numbers of all ids.
    fn reset_user(&self) -> UnionSet = isl_union_set_reset_user;
    fn universe(&self) -> UnionSet = isl_union_set_universe;
    /// The values of the parameters for which there is an element.
    fn params(&self) -> Set = isl_union_set_params;
    /// Affine equalities that all elements satisfy; strides are found in each piece, not across pieces.
    fn affine_hull(&self) -> UnionSet = isl_union_set_affine_hull;
    /// An overapproximation by one conjunction, whose constraints are shifts of those that occur. Cheap.
    fn simple_hull(&self) -> UnionSet = isl_union_set_simple_hull;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> UnionSet = isl_union_set_coalesce;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> UnionSet = isl_union_set_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> UnionSet = isl_union_set_lexmax;
    fn union(&self, other: &UnionSet) -> UnionSet = isl_union_set_union;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &UnionSet) -> UnionSet = isl_union_set_subtract;
    fn intersect(&self, other: &UnionSet) -> UnionSet = isl_union_set_intersect;
    fn intersect_params(&self, set: &Set) -> UnionSet = isl_union_set_intersect_params;
    fn product(&self, other: &UnionSet) -> UnionSet = isl_union_set_product;
    /// Drops what `context` implies: the result agrees with `self` inside of `context` and is arbitrary outside of it.
    fn gist(&self, context: &UnionSet) -> UnionSet = isl_union_set_gist;
    /// Drops what the parameters being in `context` implies.
    fn gist_params(&self, set: &Set) -> UnionSet = isl_union_set_gist_params;
    /// The image under the relation.
    fn apply(&self, umap: &UnionMap) -> UnionSet = isl_union_set_apply;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> UnionSet = isl_union_set_project_out;
    /// An overapproximation: projects the integer divisions out over the rationals.
    fn remove_divs(&self) -> UnionSet = isl_union_set_remove_divs;
    fn is_params(&self) -> bool = isl_union_set_is_params;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_union_set_is_empty;
    fn is_subset(&self, other: &UnionSet) -> bool = isl_union_set_is_subset;
    fn is_equal(&self, other: &UnionSet) -> bool = isl_union_set_is_equal;
    fn is_disjoint(&self, other: &UnionSet) -> bool = isl_union_set_is_disjoint;
    fn is_strict_subset(&self, other: &UnionSet) -> bool = isl_union_set_is_strict_subset;
    fn n_set(&self) -> usize = isl_union_set_n_set;
    /// The pieces; they may overlap.
    fn basic_sets(&self) -> Vec<BasicSet> = isl_union_set_get_basic_set_list;
    /// The sets, one per space, in the order of a hash table: the same from run to run, and otherwise arbitrary.
    fn sets(&self) -> Vec<Set> = isl_union_set_get_set_list;
    fn contains(&self, space: &Space) -> bool = isl_union_set_contains;
    /// The part in this space; empty if there is none.
    fn extract_set(&self, space: &Space) -> Set = isl_union_set_extract_set;
    fn as_set(&self) -> Set = isl_union_set_as_set;
    fn sample(&self) -> BasicSet = isl_union_set_sample;
    /// Some element, or the void point if there is none.
    fn sample_point(&self) -> Point = isl_union_set_sample_point;
    fn lift(&self) -> UnionSet = isl_union_set_lift;
    fn coefficients(&self) -> UnionSet = isl_union_set_coefficients;
    fn solutions(&self) -> UnionSet = isl_union_set_solutions;
}

impl UnionSet {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<UnionSet> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// Gives every point to `visit`. The set has to be bounded and free of parameters; the cost is that of enumerating it.
    pub fn foreach_point<E: From<IslError>>(&self, visit: impl FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        // SAFETY: the function gives the points to its callback.
        unsafe { callback::for_each(self, "isl_union_set_foreach_point", raw::isl_union_set_foreach_point, visit) }
    }
}
