//! Whether it is worth looking for an order at all: asked before scalars are moved and dependences computed, which takes much longer.
//!
//! Nothing here is a proof of what may run in which order. A region is left alone where the least that the estimate could say of any
//! order is not enough below the most that it could say of the original one.

use super::cost::{Code, Lanes, Nest, References, estimate, least};
use super::nominal::assumed_sizes;
use super::region::{EstimatedRegion, byte_steps};
use super::shape::EstimatedTree;
use super::split::{MIN_SPLIT, is_one_loop};
use super::{AS_GOOD, Decision, Machine, ScheduleOptions};
use crate::scop::{Access, ArrayId, ArrayKind, Scop, StatementId};
use crate::transform::labelled;
use isl::{DimType, IslError, Map};
use std::collections::BTreeSet;

/// What may be expected of a region.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// To leave it alone, whatever its dependences are.
    pub decision: Option<Decision>,
    /// No more than this can be gained.
    pub cycles: f64,
}

pub(super) fn outlook(scop: &Scop, machine: &Machine, options: &ScheduleOptions) -> Result<Outlook, IslError> {
    let region = EstimatedRegion::without_dependences(scop)?;
    let (mut nest, references) = EstimatedTree::of(&region, &labelled(&scop.schedule)?)?.nest(&[]);
    nest.iter_mut().for_each(|part| doubt(part, scop, &references));
    let before = estimate(&nest, &references, machine, Code::Original);
    let leave = |reason: String, too_small: bool, part_may_gain: bool| {
        let decision = Decision::Leave { reason, too_small, part_may_gain, cycles: before.cycles };
        Ok(Outlook { decision: Some(decision), cycles: 0.0 })
    };
    let instances = before.vector_instances + before.scalar_instances;
    let may_split = is_one_loop(scop)? && scop.statements.len() > 1 && instances >= MIN_SPLIT;
    if instances < options.min_instances && !may_split {
        return leave(format!("only about {instances:.0} statement instances{}", assumed_sizes(scop)?), true, false);
    }
    if is_one_chain(scop) && options.worthwhile.is_finite() {
        let reason = "all that it computes are scalars, each from what they were before".to_string();
        return leave(reason, false, false);
    }
    let least = least(&nest, &references, machine, &stuck(scop, &references));
    let ratio = least / before.cycles;
    // Threads are a gain by themselves.
    if ratio < options.worthwhile || options.parallel || options.draw.is_some() {
        let cycles = if options.parallel { before.cycles } else { before.cycles - least };
        return Ok(Outlook { decision: None, cycles });
    }
    let percent = 100.0 * ratio;
    let reason = format!("whatever the order, it takes at least {percent:.0} % of the original's time");
    leave(reason + &assumed_sizes(scop)?, false, ratio < 1.0 - AS_GOOD)
}

/// Nothing is written but scalars, as sums that keep their order are: all instances that matter wait for each other.
fn is_one_chain(scop: &Scop) -> bool {
    let mut writes = scop.statements.values().flat_map(|s| &s.accesses).filter(|a| a.is_write());
    writes.all(|a| scop.arrays[&a.array].kind.is_scalar() && a.update.is_none())
}

/// An innermost loop of which it is not plain that its iterations are independent is taken for one that is not.
fn doubt(part: &mut Nest, scop: &Scop, references: &References) {
    let Nest::Loop { key, lanes, body, .. } = part else { return };
    body.iter_mut().for_each(|b| doubt(b, scop, references));
    let statements: Vec<StatementId> =
        body.iter().filter_map(|b| if let Nest::Statement(s) = b { Some(*s) } else { None }).collect();
    let of_statements = statements.iter().flat_map(|s| &references[s].references);
    let moving: BTreeSet<ArrayId> = of_statements.filter(|r| r.steps_over(*key)).map(|r| r.array).collect();
    if statements.len() == body.len() && !are_plainly_independent(&statements, &moving, scop) {
        *lanes = Lanes::Chained;
    }
}

