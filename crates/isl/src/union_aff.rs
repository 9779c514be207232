use crate::object::{methods, object};
use crate::{PwAff, Space, UnionMap, UnionSet, Val};

object! {
    /// Piecewise affine expressions on several domain spaces.
    UnionPwAff(isl_union_pw_aff), print isl_union_pw_aff_to_str, parse isl_union_pw_aff_read_from_str,
        list isl_union_pw_aff_list isl_union_pw_aff_list_alloc isl_union_pw_aff_list_add isl_union_pw_aff_list_size isl_union_pw_aff_list_get_at
}

methods! { UnionPwAff;
    fn pw_affs(&self) -> Vec<PwAff> = isl_union_pw_aff_get_pw_aff_list;
    fn neg(&self) -> UnionPwAff = isl_union_pw_aff_neg;
    /// The sum where both have a value, and the value of the one that has one elsewhere.
    fn union_add(&self, other: &UnionPwAff) -> UnionPwAff = isl_union_pw_aff_union_add;
    fn sub(&self, other: &UnionPwAff) -> UnionPwAff = isl_union_pw_aff_sub;
    fn floor(&self) -> UnionPwAff = isl_union_pw_aff_floor;
    fn scale_val(&self, factor: &Val) -> UnionPwAff = isl_union_pw_aff_scale_val;
    fn scale_down_val(&self, divisor: &Val) -> UnionPwAff = isl_union_pw_aff_scale_down_val;
    fn intersect_domain(&self, instances: &UnionSet) -> UnionPwAff = isl_union_pw_aff_intersect_domain;
}

object! {
    /// A tuple of [`UnionPwAff`]: the form of a band's partial schedule.
    MultiUnionPwAff(isl_multi_union_pw_aff), print isl_multi_union_pw_aff_to_str, parse isl_multi_union_pw_aff_read_from_str
}

methods! { MultiUnionPwAff;
    fn list(&self) -> Vec<UnionPwAff> = isl_multi_union_pw_aff_get_list;
    fn from_union_pw_aff_list(space: &Space, list: &[UnionPwAff]) -> MultiUnionPwAff
        = isl_multi_union_pw_aff_from_union_pw_aff_list;
    fn from_union_pw_aff(upa: &UnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_aff;
    fn from_union_map(umap: &UnionMap) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_map;
}

object! {
    /// Piecewise tuples of affine expressions on several spaces: a single-valued [`crate::UnionMap`] in explicit form.
    UnionPwMultiAff(isl_union_pw_multi_aff), print isl_union_pw_multi_aff_to_str, parse isl_union_pw_multi_aff_read_from_str,
        list isl_union_pw_multi_aff_list isl_union_pw_multi_aff_list_alloc isl_union_pw_multi_aff_list_add isl_union_pw_multi_aff_list_size isl_union_pw_multi_aff_list_get_at
}

methods! { UnionPwMultiAff;
    fn from_union_map(umap: &UnionMap) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_union_map;
}
