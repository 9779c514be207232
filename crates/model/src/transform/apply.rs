//! Steps change trees. Whether what they make respects the dependences is not asked here, see [`super::check_legal`].

use super::copy::{has_copies_below, pack};
use super::jam::jam;
use super::label::find;
use super::{BandId, Label, Step, Tree, label_above};
use crate::scop::Scop;
use isl::{IslError, MultiUnionPwAff, MultiVal, ScheduleNode, UnionPwAff, Val};
use thiserror::Error;

/// A step that does not fit the tree.
#[derive(Clone, Debug, Error)]
pub enum StepError {
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error("{step}: there is no such band")]
    NoSuchBand { step: Step },
    #[error("{step}: the band has {members} loops")]
    OtherMembers { step: Step, members: usize },
    #[error("{step}: the iterations of this loop depend on each other")]
    Carries { step: Step },
    #[error("{step}: the order is to be changed before loops are given to threads or vectors")]
    BehindLabels { step: Step },
    #[error("{band} is inside of a loop that is distributed over threads")]
    Distributed { band: BandId },
    #[error("{band} runs something that only the thread that enters the region can do")]
    BoundToThread { band: BandId },
    #[error("{step}: {why}")]
    Unpackable { step: Step, why: &'static str },
    #[error("{step}: elements are copied inside of this loop")]
    AroundCopy { step: Step },
    #[error("{step}: this loop is written out")]
    WrittenOut { step: Step },
    #[error("{step}: the other band is not around it")]
    NotAround { step: Step },
}

impl Step {
    /// Requires: the bands of `tree`, an order of the instances of `scop`, are labelled. For `Threads` and `Vectors`: its coincident
    /// flags are exact.
    ///
    /// Ensures: the same instances of statements of `scop`, other bands as they were.
    pub fn apply(&self, tree: &Tree, scop: &Scop) -> Result<Tree, StepError> {
        let missing = || StepError::NoSuchBand { step: self.clone() };
        let node = find(&tree.schedule.get_root()?, self.band())?.ok_or_else(missing)?;
        if has_copies_below(&node)? {
            return Err(StepError::AroundCopy { step: self.clone() });
        }
        if label_above(&node)?.is_some_and(|label| label.jam.is_some()) {
            return Err(StepError::WrittenOut { step: self.clone() });
        }
        let members = node.band_n_member()?;
        let other_members = || StepError::OtherMembers { step: self.clone(), members };
        let node = match self {
            Step::Permute { order, .. } => {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if sorted != (0..members).collect::<Vec<_>>() {
                    return Err(other_members());
                }
                let rows = rows(&node)?;
                with_rows(&node, order.iter().map(|m| rows[*m].clone()).collect())?
            }
            Step::Reverse { member, .. } => {
                let mut rows = rows(&node)?;
                let (row, _) = rows.get_mut(*member).ok_or_else(other_members)?;
                *row = row.neg()?;
                with_rows(&node, rows)?
            }
            Step::Skew { member, by, of: (other, of), .. } => {
                let mut all = rows(&node)?;
                let around = find_around(&node, *other)?.ok_or_else(|| StepError::NotAround { step: self.clone() })?;
                if *member >= members || *other == self.band() && of == member {
                    return Err(other_members());
                }
                let (of, is_free) = rows(&around)?.get(*of).cloned().ok_or_else(other_members)?;
                let of = of.intersect_domain(&node.get_universe_domain()?)?;
                let (row, coincident) = &mut all[*member];
                *row = row.sub(&of.scale_val(&Val::int_from_si(node.ctx(), -by)?)?)?;
                // Iterations below one of a loop around have the same value there.
                *coincident &= is_free || *other != self.band();
                with_rows(&node, all)?
            }
            Step::Tile { band, sizes } => {
                if sizes.len() != members || sizes.iter().any(|size| *size < 1) {
                    return Err(other_members());
                }
                tiled(&node, *band, sizes)?
            }
            Step::Jam { member, by, .. } => {
                if *member >= members || *by < 2 {
                    return Err(other_members());
                }
                jam(&node, *member, *by)?
            }
            Step::Pack { array, .. } => return pack(tree, scop, self, &node, *array),
            Step::Threads { .. } => self.labelled(&node, 0, |label| label.threads = true)?,
            Step::Vectors { .. } => self.labelled(&node, members - 1, |label| label.vectors = true)?,
        };
        Ok(Tree { schedule: node.get_schedule()?, ..tree.clone() })
    }

    fn labelled(
        &self,
        node: &ScheduleNode,
        member: usize,
        change: impl FnOnce(&mut Label),
    ) -> Result<ScheduleNode, StepError> {
        if !node.band_member_get_coincident(member)? {
            return Err(StepError::Carries { step: self.clone() });
        }
        let mut label = label_above(node)?.expect("it was found by its label");
        change(&mut label);
        Ok(label.insert(&node.parent()?.delete()?)?)
    }
}

/// The band of this name, if it is this one or around it.
fn find_around(node: &ScheduleNode, band: BandId) -> Result<Option<ScheduleNode>, IslError> {
    let mut node = node.clone();
    loop {
        if label_above(&node)?.is_some_and(|label| label.band == band) {
            return Ok(Some(node));
        }
        if !node.has_parent()? {
            return Ok(None);
        }
        node = node.parent()?;
    }
}

/// The members of a band, with their coincident flags.
pub(super) fn rows(node: &ScheduleNode) -> Result<Vec<(UnionPwAff, bool)>, IslError> {
    let rows = node.band_get_partial_schedule()?.list()?;
    rows.into_iter().enumerate().map(|(m, row)| Ok((row, node.band_member_get_coincident(m)?))).collect()
}

/// The band with other members in its place.
pub(super) fn with_rows(node: &ScheduleNode, rows: Vec<(UnionPwAff, bool)>) -> Result<ScheduleNode, IslError> {
    let (rows, coincident): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let partial = MultiUnionPwAff::from_union_pw_aff_list(&node.band_get_space()?, &rows)?;
    let permutable = node.band_get_permutable()?;
    let mut node = node.delete()?.insert_partial_schedule(&partial)?.band_set_permutable(permutable)?;
    for (at, flag) in coincident.into_iter().enumerate() {
        node = node.band_member_set_coincident(at, flag)?;
    }
    Ok(node)
}

fn tiled(node: &ScheduleNode, band: BandId, sizes: &[i64]) -> Result<ScheduleNode, IslError> {
    let ctx = node.ctx();
    // Loops that count tiles rather than jump from one to the next have no strides: generating them takes isl half the time.
    ctx.set_tile_scale_tile_loops(false);
    ctx.set_tile_shift_point_loops(true);
    let sizes: Vec<Val> = sizes.iter().map(|size| Val::int_from_si(ctx, *size)).collect::<Result<_, _>>()?;
    let sizes = MultiVal::from_val_list(&node.band_get_space()?, &sizes)?;
    let points = node.band_tile(&sizes)?.child(0)?;
    Label::from(band.points()).insert(&points)
}
