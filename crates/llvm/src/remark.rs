//! Remarks: what `-Rpass=loopwright` and its relatives print.

use crate::analyses::Analyses;
use crate::codes::RemarkKind;
use crate::facts::LoopId;
use crate::ffi;
use crate::module::{FunctionHandle, c_text};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

/// A place in the source; outlives the code it was taken from. Unknown without debug information.
#[derive(Clone, Copy)]
pub struct Location(LLVMMetadataRef);

impl Location {
    pub const UNKNOWN: Location = Location(std::ptr::null_mut());
}

impl Analyses {
    pub fn loop_location(&self, of: LoopId) -> Location {
        assert!(of.index() < self.loop_count(), "{of:?} is not of this snapshot");
        // SAFETY: in range.
        Location(unsafe { ffi::lw_loop_location(self.shim(), of.0) })
    }
}

impl FunctionHandle<'_> {
    /// Whether somebody reads remarks at all. They must not change what is done, only what is said.
    pub fn remarks_wanted(&self) -> bool {
        // SAFETY: a function.
        unsafe { ffi::lw_remarks_wanted(self.function_ref()) }
    }

    /// `name` is an identifier for tools (`Transformed`), `text` a sentence for people.
    pub fn remark(&self, kind: RemarkKind, name: &str, at: Location, text: &str) {
        let (name, text) = (c_text(name), c_text(text));
        // SAFETY: both texts live through the call; locations live as long as the context.
        unsafe { ffi::lw_remark(self.function_ref(), kind, name.as_ptr(), at.0, text.as_ptr()) }
    }
}
