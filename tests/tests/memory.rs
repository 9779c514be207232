//! Checks read nothing that the original does not read, and no value that nobody has written decides anything: by valgrind.

use std::path::Path;
use std::process::Command;
use tests::{cost, tools};

#[test]
fn checks_touch_only_what_the_original_touches() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/run/mapped_exact_memory.c");
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
