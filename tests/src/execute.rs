//! Differential execution: the plain compiler's program against ours, byte for byte, in several configurations.
//!
//! A fixture of stage `run` is a complete program. Its directives:
//!
//! ```c
//! // args: 100 7          run it with these arguments; several lines are several runs; none is one run without arguments
//! // expect-fast: kernel        in the run above, the check of `kernel` held at least once and never failed
//! // expect-original: kernel    in the run above, it failed at least once and never held
//! // expect-both: kernel        in the run above, it held at least once and failed at least once
//! // expect-fast late: kernel   the same with position=late (the others are about position=early)
//! // also: force,draw=3         compile it with these options too, at both positions
//! // expect-fast anywhere: kernel   in all configurations taken together it held at least once; where it did not, it may be
//! //                                that another configuration asks for more work to do
//! ```
//!
//! `// test: run --loopwright=force -Wno-…` gives options to the optimizer, and flags to it and the plain compiler. The expected
//! text is what the program prints. A failure inside the optimizer is a failure here, though nothing was lost by it.

use crate::fixture::{Directive, Fixture};
use crate::tools;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Where and how the optimizer works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub position: &'static str,
    /// Further options; none is as users have it.
    pub extra: String,
}

const POSITIONS: [&str; 2] = ["early", "late"];

/// As users have it, at both positions.
pub fn sequential() -> Vec<Configuration> {
    with_options("")
}

/// The same, and with threads where users have it: the loops that are found do not depend on them.
pub fn with_threads() -> Vec<Configuration> {
    let threads = Configuration { position: "late", extra: "parallel".to_string() };
    sequential().into_iter().chain([threads]).collect()
}

fn with_options(extra: &str) -> Vec<Configuration> {
    POSITIONS.map(|position| Configuration { position, extra: extra.to_string() }).to_vec()
}

impl Configuration {
    fn options(&self) -> String {
        format!("--loopwright=position={},stats,{}", self.position, self.extra)
    }

    fn name(&self) -> String {
        format!("{} {}", self.position, self.extra).trim_end().to_string()
    }
}

/// How often each side of one check ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    pub function: String,
    pub line: u32,
    pub fast: u64,
    pub original: u64,
}

/// What a run of a program gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub status: ExitStatus,
}

/// A run on which all programs agreed.
pub struct Compared {
    pub outcome: Outcome,
    pub stats: Vec<(Configuration, Vec<Stats>)>,
}

/// One program, compiled plainly and in some configurations.
pub struct Programs {
    folder: tempfile::TempDir,
    configurations: Vec<Configuration>,
}

impl Programs {
    pub fn compile(source: &Path, flags: &[String], configurations: Vec<Configuration>) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let programs = Programs { folder, configurations };
        let last: &[&str] = if tools::compiler(source) == "flang-new-19" { &[] } else { &["-lm"] };
        let for_us = |flag: &&String| flag.starts_with("--loopwright=");
        tools::succeed(
            Command::new(tools::compiler(source))
                .args(["-O3", "-g"])
                .args(flags.iter().filter(|f| !for_us(f)))
                .arg(source)
                .arg("-o")
                .arg(programs.plain())
                .args(last),
        )?;
        for configuration in &programs.configurations {
            let output = tools::succeed(
                Command::new(tools::loopwright()?)
                    .arg(tools::driver(source))
                    .arg(configuration.options())
                    .args(["-O3", "-g"])
                    .args(flags)
                    .arg(source)
                    .arg("-o")
                    .arg(programs.optimized(configuration))
                    .args(last)
                    .env_remove("LOOPWRIGHT"),
            )
            .map_err(|e| format!("{}: {e}", configuration.name()))?;
            let said = String::from_utf8_lossy(&output.stderr);
            if said.lines().any(|line| line.starts_with("loopwright: ")) {
                return Err(format!("{}: {said}", configuration.name()));
            }
        }
        Ok(programs)
    }

    fn plain(&self) -> PathBuf {
        self.folder.path().join("plain")
    }

    fn optimized(&self, configuration: &Configuration) -> PathBuf {
        self.folder.path().join(configuration.name().replace([' ', ',', '='], "-"))
    }

    /// Runs the plain program and all others; an `Err` when one of them does something else. Gives the plain program's
    /// output and the counters of each configuration.
    pub fn compare(&self, arguments: &[&str]) -> Result<Compared, String> {
        let (plain, _) = execute(&self.plain(), arguments)?;
        let mut all = Vec::new();
        for configuration in &self.configurations {
            let (outcome, stderr) = execute(&self.optimized(configuration), arguments)
                .map_err(|e| format!("{}: {e}", configuration.name()))?;
            if outcome != plain {
                return Err(difference(configuration, arguments, &plain, &outcome, &stderr));
            }
            all.push((configuration.clone(), parse_stats(&stderr)));
        }
        Ok(Compared { outcome: plain, stats: all })
    }
}

fn execute(program: &Path, arguments: &[&str]) -> Result<(Outcome, String), String> {
    let output =
        tools::finish(Command::new(program).args(arguments).env("OMP_NUM_THREADS", "3").env_remove("LW_TIME"))?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((Outcome { stdout: output.stdout, status: output.status }, stderr))
}

fn difference(
    configuration: &Configuration,
    arguments: &[&str],
    plain: &Outcome,
    optimized: &Outcome,
    stderr: &str,
) -> String {
    let (old, new) = (String::from_utf8_lossy(&plain.stdout), String::from_utf8_lossy(&optimized.stdout));
    let diff = similar::TextDiff::from_lines(&*old, &*new);
    format!(
        "WRONG RESULT: {} {arguments:?}: {} instead of {}\n{}{stderr}",
        configuration.name(),
        optimized.status,
        plain.status,
        diff.unified_diff().context_radius(2).header("plain", "optimized")
    )
}

