use crate::object::{methods, object};
use crate::{BasicMap, Constraint, DimType, Set, Space};

object! {
    /// The integer points of one polyhedron, projected along existentially quantified variables.
    BasicSet(isl_basic_set), print isl_basic_set_to_str, parse isl_basic_set_read_from_str,
        list isl_basic_set_list isl_basic_set_list_alloc isl_basic_set_list_add isl_basic_set_list_size isl_basic_set_list_get_at
}

methods! { BasicSet;
    fn dim(&self, kind: DimType) -> usize = isl_basic_set_dim;
    fn get_space(&self) -> Space = isl_basic_set_get_space;
    fn to_set(&self) -> Set = isl_basic_set_to_set;
    /// An overapproximation without the divisions that have no explicit form.
    fn remove_unknown_divs(&self) -> BasicSet = isl_basic_set_remove_unknown_divs;
    /// An overapproximation: drops every constraint that mentions one of these dimensions.
    fn drop_constraints_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicSet
        = isl_basic_set_drop_constraints_involving_dims;
    /// An overapproximation: drops every constraint that mentions none of these dimensions.
    fn drop_constraints_not_involving_dims(&self, kind: DimType, first: usize, n: usize) -> BasicSet
        = isl_basic_set_drop_constraints_not_involving_dims;
    fn constraints(&self) -> Vec<Constraint> = isl_basic_set_get_constraint_list;
    fn add_constraint(&self, constraint: &Constraint) -> BasicSet = isl_basic_set_add_constraint;
    /// The relation that this set wraps.
    fn unwrap(&self) -> BasicMap = isl_basic_set_unwrap;
}
