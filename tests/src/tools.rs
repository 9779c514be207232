//! The programs under test and the compilers they sit in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here may take longer; a compiler that hangs is a failure with a name.
const PATIENCE: Duration = Duration::from_secs(120);

/// `loopwright` and the plugin beside it, as built by `make build`.
pub fn loopwright() -> Result<PathBuf, String> {
    // This test runs from `target/release/deps/`.
    let test = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = test.parent().and_then(Path::parent).ok_or("the test has no place")?;
    let program = folder.join("loopwright");
    for file in [&program, &folder.join("libloopwright.so")] {
        if !file.is_file() {
            return Err(format!("{} is missing: run `make build` first", file.display()));
        }
    }
    Ok(program)
}

/// The compiler for a source file, without the plugin.
pub fn compiler(source: &Path) -> &'static str {
    match source.extension().and_then(|e| e.to_str()) {
        Some("cpp" | "cc") => "clang++-19",
        Some("f90" | "f95") => "flang-new-19",
        _ => "clang-19",
    }
}

/// The subcommand of `loopwright` that stands for [`compiler`].
pub fn driver(source: &Path) -> &'static str {
    match compiler(source) {
        "clang++-19" => "c++",
        "flang-new-19" => "fc",
        _ => "cc",
    }
}

/// Runs to the end, or kills after [`PATIENCE`]. An `Err` names the command and what it said.
pub fn succeed(command: &mut Command) -> Result<Output, String> {
    let output = finish(command)?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{}\nended with {}\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Like [`succeed`], but any exit status will do.
pub fn finish(command: &mut Command) -> Result<Output, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", shown(command));
    let folder = tempfile::tempdir().map_err(fail)?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    // Files instead of pipes: a program that prints much cannot block, and one that hangs can be killed.
    let create = |path: &Path| std::fs::File::create(path).map(Stdio::from);
    let (to_out, to_err) = (create(&out).map_err(fail)?, create(&err).map_err(fail)?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(to_out)
        .stderr(to_err)
        .spawn()
        .map_err(|e| format!("{}: {e}", command.get_program().to_string_lossy()))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{}\nwas stopped after {} s", shown(command), PATIENCE.as_secs()));
            }
        }
    };
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    Ok(Output { status, stdout: read(&out), stderr: read(&err) })
}

pub fn shown(command: &Command) -> String {
    let environment = command
        .get_envs()
        .filter_map(|(key, value)| Some(format!("{}={}", key.to_string_lossy(), value?.to_string_lossy())));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    environment.chain(words.map(|word| word.to_string_lossy().into_owned())).collect::<Vec<_>>().join(" ")
}
