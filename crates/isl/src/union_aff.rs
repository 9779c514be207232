use crate::object::{methods, object};
use crate::{Aff, Ctx, DimType, Id, MultiAff, PwAff, PwMultiAff, Set, Space, UnionMap, UnionSet, Val};

object! {
    /// Piecewise affine expressions on several domain spaces.
    UnionPwAff(isl_union_pw_aff), print isl_union_pw_aff_to_str, parse isl_union_pw_aff_read_from_str,
        list isl_union_pw_aff_list isl_union_pw_aff_list_alloc isl_union_pw_aff_list_add isl_union_pw_aff_list_size isl_union_pw_aff_list_get_at
}

methods! { UnionPwAff;
    fn get_space(&self) -> Space = isl_union_pw_aff_get_space;
    fn pw_affs(&self) -> Vec<PwAff> = isl_union_pw_aff_get_pw_aff_list;
    fn dim(&self, kind: DimType) -> usize = isl_union_pw_aff_dim;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> UnionPwAff = isl_union_pw_aff_set_dim_name;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_union_pw_aff_find_dim_by_name;
    fn reset_user(&self) -> UnionPwAff = isl_union_pw_aff_reset_user;
    fn empty_ctx(ctx: &Ctx) -> UnionPwAff = isl_union_pw_aff_empty_ctx;
    fn empty(space: &Space) -> UnionPwAff = isl_union_pw_aff_empty;
    fn from_aff(aff: &Aff) -> UnionPwAff = isl_union_pw_aff_from_aff,
        require aff.get_space()?.has_named_params()?;
    fn from_pw_aff(pa: &PwAff) -> UnionPwAff = isl_union_pw_aff_from_pw_aff,
        require pa.get_space()?.has_named_params()?;
    fn val_on_domain(domain: &UnionSet, v: &Val) -> UnionPwAff = isl_union_pw_aff_val_on_domain,
        require domain.get_space()?.has_named_params()?;
    fn plain_is_equal(&self, other: &UnionPwAff) -> bool = isl_union_pw_aff_plain_is_equal;
    fn domain(&self) -> UnionSet = isl_union_pw_aff_domain;
    fn neg(&self) -> UnionPwAff = isl_union_pw_aff_neg;
    fn add(&self, other: &UnionPwAff) -> UnionPwAff = isl_union_pw_aff_add;
    fn union_add(&self, other: &UnionPwAff) -> UnionPwAff = isl_union_pw_aff_union_add;
    fn sub(&self, other: &UnionPwAff) -> UnionPwAff = isl_union_pw_aff_sub;
    fn coalesce(&self) -> UnionPwAff = isl_union_pw_aff_coalesce;
    fn gist(&self, context: &UnionSet) -> UnionPwAff = isl_union_pw_aff_gist;
    fn gist_params(&self, context: &Set) -> UnionPwAff = isl_union_pw_aff_gist_params,
        require context.get_space()?.has_named_params()?;
    fn pullback_union_pw_multi_aff(&self, upma: &UnionPwMultiAff) -> UnionPwAff
        = isl_union_pw_aff_pullback_union_pw_multi_aff;
    fn floor(&self) -> UnionPwAff = isl_union_pw_aff_floor;
    fn scale_val(&self, v: &Val) -> UnionPwAff = isl_union_pw_aff_scale_val;
    fn scale_down_val(&self, v: &Val) -> UnionPwAff = isl_union_pw_aff_scale_down_val;
    fn mod_val(&self, f: &Val) -> UnionPwAff = isl_union_pw_aff_mod_val;
    fn align_params(&self, model: &Space) -> UnionPwAff = isl_union_pw_aff_align_params,
        require model.has_named_params()?;
    fn intersect_params(&self, set: &Set) -> UnionPwAff = isl_union_pw_aff_intersect_params,
        require set.get_space()?.has_named_params()?;
    fn intersect_domain(&self, uset: &UnionSet) -> UnionPwAff = isl_union_pw_aff_intersect_domain;
    fn min_val(&self) -> Val = isl_union_pw_aff_min_val;
    fn max_val(&self) -> Val = isl_union_pw_aff_max_val;
}

object! {
    /// A tuple of [`UnionPwAff`]: the form of a band's partial schedule.
    MultiUnionPwAff(isl_multi_union_pw_aff), print isl_multi_union_pw_aff_to_str, parse isl_multi_union_pw_aff_read_from_str
}

