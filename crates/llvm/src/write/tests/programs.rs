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

fn build_and_run(folder: &Folder, ir: &str, caller: &str, extra: &[&str]) -> (String, String) {
    let (code, main) = (folder.file("code.ll", ir), folder.file("main.c", caller));
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
    let (out, err) = build_and_run(&folder, &fixture.text(), CALLER, &[]);
    assert_eq!(err, "loopwright: stats: triple:7 fast=2 original=1\n");
    assert_eq!(out, build_and_run(&folder, TRIPLE, CALLER, &[]).0);
}

#[test]
fn a_parallel_loop_runs_on_threads_or_alone() {
    let folder = Folder::new("parallel");
    let (fixture, region, mut plan) = triple();
    let Node::For(f) = &mut plan.body else { unreachable!("triple is one loop") };
    f.role = LoopRole::Threads { vectors: f.role.is_for_vectors() };
    let options =
        WriteOptions { parallel: true, stats: true, outline: false, min_parallel_trip: 100, ..WriteOptions::default() };
    fixture.write_with(&region, &plan, &options);
    let text = fixture.text();
    assert!(text.contains("call void (ptr, i32, ptr, ...) @__kmpc_fork_call"), "{text}");
    let library = llvm_folder();
    let (search, run_path) = (format!("-L{library}"), format!("-Wl,-rpath,{library}"));
    let (out, err) = build_and_run(&folder, &text, CALLER, &[&search, &run_path, "-lomp"]);
    assert_eq!(err, "loopwright: stats: triple:7 fast=2 original=1\n");
    assert_eq!(out, build_and_run(&folder, TRIPLE, CALLER, &[]).0);
}

/// `for (i = 0; i < n; i++) { s = s * 3 + i; for (j = 0; j < m; j++) a[j] += s * j; }`, n and m at least 1
const SCALED: &str = r#"
define void @scaled(ptr noundef %a, i64 noundef %n, i64 noundef %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.latch ]
  %s = phi i64 [ 0, %entry ], [ %s.next, %outer.latch ]
  %s3 = mul i64 %s, 3
  %s.next = add i64 %s3, %i
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %at = getelementptr inbounds i64, ptr %a, i64 %j
  %x = load i64, ptr %at, align 8
  %product = mul i64 %s.next, %j
  %y = add i64 %x, %product
  store i64 %y, ptr %at, align 8
  %j.next = add nuw nsw i64 %j, 1
  %j.end = icmp eq i64 %j.next, %m
  br i1 %j.end, label %outer.latch, label %inner
outer.latch:
  %i.next = add nuw nsw i64 %i, 1
  %i.end = icmp eq i64 %i.next, %n
  br i1 %i.end, label %done, label %outer
done:
  ret void
}
"#;

const SCALED_CALLER: &str = r#"
#include <stdio.h>
extern void scaled(long *, long, long);
static long cells[5000];
int main(void) {
    scaled(cells, 7, 5000);
    scaled(cells, 3, 1);
    scaled(cells, 2, 2);
    unsigned long sum = 0;
    for (int i = 0; i < 5000; i++) sum = sum * 31 + cells[i];
    printf("%lu\n", sum);
}
"#;

