//! The wall towards LLVM: the only crate that names inkwell, llvm-sys or the C++ shim.

pub mod body;
pub mod facts;
