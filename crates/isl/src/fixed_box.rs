use crate::object::{methods, object};
use crate::{MultiAff, MultiVal};

object! {
    /// A box of constant size at an offset that may depend on parameters and inputs, around a set.
    FixedBox(isl_fixed_box), print isl_fixed_box_to_str
}

methods! { FixedBox;
    fn is_valid(&self) -> bool = isl_fixed_box_is_valid;
    fn get_offset(&self) -> MultiAff = isl_fixed_box_get_offset;
    fn get_size(&self) -> MultiVal = isl_fixed_box_get_size;
}
