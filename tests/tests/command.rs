//! What the command says to mistakes: one message that names the place, exit code 2, no file left behind.

use std::process::Command;
use tests::tools;

/// Runs `loopwright` in a folder with these files; gives its exit code and what it said on standard error.
fn loopwright(files: &[(&str, &[u8])], arguments: &[&str]) -> (Option<i32>, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut command = Command::new(tools::loopwright().unwrap());
    command.args(arguments).current_dir(&folder).env_remove("LOOPWRIGHT").env_remove("LOOPWRIGHT_PLUGIN");
    let output = tools::finish(&mut command).unwrap();
    let mut left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !files.iter().any(|(known, _)| known == name))
        .collect();
    left.sort();
    (output.status.code(), String::from_utf8(output.stderr).unwrap(), left)
}

/// The command fails with this message and leaves nothing.
fn refuses(files: &[(&str, &[u8])], arguments: &[&str], message: &str) {
    let (code, stderr, left) = loopwright(files, arguments);
    assert_eq!(stderr, format!("loopwright: error: {message}\n"));
    assert_eq!(code, Some(2));
    assert!(left.is_empty(), "left behind: {left:?}");
}

const LOOP: &[u8] = b"void scale(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; }\n";

#[test]
fn a_missing_file() {
    refuses(&[], &["analyze", "a.c"], "a.c: cannot be read: No such file or directory");
    refuses(&[], &["opt", "a.ll", "-o", "b.ll"], "a.ll: cannot be read: No such file or directory");
}

#[test]
fn an_unknown_kind_of_file() {
    let known = "expected .c, .cpp, .cc, .f, .for, .f90, .F90, .ll or .bc";
    refuses(
        &[("a.txt", LOOP)],
        &["analyze", "a.txt"],
        &format!("a.txt: the kind of file is not known by its name; {known}"),
    );
}

#[test]
fn malformed_ir() {
    let text = b"define void @f() {\n  ret voix\n}\n";
    let message = "a.ll:2:7: not valid LLVM IR: expected type";
    refuses(&[("a.ll", text)], &["analyze", "a.ll"], message);
    refuses(&[("a.ll", text)], &["opt", "a.ll", "-o", "b.ll"], message);
    refuses(
        &[("a.bc", b"BC\xc0\xde1234567")],
        &["opt", "a.bc", "-o", "b.bc"],
        "a.bc: not valid LLVM IR: Invalid bitcode signature",
    );
}

#[test]
fn ir_of_a_newer_llvm() {
    let text = b"define void @f(ptr captures(none) %p) {\n  ret void\n}\n!llvm.ident = !{!0}\n!0 = !{!\"clang version 21.1.0\"}\n";
    let message = "a.ll:1:20: not valid LLVM IR: expected ')' at end of argument list (the file was written by clang 21.1.0, this is LLVM 19)";
    refuses(&[("a.ll", text)], &["analyze", "a.ll"], message);
}

#[test]
fn an_unknown_function() {
    let message = "a.c: there is no function `scal`; near matches: scale";
    refuses(&[("a.c", LOOP)], &["analyze", "a.c", "--function", "scal"], message);
    refuses(&[("a.c", LOOP)], &["opt", "a.c", "-o", "a.ll", "--function", "scal"], message);
}

#[test]
fn an_unwritable_output() {
    refuses(
        &[("a.c", LOOP)],
        &["opt", "a.c", "-o", "none/a.ll"],
        "none/a.ll: cannot be written: No such file or directory",
    );
    let formats = "expected .ll, .bc, .s or .o";
    refuses(
        &[("a.c", LOOP)],
        &["opt", "a.c", "-o", "a"],
        &format!("a: the output format is not known by the name; {formats}"),
    );
}

#[test]
fn an_unknown_option() {
    let (code, stderr, _) = loopwright(&[("a.c", LOOP)], &["cc", "--loopwright=paralel", "-c", "a.c"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.starts_with("loopwright: error: in --loopwright: unknown option `paralel`; known are: "),
        "{stderr}"
    );
}

#[test]
fn output_appears_whole_in_every_format() {
    for (out, magic) in [("a.ll", b"; Mo".as_slice()), ("a.bc", b"BC\xc0\xde"), ("a.o", b"\x7fELF"), ("a.s", b"\t")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(out);
        let source = folder.path().join("a.c");
        std::fs::write(&source, LOOP).unwrap();
        let mut command = Command::new(tools::loopwright().unwrap());
        tools::succeed(command.arg("opt").arg(&source).arg("-o").arg(&path).env_remove("LOOPWRIGHT")).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(magic), "{out}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "{out}");
    }
}

#[test]
fn the_driver_passes_on_what_the_compiler_says() {
    let (code, stderr, left) = loopwright(&[("a.c", b"int x = ;\n")], &["cc", "-O2", "-c", "a.c"]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("a.c:1:9: error: expected expression"), "{stderr}");
    assert!(left.is_empty());
    let (code, stderr, left) = loopwright(&[("a.c", LOOP)], &["cc", "-O2", "--loopwright=parallel", "-c", "a.c"]);
    assert_eq!((code, stderr.as_str(), left), (Some(0), "", vec!["a.o".to_string()]));
}

/// With LTO the loops are transformed when a file is compiled, before it is linked.
#[test]
fn link_time_optimization_keeps_working() {
    let program = b"#include <stdio.h>\nvoid scale(int, double *);\nint main(void) { double a[3] = {1, 2, 3}; scale(3, a); printf(\"%g\\n\", a[2]); }\n";
    for flavour in ["-flto", "-flto=thin"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), LOOP).unwrap();
        std::fs::write(folder.path().join("main.c"), program).unwrap();
        let mut command = Command::new(tools::loopwright().unwrap());
        command.args(["cc", "-O3", flavour, "a.c", "main.c", "-o", "a"]).current_dir(&folder);
        tools::succeed(command.env_remove("LOOPWRIGHT")).unwrap();
        let output = tools::succeed(Command::new("./a").current_dir(&folder)).unwrap();
        assert_eq!(output.stdout, b"6\n", "{flavour}");
    }
}
