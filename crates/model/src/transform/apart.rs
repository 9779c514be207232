//! Are the live ranges of scalars apart in a schedule tree?
//!
//! isl's scheduler is asked to see to it; this does not take its word for it.
//!
//! Words. A node of the tree *separates* two instances that reach it together if it runs them at different times: a band whose
//! members differ, or a sequence with the two in different children. A pair of `order` that reaches a node is *forced* if a live
//! range adjacent to it is separated by this node or by one above.

use super::distance::{Agreement, Precision, Row, agreement_below};
use crate::dependence::Ranged;
use isl::{IslError, Schedule, ScheduleNode, ScheduleNodeType, UnionMap};

/// Whether every node runs every forced pair in order or at once; a band, in each of its members (one after the other where they
/// may not be permuted). Exact in neither direction, but `true` is sound.
///
/// Requires: the tree respects flow dependences.
///
/// Ensures, if `true`: every live range is apart from all other writes of its scalar, also after permutable bands are permuted and
/// tiled.
///
/// Proof. Suppose that w′ runs between w and r for a live range (w, r). Let N be the node that separates w and r: above it, and
/// with lexicographic order of members also in it, w′ is not before w nor after r, so it reaches N with them. By the cases of
/// [`Ranged`]:
/// - (r, w′) is a pair. It is forced from N on, so in N and in all nodes below r is not after w′ in any member. But w′ runs before r.
///   So nothing ever separates them, though they are different instances.
/// - w′ is dead and (w′, w) is a pair: the same.
/// - (w′, r′) is another live range and r′ = w: its flow dependence is respected, and w′ is not after w.
/// - (w′, r′) is another live range and (r′, w) is a pair. If a node above N separated w′ from r′, it would force (r′, w): r′ not
///   after w, which is where w′ is, and not before w′; so it does not separate them. From N on (r′, w) is forced by (w, r). There
///   and below, w is not after w′ by assumption, w′ not after r′ by flow, r′ not after w by force. So nothing separates them.
///
/// A pair that is in order or at once in all members of a permutable band is so in all permutations of them and in tiles of
/// them, and what tiles and points separate together the band separated, so they force no other pairs.
pub(crate) fn are_apart(schedule: &Schedule, ranges: &[Ranged]) -> Result<bool, IslError> {
    // More pairs that are to be in order make it harder, and are quicker to be found.
    for precision in [Precision::OrMore, Precision::Exact] {
        if all_are_apart(schedule, ranges, precision)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn all_are_apart(schedule: &Schedule, ranges: &[Ranged], precision: Precision) -> Result<bool, IslError> {
    let root = schedule.get_root()?;
    for scalar in ranges {
        let mut around = Around { rows: Vec::new(), precision };
        let forced = UnionMap::empty_ctx(schedule.ctx())?;
        if !below(&root, &Together { live: scalar.live.clone(), order: scalar.order.clone(), forced }, &mut around)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The pairs that reach a node.
struct Together {
    live: UnionMap,
    order: UnionMap,
    /// Part of `order`.
    forced: UnionMap,
}

impl Together {
    fn map(&self, restrict: impl Fn(&UnionMap) -> Result<UnionMap, IslError>) -> Result<Together, IslError> {
        Ok(Together { live: restrict(&self.live)?, order: restrict(&self.order)?, forced: restrict(&self.forced)? })
    }

    /// Forces what is adjacent to a live range that is not in `local`.
    fn force(&mut self, local: &UnionMap) -> Result<(), IslError> {
        let separated = self.live.subtract(local)?;
        let after = self.order.intersect_domain(&separated.range()?)?;
        let before = self.order.intersect_range(&separated.domain()?)?;
        self.forced = self.forced.union(&after)?.union(&before)?.coalesce()?;
        Ok(())
    }
}

/// The bands around a node.
struct Around {
    /// Those of the pairs that reach it agree in them, or do not count.
    rows: Vec<Row>,
    /// Of `order` and `forced`. Live ranges are those that are there: one that is taken to be local though it is not forces nothing.
    precision: Precision,
}

fn below(node: &ScheduleNode, reach: &Together, around: &mut Around) -> Result<bool, IslError> {
    if reach.order.is_empty()? || (reach.live.is_empty()? && reach.forced.is_empty()?) {
        return Ok(true);
    }
    match node.get_type()? {
        // What no node separates has no order of its own.
        ScheduleNodeType::Leaf => Ok(reach.live.is_empty()? && reach.forced.is_empty()?),
        ScheduleNodeType::Band => band(node, reach, around),
        ScheduleNodeType::Sequence => sequence(node, reach, around),
        ScheduleNodeType::Set => set(node, reach, around),
        ScheduleNodeType::Domain | ScheduleNodeType::Context | ScheduleNodeType::Mark => {
            below(&node.child(0)?, reach, around)
        }
        // Copies touch no scalars.
        ScheduleNodeType::Extension => below(&node.child(0)?, reach, around),
        // Nobody makes other nodes.
        _ => Ok(false),
    }
}

fn band(node: &ScheduleNode, reach: &Together, around: &mut Around) -> Result<bool, IslError> {
    let rows = node.band_get_partial_schedule()?.list()?;
    let steps: Vec<_> = if node.band_get_permutable()? { vec![&rows[..]] } else { rows.chunks(1).collect() };
    let mut reach = reach.map(|pairs| Ok(pairs.clone()))?;
    let depth = around.rows.len();
    for step in steps {
        let own = step.iter().map(Row::of).collect::<Result<Vec<_>, _>>()?;
        let live = agreement_below(&reach.live, &own, &around.rows, Precision::Exact)?;
        let Agreement { equal: local, differ: some_are_separated, .. } = live;
        if some_are_separated {
            reach.force(&local)?;
        }
        let above: Vec<&Row> = around.rows.iter().collect();
        for row in &own {
            if !row.distances(&reach.forced, &above)?.backward()?.is_empty()? {
                return Ok(false);
            }
        }
        let together = |pairs: &UnionMap| -> Result<UnionMap, IslError> {
            Ok(agreement_below(pairs, &own, &around.rows, around.precision)?.equal)
        };
        reach = Together { live: local, order: together(&reach.order)?, forced: together(&reach.forced)? };
        around.rows.extend(own);
    }
    let apart = below(&node.child(0)?, &reach, around);
    around.rows.truncate(depth);
    apart
}

/// Nothing is known of the order of the children, so nothing may be asked of it.
fn set(node: &ScheduleNode, reach: &Together, around: &mut Around) -> Result<bool, IslError> {
    let mut within = UnionMap::empty_ctx(node.ctx())?;
    for filter in node.children()? {
        let instances = filter.filter_get_filter()?;
        let inside = reach.map(|pairs| pairs.intersect_domain(&instances)?.intersect_range(&instances))?;
        if !below(&filter.child(0)?, &inside, around)? {
            return Ok(false);
        }
        within = within.union(&inside.live)?.union(&inside.order)?;
    }
    Ok(reach.live.is_subset(&within)? && reach.order.is_subset(&within)?)
}

fn sequence(node: &ScheduleNode, reach: &Together, around: &mut Around) -> Result<bool, IslError> {
    let filters = node.children()?;
    let mut parts = Vec::new();
    let mut local = UnionMap::empty_ctx(node.ctx())?;
    for filter in &filters {
        let instances = filter.filter_get_filter()?;
        local = local.union(&reach.live.intersect_domain(&instances)?.intersect_range(&instances)?)?;
        parts.push(instances);
    }
    let mut reach = reach.map(|pairs| Ok(pairs.clone()))?;
    reach.force(&local)?;
    for (later, from) in parts.iter().enumerate() {
        let from_later = reach.forced.intersect_domain(from)?;
        for to in &parts[..later] {
            if !from_later.intersect_range(to)?.is_empty()? {
                return Ok(false);
            }
        }
    }
    for (filter, instances) in filters.iter().zip(&parts) {
        let inside = reach.map(|pairs| pairs.intersect_domain(instances)?.intersect_range(instances))?;
        if !below(&filter.child(0)?, &inside, around)? {
            return Ok(false);
        }
    }
    Ok(true)
}
