//! The pipeline over a module, and the report on it.

mod allowance;
mod contain;
mod decide;
mod describe;
mod pipeline;
mod remark;
mod trace;
mod which;

pub use options::{Options, Position};
pub use report;

use allowance::Allowance;
use llvm::{Backup, FunctionHandle, ModuleHandle};
use model::refusal::{Refusal, RefusalKind};
use model::source::Line;
use pipeline::{Optimized, optimize_function};
use planted::Fault;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use which::{Called, meant};

/// Optimizes all functions that the options name; whether any was changed.
///
/// Ensures: a function in which anything went wrong is as it was.
pub fn run_on_module(module: ModuleHandle<'_>, options: &Options) -> bool {
    if options.off {
        return false;
    }
    let outcome = contain::on_large_stack(move || {
        let source = source_of(&module);
        let mut changed = false;
        let mut all = module.functions();
        let wanted = wanted(&all, &source, options);
        let mut allowance = allowance(&all, options);
        let mut functions: Vec<report::Function> = all.iter().map(|f| Optimized::untouched(f).report).collect();
        for index in by_promise(&all, wanted.as_deref()) {
            let function = &mut all[index];
            let optimized = attempt(function, options, &mut allowance);
            // Nobody asks about it again.
            function.forget_analyses();
            changed |= optimized.changed;
            functions[index] = optimized.report;
        }
        if options.trace {
            tell(&trace::finish(&source, &allowance));
        }
        if let Some(folder) = &options.report {
            write_report(folder, &report::Report::new(source, functions));
        }
        changed
    });
    outcome.unwrap_or_else(|reason| {
        tell(&format!("loopwright: {reason}: the original code is kept"));
        false
    })
}

/// The source file. flang calls every module `FIRModule`; without debug information, which would tell, the compiler's command line ends in
/// the file.
fn source_of(module: &ModuleHandle<'_>) -> String {
    const NAMELESS: &str = "FIRModule";
    let name = module.source_file();
    if name != NAMELESS {
        return name;
    }
    let on_command_line =
        || std::env::args_os().next_back()?.into_string().ok().filter(|file| Path::new(file).is_file());
    module.compiled_file().or_else(on_command_line).unwrap_or(name)
}

/// The functions that the option `function` names, by number; without the option, all of them.
fn wanted(all: &[FunctionHandle<'_>], source: &str, options: &Options) -> Option<Vec<usize>> {
    let name = options.function.as_ref()?;
    let known: Vec<Called> = all.iter().map(|f| Called { symbol: f.name(), source_name: f.source_name() }).collect();
    Some(meant(name, &known).unwrap_or_else(|nobody| {
        tell(&format!("loopwright: warning: {source}: {nobody}"));
        Vec::new()
    }))
}

/// Whoever tests the optimizer wants to see what it can do.
fn allowance(all: &[FunctionHandle<'_>], options: &Options) -> Allowance {
    if options.force || options.verify {
        return Allowance::without_limit();
    }
    Allowance::for_instructions(all.iter().map(FunctionHandle::instruction_count).sum())
}

/// The wanted functions that have loops, the most promising ones first: those that run often, and those with many loops inside each other.
fn by_promise(all: &[FunctionHandle<'_>], wanted: Option<&[usize]>) -> Vec<usize> {
    let is_wanted = |index: &usize| wanted.is_none_or(|w| w.contains(index));
    let promises = (0..all.len()).filter(is_wanted).map(|index| (promise(&all[index]), index));
    let mut promises: Vec<_> = promises.filter(|((_, depth), _)| *depth > 0).collect();
    promises.sort_by_key(|(promise, _)| std::cmp::Reverse(*promise));
    promises.into_iter().map(|(_, index)| index).collect()
}

/// Of functions that nobody profiled it is not known how often they run: rarely entered ones come behind them.
fn promise(function: &FunctionHandle<'_>) -> (u64, u32) {
    (function.entry_count().unwrap_or(1), function.loop_depth())
}

/// Tries one function, on a copy where it has to be brought into form first.
fn attempt(function: &mut FunctionHandle<'_>, options: &Options, allowance: &mut Allowance) -> Optimized {
    let in_form = !options.canonicalize || function.must_not_be_touched();
    let original = if in_form { None } else { Backup::original(function) };
    let outcome = contain::contained(|| {
        if original.is_some() {
            function.canonicalize();
        }
        optimize_function(function, options, allowance)
    });
    match outcome {
        Ok(optimized) => {
            if let Some(original) = original.filter(|_| optimized.changed || planted::is(Fault::CanonicalFormKept)) {
                original.discard();
            }
            optimized
        }
        Err(message) => {
            tell_of_failure(&function.source_name(), &message);
            let mut optimized = Optimized::untouched(function);
            let refusal = Refusal::new(RefusalKind::InternalError, Line::UNKNOWN, message);
            optimized.report.refusals.push(describe::describe_refusal(&refusal, &[]));
            optimized
        }
    }
}

/// One file per module; its name tells files of one name in several folders apart, and modules that do not know their file.
fn write_report(folder: &Path, report: &report::Report) {
    let text = report.to_json();
    let mut hasher = DefaultHasher::new();
    match std::path::absolute(&report.module) {
        Ok(path) if path.is_file() => path.hash(&mut hasher),
        _ => report.functions.iter().for_each(|f| f.name.hash(&mut hasher)),
    }
    let stem: String =
        report.module.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    let path = folder.join(format!("{stem}-{:016x}.json", hasher.finish()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    if let Err(error) = written {
        tell(&format!("loopwright: warning: cannot write the report `{}`: {error}", path.display()));
    }
}

fn tell_of_failure(function: &str, message: &str) {
    tell(&format!("loopwright: internal error in function `{function}` ({message}): the original code is kept"));
}

/// A line on standard error. Nobody may be there to read it, which is no reason to fail.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// `fault=STAGE` asks for a failure in that stage; `fault=order` for a wrong order, which is to be refused.
fn fail_on_purpose(options: &Options, stage: &str) {
    assert!(options.fault.as_deref() != Some(stage), "told to fail in the stage `{stage}`");
}
