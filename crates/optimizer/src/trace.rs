//! Where the time goes: with the option `trace`, a line for each stage of each region, and a table by stage in the end.

use crate::allowance::Allowance;
use crate::{fail_on_purpose, tell};
use isl::Spent;
use model::source::Line;
use options::Options;
use std::cell::RefCell;
use std::time::Instant;

/// The stages, in the order in which a region passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// LLVM's answers about a function.
    Facts,
    Read,
    /// Whether it is worth going on.
    Outlook,
    Delicm,
    Dependence,
    Schedule,
    /// The check. The loops behind it are made in its midst, and counted apart.
    Plan,
    Ast,
    Write,
    /// The report.
    Describe,
}

impl Stage {
    const ALL: [Stage; 10] = [
        Stage::Facts,
        Stage::Read,
        Stage::Outlook,
        Stage::Delicm,
        Stage::Dependence,
        Stage::Schedule,
        Stage::Plan,
        Stage::Ast,
        Stage::Write,
        Stage::Describe,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Facts => "facts",
            Stage::Read => "read",
            Stage::Outlook => "outlook",
            Stage::Delicm => "delicm",
            Stage::Dependence => "dependence",
            Stage::Schedule => "schedule",
            Stage::Plan => "plan",
            Stage::Ast => "ast",
            Stage::Write => "write",
            Stage::Describe => "describe",
        }
    }
}

/// What all runs of a stage took in this module.
#[derive(Clone, Copy, Default)]
struct Total {
    runs: u64,
    spent: Spent,
}

thread_local! {
    /// By stage. A module is looked at on one thread.
    static TOTALS: RefCell<[Total; Stage::ALL.len()]> = RefCell::default();
}

/// Runs one stage for the function at a place; counts what it took, says it where that is asked for, and fails where that is.
pub fn stage<T>(options: &Options, place: (&str, Line), stage: Stage, work: impl FnOnce() -> T) -> T {
    // The writer does so by itself, region by region; behind it, nothing may fail that would leave changes without a report.
    if !matches!(stage, Stage::Write | Stage::Describe) {
        fail_on_purpose(options, stage.name());
    }
    if !options.trace {
        return work();
    }
    let (start, before) = (Instant::now(), isl::spent());
    let result = work();
    let (time, after) = (start.elapsed(), isl::spent());
    let operations = |spent: &std::collections::BTreeMap<_, Spent>| spent.values().map(|s| s.operations).sum::<u64>();
    let mut own = Spent { operations: operations(&after) - operations(&before), time };
    if stage == Stage::Plan {
        let of_loops = |spent: &std::collections::BTreeMap<_, Spent>| {
            spent.get(model::loop_ast::AST.name).copied().unwrap_or_default()
        };
        let (before, after) = (of_loops(&before), of_loops(&after));
        let loops = Spent { operations: after.operations - before.operations, time: after.time - before.time };
        own = Spent { operations: own.operations - loops.operations, time: own.time.saturating_sub(loops.time) };
        count(Stage::Ast, loops);
    }
    count(stage, own);
    let (function, line) = place;
    let line = if line.is_known() { format!(":{}", line.number) } else { String::new() };
    tell(&format!("loopwright: {function}{line}: {} took {:.3} s", stage.name(), time.as_secs_f64()));
    result
}

fn count(stage: Stage, spent: Spent) {
    TOTALS.with_borrow_mut(|totals| {
        let total = &mut totals[stage as usize];
        total.runs += 1;
        total.spent.operations += spent.operations;
        total.spent.time += spent.time;
    });
}

/// The table, and a clean slate for the next module. Where a function has no debug information, lines are missing.
pub fn finish(module: &str, allowance: &Allowance) -> String {
    let totals = TOTALS.take();
    let mut table = format!("loopwright: {module}: stage        runs    seconds   operations of isl\n");
    for stage in Stage::ALL {
        let Total { runs, spent } = totals[stage as usize];
        table += &row(stage.name(), &runs.to_string(), spent);
    }
    let all = totals.iter().fold(Spent::default(), |all, total| Spent {
        operations: all.operations + total.spent.operations,
        time: all.time + total.spent.time,
    });
    table += &row("all", "", all);
    table += &format!(
        "loopwright:   of {} operations that were allowed, {} are left\n",
        allowance.total(),
        allowance.left()
    );
    table.trim_end().to_string()
}

fn row(name: &str, runs: &str, spent: Spent) -> String {
    format!("loopwright:   {name:<12} {runs:>6} {:>10.3} {:>12}\n", spent.time.as_secs_f64(), spent.operations)
}
