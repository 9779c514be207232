use crate::object::{methods, object};
use crate::{BasicSet, Constraint, DimType, Space};

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
    fn universe(space: &Space) -> BasicMap = isl_basic_map_universe;
    fn wrap(&self) -> BasicSet = isl_basic_map_wrap;
}
