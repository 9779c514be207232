//! What each stage of the optimizer shows of a fixture, as text.

use crate::execute;
use crate::fixture::Fixture;
use crate::tools;
use report::{By, CheckKind, Report};
use std::fmt::Write;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The model: context, arrays, domains, schedules, accesses.
    Read,
    /// What each access touches over all loops, as a descriptor.
    Touched,
    /// Why loops were left alone.
    Refuse,
    /// What is assumed and what is checked for it.
    Check,
    /// The new loops.
    Schedule,
    /// The IR that comes out: lines that contain one of the `show:` texts, or all.
    Ir,
    /// Remarks of the compiler: those that `remarks:` asks for, or all.
    Diagnose,
    /// Differential execution, see [`execute`].
    Run,
}

impl Stage {
    pub fn parse(name: &str) -> Result<Stage, String> {
        Ok(match name {
            "read" => Stage::Read,
            "touched" => Stage::Touched,
            "refuse" => Stage::Refuse,
            "check" => Stage::Check,
            "schedule" => Stage::Schedule,
            "ir" => Stage::Ir,
            "diagnose" => Stage::Diagnose,
            "run" => Stage::Run,
            _ => {
                return Err(format!(
                    "unknown stage `{name}`: read, touched, refuse, check, schedule, ir, diagnose or run"
                ));
            }
        })
    }
}

/// Runs the fixture and shows what its stage is about.
pub fn observe(fixture: &Fixture) -> Result<String, String> {
    match fixture.stage {
        Stage::Read => Ok(show_model(&analyze(fixture)?)),
        Stage::Touched => Ok(show_touched(&analyze(fixture)?)),
        Stage::Refuse => Ok(show_refusals(&analyze(fixture)?)),
        Stage::Check => Ok(show_check(&analyze(fixture)?)),
        Stage::Schedule => Ok(show_loops(&analyze(fixture)?)),
        Stage::Ir => ir(fixture),
        Stage::Diagnose => diagnose(fixture),
        Stage::Run => execute::run_fixture(fixture),
    }
}

/// What is said about code that looks like the source does not depend on LLVM's other passes; so that is the usual position.
fn position(fixture: &Fixture) -> &'static [&'static str] {
    if fixture.flags.iter().any(|flag| flag == "--position") { &[] } else { &["--position", "early"] }
}

fn analyze(fixture: &Fixture) -> Result<Report, String> {
    let mut command = Command::new(tools::loopwright()?);
    command.arg("analyze").arg(&fixture.path).arg("--json").args(position(fixture)).args(&fixture.flags);
    command.env_remove("LOOPWRIGHT");
    let output = tools::succeed(&mut command)?;
    Report::from_json(&String::from_utf8_lossy(&output.stdout)).map_err(|e| format!("{}: {e}", tools::shown(&command)))
}

fn show_model(report: &Report) -> String {
    let mut out = String::new();
    for scop in report.functions.iter().flat_map(|f| &f.scops) {
        let modelled = if scop.modelled { "modelled" } else { "modelled in part" };
        let _ = writeln!(out, "{} {modelled}", scop.id);
        let _ = writeln!(out, "context {}", scop.context);
        for array in &scop.arrays {
            let shape: String = array.shape.iter().map(|s| format!("[{s}]")).collect();
            let _ = writeln!(out, "array {} {}{shape} {:?}", array.element, array.name, array.recovered);
        }
        for statement in &scop.statements {
            let _ = writeln!(out, "{} line {}", statement.name, statement.line);
            let _ = writeln!(out, "  domain {}", statement.domain);
            let _ = writeln!(out, "  schedule {}", statement.schedule);
            for access in &statement.accesses {
                let reduction = access.reduction.map(|r| format!(" reduction {r:?}")).unwrap_or_default();
                let scalar = if access.scalar { " scalar" } else { "" };
                let kind = format!("{:?}", access.kind).to_lowercase();
                let _ = writeln!(out, "  {kind}{scalar} {}{reduction}", access.relation);
            }
        }
    }
    nonempty(out, "nothing was modelled")
}

fn show_touched(report: &Report) -> String {
    let mut out = String::new();
    for scop in report.functions.iter().flat_map(|f| &f.scops) {
        let _ = writeln!(out, "{}", scop.id);
        for statement in &scop.statements {
            for access in statement.accesses.iter().filter(|a| !a.scalar) {
                let kind = format!("{:?}", access.kind).to_lowercase();
                let (offset, array) = (&access.offset, &access.array);
                let touched = match &access.lmad {
                    Some(lmad) => {
                        let indices: Vec<&str> = lmad.dims.iter().map(|dim| dim.index.as_str()).collect();
                        let mark = format!("{:?}", lmad.mark).to_lowercase();
                        format!("{} {mark} [{}]", lmad.text(array), indices.join(", "))
                    }
                    None => "no descriptor".into(),
                };
                let _ =
                    writeln!(out, "  {} line {} {kind} {array} at {offset}: {touched}", statement.name, statement.line);
            }
        }
    }
    nonempty(out, "nothing was modelled")
}

