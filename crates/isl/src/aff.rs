use crate::object::{methods, object};
use crate::{BasicSet, DimType, Id, LocalSpace, MultiAff, Point, Result, Set, Space, Val, callback, raw};

object! {
    /// A quasi-affine expression: (Σ aᵢ·xᵢ + Σ bⱼ·⌊eⱼ/dⱼ⌋ + c) / d over the parameters and input dimensions of its domain.
    Aff(isl_aff), print isl_aff_to_str, parse isl_aff_read_from_str,
        list isl_aff_list isl_aff_list_alloc isl_aff_list_add isl_aff_list_size isl_aff_list_get_at
}

methods! { Aff;
    fn zero_on_domain_space(space: &Space) -> Aff = isl_aff_zero_on_domain_space;
    fn zero_on_domain(ls: &LocalSpace) -> Aff = isl_aff_zero_on_domain;
    fn val_on_domain(ls: &LocalSpace, val: &Val) -> Aff = isl_aff_val_on_domain;
    fn var_on_domain(ls: &LocalSpace, kind: DimType, pos: usize) -> Aff = isl_aff_var_on_domain;
    fn involves_locals(&self) -> bool = isl_aff_involves_locals;
    fn dim(&self, kind: DimType) -> usize = isl_aff_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_aff_involves_dims,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div);
    fn get_domain_space(&self) -> Space = isl_aff_get_domain_space;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_aff_get_dim_name;
    /// The constant term, a rational if the expression has a denominator.
    fn get_constant_val(&self) -> Val = isl_aff_get_constant_val;
    /// The coefficient, a rational if the expression has a denominator.
    fn get_coefficient_val(&self, kind: DimType, pos: usize) -> Val = isl_aff_get_coefficient_val;
    /// The common denominator.
    fn get_denominator_val(&self) -> Val = isl_aff_get_denominator_val;
    fn set_constant_val(&self, v: &Val) -> Aff = isl_aff_set_constant_val;
    fn set_coefficient_si(&self, kind: DimType, pos: usize, v: i64) -> Aff = isl_aff_set_coefficient_si;
    fn set_coefficient_val(&self, kind: DimType, pos: usize, v: &Val) -> Aff = isl_aff_set_coefficient_val,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div) && pos < self.dim(kind)?;
    fn add_constant_si(&self, v: i64) -> Aff = isl_aff_add_constant_si;
    fn add_constant_val(&self, v: &Val) -> Aff = isl_aff_add_constant_val;
    fn plain_is_zero(&self) -> bool = isl_aff_plain_is_zero;
    fn get_div(&self, pos: usize) -> Aff = isl_aff_get_div;
    fn floor(&self) -> Aff = isl_aff_floor;
    fn scale_down_val(&self, v: &Val) -> Aff = isl_aff_scale_down_val;
    fn align_params(&self, model: &Space) -> Aff = isl_aff_align_params;
    fn eval(&self, pnt: &Point) -> Val = isl_aff_eval;
    fn zero_basic_set(&self) -> BasicSet = isl_aff_zero_basic_set;
    fn neg_basic_set(&self) -> BasicSet = isl_aff_neg_basic_set;
    fn eq_set(&self, other: &Aff) -> Set = isl_aff_eq_set;
    fn lt_set(&self, other: &Aff) -> Set = isl_aff_lt_set;
    fn ge_set(&self, other: &Aff) -> Set = isl_aff_ge_set;
}

object! {
    /// A piecewise quasi-affine expression: disjoint domains, each with an [`Aff`]; undefined elsewhere.
    PwAff(isl_pw_aff), print isl_pw_aff_to_str, parse isl_pw_aff_read_from_str,
        list isl_pw_aff_list isl_pw_aff_list_alloc isl_pw_aff_list_add isl_pw_aff_list_size isl_pw_aff_list_get_at
}