methods! { MultiUnionPwAff;
    fn get_space(&self) -> Space = isl_multi_union_pw_aff_get_space;
    fn get_domain_space(&self) -> Space = isl_multi_union_pw_aff_get_domain_space;
    fn list(&self) -> Vec<UnionPwAff> = isl_multi_union_pw_aff_get_list;
    fn from_union_pw_aff_list(space: &Space, list: &[UnionPwAff]) -> MultiUnionPwAff
        = isl_multi_union_pw_aff_from_union_pw_aff_list;
    fn plain_is_equal(&self, other: &MultiUnionPwAff) -> bool = isl_multi_union_pw_aff_plain_is_equal;
    fn reset_user(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_reset_user;
    fn size(&self) -> usize = isl_multi_union_pw_aff_size;
    fn get_at(&self, pos: usize) -> UnionPwAff = isl_multi_union_pw_aff_get_at;
    fn flat_range_product(&self, other: &MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_flat_range_product;
    fn range_product(&self, other: &MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_product;
    fn range_factor_domain(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_factor_domain;
    fn range_factor_range(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_factor_range;
    fn align_params(&self, model: &Space) -> MultiUnionPwAff = isl_multi_union_pw_aff_align_params;
    fn scale_val(&self, v: &Val) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_val;
    fn scale_down_val(&self, v: &Val) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_down_val;
    fn add(&self, other: &MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_add;
    fn sub(&self, other: &MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_sub;
    fn neg(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_neg;
    fn zero(space: &Space) -> MultiUnionPwAff = isl_multi_union_pw_aff_zero;
    fn dim(&self, kind: DimType) -> usize = isl_multi_union_pw_aff_dim;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_multi_union_pw_aff_find_dim_by_name;
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_multi_union_pw_aff_find_dim_by_id;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_dim_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_multi_union_pw_aff_get_tuple_name;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_multi_union_pw_aff_get_tuple_id;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_tuple_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> MultiUnionPwAff = isl_multi_union_pw_aff_reset_tuple_id;
    fn from_multi_aff(ma: &MultiAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_multi_aff;
    fn from_union_pw_aff(upa: &UnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_aff;
    fn floor(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_floor;
    fn intersect_domain(&self, uset: &UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_domain;
    fn intersect_params(&self, params: &Set) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_params;
    fn intersect_range(&self, set: &Set) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_range;
    fn domain(&self) -> UnionSet = isl_multi_union_pw_aff_domain;
    fn coalesce(&self) -> MultiUnionPwAff = isl_multi_union_pw_aff_coalesce;
    fn gist(&self, context: &UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_gist;
    fn gist_params(&self, context: &Set) -> MultiUnionPwAff = isl_multi_union_pw_aff_gist_params;
    fn pullback_union_pw_multi_aff(&self, upma: &UnionPwMultiAff) -> MultiUnionPwAff
        = isl_multi_union_pw_aff_pullback_union_pw_multi_aff;
    fn union_add(&self, other: &MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_union_add;
    fn from_union_map(umap: &UnionMap) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_map;
}

object! {
    /// Piecewise tuples of affine expressions on several spaces: a single-valued [`crate::UnionMap`] in explicit form.
    UnionPwMultiAff(isl_union_pw_multi_aff), print isl_union_pw_multi_aff_to_str, parse isl_union_pw_multi_aff_read_from_str,
        list isl_union_pw_multi_aff_list isl_union_pw_multi_aff_list_alloc isl_union_pw_multi_aff_list_add isl_union_pw_multi_aff_list_size isl_union_pw_multi_aff_list_get_at
}

methods! { UnionPwMultiAff;
    fn empty_ctx(ctx: &Ctx) -> UnionPwMultiAff = isl_union_pw_multi_aff_empty_ctx;
    fn empty(space: &Space) -> UnionPwMultiAff = isl_union_pw_multi_aff_empty;
    fn from_aff(aff: &Aff) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_aff;
    fn from_multi_aff(ma: &MultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_multi_aff;
    fn from_domain(uset: &UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_domain;
    fn get_space(&self) -> Space = isl_union_pw_multi_aff_get_space;
    fn dim(&self, kind: DimType) -> usize = isl_union_pw_multi_aff_dim;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> UnionPwMultiAff = isl_union_pw_multi_aff_set_dim_name;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_union_pw_multi_aff_find_dim_by_name;
    fn reset_user(&self) -> UnionPwMultiAff = isl_union_pw_multi_aff_reset_user;
    fn coalesce(&self) -> UnionPwMultiAff = isl_union_pw_multi_aff_coalesce;
    fn gist_params(&self, context: &Set) -> UnionPwMultiAff = isl_union_pw_multi_aff_gist_params;
    fn gist(&self, context: &UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_gist;
    fn pullback_union_pw_multi_aff(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff
        = isl_union_pw_multi_aff_pullback_union_pw_multi_aff;
    fn align_params(&self, model: &Space) -> UnionPwMultiAff = isl_union_pw_multi_aff_align_params;
    fn as_pw_multi_aff(&self) -> PwMultiAff = isl_union_pw_multi_aff_as_pw_multi_aff;
    fn plain_is_empty(&self) -> bool = isl_union_pw_multi_aff_plain_is_empty;
    fn involves_locals(&self) -> bool = isl_union_pw_multi_aff_involves_locals;
    fn plain_is_equal(&self, other: &UnionPwMultiAff) -> bool = isl_union_pw_multi_aff_plain_is_equal;
    fn domain(&self) -> UnionSet = isl_union_pw_multi_aff_domain;
    fn neg(&self) -> UnionPwMultiAff = isl_union_pw_multi_aff_neg;
    fn add(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_add;
    fn union_add(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_union_add;
    fn sub(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_sub;
    fn scale_val(&self, val: &Val) -> UnionPwMultiAff = isl_union_pw_multi_aff_scale_val;
    fn scale_down_val(&self, val: &Val) -> UnionPwMultiAff = isl_union_pw_multi_aff_scale_down_val;
    fn range_product(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_range_product;
    fn flat_range_product(&self, other: &UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_flat_range_product;
    fn range_factor_domain(&self) -> UnionPwMultiAff = isl_union_pw_multi_aff_range_factor_domain;
    fn range_factor_range(&self) -> UnionPwMultiAff = isl_union_pw_multi_aff_range_factor_range;
    fn intersect_params(&self, set: &Set) -> UnionPwMultiAff = isl_union_pw_multi_aff_intersect_params;
    fn intersect_domain(&self, uset: &UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_intersect_domain;
    fn from_union_map(umap: &UnionMap) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_union_map;
    fn from_union_pw_aff(upa: &UnionPwAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_union_pw_aff;
}
