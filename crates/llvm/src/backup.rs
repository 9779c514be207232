//! A function's body kept aside, so that whatever is tried can be undone.

use crate::ffi;
use crate::module::FunctionHandle;
use std::marker::PhantomData;

/// What was a function's body when this was taken. Dropped without a word, it puts the body back: a panic on the way undoes the change.
#[must_use = "dropping it at once undoes nothing, but costs two copies"]
pub struct Backup<'m> {
    shim: *mut ffi::Backup,
    module: PhantomData<&'m mut ()>,
}

impl<'m> Backup<'m> {
    /// Keeps a copy. The function's instructions stay the ones they are, so facts collected before remain good. `None` if a block's
    /// address is taken: such a function cannot be copied.
    ///
    /// Ensures: after [`Backup::restore`] the function prints as it did, and functions and globals created since are gone.
    pub fn copy(function: &FunctionHandle<'m>) -> Option<Self> {
        Self::take(function, false)
    }

    /// Keeps the original and gives the function a copy to work on: facts have to be collected anew. `None` as for [`Backup::copy`].
    ///
    /// Ensures: after [`Backup::restore`] no later pass can tell that anything happened, down to the order of uses.
    pub fn original(function: &mut FunctionHandle<'m>) -> Option<Self> {
        Self::take(function, true)
    }

    fn take(function: &FunctionHandle<'m>, keep_original: bool) -> Option<Self> {
        // SAFETY: a handle's function and managers are alive.
        let shim = unsafe { ffi::lw_backup_take(function.managers(), function.function_ref(), keep_original) };
        (!shim.is_null()).then(|| Backup { shim, module: PhantomData })
    }

    /// The function is as it was.
    pub fn restore(self) {
        drop(self)
    }

    /// The change stays.
    pub fn discard(self) {
        // SAFETY: ours, and forgotten right after.
        unsafe { ffi::lw_backup_discard(self.shim) }
        std::mem::forget(self)
    }
}

impl Drop for Backup<'_> {
    fn drop(&mut self) {
        // SAFETY: ours since `take`; the function is alive, because the module is.
        unsafe { ffi::lw_backup_restore(self.shim) }
    }
}