fn show_refusals(report: &Report) -> String {
    let mut out = String::new();
    for function in &report.functions {
        for refusal in &function.refusals {
            let _ = writeln!(out, "{} line {}: {}: {}", function.name, refusal.line, refusal.kind, refusal.message);
            let _ = writeln!(out, "  advice: {}", refusal.advice);
        }
    }
    nonempty(out, "nothing was refused")
}

fn show_check(report: &Report) -> String {
    let mut out = String::new();
    for scop in report.functions.iter().flat_map(|f| &f.scops) {
        let _ = writeln!(out, "{}", scop.id);
        for a in &scop.assumptions {
            let arrays = if a.arrays.is_empty() { String::new() } else { format!(" {}", a.arrays.join(", ")) };
            // What is no set is only said in the source's words.
            let valid = if a.valid.ends_with("{  :  }") && !a.requires.is_empty() { &a.requires } else { &a.valid };
            let _ = writeln!(out, "  assumed {:?}{arrays} line {}: {}: {valid}", a.kind, a.line, a.because);
        }
        let _ = writeln!(out, "  check {}", scop.check);
        for term in &scop.check_terms {
            let kind = match term.kind {
                CheckKind::Assumed(kind) => kind.name().to_string(),
                other => format!("{other:?}"),
            };
            let _ = writeln!(out, "  term {kind}: {}", term.text);
        }
        let _ = writeln!(out, "  cost {}", scop.check_cost);
    }
    nonempty(out, "nothing was modelled")
}

fn show_loops(report: &Report) -> String {
    let mut out = String::new();
    for scop in report.functions.iter().flat_map(|f| &f.scops) {
        let new = &scop.transformation;
        if new.by == By::None {
            let _ = writeln!(out, "{} order kept", scop.id);
            continue;
        }
        let flags = [(new.tiled, "tiled"), (new.parallel, "parallel"), (new.vectorized, "vectorized")];
        let flags: Vec<&str> = flags.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        let _ = writeln!(out, "{} {}", scop.id, flags.join(" "));
        for line in new.ast.trim_end().lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    nonempty(out, "nothing was modelled")
}

fn ir(fixture: &Fixture) -> Result<String, String> {
    let mut command = Command::new(tools::loopwright()?);
    command.arg("opt").arg(&fixture.path).args(["-o", "-"]).args(position(fixture)).args(&fixture.flags);
    command.env_remove("LOOPWRIGHT");
    let output = tools::succeed(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let wanted: Vec<&str> = fixture.values("show").collect();
    let shown = text.lines().filter(|line| wanted.is_empty() || wanted.iter().any(|w| line.contains(w)));
    // Paths are those of this machine.
    let shown = shown.filter(|line| !line.starts_with("; ModuleID") && !line.starts_with("source_filename"));
    Ok(nonempty(shown.map(|line| format!("{}\n", line.trim_end())).collect(), "no line shown"))
}

fn diagnose(fixture: &Fixture) -> Result<String, String> {
    let name = fixture.path.file_name().unwrap_or_default();
    let asked: Vec<&str> = fixture.values("remarks").collect();
    let all = ["-Rpass=loopwright", "-Rpass-missed=loopwright", "-Rpass-analysis=loopwright"];
    let mut command = Command::new(tools::loopwright()?);
    command
        .arg(tools::driver(&fixture.path))
        .args(["-O3", "-g", "-c", "-o", "/dev/null"])
        .args(if asked.is_empty() { &all } else { asked.as_slice() })
        .arg("--loopwright=position=early")
        .args(&fixture.flags)
        .arg(name)
        .current_dir(fixture.path.parent().unwrap_or(&fixture.path))
        .env_remove("LOOPWRIGHT");
    let output = tools::succeed(&mut command)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    // Without the source excerpts and carets.
    let remarks = stderr.lines().filter(|line| line.contains(": remark: ")).map(|line| format!("{line}\n"));
    Ok(nonempty(remarks.collect(), "no remark"))
}

fn nonempty(text: String, otherwise: &str) -> String {
    if text.is_empty() { format!("{otherwise}\n") } else { text }
}
