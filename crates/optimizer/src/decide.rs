//! What to do with one region. Nothing here changes the IR.

use crate::allowance::{Allowance, Terms};
use crate::trace::{Stage, stage};
use crate::{contain, tell_of_failure};
use isl::{Ctx, IslError};
use llvm::Analyses;
use llvm::body::ReadRegion;
use llvm::facts::{FunctionFacts, Target};
use llvm::read::{self, Memory};
use model::delicm::{self, Counts, Expansion, delicm};
use model::dependence::{Dependences, dependences};
use model::loop_ast::AstError;
use model::plan::{Plan, PlanError, PlanOptions, admitted, build_plan};
use model::refusal::{Refusal, RefusalKind};
use model::schedule::{self, Decision, Machine, Order, ScheduleOptions, choose};
use model::scop::Scop;
use model::source::Line;
use model::transform::Step;
use model::verify::{self, sample_params, sample_uneven_params};
use options::{Fusion, Options};

/// A function with a verdict on each of its regions.
pub struct Considered {
    pub regions: Vec<ConsideredRegion>,
    pub refusals: Vec<Refusal>,
}

pub struct ConsideredRegion {
    pub region: ReadRegion,
    pub findings: Findings,
    /// A new order, or why there is none.
    pub verdict: Result<Box<Chosen>, Refusal>,
}

impl ConsideredRegion {
    /// Why it was left alone, if it was: what came first. Where it is not known which elements are meant, no order is found for that.
    pub fn refusal(&self) -> Option<&Refusal> {
        let refusal = self.verdict.as_ref().err()?;
        let follows = matches!(
            refusal.kind,
            RefusalKind::NoProfit | RefusalKind::OutOfBudget | RefusalKind::TooComplex | RefusalKind::AliasUnchecked
        );
        Some(self.region.unshaped.first().filter(|_| follows).unwrap_or(refusal))
    }
}

/// What was found out on the way to the verdict, as far as it went.
#[derive(Default)]
pub struct Findings {
    /// What became of the scalars that cross statements.
    pub moved: Counts,
    pub dependences: Option<Dependences>,
    /// Some of the region's loops, by themselves, might be worth changing.
    part_may_gain: bool,
    /// Some of them are changed to no avail.
    idles: bool,
    /// The estimate for the order in which the region runs in the end; unknown where nothing came of it.
    cycles: Option<f64>,
}

/// A new order for a region, and what guards it.
pub struct Chosen {
    pub plan: Plan,
    pub order: Order,
    /// For people: what is gained.
    pub reason: String,
}

/// Regions that took too long, or of which only a part may gain, are cut in two, and so are their parts; once there are more of them
/// in a function than this, no more are cut. To count for each region by itself finds a few more to transform in large functions, and
/// takes them much longer to compile: 1.28 times over the NAS benchmarks.
const MAX_CUTS: usize = 4;

/// Reads the function and decides about each of its regions, as long as the allowance lasts.
pub fn consider(
    facts: &FunctionFacts,
    analyses: &Analyses,
    options: &Options,
    allowance: &mut Allowance,
) -> Considered {
    let ctx = Ctx::new();
    let terms = allowance.terms();
    allowance.spend(&ctx, || consider_within(facts, analyses, options, &ctx, terms))
}

