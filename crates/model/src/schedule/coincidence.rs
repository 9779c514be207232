//! Which loops of a schedule tree carry no dependence, straight from the tree and the dependences.

use crate::dependence::Dependences;
use isl::{IslError, MultiUnionPwAff, Schedule, ScheduleNode, ScheduleNodeType, UnionMap, UnionPwAff};
use planted::Fault;

/// The tree with every `coincident` flag as true as it can be: member m of a band is coincident if and only if no dependence,
/// reductions included, connects two instances that agree in all loops around m (the earlier members of its band among them)
/// but not in m.
///
/// Loops that isl's scheduler does not flag can be coincident in this sense, because its flags hold for every order of the
/// members of a band and these hold for the order at hand.
pub fn flag_coincident(schedule: &Schedule, dependences: &Dependences) -> Result<Schedule, IslError> {
    let all = if planted::is(Fault::UpdatesAtOnce) { dependences.validity()? } else { dependences.at_once()? };
    schedule.map_schedule_node_bottom_up(|node: ScheduleNode| -> Result<ScheduleNode, IslError> {
        if node.get_type()? != ScheduleNodeType::Band {
            return Ok(node);
        }
        let rows = node.band_get_partial_schedule()?.list()?;
        let mut active = active(&node, &all)?;
        let mut node = node;
        for (m, row) in rows.iter().enumerate() {
            let equal = equal_at(&active, row)?;
            let carries_nothing = active.is_subset(&equal)?;
            let coincident = carries_nothing || planted::is(Fault::CarriedAtOnce) && m + 1 == rows.len();
            node = node.band_member_set_coincident(m, coincident)?;
            active = equal;
        }
        Ok(node)
    })
}

/// The dependences between instances that reach the node together: in its domain, and equal in all bands above it.
pub(super) fn active(node: &ScheduleNode, dependences: &UnionMap) -> Result<UnionMap, IslError> {
    let domain = node.get_domain()?;
    let inside = dependences.intersect_domain(&domain)?.intersect_range(&domain)?;
    if node.get_schedule_depth()? == 0 {
        return Ok(inside);
    }
    inside.eq_at_multi_union_pw_aff(&node.get_prefix_schedule_multi_union_pw_aff()?)
}

/// The pairs with equal values of `row`.
pub(super) fn equal_at(pairs: &UnionMap, row: &UnionPwAff) -> Result<UnionMap, IslError> {
    pairs.eq_at_multi_union_pw_aff(&MultiUnionPwAff::from_union_pw_aff(row)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependence::dependences;
    use crate::fixture::test_scop;

    fn flags(sketch: &str) -> Vec<bool> {
        let scop = test_scop(sketch);
        let schedule = flag_coincident(&scop.schedule, &dependences(&scop).unwrap()).unwrap();
        let mut out = Vec::new();
        schedule
            .foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
                if node.get_type()? == ScheduleNodeType::Band {
                    for m in 0..node.band_n_member()? {
                        out.push(node.band_member_get_coincident(m)?);
                    }
                }
                Ok(true)
            })
            .unwrap();
        out
    }

    #[test]
    fn a_loop_inside_of_the_one_that_carries_is_coincident() {
        let sketch = "for t : 0 <= t < p0
                        for i : 0 <= i < p0
                          read A0[t - 1, i + 1]; write A0[t, i]";
        assert_eq!(flags(sketch), [false, true]);
    }
    #[test]
    fn reductions_are_carried() {
        let sketch = "for i : 0 <= i < p0
                        for k : 0 <= k < p0
                          update A0[i] +; read A1[k]";
        assert_eq!(flags(sketch), [true, false]);
    }
}
