//! How many iterations loops have.
//!
//! Where scalar evolution knows a loop's count it is taken, since LLVM proves more than we do. It knows none where the bound is loaded
//! again in every iteration, or where the counter may wrap around: then the exit condition itself is read. In iteration i of an
//! endless run it holds or not; the loop ends at the first i where it does. Where the condition in ℤ is not that of the program, because a
//! counter has left its type, nothing is known: a loop that did not end before is assumed not to exist.

use crate::facts::{BlockId, FunctionFacts, IntOp, LoopId, Op, Scev, ValueId, ValueKind};
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
    let unreadable = || NotAffine::Because("the way the loop ends".into());
    let way = WayOut::of(arithmetic.values.facts, id, exiting).ok_or_else(unreadable)?;
    let ends = ends(arithmetic, &way, inner)?;
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

/// A loop is left where a condition is (not) true.
struct WayOut {
    exiting: BlockId,
    condition: ValueId,
    leaves_if: bool,
}

impl WayOut {
    fn of(facts: &FunctionFacts, id: LoopId, exiting: BlockId) -> Option<WayOut> {
        let terminator = facts.terminator(exiting)?;
        let Op::Branch { targets } = &terminator.op else { return None };
        let [on_true, on_false] = targets[..] else { return None };
        let leaves = |b: BlockId| !facts.in_loop(b, id);
        let condition = terminator.operands[0];
        (leaves(on_true) != leaves(on_false)).then(|| WayOut { exiting, condition, leaves_if: leaves(on_true) })
    }

    /// The loop goes on where `a && b`, or leaves where `a || b`: either of them is reason enough to leave. If the first is, nobody looks at
    /// the second.
    fn reasons(self, facts: &FunctionFacts) -> Vec<WayOut> {
        let parts = if self.leaves_if { either(facts, self.condition) } else { both(facts, self.condition) };
        match parts {
            Some([a, b]) => {
                let part = |condition| WayOut { condition, ..self };
                [part(a), part(b)].into_iter().flat_map(|part| part.reasons(facts)).collect()
            }
            None => vec![self],
        }
    }
}

/// The iterations in which the loop is left there for sure, if control gets there: none from the first on in which the condition may say
/// something else than the program.
///
/// Requires: the domain of `inner` has all iterations ≥ 0.
fn ends(arithmetic: &mut Arithmetic, way: &WayOut, inner: &Scope) -> Read<Set> {
    let at_exit = Scope { block: way.exiting, ..inner.clone() };
    let nowhere = Set::empty(&inner.domain.get_space()?)?;
    let (holds, unsure) = arithmetic.unsure(nowhere, |this| this.condition(way.condition, &at_exit));
    let ends = if way.leaves_if { holds? } else { holds?.complement()? };
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
    let ways = info.exiting.iter().copied().filter(passed_by_all).filter_map(|b| WayOut::of(facts, id, b));
    for way in ways.flat_map(|way| way.reasons(facts)) {
        let begun = arithmetic.attempt(|this| {
            let ends = ends(this, &way, inner)?;
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

/// The two sides of `a && b`, which may have been made a choice.
pub fn both(facts: &FunctionFacts, condition: ValueId) -> Option<[ValueId; 2]> {
    let instruction = facts.instruction(condition)?;
    match (&instruction.op, &instruction.operands[..]) {
        (Op::Int(IntOp::And), &[a, b]) => Some([a, b]),
        (Op::Select, &[a, b, no]) if is_bit(facts, no, 0) => Some([a, b]),
        _ => None,
    }
}

/// The two sides of `a || b`.
pub fn either(facts: &FunctionFacts, condition: ValueId) -> Option<[ValueId; 2]> {
    let instruction = facts.instruction(condition)?;
    match (&instruction.op, &instruction.operands[..]) {
        (Op::Int(IntOp::Or), &[a, b]) => Some([a, b]),
        (Op::Select, &[a, yes, b]) if is_bit(facts, yes, 1) => Some([a, b]),
        _ => None,
    }
}

fn is_bit(facts: &FunctionFacts, value: ValueId, bit: i64) -> bool {
    matches!(facts.value(value).kind, ValueKind::ConstantInt(c) if c & 1 == bit)
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
