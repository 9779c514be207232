//! The wall towards LLVM: the only crate that names inkwell, llvm-sys or the C++ shim.

pub mod analyses;
pub mod backup;
pub mod body;
mod codes;
mod decided;
mod errors;
pub mod facts;
mod ffi;
pub mod module;
pub mod plugin;
pub mod read;
pub mod remark;
mod tape;
pub mod write;

pub use analyses::Analyses;
pub use backup::Backup;
pub use codes::RemarkKind;
pub use module::{FunctionHandle, ModuleHandle, OwnedModule};
pub use remark::Location;
