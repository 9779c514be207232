use crate::object::{methods, object};
use crate::{Ctx, DimType};

object! {
    /// The shape of a set or relation: parameters, tuples and their names, without constraints.
    Space(isl_space), print isl_space_to_str, parse isl_space_read_from_str
}

methods! { Space;
    /// The space of sets with `nparam` parameters and `dim` dimensions.
    fn set_alloc(ctx: &Ctx, nparam: usize, dim: usize) -> Space = isl_space_set_alloc;
    /// The space of conditions on `nparam` parameters.
    fn params_alloc(ctx: &Ctx, nparam: usize) -> Space = isl_space_params_alloc;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> Space = isl_space_set_tuple_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_space_get_tuple_name;
    fn has_dim_id(&self, kind: DimType, pos: usize) -> bool = isl_space_has_dim_id;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_space_find_dim_by_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, name: &str) -> Space = isl_space_set_dim_name;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_space_get_dim_name;
    fn add_dims(&self, kind: DimType, n: usize) -> Space = isl_space_add_dims;
    fn map_from_set(&self) -> Space = isl_space_map_from_set;
    fn map_from_domain_and_range(&self, range: &Space) -> Space = isl_space_map_from_domain_and_range;
    fn domain(&self) -> Space = isl_space_domain;
    fn params(&self) -> Space = isl_space_params;
    fn align_params(&self, other: &Space) -> Space = isl_space_align_params;
    fn has_equal_tuples(&self, other: &Space) -> bool = isl_space_has_equal_tuples;
    fn dim(&self, kind: DimType) -> usize = isl_space_dim;
}

object! {
    /// A space with integer divisions of its own.
    LocalSpace(isl_local_space), print isl_local_space_to_str
}

methods! { LocalSpace;
    fn from_space(space: &Space) -> LocalSpace = isl_local_space_from_space;
}

impl Space {}
