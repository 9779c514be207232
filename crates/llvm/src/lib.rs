//! The wall towards LLVM: the only crate that names inkwell, llvm-sys or the C++ shim.

pub mod analyses;
pub mod body;
pub mod facts;
mod ffi;
pub mod module;
mod tape;
pub mod write;

pub use analyses::Analyses;
pub use module::{FunctionHandle, ModuleHandle, OwnedModule};
