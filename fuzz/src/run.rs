//! Programs built in two ways and compared.

use crate::case::Case;
use crate::print;
use planted::Fault;
use report::Report;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const COMPILER: &str = "clang-19";

/// How long things may take, in processor time: the machine may be busy. A compiler that hangs is a failure.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub compile: Duration,
    pub run: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { compile: Duration::from_secs(60), run: Duration::from_secs(20) }
    }
}

/// One way to compile the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The plain compiler with these flags.
    Plain(Vec<String>),
    Optimized {
        plugin: PathBuf,
        /// As in the environment variable `LOOPWRIGHT`.
        options: String,
        /// Planted in the optimizer; the plugin must have been built for it.
        fault: Option<Fault>,
    },
}

impl Variant {
    /// With a number for each `#`.
    pub fn numbered(&self, number: usize) -> Variant {
        match self {
            Variant::Plain(_) => self.clone(),
            Variant::Optimized { plugin, options, fault } => Variant::Optimized {
                plugin: plugin.clone(),
                options: options.replace('#', &number.to_string()),
                fault: *fault,
            },
        }
    }

    /// The same with this fault in the optimizer.
    pub fn planted(&self, planted: Fault) -> Variant {
        let mut variant = self.clone();
        if let Variant::Optimized { fault, .. } = &mut variant {
            *fault = Some(planted);
        }
        variant
    }

