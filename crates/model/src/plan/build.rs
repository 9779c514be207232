//! From decisions to a plan: the check, cheapest terms first, and the loops it guards.

use super::bounds;
use super::extent::{Extents, Unchecked};
use super::rows;
use super::temporary::{Temporary, temporaries};
use super::{CheckKind, CheckTerm, Extent, Plan, Test, Window};
use crate::assume::{Assumption, AssumptionKind, of_consequence};
use crate::loop_ast::{
    AstError, AstOptions, BinaryOp, Expr, Fits, Node, Ranges, expr_from_pw_aff, expr_from_set, fits_i64, generate,
    note_untouched, own_scalars, write_out,
};
use crate::names::Names;
use crate::refusal::{Refusal, RefusalKind};
use crate::scop::{ArrayId, Param, ParamId, Preload, Scop, ValueId};
use crate::transform::{Copies, Tree, apart_points};
use isl::{Budget, DimType, IslError, Map, PwAff, Set, Val};
use planted::Fault;
use std::collections::{BTreeSet, HashSet};
use thiserror::Error;

#[derive(Clone, Debug, Error)]
pub enum PlanError {
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Ast(#[from] AstError),
}

#[derive(Clone, Debug)]
pub struct PlanOptions {
    pub ast: AstOptions,
    /// Where sizes are known at run time only: with fewer instances of the deepest statement the original runs. 0: never.
    pub min_instances: i64,
    /// A check of more operations is not emitted.
    pub max_check_cost: usize,
    /// The check may get memory for a while.
    pub may_allocate: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        PlanOptions { ast: AstOptions::default(), min_instances: 4096, max_check_cost: 400, may_allocate: true }
    }
}

/// A bound in so many pieces is not worth a check.
const MAX_WORK_PIECES: usize = 4;
/// The terms of the check.
const CHECK: Budget = Budget::new("check", 500_000);
/// What it may cost to find out that a term need not be tested.
const IMPLIED: Budget = Budget::new("a term that others imply", 20_000);

/// What to test at run time and what to run if the test holds.
///
/// Requires: `tree` respects the dependences of `scop`, and its coincident flags are true.
/// Ensures: where every term of the check holds, the assumptions of `scop` hold, the arrays it takes for disjoint are, and
/// all arithmetic of the loops fits 64 bits.
pub fn build_plan(scop: &Scop, tree: &Tree, options: &PlanOptions) -> Result<Plan, PlanError> {
    let Terms { mut check, temporaries, known } = scop.ctx.within(CHECK, || terms(scop, &tree.copies, options))?;
    let mut body = generate(tree, &known, &options.ast)?;
    if goes_round_for_nothing(&body) {
        let subject = "a new loop would go round for billions of iterations of which few are there";
        return Err(refused(RefusalKind::TooComplex, scop, subject));
    }
    own_scalars(&mut body, scop, &tree.private)?;
    let mut body = write_out(body, scop, &apart_points(tree, scop)?);
    note_untouched(&mut body, scop)?;
    check.extend(scop.ctx.within(CHECK, || fits(scop, &body, &known))?);
    order(scop, &mut check);
    let plan = Plan { check, temporaries, body };
    if plan.check_cost() > options.max_check_cost {
        let subject = format!("the run-time check would take {} operations", plan.check_cost());
        return Err(refused(RefusalKind::TooComplex, scop, subject));
    }
    Ok(plan)
}

/// A constant bound beyond this is that of a type, not of a program.
const BOUND_OF_A_TYPE: u128 = 1 << 31;

/// Does a loop look for its iterations in a whole type? It does where a remainder modulo 2³² says which they are, as of the last one of a
/// loop whose count may wrap: the model has one instance, and the loop, as it would be written, all numbers there are.
fn goes_round_for_nothing(body: &Node) -> bool {
    let is_huge = |bound: &Expr| bound.as_int().is_some_and(|b| b.unsigned_abs() >= BOUND_OF_A_TYPE);
    let mut found = false;
    body.for_each(&mut |node| {
        let Node::For(f) = node else { return };
        let asks = |node: &Node| {
            let Node::If { condition, .. } = node else { return false };
            let mut about_counter = false;
            condition.for_each(&mut |e| about_counter |= *e == Expr::Counter(f.counter));
            about_counter
        };
        let only_asks = match &f.body {
            Node::Block(children) => children.iter().all(asks),
            body => asks(body),
        };
        found |= only_asks && (is_huge(&f.first) || is_huge(&f.last));
    });
    found
}

/// Parameters that the affine terms of the check let pass; a superset of those for which the new loops run. What is written in the
/// loops, such as a division that takes its dividend for positive, need not make sense at others.
pub fn admitted(scop: &Scop, options: &PlanOptions) -> Result<Set, PlanError> {
    Ok(scop.ctx.within(CHECK, || terms(scop, &Copies::new(), options))?.known)
}

pub(super) fn refused(kind: RefusalKind, scop: &Scop, subject: impl Into<String>) -> PlanError {
    PlanError::Refused(Refusal::new(kind, scop.lines.0, subject))
}

