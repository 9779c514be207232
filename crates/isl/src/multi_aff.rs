use crate::object::{methods, object};
use crate::{Aff, DimType, Id, Map, PwAff, Result, Set, Space, Val, callback, raw};

object! {
    /// A tuple of affine expressions on one domain space.
    MultiAff(isl_multi_aff), print isl_multi_aff_to_str, parse isl_multi_aff_read_from_str
}

methods! { MultiAff;
    fn get_space(&self) -> Space = isl_multi_aff_get_space;
    fn get_domain_space(&self) -> Space = isl_multi_aff_get_domain_space;
    fn list(&self) -> Vec<Aff> = isl_multi_aff_get_list;
    fn from_aff_list(space: &Space, list: &[Aff]) -> MultiAff = isl_multi_aff_from_aff_list;
    fn plain_is_equal(&self, other: &MultiAff) -> bool = isl_multi_aff_plain_is_equal;
    fn reset_user(&self) -> MultiAff = isl_multi_aff_reset_user;
    fn size(&self) -> usize = isl_multi_aff_size;
    fn get_at(&self, pos: usize) -> Aff = isl_multi_aff_get_at;
    fn get_aff(&self, pos: usize) -> Aff = isl_multi_aff_get_aff;
    fn flat_range_product(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_flat_range_product;
    fn range_product(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_range_product;
    fn range_factor_domain(&self) -> MultiAff = isl_multi_aff_range_factor_domain;
    fn range_factor_range(&self) -> MultiAff = isl_multi_aff_range_factor_range;
    fn align_params(&self, model: &Space) -> MultiAff = isl_multi_aff_align_params;
    fn identity(space: &Space) -> MultiAff = isl_multi_aff_identity;
    fn scale_val(&self, v: &Val) -> MultiAff = isl_multi_aff_scale_val;
    fn scale_down_val(&self, v: &Val) -> MultiAff = isl_multi_aff_scale_down_val;
    fn add(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_add;
    fn sub(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_sub;
    fn neg(&self) -> MultiAff = isl_multi_aff_neg;
    fn add_constant_val(&self, v: &Val) -> MultiAff = isl_multi_aff_add_constant_val;
    fn zero(space: &Space) -> MultiAff = isl_multi_aff_zero;
    fn dim(&self, kind: DimType) -> usize = isl_multi_aff_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_multi_aff_involves_dims,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div);
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> MultiAff = isl_multi_aff_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> MultiAff = isl_multi_aff_add_dims;
    fn involves_locals(&self) -> bool = isl_multi_aff_involves_locals;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_multi_aff_find_dim_by_name;
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_multi_aff_find_dim_by_id;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> MultiAff = isl_multi_aff_set_dim_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_multi_aff_get_tuple_name;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_multi_aff_get_tuple_id;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> MultiAff = isl_multi_aff_set_tuple_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> MultiAff = isl_multi_aff_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> MultiAff = isl_multi_aff_reset_tuple_id;
    fn product(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_product;
    fn splice(&self, in_pos: usize, out_pos: usize, other: &MultiAff) -> MultiAff = isl_multi_aff_splice;
    fn from_aff(aff: &Aff) -> MultiAff = isl_multi_aff_from_aff;
    fn domain_map(space: &Space) -> MultiAff = isl_multi_aff_domain_map;
    fn range_map(space: &Space) -> MultiAff = isl_multi_aff_range_map;
    fn floor(&self) -> MultiAff = isl_multi_aff_floor;
    fn gist_params(&self, context: &Set) -> MultiAff = isl_multi_aff_gist_params;
    fn gist(&self, context: &Set) -> MultiAff = isl_multi_aff_gist,
        require self.get_domain_space()?.has_equal_tuples(&context.get_space()?)?;
    fn pullback_multi_aff(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_pullback_multi_aff;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> MultiAff
        = isl_multi_aff_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn as_set(&self) -> Set = isl_multi_aff_as_set;
}

object! {
    /// Disjoint domains, each with a [`MultiAff`]: a single-valued relation in explicit form.
    PwMultiAff(isl_pw_multi_aff), print isl_pw_multi_aff_to_str, parse isl_pw_multi_aff_read_from_str,
        list isl_pw_multi_aff_list isl_pw_multi_aff_list_alloc isl_pw_multi_aff_list_add isl_pw_multi_aff_list_size isl_pw_multi_aff_list_get_at
}

methods! { PwMultiAff;
    fn zero(space: &Space) -> PwMultiAff = isl_pw_multi_aff_zero;
    fn identity(space: &Space) -> PwMultiAff = isl_pw_multi_aff_identity;
    fn domain_map(space: &Space) -> PwMultiAff = isl_pw_multi_aff_domain_map;
    fn range_map(space: &Space) -> PwMultiAff = isl_pw_multi_aff_range_map;
    fn from_multi_aff(ma: &MultiAff) -> PwMultiAff = isl_pw_multi_aff_from_multi_aff;
    fn from_pw_aff(pa: &PwAff) -> PwMultiAff = isl_pw_multi_aff_from_pw_aff;
    fn alloc(set: &Set, maff: &MultiAff) -> PwMultiAff = isl_pw_multi_aff_alloc;
    fn dim(&self, kind: DimType) -> usize = isl_pw_multi_aff_dim;
    fn involves_locals(&self) -> bool = isl_pw_multi_aff_involves_locals;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_pw_multi_aff_involves_dims,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div);
    fn get_at(&self, pos: usize) -> PwAff = isl_pw_multi_aff_get_at;
    fn get_domain_space(&self) -> Space = isl_pw_multi_aff_get_domain_space;
    fn get_space(&self) -> Space = isl_pw_multi_aff_get_space;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_pw_multi_aff_get_tuple_name;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_pw_multi_aff_get_tuple_id;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> PwMultiAff = isl_pw_multi_aff_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> PwMultiAff = isl_pw_multi_aff_reset_tuple_id;
    fn reset_user(&self) -> PwMultiAff = isl_pw_multi_aff_reset_user;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_pw_multi_aff_find_dim_by_name;
    fn domain(&self) -> Set = isl_pw_multi_aff_domain;
    fn empty(space: &Space) -> PwMultiAff = isl_pw_multi_aff_empty;
    fn from_domain(set: &Set) -> PwMultiAff = isl_pw_multi_aff_from_domain;
    fn get_dim_name(&self, kind: DimType, pos: usize) -> String = isl_pw_multi_aff_get_dim_name;
    fn plain_is_equal(&self, other: &PwMultiAff) -> bool = isl_pw_multi_aff_plain_is_equal;
    fn is_equal(&self, other: &PwMultiAff) -> bool = isl_pw_multi_aff_is_equal;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> PwMultiAff = isl_pw_multi_aff_fix_si;
    fn union_add(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_union_add;
    fn neg(&self) -> PwMultiAff = isl_pw_multi_aff_neg;
    fn add(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_add;
    fn sub(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_sub;
    fn add_constant_val(&self, v: &Val) -> PwMultiAff = isl_pw_multi_aff_add_constant_val;
    fn scale_val(&self, v: &Val) -> PwMultiAff = isl_pw_multi_aff_scale_val;
    fn scale_down_val(&self, v: &Val) -> PwMultiAff = isl_pw_multi_aff_scale_down_val;
    fn range_product(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_range_product;
    fn flat_range_product(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_flat_range_product;
    fn product(&self, other: &PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_product;
    fn range_factor_domain(&self) -> PwMultiAff = isl_pw_multi_aff_range_factor_domain;
    fn range_factor_range(&self) -> PwMultiAff = isl_pw_multi_aff_range_factor_range;
    fn intersect_params(&self, set: &Set) -> PwMultiAff = isl_pw_multi_aff_intersect_params;
    fn intersect_domain(&self, set: &Set) -> PwMultiAff = isl_pw_multi_aff_intersect_domain;
    fn align_params(&self, model: &Space) -> PwMultiAff = isl_pw_multi_aff_align_params;
    fn coalesce(&self) -> PwMultiAff = isl_pw_multi_aff_coalesce;
    fn gist_params(&self, set: &Set) -> PwMultiAff = isl_pw_multi_aff_gist_params;
    fn gist(&self, set: &Set) -> PwMultiAff = isl_pw_multi_aff_gist,
        require self.get_domain_space()?.has_equal_tuples(&set.get_space()?)?;
    fn pullback_multi_aff(&self, ma: &MultiAff) -> PwMultiAff = isl_pw_multi_aff_pullback_multi_aff;
    fn n_piece(&self) -> usize = isl_pw_multi_aff_n_piece;
    fn as_set(&self) -> Set = isl_pw_multi_aff_as_set;
    fn from_set(set: &Set) -> PwMultiAff = isl_pw_multi_aff_from_set;
    fn from_map(map: &Map) -> PwMultiAff = isl_pw_multi_aff_from_map;
}

object! {
    /// A tuple of piecewise affine expressions, each with its own domain, and an explicit domain if the tuple is empty.
    MultiPwAff(isl_multi_pw_aff), print isl_multi_pw_aff_to_str, parse isl_multi_pw_aff_read_from_str
}

methods! { MultiPwAff;
    fn get_space(&self) -> Space = isl_multi_pw_aff_get_space;
    fn get_domain_space(&self) -> Space = isl_multi_pw_aff_get_domain_space;
    fn list(&self) -> Vec<PwAff> = isl_multi_pw_aff_get_list;
    fn plain_is_equal(&self, other: &MultiPwAff) -> bool = isl_multi_pw_aff_plain_is_equal;
    fn reset_user(&self) -> MultiPwAff = isl_multi_pw_aff_reset_user;
    fn size(&self) -> usize = isl_multi_pw_aff_size;
    fn get_at(&self, pos: usize) -> PwAff = isl_multi_pw_aff_get_at;
    fn flat_range_product(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_flat_range_product;
    fn range_product(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_range_product;
    fn range_factor_domain(&self) -> MultiPwAff = isl_multi_pw_aff_range_factor_domain;
    fn range_factor_range(&self) -> MultiPwAff = isl_multi_pw_aff_range_factor_range;
    fn align_params(&self, model: &Space) -> MultiPwAff = isl_multi_pw_aff_align_params;
    fn identity(space: &Space) -> MultiPwAff = isl_multi_pw_aff_identity;
    fn scale_val(&self, v: &Val) -> MultiPwAff = isl_multi_pw_aff_scale_val;
    fn scale_down_val(&self, v: &Val) -> MultiPwAff = isl_multi_pw_aff_scale_down_val;
    fn add(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_add;
    fn sub(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_sub;
    fn neg(&self) -> MultiPwAff = isl_multi_pw_aff_neg;
    fn min(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_min;
    fn max(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_max;
    fn add_constant_val(&self, v: &Val) -> MultiPwAff = isl_multi_pw_aff_add_constant_val;
    fn zero(space: &Space) -> MultiPwAff = isl_multi_pw_aff_zero;
    fn dim(&self, kind: DimType) -> usize = isl_multi_pw_aff_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_multi_pw_aff_involves_dims,
        require matches!(kind, DimType::Param | DimType::In | DimType::Div);
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> MultiPwAff = isl_multi_pw_aff_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> MultiPwAff = isl_multi_pw_aff_add_dims;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_multi_pw_aff_find_dim_by_name;
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_multi_pw_aff_find_dim_by_id;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> MultiPwAff = isl_multi_pw_aff_set_dim_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_multi_pw_aff_get_tuple_name;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_multi_pw_aff_get_tuple_id;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> MultiPwAff = isl_multi_pw_aff_set_tuple_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> MultiPwAff = isl_multi_pw_aff_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> MultiPwAff = isl_multi_pw_aff_reset_tuple_id;
    fn product(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_product;
    fn splice(&self, in_pos: usize, out_pos: usize, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_splice;
    fn from_aff(aff: &Aff) -> MultiPwAff = isl_multi_pw_aff_from_aff;
    fn from_multi_aff(ma: &MultiAff) -> MultiPwAff = isl_multi_pw_aff_from_multi_aff;
    fn from_pw_aff(pa: &PwAff) -> MultiPwAff = isl_multi_pw_aff_from_pw_aff;
    fn domain(&self) -> Set = isl_multi_pw_aff_domain;
    fn intersect_params(&self, set: &Set) -> MultiPwAff = isl_multi_pw_aff_intersect_params;
    fn intersect_domain(&self, domain: &Set) -> MultiPwAff = isl_multi_pw_aff_intersect_domain;
    fn coalesce(&self) -> MultiPwAff = isl_multi_pw_aff_coalesce;
    fn gist(&self, set: &Set) -> MultiPwAff = isl_multi_pw_aff_gist,
        require self.get_domain_space()?.has_equal_tuples(&set.get_space()?)?;
    fn gist_params(&self, set: &Set) -> MultiPwAff = isl_multi_pw_aff_gist_params;
    fn is_cst(&self) -> bool = isl_multi_pw_aff_is_cst;
    fn is_equal(&self, other: &MultiPwAff) -> bool = isl_multi_pw_aff_is_equal;
    fn pullback_multi_aff(&self, ma: &MultiAff) -> MultiPwAff = isl_multi_pw_aff_pullback_multi_aff;
    fn union_add(&self, other: &MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_union_add;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> MultiPwAff
        = isl_multi_pw_aff_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn as_set(&self) -> Set = isl_multi_pw_aff_as_set;
    fn lex_le_map(&self, other: &MultiPwAff) -> Map = isl_multi_pw_aff_lex_le_map;
    fn lex_lt_map(&self, other: &MultiPwAff) -> Map = isl_multi_pw_aff_lex_lt_map;
}

impl PwMultiAff {
    /// The domains, which are disjoint, and the expressions on each.
    pub fn pieces(&self) -> Result<Vec<(Set, MultiAff)>> {
        // SAFETY: the function gives both to its callback.
        unsafe { callback::for_each_pair(self, "isl_pw_multi_aff_foreach_piece", raw::isl_pw_multi_aff_foreach_piece) }
    }
}
