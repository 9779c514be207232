//! Finds isl and links it: the copy that ships with LLVM's Polly (`libPollyISL.a`) where there is one, because its
//! small-integer arithmetic is faster, else the one pkg-config knows.
//!
//! The archive is linked statically and bundled: libLLVM exports its own `isl_*`, and a plugin loaded beside it has to
//! be bound to the copy it was compiled with.
//!
//! Of Polly's archive a copy is linked in which isl calls us for some of its functions, and of C's; `cfg(isl_calls_us)` tells.
//! `src/large.rs` counts what arithmetic on large numbers costs and passes it on; `src/small.rs` does that on small ones itself;
//! `src/allocate.rs` gives and takes memory; `src/sample.rs` finds points of simple sets. Without binutils, and with pkg-config's isl,
//! there is no such copy: then operations are counted whatever the size of their numbers, and take longer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
    println!("cargo:rustc-check-cfg=cfg(isl_calls_us)");

    if let Some(directory) = polly_isl_directory() {
        println!("cargo:rerun-if-changed={}", directory.join(ARCHIVE).display());
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        match copy_that_calls_us(&directory.join(ARCHIVE), &out) {
            Ok(()) => {
                println!("cargo:rustc-cfg=isl_calls_us");
                println!("cargo:rustc-link-search=native={}", out.display());
                println!("cargo:rustc-link-lib=static={COPY}");
            }
            Err(error) => {
                println!("cargo:warning=isl is slower, and what large numbers cost is not counted: {error}");
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
const COPY: &str = "isl_calling_us";
/// Where what isl calls in place of a function `f` is defined, as `loopwright_f`.
const SOURCES: [&str; 4] = ["src/large.rs", "src/small.rs", "src/allocate.rs", "src/sample.rs"];
/// The members of the archive in which such functions are defined, and how the names of these begin. There they keep their names; so
/// do the calls from one of them to another, which are part of what `f` does.
const HOMES: [(&str, &str); 4] = [
    ("imath.c.o", "mp_"),
    ("isl_int_sioimath.c.o", "isl_sioimath_"),
    ("isl_seq.c.o", "isl_seq_"),
    ("isl_sample.c.o", "isl_basic_set_sample_vec"),
];

/// Each `f` for which [`SOURCES`] define `loopwright_f`.
fn replaced() -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for source in SOURCES {
        let text = fs::read_to_string(source)?;
        // Where it is defined, the name comes after `fn` or, in a macro, after isl's own; no call looks like that.
        for definition in [" fn loopwright_", " / loopwright_"] {
            let found = text.split(definition).skip(1);
            let name =
                |rest: &str| -> String { rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
            names.extend(found.map(name));
        }
    }
    Ok(names)
}

/// Ensures: `out` has a copy of `archive` in which every `f` of [`replaced`] is called `loopwright_f` where it is called, and `f` where
/// it is defined. The same archive gives the same bytes.
fn copy_that_calls_us(archive: &Path, out: &Path) -> io::Result<()> {
    let replaced = replaced()?;
    let copy = format!("lib{COPY}.a");
    fs::copy(archive, out.join(&copy))?;
    let binutil = |program: &str, arguments: &[&str]| -> io::Result<()> {
        let output = Command::new(program).args(arguments).current_dir(out).output();
        let output = output.map_err(|error| io::Error::other(format!("{program}: {error}")))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)))),
        }
    };
    let rename = |file: &str, defined: Option<&str>| -> io::Result<()> {
        let called = replaced.iter().filter(|name| defined.is_none_or(|begin| !name.starts_with(begin)));
        let mut arguments: Vec<String> = called.map(|f| format!("--redefine-sym={f}=loopwright_{f}")).collect();
        arguments.extend(["--enable-deterministic-archives".to_string(), file.to_string()]);
        binutil("objcopy", &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    // Members are named, never unpacked together: two of them may have the same name.
    for (member, _) in HOMES {
        binutil("ar", &["x", &copy, member])?;
        binutil("ar", &["dD", &copy, member])?;
    }
    rename(&copy, None)?;
    for (member, begin) in HOMES {
        rename(member, Some(begin))?;
    }
    let mut arguments = vec!["qcsD", &copy];
    arguments.extend(HOMES.map(|(member, _)| member));
    binutil("ar", &arguments)
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