/// Puts cheap terms first, but no term before the preloads that it needs, and no preload before what makes it safe: the terms in
/// front of it that need no later one.
fn order(scop: &Scop, check: &mut [CheckTerm]) {
    let preloads: Vec<(ValueId, &Preload)> = preloads(scop).collect();
    // How many preloads it takes until something is known.
    let last = |is_it: &dyn Fn(&Preload) -> bool| preloads.iter().rposition(|(_, p)| is_it(p)).map_or(0, |k| k + 1);
    let before = |invariant: ValueId| preloads.iter().take_while(|(load, _)| *load != invariant).count();
    let of_expr = |expr: &Expr| {
        let mut stage = 0;
        expr.for_each(&mut |e| {
            if let Expr::Param(p) = e {
                stage = stage.max(last(&|preload| preload.params.contains(p)));
            }
        });
        stage
    };
    let of_extent = |extent: &Extent| {
        let base = last(&|preload| preload.arrays.contains(&extent.array));
        base.max(of_expr(&extent.low)).max(of_expr(&extent.high))
    };
    check.sort_by_cached_key(|term| {
        let (stage, is_preload) = match &term.test {
            Test::Preload { invariant, .. } => (before(*invariant), true),
            Test::Holds(expr) => (of_expr(expr), false),
            Test::Disjoint { first, second, windows } => {
                let of_window = |w: &Window| of_expr(&w.stride).max(of_expr(&w.low)).max(of_expr(&w.high));
                let windows = windows.iter().flat_map(|both| both.iter()).map(of_window).max().unwrap_or(0);
                (of_extent(first).max(of_extent(second)).max(windows), false)
            }
            // It reads pointers, which the original does for certain where all else holds.
            Test::Rows(_) => (usize::MAX, false),
        };
        (stage, is_preload, term.test.cost())
    });
}

fn preloads(scop: &Scop) -> impl Iterator<Item = (ValueId, &Preload)> {
    scop.invariants.iter().filter_map(|(load, invariant)| Some((*load, invariant.preload.as_ref()?)))
}

/// What does not depend on the loops.
struct Terms {
    check: Vec<CheckTerm>,
    temporaries: Vec<Temporary>,
    /// What is known where the terms hold.
    known: Set,
}

/// Where invariants are loaded in between, an assumption is tested as soon as the parameters that it speaks of are known. So what a
/// preload presupposes holds when it is reached.
fn terms(scop: &Scop, copies: &Copies, options: &PlanOptions) -> Result<Terms, PlanError> {
    let mut check = Vec::new();
    let mut known = scop.context.clone();
    let mut some = Set::empty(&known.get_space()?)?;
    for statement in scop.statements.values() {
        some = some.union(&statement.domain.params()?)?;
    }
    let mut unknown: HashSet<ParamId> = preloads(scop).flat_map(|(_, p)| p.params.iter().copied()).collect();
    let mut tested = vec![false; scop.assumptions.iter().count()];
    for (number, (invariant, preload)) in preloads(scop).enumerate() {
        assumed_terms(scop, &some, &unknown, &mut tested, &mut known, &mut check)?;
        if tested[..preload.after].contains(&false) {
            return Err(refused(RefusalKind::Circular, scop, &scop.invariants[&invariant].name));
        }
        let when = match planted::is(Fault::PreloadAnywhere) {
            true => Expr::truth(true),
            false => expr_from_set(&preload.when.gist(&known)?, &known)?,
        };
        let kind = CheckKind::Assumed(AssumptionKind::RT);
        check.push(CheckTerm { kind, test: Test::Preload { invariant, when } });
        let later = || preloads(scop).skip(number + 1);
        unknown.retain(|p| later().any(|(_, preload)| preload.params.contains(p)));
    }
    assumed_terms(scop, &some, &unknown, &mut tested, &mut known, &mut check)?;
    if let Some((term, some)) = work(scop, &known, options)? {
        check.push(term);
        known = known.intersect(&some)?.coalesce()?;
    }
    let names = Names::of(scop);
    let mut extents = Extents::new(scop, &known)?;
    for (&array, described) in &scop.arrays {
        let Some(wraps) = described.may_wrap.as_ref().filter(|_| !planted::is(Fault::WindowUntested)) else { continue };
        let windows: BTreeSet<(i128, i128)> = wraps.framed.iter().map(|part| part.window).collect();
        let counted = (!wraps.counted.is_empty()).then_some(None);
        for window in counted.into_iter().chain(windows.into_iter().map(Some)) {
            let extent = match window {
                Some(window) => {
                    let parts: Vec<_> = wraps.framed.iter().filter(|part| part.window == window).collect();
                    extents.of_parts(array, &parts)
                }
                None => extents.of(array, false),
            };
            match extent {
                Ok(Some(Extent { low, high, .. })) => {
                    let kind = CheckKind::Bytes { array, end: high.clone(), window };
                    let test = match window {
                        Some((first, end)) => Expr::binary(
                            BinaryOp::And,
                            Expr::binary(BinaryOp::Le, Expr::Int(first), low),
                            Expr::binary(BinaryOp::Le, high, Expr::Int(end)),
                        ),
                        // True of all numbers, so that nothing but an overflow on the way makes it fail.
                        None => Expr::binary(BinaryOp::Le, low, high),
                    };
                    check.push(CheckTerm { kind, test: Test::Holds(test) });
                }
                Ok(None) => {}
                Err(Unchecked::Unknown { line }) => {
                    let subject = format!("the address computation of `{}`", names.array_in_source(array));
                    return Err(PlanError::Refused(Refusal::new(RefusalKind::MayWrap, line, subject)));
                }
                Err(Unchecked::Failed(e)) => return Err(e.into()),
            }
        }
    }
    let behind_pointers = |pair: &&(ArrayId, ArrayId)| [pair.0, pair.1].iter().any(|a| scop.arrays[a].rows.is_some());
    for &(first, second) in scop.may_alias.iter().filter(|pair| !behind_pointers(pair)) {
        let writes =
            |array| scop.statements.values().flat_map(|s| &s.accesses).any(|a| a.array == array && a.is_write());
        let (first_written, second_written) = (writes(first), writes(second));
        if !first_written && !second_written || planted::is(Fault::OverlapUntested) {
            continue;
        }
        // Two reads of one byte do no harm, so of an array that meets one that is only read, only the writes count.
        let mut ends = || -> Result<_, Unchecked> {
            let (of_first, of_second) = (extents.of(first, !second_written)?, extents.of(second, !first_written)?);
            let windows = [extents.window(first, !second_written)?, extents.window(second, !first_written)?];
            Ok((of_first, of_second, windows))
        };
        match ends() {
            Ok((Some(first), Some(second), windows)) => {
                let windows = match windows {
                    [Some(first), Some(second)] => Some(Box::new([first, second])),
                    _ => None,
                };
                let test = Test::Disjoint { first, second, windows };
                check.push(CheckTerm { kind: CheckKind::Assumed(AssumptionKind::AA), test })
            }
            // One of them is never touched.
            Ok(_) => {}
            Err(Unchecked::Unknown { line }) => {
                let subject = format!("`{}` and `{}`", names.array_in_source(first), names.array_in_source(second));
                return Err(PlanError::Refused(Refusal::new(RefusalKind::AliasUnchecked, line, subject)));
            }
            Err(Unchecked::Failed(e)) => return Err(e.into()),
        }
    }
    check.extend(rows::terms(scop, &known, &mut extents, options)?);
    let (temporaries, term) = temporaries(scop, copies, &extents)?;
    check.extend(term);
    Ok(Terms { check, temporaries, known })
}

