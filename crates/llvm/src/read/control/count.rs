//! How many iterations loops have.
//!
//! Where scalar evolution knows a loop's count it is taken, since LLVM proves more than we do. It knows none where the bound is loaded
//! again in every iteration, or where the counter may wrap around: then the exit condition itself is read. In iteration i of an
//! endless run it holds or not; the loop ends at the first i where it does. Where the condition in ℤ is not that of the program, because a
//! counter has left its type, nothing is known: a loop that did not end before is assumed not to exist.

use crate::facts::{BlockId, FunctionFacts, LoopId, Op, Scev};
use crate::read::Stop;
use crate::read::arithmetic::{Arithmetic, NotAffine, Read, Scope, not_affine};
use isl::{DimType, Map, Set};
use model::assume::AssumptionKind;
use model::refusal::RefusalKind;
use planted::Fault;

/// The iterations of a loop.
pub struct Turns {
    /// Those that begin.
    pub begun: Set,
    /// Those that do not leave the loop.
    pub completed: Set,
}

/// Requires: `scope` is that of the header before the loop is entered, `inner` the same with the loop, its domain all iterations ≥ 0.
pub fn turns(
    arithmetic: &mut Arithmetic,
    id: LoopId,
    exiting: BlockId,
    scope: &Scope,
    inner: &Scope,
) -> Result<Turns, Stop> {
    let info = &arithmetic.values.facts.loops[id.index()];
    let why = match &info.backedge_taken_count {
        Scev::Other { .. } => {
            let name = match &info.counter_name {
                name if name.is_empty() => "its counter".into(),
                name => format!("`{name}`"),
            };
            let why = format!("{name} does not run evenly to a fixed bound");
            Stop::refuse(RefusalKind::UnknownTripCount, info.line, why, info.header)
        }
        count => match arithmetic.or_forget(|this| turns_by_count(this, count, scope, inner)) {
            Ok(turns) => return Ok(turns),
            Err(NotAffine::Isl(error)) => return Err(Stop::Isl(error)),
            Err(error) => error.refused(RefusalKind::NonAffineBound, scope),
        },
    };
    arithmetic.attempt(|this| turns_by_condition(this, id, exiting, scope, inner))?.ok_or(why)
}

fn turns_by_count(arithmetic: &mut Arithmetic, count: &Scev, scope: &Scope, inner: &Scope) -> Read<Turns> {
    let count = arithmetic.of_scev(count, scope, 0)?;
    let bounded = reaches_its_bound(arithmetic.values.facts, inner);
    let count = arithmetic.assuming(AssumptionKind::BL, bounded, |this| {
        if planted::is(Fault::CountsSigned) { this.as_signed(count, scope) } else { this.as_unsigned(count, scope) }
    })?;
    let counter = arithmetic.iteration(inner, scope.loops.len())?;
    let last = count.function.add_dims(DimType::In, 1)?;
    let within = if planted::is(Fault::CountShort) { counter.lt_set(&last)? } else { counter.le_set(&last)? };
    let begun = inner.domain.intersect(&within)?.coalesce()?;
    let completed = inner.domain.intersect(&counter.lt_set(&last)?)?.coalesce()?;
    Ok(Turns { begun, completed })
}

fn turns_by_condition(
    arithmetic: &mut Arithmetic,
    id: LoopId,
    exiting: BlockId,
    scope: &Scope,
    inner: &Scope,
) -> Read<Turns> {
    let ends = ends(arithmetic, id, exiting, inner)?;
    let later = later(arithmetic.values.ctx, inner)?;
    let facts = arithmetic.values.facts;
    let depth = scope.loops.len();
    let endless = scope.domain.subtract(&ends.project_out(DimType::Set, depth, 1)?)?;
    let endless = endless.intersect_params(&arithmetic.known.assumed)?;
    if !endless.is_empty()? {
        let bounded = reaches_its_bound(facts, inner);
        arithmetic.assuming(AssumptionKind::BL, bounded, |this| this.assume_never(endless, scope))?;
    }
    let begun = inner.domain.subtract(&ends.apply(&later)?)?;
    let begun = begun.intersect_params(&arithmetic.known.assumed)?.coalesce()?;
    let completed = begun.subtract(&ends)?.coalesce()?;
    Ok(Turns { begun, completed })
}

