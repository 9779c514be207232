//! Only the entry point may be visible: libLLVM exports an isl of its own, and each side has to keep to its copy. rustc exports
//! nothing else from a cdylib; the linker is told the same about the C and C++ archives, and to bind our own names to ourselves.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