/// Tests of the assumptions that speak of known parameters only.
fn assumed_terms(
    scop: &Scop,
    some: &Set,
    unknown: &HashSet<ParamId>,
    tested: &mut [bool],
    known: &mut Set,
    check: &mut Vec<CheckTerm>,
) -> Result<(), PlanError> {
    let mut ready = Vec::new();
    for (assumption, tested) in scop.assumptions.iter().zip(&*tested) {
        let mut is_ready = !tested && !involves(&assumption.valid, unknown)?;
        for bound in &assumption.bounds {
            is_ready &= !bound.params()?.iter().any(|p| unknown.contains(p));
        }
        ready.push(is_ready);
    }
    // The order of kinds does not matter for what is true in the end, since all terms must hold; each is simplified by the others.
    let mut kinds = AssumptionKind::ALL;
    kinds.sort_by_key(|kind| match kind {
        AssumptionKind::RT => 0,
        AssumptionKind::BL => 1,
        AssumptionKind::EE => 2,
        AssumptionKind::IB => 3,
        AssumptionKind::AA => 4,
        AssumptionKind::EB => 5,
        AssumptionKind::RP => 6,
    });
    for (at, assumed) in kinds.into_iter().enumerate() {
        let valid = scop.assumptions.valid(known, |number, a| ready[number] && a.kind == assumed)?;
        if valid.plain_is_universe()? || is_left_untested(assumed) {
            continue;
        }
        let valid = of_consequence(&valid, &some.intersect(known)?)?.gist(known)?.coalesce()?;
        let both = known.intersect(&valid)?.coalesce()?;
        if both.is_empty()? {
            return Err(refused(RefusalKind::Contradiction, scop, assumed.name()));
        }
        // What lies inside of rows is often too small to wrap around.
        let later = |kind| kinds[at + 1..].contains(&kind);
        let implied = scop.ctx.try_within(IMPLIED, || {
            let others = scop.assumptions.valid(known, |number, a| ready[number] && later(a.kind))?;
            known.intersect(&others)?.is_subset(&valid)
        });
        if implied?.unwrap_or(false) {
            continue;
        }
        let expr = expr_from_set(&valid, known)?;
        if expr != Expr::truth(true) {
            let kind = CheckKind::Assumed(assumed);
            check.push(CheckTerm { kind, test: Test::Holds(expr) });
        }
        *known = both;
    }
    let untested: Vec<&Assumption> =
        scop.assumptions.iter().zip(&ready).filter(|(_, ready)| **ready).map(|(assumption, _)| assumption).collect();
    bounds_terms(scop, &untested, known, check)?;
    tested.iter_mut().zip(ready).for_each(|(tested, ready)| *tested |= ready);
    Ok(())
}

