//! Removes scalars that pass values from statement to statement, without using more memory unless that is allowed.
//!
//! A compiler keeps what it can in registers: it loads `A[i]` once before the inner loop, and sums up in a register what it stores
//! after it. A register is one cell for all instances, so that they must keep their order. Here such values are computed again where
//! they are needed ([`forward`](self::forward)), or live in array elements that nobody needs meanwhile ([`coalesce`](self::coalesce)).
//! What is left then can be given memory of its own ([`expand`](self::expand)).
//!
//! ```text
//! for i { c = 0; for k { c += A[i] * B[k]; } C[i] = c; }     becomes     for i { C[i] = 0; for k { C[i] += A[i] * B[k]; } }
//! ```
//!
//! What is in an element when, and who needs it, is told by [`crate::zone`].

mod align;
mod cells;
mod coalesce;
mod code;
mod expand;
mod forward;
mod replay;
mod simplify;
mod split;
#[cfg(test)]
mod tests;
mod work;

pub use code::*;
pub use expand::Expansion;
pub use replay::replay;

use crate::scop::{Access, Array, ArrayId, Scop, Statement, StatementId};
use crate::zone::ZONE;
use indexmap::IndexMap;
use isl::{IslError, ScheduleNode, ScheduleNodeType, Set, UnionMap, UnionPwMultiAff, UnionSet};
use std::collections::BTreeSet;
use work::Work;

/// Forwarding makes way for moving, and the other way round: both are repeated at most this often.
const MAX_ROUNDS: usize = 4;

/// What a region has become.
pub struct Outcome {
    /// Empty if nothing changed.
    pub statements: IndexMap<StatementId, Changed>,
    pub counts: Counts,
}

/// Changes the accesses, statements and order of `scop` so that it does with fewer scalars.
///
/// Requires: `scop` orders all instances totally; `program` describes its statements.
/// Ensures: if statements are run as the outcome says, every instance that is left computes the values it did, and arrays and
/// live-out scalars contain in the end what they did. Memory is written only where the region wrote it anyway, and, as far as
/// `expansion` allows, in temporaries that are among the arrays of `scop` then. When the budget runs out, what was done so far stays.
pub fn delicm(scop: &mut Scop, program: &Program, expansion: Expansion) -> Result<Outcome, IslError> {
    let scalars = |s: &crate::scop::Statement| s.accesses.iter().any(|a| scop.arrays[&a.array].kind.is_scalar());
    if !scop.statements.values().any(scalars) {
        return Ok(Outcome { statements: IndexMap::new(), counts: Counts::default() });
    }
    let ctx = scop.ctx.clone();
    let mut best = None;
    let ended = ctx.within(ZONE, || {
        let mut work = Work::new(scop, program)?;
        work.simplify()?;
        work.drop_unread_instances()?;
        for _ in 0..MAX_ROUNDS {
            let forwarded = work.forward()?;
            let moved = work.coalesce()?;
            work.simplify()?;
            if work.scalar_writes() > 0 {
                work.drop_unread_instances()?;
            }
            best = Some(finished(&mut work)?);
            if !forwarded && !moved || work.scalar_writes() == 0 {
                break;
            }
        }
        let mut cut = false;
        while work.scalar_writes() > 0 && work.split()? {
            cut = true;
        }
        if cut {
            work.forward()?;
            work.simplify()?;
            best = Some(finished(&mut work)?);
        }
        if work.expand(expansion)? {
            best = Some(finished(&mut work)?);
        }
        Ok(())
    });
    let finished = match (ended, best) {
        (Err(error), best) if best.is_none() || !IslError::is_out_of_budget(&error) => return Err(error),
        (_, best) => best.expect("one round at least"),
    };
    let Finished { outcome, accesses, schedule, temporaries } = finished;
    let before = std::mem::take(&mut scop.statements);
    for (id, (domain, accesses)) in accesses {
        let from = &before[&outcome.statements[&id].from];
        scop.statements.insert(id, Statement { domain, accesses, ..from.clone() });
    }
    scop.schedule = schedule;
    let used: BTreeSet<ArrayId> = scop.statements.values().flat_map(|s| &s.accesses).map(|a| a.array).collect();
    scop.arrays.retain(|id, array| !array.kind.is_scalar() || array.live_out || used.contains(id));
    scop.arrays.extend(temporaries.into_iter().filter(|(id, _)| used.contains(id)));
    Ok(outcome)
}

struct Finished {
    outcome: Outcome,
    accesses: IndexMap<StatementId, (Set, Vec<Access>)>,
    schedule: isl::Schedule,
    temporaries: IndexMap<ArrayId, Array>,
}

fn finished(work: &mut Work) -> Result<Finished, IslError> {
    work.mark_updates()?;
    let mut accesses = IndexMap::new();
    let mut domain = UnionSet::empty_ctx(&work.scop.ctx)?;
    let mut parts = UnionMap::empty_ctx(&work.scop.ctx)?;
    for (&id, draft) in work.drafts.iter().filter(|(_, d)| d.alive) {
        let whole = work.scop.statements[&draft.from].domain.set_tuple_name(&id.to_string())?;
        let own = whole.intersect(&draft.domain)?;
        domain = domain.union(&UnionSet::from_set(&own)?)?;
        let same = own.identity()?.set_tuple_name(isl::DimType::Out, &draft.from.to_string())?;
        parts = parts.union(&UnionMap::from_map(&same)?)?;
        accesses.insert(id, (own, draft.alive().map(|(_, item)| item.access.clone()).collect()));
    }
    let mut counts = work.counts;
    counts.after = work.scalar_writes();
    let mut schedule = work.scop.schedule.clone();
    if work.drafts.iter().any(|(id, draft)| *id != draft.from) {
        schedule = schedule.pullback_union_pw_multi_aff(&UnionPwMultiAff::from_union_map(&parts)?)?;
    }
    let mut schedule = schedule.intersect_domain(&domain)?;
    if work.drafts.iter().any(|(id, draft)| *id != draft.from) {
        // Parts of a statement have places of their own in the text: see Timeline::copy.
        schedule = schedule.map_schedule_node_bottom_up(|node| -> Result<ScheduleNode, IslError> {
            let sets = node.get_universe_domain()?.sets()?;
            if node.get_type()? != ScheduleNodeType::Leaf || sets.len() < 2 {
                return Ok(node);
            }
            let mut sets: Vec<(StatementId, Set)> = sets
                .into_iter()
                .filter_map(|set| Some((StatementId::from_isl_name(&set.get_tuple_name().ok()?)?, set)))
                .collect();
            sets.sort_by_key(|(id, _)| *id);
            let filters = sets.iter().map(|(_, set)| UnionSet::from_set(set)).collect::<Result<Vec<_>, _>>()?;
            node.insert_sequence(&filters)
        })?;
    }
    let outcome = Outcome { statements: work.changed(), counts };
    Ok(Finished { outcome, accesses, schedule, temporaries: work.temporaries.clone() })
}
