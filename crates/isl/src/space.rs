use crate::object::{methods, object};
use crate::{Aff, BasicMap, Ctx, DimType, Id, MultiAff, Result};

object! {
    /// The shape of a set or relation: parameters, tuples and their names, without constraints.
    Space(isl_space), print isl_space_to_str, parse isl_space_read_from_str
}

methods! { Space;
    fn multi_aff(&self, list: &[Aff]) -> MultiAff = isl_space_multi_aff;
    fn unit(ctx: &Ctx) -> Space = isl_space_unit;
    /// The space of relations with `nparam` parameters, `n_in` inputs and `n_out` outputs.
    fn alloc(ctx: &Ctx, nparam: usize, n_in: usize, n_out: usize) -> Space = isl_space_alloc;
    /// The space of sets with `nparam` parameters and `dim` dimensions.
    fn set_alloc(ctx: &Ctx, nparam: usize, dim: usize) -> Space = isl_space_set_alloc;
    /// The space of conditions on `nparam` parameters.
    fn params_alloc(ctx: &Ctx, nparam: usize) -> Space = isl_space_params_alloc;
    fn is_params(&self) -> bool = isl_space_is_params;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> Space = isl_space_set_tuple_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_space_get_tuple_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> Space = isl_space_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> Space = isl_space_reset_tuple_id;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_space_get_tuple_id;
    fn reset_user(&self) -> Space = isl_space_reset_user;
    fn has_dim_id(&self, kind: DimType, pos: usize) -> bool = isl_space_has_dim_id;
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_space_find_dim_by_id;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_space_find_dim_by_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, name: &str) -> Space = isl_space_set_dim_name;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_space_get_dim_name;
    fn add_dims(&self, kind: DimType, n: usize) -> Space = isl_space_add_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> Space
        = isl_space_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn insert_dims(&self, kind: DimType, pos: usize, n: usize) -> Space = isl_space_insert_dims;
    fn join(&self, right: &Space) -> Space = isl_space_join;
    fn product(&self, right: &Space) -> Space = isl_space_product;
    fn domain_product(&self, right: &Space) -> Space = isl_space_domain_product;
    fn range_product(&self, right: &Space) -> Space = isl_space_range_product;
    fn factor_domain(&self) -> Space = isl_space_factor_domain;
    fn domain_factor_domain(&self) -> Space = isl_space_domain_factor_domain;
    fn range_factor_domain(&self) -> Space = isl_space_range_factor_domain;
    fn range_factor_range(&self) -> Space = isl_space_range_factor_range;
    fn map_from_set(&self) -> Space = isl_space_map_from_set;
    fn map_from_domain_and_range(&self, range: &Space) -> Space = isl_space_map_from_domain_and_range;
    fn reverse(&self) -> Space = isl_space_reverse;
    fn domain(&self) -> Space = isl_space_domain;
    fn from_domain(&self) -> Space = isl_space_from_domain;
    fn range(&self) -> Space = isl_space_range;
    fn domain_map(&self) -> Space = isl_space_domain_map;
    fn range_map(&self) -> Space = isl_space_range_map;
    fn params(&self) -> Space = isl_space_params;
    fn align_params(&self, other: &Space) -> Space = isl_space_align_params;
    fn is_wrapping(&self) -> bool = isl_space_is_wrapping;
    fn wrap(&self) -> Space = isl_space_wrap;
    fn unwrap(&self) -> Space = isl_space_unwrap;
    fn zip(&self) -> Space = isl_space_zip;
    fn curry(&self) -> Space = isl_space_curry;
    fn uncurry(&self) -> Space = isl_space_uncurry;
    fn is_equal(&self, other: &Space) -> bool = isl_space_is_equal;
    fn has_equal_tuples(&self, other: &Space) -> bool = isl_space_has_equal_tuples;
    fn dim(&self, kind: DimType) -> usize = isl_space_dim;
}

object! {
    /// A space with integer divisions of its own.
    LocalSpace(isl_local_space), print isl_local_space_to_str
}

methods! { LocalSpace;
    fn from_space(space: &Space) -> LocalSpace = isl_local_space_from_space;
    fn is_params(&self) -> bool = isl_local_space_is_params;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> LocalSpace = isl_local_space_set_tuple_id;
    fn dim(&self, kind: DimType) -> usize = isl_local_space_dim;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_local_space_get_dim_name;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> LocalSpace = isl_local_space_set_dim_name;
    fn has_dim_id(&self, kind: DimType, pos: usize) -> bool = isl_local_space_has_dim_id;
    fn get_space(&self) -> Space = isl_local_space_get_space;
    fn get_div(&self, pos: usize) -> Aff = isl_local_space_get_div;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_local_space_find_dim_by_name;
    fn domain(&self) -> LocalSpace = isl_local_space_domain;
    fn range(&self) -> LocalSpace = isl_local_space_range;
    fn from_domain(&self) -> LocalSpace = isl_local_space_from_domain;
    fn add_dims(&self, kind: DimType, n: usize) -> LocalSpace = isl_local_space_add_dims;
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> LocalSpace = isl_local_space_insert_dims;
    fn intersect(&self, other: &LocalSpace) -> LocalSpace = isl_local_space_intersect;
    fn wrap(&self) -> LocalSpace = isl_local_space_wrap;
    fn is_equal(&self, other: &LocalSpace) -> bool = isl_local_space_is_equal;
    fn lifting(&self) -> BasicMap = isl_local_space_lifting;
}

impl Space {
    /// Whether every parameter has an id. Objects whose parameters have none cannot be aligned.
    pub fn has_named_params(&self) -> Result<bool> {
        for position in 0..self.dim(DimType::Param)? {
            if !self.has_dim_id(DimType::Param, position)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
