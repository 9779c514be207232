//! Choices become schedule trees.

use super::shape::{Choice, Choices, Tree, instances_of_band};
use crate::loop_ast::{MARK_PARALLEL, MARK_VECTOR};
use crate::scop::{Scop, Statement, StatementId};
use isl::{Id, IslError, MultiUnionPwAff, MultiVal, Schedule, ScheduleNode, ScheduleNodeType, Val};
use planted::Fault;
use std::collections::HashMap;

/// The tree with its bands reordered and tiled.
///
/// Requires: every band with a choice is permutable, so that each of its members has a non-negative distance for every dependence
/// that reaches it; then every order of the members and every tiling of them respects all dependences. Live ranges of scalars that
/// are apart stay so, see [`super::apart`].
pub(super) fn apply(schedule: &Schedule, choices: &Choices) -> Result<Schedule, IslError> {
    let ctx = schedule.ctx();
    // Loops that count tiles rather than jump from one to the next have no strides: generating them takes isl half the time.
    ctx.set_tile_scale_tile_loops(false);
    ctx.set_tile_shift_point_loops(true);
    let mut bands = Bands::default();
    let root = bands.walk(schedule.get_root()?, &mut |node, index| match choices.get(&index) {
        None => Ok((node, 1)),
        Some(choice) => {
            let node = reordered(&node, choice)?;
            match &choice.tiles {
                None => Ok((node, 1)),
                Some(tiles) => {
                    let sizes: Vec<Val> =
                        tiles.iter().map(|t| Val::int_from_si(node.ctx(), *t)).collect::<Result<_, _>>()?;
                    let sizes = MultiVal::from_val_list(&node.band_get_space()?, &sizes)?;
                    Ok((node.band_tile(&sizes)?, 2))
                }
            }
        }
    })?;
    root.get_schedule()
}

fn reordered(node: &ScheduleNode, choice: &Choice) -> Result<ScheduleNode, IslError> {
    if choice.order.iter().enumerate().all(|(at, m)| at == *m) {
        return Ok(node.clone());
    }
    let partial = node.band_get_partial_schedule()?;
    let rows = partial.list()?;
    let coincident: Vec<bool> =
        choice.order.iter().map(|m| node.band_member_get_coincident(*m)).collect::<Result<_, _>>()?;
    let rows: Vec<_> = choice.order.iter().map(|m| rows[*m].clone()).collect();
    let partial = MultiUnionPwAff::from_union_pw_aff_list(&partial.get_space()?, &rows)?;
    let permutable = node.band_get_permutable()?;
    let mut node = node.delete()?.insert_partial_schedule(&partial)?.band_set_permutable(permutable)?;
    for (at, flag) in coincident.into_iter().enumerate() {
        node = node.band_member_set_coincident(at, flag)?;
    }
    Ok(node)
}

pub(super) struct Marked {
    pub schedule: Schedule,
    pub parallel: bool,
    pub vector: bool,
}

/// The tree with marks above the bands to distribute over threads and above those whose last loop is for vectors.
///
/// Requires: coincident flags are exact. `vector` lists bands by the index they had before the choices were applied.
pub(super) fn mark(
    schedule: &Schedule,
    scop: &Scop,
    parallel_from: Option<f64>,
    tree: &Tree,
    choices: &Choices,
    vector: &[usize],
) -> Result<Marked, IslError> {
    // A tiled band is two bands in the tree now.
    let mut original = HashMap::new();
    let mut next = 0;
    let mut index = 0;
    while instances_of_band(&tree.shape, index).is_some() {
        let pieces = if choices.get(&index).is_some_and(|c| c.tiles.is_some()) { 2 } else { 1 };
        for piece in 0..pieces {
            original.insert(next, (index, piece + 1 == pieces));
            next += 1;
        }
        index += 1;
    }
    let (mut any_parallel, mut any_vector) = (false, false);
    let mut bands = Bands::default();
    let root = bands.walk(schedule.get_root()?, &mut |node, at| {
        let Some(&(index, last_piece)) = original.get(&at) else { return Ok((node, 1)) };
        let mut depth = 1;
        let members = node.band_n_member()?;
        let mut node = node;
        let wants_vector = last_piece && vector.contains(&index) && node.band_member_get_coincident(members - 1)?;
        let wants_parallel = parallel_from
            .is_some_and(|least| instances_of_band(&tree.shape, index).is_some_and(|instances| instances >= least))
            && node.band_member_get_coincident(0)?
            && !(wants_vector && members == 1 && node.get_schedule_depth()? > 0)
            && !is_below(&node, MARK_PARALLEL)?
            && !is_bound_to_thread(&node, scop)?;
        for (wanted, name) in [(wants_vector, MARK_VECTOR), (wants_parallel, MARK_PARALLEL)] {
            if wanted {
                node = node.insert_mark(&Id::alloc(node.ctx(), name, 0)?)?;
                depth += 1;
            }
        }
        any_parallel |= wants_parallel;
        any_vector |= wants_vector;
        Ok((node, depth))
    })?;
    Ok(Marked { schedule: root.get_schedule()?, parallel: any_parallel, vector: any_vector })
}

fn is_below(node: &ScheduleNode, mark: &str) -> Result<bool, IslError> {
    let mut node = node.clone();
    while node.has_parent()? {
        node = node.parent()?;
        if node.get_type()? == ScheduleNodeType::Mark && node.mark_get_id()?.get_name()? == mark {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A scalar is one cell of the thread that enters the region. A loop that carries no dependence may still write it, in one iteration.
fn is_bound_to_thread(node: &ScheduleNode, scop: &Scop) -> Result<bool, IslError> {
    for set in node.get_domain()?.sets()? {
        let statement = StatementId::from_isl_name(&set.get_tuple_name()?).and_then(|s| scop.statements.get(&s));
        let writes_scalar =
            |s: &Statement| s.accesses.iter().any(|a| a.is_write() && scop.arrays[&a.array].kind.is_scalar());
        let bound = |s: &Statement| s.bound_to_thread && !planted::is(Fault::EffectsInAnyThread);
        if statement.is_none_or(|s| bound(s) || writes_scalar(s)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Visits the bands of a tree in pre-order, counting them as `Tree` does.
#[derive(Default)]
struct Bands {
    next: usize,
}

impl Bands {
    /// `rewrite` replaces a band by a chain of nodes of the given length, and stands on its first. Ends where it began.
    fn walk(
        &mut self,
        node: ScheduleNode,
        rewrite: &mut impl FnMut(ScheduleNode, usize) -> Result<(ScheduleNode, usize), IslError>,
    ) -> Result<ScheduleNode, IslError> {
        let depth = node.get_tree_depth()?;
        let mut node = node;
        if node.get_type()? == ScheduleNodeType::Band && node.band_n_member()? > 0 {
            let index = self.next;
            self.next += 1;
            let (rewritten, length) = rewrite(node, index)?;
            node = rewritten;
            for _ in 1..length {
                node = node.child(0)?;
            }
        }
        let children = if node.get_type()? == ScheduleNodeType::Leaf { 0 } else { node.n_children()? };
        let here = node.get_tree_depth()?;
        for k in 0..children {
            node = self.walk(node.child(k)?, rewrite)?;
            node = node.ancestor(node.get_tree_depth()? - here)?;
        }
        node.ancestor(node.get_tree_depth()? - depth)
    }
}
