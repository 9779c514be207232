//! The order of the program.

use crate::read::control::Item;
use crate::read::statement::Cut;
use indexmap::IndexMap;
use isl::{MultiUnionPwAff, Schedule, Set, UnionMap, UnionSet};
use model::scop::StatementId;

/// The order of the program: sequences of statements and loops, one band member per loop.
pub fn original_schedule(
    ctx: &isl::Ctx,
    items: &[Item],
    cut: &Cut,
    domains: &IndexMap<StatementId, Set>,
    unit: &mut usize,
) -> Result<Option<Schedule>, isl::IslError> {
    let mut whole: Option<Schedule> = None;
    let mut append = |next: Option<Schedule>| -> Result<(), isl::IslError> {
        whole = match (whole.take(), next) {
            (Some(before), Some(next)) => Some(before.sequence(&next)?),
            (before, next) => before.or(next),
        };
        Ok(())
    };
    for item in items {
        match item {
            Item::Block(_) | Item::Boxed(_) => {
                for (index, draft) in cut.drafts.iter().enumerate() {
                    if draft.unit == *unit {
                        let domain = UnionSet::from_set(&domains[&StatementId(index as u32)])?;
                        append(Some(Schedule::from_domain(&domain)?))?;
                    }
                }
                *unit += 1;
            }
            Item::Loop { body, .. } => {
                if let Some(inner) = original_schedule(ctx, body, cut, domains, unit)? {
                    append(Some(loop_around(ctx, inner, item, cut)?))?;
                }
            }
        }
    }
    Ok(whole)
}

fn loop_around(ctx: &isl::Ctx, body: Schedule, item: &Item, cut: &Cut) -> Result<Schedule, isl::IslError> {
    let Item::Loop { id, .. } = item else { unreachable!("called for loops") };
    let mut counters: Option<UnionMap> = None;
    for (index, draft) in cut.drafts.iter().enumerate() {
        let Some(dimension) = draft.scope.loops.iter().position(|l| l == id) else { continue };
        let dims: Vec<String> = (0..draft.scope.loops.len()).map(|d| format!("i{d}")).collect();
        let text = format!("{{ {}[{}] -> [i{dimension}] }}", StatementId(index as u32), dims.join(", "));
        let map = UnionMap::read_from_str(ctx, &text)?;
        counters = Some(match counters {
            None => map,
            Some(all) => all.union(&map)?,
        });
    }
    let counters = MultiUnionPwAff::from_union_map(&counters.expect("a loop around statements"))?;
    body.insert_partial_schedule(&counters)
}
