use crate::object::{methods, object};
use crate::{PwAff, Space, UnionMap};

object! {
    /// Piecewise affine expressions on several domain spaces.
    UnionPwAff(isl_union_pw_aff), print isl_union_pw_aff_to_str, parse isl_union_pw_aff_read_from_str,
        list isl_union_pw_aff_list isl_union_pw_aff_list_alloc isl_union_pw_aff_list_add isl_union_pw_aff_list_size isl_union_pw_aff_list_get_at
}

methods! { UnionPwAff;
    fn pw_affs(&self) -> Vec<PwAff> = isl_union_pw_aff_get_pw_aff_list;
    fn neg(&self) -> UnionPwAff = isl_union_pw_aff_neg;
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
