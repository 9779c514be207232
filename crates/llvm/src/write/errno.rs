//! Our own calls leave errno alone. The library may set it even where it succeeds: malloc when it tries one way to get memory after
//! the other, the OpenMP runtime when it looks around the system before its first team. The program did not call them and may ask.

use super::ir::{Value, errno_location};
use super::{Anchors, Writer};
use planted::Fault;

/// Where errno is, and what it was.
pub(super) struct Errno {
    place: Value,
    value: Value,
}

impl<A: Anchors> Writer<'_, A> {
    /// May a call be made whose errno would have to be undone?
    pub(super) fn can_keep_errno(&self) -> bool {
        errno_location(self.function).is_some()
    }

    /// Before a call into a library. `None`: nobody knows where errno is; whoever decided to make the call asked before.
    pub(super) fn save_errno(&self) -> Option<Errno> {
        let build = &self.build;
        let location = errno_location(self.function).filter(|_| !planted::is(Fault::LibraryErrno))?;
        let place = build.call(build.function_type(build.pointer(), &[], false), location, &[]);
        let value = build.load(build.int(32), place);
        value.make_volatile();
        Some(Errno { place, value })
    }

    /// Behind the call, in the same thread.
    pub(super) fn restore_errno(&self, saved: Option<Errno>) {
        if let Some(Errno { place, value }) = saved {
            // To LLVM malloc writes no memory that a program can see: putting back what was there looks as if it did nothing.
            self.build.store(value, place).make_volatile();
        }
    }
}