/// Lines `loopwright: stats: kernel:12 fast=3 original=0`; without debug information, functions have no line.
pub fn parse_stats(stderr: &str) -> Vec<Stats> {
    let parse = |line: &str| -> Option<Stats> {
        let (place, counters) = line.strip_prefix("loopwright: stats: ")?.split_once(" fast=")?;
        let (function, line) =
            place.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok()).unwrap_or((place, "0"));
        let mut words = counters.split_whitespace();
        let fast = words.next()?.parse().ok()?;
        let original = words.next()?.strip_prefix("original=")?.parse().ok()?;
        Some(Stats { function: function.to_string(), line: line.parse().ok()?, fast, original })
    };
    stderr.lines().filter_map(parse).collect()
}

pub fn run_fixture(fixture: &Fixture) -> Result<String, String> {
    execute_all(&fixture.path, &fixture.flags, &fixture.directives, with_threads())
}

/// Compiles `source`, makes all runs that its directives ask for, and gives what the plain program printed.
pub fn execute_all(
    source: &Path,
    flags: &[String],
    directives: &[Directive],
    mut configurations: Vec<Configuration>,
) -> Result<String, String> {
    let also = directives.iter().filter(|(key, _)| key == "also");
    for configuration in also.flat_map(|(_, options)| with_options(options)) {
        if !configurations.contains(&configuration) {
            configurations.push(configuration);
        }
    }
    let programs = Programs::compile(source, flags, configurations)?;
    let mut text = String::new();
    for run in runs(directives) {
        let arguments: Vec<&str> = run.arguments.split_whitespace().collect();
        let Compared { outcome, stats } = programs.compare(&arguments)?;
        for side in &run.sides {
            if side.position == ANYWHERE {
                let all: Vec<Stats> = stats.iter().flat_map(|(_, stats)| stats.clone()).collect();
                side.holds(&all).map_err(|e| format!("args {:?}, anywhere: {e}", run.arguments))?;
            }
            for (configuration, stats) in stats.iter().filter(|(c, _)| c.position == side.position) {
                side.holds(stats).map_err(|e| format!("args {:?}, {}: {e}", run.arguments, configuration.name()))?;
            }
        }
        if !run.arguments.is_empty() {
            text.push_str(&format!("$ {}\n", run.arguments));
        }
        text.push_str(&String::from_utf8_lossy(&outcome.stdout));
        if !outcome.status.success() {
            text.push_str(&format!("{}\n", outcome.status));
        }
    }
    Ok(text)
}

struct Run<'a> {
    arguments: &'a str,
    sides: Vec<Side<'a>>,
}

/// The position of a side that stands for all configurations together.
const ANYWHERE: &str = "anywhere";

/// Which side of a function's checks must have run.
struct Side<'a> {
    fast: bool,
    original: bool,
    position: &'a str,
    function: &'a str,
}

impl Side<'_> {
    fn holds(&self, stats: &[Stats]) -> Result<(), String> {
        let mine: Vec<&Stats> = stats.iter().filter(|s| s.function == self.function).collect();
        let fast: u64 = mine.iter().map(|s| s.fast).sum();
        let original: u64 = mine.iter().map(|s| s.original).sum();
        // What new code is for depends on the configuration.
        let may_fail = self.position == ANYWHERE && !self.original;
        if (fast > 0, original > 0 && !may_fail) == (self.fast, self.original) {
            return Ok(());
        }
        let side = match (self.fast, self.original) {
            (true, true) => "fast path and the original",
            (true, false) => "fast path",
            _ => "original",
        };
        if mine.is_empty() {
            return Err(format!(
                "`{}` was to take the {side}, but it has no check: it was not transformed",
                self.function
            ));
        }
        Err(format!("`{}` was to take the {side}, but fast={fast} original={original}", self.function))
    }
}

fn runs(directives: &[Directive]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run> = Vec::new();
    for (key, value) in directives {
        let (side, position) = key.split_once(' ').unwrap_or((key, "early"));
        match side {
            "args" => runs.push(Run { arguments: value, sides: Vec::new() }),
            "expect-fast" | "expect-original" | "expect-both" => {
                if runs.is_empty() {
                    runs.push(Run { arguments: "", sides: Vec::new() });
                }
                let (fast, original) = (side != "expect-original", side != "expect-fast");
                let sides = &mut runs.last_mut().expect("one was just added").sides;
                sides.extend(value.split_whitespace().map(|function| Side { fast, original, position, function }));
            }
            _ => {}
        }
    }
    if runs.is_empty() {
        runs.push(Run { arguments: "", sides: Vec::new() });
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_among_other_lines() {
        let stats = parse_stats("hello\nloopwright: stats: kernel:12 fast=3 original=0\nloopwright: stats: broken\n");
        assert_eq!(stats, [Stats { function: "kernel".into(), line: 12, fast: 3, original: 0 }]);
    }

    #[test]
    fn a_side_must_have_run_and_the_other_not() {
        let stats = |fast, original| [Stats { function: "f".into(), line: 1, fast, original }];
        let fast = Side { fast: true, original: false, position: "early", function: "f" };
        assert!(fast.holds(&stats(1, 0)).is_ok());
        assert!(fast.holds(&stats(1, 1)).is_err());
        assert!(fast.holds(&stats(0, 0)).is_err());
        assert!(fast.holds(&[]).is_err());
        let both = Side { original: true, ..fast };
        assert!(both.holds(&stats(1, 1)).is_ok());
        assert!(both.holds(&stats(1, 0)).is_err());
    }
}
