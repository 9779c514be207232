//! Where errno is, and calls of our own that leave it alone.
//!
//! The library may set it even where it succeeds: malloc when it tries one way to get memory after the other, the OpenMP runtime when it
//! looks around the system before its first team. The program did not call them and may ask.

use super::Site;
use super::ir::{Library, Value};
use planted::Fault;

impl Site<'_> {
    /// Where errno is, if that can be asked; in the thread that asks.
    pub(super) fn errno_location(&self) -> Option<Value> {
        let location = Library::ErrnoLocation.declared_for(self.function)?;
        Some(self.build.call(self.build.function_type(self.build.pointer(), &[], false), location, &[]))
    }

    /// May a call be made whose errno would have to be undone?
    pub(super) fn can_keep_errno(&self) -> bool {
        Library::ErrnoLocation.declared_for(self.function).is_some()
    }

    /// Calls a function of a runtime library, which may leave anything in errno, and puts back what was there.
    pub(super) fn call_beside_errno(&self, call: impl FnOnce() -> Value) -> Value {
        let Some(place) = self.errno_location().filter(|_| !planted::is(Fault::LibraryErrno)) else { return call() };
        let before = self.build.load(self.build.int(32), place);
        let result = call();
        // To LLVM malloc writes no memory that a program can see: putting back what was there looks as if it did nothing.
        before.make_volatile();
        self.build.store(before, place).make_volatile();
        result
    }
}
