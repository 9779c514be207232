//! Unroll-and-jam: iterations of a loop run side by side in the loops below it.

use super::apply::{rows, with_rows};
use super::reach::instances_at;
use super::{Label, Tree, label_above};
use crate::scop::{ArrayId, Scop, StatementId};
use isl::{IslError, MultiUnionPwAff, ScheduleNode, ScheduleNodeType, UnionMap, UnionPwAff, UnionSet, Val};
use std::collections::{BTreeMap, BTreeSet};

/// The band with groups of iterations in place of one member, and the iterations of a group at all leaves below.
pub(super) fn jam(band: &ScheduleNode, member: usize, by: i64) -> Result<ScheduleNode, IslError> {
    let mut label = label_above(band)?.expect("it was found by its label");
    label.band = label.band.cut_beside(bands(band)?);
    label = Label { jam: Some(by), threads: false, vectors: false, ..label };
    let size = Val::int_from_si(band.ctx(), by)?;
    let mut rows = rows(band)?;
    let (row, _) = &mut rows[member];
    let groups = row.scale_down_val(&size)?.floor()?;
    let points = row.sub(&groups.scale_val(&size)?)?;
    *row = groups;
    sink(with_rows(band, rows)?, &points, label)
}

/// All bands of the tree.
fn bands(node: &ScheduleNode) -> Result<Vec<super::BandId>, IslError> {
    let mut all = Vec::new();
    node.get_schedule()?.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        all.extend(label_above(node)?.map(|label| label.band));
        Ok(true)
    })?;
    Ok(all)
}

/// A band of its own above each leaf; ends where it began.
fn sink(node: ScheduleNode, row: &UnionPwAff, label: Label) -> Result<ScheduleNode, IslError> {
    if node.get_type()? == ScheduleNodeType::Leaf {
        let row = row.intersect_domain(&node.get_universe_domain()?)?;
        let band = node.insert_partial_schedule(&MultiUnionPwAff::from_union_pw_aff(&row)?)?;
        return label.insert(&band);
    }
    let mut node = node;
    for k in 0..node.n_children()? {
        node = sink(node.child(k)?, row, label)?.parent()?;
    }
    Ok(node)
}

/// For each statement that runs side by side: the arrays of which no two of the iterations that are written out, of all statements
/// there, touch one cell, if one of them writes.
pub type ApartPoints = BTreeMap<StatementId, BTreeSet<ArrayId>>;

/// What isl's bookkeeping may take for one array.
const APART: isl::Budget = isl::Budget::new("cells of iterations that run side by side", 20_000);

/// Ensures: let two instances run at one leaf and differ in the iterations that are written out there; whatever the other loops'
/// iterations, none of them writes a cell of these arrays that the other touches.
pub fn apart_points(tree: &Tree, scop: &Scop) -> Result<ApartPoints, IslError> {
    let mut all = ApartPoints::new();
    let mut leaves = Vec::new();
    tree.schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        if node.get_type()? == ScheduleNodeType::Leaf {
            leaves.push(node.clone());
        }
        Ok(true)
    })?;
    for leaf in leaves {
        let points = points_around(&leaf)?;
        if points.is_empty() {
            continue;
        }
        let instances = instances_at(&leaf)?;
        let mut ids = Vec::new();
        for set in instances.sets()? {
            ids.extend(StatementId::from_isl_name(&set.get_tuple_name()?));
        }
        let mut apart = BTreeSet::new();
        for array in arrays_written(scop, &ids) {
            let known = scop.ctx.try_within(APART, || are_apart(scop, &instances, &points, array))?;
            if known == Some(true) {
                apart.insert(array);
            }
        }
        for id in ids {
            let other = all.remove(&id);
            all.insert(id, other.map_or_else(|| apart.clone(), |other| &other & &apart));
        }
    }
    Ok(all)
}

/// The members that are written out.
fn points_around(leaf: &ScheduleNode) -> Result<Vec<UnionPwAff>, IslError> {
    let mut rows = Vec::new();
    let mut node = leaf.clone();
    while node.has_parent()? {
        node = node.parent()?;
        if node.get_type()? == ScheduleNodeType::Band && label_above(&node)?.is_some_and(|label| label.jam.is_some()) {
            rows.extend(node.band_get_partial_schedule()?.list()?);
        }
    }
    Ok(rows)
}

fn arrays_written(scop: &Scop, statements: &[StatementId]) -> BTreeSet<ArrayId> {
    let accesses = statements.iter().filter_map(|id| scop.statements.get(id)).flat_map(|s| &s.accesses);
    accesses.filter(|access| access.is_write()).map(|access| access.array).collect()
}

fn are_apart(scop: &Scop, instances: &UnionSet, points: &[UnionPwAff], array: ArrayId) -> Result<bool, IslError> {
    let (mut writes, mut all) = (UnionMap::empty_ctx(&scop.ctx)?, UnionMap::empty_ctx(&scop.ctx)?);
    for access in scop.statements.values().flat_map(|s| &s.accesses).filter(|access| access.array == array) {
        let cells = UnionMap::from_map(&access.relation)?.intersect_domain(instances)?;
        if access.is_write() {
            writes = writes.union(&cells)?;
        }
        all = all.union(&cells)?;
    }
    let meet = writes.apply_range(&all.reverse()?)?;
    let mut together = meet.clone();
    for row in points {
        together = super::equal_at(&together, row)?;
    }
    meet.is_subset(&together)
}
