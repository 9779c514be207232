//! The same input gives the same bytes: from run to run, and with and without debug info.

use std::path::Path;
use std::process::Command;
use tests::tools;

/// The machine code that `loopwright` makes of a program.
fn code(source: &Path, options: &str, debug: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (object, text) = (folder.path().join("a.o"), folder.path().join("text"));
    let mut command = Command::new(tools::loopwright().unwrap());
    command.arg(tools::driver(source)).arg(format!("--loopwright={options}")).arg("-O3");
    command.args(debug.then_some("-g")).args(["-c", "-o"]).arg(&object).arg(source).env_remove("LOOPWRIGHT");
    tools::succeed(&mut command).unwrap();
    let mut copy = Command::new("llvm-objcopy-19");
    copy.args(["-O", "binary", "--only-section=.text"]).arg(&object).arg(&text);
    tools::succeed(&mut copy).unwrap();
    let code = std::fs::read(&text).unwrap();
    assert!(!code.is_empty(), "{}: no code", source.display());
    code
}

/// What the plain compiler makes of it.
fn plain_code(source: &Path) -> Vec<u8> {
    code(source, "off", false)
}

fn program(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn always_the_same(name: &str, options: &str) {
    let source = program(name);
    let first = code(&source, options, false);
    assert!(first != plain_code(&source), "{name}: nothing was transformed");
    assert!(first == code(&source, options, false), "{name}, {options}: another run, another code");
    assert!(first == code(&source, options, true), "{name}, {options}: debug info changes the code");
    assert!(first == code(&source, options, true), "{name}, {options}: another run, another code");
}

#[test]
fn early() {
    always_the_same("kernels/dense/matmul.c", "position=early");
    always_the_same("kernels/dense/two_updates.c", "position=early");
}

#[test]
fn late() {
    always_the_same("tests/fixtures/run/mapped_tiny_sizes.c", "position=late");
}

#[test]
fn parallel() {
    always_the_same("kernels/dense/chain3.c", "parallel");
}
