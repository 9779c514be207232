//! Unroll-and-jam: iterations of a loop run side by side in the loops below it.

use super::apply::{rows, with_rows};
use super::distance::Row;
use super::label::labels;
use super::reach::{ancestors, instances_at, statements_of};
use super::{BandId, Label, Tree, agreement_at, all_equal_at, label_above};
use crate::dependence::Ranged;
use crate::scop::{ArrayId, Scop, StatementId};
use isl::{IslError, MultiUnionPwAff, Schedule, ScheduleNode, ScheduleNodeType, UnionMap, UnionPwAff, UnionSet, Val};
use std::collections::{BTreeMap, BTreeSet};

/// The band with groups of iterations in place of one member, and the iterations of a group at all leaves below.
pub(super) fn jam(band: &ScheduleNode, member: usize, by: i64) -> Result<ScheduleNode, IslError> {
    let mut label = label_above(band)?.expect("it was found by its label");
    let others = labels(&band.get_schedule()?)?;
    label.band = label.band.cut_beside(others.iter().map(|other| other.band));
    label = Label { jam: Some(by), threads: false, vectors: false, ..label };
    let size = Val::int_from_si(band.ctx(), by)?;
    let mut rows = rows(band)?;
    let (row, _) = &mut rows[member];
    let groups = row.scale_down_val(&size)?.floor()?;
    let points = row.sub(&groups.scale_val(&size)?)?;
    *row = groups;
    sink(with_rows(band, rows)?, &points, label)
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

/// For arrays that are written: the loops that are written out and keep their cells apart.
pub type ApartLoops = BTreeMap<ArrayId, BTreeSet<BandId>>;

/// The same for each statement that runs side by side.
pub type ApartPoints = BTreeMap<StatementId, ApartLoops>;

/// What isl's bookkeeping may take for one array.
const APART: isl::Budget = isl::Budget::new("cells of iterations that run side by side", 20_000);

/// Ensures: let two instances run at one leaf in different iterations of one of these loops; whatever the other loops' iterations, none of
/// them writes a cell of the array that the other touches.
pub fn apart_points(tree: &Tree, scop: &Scop) -> Result<ApartPoints, IslError> {
    let mut all = ApartPoints::new();
    for leaf in leaves(&tree.schedule)? {
        let points = points_around(&leaf)?;
        if points.is_empty() {
            continue;
        }
        let instances = instances_at(&leaf)?;
        let ids = statements_of(&instances)?;
        let mut apart = ApartLoops::new();
        for array in arrays_written(scop, &ids) {
            let known = scop.ctx.try_within(APART, || keeping_apart(scop, &instances, &points, array))?;
            apart.extend(known.filter(|loops| !loops.is_empty()).map(|loops| (array, loops)));
        }
        for id in ids {
            let here = match all.remove(&id) {
                Some(other) => apart_by_both(&other, &apart),
                None => apart.clone(),
            };
            all.insert(id, here);
        }
    }
    Ok(all)
}

pub(crate) fn apart_by_both(some: &ApartLoops, others: &ApartLoops) -> ApartLoops {
    let both = some.iter().filter_map(|(array, loops)| Some((*array, loops & others.get(array)?)));
    both.filter(|(_, loops)| !loops.is_empty()).collect()
}

fn leaves(schedule: &Schedule) -> Result<Vec<ScheduleNode>, IslError> {
    let mut leaves = Vec::new();
    schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        if node.get_type()? == ScheduleNodeType::Leaf {
            leaves.push(node.clone());
        }
        Ok(true)
    })?;
    Ok(leaves)
}

/// The members that are written out, innermost first.
fn points_around(leaf: &ScheduleNode) -> Result<Vec<(Points, UnionPwAff)>, IslError> {
    let mut rows = Vec::new();
    for node in ancestors(leaf)? {
        let label = if node.get_type()? == ScheduleNodeType::Band { label_above(&node)? } else { None };
        if let Some(Label { band, jam: Some(by), .. }) = label {
            rows.extend(node.band_get_partial_schedule()?.list()?.into_iter().map(|row| (Points { band, by }, row)));
        }
    }
    Ok(rows)
}

/// A loop that is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points {
    pub band: BandId,
    pub by: i64,
}

/// For each of these scalars: the loops that are written out around all of its accesses, outermost first. There is one scalar for each
/// combination of their iterations.
pub type PrivateScalars = BTreeMap<ArrayId, Vec<Points>>;

