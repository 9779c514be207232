//! One function: read, decide, write. All that can fail is decided before the first change of the IR, or undone by putting the
//! function's body back.

use crate::allowance::Allowance;
use crate::decide::{Considered, ConsideredRegion, consider};
use crate::describe::describe_function;
use crate::trace::{Stage, stage};
use crate::{contain, fail_on_purpose, remark, tell_of_failure};
use llvm::facts::FunctionFacts;
use llvm::write::{WriteOptions, write_region};
use llvm::{Analyses, Backup, FunctionHandle};
use model::refusal::{Refusal, RefusalKind};
use model::source::Line;
use options::{Options, Position};
use std::collections::BTreeMap;

/// What happened to one function.
pub struct Optimized {
    /// Empty where no report is asked for.
    pub report: report::Function,
    pub changed: bool,
}

impl Optimized {
    /// There was nothing to look at.
    pub fn untouched(function: &FunctionHandle<'_>) -> Optimized {
        let (name, source_name) = (function.name(), function.source_name());
        let report = report::Function { name, source_name, scops: Vec::new(), refusals: Vec::new() };
        Optimized { report, changed: false }
    }
}

/// Ensures: unless `changed`, the function is textually what it was; if so, it computes what it did.
pub fn optimize_function(function: &mut FunctionHandle<'_>, options: &Options, allowance: &mut Allowance) -> Optimized {
    // A region whose code could not be written is left out of the next attempt; the others are tried again.
    let mut given_up: BTreeMap<usize, Refusal> = BTreeMap::new();
    loop {
        let name = function.source_name();
        let (facts, analyses) = stage(options, (&name, Line::UNKNOWN), Stage::Facts, || Analyses::collect(function));
        let mut considered = consider(&facts, &analyses, options, allowance);
        for (index, refusal) in &given_up {
            considered.regions[*index].verdict = Err(refusal.clone());
        }
        leave_what_cannot_hand_on(&facts, &mut considered);
        let remarks = remark::collect(function, &facts, &analyses, &considered);
        let to_write = considered.regions.iter().any(|r| r.verdict.is_ok());
        let changed = to_write && !options.analyze;
        let written = || write_all(function, analyses, &considered, options);
        if changed && let Err((index, message)) = stage(options, (&name, facts.line), Stage::Write, written) {
            tell_of_failure(&name, &message);
            let line = considered.regions[index].region.scop.lines.0;
            given_up.insert(index, Refusal::new(RefusalKind::InternalError, line, message.clone()));
            if given_up.len() >= MAX_ATTEMPTS {
                let all = considered.regions.iter().enumerate();
                given_up.extend(all.map(|(index, r)| {
                    let line = r.region.scop.lines.0;
                    (index, Refusal::new(RefusalKind::InternalError, line, message.clone()))
                }));
            }
            continue;
        }
        remarks.emit(function);
        // Describing a region takes isl a while.
        let report = match options.report {
            Some(_) => stage(options, (&name, facts.line), Stage::Describe, || describe_function(&facts, &considered)),
            None => Optimized::untouched(function).report,
        };
        return Optimized { report, changed };
    }
}

/// Of two regions of which the first has no way to give the second what it needs, the second is transformed alone.
fn leave_what_cannot_hand_on(facts: &FunctionFacts, considered: &mut Considered) {
    for first in (0..considered.regions.len()).rev() {
        let missing = |ConsideredRegion { region, verdict, .. }: &ConsideredRegion| match verdict {
            Ok(_) => considered.regions[first].region.cannot_hand_on(region, facts),
            Err(_) => None,
        };
        let missing = considered.regions[first + 1..].iter().find_map(missing);
        let region = &mut considered.regions[first];
        if let (Some(value), Ok(_)) = (missing, &region.verdict) {
            let line = region.region.scop.lines.0;
            let refusal = Refusal::new(RefusalKind::NeededBehind, line, facts.display_name(value));
            region.verdict = Err(refusal);
        }
    }
}

/// A function in which so many regions could not be written is left alone: every attempt reads it anew.
const MAX_ATTEMPTS: usize = 3;

/// The region that failed, and how.
type WriteFailure = (usize, String);

fn write_all(
    function: &mut FunctionHandle<'_>,
    analyses: Analyses,
    considered: &Considered,
    options: &Options,
) -> Result<(), WriteFailure> {
    let (parallel, stats, outline) = (options.parallel, options.stats, options.outline);
    let before_inlining = options.position == Position::Early;
    let write_options = WriteOptions { parallel, stats, outline, before_inlining, ..WriteOptions::default() };
    let mut at = considered.regions.iter().position(|r| r.verdict.is_ok()).unwrap_or(0);
    let Some(backup) = Backup::copy(function) else {
        // The reader refuses such a function.
        return Err((at, "the address of a block is taken".into()));
    };
    let written = contain::contained(|| -> Result<(), String> {
        let mut calls_out = false;
        // Last region first: what an earlier region hands on to a later one is rewritten when the earlier one is written, in
        // the later one's new code, too.
        for (index, ConsideredRegion { region, verdict, .. }) in considered.regions.iter().enumerate().rev() {
            let Ok(chosen) = verdict else { continue };
            at = index;
            fail_on_purpose(options, "write");
            let written = write_region(&analyses, region, &chosen.plan, &write_options).map_err(|e| e.to_string())?;
            calls_out |= written.allocates || written.parallel_loops > 0;
            // At once, to know which region is to blame.
            fail_on_purpose(options, "verify");
            function.verify()?;
        }
        drop(analyses);
        function.forget_analyses();
        fail_on_purpose(options, "clean-up");
        function.clean_up();
        function.verify()?;
        if calls_out {
            function.forget_effects();
        }
        Ok(())
    });
    match written {
        Ok(Ok(())) => {
            backup.discard();
            Ok(())
        }
        Ok(Err(message)) | Err(message) => {
            backup.restore();
            function.forget_analyses();
            Err((at, message))
        }
    }
}