fn consider_within(
    facts: &FunctionFacts,
    analyses: &Analyses,
    options: &Options,
    ctx: &Ctx,
    terms: Terms,
) -> Considered {
    let left = || ctx.operations_left().unwrap_or(u64::MAX);
    let mut memory = Memory::default();
    let mut known: Vec<ConsideredRegion> = Vec::new();
    let before_all = left();
    // As much as it took so far may be needed once more.
    let may_consider_again = |left: u64| left >= before_all / 2;
    loop {
        let reading = stage(options, (&facts.source_name, facts.line), Stage::Read, || {
            let budget = terms.reading(facts.values.len(), left());
            let read = || Ok(read::read_function(facts, analyses, ctx, &mut memory, options.assume));
            ctx.within(budget, read).unwrap_or_else(|never: IslError| unreachable!("{never}"))
        });
        let mut considered = Considered { regions: Vec::new(), refusals: Vec::new() };
        for refusal in reading.refusals {
            // A loop is refused alone and with what surrounds it; once is enough.
            if !considered.refusals.contains(&refusal) {
                considered.refusals.push(refusal);
            }
        }
        let mut open = Vec::new();
        let mut decided: Vec<Option<ConsideredRegion>> = Vec::new();
        for (at, found) in reading.regions.into_iter().enumerate() {
            decided.push(match found {
                read::FoundRegion::Region(region) => {
                    open.push((at, Prospects::of(facts, &region.scop, options), region));
                    None
                }
                read::FoundRegion::AsBefore(place) => {
                    let same = known.iter().position(|k| (k.region.entry, k.region.exit) == place);
                    Some(known.swap_remove(same.expect("it was considered when it was read")))
                }
            });
        }
        // There may not be enough time for all.
        open.sort_by(|(_, a, _), (_, b, _)| b.promise.total_cmp(&a.promise));
        for (at, prospects, region) in open {
            let consider = || Ok(consider_region(facts, *region, options, prospects.left));
            let region = ctx.within(terms.region(prospects.gain, left()), consider);
            decided[at] = Some(region.unwrap_or_else(|never: IslError| unreachable!("{never}")));
        }
        considered.regions = decided.into_iter().flatten().collect();
        let before = (memory.too_large.len(), memory.opaque.len());
        for ConsideredRegion { region, findings, verdict } in &considered.regions {
            let place = (region.entry, region.exit);
            match verdict {
                // Without what the model does not look into, the rest may be read, and so may that.
                Err(refusal) if region.hides_loops(facts) => {
                    memory.opaque.insert(place, refusal.clone());
                }
                Err(refusal) if refusal.kind == RefusalKind::OutOfBudget || findings.part_may_gain => {
                    memory.too_large.insert(place, refusal.clone());
                }
                // LLVM knows the original better than what we make of it: loops that are no faster are left alone, and the others
                // are considered without them.
                Ok(_) if findings.idles && may_consider_again(left()) => {
                    let what = "some of these loops, one after the other, are faster by themselves";
                    memory.too_large.insert(place, Refusal::new(RefusalKind::NoProfit, region.scop.lines.0, what));
                }
                _ => {}
            }
        }
        let is_cut = memory.too_large.len() > before.0 && memory.too_large.len() <= MAX_CUTS;
        if !is_cut && memory.opaque.len() == before.1 {
            return considered;
        }
        known = considered.regions;
    }
}

/// What can be told of a region before all the work.
struct Prospects {
    /// The cycles that can be gained at most, for what it takes to find out: that grows as the square of the accesses, about.
    promise: f64,
    /// Those cycles.
    gain: f64,
    left: Option<Left>,
}

/// A region that is left alone at once.
#[derive(Clone)]
struct Left {
    refusal: Refusal,
    part_may_gain: bool,
    cycles: Option<f64>,
}

impl Prospects {
    fn of(facts: &FunctionFacts, scop: &Scop, options: &Options) -> Prospects {
        let line = scop.lines.0;
        let ask = || schedule::outlook(scop, &machine(&facts.target), &schedule_options(options));
        let outlook = stage(options, (&facts.source_name, line), Stage::Outlook, ask);
        let mut findings = Findings::default();
        let (cycles, refusal) = match outlook {
            Ok(outlook) => (outlook.cycles, outlook.decision.and_then(|d| chosen(d, line, &mut findings).err())),
            Err(error) => (0.0, Some(llvm::read::refusal_of_isl(&error, line))),
        };
        let Findings { part_may_gain, cycles: estimate, .. } = findings;
        let accesses: usize = scop.statements.values().map(|s| s.accesses.len()).sum();
        let promise = cycles / (accesses as f64).powi(2).max(1.0);
        Prospects {
            promise,
            gain: cycles,
            left: refusal.map(|refusal| Left { refusal, part_may_gain, cycles: estimate }),
        }
    }
}

fn consider_region(
    facts: &FunctionFacts,
    region: ReadRegion,
    options: &Options,
    left: Option<Left>,
) -> ConsideredRegion {
    let may_expand = options.expand && !options.keep_scalars && facts.attributes.may_allocate;
    let original = may_expand.then(|| region.clone());
    let mut best = consider_with(facts, region, options, Expansion::None, left.as_ref());
    let Some(original) = original.filter(|_| left.is_none()) else { return best };
    for expansion in [Expansion::Narrow, Expansion::Wide] {
        // Nothing is left to be given memory.
        if best.findings.moved.after == 0 && best.findings.moved.expanded == 0 {
            break;
        }
        let with = consider_with(facts, original.clone(), options, expansion, None);
        if with.findings.moved.expanded > 0 && is_worth_memory(&with, &best, options) {
            best = with;
        }
    }
    best
}

/// A new order that needs memory must gain as much over one that does not (or needs less) as that must over the original.
fn is_worth_memory(with: &ConsideredRegion, without: &ConsideredRegion, options: &Options) -> bool {
    let Ok(new) = &with.verdict else { return false };
    let (Some(cycles), Some(before)) = (with.findings.cycles, without.findings.cycles) else { return false };
    let threads = match &without.verdict {
        Ok(old) => new.order.is_for_threads() && !old.order.is_for_threads(),
        Err(_) => new.order.is_for_threads(),
    };
    let worthwhile = if threads { ALMOST_AS_FAST } else { schedule_options(options).worthwhile };
    cycles < worthwhile * before
}

