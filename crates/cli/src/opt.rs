//! `loopwright opt`: the optimized code in a file, all of it or nothing.

use crate::analyze::{joined, print};
use crate::error::Error;
use crate::input::{Input, Language};
use crate::toolchain::{self, Tool};
use crate::{OptArgs, tell};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Bitcode,
    Assembly,
    Object,
}

enum Destination {
    StandardOutput,
    File { path: PathBuf, folder: PathBuf },
}

pub fn run(args: &OptArgs) -> Result<(), Error> {
    let input = Input::open(&args.file)?;
    let (destination, format) = destination(&args.out)?;
    let plugin = toolchain::plugin()?;
    let options = args.choices.options()?;

    // The compiler works in a folder of its own; OUT appears at the end, in one step.
    let folder = tempfile::Builder::new()
        .prefix("loopwright-")
        .tempdir()
        .map_err(|e| Error::new(format!("cannot create a temporary folder: {e}")))?;
    let made = folder.path().join("out");
    let ir_to_ir = input.language == Language::Ir && matches!(format, Format::Text | Format::Bitcode);
    let (tool, mut command) = if ir_to_ir {
        let tool = Tool::Opt.locate()?;
        let mut command = Command::new(&tool);
        command.arg(joined("-load-pass-plugin=", &plugin)).arg("-passes=loopwright");
        if format == Format::Text {
            command.arg("-S");
        }
        (tool, command)
    } else {
        let tool = input.language.compiler().locate()?;
        let mut command = Command::new(&tool);
        command.arg("-O3").arg(joined("-fpass-plugin=", &plugin));
        command.args(match format {
            Format::Text => ["-S", "-emit-llvm"].as_slice(),
            Format::Bitcode => &["-c", "-emit-llvm"],
            Format::Assembly => &["-S"],
            Format::Object => &["-c"],
        });
        (tool, command)
    };
    command.args(&args.choices.flags).arg("-o").arg(&made).arg(&input.path).env("LOOPWRIGHT", options.to_string());
    let output = command.output().map_err(|e| Error::at(&tool, "cannot be run", &e))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(input.explain_failure(&tool, &stderr));
    }
    input.complain_of_nobody(&stderr)?;
    tell(&stderr);
    deliver(&made, &destination)
}

/// Where OUT goes and in which format, checked before any work is done.
fn destination(out: &Path) -> Result<(Destination, Format), Error> {
    if out == Path::new("-") {
        return Ok((Destination::StandardOutput, Format::Text));
    }
    let format = match out.extension().and_then(|e| e.to_str()).unwrap_or_default() {
        "ll" => Format::Text,
        "bc" => Format::Bitcode,
        "s" => Format::Assembly,
        "o" => Format::Object,
        _ => {
            return Err(Error::new(format!(
                "{}: the output format is not known by the name; expected .ll, .bc, .s or .o",
                out.display()
            )));
        }
    };
    if out.is_dir() {
        return Err(Error::new(format!("{}: cannot be written: it is a folder", out.display())));
    }
    let folder = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    // Creating and removing a file is the one reliable test.
    tempfile::Builder::new()
        .prefix(".loopwright-")
        .tempfile_in(&folder)
        .map_err(|cause| Error::at(out, "cannot be written", &cause))?;
    Ok((Destination::File { path: out.to_path_buf(), folder }, format))
}

fn deliver(made: &Path, destination: &Destination) -> Result<(), Error> {
    let content = std::fs::read(made).map_err(|e| Error::at(made, "cannot be read", &e))?;
    match destination {
        Destination::StandardOutput => print(&String::from_utf8_lossy(&content)),
        Destination::File { path, folder } => {
            let unwritable = |cause: std::io::Error| Error::at(path, "cannot be written", &cause);
            let mut file = tempfile::Builder::new()
                .prefix(".loopwright-")
                .permissions(std::fs::Permissions::from_mode(0o666))
                .tempfile_in(folder)
                .map_err(unwritable)?;
            std::io::Write::write_all(&mut file, &content).map_err(unwritable)?;
            file.persist(path).map_err(|e| unwritable(e.error))?;
            Ok(())
        }
    }
}
