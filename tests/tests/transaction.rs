//! All or nothing: whatever fails, and wherever, the code is as if we had never been there.

use report::Report;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tests::tools;

/// Every stage that can be told to fail.
const STAGES: [&str; 9] = ["facts", "read", "delicm", "dependence", "schedule", "plan", "write", "verify", "clean-up"];

/// Two nests that are both transformed, with a value that the first hands on to the second.
const SOURCE: &str = "\
double f(double *C, double *A, double *B, double s) {
  for (int i = 0; i < 600; i++)
    for (int j = 0; j < 600; j++)
      for (int k = 0; k < 600; k++)
        C[i * 600 + j] += A[i * 600 + k] * B[k * 600 + j];
  double t = s * C[5];
  for (int j = 0; j < 600; j++)
    for (int i = 0; i < 600; i++)
      B[i * 600 + j] = t * A[i * 600 + j];
  return t;
}
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("f.c"), SOURCE).unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, options: &str, line: &str) -> Output {
        let plugin = plugin().display().to_string();
        let mut words = line.split(' ').map(|word| word.replace("PLUGIN", &plugin));
        let mut command = Command::new(words.next().unwrap());
        tools::succeed(command.args(words).current_dir(self.path()).env("LOOPWRIGHT", options)).unwrap()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }
}

fn plugin() -> PathBuf {
    tools::loopwright().unwrap().with_file_name("libloopwright.so")
}

/// Fails in the stage on purpose, and says so: to the user, and as a refusal in the report.
fn fails_in(folder: &Folder, stage: &str, options: &str, line: &str) {
    let reports = tempfile::tempdir().unwrap();
    let output = folder.run(&format!("fault={stage},report={},{options}", reports.path().display()), line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.is_empty(), "{stage}: nothing was said");
    assert!(said.lines().all(|line| line.starts_with("loopwright: ")), "{stage}: {said}");
    let file = std::fs::read_dir(reports.path()).unwrap().next().unwrap().unwrap();
    let report = Report::from_json(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
    let failed = |function: &report::Function| function.refusals.iter().any(|r| r.kind == "InternalError");
    assert!(report.functions.iter().any(|f| f.name == "f" && failed(f)), "{stage}: {}", report.to_json());
}

/// Runs `pass` on `f.ll`: without a failure it does something, with one in any stage nothing comes of it.
fn leaves_the_ir_as_it_was(folder: &Folder, pass: &str) {
    let opt = |to: &str| format!("opt-19 -load-pass-plugin=PLUGIN -passes={pass} -S f.ll -o {to}");
    folder.run("", "opt-19 -S f.ll -o plain.ll");
    let said = folder.run("", &opt("new.ll")).stderr;
    assert!(said.is_empty(), "{}", String::from_utf8_lossy(&said));
    assert!(folder.read("plain.ll") != folder.read("new.ll"), "without a failure there is something to undo");
    for stage in STAGES {
        fails_in(folder, stage, "", &opt("kept.ll"));
        let (plain, kept) = (folder.read("plain.ll"), folder.read("kept.ll"));
        let (plain, kept) = (String::from_utf8_lossy(&plain), String::from_utf8_lossy(&kept));
        let diff = similar::TextDiff::from_lines(&*plain, &*kept);
        assert!(plain == kept, "{stage}:\n{}", diff.unified_diff().header("plain", "kept"));
    }
}

#[test]
fn a_failure_in_any_stage_leaves_the_ir_as_it_was() {
    let folder = Folder::new();
    folder.run("", "clang-19 -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm f.c -o front.ll");
    let passes = "sroa,instcombine,simplifycfg,loop-simplify,lcssa,loop(loop-rotate),instcombine,indvars";
    folder.run("", &format!("opt-19 -passes={passes} -S front.ll -o f.ll"));
    leaves_the_ir_as_it_was(&folder, "loopwright");
}

#[test]
fn a_failure_in_any_stage_leaves_what_the_front_end_wrote() {
    let folder = Folder::new();
    folder.run("", "clang-19 -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm f.c -o f.ll");
    leaves_the_ir_as_it_was(&folder, "loopwright<canonicalize>");
}

#[test]
fn a_failure_in_any_stage_leaves_the_object_as_it_was() {
    let folder = Folder::new();
    folder.run("", "clang-19 -O3 -g -c f.c -o plain.o");
    folder.run("", "clang-19 -O3 -g -fpass-plugin=PLUGIN -c f.c -o new.o");
    assert!(folder.read("plain.o") != folder.read("new.o"), "without a failure there is something to undo");
    for stage in STAGES {
        fails_in(&folder, stage, "position=early", "clang-19 -O3 -g -fpass-plugin=PLUGIN -c f.c -o kept.o");
        assert!(folder.read("plain.o") == folder.read("kept.o"), "{stage}: the object differs");
    }
}

/// The product of matrices keeps its sums in order.
#[test]
fn a_wrong_order_is_refused() {
    let folder = Folder::new();
    for position in ["early", "late"] {
        for threads in ["", ",parallel"] {
            let reports = folder.path().join(format!("{position}{}", threads.len()));
            let options = format!("fault=order,position={position}{threads},report={}", reports.display());
            folder.run(&options, "clang-19 -O3 -g -fpass-plugin=PLUGIN -c f.c -o f.o");
            let report = std::fs::read_dir(&reports).unwrap().next().unwrap().unwrap().path();
            let report = Report::from_json(&std::fs::read_to_string(report).unwrap()).unwrap();
            let refusals: Vec<_> = report.functions.iter().flat_map(|f| &f.refusals).collect();
            assert!(refusals.iter().any(|r| r.kind == "Unsound"), "{options}: {refusals:?}");
        }
    }
}

#[test]
fn switched_off_nothing_changes() {
    let folder = Folder::new();
    for flags in ["-O3", "-O3 -g", "-O2 -flto"] {
        folder.run("", &format!("clang-19 {flags} -c f.c -o plain.o"));
        let output = folder.run("off", &format!("clang-19 {flags} -fpass-plugin=PLUGIN -c f.c -o off.o"));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(folder.read("plain.o") == folder.read("off.o"), "{flags}");
    }
}