/// An order that is worth it for its threads may take this much longer on one of them.
const ALMOST_AS_FAST: f64 = 1.1;

fn consider_with(
    facts: &FunctionFacts,
    mut region: ReadRegion,
    options: &Options,
    expansion: Expansion,
    left: Option<&Left>,
) -> ConsideredRegion {
    let mut findings = Findings::default();
    let verdict = contain::contained(|| {
        // Whoever only looks wants to see all of it.
        if let Some(Left { refusal, part_may_gain, cycles }) = left.filter(|_| !options.analyze) {
            (findings.part_may_gain, findings.cycles) = (*part_may_gain, *cycles);
            return Err(refusal.clone());
        }
        if !options.keep_scalars {
            findings.moved = move_scalars(facts, &mut region, options, expansion)?;
        }
        decide(facts, &region, options, &mut findings, left)
    });
    let verdict = match verdict {
        Ok(verdict) => verdict.map(Box::new),
        Err(message) => {
            tell_of_failure(&facts.source_name, &message);
            Err(Refusal::new(RefusalKind::InternalError, region.scop.lines.0, message))
        }
    };
    ConsideredRegion { region, findings, verdict }
}

/// The order that was decided for; or why there is none.
fn chosen(decision: Decision, line: Line, findings: &mut Findings) -> Result<(Order, String, Option<i64>), Refusal> {
    match decision {
        Decision::Leave { reason, too_small, part_may_gain, cycles } => {
            findings.part_may_gain = part_may_gain;
            findings.cycles = Some(cycles);
            let kind = if too_small { RefusalKind::TooSmall } else { RefusalKind::NoProfit };
            Err(Refusal::new(kind, line, reason))
        }
        Decision::Illegal { steps, pairs } => {
            let steps: Vec<String> = steps.iter().map(Step::to_string).collect();
            let what = format!("the new order ({}) breaks dependences: {pairs}", steps.join("; "));
            Err(Refusal::new(RefusalKind::Unsound, line, what))
        }
        Decision::Transform { order, reason, cycles, least_instances, idles } => {
            findings.cycles = Some(cycles);
            findings.idles = idles;
            Ok((order, reason, least_instances))
        }
    }
}

/// Scalars that cross statements go where they are in nobody's way. Without the time for that, they stay.
fn move_scalars(
    facts: &FunctionFacts,
    region: &mut ReadRegion,
    options: &Options,
    expansion: Expansion,
) -> Result<Counts, Refusal> {
    let line = region.scop.lines.0;
    let ReadRegion { scop, program, .. } = region;
    let before = options.verify.then(|| scop.clone());
    match stage(options, (&facts.source_name, line), Stage::Delicm, || delicm(scop, program, expansion)) {
        Ok(outcome) => {
            let counts = outcome.counts;
            if let Some(before) = before.filter(|_| !outcome.statements.is_empty()) {
                let same = |params: &[i128]| delicm::replay(&before, program, scop, &outcome, params);
                check_at_samples(&before, &plan_options(options), "moving scalars went wrong", same)?;
            }
            region.adopt(outcome);
            Ok(counts)
        }
        Err(error) if error.is_out_of_budget() => Ok(Counts::default()),
        Err(error) => Err(llvm::read::refusal_of_isl(&error, line)),
    }
}

/// The list of verbs. What is `left` alone is only looked at.
fn decide(
    facts: &FunctionFacts,
    region: &ReadRegion,
    options: &Options,
    findings: &mut Findings,
    left: Option<&Left>,
) -> Result<Chosen, Refusal> {
    let scop = &region.scop;
    let line = scop.lines.0;
    let place = (facts.source_name.as_str(), line);
    let refuse = |error: IslError| llvm::read::refusal_of_isl(&error, line);
    if options.verify {
        let complete = |params: &[i128]| verify::scalars_are_written(scop, &region.program.initial, params);
        check_at_samples(scop, &plan_options(options), "the model is wrong", complete)?;
    }
    let dependences = stage(options, place, Stage::Dependence, || dependences(scop)).map_err(refuse)?;
    let dependences = findings.dependences.insert(dependences);
    if let Some(Left { refusal, part_may_gain, cycles }) = left {
        (findings.part_may_gain, findings.cycles) = (*part_may_gain, *cycles);
        return Err(refusal.clone());
    }
    let may_allocate = facts.attributes.may_allocate;
    let orders = ScheduleOptions { may_allocate, ..schedule_options(options) };
    let decision =
        stage(options, place, Stage::Schedule, || choose(scop, dependences, &machine(&facts.target), &orders));
    let decision = decision.map_err(refuse)?;
    let (order, reason, least_instances) = chosen(decision, line, findings)?;
    let mut planning = PlanOptions { may_allocate, ..plan_options(options) };
    planning.min_instances = least_instances.unwrap_or(planning.min_instances);
    let plan = stage(options, place, Stage::Plan, || build_plan(scop, order.tree(), &planning));
    let plan = plan.map_err(|error| refusal_of_plan(error, line))?;
    if options.verify {
        replay(region, &plan, &planning)?;
    }
    Ok(Chosen { plan, order, reason })
}