methods! { PwAff;
    fn get_domain_space(&self) -> Space = isl_pw_aff_get_domain_space;
    fn from_aff(aff: &Aff) -> PwAff = isl_pw_aff_from_aff;
    fn alloc(set: &Set, aff: &Aff) -> PwAff = isl_pw_aff_alloc;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_pw_aff_get_dim_name;
    fn plain_is_equal(&self, other: &PwAff) -> bool = isl_pw_aff_plain_is_equal;
    fn is_equal(&self, other: &PwAff) -> bool = isl_pw_aff_is_equal;
    /// The smaller of the two where both are defined, the defined one elsewhere.
    fn union_min(&self, other: &PwAff) -> PwAff = isl_pw_aff_union_min;
    /// The larger of the two where both are defined, the defined one elsewhere.
    fn union_max(&self, other: &PwAff) -> PwAff = isl_pw_aff_union_max;
    /// The sum where both are defined, the defined one elsewhere.
    fn union_add(&self, other: &PwAff) -> PwAff = isl_pw_aff_union_add;
    fn dim(&self, kind: DimType) -> usize = isl_pw_aff_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_pw_aff_involves_dims,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div);
    fn is_cst(&self) -> bool = isl_pw_aff_is_cst;
    fn align_params(&self, model: &Space) -> PwAff = isl_pw_aff_align_params;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> PwAff = isl_pw_aff_set_tuple_id;
    /// The smaller of the two where both are defined.
    fn min(&self, other: &PwAff) -> PwAff = isl_pw_aff_min;
    /// The larger of the two where both are defined.
    fn max(&self, other: &PwAff) -> PwAff = isl_pw_aff_max;
    /// The product; one factor has to be constant on each piece.
    fn mul(&self, other: &PwAff) -> PwAff = isl_pw_aff_mul;
    fn add(&self, other: &PwAff) -> PwAff = isl_pw_aff_add;
    fn sub(&self, other: &PwAff) -> PwAff = isl_pw_aff_sub;
    fn neg(&self) -> PwAff = isl_pw_aff_neg;
    fn ceil(&self) -> PwAff = isl_pw_aff_ceil;
    fn floor(&self) -> PwAff = isl_pw_aff_floor;
    /// The remainder in [0, modulus).
    fn mod_val(&self, modulus: &Val) -> PwAff = isl_pw_aff_mod_val;
    /// The quotient by a constant, rounded towards zero.
    fn tdiv_q(&self, other: &PwAff) -> PwAff = isl_pw_aff_tdiv_q;
    /// The remainder by a constant, with the sign of the dividend.
    fn tdiv_r(&self, other: &PwAff) -> PwAff = isl_pw_aff_tdiv_r;
    fn intersect_domain(&self, set: &Set) -> PwAff = isl_pw_aff_intersect_domain;
    fn subtract_domain(&self, set: &Set) -> PwAff = isl_pw_aff_subtract_domain;
    fn add_constant_val(&self, v: &Val) -> PwAff = isl_pw_aff_add_constant_val;
    fn scale_val(&self, v: &Val) -> PwAff = isl_pw_aff_scale_val;
    fn scale_down_val(&self, f: &Val) -> PwAff = isl_pw_aff_scale_down_val;
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> PwAff = isl_pw_aff_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> PwAff = isl_pw_aff_add_dims;
    /// Where it is defined.
    fn domain(&self) -> Set = isl_pw_aff_domain;
    fn coalesce(&self) -> PwAff = isl_pw_aff_coalesce;
    fn gist(&self, context: &Set) -> PwAff = isl_pw_aff_gist,
        require self.get_domain_space()?.has_equal_tuples(&context.get_space()?)?;
    fn gist_params(&self, context: &Set) -> PwAff = isl_pw_aff_gist_params;
    fn pullback_multi_aff(&self, ma: &MultiAff) -> PwAff = isl_pw_aff_pullback_multi_aff;
    fn n_piece(&self) -> usize = isl_pw_aff_n_piece;
    /// Where it is ≥ 0.
    fn nonneg_set(&self) -> Set = isl_pw_aff_nonneg_set;
    /// Where it is not 0.
    fn non_zero_set(&self) -> Set = isl_pw_aff_non_zero_set;
    fn eq_set(&self, other: &PwAff) -> Set = isl_pw_aff_eq_set;
    fn ne_set(&self, other: &PwAff) -> Set = isl_pw_aff_ne_set;
    fn le_set(&self, other: &PwAff) -> Set = isl_pw_aff_le_set;
    fn lt_set(&self, other: &PwAff) -> Set = isl_pw_aff_lt_set;
    fn ge_set(&self, other: &PwAff) -> Set = isl_pw_aff_ge_set;
    fn gt_set(&self, other: &PwAff) -> Set = isl_pw_aff_gt_set;
}

impl PwAff {
    /// The domains, which are disjoint, and the expression on each.
    pub fn pieces(&self) -> Result<Vec<(Set, Aff)>> {
        // SAFETY: the function gives both to its callback.
        unsafe { callback::for_each_pair(self, "isl_pw_aff_foreach_piece", raw::isl_pw_aff_foreach_piece) }
    }
}
