//! `loopwright analyze`: compile up to our place in the pipeline, throw the code away, keep the report.

use crate::error::Error;
use crate::input::{Input, Language};
use crate::render::render;
use crate::toolchain::{self, Tool};
use crate::{AnalyzeArgs, Choices, tell};
use report::Report;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Command;

pub fn run(args: &AnalyzeArgs) -> Result<(), Error> {
    let input = Input::open(&args.file)?;
    let report = inspect(&input, &args.choices)?;
    let text = if args.json { report.to_json() } else { render(&report, &args.file.display().to_string()) };
    print(&text)
}

/// The report on `input`.
fn inspect(input: &Input, choices: &Choices) -> Result<Report, Error> {
    let plugin = toolchain::plugin()?;
    let folder = tempfile::Builder::new()
        .prefix("loopwright-")
        .tempdir()
        .map_err(|e| Error::new(format!("cannot create a temporary folder: {e}")))?;
    let Some(folder_text) = folder.path().to_str() else {
        return Err(Error::new("the temporary folder's name is not text; set TMPDIR to another one"));
    };
    let mut options = choices.options()?;
    options.extend(&format!("analyze,report={}", options::quoted(folder_text))).map_err(Error::new)?;
    let (tool, mut command) = match input.language {
        Language::Ir => {
            let tool = Tool::Opt.locate()?;
            let mut command = Command::new(&tool);
            command.arg(joined("-load-pass-plugin=", &plugin)).args(["-passes=loopwright", "-disable-output"]);
            (tool, command)
        }
        source => {
            let tool = source.compiler().locate()?;
            let mut command = Command::new(&tool);
            command.args(["-O3", "-g"]).arg(joined("-fpass-plugin=", &plugin)).args(["-c", "-o", "/dev/null"]);
            (tool, command)
        }
    };
    command.args(&choices.flags).arg(&input.path).env("LOOPWRIGHT", options.to_string());
    let output = command.output().map_err(|e| Error::at(&tool, "cannot be run", &e))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(input.explain_failure(&tool, &stderr));
    }
    input.complain_of_nobody(&stderr)?;
    // Warnings of the compiler are the user's business.
    tell(&stderr);
    read_report(folder.path(), &input.path)
}

pub fn joined(flag: &str, path: &Path) -> OsString {
    let mut text = OsString::from(flag);
    text.push(path);
    text
}

/// A reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

fn read_report(folder: &Path, file: &Path) -> Result<Report, Error> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map_err(|e| Error::at(folder, "cannot be read", &e))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let mut whole: Option<Report> = None;
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| Error::at(&path, "cannot be read", &e))?;
        let part = Report::from_json(&text)
            .map_err(|e| Error::new(format!("{}: the plugin's report is not understood: {e}", file.display())))?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                whole.functions.extend(part.functions);
                whole.count();
            }
        }
    }
    whole.ok_or_else(|| {
        Error::new(format!(
            "{}: the plugin did not run, so there is no report; the flags after `--` or LOOPWRIGHT turn it off",
            file.display()
        ))
    })
}
