//! The pipeline over a module, and the report on it.

mod contain;
mod decide;
mod describe;
mod pipeline;
mod remark;

pub use options::{Options, Position};
pub use report;

use llvm::{Backup, FunctionHandle, ModuleHandle};
use model::refusal::{Refusal, RefusalKind};
use pipeline::{Optimized, optimize_function};
use planted::Fault;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Optimizes all functions that the options name; whether any was changed.
///
/// Ensures: a function in which anything went wrong is as it was.
pub fn run_on_module(module: ModuleHandle<'_>, options: &Options) -> bool {
    if options.off {
        return false;
    }
    let outcome = contain::on_large_stack(move || {
        let source = module.source_file();
        let mut changed = false;
        let mut functions = Vec::new();
        for mut function in module.functions() {
            let optimized = visit(&mut function, options);
            // Nobody asks about it again.
            function.forget_analyses();
            changed |= optimized.changed;
            functions.push(optimized.report);
        }
        if let Some(folder) = &options.report {
            write_report(folder, &report::Report::new(source, functions));
        }
        changed
    });
    outcome.unwrap_or_else(|reason| {
        eprintln!("loopwright: {reason}: the original code is kept");
        false
    })
}

fn visit(function: &mut FunctionHandle<'_>, options: &Options) -> Optimized {
    let wanted = options.function.as_ref().is_none_or(|name| *name == function.name());
    if !wanted || !function.has_loops() {
        return Optimized::untouched(function);
    }
    attempt(function, options)
}

/// Tries one function, on a copy where it has to be brought into form first.
fn attempt(function: &mut FunctionHandle<'_>, options: &Options) -> Optimized {
    let in_form = !options.canonicalize || function.must_not_be_touched();
    let original = if in_form { None } else { Backup::original(function) };
    let outcome = contain::contained(|| {
        if original.is_some() {
            function.canonicalize();
        }
        optimize_function(function, options)
    });
    match outcome {
        Ok(optimized) => {
            if let Some(original) = original.filter(|_| optimized.changed || planted::is(Fault::CanonicalFormKept)) {
                original.discard();
            }
            optimized
        }
        Err(message) => {
            tell_of_failure(&function.name(), &message);
            let mut optimized = Optimized::untouched(function);
            let refusal = Refusal::new(RefusalKind::InternalError, 0, message);
            optimized.report.refusals.push(describe::describe_refusal(&refusal));
            optimized
        }
    }
}

/// One file per module; its name tells modules of equal file names apart.
fn write_report(folder: &Path, report: &report::Report) {
    let text = report.to_json();
    let mut hasher = DefaultHasher::new();
    report.module.hash(&mut hasher);
    let stem: String =
        report.module.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    let path = folder.join(format!("{stem}-{:016x}.json", hasher.finish()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    if let Err(error) = written {
        eprintln!("loopwright: cannot write the report `{}`: {error}", path.display());
    }
}

fn tell_of_failure(function: &str, message: &str) {
    eprintln!("loopwright: internal error in function `{function}` ({message}): the original code is kept");
}

/// `fault=STAGE` asks for a failure in that stage; `fault=order` for a wrong order, which is to be refused.
fn fail_on_purpose(options: &Options, stage: &str) {
    assert!(options.fault.as_deref() != Some(stage), "told to fail in the stage `{stage}`");
}
