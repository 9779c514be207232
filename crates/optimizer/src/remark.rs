//! What `-Rpass=loopwright`, `-Rpass-missed=loopwright` and `-Rpass-analysis=loopwright` say, in the words of a C programmer.

use crate::decide::{Chosen, Considered, ConsideredRegion};
use llvm::facts::FunctionFacts;
use llvm::{Analyses, FunctionHandle, Location, RemarkKind};
use model::names::Names;
use model::refusal::Refusal;
use model::source::Line;

/// Remarks with their places, collected while the code they are about still stands.
#[derive(Default)]
pub struct Remarks {
    all: Vec<(RemarkKind, &'static str, Location, String)>,
}

impl Remarks {
    pub fn emit(self, function: &FunctionHandle<'_>) {
        for (kind, name, at, text) in self.all {
            function.remark(kind, name, at, &text);
        }
    }
}

pub fn collect(
    function: &FunctionHandle<'_>,
    facts: &FunctionFacts,
    analyses: &Analyses,
    considered: &Considered,
) -> Remarks {
    let mut remarks = Remarks::default();
    if !function.remarks_wanted() {
        return remarks;
    }
    for region in &considered.regions {
        let at = location(facts, analyses, region.region.scop.lines.0);
        if let Ok(chosen) = &region.verdict {
            remarks.all.push((RemarkKind::Done, "Transformed", at, done(chosen)));
            remarks.all.push((RemarkKind::Analysis, "Check", at, check(region, chosen)));
        }
        if let Some(refusal) = region.refusal() {
            remarks.missed(facts, analyses, refusal);
        }
    }
    for refusal in &considered.refusals {
        remarks.missed(facts, analyses, refusal);
    }
    remarks
}

impl Remarks {
    fn missed(&mut self, facts: &FunctionFacts, analyses: &Analyses, refusal: &Refusal) {
        let at = location(facts, analyses, refusal.line);
        let text = format!("loop left alone: {}", refusal.message());
        self.all.push((RemarkKind::Missed, refusal.kind.name(), at, text));
        let place = match refusal.line {
            line if line.is_known() => format!("line {}: ", line.number),
            _ => String::new(),
        };
        self.all.push((RemarkKind::Analysis, refusal.kind.name(), at, format!("{place}{}", refusal.advice())));
    }
}

fn done(chosen: &Chosen) -> String {
    let what: Vec<&str> = [
        (chosen.order.is_tiled(), "cut into tiles"),
        (chosen.order.is_for_vectors(), "prepared for vector instructions"),
        (chosen.order.is_for_threads(), "distributed over threads"),
    ]
    .into_iter()
    .filter_map(|(applies, what)| applies.then_some(what))
    .collect();
    let loops = if chosen.order.is_reordered() { "loops reordered" } else { "loops kept in order" };
    let what = if what.is_empty() { String::new() } else { format!(": {}", what.join(", ")) };
    format!("{loops}{what}; {}", chosen.reason)
}

fn check(region: &ConsideredRegion, chosen: &Chosen) -> String {
    let (plan, scop) = (&chosen.plan, &region.region.scop);
    let names = Names::of(scop);
    let terms: Vec<String> = plan.check.iter().map(|term| plan.text_of(term, scop, &names)).collect();
    if terms.is_empty() {
        "the new loops always run: nothing needs to be checked".into()
    } else {
        format!("the new loops run if {}; otherwise the original does", terms.join(", and "))
    }
}

/// The innermost loop around the line, or any loop of the function: remarks need a place.
fn location(facts: &FunctionFacts, analyses: &Analyses, line: Line) -> Location {
    let around = |l: &llvm::facts::Loop| l.line.is_known() && l.line <= line && line <= l.end_line.max(l.line);
    let loops = || facts.loops.iter().enumerate();
    let best = loops().filter(|(_, l)| l.line == line && line.is_known()).min_by_key(|(_, l)| l.depth);
    let best = best.or_else(|| loops().filter(|(_, l)| around(l)).max_by_key(|(_, l)| l.depth));
    match best.or_else(|| loops().next()) {
        Some((index, _)) => analyses.loop_location(llvm::facts::LoopId(index as u32)),
        None => Location::UNKNOWN,
    }
}
