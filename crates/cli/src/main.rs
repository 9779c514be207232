//! The command `loopwright`: runs clang, opt or flang with the plugin, and says in plain words what came of it.
//!
//! It links no LLVM: everything that touches IR happens in the compilers' processes.

mod analyze;
mod driver;
mod error;
mod input;
mod manual;
mod opt;
mod render;
mod toolchain;

use clap::{Args, Parser, Subcommand};
use error::Error;
use options::List;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use toolchain::Tool;

#[derive(Parser)]
#[command(
    name = "loopwright",
    version,
    about = "Makes loop nests fast, checks at run time what it could not prove, and explains itself",
    after_help = top_help(),
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Before the list of options.
const EXAMPLES: &str = "\
Examples:
  loopwright analyze matmul.c                      what was understood and done, and why the rest was left alone
  loopwright analyze matmul.c --function kernel    one function only
  loopwright analyze matmul.c --json -- -DN=1024   the same as data, with flags for the compiler
  loopwright opt matmul.c -o matmul.ll             the optimized LLVM IR (also .bc, .s, .o)
  loopwright cc -O3 matmul.c -o matmul             compile and link, as clang does
  make CC='loopwright cc'                          a whole project
  cmake -DCMAKE_C_COMPILER=loopwright-cc …         the same in one word: loopwright-cc, loopwright-c++, loopwright-fc
  make CC='loopwright cc --loopwright=parallel'    with threads

Options of the optimizer, a comma-separated list in --loopwright=LIST (cc, c++, fc) or in the environment variable LOOPWRIGHT:";

/// Behind the list of options.
const SURROUNDINGS: &str = "\
Environment:
  LOOPWRIGHT           options, as above; the command line wins
  LOOPWRIGHT_PLUGIN    the plugin, if libloopwright.so is neither beside this executable nor in ../lib
  LOOPWRIGHT_LLVM      the folder of LLVM 19 (with bin/clang), if clang-19 is not in PATH

Exit status: 0; 2 if the input, the output or the installation is at fault; otherwise that of the compiler (cc, c++, fc).";

fn top_help() -> String {
    format!("{EXAMPLES}\n{}\n{SURROUNDINGS}", options::help())
}

#[derive(Subcommand)]
enum Command {
    /// Explain what would be done with FILE: recovered arrays, assumptions, the check, the new loops, and what was left alone
    #[command(after_help = ANALYZE_HELP)]
    Analyze(AnalyzeArgs),
    /// Optimize FILE and write the result: IR, assembly or an object file
    #[command(after_help = OPT_HELP)]
    Opt(OptArgs),
    /// Compile C as clang-19 does, with loopwright: for CC='loopwright cc'
    #[command(disable_help_flag = true)]
    Cc(DriverArgs),
    /// Compile C++ as clang++-19 does, with loopwright: for CXX='loopwright c++'
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(DriverArgs),
    /// Compile Fortran as flang-new-19 does, with loopwright: for FC='loopwright fc'
    #[command(disable_help_flag = true)]
    Fc(DriverArgs),
    /// Print a script that completes this command's words in a shell
    Completions { shell: clap_complete::Shell },
    /// Write the manual pages into FOLDER, as `make install` does
    Man { folder: PathBuf },
}

const ANALYZE_HELP: &str = "\
FILE is C (.c), C++ (.cpp .cc .cxx), Fortran (.f .for .f90 .F90 …) or LLVM IR (.ll .bc). Source is compiled with -O3 -g up
to the place where loopwright works; IR is taken as it is.

Examples:
  loopwright analyze stencil.c
  loopwright analyze stencil.c --parallel -- -Iinclude -ffast-math
  loopwright analyze stencil.ll --function kernel --json";

const OPT_HELP: &str = "\
OUT ends in .ll or .bc (IR), .s (assembly) or .o (object); `-` is IR text on standard output. It is replaced only when
everything went well. From source, and for .s and .o, all of clang's -O3 runs around loopwright; from IR to IR nothing but
loopwright runs.

Examples:
  loopwright opt stencil.c -o stencil.ll
  loopwright opt stencil.bc -o stencil.o -- -march=native";

/// Choices that `analyze` and `opt` share.
#[derive(Args)]
struct Choices {
    /// Only this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Where in clang's pipeline to work
    #[arg(long, value_parser = ["early", "late"])]
    position: Option<String>,
    /// Run outer loops on several threads
    #[arg(long)]
    parallel: bool,
    /// Further options of the optimizer, see `loopwright --help`
    #[arg(long, value_name = "LIST")]
    loopwright: Option<String>,
    /// Flags for the compiler, after `--`
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<OsString>,
}

impl Choices {
    /// Environment first, command line over it.
    fn options(&self) -> Result<List, Error> {
        let mut list = options_of_environment()?;
        list.extend(self.loopwright.as_deref().unwrap_or_default()).map_err(Error::new)?;
        if let Some(position) = &self.position {
            list.extend(&format!("position={position}")).map_err(Error::new)?;
        }
        if let Some(name) = &self.function {
            list.extend(&format!("function={}", options::quoted(name))).map_err(Error::new)?;
        }
        if self.parallel {
            list.extend("parallel").map_err(Error::new)?;
        }
        Ok(list)
    }
}

fn options_of_environment() -> Result<List, Error> {
    let mut list = List::default();
    if let Some(text) = std::env::var_os("LOOPWRIGHT") {
        let text = text.to_str().ok_or_else(|| Error::new("LOOPWRIGHT is not valid text"))?;
        list.extend(text).map_err(|e| Error::new(format!("in LOOPWRIGHT: {e}")))?;
    }
    Ok(list)
}

#[derive(Args)]
struct AnalyzeArgs {
    file: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choices: Choices,
}

#[derive(Args)]
struct OptArgs {
    file: PathBuf,
    /// Where to write
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    choices: Choices,
}

#[derive(Args)]
struct DriverArgs {
    /// What the compiler is given; --loopwright=LIST is taken out
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    // A driver's command line belongs to the compiler: it is not parsed here, so that `--version` or `-h` reach it.
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    let called = Path::new(&called).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let compiler = called.strip_prefix("loopwright-").and_then(driver::compiler_named);
    let compiler = compiler.or_else(|| driver::compiler_named(words.next()?.to_str()?));
    let outcome = match compiler {
        Some(compiler) => driver::run(compiler, words.collect()),
        None => run(Cli::parse()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("loopwright: error: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// To standard error. Nobody may be there to read it, which is no reason to fail.
fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Analyze(args) => analyze::run(&args),
        Command::Opt(args) => opt::run(&args),
        Command::Cc(args) => driver::run(Tool::Clang, args.arguments),
        Command::Cxx(args) => driver::run(Tool::ClangCxx, args.arguments),
        Command::Fc(args) => driver::run(Tool::Flang, args.arguments),
        Command::Completions { shell } => manual::complete(shell),
        Command::Man { folder } => manual::write(&folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_readme_names_every_command_and_flag() {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
        for command in Cli::command().get_subcommands() {
            assert!(readme.contains(command.get_name()), "README.md says nothing of `{}`", command.get_name());
            for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let known = ["help", "output"].contains(&flag) || readme.contains(&format!("--{flag}"));
                assert!(known, "README.md says nothing of `--{flag}`");
            }
        }
    }
}