/// Tests of what isl cannot say.
fn bounds_terms(
    scop: &Scop,
    assumptions: &[&Assumption],
    known: &Set,
    check: &mut Vec<CheckTerm>,
) -> Result<(), PlanError> {
    let all = assumptions.iter().flat_map(|a| a.bounds.iter().map(|bound| (a.kind, a.line, bound)));
    let all: Vec<_> = all.filter(|(kind, ..)| !is_left_untested(*kind)).collect();
    let unchecked = |line, error| match error {
        Unchecked::Unknown { .. } => {
            let why = "when it fails is not a simple condition on unchanging values";
            PlanError::Refused(Refusal::new(RefusalKind::ErrorBranch, line, why))
        }
        Unchecked::Failed(e) => e.into(),
    };
    let mut implied = vec![false; all.len()];
    for (at, (kind, line, bound)) in all.iter().enumerate() {
        for (other, (.., stronger)) in all.iter().enumerate() {
            let may_imply = other != at && !implied[other];
            implied[at] |=
                may_imply && bounds::implies(scop, known, stronger, bound).map_err(|e| unchecked(*line, e))?;
        }
        if implied[at] {
            continue;
        }
        if let Some(test) = bounds::test_of(scop, known, bound).map_err(|e| unchecked(*line, e))? {
            check.push(CheckTerm { kind: CheckKind::Assumed(*kind), test: Test::Holds(test) });
        }
    }
    Ok(())
}

/// A fault of this kind is planted.
fn is_left_untested(kind: AssumptionKind) -> bool {
    planted::is(match kind {
        AssumptionKind::EE => Fault::WrapUntested,
        AssumptionKind::IB => Fault::RowsUntested,
        AssumptionKind::BL => Fault::EndlessUntested,
        AssumptionKind::EB => Fault::ErrorsUntested,
        AssumptionKind::RT | AssumptionKind::AA => Fault::ChangeUntested,
        AssumptionKind::RP => Fault::RowPointersUntested,
    })
}