/// A scalar whose live ranges may change places, as it is in a tree.
pub(super) struct Divided<'a> {
    pub ranged: &'a Ranged,
    /// The loops that are written out around all of its accesses, outermost first, if each of their iterations can have a scalar of its
    /// own.
    pub points: Vec<Points>,
    rows: Vec<UnionPwAff>,
}

impl Divided<'_> {
    /// Of these, the pairs that meet in one cell agree in all.
    pub fn rows(&self) -> Result<Vec<Row>, IslError> {
        self.rows.iter().map(Row::of).collect()
    }

    /// With the pairs of `order` that meet in one cell.
    pub fn in_one_cell(&self) -> Result<Ranged, IslError> {
        Ok(Ranged { order: agreement_at(&self.ranged.order, &self.rows)?.equal, ..self.ranged.clone() })
    }
}

/// The scalars, where each iteration that runs side by side with others has its own, if it can.
///
/// A scalar can be so divided if all its accesses are in the same loops that are written out and no live range goes from one iteration
/// of these to another. Then it is as good as an array with one cell for each combination of their iterations: of the pairs of
/// [`Ranged::order`], those matter that meet in one cell.
pub(super) fn divided<'a>(
    schedule: &Schedule,
    scop: &Scop,
    ranges: &'a [Ranged],
) -> Result<Vec<Divided<'a>>, IslError> {
    let mut around: BTreeMap<StatementId, Option<Vec<Points>>> = BTreeMap::new();
    let mut rows: Vec<(Points, UnionPwAff)> = Vec::new();
    for leaf in leaves(schedule)? {
        let (mut points, members): (Vec<_>, Vec<_>) = points_around(&leaf)?.into_iter().unzip();
        for (point, row) in points.iter().zip(members) {
            // A loop has a row at each leaf, for the statements there. A statement at several has the sum, which is equal where they are:
            // they are the same row.
            match rows.iter_mut().find(|(other, _)| other == point) {
                Some((_, all)) => *all = all.union_add(&row)?,
                None => rows.push((*point, row)),
            }
        }
        points.reverse();
        for id in statements_of(&instances_at(&leaf)?)? {
            let all = around.entry(id).or_insert_with(|| Some(points.clone()));
            if all.as_ref() != Some(&points) {
                *all = None;
            }
        }
    }
    let mut out = Vec::new();
    for ranged in ranges {
        let touches = |id: &StatementId| {
            scop.statements.get(id).is_some_and(|s| s.accesses.iter().any(|a| ranged.arrays.contains(&a.array)))
        };
        let mut loops = around.iter().filter(|(id, _)| touches(id)).map(|(_, points)| points);
        let common = loops.next().cloned().flatten().filter(|points| !points.is_empty());
        let common = common.filter(|first| loops.all(|points| points.as_ref() == Some(first)));
        let points = common.unwrap_or_default();
        let of_points = rows.iter().filter(|(point, _)| points.contains(point));
        let rows: Vec<UnionPwAff> = of_points.map(|(_, row)| row.clone()).collect();
        out.push(match agreement_at(&ranged.live, &rows)?.differ {
            true => Divided { ranged, points: Vec::new(), rows: Vec::new() },
            false => Divided { ranged, points, rows },
        });
    }
    Ok(out)
}

fn arrays_written(scop: &Scop, statements: &[StatementId]) -> BTreeSet<ArrayId> {
    let accesses = statements.iter().filter_map(|id| scop.statements.get(id)).flat_map(|s| &s.accesses);
    accesses.filter(|access| access.is_write()).map(|access| access.array).collect()
}

fn keeping_apart(
    scop: &Scop,
    instances: &UnionSet,
    points: &[(Points, UnionPwAff)],
    array: ArrayId,
) -> Result<BTreeSet<BandId>, IslError> {
    let (mut writes, mut all) = (UnionMap::empty_ctx(&scop.ctx)?, UnionMap::empty_ctx(&scop.ctx)?);
    for access in scop.statements.values().flat_map(|s| &s.accesses).filter(|access| access.array == array) {
        let cells = UnionMap::from_map(&access.relation)?.intersect_domain(instances)?;
        if access.is_write() {
            writes = writes.union(&cells)?;
        }
        all = all.union(&cells)?;
    }
    let meet = writes.apply_range(&all.reverse()?)?;
    let mut apart = BTreeSet::new();
    for (loop_, row) in points {
        if all_equal_at(&meet, row)? {
            apart.insert(loop_.band);
        }
    }
    Ok(apart)
}
