use crate::object::{methods, object};
use crate::{Aff, DimType, LocalSpace, Space, Val};

object! {
    /// One integer point of a set space, or no point at all (void).
    Point(isl_point), print isl_point_to_str
}

methods! { Point;
    fn zero(space: &Space) -> Point = isl_point_zero;
    fn get_coordinate_val(&self, kind: DimType, pos: usize) -> Val = isl_point_get_coordinate_val;
    fn set_coordinate_val(&self, kind: DimType, pos: usize, v: &Val) -> Point = isl_point_set_coordinate_val;
    fn is_void(&self) -> bool = isl_point_is_void;
}

object! {
    /// An affine equality `e = 0` or inequality `e ≥ 0`.
    Constraint(isl_constraint), print isl_constraint_to_str,
        list isl_constraint_list isl_constraint_list_alloc isl_constraint_list_add isl_constraint_list_size isl_constraint_list_get_at
}

methods! { Constraint;
    fn alloc_inequality(ls: &LocalSpace) -> Constraint = isl_constraint_alloc_inequality;
    fn dim(&self, kind: DimType) -> usize = isl_constraint_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_constraint_involves_dims;
    fn get_constant_val(&self) -> Val = isl_constraint_get_constant_val;
    fn get_coefficient_val(&self, kind: DimType, pos: usize) -> Val = isl_constraint_get_coefficient_val;
    fn set_constant_si(&self, v: i64) -> Constraint = isl_constraint_set_constant_si;
    fn set_coefficient_si(&self, kind: DimType, pos: usize, v: i64) -> Constraint = isl_constraint_set_coefficient_si;
    fn is_equality(&self) -> bool = isl_constraint_is_equality;
    fn get_aff(&self) -> Aff = isl_constraint_get_aff;
}