/// The iterations in which the loop is left at this block for sure, if control gets there: none from the first on in which its condition may
/// say something else than the program.
///
/// Requires: the domain of `inner` has all iterations ≥ 0.
fn ends(arithmetic: &mut Arithmetic, id: LoopId, exiting: BlockId, inner: &Scope) -> Read<Set> {
    let facts = arithmetic.values.facts;
    let unreadable = || NotAffine::Because("the way the loop ends".into());
    let terminator = facts.terminator(exiting).ok_or_else(unreadable)?;
    let Op::Branch { targets } = &terminator.op else { return Err(unreadable()) };
    let [on_true, on_false] = targets[..] else { return Err(unreadable()) };
    let leaves = |b: BlockId| !facts.in_loop(b, id);
    if leaves(on_true) == leaves(on_false) {
        return Err(unreadable());
    }
    let at_exit = Scope { block: exiting, ..inner.clone() };
    let nowhere = Set::empty(&inner.domain.get_space()?)?;
    let (holds, unsure) = arithmetic.unsure(nowhere, |this| this.condition(terminator.operands[0], &at_exit));
    let ends = if leaves(on_true) { holds? } else { holds?.complement()? };
    let later = later(arithmetic.values.ctx, inner)?;
    let unsure = unsure.intersect(&inner.domain)?;
    let since = unsure.union(&unsure.apply(&later)?)?;
    Ok(ends.intersect(&inner.domain)?.subtract(&since)?.coalesce()?)
}

/// The iterations that begin at most, by the ways out of the loop that each of them comes by. `None`: there is no end to them, unless more is
/// assumed than that numbers are far from the limits of their types.
///
/// Requires: as [`turns`].
pub fn most_turns(
    arithmetic: &mut Arithmetic,
    id: LoopId,
    scope: &Scope,
    inner: &Scope,
) -> Result<Option<Set>, isl::IslError> {
    let facts = arithmetic.values.facts;
    let info = &facts.loops[id.index()];
    let passed_by_all = |exiting: &BlockId| {
        let always = info.latch.is_some_and(|latch| facts.dominates(*exiting, latch));
        always && facts.block(*exiting).innermost_loop == Some(id)
    };
    let exiting: Vec<BlockId> = info.exiting.iter().copied().filter(passed_by_all).collect();
    for exiting in exiting {
        let begun = arithmetic.attempt(|this| {
            let ends = ends(this, id, exiting, inner)?;
            let depth = scope.loops.len();
            let endless = scope.domain.subtract(&ends.project_out(DimType::Set, depth, 1)?)?;
            let endless = endless.intersect_params(&this.known.assumed)?;
            if !endless.is_empty()? {
                if !this.are_extreme(&endless.params()?)? {
                    return not_affine("a loop without a bound");
                }
                let bounded = reaches_its_bound(facts, inner);
                this.assuming(AssumptionKind::BL, bounded, |this| this.assume_never(endless, scope))?;
            }
            Ok(inner.domain.subtract(&ends.apply(&later(this.values.ctx, inner)?)?)?.coalesce()?)
        })?;
        if begun.is_some() {
            return Ok(begun);
        }
    }
    Ok(None)
}

/// From every iteration of the innermost loop to all later ones with the same outer counters.
fn later(ctx: &isl::Ctx, inner: &Scope) -> Result<Map, isl::IslError> {
    let depth = inner.loops.len();
    let outer: String = (0..depth - 1).map(|d| format!("i{d}, ")).collect();
    Map::read_from_str(ctx, &format!("{{ [{outer}i] -> [{outer}j] : j > i }}"))
}

fn reaches_its_bound(facts: &FunctionFacts, inner: &Scope) -> String {
    match inner.loops.last().map_or("", |l| &facts.loops[l.index()].counter_name) {
        "" => "the loop reaches its bound".into(),
        name => format!("the loop over {name} reaches its bound"),
    }
}
