//! Whole programs: what clang makes of the written code, counters at exit, threads.

use super::*;
use std::path::{Path, PathBuf};
use std::process::Command;

fn tool(name: &str, arguments: &[&str]) -> (String, String) {
    let output = Command::new(name).args(arguments).output().unwrap_or_else(|e| panic!("{name}: {e}"));
    let [out, err] = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(output.status.success(), "{name} {arguments:?}\n{out}{err}");
    (out, err)
}

/// A folder that goes away with the test.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("loopwright-write-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a writable folder");
        Folder(path)
    }
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("writable");
        path.to_string_lossy().into_owned()
    }
    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const CALLER: &str = r#"
#include <stdio.h>
extern void triple(int *, const int *, long);
static int cells[4000];
int main(void) {
    for (int i = 0; i < 4000; i++) cells[i] = i;
    triple(cells, cells + 2000, 1000);
    triple(cells + 3000, cells + 2000, 1000);
    triple(cells + 1, cells, 2);
    long sum = 0;
    for (int i = 0; i < 4000; i++) sum = sum * 31 + cells[i];
    printf("%ld\n", sum);
}
"#;

fn llvm_folder() -> String {
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".into());
    tool(&config, &["--libdir"]).0.trim().to_string()
}

fn build_and_run(folder: &Folder, ir: &str, extra: &[&str]) -> (String, String) {
    let (code, main) = (folder.file("code.ll", ir), folder.file("main.c", CALLER));
    let program = folder.path("program");
    let mut arguments = vec!["-O2", "-Wno-override-module", &code, &main, "-o", &program];
    arguments.extend(extra);
    tool("clang-19", &arguments);
    tool(&program, &[])
}

#[test]
fn counters_are_printed_at_exit() {
    let folder = Folder::new("stats");
    let (fixture, region, plan) = triple();
    fixture.write(&region, &plan);
    let (out, err) = build_and_run(&folder, &fixture.text(), &[]);
    assert_eq!(err, "loopwright: stats: triple:7 fast=2 original=1\n");
    assert_eq!(out, build_and_run(&folder, TRIPLE, &[]).0);
}

#[test]
fn a_parallel_loop_runs_on_threads_or_alone() {
    let folder = Folder::new("parallel");
    let (fixture, region, mut plan) = triple();
    let Node::For(f) = &mut plan.body else { unreachable!("triple is one loop") };
    f.parallel = true;
    f.step = 1;
    let options = WriteOptions { parallel: true, stats: true, min_parallel_trip: 100 };
    fixture.write_with(&region, &plan, &options);
    let text = fixture.text();
    assert!(text.contains("call void (ptr, i32, ptr, ...) @__kmpc_fork_call"), "{text}");
    let library = llvm_folder();
    let (search, run_path) = (format!("-L{library}"), format!("-Wl,-rpath,{library}"));
    let (out, err) = build_and_run(&folder, &text, &[&search, &run_path, "-lomp"]);
    assert_eq!(err, "loopwright: stats: triple:7 fast=2 original=1\n");
    assert_eq!(out, build_and_run(&folder, TRIPLE, &[]).0);
}

#[test]
fn a_parallel_loop_that_writes_a_scalar_is_an_error() {
    let (fixture, mut region, mut plan) = triple();
    region.bodies[0].writes.push(fixture.scalar("x", 5));
    let Node::For(f) = &mut plan.body else { unreachable!("triple is one loop") };
    f.parallel = true;
    let options = WriteOptions { parallel: true, ..WriteOptions::default() };
    let error = write_region(&fixture, &region, &plan, &options).expect_err("a race");
    assert!(error.to_string().contains("writes the scalar"), "{error}");
}

#[test]
fn the_vectorizer_takes_both_versions_and_checks_only_the_original() {
    let folder = Folder::new("vector");
    let (fixture, region, plan) = triple();
    fixture.write_with(&region, &plan, &WriteOptions::default());
    let file = folder.file("code.ll", &fixture.text());
    let passes = "-passes=sroa,early-cse,instcombine,simplifycfg,loop-simplify,loop-vectorize";
    let (text, remarks) = tool("opt-19", &[passes, "-S", "-pass-remarks=loop-vectorize", &file]);
    assert_eq!(remarks.matches("vectorized loop").count(), 2, "{remarks}\n{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("vector.memcheck")).count(), 1, "{text}");
}

/// With debug information: everything verifies, and threads get a subprogram of their own.
#[test]
fn debug_information_changes_no_instruction() {
    let debug = TRIPLE
        .replace("i64 noundef %n) {", "i64 noundef %n) !dbg !3 {")
        .replace(", align 4\n", ", align 4, !dbg !5\n")
        + r#"
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "hand", isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "t.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "triple", scope: !1, file: !1, line: 7, type: !4, scopeLine: 7, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(types: !{})
!5 = !DILocation(line: 8, column: 3, scope: !3)
"#;
    let folder = Folder::new("debug");
    let objects = [TRIPLE, &debug].map(|text| {
        let (_, region, mut plan) = triple();
        let Node::For(f) = &mut plan.body else { unreachable!("triple is one loop") };
        f.parallel = true;
        let fixture = Fixture::new(text);
        fixture.write_with(&region, &plan, &WriteOptions { parallel: true, stats: true, min_parallel_trip: 2 });
        let source = folder.file("code.ll", &fixture.text());
        let object = folder.path("code.o");
        tool("clang-19", &["-O2", "-Wno-override-module", "-c", &source, "-o", &object]);
        disassembly(Path::new(&object))
    });
    assert_eq!(objects[0], objects[1]);
}

fn disassembly(object: &Path) -> String {
    let (text, _) = tool("llvm-objdump-19", &["-dr", &object.to_string_lossy()]);
    text
}
