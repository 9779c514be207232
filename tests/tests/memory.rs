//! Checks and new code touch nothing that the original does not touch, and no value that nobody has written decides anything.

use std::path::{Path, PathBuf};
use std::process::Command;
use tests::execute::{execute_all, sequential};
use tests::fixture::Fixture;
use tests::{cost, tools};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/run").join(name)
}

#[test]
fn checks_touch_only_what_the_original_touches() {
    let source = fixture("mapped_exact_memory.c");
    let folder = tempfile::tempdir().unwrap();
    for options in ["off", "position=late,force", "position=early,force"] {
        let program = cost::compile(&source, options, folder.path()).unwrap();
        for arguments in [["30", "40"], ["30", "0"], ["0", "40"], ["-1", "0"]] {
            let mut command = Command::new("valgrind");
            command.args(["--quiet", "--error-exitcode=9"]).arg(&program).args(arguments);
            if let Err(error) = tools::succeed(&mut command) {
                panic!("{options}: {error}");
            }
        }
    }
}

/// The sanitizer works behind us, on what we have written; each run takes the side that it is to take.
#[test]
fn the_address_sanitizer_finds_nothing() {
    let fixtures = [
        "mapped_bounds_in_memory.c",
        "mapped_matrix_behind_pointer.c",
        "mapped_null_behind_condition.c",
        "mapped_null_behind_later_check.c",
        "mapped_rows_behind_pointers.c",
        "mapped_sum_beside_its_element.c",
        "mapped_unsigned_rows.c",
        "mapped_zeroed_matrix.c",
    ];
    for name in fixtures {
        let Fixture { path, mut flags, directives, .. } = Fixture::read(&fixture(name)).unwrap();
        flags.push("-fsanitize=address".into());
        if let Err(error) = execute_all(&path, &flags, &directives, sequential()) {
            panic!("{name}: {error}");
        }
    }
}
