//! Input files, and what goes wrong when a compiler reads them.

use crate::error::Error;
use crate::toolchain::Tool;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
    /// LLVM IR, text or bitcode.
    Ir,
}

impl Language {
    pub fn compiler(self) -> Tool {
        match self {
            Language::C | Language::Ir => Tool::Clang,
            Language::Cxx => Tool::ClangCxx,
            Language::Fortran => Tool::Flang,
        }
    }
}

/// A file that exists, can be read, and has a suffix we know.
pub struct Input {
    pub path: PathBuf,
    pub language: Language,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let suffix = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let language = match suffix {
            "c" => Language::C,
            "cpp" | "cc" | "cxx" | "cp" | "c++" | "C" | "CPP" | "CXX" => Language::Cxx,
            // As flang takes them. A capital letter asks for the preprocessor, .f and .for are in fixed form.
            "f" | "for" | "fpp" | "f90" | "f95" | "f03" | "f08" => Language::Fortran,
            "F" | "FOR" | "FPP" | "F90" | "F95" | "F03" | "F08" => Language::Fortran,
            "ll" | "bc" => Language::Ir,
            _ => {
                return Err(Error::new(format!(
                    "{}: the kind of file is not known by its name; expected .c, .cpp, .cc, .f, .for, .f90, .F90, .ll or .bc",
                    path.display()
                )));
            }
        };
        if path.is_dir() {
            return Err(Error::new(format!("{}: is a folder, not a file", path.display())));
        }
        std::fs::File::open(path).map_err(|cause| Error::at(path, "cannot be read", &cause))?;
        // A name such as `-x.c` must not be taken for a flag.
        let path = if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
            Path::new(".").join(path)
        } else {
            path.to_path_buf()
        };
        Ok(Input { path, language })
    }

    /// Turns what the failed compiler said on standard error into one message.
    pub fn explain_failure(&self, tool: &Path, stderr: &str) -> Error {
        let called = format!("{}: ", tool.display());
        let tool = tool.file_name().unwrap_or_default().to_string_lossy();
        let file = self.path.display();
        if let Some((producer, reader)) = producer_and_reader(stderr) {
            return Error::new(format!(
                "{file}: is bitcode of {producer}, which {reader} cannot read; write it with LLVM 19"
            ));
        }
        if self.language == Language::Ir
            && let Some(line) = stderr.lines().find(|line| line.contains("error: "))
        {
            // `opt-19: bad.ll:2:7: error: expected type` loses the tool; the place stays.
            let line = line.strip_prefix(&called).unwrap_or(line);
            let (place, what) = line.split_once("error: ").unwrap_or(("", line));
            // The verifier says what is wrong first, and then that something is.
            let what = if what.contains("module is broken") { stderr.lines().next().unwrap_or(what) } else { what };
            let place = place.trim().trim_end_matches(':');
            let place = if place.is_empty() { file.to_string() } else { place.to_string() };
            let origin =
                self.written_by_other_llvm().map(|v| format!(" (the file was written by {v}, this is LLVM 19)"));
            return Error::new(format!("{place}: not valid LLVM IR: {what}{}", origin.unwrap_or_default()));
        }
        if stderr.trim().is_empty() {
            return Error::new(format!("{file}: {tool} failed without a message"));
        }
        Error::new(format!("{file}: {tool} cannot compile it:\n{}", stderr.trim_end()))
    }

    /// That no function has the name that the user gave is an error here; the plugin, one file of many, warns.
    pub fn complain_of_nobody(&self, stderr: &str) -> Result<(), Error> {
        let warnings = stderr.lines().filter_map(|line| line.strip_prefix("loopwright: warning: "));
        match warnings.filter_map(|text| text.split_once(": there is no function ")).next() {
            Some((_, rest)) => Err(Error::new(format!("{}: there is no function {rest}", self.path.display()))),
            None => Ok(()),
        }
    }

    /// The producer that a `.ll` file names in `!llvm.ident`, unless it is LLVM 19.
    fn written_by_other_llvm(&self) -> Option<String> {
        let text = std::fs::read(&self.path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (before, after) = text.split_once(" version ").filter(|_| text.contains("!llvm.ident"))?;
        let tool = before.rsplit(['"', ' ']).next()?;
        let version: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
        (version.split('.').next() != Some("19")).then(|| format!("{tool} {version}"))
    }
}

/// From `Invalid record (Producer: 'LLVM21.1.0' Reader: 'LLVM 19.1.7')`, when the two differ.
fn producer_and_reader(stderr: &str) -> Option<(&str, &str)> {
    let quoted = |after: &str| -> Option<&str> {
        let (_, rest) = stderr.split_once(after)?;
        rest.strip_prefix('\'')?.split('\'').next()
    };
    let (producer, reader) = (quoted("Producer: ")?, quoted("Reader: ")?);
    let major = |text: &str| text.trim_start_matches("LLVM").trim().split('.').next().map(str::to_string);
    (major(producer) != major(reader)).then_some((producer, reader))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(file: &str, stderr: &str) -> String {
        let language = if file.ends_with(".c") { Language::C } else { Language::Ir };
        Input { path: file.into(), language }.explain_failure(Path::new("/usr/bin/opt-19"), stderr).to_string()
    }

    #[test]
    fn malformed_ir_keeps_its_place() {
        assert_eq!(
            explain("bad.ll", "/usr/bin/opt-19: bad.ll:2:7: error: expected type\n  ret voix\n      ^\n"),
            "bad.ll:2:7: not valid LLVM IR: expected type"
        );
        assert_eq!(
            explain("bad.bc", "/usr/bin/opt-19: bad.bc: error: Invalid bitcode signature\n"),
            "bad.bc: not valid LLVM IR: Invalid bitcode signature"
        );
        assert_eq!(
            explain(
                "bad.ll",
                "Instruction does not dominate all uses!\n  %b\n/usr/bin/opt-19: bad.ll: error: input module is broken!\n"
            ),
            "bad.ll: not valid LLVM IR: Instruction does not dominate all uses!"
        );
    }

    #[test]
    fn bitcode_of_another_version_is_named() {
        assert_eq!(
            explain("new.bc", "opt-19: new.bc: error: Invalid record (Producer: 'LLVM21.1.0' Reader: 'LLVM 19.1.7')\n"),
            "new.bc: is bitcode of LLVM21.1.0, which LLVM 19.1.7 cannot read; write it with LLVM 19"
        );
    }

    #[test]
    fn a_compiler_speaks_for_itself_about_source() {
        assert_eq!(
            explain("a.c", "a.c:1:1: error: unknown type name 'x'\n"),
            "a.c: opt-19 cannot compile it:\na.c:1:1: error: unknown type name 'x'"
        );
    }
}
