//! The wall towards LLVM: the only crate that names inkwell, llvm-sys or the C++ shim.

#[allow(dead_code, reason = "the way back to LLVM is for the writer")]
pub mod analyses;
pub mod backup;
pub mod body;
pub mod facts;
#[allow(dead_code, reason = "as for ir")]
mod ffi;
#[allow(dead_code, reason = "a toolbox for the writer: what it does not use today is tested all the same")]
pub(crate) mod ir;
pub mod module;
pub mod plugin;
pub mod read;
pub mod remark;
mod tape;
pub mod write;

pub use analyses::Analyses;
pub use backup::Backup;
pub use module::{FunctionHandle, ModuleHandle, OwnedModule};
pub use remark::{Location, RemarkKind};
