use crate::object::{Handle, Lift, Prepare};
use std::ffi::c_void;

use crate::object::{methods, object};
use crate::{Ctx, Result, raw};

object! {
    /// An identifier: a name and a number (isl's user pointer). Two ids are equal if and only if both agree. Where the number is not
    /// 0, isl prints the id as `name@0x…`, which it cannot parse again.
    Id(isl_id), print isl_id_to_str, parse isl_id_read_from_str,
        list isl_id_list isl_id_list_alloc isl_id_list_add isl_id_list_size isl_id_list_get_at
}

methods! { Id;
    fn get_name(&self) -> String = isl_id_get_name;
}

impl Id {
    /// The id with this name and number.
    pub fn alloc(ctx: &Ctx, name: &str, user: usize) -> Result<Id> {
        const FUNCTION: &str = "isl_id_alloc";
        let name = name.prepare(FUNCTION)?;
        ctx.reset_error();
        // SAFETY: isl copies the name; it never looks at the user pointer, which is only a number here.
        let id = unsafe { raw::isl_id_alloc(ctx.as_ptr(), name.as_ptr(), user as *mut c_void) };
        id.lift(ctx, FUNCTION)
    }

    /// The number that this id was made with.
    pub fn user(&self) -> usize {
        // SAFETY: the id is alive.
        unsafe { raw::isl_id_get_user(raw::Keep(self.as_ptr())) as usize }
    }

    /// Whether name and number agree: ids are unique in their context.
    pub fn is_equal(&self, other: &Id) -> bool {
        self.as_ptr() == other.as_ptr()
    }
}
