use crate::object::{methods, object};
use crate::{Aff, DimType, Map, PwAff, Result, Set, Space, callback, raw};

object! {
    /// A tuple of affine expressions on one domain space.
    MultiAff(isl_multi_aff), print isl_multi_aff_to_str, parse isl_multi_aff_read_from_str
}

methods! { MultiAff;
    fn list(&self) -> Vec<Aff> = isl_multi_aff_get_list;
    fn from_aff_list(space: &Space, list: &[Aff]) -> MultiAff = isl_multi_aff_from_aff_list;
    fn get_at(&self, pos: usize) -> Aff = isl_multi_aff_get_at;
    fn dim(&self, kind: DimType) -> usize = isl_multi_aff_dim;
    fn pullback_multi_aff(&self, other: &MultiAff) -> MultiAff = isl_multi_aff_pullback_multi_aff;
}

object! {
    /// Disjoint domains, each with a [`MultiAff`]: a single-valued relation in explicit form.
    PwMultiAff(isl_pw_multi_aff), print isl_pw_multi_aff_to_str, parse isl_pw_multi_aff_read_from_str,
        list isl_pw_multi_aff_list isl_pw_multi_aff_list_alloc isl_pw_multi_aff_list_add isl_pw_multi_aff_list_size isl_pw_multi_aff_list_get_at
}

methods! { PwMultiAff;
    fn from_map(map: &Map) -> PwMultiAff = isl_pw_multi_aff_from_map;
    fn get_at(&self, pos: usize) -> PwAff = isl_pw_multi_aff_get_at;
}

impl PwMultiAff {
    /// The domains, which are disjoint, and the expressions on each.
    pub fn pieces(&self) -> Result<Vec<(Set, MultiAff)>> {
        // SAFETY: the function gives both to its callback.
        unsafe { callback::for_each_pair(self, "isl_pw_multi_aff_foreach_piece", raw::isl_pw_multi_aff_foreach_piece) }
    }
}
