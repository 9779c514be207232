//! The pipeline over a module, and the report on it.

mod contain;
pub mod options;

pub use options::{Fusion, Options, Position};
pub use report;

use llvm::{Analyses, Backup, FunctionHandle, ModuleHandle};

/// What became of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Unchanged,
    Changed,
}

/// Optimizes all functions that the options name; whether any was changed.
///
/// Ensures: a function in which anything went wrong is as it was.
pub fn run_on_module(module: ModuleHandle<'_>, options: &Options) -> bool {
    if options.off {
        return false;
    }
    let outcome = contain::on_large_stack(move || {
        let mut changed = false;
        for mut function in module.functions() {
            let wanted = options.function.as_ref().is_none_or(|name| *name == function.name());
            if wanted && !function.must_not_be_touched() && function.has_loops() {
                changed |= attempt(&mut function, options) == Outcome::Changed;
            }
        }
        changed
    });
    outcome.unwrap_or_else(|reason| {
        eprintln!("loopwright: {reason}: the original code is kept");
        false
    })
}

/// Tries one function, on a copy where it has to be brought into form first.
fn attempt(function: &mut FunctionHandle<'_>, options: &Options) -> Outcome {
    let mut original = None;
    if options.canonicalize {
        original = Backup::original(function);
        if original.is_none() {
            return Outcome::Unchanged;
        }
    }
    let outcome = contain::contained(|| {
        if options.canonicalize {
            function.canonicalize();
        }
        optimize_function(function, options)
    });
    match outcome {
        Ok(Outcome::Changed) => {
            if let Some(original) = original {
                original.discard();
            }
            Outcome::Changed
        }
        Ok(Outcome::Unchanged) => Outcome::Unchanged,
        Err(message) => {
            eprintln!(
                "loopwright: internal error in function `{}` ({message}): the original code is kept",
                function.name()
            );
            Outcome::Unchanged
        }
    }
}

/// Models, transforms and rewrites the loops of one function.
///
/// Ensures: unless it answers [`Outcome::Changed`], the function is what it was; a panic in it leaves it so too.
pub fn optimize_function(function: &mut FunctionHandle<'_>, options: &Options) -> Outcome {
    let (_facts, _analyses) = Analyses::collect(function);
    fail_on_purpose(options, "facts");
    Outcome::Unchanged
}

/// `fault=STAGE` asks for a failure in that stage.
fn fail_on_purpose(options: &Options, stage: &str) {
    assert!(options.fault.as_deref() != Some(stage), "told to fail in the stage `{stage}`");
}
