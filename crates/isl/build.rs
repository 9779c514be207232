//! Finds isl and links it: the copy that ships with LLVM's Polly (`libPollyISL.a`) where there is one, because its
//! small-integer arithmetic is faster, else the one pkg-config knows.
//!
//! The archive is linked statically and bundled: libLLVM exports its own `isl_*`, and a plugin loaded beside it has to
//! be bound to the copy it was compiled with.
//!
//! Of Polly's archive a copy is linked in which isl calls `src/large.rs` for arithmetic on large numbers, which counts what that
//! costs and passes it on; `cfg(counts_large_numbers)` tells. Without binutils, and with pkg-config's isl, there is no such
//! copy: then operations are counted whatever the size of their numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(counts_large_numbers)");

    if let Some(directory) = polly_isl_directory() {
        println!("cargo:rerun-if-changed={}", directory.join(ARCHIVE).display());
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        match copy_that_counts(&directory.join(ARCHIVE), &out) {
            Ok(()) => {
                println!("cargo:rustc-cfg=counts_large_numbers");
                println!("cargo:rustc-link-search=native={}", out.display());
                println!("cargo:rustc-link-lib=static={COUNTING}");
            }
            Err(error) => {
                println!("cargo:warning=what large numbers cost is not counted: {error}");
                println!("cargo:rustc-link-search=native={}", directory.display());
                println!("cargo:rustc-link-lib=static=PollyISL");
            }
        }
    } else if !link_by_pkg_config() {
        eprintln!(
            "error: isl was not found: neither {ARCHIVE} of LLVM 19 (looked where `llvm-config-19 --libdir` says; \
             the environment variable LLVM_CONFIG may name another llvm-config) nor pkg-config's `isl`. run make setup"
        );
        std::process::exit(1);
    }
}

const ARCHIVE: &str = "libPollyISL.a";
/// The copy's name as a library.
const COUNTING: &str = "isl_counting";
/// Where isl's large numbers are defined. It stays as it is: what it calls of itself is part of what is counted.
const NUMBERS: &str = "imath.c.o";
/// `mp_int_mul` becomes `loopwright_mp_int_mul`, and so on.
const COUNTED: [&str; 4] = ["mp_int_mul", "mp_int_div", "mp_int_gcd", "mp_int_lcm"];

/// Ensures: `out` has a copy of `archive` in which the functions [`COUNTED`] are called by their new names, and defined by their
/// old ones. The same archive gives the same bytes.
fn copy_that_counts(archive: &Path, out: &Path) -> io::Result<()> {
    // Members are named, never unpacked together: two of them may have the same name.
    let copy = format!("lib{COUNTING}.a");
    fs::copy(archive, out.join(&copy))?;
    let binutil = |program: &str, arguments: &[&str]| -> io::Result<()> {
        let output = Command::new(program).args(arguments).current_dir(out).output();
        let output = output.map_err(|error| io::Error::other(format!("{program}: {error}")))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)))),
        }
    };
    binutil("ar", &["x", &copy, NUMBERS])?;
    binutil("ar", &["dD", &copy, NUMBERS])?;
    let renamed = COUNTED.map(|name| format!("--redefine-sym={name}=loopwright_{name}"));
    let mut arguments: Vec<&str> = renamed.iter().map(String::as_str).collect();
    arguments.extend(["--enable-deterministic-archives", &copy]);
    binutil("objcopy", &arguments)?;
    binutil("ar", &["qcsD", &copy, NUMBERS])
}

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
