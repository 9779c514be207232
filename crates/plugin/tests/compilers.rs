//! The plugin in the compilers it is made for. These tests ask only whether it loads, keeps quiet and keeps its names to itself.

use report::Report;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Cargo puts the library beside the folder of test programs, or into it.
fn plugin() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let deps = here.parent().unwrap();
    let name = "libloopwright.so";
    [deps.join(name), deps.parent().unwrap().join(name)].into_iter().find(|p| p.exists()).expect("the plugin is built")
}

const SOURCE: &str = "void f(int n, double *a, double *b) {\n\
                      for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    a[i * n + j] += b[j * n + i];\n}\n";

const FAILURE: &str = "fault=facts,report=reports";

struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("loopwright-plugin-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("f.c"), SOURCE).unwrap();
        Folder(path)
    }
    fn run(&self, program: &str, arguments: &[&str], options: &str) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.0).env("LOOPWRIGHT", options);
        command.output().unwrap_or_else(|e| panic!("{program}: {e}"))
    }
    /// Runs with a failure on purpose in the first stage, and sees that the function is said to be left alone for that.
    fn fails(&self, program: &str, arguments: &[&str], options: &str, function: &str) {
        let said = said(&self.run(program, arguments, options));
        assert!(said.starts_with("loopwright: ") && said.lines().count() == 1, "{said}");
        let reports = std::fs::read_dir(self.0.join("reports")).unwrap().map(|file| file.unwrap().path());
        let mut read = 0;
        for path in reports {
            let report = Report::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let found = report.functions.iter().find(|f| f.name == function).expect("the function was looked at");
            assert_eq!(found.refusals.iter().map(|r| r.kind.as_str()).collect::<Vec<_>>(), ["InternalError"]);
            std::fs::remove_file(path).unwrap();
            read += 1;
        }
        assert_eq!(read, 1);
    }
    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn only_the_entry_point_is_visible() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(plugin()).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = symbols.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(names, ["llvmGetPassPluginInfo"]);
}

#[test]
fn switched_off_it_changes_nothing() {
    let folder = Folder::new("off");
    let load = flag("-fpass-plugin", &plugin());
    assert_eq!(said(&folder.run("clang-19", &["-O3", "-c", "f.c", "-o", "plain.o"], "")), "");
    assert_eq!(said(&folder.run("clang-19", &["-O3", &load, "-c", "f.c", "-o", "off.o"], "off")), "");
    assert_eq!(folder.read("plain.o"), folder.read("off.o"));
}

#[test]
fn a_failure_keeps_the_original_code_at_either_position() {
    let folder = Folder::new("fault");
    let load = flag("-fpass-plugin", &plugin());
    said(&folder.run("clang-19", &["-O3", "-g", "-c", "f.c", "-o", "plain.o"], ""));
    for position in ["early", "late"] {
        let options = format!("{FAILURE},position={position}");
        folder.fails("clang-19", &["-O3", "-g", &load, "-c", "f.c", "-o", "kept.o"], &options, "f");
        assert_eq!(folder.read("plain.o"), folder.read("kept.o"), "{position}");
    }
}

#[test]
fn an_unknown_option_is_said_once() {
    let folder = Folder::new("unknown");
    let load = flag("-fpass-plugin", &plugin());
    let message = said(&folder.run("clang-19", &["-O3", &load, "-c", "f.c", "-o", "f.o"], "paralel"));
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.starts_with("loopwright: warning: unknown option `paralel`; known are: "), "{message}");
}

#[test]
fn opt_knows_the_pass_with_and_without_parameters() {
    let folder = Folder::new("opt");
    let load = flag("-load-pass-plugin", &plugin());
    let front_end = ["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "f.c", "-o", "f.ll"];
    said(&folder.run("clang-19", &front_end, ""));
    said(&folder.run("opt-19", &[&load, "-passes=loopwright", "-disable-output", "f.ll"], ""));
    let with_parameters = format!("-passes=loopwright<canonicalize;{}>", FAILURE.replace(',', ";"));
    folder.fails("opt-19", &[&load, &with_parameters, "-disable-output", "f.ll"], "", "f");
    let with_option = format!("-loopwright={FAILURE}");
    folder.fails("opt-19", &[&load, "-passes=loopwright", &with_option, "-disable-output", "f.ll"], "", "f");
}

#[test]
fn nothing_happens_without_optimization() {
    let folder = Folder::new("level");
    let load = flag("-fpass-plugin", &plugin());
    assert_eq!(said(&folder.run("clang-19", &["-O0", &load, "-c", "f.c", "-o", "f.o"], FAILURE)), "");
}

#[test]
fn flang_loads_it_too() {
    let folder = Folder::new("flang");
    let load = flag("-fpass-plugin", &plugin());
    let source = "subroutine s(n, a)\n  integer :: n, i\n  real(8) :: a(n)\n  do i = 1, n\n    a(i) = a(i) + 1\n  end do\n\
                  end subroutine\n";
    std::fs::write(folder.0.join("s.f90"), source).unwrap();
    folder.fails("flang-new-19", &["-O2", &load, "-c", "s.f90", "-o", "s.o"], FAILURE, "s_");
}
