use std::fmt;

use crate::object::{methods, object};
use crate::{Aff, MultiAff, MultiVal, Space, Val};

object! {
    /// A box of constant size at an offset that may depend on parameters and inputs, around a set.
    FixedBox(isl_fixed_box), print isl_fixed_box_to_str
}

methods! { FixedBox;
    fn get_space(&self) -> Space = isl_fixed_box_get_space;
    fn is_valid(&self) -> bool = isl_fixed_box_is_valid;
    fn get_offset(&self) -> MultiAff = isl_fixed_box_get_offset;
    fn get_size(&self) -> MultiVal = isl_fixed_box_get_size;
}

object! {
    /// A stride and an offset: every value is the offset plus a multiple of the stride.
    StrideInfo(isl_stride_info)
}

methods! { StrideInfo;
    fn get_stride(&self) -> Val = isl_stride_info_get_stride;
    fn get_offset(&self) -> Aff = isl_stride_info_get_offset;
}

impl fmt::Debug for StrideInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.get_stride(), self.get_offset()) {
            (Ok(stride), Ok(offset)) => write!(f, "{stride} * k + {offset}"),
            (Err(error), _) | (_, Err(error)) => write!(f, "<{error}>"),
        }
    }
}
