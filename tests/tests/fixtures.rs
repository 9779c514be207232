//! Every file in `fixtures/` is a test named after its path: `refuse/refused_call.c`. A filter is any part of it.

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let folder = tests::fixtures_folder();
    let trials = tests::files_below(&folder, tests::SUFFIXES)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            Trial::test(name, move || tests::check(&path, bless).map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