fn refusal_of_plan(error: PlanError, line: Line) -> Refusal {
    match error {
        PlanError::Refused(refusal) => refusal,
        // Expressions of the check are generated under its budget.
        PlanError::Isl(error) | PlanError::Ast(AstError::Isl(error)) => llvm::read::refusal_of_isl(&error, line),
        PlanError::Ast(error @ (AstError::TooLarge { .. } | AstError::Alone { .. })) => {
            Refusal::new(RefusalKind::TooComplex, line, error.to_string())
        }
        PlanError::Ast(error @ AstError::Wrong { .. }) => Refusal::new(RefusalKind::Unsound, line, error.to_string()),
        PlanError::Ast(error @ AstError::NotUnderstood { .. }) => {
            Refusal::new(RefusalKind::InternalError, line, error.to_string())
        }
    }
}

/// Runs the plan against the original order at a few small parameter values with the independent checker.
fn replay(region: &ReadRegion, plan: &Plan, options: &PlanOptions) -> Result<(), Refusal> {
    let ReadRegion { scop, program, .. } = region;
    let same = |params: &[i128]| verify::verify(scop, program, &plan.body, params);
    check_at_samples(scop, options, "the new order is wrong", same)
}

/// Asks a checker at a few small parameter values.
fn check_at_samples(
    scop: &Scop,
    options: &PlanOptions,
    wrong: &str,
    check: impl Fn(&[i128]) -> Result<verify::Verdict, IslError>,
) -> Result<(), Refusal> {
    let line = scop.lines.0;
    let refuse = |error: IslError| llvm::read::refusal_of_isl(&error, line);
    // What is refused here the plan refuses, too.
    let valid = admitted(scop, options).map_err(|error| refusal_of_plan(error, line))?;
    // Where all are equal, no `k == t` with k < n ever holds.
    let uneven = [
        |k: usize| if k.is_multiple_of(2) { 6 } else { 3 },
        |k: usize| if k.is_multiple_of(2) { 3 } else { 6 },
        |k: usize| 7 - k as i64 % 5,
    ];
    let even = [1, 2, 5, 9].map(|wish| sample_params(scop, &valid, wish));
    let uneven = uneven.map(|wish| sample_uneven_params(scop, &valid, wish));
    for params in even.into_iter().chain(uneven) {
        let Some(params) = params.map_err(refuse)? else { continue };
        // Running out of the budget says nothing against the plan.
        let verdict = match check(&params) {
            Err(IslError::OutOfBudget { .. }) => continue,
            other => other.map_err(refuse)?,
        };
        if let verify::Verdict::Different { what } = verdict {
            return Err(Refusal::new(RefusalKind::Unsound, line, format!("{wrong}: {what}")));
        }
    }
    Ok(())
}

fn machine(target: &Target) -> Machine {
    let known = Machine::default();
    let or = |value: u64, default: u64| if value == 0 { default } else { value };
    Machine {
        vector_bits: target.vector_bits.max(64),
        l1: or(target.l1_bytes, known.l1),
        l2: or(target.l2_bytes, known.l2),
        cache_line: or(target.cache_line_bytes, known.cache_line),
    }
}

fn plan_options(options: &Options) -> PlanOptions {
    let mut result = PlanOptions::default();
    if options.force {
        result.min_instances = 0;
    }
    result
}

fn schedule_options(options: &Options) -> ScheduleOptions {
    let spoil = options.fault.as_deref() == Some("order");
    let mut result = ScheduleOptions { parallel: options.parallel, spoil, ..ScheduleOptions::default() };
    if options.force {
        result.worthwhile = f64::INFINITY;
        result.worthwhile_skewed = f64::INFINITY;
        result.min_instances = 0.0;
        result.min_parallel_instances = 0.0;
        result.draw = options.draw;
    }
    if let Some(tile) = options.tile {
        result.tile = i64::from(tile);
        result.inner_tiles = vec![i64::from(tile)];
    }
    match options.fusion {
        Some(Fusion::Min) => result.fusion = schedule::Fusion::Min,
        Some(Fusion::Max) => result.fusion = schedule::Fusion::Max,
        None => {}
    }
    result
}