fn involves(set: &Set, params: &HashSet<ParamId>) -> Result<bool, IslError> {
    for at in 0..set.dim(DimType::Param)? {
        let id = ParamId::from_isl_name(&set.get_dim_name(DimType::Param, at)?);
        if id.is_some_and(|id| params.contains(&id)) && set.involves_dims(DimType::Param, at, 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Enough instances of one of the deepest statements, by its bounding box, where that depends on parameters; and where they have any.
fn work(scop: &Scop, known: &Set, options: &PlanOptions) -> Result<Option<(CheckTerm, Set)>, PlanError> {
    if options.min_instances <= 0 {
        return Ok(None);
    }
    let mut depth = 0;
    for statement in scop.statements.values() {
        depth = depth.max(statement.domain.dim(DimType::Set)?);
    }
    let mut enough: Option<Expr> = None;
    let mut some = Set::empty(&known.get_space()?)?;
    for statement in scop.statements.values() {
        if statement.domain.dim(DimType::Set)? != depth {
            continue;
        }
        let runs = statement.domain.params()?.intersect(known)?;
        // The first speaks for all that run only where it runs.
        if runs.is_subset(&some)? {
            continue;
        }
        let most = (!statement.predicates.is_empty()).then_some(MAX_PREDICATED);
        let Some(this) = enough_of(scop, &statement.domain, known, options, most)? else { return Ok(None) };
        enough = Some(match enough {
            None => this,
            Some(others) => Expr::binary(BinaryOp::Or, others, this),
        });
        some = some.union(&runs)?.coalesce()?;
    }
    let Some(expr) = enough else { return Ok(None) };
    Ok(Some((CheckTerm { kind: CheckKind::Work, test: Test::Holds(expr) }, some)))
}

/// Instances that may all do nothing: the original then never enters the loops that stand under the predicate, and the new loops go
/// round for every tile of them. So many take about a second.
const MAX_PREDICATED: i128 = 1 << 34;

/// Are there enough of these instances, and not too many? Nothing if it is always so, or if it is hard to say.
fn enough_of(
    scop: &Scop,
    domain: &Set,
    known: &Set,
    options: &PlanOptions,
    most: Option<i128>,
) -> Result<Option<Expr>, PlanError> {
    let Some((Some(product), constant)) = box_size(domain, known)? else { return Ok(None) };
    let some = domain.params()?;
    let least = i128::from(options.min_instances);
    let least = least.div_euclid(constant.max(1)) + i128::from(least.rem_euclid(constant.max(1)) != 0);
    let ranges = Ranges::of_params(&known_params(scop, known)?);
    let always = |(low, high): (i128, i128)| low >= least && most.is_none_or(|most| high <= most);
    if known.is_subset(&some)? && product.interval(&ranges).is_some_and(always) {
        return Ok(None);
    }
    let mut expr = Expr::binary(BinaryOp::Ge, product.clone(), Expr::Int(least));
    if let Some(most) = most {
        let few = Expr::binary(BinaryOp::Le, product, Expr::Int(most.div_euclid(constant.max(1))));
        expr = Expr::binary(BinaryOp::And, expr, few);
    }
    for width in scop.ctx.try_within(IMPLIED, || widths_of_windows(domain, known))?.unwrap_or_default() {
        let width = expr_from_pw_aff(&width, &known.intersect(&some)?)?;
        if width.as_int().is_some() {
            continue;
        }
        let is_wide = Expr::binary(BinaryOp::Ge, width, Expr::Int(MIN_WINDOW));
        expr = Expr::binary(BinaryOp::And, expr, is_wide);
    }
    let exists = expr_from_set(&some.gist(known)?, known)?;
    if exists != Expr::truth(true) {
        expr = Expr::binary(BinaryOp::And, exists, expr);
    }
    Ok(Some(expr))
}

/// A loop that moves with those around it, from `i - w` to `i`, goes round as often as its window is wide, however large the box is in
/// which all of it lies. What the estimate says of a new order is said of wide ones: iterations side by side, of a loop around, hardly
/// share anything where windows are narrow.
pub const MIN_WINDOW: i128 = 128;

/// How often such loops go round at most, where that is no number.
fn widths_of_windows(domain: &Set, known: &Set) -> Result<Vec<PwAff>, IslError> {
    let here = known.intersect(&domain.params()?)?;
    let mut widths = Vec::new();
    let depth = domain.dim(DimType::Set)?;
    for d in 1..depth {
        let outer = domain.project_out(DimType::Set, d + 1, depth - d - 1)?.reset_tuple_id()?;
        if !is_window(&outer, d)? {
            continue;
        }
        let mut pairs = Map::from_domain_and_range(&outer, &outer)?;
        for same in 0..d {
            pairs = pairs.equate(DimType::In, same, DimType::Out, same)?;
        }
        let width = pairs.deltas()?.dim_max(d)?.coalesce()?.gist_params(&here)?;
        if width.n_piece()? <= MAX_WORK_PIECES {
            widths.push(width.add_constant_val(&Val::int_from_si(known.ctx(), 1)?)?);
        }
    }
    Ok(widths)
}

/// Do both bounds of the last dimension move with those before it?
fn is_window(set: &Set, last: usize) -> Result<bool, IslError> {
    let (mut from_below, mut from_above) = (false, false);
    for piece in set.basic_sets()? {
        for constraint in piece.constraints()? {
            let factor = constraint.get_coefficient_val(DimType::Set, last)?;
            if factor.to_i128() == Some(0)
                || constraint.is_equality()?
                || !constraint.involves_dims(DimType::Set, 0, last)?
            {
                continue;
            }
            let is_lower = factor.is_pos()?;
            from_below |= is_lower;
            from_above |= !is_lower;
        }
    }
    Ok(from_below && from_above)
}

/// The number of points in the bounding box of a domain, where it has any: a product of a function of the parameters, if it has one, and
/// a number. Nothing if it is hard to say.
pub(super) fn box_size(domain: &Set, known: &Set) -> Result<Option<(Option<Expr>, i128)>, PlanError> {
    let here = known.intersect(&domain.params()?)?;
    let mut product: Option<Expr> = None;
    let mut constant: i128 = 1;
    for d in 0..domain.dim(DimType::Set)? {
        let extent = domain.dim_max(d)?.sub(&domain.dim_min(d)?)?.coalesce()?.gist_params(&here)?;
        if extent.pieces()?.len() > MAX_WORK_PIECES {
            return Ok(None);
        }
        let extent = plus_one(expr_from_pw_aff(&extent, &here)?);
        match extent.as_int() {
            Some(v) => constant = constant.saturating_mul(v),
            None => {
                product = Some(match product {
                    None => extent,
                    Some(p) => Expr::binary(BinaryOp::Mul, p, extent),
                })
            }
        }
    }
    Ok(Some((product, constant)))
}

pub(super) fn plus_one(e: Expr) -> Expr {
    match e {
        Expr::Int(v) => Expr::Int(v + 1),
        Expr::Binary(BinaryOp::Sub, x, c) if c.as_int() == Some(1) => *x,
        Expr::Binary(BinaryOp::Sub, x, c) if c.as_int().is_some_and(|c| c > 1) => {
            Expr::binary(BinaryOp::Sub, *x, Expr::Int(c.as_int().unwrap_or(1) - 1))
        }
        e => Expr::binary(BinaryOp::Add, e, Expr::Int(1)),
    }
}

/// The term that keeps the arithmetic of the loops in 64 bits, if it is needed.
fn fits(scop: &Scop, body: &Node, known: &Set) -> Result<Vec<CheckTerm>, PlanError> {
    match fits_i64(body, &known_params(scop, known)?) {
        Fits::Always => Ok(Vec::new()),
        Fits::Never => Err(refused(RefusalKind::TooComplex, scop, "loop bounds may exceed 64 bits")),
        Fits::Within { params, bits } => {
            let limit = 1i128 << bits;
            let mut terms = Vec::new();
            for p in params {
                let inside = Expr::binary(
                    BinaryOp::And,
                    Expr::binary(BinaryOp::Ge, Expr::Param(p), Expr::Int(-limit)),
                    Expr::binary(BinaryOp::Le, Expr::Param(p), Expr::Int(limit)),
                );
                terms.push(CheckTerm { kind: CheckKind::Fits { param: p, bits }, test: Test::Holds(inside) });
            }
            Ok(terms)
        }
    }
}

/// The parameters with the ranges that `known` leaves them.
pub(super) fn known_params(scop: &Scop, known: &Set) -> Result<Vec<Param>, IslError> {
    let count = known.dim(DimType::Param)?;
    let as_set = known.from_params()?.move_dims(DimType::Set, 0, DimType::Param, 0, count)?;
    let mut params = scop.params.clone();
    for (k, param) in params.iter_mut().enumerate() {
        if let Some(at) = known.find_dim_by_name(DimType::Param, &ParamId(k as u32).to_string())? {
            let low = as_set.dim_min_val(at)?.to_i128().unwrap_or(param.range.0);
            let high = as_set.dim_max_val(at)?.to_i128().unwrap_or(param.range.1);
            param.range = (param.range.0.max(low), param.range.1.min(high));
        }
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::scop::{Cell, FramedPart, Invariant, Statement, Wraps};
    use expect_test::{Expect, expect};

    fn plan_of(
        sketch: &str,
        assumptions: &[(AssumptionKind, &str)],
        alias: &[(u32, u32)],
    ) -> (Scop, Result<Plan, PlanError>) {
        let mut scop = test_scop(sketch);
        for (kind, valid) in assumptions {
            let valid = Set::read_from_str(&scop.ctx, valid).unwrap();
            scop.assumptions.add(Assumption {
                kind: *kind,
                because: String::new(),
                line: crate::source::Line::UNKNOWN,
                valid,
                bounds: Vec::new(),
            });
        }
        scop.may_alias = alias.iter().map(|(a, b)| (ArrayId(*a), ArrayId(*b))).collect();
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default());
        (scop, plan)
    }

    /// p1 is loaded through what p0 is loaded from, if p0 is positive; both are read in every iteration.
    fn with_two_invariants(after: usize) -> (Scop, Result<Plan, PlanError>) {
        let sketch = "for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          read A0[i]; write A1[j]; read A2[0]";
        let mut scop = test_scop(sketch);
        for (kind, valid) in
            [(AssumptionKind::EE, "[p0] -> { : p0 <= 1000 }"), (AssumptionKind::EE, "[p0, p1] -> { : p1 <= 2000 }")]
        {
            let valid = Set::read_from_str(&scop.ctx, valid).unwrap();
            scop.assumptions.add(Assumption {
                kind,
                because: String::new(),
                line: crate::source::Line::UNKNOWN,
                valid,
                bounds: Vec::new(),
            });
        }
        let ctx = scop.ctx.clone();
        let set = |text: &str| Set::read_from_str(&ctx, text).unwrap();
        let invariant = |name: &str, offset: i64, param, when: &str, after| Invariant {
            name: name.into(),
            line: crate::source::Line::UNKNOWN,
            same: vec![],
            cell: Some(Cell {
                array: ArrayId(2),
                domain: set("{ [] }"),
                relation: isl::Map::read_from_str(&ctx, &format!("{{ [] -> A2[{}] }}", offset / 8)).unwrap(),
                offset: isl::PwAff::read_from_str(&ctx, &format!("{{ [] -> [({offset})] }}")).unwrap(),
                bytes: 8,
            }),
            preload: Some(Preload { when: set(when), after, params: vec![ParamId(param)], arrays: vec![] }),
        };
        scop.invariants = [
            (ValueId(0), invariant("n", 8, 0, "{ : }", 0)),
            (ValueId(1), invariant("m", 16, 1, "[p0] -> { : p0 > 0 }", after)),
        ]
        .into();
        scop.may_alias = vec![(ArrayId(1), ArrayId(2))];
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default());
        (scop, plan)
    }

    #[test]
    fn what_a_preload_rests_on_comes_before_it() {
        let (scop, plan) = with_two_invariants(1);
        expect![[r#"
            RT: n is read before the loops if 1
            EE: p0 <= 1000: p0 <= 1000
            RT: m is read before the loops if p0 >= 1
            EE: p1 <= 2000: p1 <= 2000
            Work: enough iterations: p0 >= 1 && p1 >= 1 && p0 * p1 >= 4096: p0 >= 1 && p1 >= 1 && p0 * p1 >= 4096
            AA: A1 and A2 do not overlap: A1 + [0, 8 * p1) against A2 + [0, 24)
            cost 20
        "#]]
        .assert_eq(&shown(&scop, plan));
    }
    #[test]
    fn a_preload_that_rests_on_itself_is_refused() {
        let (scop, plan) = with_two_invariants(2);
        expect![[r#"
            refused: whether `m` can be read before the loops depends on itself
        "#]]
        .assert_eq(&shown(&scop, plan));
    }

    fn check(sketch: &str, assumptions: &[(AssumptionKind, &str)], alias: &[(u32, u32)], expected: Expect) {
        let (scop, plan) = plan_of(sketch, assumptions, alias);
        expected.assert_eq(&shown(&scop, plan));
    }

    fn shown(scop: &Scop, plan: Result<Plan, PlanError>) -> String {
        let names = Names::of(scop);
        let show = |e: &Expr| names.expr(e);
        let kind = |kind: &CheckKind| match kind {
            CheckKind::Assumed(kind) => kind.name(),
            CheckKind::Bytes { .. } => "EE",
            CheckKind::Work => "Work",
            CheckKind::Fits { .. } => "Fits",
            CheckKind::Memory => "Memory",
        };
        match plan {
            Err(e) => format!("refused: {e}\n"),
            Ok(plan) => plan
                .check
                .iter()
                .map(|term| (term, kind(&term.kind), plan.text_of(term, scop, &names)))
                .map(|(term, kind, text)| match &term.test {
                    Test::Holds(e) => format!("{kind}: {text}: {}\n", show(e)),
                    Test::Preload { when, .. } => format!("{kind}: {text} if {}\n", show(when)),
                    Test::Rows(_) => format!("{kind}: {text}\n"),
                    Test::Disjoint { first, second, windows } => {
                        let extent = |e: &Extent| format!("{} + [{}, {})", e.array, show(&e.low), show(&e.high));
                        let window =
                            |w: &Window| format!("[{}, {}) of {}", show(&w.low), show(&w.high), show(&w.stride));
                        let windows =
                            windows.as_deref().map(|[a, b]| format!(", or {} against {}", window(a), window(b)));
                        let windows = windows.unwrap_or_default();
                        format!("{kind}: {text}: {} against {}{windows}\n", extent(first), extent(second))
                    }
                })
                .chain([format!("cost {}\n", plan.check_cost())])
                .collect(),
        }
    }

    #[test]
    fn blocks_of_one_matrix_are_told_apart_by_their_columns() {
        check(
            "array A0 8 p1
             array A1 8 p2
             context 1 <= p0 <= p1 and p0 <= p2
             for i : 0 <= i < p0
               for j : 0 <= j < p0
                 read A0[i, j]; write A1[i, j]",
            &[],
            &[(0, 1)],
            expect![[r#"
                Work: enough iterations: p0 * p0 >= 4096: p0 * p0 >= 4096
                AA: A0 and A1 do not overlap: A0 + [0, ((p0 - 1) * p1 + (p0 - 1)) * 8 + 8) against A1 + [0, ((p0 - 1) * p2 + (p0 - 1)) * 8 + 8), or [0, (p0 - 1) * 8 + 8) of 8 * p1 against [0, (p0 - 1) * 8 + 8) of 8 * p2
                cost 38
            "#]],
        );
    }

    const COPY: &str = "for i : 0 <= i < p0
                          read A0[i]; write A1[i]";

    #[test]
    fn nothing_assumed_leaves_the_work_term() {
        check(
            COPY,
            &[],
            &[],
            expect![[r#"
            Work: enough iterations: p0 >= 1 && p0 >= 4096: p0 >= 1 && p0 >= 4096
            cost 3
        "#]],
        );
    }
    #[test]
    fn assumptions_are_simplified_by_the_context() {
        let context = "context 1 <= p0
                       for i : 0 <= i < p0
                         write A0[i]";
        check(
            context,
            &[
                (AssumptionKind::EE, "[p0] -> { : p0 <= 1000000 and p0 >= -5 }"),
                (AssumptionKind::IB, "[p0] -> { : p0 <= 2000000 }"),
            ],
            &[],
            expect![[r#"
                EE: p0 <= 1000000: p0 <= 1000000
                Work: enough iterations: p0 >= 4096: p0 >= 4096
                cost 2
            "#]],
        );
    }
    #[test]
    fn contradictions_are_refused() {
        check(
            COPY,
            &[(AssumptionKind::EE, "[p0] -> { : p0 < 0 and p0 > 0 }")],
            &[],
            expect![[r#"
            refused: what would have to be assumed is never true (EE)
        "#]],
        );
    }
    #[test]
    fn a_written_array_is_separated_from_a_read_one() {
        check(
            COPY,
            &[],
            &[(0, 1)],
            expect![[r#"
                Work: enough iterations: p0 >= 1 && p0 >= 4096: p0 >= 1 && p0 >= 4096
                AA: A0 and A1 do not overlap: A0 + [0, 8 * p0) against A1 + [0, 8 * p0)
                cost 13
            "#]],
        );
    }
    #[test]
    fn arrays_that_are_only_read_may_overlap() {
        let sum = "for i : 0 <= i < 5000
                     read A0[i]; read A1[i]; write A2[i]";
        check(
            sum,
            &[],
            &[(0, 1)],
            expect![[r#"
            cost 0
        "#]],
        );
    }
    #[test]
    fn extents_cover_offsets_and_sizes() {
        let stencil = "context 3 <= p0
                       for i : 1 <= i < p0 - 1
                         for j : 0 <= j < 1000
                           read A0[i - 1, j]; read A0[i + 1, j]; write A1[i, j]; write A0[i, j]";
        check(
            stencil,
            &[],
            &[(0, 1)],
            expect![[r#"
                Work: enough iterations: p0 - 2 >= 5: p0 - 2 >= 5
                AA: A0 and A1 do not overlap: A0 + [0, 8000 * p0) against A1 + [8000, 8000 * p0 - 8000)
                cost 13
            "#]],
        );
    }
    #[test]
    fn extents_of_parametric_shapes_are_products() {
        let shaped = "array A0 8 p1
                      array A1 8 p1
                      context 1 <= p0
                      context 1 <= p1
                      for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          read A0[i, j]; write A1[i, j]";
        check(
            shaped,
            &[],
            &[(0, 1)],
            expect![[r#"
                Work: enough iterations: p0 * p1 >= 4096: p0 * p1 >= 4096
                AA: A0 and A1 do not overlap: A0 + [0, ((p0 - 1) * p1 + (p1 - 1)) * 8 + 8) against A1 + [0, ((p0 - 1) * p1 + (p1 - 1)) * 8 + 8), or [0, (p1 - 1) * 8 + 8) of 8 * p1 against [0, (p1 - 1) * 8 + 8) of 8 * p1
                cost 38
            "#]],
        );
    }
    #[test]
    fn addresses_that_may_wrap_need_a_span_that_can_be_counted() {
        let shaped = "array A0 8 p1
                      context 1 <= p0 <= 9223372036854775807 and 1 <= p1 <= 9223372036854775807
                      for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          write A0[i, j]";
        let mut scop = test_scop(shaped);
        let Statement { domain, accesses, .. } = &scop.statements[0];
        let counted = vec![(domain.clone(), accesses[0].relation.clone())];
        scop.arrays[0].may_wrap = Some(Wraps { counted, framed: Vec::new() });
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default()).unwrap();
        let term = plan.check.iter().find(|term| matches!(term.kind, CheckKind::Bytes { .. })).unwrap();
        let Test::Holds(test) = &term.test else { panic!("{:?}", term.kind) };
        assert_eq!(Names::of(&scop).expr(test), "0 <= ((p0 - 1) * p1 + (p1 - 1)) * 8 + 8");
    }
    #[test]
    fn subscripts_of_few_bits_must_stay_in_their_window_even_if_nobody_uses_them_any_more() {
        let mut scop = test_scop(
            "array A0 8 p1
             context 1 <= p0 <= 1000000 and 1 <= p1 <= 1000000
             for i : 0 <= i < p0
               for j : 0 <= j < p1
                 write A0[i, j]; read A0[i, 0]",
        );
        let statement = &mut scop.statements[0];
        let (domain, relation) = (statement.domain.clone(), statement.accesses.remove(0).relation);
        let framed = vec![FramedPart { domain, relation, window: (0, 1 << 35) }];
        scop.arrays[0].may_wrap = Some(Wraps { counted: Vec::new(), framed });
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default()).unwrap();
        let term = plan.check.iter().find(|term| matches!(term.kind, CheckKind::Bytes { .. })).unwrap();
        let Test::Holds(test) = &term.test else { panic!("{:?}", term.kind) };
        assert_eq!(Names::of(&scop).expr(test), "0 <= 0 && (p0 - 1) * p1 * 8 + 8 <= 34359738368");
    }
    #[test]
    fn an_unknown_extent_is_refused() {
        let mut scop = test_scop(COPY);
        scop.may_alias = vec![(ArrayId(0), ArrayId(1))];
        let read = &mut scop.statements[0].accesses[0];
        read.offset = None;
        read.exact = false;
        read.relation = isl::Map::read_from_str(&scop.ctx, "[p0] -> { S0[i] -> A0[e] : 0 <= i < p0 }").unwrap();
        let refusal = match build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default()) {
            Err(PlanError::Refused(refusal)) => refusal,
            _ => panic!("not refused"),
        };
        assert_eq!(refusal.kind, RefusalKind::AliasUnchecked);
        assert_eq!(refusal.subject, "`A0` and `A1`");
    }
    #[test]
    fn wide_parameters_get_a_range() {
        let mut scop = test_scop(COPY);
        scop.params[0].bits = 64;
        scop.params[0].range = (i128::from(i64::MIN), i128::from(i64::MAX));
        let wide =
            Set::read_from_str(&scop.ctx, "[p0] -> { : -9223372036854775808 <= p0 <= 9223372036854775807 }").unwrap();
        scop.context = wide.clone();
        let domain = isl::Set::read_from_str(&scop.ctx, "[p0] -> { S0[i] : 0 <= i < 2p0 }").unwrap();
        scop.statements[0].domain = domain.intersect_params(&wide).unwrap();
        let text = "{ domain: \"[p0] -> { S0[i] : 0 <= i < 2p0 }\", child: { schedule: \"[{ S0[i] -> [(i)] }]\" } }";
        scop.schedule = isl::Schedule::read_from_str(&scop.ctx, text).unwrap();
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default()).unwrap();
        let fits: Vec<&CheckKind> =
            plan.check.iter().map(|t| &t.kind).filter(|kind| matches!(kind, CheckKind::Fits { .. })).collect();
        assert_eq!(fits, [&CheckKind::Fits { param: ParamId(0), bits: 61 }]);
    }
}