/// What an iteration writes, it alone touches: in arrays there is one place that all accesses mean and that is another in each iteration,
/// or at least one of its subscripts is; and no scalar is handed on.
fn are_plainly_independent(statements: &[StatementId], moving: &BTreeSet<ArrayId>, scop: &Scop) -> bool {
    let accesses = || statements.iter().flat_map(|s| &scop.statements[s].accesses);
    accesses().filter(|a| a.is_write()).all(|write| match scop.arrays[&write.array].kind {
        // The value of this iteration, or nobody's: who uses it is behind it.
        ArrayKind::Value => true,
        ArrayKind::Phi => !accesses().any(|a| !a.is_write() && a.array == write.array),
        ArrayKind::Memory | ArrayKind::Temporary => {
            let of_array = || accesses().filter(|a| a.array == write.array);
            let same_place = |a: &Access| a.exact && is_same_place(a, write);
            moving.contains(&write.array) && (of_array().all(same_place) || share_subscript(write, of_array))
        }
        ArrayKind::Errno { .. } => false,
    })
}

/// Requires: their statements are in the same loops.
fn is_same_place(a: &Access, b: &Access) -> bool {
    let nameless = |access: &Access| access.relation.set_tuple_name(DimType::In, "S");
    let same = || nameless(a)?.plain_is_equal(&nameless(b)?);
    a.bytes == b.bytes && same().unwrap_or(false)
}

/// All accesses have one subscript in common, and it is another in each iteration of the innermost loop, as i is in `b[j][i] += b[k][i]`.
///
/// Requires: their statements are in the same loops.
fn share_subscript<'a, A: Iterator<Item = &'a Access>>(write: &Access, others: impl Fn() -> A) -> bool {
    let subscript = |access: &Access, k: usize| -> Result<Map, IslError> {
        let nameless = access.relation.set_tuple_name(DimType::In, "S")?;
        let behind = nameless.project_out(DimType::Out, k + 1, nameless.dim(DimType::Out)? - k - 1)?;
        behind.project_out(DimType::Out, 0, k)
    };
    let is_shared = |k: usize| -> Result<bool, IslError> {
        let own = subscript(write, k)?;
        let steps = byte_steps(&own, &[1.0], own.dim(DimType::In)?)?;
        let moves = steps.is_some_and(|steps| steps.last().is_some_and(|step| *step != 0.0));
        let is_same =
            |a: &Access| a.exact && subscript(a, k).and_then(|other| other.plain_is_equal(&own)).unwrap_or(false);
        Ok(moves && others().all(is_same))
    };
    let subscripts = write.relation.dim(DimType::Out).unwrap_or(0);
    write.exact && (0..subscripts).any(|k| is_shared(k).unwrap_or(false))
}

/// Who writes an array anywhere, and all that touch it and are in no loop of their own, keep their order: each of them runs between two of
/// those writes.
fn stuck(scop: &Scop, references: &References) -> BTreeSet<StatementId> {
    let all = || scop.statements.iter().flat_map(|(&s, statement)| statement.accesses.iter().map(move |a| (s, a)));
    let is_memory = |a: &Access| scop.arrays[&a.array].kind == ArrayKind::Memory;
    let anywhere = |a: &Access| a.is_write() && a.is_anywhere().unwrap_or(true) && is_memory(a);
    let between_writes = |s: StatementId, a: &Access| {
        let mut writes = all().filter(|(_, write)| write.array == a.array && anywhere(write));
        // A statement of which no instance runs is in no loop of the tree.
        let loops = |s: StatementId| references.get(&s).map(|moving| &moving.loops);
        writes.any(|(writer, _)| loops(s).zip(loops(writer)).is_some_and(|(own, around)| own.is_subset(around)))
    };
    all().filter(|(s, a)| between_writes(*s, a)).map(|(s, _)| s).collect()
}
