//! The compilers and the plugin on this machine.

use crate::error::Error;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The major version of LLVM that the plugin is built for.
const LLVM: &str = "19";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Clang,
    ClangCxx,
    Flang,
    Opt,
}

impl Tool {
    /// Without the version that Debian appends.
    fn program(self) -> &'static str {
        match self {
            Tool::Clang => "clang",
            Tool::ClangCxx => "clang++",
            Tool::Flang => "flang-new",
            Tool::Opt => "opt",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Tool::Clang | Tool::ClangCxx => "clang-19",
            Tool::Flang => "flang-19",
            Tool::Opt => "llvm-19",
        }
    }

    /// Finds the program: `LOOPWRIGHT_LLVM/bin/clang`, `clang-19` in PATH, `clang` in PATH. One whose name has no version is asked
    /// for it; asking every time would cost a small file a third of its compile time.
    pub fn locate(self) -> Result<PathBuf, Error> {
        if let Some(folder) = set("LOOPWRIGHT_LLVM") {
            let path = Path::new(&folder).join("bin").join(self.program());
            if !is_executable(&path) {
                return Err(Error::new(format!("LOOPWRIGHT_LLVM: there is no program {}", path.display())));
            }
            return self.of_right_version(path);
        }
        if let Some(path) = in_path(&format!("{}-{LLVM}", self.program())) {
            return Ok(path);
        }
        let Some(path) = in_path(self.program()) else {
            return Err(Error::new(format!(
                "{}-{LLVM} was not found in PATH; install LLVM {LLVM} (Debian: apt-get install {})",
                self.program(),
                self.package()
            )));
        };
        self.of_right_version(path)
    }

    fn of_right_version(self, path: PathBuf) -> Result<PathBuf, Error> {
        let output =
            Command::new(&path).arg("--version").output().map_err(|e| Error::at(&path, "cannot be run", &e))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match version_of(&text) {
            Some(version) if version.split('.').next() == Some(LLVM) => Ok(path),
            Some(version) => Err(Error::new(format!(
                "{} is LLVM {version}, but loopwright is built for LLVM {LLVM} (Debian: apt-get install {})",
                path.display(),
                self.package()
            ))),
            None => Err(Error::new(format!("{} does not say that it is LLVM {LLVM}", path.display()))),
        }
    }
}

/// The number after the word `version`: `Debian clang version 19.1.7 (3)` gives `19.1.7`.
fn version_of(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace().skip_while(|word| *word != "version");
    words.nth(1).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The plugin: `LOOPWRIGHT_PLUGIN`, or `libloopwright.so` beside this executable, or in `../lib` of it.
pub fn plugin() -> Result<PathBuf, Error> {
    if let Some(path) = set("LOOPWRIGHT_PLUGIN").map(PathBuf::from) {
        return match std::fs::File::open(&path).and_then(|_| path.canonicalize()) {
            Ok(path) => Ok(path),
            Err(cause) => Err(Error::at(&path, "the plugin named by LOOPWRIGHT_PLUGIN cannot be read", &cause)),
        };
    }
    let executable = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|e| Error::new(format!("cannot find this executable, and so not the plugin beside it: {e}")))?;
    let beside = executable.with_file_name("libloopwright.so");
    if beside.is_file() {
        return Ok(beside);
    }
    let lib = executable.parent().and_then(Path::parent).map(|prefix| prefix.join("lib/libloopwright.so"));
    match lib {
        Some(lib) if lib.is_file() => Ok(lib),
        _ => Err(Error::new(format!(
            "the plugin {} is missing; build it with `make build`, install it with `make install`, or set LOOPWRIGHT_PLUGIN",
            beside.display()
        ))),
    }
}

/// Flags that link the OpenMP runtime of the compiler at `compiler`, only if something needs it.
pub fn openmp_link_flags(compiler: &Path) -> Vec<OsString> {
    let mut flags: Vec<OsString> = Vec::new();
    // `…/llvm-19/bin/clang` has its libraries in `…/llvm-19/lib`; elsewhere the linker's own search has to do.
    let real = compiler.canonicalize().unwrap_or_else(|_| compiler.to_path_buf());
    let folder = real.parent().and_then(Path::parent).map(|prefix| prefix.join("lib"));
    if let Some(folder) = folder.filter(|f| f.join("libomp.so").exists()) {
        let mut search = OsString::from("-L");
        search.push(&folder);
        let mut run = OsString::from("-Wl,-rpath,");
        run.push(&folder);
        flags.extend([search, run]);
    }
    flags.extend(["-Wl,--push-state,--as-needed", "-lomp", "-Wl,--pop-state"].map(OsString::from));
    flags
}

/// A variable of the environment; empty is as good as absent.
fn set(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_are_read_as_the_tools_print_them() {
        assert_eq!(version_of("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"), Some("19.1.7"));
        assert_eq!(version_of("Debian LLVM version 19.1.7\n  Optimized build."), Some("19.1.7"));
        assert_eq!(version_of("flang-new version 20.0.0git"), Some("20.0.0git"));
        assert_eq!(version_of("gcc (Debian) 12.2.0"), None);
    }
}
