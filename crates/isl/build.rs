//! Finds isl and links it: the copy that ships with LLVM's Polly (`libPollyISL.a`) where there is one, because its
//! small-integer arithmetic is faster, else the one pkg-config knows.
//!
//! The archive is linked statically and bundled: libLLVM exports its own `isl_*`, and a plugin loaded beside it has to
//! be bound to the copy it was compiled with.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");

    if let Some(directory) = polly_isl_directory() {
        println!("cargo:rustc-link-search=native={}", directory.display());
        println!("cargo:rustc-link-lib=static=PollyISL");
        println!("cargo:rerun-if-changed={}", directory.join(ARCHIVE).display());
    } else if !link_by_pkg_config() {
        eprintln!(
            "error: isl was not found: neither {ARCHIVE} of LLVM 19 (looked where `llvm-config-19 --libdir` says; \
             the environment variable LLVM_CONFIG may name another llvm-config) nor pkg-config's `isl`. run make setup"
        );
        std::process::exit(1);
    }
}

const ARCHIVE: &str = "libPollyISL.a";

fn polly_isl_directory() -> Option<PathBuf> {
    let chosen = env::var("LLVM_CONFIG").ok();
    let candidates: Vec<&str> = match &chosen {
        Some(path) => vec![path],
        None => vec!["llvm-config-19", "llvm-config"],
    };
    candidates
        .into_iter()
        .filter_map(|llvm_config| stdout_of(llvm_config, &["--libdir"]))
        .map(PathBuf::from)
        .find(|directory: &PathBuf| Path::new(directory).join(ARCHIVE).is_file())
}

fn link_by_pkg_config() -> bool {
    // 0.26 is the first release with every function declared in `raw`.
    let Some(flags) = stdout_of("pkg-config", &["--libs", "isl >= 0.26"]) else {
        return false;
    };
    for flag in flags.split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
    true
}

fn stdout_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