    pub fn parallel(&self) -> bool {
        matches!(self, Variant::Optimized { options, .. } if options.split(',').any(|o| o == "parallel"))
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Variant::Plain(flags) => write!(f, "{COMPILER} {}", flags.join(" ")),
            Variant::Optimized { plugin, options, fault } => {
                if let Some(fault) = fault {
                    write!(f, "LOOPWRIGHT_PLANT={} ", fault.name())?;
                }
                write!(f, "LOOPWRIGHT={options} {COMPILER} -O3 -fpass-plugin={}", plugin.display())
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum Failure {
    /// The compiler ended with an error, or complained.
    Compiler(String),
    CompilerTime(Duration),
    /// The program was killed or ended with an error in the call after the last one it reported.
    Program(usize, String),
    /// These kernels computed something else.
    Differs(BTreeSet<usize>),
    /// The optimizer says that it failed, and left the loop as it was; or its checker found the new order wrong.
    Internal(BTreeSet<usize>, Said),
    /// Not about the optimizer: no compiler, no disk, a plain program that fails.
    Harness(String),
}

impl Failure {
    /// Reduction keeps to one kind: a wrong result must not turn into a time-out.
    pub fn is_like(&self, other: &Failure) -> bool {
        match (self, other) {
            (Failure::Internal(_, a), Failure::Internal(_, b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// The kernels to blame, if that is known.
    pub fn suspects(&self) -> Option<Vec<usize>> {
        match self {
            Failure::Differs(all) | Failure::Internal(all, _) => Some(all.iter().copied().collect()),
            Failure::Program(one, _) => Some(vec![*one]),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Compiler(said) => write!(f, "the compiler {said}"),
            Failure::CompilerTime(time) => write!(f, "the compiler was stopped after {} s", time.as_secs()),
            Failure::Program(kernel, said) => write!(f, "the program failed in k{kernel}: {said}"),
            Failure::Differs(kernels) => {
                let names: Vec<String> = kernels.iter().map(|k| format!("k{k}")).collect();
                write!(f, "wrong result: {}", names.join(", "))
            }
            Failure::Internal(_, said) => f.write_str(&said.message),
            Failure::Harness(said) => write!(f, "{said}"),
        }
    }
}

/// What the optimizer did with kernels, and which side of its checks ran.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub modelled: BTreeSet<usize>,
    pub transformed: BTreeSet<usize>,
    pub ran_fast: BTreeSet<usize>,
    pub ran_original: BTreeSet<usize>,
    pub fast: u64,
    pub original: u64,
    pub refusals: BTreeMap<String, u64>,
    /// Failures of the optimizer in its own words, and the kernels they are about.
    pub internal: BTreeMap<Said, BTreeSet<usize>>,
}

/// A refusal that means a bug. What differs from kernel to kernel is not part of the message: numbers of values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    pub kind: String,
    pub message: String,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.modelled.extend(&other.modelled);
        self.transformed.extend(&other.transformed);
        self.ran_fast.extend(&other.ran_fast);
        self.ran_original.extend(&other.ran_original);
        self.fast += other.fast;
        self.original += other.original;
        for (kind, count) in &other.refusals {
            *self.refusals.entry(kind.clone()).or_default() += count;
        }
        for (said, kernels) in &other.internal {
            self.internal.entry(said.clone()).or_default().extend(kernels);
        }
    }

    /// Lines `loopwright: stats: k7:12 fast=3 original=0`.
    fn count(&mut self, stderr: &str) {
        for line in stderr.lines() {
            let parse = || -> Option<(usize, u64, u64)> {
                let mut words = line.strip_prefix("loopwright: stats: ")?.split_whitespace();
                let kernel = number(words.next()?.split(':').next()?)?;
                let fast = words.next()?.strip_prefix("fast=")?.parse().ok()?;
                let original = words.next()?.strip_prefix("original=")?.parse().ok()?;
                Some((kernel, fast, original))
            };
            if let Some((kernel, fast, original)) = parse() {
                self.transformed.insert(kernel);
                self.fast += fast;
                self.original += original;
                if fast > 0 {
                    self.ran_fast.insert(kernel);
                }
                if original > 0 {
                    self.ran_original.insert(kernel);
                }
            }
        }
    }

    fn read_reports(&mut self, folder: &Path) {
        let Ok(files) = std::fs::read_dir(folder) else { return };
        for file in files.flatten() {
            let Some(report) = std::fs::read_to_string(file.path()).ok().and_then(|t| Report::from_json(&t).ok())
            else {
                continue;
            };
            for function in report.functions {
                let kernel: Option<usize> = number(&function.name);
                if function.scops.iter().any(|s| s.modelled) {
                    self.modelled.extend(kernel);
                }
                for refusal in function.refusals {
                    if [INTERNAL, UNSOUND].contains(&refusal.kind.as_str()) {
                        let said = Said { kind: refusal.kind.clone(), message: without_digits(&refusal.message) };
                        self.internal.entry(said).or_default().extend(kernel);
                    }
                    *self.refusals.entry(refusal.kind).or_default() += 1;
                }
            }
        }
    }
}

/// The kernel that a function belongs to: its own, or the caller that knows some of its arguments.
fn number(function: &str) -> Option<usize> {
    function.strip_prefix(['k', 'w'])?.parse().ok()
}

fn without_digits(text: &str) -> String {
    let first = text.lines().next().unwrap_or("");
    let mut out = String::new();
    for c in first.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// The kinds of refusals that mean a bug: the optimizer could not go on; the independent checker found a wrong result.
const INTERNAL: &str = "InternalError";
pub const UNSOUND: &str = "Unsound";

/// Some kernels as one program: its source, the compiled driver, and what the reference prints.
pub struct Program {
    folder: tempfile::TempDir,
    expected: Vec<u8>,
    patience: Patience,
    /// Object files that were seen to print it.
    passed: RefCell<HashSet<Vec<u8>>>,
}

impl Program {
    pub fn new(kernels: &[Case], reference: &Variant, patience: Patience) -> Result<Program, Failure> {
        let harness = |e: std::io::Error| Failure::Harness(e.to_string());
        let folder = tempfile::tempdir().map_err(harness)?;
        std::fs::write(folder.path().join("program.c"), print::program(kernels)).map_err(harness)?;
        let mut program = Program { folder, expected: Vec::new(), patience, passed: RefCell::default() };
        program.object("driver", &["-DLW_DRIVER", "-O0"], reference, None)?;
        let ran = program.compile(reference).and_then(|_| program.link_and_run(reference));
        let run = ran.map_err(|e| Failure::Harness(format!("{reference}: {e}")))?;
        if !run.succeeded() {
            return Err(Failure::Harness(format!("{reference}: the plain program {}", run.end())));
        }
        program.expected = run.stdout;
        Ok(program)
    }

    /// The program built as the variant says prints what the reference printed.
    pub fn compare(&self, variant: &Variant) -> (Tally, Option<Failure>) {
        let compared = || -> Result<(Tally, Option<Failure>), Failure> {
            let mut tally = self.compile(variant)?;
            let code = std::fs::read(self.path("kernels.o")).map_err(|e| Failure::Harness(e.to_string()))?;
            if self.passed.borrow().contains(&code) {
                return Ok((tally, None));
            }
            let run = self.link_and_run(variant)?;
            tally.count(&run.stderr);
            let difference = self.difference(&run);
            if difference.is_none() {
                self.passed.borrow_mut().insert(code);
            }
            Ok((tally, difference))
        };
        compared().unwrap_or_else(|failure| (Tally::default(), Some(failure)))
    }

    fn difference(&self, run: &Finished) -> Option<Failure> {
        let (old, new) = (lines(&self.expected), lines(&run.stdout));
        let named = |line: &String| -> Option<usize> { line.strip_prefix('k')?.split(' ').next()?.parse().ok() };
        let differing: BTreeSet<usize> =
            old.iter().zip(&new).filter(|(a, b)| a != b).filter_map(|(a, _)| named(a)).collect();
        if !differing.is_empty() {
            return Some(Failure::Differs(differing));
        }
        if new.len() < old.len() || !run.succeeded() {
            let next = old.get(new.len()).or(old.last()).and_then(named).unwrap_or(0);
            return Some(Failure::Program(next, format!("it {}", run.end())));
        }
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Gives what the compiler said on the way.
    fn object(&self, name: &str, flags: &[&str], variant: &Variant, options: Option<&str>) -> Result<String, Failure> {
        let mut command = Command::new(COMPILER);
        command
            .args(["-w", "-c"])
            .args(flags)
            .arg(self.path("program.c"))
            .arg("-o")
            .arg(self.path(&format!("{name}.o")));
        command.env_remove("LOOPWRIGHT").env_remove("LOOPWRIGHT_PLANT");
        if let Variant::Optimized { fault: Some(fault), .. } = variant {
            command.env("LOOPWRIGHT_PLANT", fault.name());
        }
        if let Some(options) = options {
            command.env("LOOPWRIGHT", options);
        }
        let output = finish(&mut command, self.patience.compile).map_err(Failure::Harness)?;
        // What the optimizer says is in its report, too.
        match output.status {
            None => Err(Failure::CompilerTime(self.patience.compile)),
            Some(_)
                if output.succeeded() && (output.stderr.is_empty() || output.stderr.starts_with("loopwright: ")) =>
            {
                Ok(output.stderr)
            }
            Some(_) => Err(Failure::Compiler(output.end())),
        }
    }

    /// The kernels become an object file.
    fn compile(&self, variant: &Variant) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        match variant {
            Variant::Plain(flags) => {
                let mut all = vec!["-DLW_KERNELS"];
                all.extend(flags.iter().map(String::as_str));
                self.object("kernels", &all, variant, None)?;
            }
            Variant::Optimized { plugin, options, .. } => {
                let plugin = format!("-fpass-plugin={}", plugin.display());
                let reports = self.path("reports");
                let _ = std::fs::remove_dir_all(&reports);
                std::fs::create_dir(&reports).map_err(|e| Failure::Harness(e.to_string()))?;
                let options = format!("{options},stats,report={}", reports.display());
                let said = self.object("kernels", &["-DLW_KERNELS", "-O3", &plugin], variant, Some(&options))?;
                tally.read_reports(&reports);
                if !said.is_empty() && tally.internal.is_empty() {
                    return Err(Failure::Compiler(head(&said)));
                }
            }
        }
        Ok(tally)
    }

    fn link_and_run(&self, variant: &Variant) -> Result<Finished, Failure> {
        let program = self.path("program");
        let mut link = Command::new(COMPILER);
        link.args([self.path("kernels.o"), self.path("driver.o")]).arg("-o").arg(&program).arg("-lm");
        if let Variant::Plain(flags) = variant {
            link.args(flags.iter().filter(|f| f.starts_with("-fsanitize")));
        }
        if variant.parallel() {
            let folder = library_folder()?;
            link.arg(format!("-L{folder}")).arg(format!("-Wl,-rpath,{folder}")).arg("-lomp");
        }
        let linked = finish(&mut link, self.patience.compile).map_err(Failure::Harness)?;
        if !linked.succeeded() {
            return Err(Failure::Compiler(format!("linking: {}", linked.end())));
        }
        let mut run = Command::new(&program);
        run.env("OMP_NUM_THREADS", "3");
        finish(&mut run, self.patience.run).map_err(Failure::Harness)
    }
}

fn lines(text: &[u8]) -> Vec<String> {
    // Without the rest of a line that was being written during a crash.
    let whole = text.iter().rposition(|c| *c == b'\n').map_or(0, |k| k + 1);
    String::from_utf8_lossy(&text[..whole]).lines().map(str::to_string).collect()
}

/// Where the OpenMP runtime is.
fn library_folder() -> Result<String, Failure> {
    let output = Command::new("llvm-config-19").arg("--libdir").output();
    let output = output.map_err(|e| Failure::Harness(format!("llvm-config-19: {e}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

struct Finished {
    /// `None` if it had to be stopped.
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Finished {
    fn succeeded(&self) -> bool {
        self.status.is_some_and(|s| s.success())
    }

    fn end(&self) -> String {
        match self.status {
            Some(status) => format!("ended with {status}\n{}", head(&self.stderr)),
            None => "took too long".into(),
        }
    }
}

/// The first lines of a complaint: the rest is stack traces.
fn head(text: &str) -> String {
    text.lines().filter(|l| !l.trim().is_empty()).take(12).collect::<Vec<_>>().join("\n")
}

fn finish(command: &mut Command, patience: Duration) -> Result<Finished, String> {
    let fail = |e: std::io::Error| e.to_string();
    // Files instead of pipes: a program that prints much cannot block, and one that hangs can be killed.
    let folder = tempfile::tempdir().map_err(fail)?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let create = |path: &Path| std::fs::File::create(path).map(Stdio::from).map_err(fail);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        .spawn()
        .map_err(|e| format!("{}: {e}", command.get_program().to_string_lossy()))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(fail)? {
            Some(status) => break Some(status),
            None if start.elapsed() < patience => std::thread::sleep(Duration::from_millis(4)),
            None if start.elapsed() < 20 * patience && processor_time(child.id()).is_some_and(|t| t < patience) => {
                std::thread::sleep(Duration::from_millis(100));
            }
            None => {
                child.kill().map_err(fail)?;
                child.wait().map_err(fail)?;
                break None;
            }
        }
    };
    let stderr = String::from_utf8_lossy(&std::fs::read(&err).map_err(fail)?).into_owned();
    Ok(Finished { status, stdout: std::fs::read(&out).map_err(fail)?, stderr })
}

/// What a running process has used so far, where the system tells.
fn processor_time(process: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain spaces; user and system time are the fields 14 and 15.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_among_other_lines() {
        let mut tally = Tally::default();
        tally.count("hello\nloopwright: stats: k7:12 fast=3 original=0\nloopwright: stats: k7:20 fast=0 original=2\n");
        assert_eq!((tally.fast, tally.original), (3, 2));
        assert_eq!(tally.transformed, BTreeSet::from([7]));
    }

    #[test]
    fn failures_of_one_kind_are_one() {
        let mut tally = Tally::default();
        let refusal = |message: &str| report::Refusal {
            kind: UNSOUND.into(),
            file: String::new(),
            line: 3,
            message: message.into(),
            advice: String::new(),
        };
        let function = |name: &str, message: &str| report::Function {
            name: name.into(),
            source_name: name.into(),
            scops: vec![],
            refusals: vec![refusal(message)],
        };
        let folder = tempfile::tempdir().unwrap();
        let report = Report::new("a.c", vec![function("k2", "bad %104\n  more"), function("k9", "bad %7")]);
        std::fs::write(folder.path().join("a.json"), report.to_json()).unwrap();
        tally.read_reports(folder.path());
        let said = Said { kind: UNSOUND.into(), message: "bad %#".into() };
        assert_eq!(tally.internal, BTreeMap::from([(said, BTreeSet::from([2, 9]))]));
    }

    #[test]
    fn a_line_cut_short_by_a_crash_does_not_count() {
        assert_eq!(lines(b"k1 set 0: 12\nk1 se"), ["k1 set 0: 12"]);
    }
}
