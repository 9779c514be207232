//! Every kernel program, plain against optimized: early and late, every third on several threads as well (all with `ALL=1` in
//! the environment). Outputs are equal byte for byte.
//!
//! A kernel may ask for compiler flags with a comment `flags: …`, and steer its runs as fixtures of stage `run` do.

use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::process::ExitCode;
use tests::execute::{self, Configuration, execute_all};
use tests::fixture::{comment_marker, directives};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let all = std::env::var_os("ALL").is_some_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let trials = tests::files_below(&folder, &["c", "cpp", "f90"])
        .into_iter()
        .enumerate()
        .map(|(ordinal, path)| {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            let configurations = if all || ordinal % 3 == 0 { execute::with_threads() } else { execute::sequential() };
            Trial::test(name, move || differential(&path, configurations).map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn differential(path: &Path, configurations: Vec<Configuration>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let directives = directives(&text, comment_marker(path));
    let flags = directives.iter().filter(|(key, _)| key == "flags").flat_map(|(_, value)| value.split_whitespace());
    // Fortran has sizes to choose by preprocessor, too.
    let preprocess = path.extension().is_some_and(|e| e == "f90").then_some("-cpp");
    let flags: Vec<String> = preprocess.into_iter().chain(flags).map(str::to_string).collect();
    let printed = execute_all(path, &flags, &directives, configurations)?;
    if printed.is_empty() {
        return Err("the program prints nothing, so nothing was compared".to_string());
    }
    Ok(())
}
