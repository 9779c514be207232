//! What `make install` puts there, moved to another place, builds a project in three languages through each build system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::tools::{self, succeed};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn make(target: &str, stage: &Path) {
    let built = tools::loopwright().unwrap();
    let mut command = Command::new("make");
    command.args(["-C", REPOSITORY, target, "PREFIX=/usr", &format!("DESTDIR={}", stage.display())]);
    succeed(command.arg(format!("OUT={}", built.parent().unwrap().display()))).unwrap();
}

/// A folder with the installed programs and a copy of the project.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        make("install", folder.path());
        // As a package does: staged here, used there.
        std::fs::rename(folder.path().join("usr"), folder.path().join("opt")).unwrap();
        let source = folder.path().join("source");
        std::fs::create_dir(&source).unwrap();
        for entry in std::fs::read_dir(Path::new(REPOSITORY).join("tests/projects/product")).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), source.join(entry.file_name())).unwrap();
        }
        Place { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A command in the folder of the project that finds the programs, as their user would.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![self.at("opt/bin")];
        folders.extend(std::env::split_paths(&path));
        let path: OsString = std::env::join_paths(folders).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.at("source")).env("PATH", path).env_remove("LOOPWRIGHT_PLUGIN");
        command.env("LOOPWRIGHT", "stats").env_remove("CFLAGS").env_remove("CXXFLAGS").env_remove("FCFLAGS");
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        succeed(&mut self.command(program, arguments)).unwrap();
    }

    /// The program computes what it should, by the new loops of these functions.
    fn expect(&self, program: &str, fast: &[&str]) {
        let output = succeed(&mut Command::new(self.at("source").join(program))).unwrap();
        assert_eq!(output.stdout, b"equal\n");
        let stats = String::from_utf8(output.stderr).unwrap();
        for function in fast {
            let ran = stats.lines().any(|line| line.contains(function) && line.contains(" original=0"));
            assert!(ran, "the new loops of {function} did not run:\n{stats}");
        }
    }
}

const ALL: &[&str] = &["product_c", "product_cxx", "product_fortran"];

#[test]
fn all_that_is_installed_works_elsewhere_and_goes_again() {
    let place = Place::new();
    for program in ["loopwright-cc", "loopwright-c++", "loopwright-fc"] {
        let version = succeed(&mut place.command(program, &["--version"])).unwrap();
        assert!(String::from_utf8(version.stdout).unwrap().contains("version 19."), "{program}");
    }
    // What build systems ask of a compiler beside code.
    place.run("loopwright-cc", &["-E", "in_c.c"]);
    place.run("loopwright-cc", &["-print-prog-name=ld"]);
    place.run("loopwright-c++", &["-v"]);
    place.run("bash", &["-n", "../opt/share/bash-completion/completions/loopwright"]);
    let page = std::fs::read_to_string(place.at("opt/share/man/man1/loopwright.1")).unwrap();
    assert!(page.contains("position=early|late"), "{page}");
    std::fs::rename(place.at("opt"), place.at("usr")).unwrap();
    make("uninstall", place.folder.path());
    let left = succeed(Command::new("find").arg(place.at("usr")).args(["!", "-type", "d"])).unwrap();
    assert_eq!(String::from_utf8(left.stdout).unwrap(), "");
}

#[test]
fn a_cmake_project() {
    let place = Place::new();
    let toolchain = place.at("opt/share/loopwright/toolchain.cmake");
    let toolchain = format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display());
    place.run("cmake", &["-B", "by-file", "-DCMAKE_BUILD_TYPE=Release", &toolchain]);
    place.run("cmake", &["--build", "by-file"]);
    place.expect("by-file/product", ALL);
    let mut words = vec!["-B", "by-name", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_Fortran_FLAGS=-O3"];
    words.extend(["-DCMAKE_C_COMPILER=loopwright-cc", "-DCMAKE_CXX_COMPILER=loopwright-c++"]);
    words.push("-DCMAKE_Fortran_COMPILER=loopwright-fc");
    place.run("cmake", &words);
    place.run("cmake", &["--build", "by-name"]);
    place.expect("by-name/product", ALL);
}

/// Debian's meson is too old for LLVM's flang.
#[test]
fn a_meson_project() {
    let place = Place::new();
    let mut setup = place.command("meson", &["setup", "build"]);
    succeed(setup.env("CC", "loopwright-cc").env("CXX", "loopwright-c++")).unwrap();
    place.run("meson", &["compile", "-C", "build"]);
    place.expect("build/product", &["product_c", "product_cxx"]);
}

#[test]
fn an_autotools_project() {
    let place = Place::new();
    place.run("autoreconf", &["--install"]);
    let flags = ["CFLAGS=-O3", "CXXFLAGS=-O3", "FCFLAGS=-O3"];
    let mut words = vec!["CC=loopwright-cc", "CXX=loopwright-c++", "FC=loopwright-fc"];
    words.extend(flags);
    place.run("./configure", &words);
    place.run("make", &[]);
    place.expect("product", ALL);
}
