//! What the command says to mistakes: one message that names the place, exit code 2, no file left behind.

use std::path::Path;
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

/// What `loopwright` says, in a folder with these files: its exit code, standard output and standard error.
fn said(files: &[(&str, &str)], arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    said_in(folder.path(), files, arguments, environment)
}

fn said_in(
    folder: &Path,
    files: &[(&str, &str)],
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    for (name, content) in files {
        std::fs::write(folder.join(name), content).unwrap();
    }
    let mut command = Command::new(tools::loopwright().unwrap());
    command.args(arguments).current_dir(folder).env_remove("LOOPWRIGHT").env_remove("LOOPWRIGHT_PLUGIN");
    let output = tools::finish(command.envs(environment.iter().copied())).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const PRODUCT: &str = "\
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
";

#[test]
fn code_from_a_header_is_shown_with_its_name() {
    let source = "void observe(int);\nvoid f(int n, double *a, double *b, double *c) {\n#include \"body.h\"\n}\n";
    let body = format!("{PRODUCT}  for (int i = 0; i < n; i++)\n    observe(i);\n");
    let (_, stdout, _) = said(&[("a.c", source), ("body.h", &body)], &["analyze", "a.c"], &[]);
    assert!(stdout.starts_with("body.h:1-4: f: modelled, transformed"), "{stdout}");
    assert!(stdout.contains("\nbody.h:6: f: left alone: the call to `observe` may do anything\n"), "{stdout}");
    // A function that is in a header itself.
    let template = format!("template <class T> void f(int n, T *a, T *b, T *c) {{\n{PRODUCT}}}\n");
    let source = "#include \"f.h\"\ntemplate void f<double>(int, double *, double *, double *);\n";
    let (_, stdout, _) = said(&[("a.cpp", source), ("f.h", &template)], &["analyze", "a.cpp"], &[]);
    assert!(stdout.starts_with("f.h:2-5: f<double>: modelled, transformed"), "{stdout}");
}

const FIXED_FORM: &str = "\
C     In columns, as it was.
      SUBROUTINE SCALE(N, A)
      INTEGER N, I
      DOUBLE PRECISION A(N)
      DO 10 I = 1, N
        A(I) = 2 * A(I)
   10 CONTINUE
      END
";
const FREE_FORM: &str = "\
module linear
contains
  subroutine scale(n, a)
    integer :: n, i
    real(8) :: a(n)
#ifdef __flang__
    do i = 1, n
      a(i) = 2 * a(i)
    end do
#endif
  end subroutine
end module
";

#[test]
fn fortran_has_many_suffixes() {
    for name in ["a.f", "a.for", "a.FOR", "a.F"] {
        let (code, stdout, stderr) = said(&[(name, FIXED_FORM)], &["analyze", name], &[]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{name}");
        assert!(stdout.starts_with(&format!("{name}:5-7: scale: modelled")), "{name}: {stdout}");
    }
    // A capital letter: with the preprocessor.
    let (_, stdout, _) = said(&[("a.F90", FREE_FORM)], &["analyze", "a.F90"], &[]);
    assert!(stdout.starts_with("a.F90:7-8: linear::scale: modelled"), "{stdout}");
}

#[test]
fn every_fortran_file_has_a_report_of_its_own() {
    for debug in ["-g", "-O2"] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            let (file, source) = (format!("{name}.f"), FIXED_FORM.replace("SCALE", &format!("SCALE{name}")));
            let words = ["fc", "-O2", debug, "-c", "--loopwright=report=reports", &file];
            let (code, _, stderr) = said_in(folder.path(), &[(&file, &source)], &words, &[]);
            assert_eq!((code, stderr.as_str()), (Some(0), ""));
        }
        let mut names: Vec<String> = std::fs::read_dir(folder.path().join("reports"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.split('-').next().unwrap().to_string())
            .collect();
        names.sort();
        assert_eq!(names, ["a.f", "b.f"], "{debug}");
    }
}

/// Files of one name in two folders, each compiled where it is.
#[test]
fn reports_of_equal_names_stay_apart() {
    let reports = tempfile::tempdir().unwrap();
    let option = format!("--loopwright=report={}", reports.path().display());
    for _ in 0..2 {
        let source = std::str::from_utf8(LOOP).unwrap();
        let (code, ..) = said(&[("a.c", source)], &["cc", "-O2", "-c", &option, "a.c"], &[]);
        assert_eq!(code, Some(0));
    }
    assert_eq!(std::fs::read_dir(reports.path()).unwrap().count(), 2);
}

#[test]
fn without_debug_information_there_is_no_line() {
    let source = format!(
        "void f(int n, double *a, double *b, double *c) {{\n{PRODUCT}}}\n\
         double x[1000000];\nint main(void) {{ f(100, x, x + 20000, x + 40000); }}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let words = ["cc", "-O3", "--loopwright=stats,trace", "a.c", "-o", "a", "-fno-inline"];
    let (code, _, trace) = said_in(folder.path(), &[("a.c", &source)], &words, &[]);
    assert_eq!(code, Some(0), "{trace}");
    assert!(trace.contains("\nloopwright: f: schedule took "), "{trace}");
    let output = tools::succeed(&mut Command::new(folder.path().join("a"))).unwrap();
    let stats = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stats, "loopwright: stats: f fast=1 original=0 (-g would give the line)\n");
    let (_, text, _) = said_in(folder.path(), &[], &["opt", "a.c", "-o", "-", "--loopwright=analyze"], &[]);
    let (_, stdout, _) = said_in(folder.path(), &[("a.ll", &text)], &["analyze", "a.ll"], &[]);
    assert!(stdout.contains("\nno line is known: compile with -g\n"), "{stdout}");
    assert!(!stdout.contains(":0"), "{stdout}");
}

const TWO: &str = "\
void observe(int);
namespace ns {
void one(int n) { for (int i = 0; i < n; i++) observe(i); }
void two(int n) { for (int i = 0; i < n; i++) observe(i); }
}
";

#[test]
fn functions_have_the_names_of_the_source() {
    let (_, stdout, _) = said(&[("a.cpp", TWO)], &["analyze", "a.cpp"], &[]);
    assert!(stdout.starts_with("a.cpp:3: ns::one: left alone: the call to `observe` may do anything\n"), "{stdout}");
    for name in ["two", "ns::two", "_ZN2ns3twoEi"] {
        let (_, stdout, _) = said(&[("a.cpp", TWO)], &["analyze", "a.cpp", "--function", name], &[]);
        assert!(stdout.starts_with("a.cpp:4: ns::two: left alone: "), "{name}: {stdout}");
        assert!(stdout.ends_with("\n0 regions modelled: 0 transformed, 1 loop left alone\n"), "{name}: {stdout}");
    }
    let message = "a.cpp: there is no function `twoo`; near matches: ns::two";
    refuses(&[("a.cpp", TWO.as_bytes())], &["analyze", "a.cpp", "--function", "twoo"], message);
}

/// No other function is looked at.
#[test]
fn one_function_costs_that_function_only() {
    for words in [&["analyze", "a.cpp"][..], &["opt", "a.cpp", "-o", "a.ll"]] {
        let words = [words, &["--function", "two", "--loopwright", "trace"]].concat();
        let (code, _, trace) = said(&[("a.cpp", TWO)], &words, &[]);
        assert_eq!(code, Some(0));
        assert!(trace.contains("loopwright: ns::two"), "{trace}");
        assert!(!trace.contains("ns::one"), "{trace}");
    }
}

#[test]
fn a_trace_ends_with_a_table_by_stage() {
    let source = format!("void f(int n, double *a, double *b, double *c) {{\n{PRODUCT}}}\n");
    let (_, _, trace) = said(&[("a.c", &source)], &["cc", "-O3", "-c", "--loopwright=trace", "a.c"], &[]);
    let table = trace.split_once("loopwright: a.c: stage ").unwrap().1;
    let names: Vec<&str> = table.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    let stages = ["facts", "read", "outlook", "delicm", "dependence", "schedule", "plan", "ast", "write", "describe"];
    let all: Vec<&str> = stages.into_iter().chain(["all", "of"]).collect();
    assert_eq!(names, all, "{trace}");
}

/// The bare plugin in a compiler: what it says on standard error, in which it must not fail.
fn plugin_says(options: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), LOOP).unwrap();
    let plugin = tools::loopwright().unwrap().with_file_name("libloopwright.so");
    let mut command = Command::new("clang-19");
    command.args(["-O2", "-c", "a.c", &format!("-fpass-plugin={}", plugin.display())]);
    let output = tools::succeed(command.current_dir(&folder).env("LOOPWRIGHT", options)).unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_cannot_be_done_is_not_passed_over_in_silence() {
    let stderr = plugin_says("function=scal");
    assert_eq!(stderr, "loopwright: warning: a.c: there is no function `scal`; near matches: scale\n");
    let stderr = plugin_says("nonsense");
    assert!(stderr.starts_with("loopwright: warning: unknown option `nonsense`; known are: "), "{stderr}");
    assert!(stderr.ends_with("; nothing is optimized\n"), "{stderr}");
    let stderr = plugin_says("report=/dev/null/reports");
    assert!(stderr.starts_with("loopwright: warning: cannot write the report `/dev/null/reports/a.c-"), "{stderr}");
    let source = std::str::from_utf8(LOOP).unwrap();
    for words in [&["cc", "-c", "a.c"][..], &["analyze", "a.c"], &["opt", "a.c", "-o", "a.ll"]] {
        let (code, _, stderr) = said(&[("a.c", source)], words, &[("LOOPWRIGHT", "nonsense")]);
        assert_eq!(code, Some(2));
        assert!(stderr.starts_with("loopwright: error: in LOOPWRIGHT: unknown option `nonsense`"), "{stderr}");
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), LOOP).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(tools::loopwright().unwrap());
        command.args(words).current_dir(&folder).env_remove("LOOPWRIGHT");
        command
    };
    for words in [&["analyze", "a.c"][..], &["opt", "a.c", "-o", "-"], &["--help"], &["completions", "bash"]] {
        let output = run(words).stdout(closed()).output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]), "{words:?}");
    }
    // An error that nobody hears is one still, and a trace that nobody reads is none.
    let status = |words: &[&str]| run(words).stdout(closed()).stderr(closed()).status().unwrap().code();
    assert_eq!(status(&["analyze", "b.c"]), Some(2));
    assert_eq!(status(&["analyze", "a.c", "--loopwright", "trace"]), Some(0));
}
