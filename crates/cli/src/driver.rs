//! `loopwright cc`, `c++`, `fc`: the compiler itself, with the plugin loaded. Fit for `CC="loopwright cc"`; where a build system wants one
//! program, `loopwright-cc` is the same.

use crate::analyze::joined;
use crate::error::Error;
use crate::options_of_environment;
use crate::toolchain::{self, Tool};
use options::List;
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The compiler that `word` stands for, in `loopwright cc` and in `loopwright-cc`.
pub fn compiler_named(word: &str) -> Option<Tool> {
    match word {
        "cc" => Some(Tool::Clang),
        "c++" => Some(Tool::ClangCxx),
        "fc" => Some(Tool::Flang),
        _ => None,
    }
}

/// Becomes the compiler; returns only when it cannot be started.
pub fn run(tool: Tool, arguments: Vec<OsString>) -> Result<(), Error> {
    let mut options = options_of_environment()?;
    let arguments = take_options(arguments, &mut options)?;
    let compiler = tool.locate()?;
    let mut command = Command::new(&compiler);
    command.args(&arguments);
    let wanted = Wanted::by(&arguments);
    if wanted.optimizes && !options.options().off {
        command.arg(joined("-fpass-plugin=", &toolchain::plugin()?));
    }
    // Objects compiled with threads need the runtime, whatever the flags of the linking step.
    if wanted.links && options.options().parallel {
        command.args(toolchain::openmp_link_flags(&compiler));
    }
    command.env("LOOPWRIGHT", options.to_string());
    let cause = command.exec();
    Err(Error::at(&compiler, "cannot be run", &cause))
}

/// Takes `--loopwright=LIST` out of a command line.
fn take_options(arguments: Vec<OsString>, options: &mut List) -> Result<Vec<OsString>, Error> {
    let mut rest = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match argument.to_str().and_then(|text| text.strip_prefix("--loopwright=")) {
            Some(list) => options.extend(list).map_err(|e| Error::new(format!("in --loopwright: {e}")))?,
            None => rest.push(argument),
        }
    }
    Ok(rest)
}

/// What a compiler's command line asks for, as far as we care.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    /// The last `-O` is there and is not `-O0`.
    optimizes: bool,
    /// There is an input and nothing stops before the linker.
    links: bool,
}

impl Wanted {
    fn by(arguments: &[OsString]) -> Wanted {
        const STOPS: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-emit-ast", "--precompile", "-r"];
        /// Flags whose next word is theirs.
        const TAKES_WORD: &[&str] = &["-o", "-x", "-I", "-L", "-D", "-U", "-isystem", "-include", "-MF", "-MT", "-MQ"];
        let (mut optimizes, mut stops, mut inputs) = (false, false, false);
        let mut words = arguments.iter().map(|a| a.to_string_lossy()).flat_map(in_response_file);
        while let Some(word) = words.next() {
            if TAKES_WORD.contains(&&*word) {
                words.next();
            } else if STOPS.contains(&&*word) {
                stops = true;
            } else if let Some(level) = word.strip_prefix("-O") {
                optimizes = level != "0";
            } else if !word.starts_with('-') || word == "-" || word.starts_with("-l") {
                inputs = true;
            }
        }
        Wanted { optimizes, links: inputs && !stops }
    }
}

/// The words of `@FILE`; the word itself where it is none, or the file cannot be read, of which the compiler will speak.
fn in_response_file(word: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    let file = word.strip_prefix('@').and_then(|file| std::fs::read_to_string(file).ok());
    match file {
        // Quotes matter for names with spaces; here it matters whether there is one.
        Some(text) => text.split_whitespace().map(|w| Cow::Owned(w.trim_matches(['"', '\'']).to_string())).collect(),
        None => vec![word],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str) -> (bool, bool) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let wanted = Wanted::by(&words);
        (wanted.optimizes, wanted.links)
    }

    #[test]
    fn the_last_optimization_level_counts() {
        assert_eq!(wanted("-O3 -c a.c"), (true, false));
        assert_eq!(wanted("-O3 -O0 -c a.c"), (false, false));
        assert_eq!(wanted("-O -c a.c"), (true, false));
        assert_eq!(wanted("-c a.c"), (false, false));
    }

    #[test]
    fn linking_needs_an_input_and_no_earlier_stop() {
        assert_eq!(wanted("a.o -o a"), (false, true));
        assert_eq!(wanted("-O2 a.c -o a"), (true, true));
        assert_eq!(wanted("--version"), (false, false));
        assert_eq!(wanted("-O2 -E a.c"), (true, false));
        assert_eq!(wanted("-O2 -o a -I include"), (true, false));
    }

    #[test]
    fn response_files_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flags");
        std::fs::write(&file, "-O3 \"a b.c\"\n-c").unwrap();
        assert_eq!(wanted(&format!("@{}", file.display())), (true, false));
        assert_eq!(wanted("@none a.o"), (false, true));
    }

    #[test]
    fn our_options_are_taken_out() {
        let mut options = List::default();
        let words = ["-O2", "--loopwright=parallel", "a.c", "--loopwright=tile=16"].map(OsString::from).to_vec();
        let rest = take_options(words, &mut options).unwrap();
        assert_eq!(rest, ["-O2", "a.c"]);
        assert_eq!(options.to_string(), "parallel,tile=16");
    }
}
