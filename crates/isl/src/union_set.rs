use crate::object::{methods, object};
use crate::{Ctx, IslError, Point, Result, Set, Space, callback, raw};

object! {
    /// A union of sets in different spaces.
    UnionSet(isl_union_set), print isl_union_set_to_str, parse isl_union_set_read_from_str,
        list isl_union_set_list isl_union_set_list_alloc isl_union_set_list_add isl_union_set_list_size isl_union_set_list_get_at
}

methods! { UnionSet;
    fn from_set(set: &Set) -> UnionSet = isl_union_set_from_set;
    fn empty_ctx(ctx: &Ctx) -> UnionSet = isl_union_set_empty_ctx;
    fn get_space(&self) -> Space = isl_union_set_get_space;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> UnionSet = isl_union_set_coalesce;
    fn union(&self, other: &UnionSet) -> UnionSet = isl_union_set_union;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &UnionSet) -> UnionSet = isl_union_set_subtract;
    fn intersect(&self, other: &UnionSet) -> UnionSet = isl_union_set_intersect;
    fn intersect_params(&self, set: &Set) -> UnionSet = isl_union_set_intersect_params;
    fn product(&self, other: &UnionSet) -> UnionSet = isl_union_set_product;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_union_set_is_empty;
    fn is_subset(&self, other: &UnionSet) -> bool = isl_union_set_is_subset;
    fn is_equal(&self, other: &UnionSet) -> bool = isl_union_set_is_equal;
    fn n_set(&self) -> usize = isl_union_set_n_set;
    /// The sets, one per space, in the order of a hash table: the same from run to run, and otherwise arbitrary.
    fn sets(&self) -> Vec<Set> = isl_union_set_get_set_list;
    /// The part in this space; empty if there is none.
    fn extract_set(&self, space: &Space) -> Set = isl_union_set_extract_set;
}

impl UnionSet {
    /// Gives every point to `visit`. The set has to be bounded and free of parameters; the cost is that of enumerating it.
    pub fn foreach_point<E: From<IslError>>(&self, visit: impl FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        // SAFETY: the function gives the points to its callback.
        unsafe { callback::for_each(self, "isl_union_set_foreach_point", raw::isl_union_set_foreach_point, visit) }
    }
}