#[test]
fn threads_see_scalars_and_counters_of_the_code_around() {
    let folder = Folder::new("captured");
    let fixture = Fixture::new(SCALED);
    let mut region = fixture.region("outer", "done", &["outer", "inner", "outer.latch"], &["n", "m"]);
    region.bases = [(ArrayId(0), fixture.value_id("a"))].into_iter().collect();
    let mut scalar = fixture.body(1, &["s3", "s.next"]);
    scalar.inductions.push(fixture.induction("i", &[1]));
    scalar.reads.push(fixture.scalar("s", 1));
    scalar.writes = vec![fixture.scalar("s.next", 1), fixture.scalar("s.next", 2)];
    let mut update = fixture.body(2, &["at", "x", "product", "y", "store"]);
    update.inductions.push(fixture.induction("j", &[0, 1]));
    update.reads.push(fixture.scalar("s.next", 2));
    region.initial.push((ArrayId(1), fixture.value_id("s")));
    region.bodies.insert(StatementId(0), scalar);
    region.bodies.insert(StatementId(1), update);
    // Pairs of neighbours per iteration, so that the step is not one and the end is cut.
    let at = binary(BinaryOp::Sub, counter(2), counter(0));
    let end = binary(BinaryOp::Min, below(param(1)), binary(BinaryOp::Add, counter(1), int(1)));
    let end = binary(BinaryOp::Add, end, counter(0));
    let begin = binary(BinaryOp::Add, counter(1), counter(0));
    let pair = loop_of(2, begin, end, call(1, vec![counter(0), at]));
    let mut pairs = loop_of(1, int(0), below(param(1)), Node::For(Box::new(pair)));
    (pairs.step, pairs.role) = (2, LoopRole::Threads { vectors: false });
    let body = Node::Block(vec![call(0, vec![counter(0)]), Node::For(Box::new(pairs))]);
    let all = loop_of(0, int(0), below(param(0)), body);
    let check = vec![holds(binary(BinaryOp::Gt, param(0), int(2)))];
    let options =
        WriteOptions { parallel: true, stats: true, outline: false, min_parallel_trip: 1, ..WriteOptions::default() };
    fixture.write_with(&region, &Plan { check, temporaries: Vec::new(), body: Node::For(Box::new(all)) }, &options);
    let library = llvm_folder();
    let (search, run_path) = (format!("-L{library}"), format!("-Wl,-rpath,{library}"));
    let (out, err) = build_and_run(&folder, &fixture.text(), SCALED_CALLER, &[&search, &run_path, "-lomp"]);
    assert_eq!(err, "loopwright: stats: scaled:7 fast=2 original=1\n");
    assert_eq!(out, build_and_run(&folder, SCALED, SCALED_CALLER, &[]).0);
}

#[test]
fn a_parallel_loop_that_writes_a_scalar_is_an_error() {
    let (fixture, mut region, mut plan) = triple();
    region.bodies[0].writes.push(fixture.scalar("x", 5));
    let Node::For(f) = &mut plan.body else { unreachable!("triple is one loop") };
    f.role = LoopRole::Threads { vectors: f.role.is_for_vectors() };
    let options = WriteOptions { parallel: true, ..WriteOptions::default() };
    let error = write_region(&fixture, &region, &plan, &options).expect_err("a race");
    assert!(error.to_string().contains("writes the scalar"), "{error}");
}

#[test]
fn the_vectorizer_takes_both_versions_and_checks_only_the_original() {
    let folder = Folder::new("vector");
    let (fixture, region, plan) = triple();
    fixture.write_with(&region, &plan, &WriteOptions::default());
    let scopes = fixture.text().matches("call void @llvm.experimental.noalias.scope.decl(metadata").count();
    assert_eq!(scopes, 2, "where the scope of each array begins");
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
        f.role = LoopRole::Threads { vectors: f.role.is_for_vectors() };
        let fixture = Fixture::new(text);
        fixture.write_with(
            &region,
            &plan,
            &WriteOptions {
                parallel: true,
                stats: true,
                outline: false,
                min_parallel_trip: 2,
                ..WriteOptions::default()
            },
        );
        let worker_lines = fixture.text().matches("line: 8, column: 3, scope:").count();
        assert_eq!(worker_lines, if text == TRIPLE { 0 } else { 2 }, "one in the function, one in the worker");
        let source = folder.file("code.ll", &fixture.text());
        let object = folder.path("code.o");
        tool("clang-19", &["-O2", "-Wno-override-module", "-c", &source, "-o", &object]);
        disassembly(Path::new(&object))
    });
    assert_eq!(objects[0], objects[1]);
}

fn disassembly(object: &Path) -> String {
    tool("llvm-objdump-19", &["-dr", &object.to_string_lossy()]).0
}
