//! Ids of bands, and what is to become of their loops, in the marks of a schedule tree.

use super::BandId;
use isl::{Id, IslError, Schedule, ScheduleNode, ScheduleNodeType};
use std::fmt;

/// What the mark above a band says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    pub band: BandId,
    /// The first member is distributed over threads.
    pub threads: bool,
    /// The last member is for vectors.
    pub vectors: bool,
    /// Its one member counts so many iterations that run side by side.
    pub jam: Option<i64>,
}

impl From<BandId> for Label {
    fn from(band: BandId) -> Label {
        Label { band, threads: false, vectors: false, jam: None }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (threads, vectors) =
            (if self.threads { " threads" } else { "" }, if self.vectors { " vectors" } else { "" });
        write!(f, "{}{threads}{vectors}", self.band)?;
        self.jam.map_or(Ok(()), |by| write!(f, " jam {by}"))
    }
}

impl Label {
    pub fn parse(text: &str) -> Option<Label> {
        let mut words = text.split(' ');
        let id = words.next()?.strip_prefix('B')?;
        let (number, level) = id.split_once('.').unwrap_or((id, "0"));
        let band = BandId { number: number.parse().ok()?, level: level.parse().ok()? };
        let mut label = Label::from(band);
        while let Some(word) = words.next() {
            match word {
                "threads" => label.threads = true,
                "vectors" => label.vectors = true,
                "jam" => label.jam = Some(words.next()?.parse().ok()?),
                _ => return None,
            }
        }
        Some(label)
    }

    /// The node with this label above it; ends on the mark.
    pub(super) fn insert(self, band: &ScheduleNode) -> Result<ScheduleNode, IslError> {
        band.insert_mark(&Id::alloc(band.ctx(), &self.to_string(), 0)?)
    }
}

/// What stands directly above a band.
pub fn label_above(band: &ScheduleNode) -> Result<Option<Label>, IslError> {
    if !band.has_parent()? {
        return Ok(None);
    }
    let above = band.parent()?;
    if above.get_type()? != ScheduleNodeType::Mark {
        return Ok(None);
    }
    Ok(Label::parse(&above.mark_get_id()?.get_name()?))
}

/// All that there are.
pub(super) fn labels(schedule: &Schedule) -> Result<Vec<Label>, IslError> {
    let mut all = Vec::new();
    schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        all.extend(label_above(node)?);
        Ok(true)
    })?;
    Ok(all)
}

/// One that no band has.
pub(super) fn next_number(schedule: &Schedule) -> Result<u32, IslError> {
    Ok(labels(schedule)?.iter().map(|label| label.band.number + 1).max().unwrap_or(0))
}

/// The tree with a label above every band that has members: those without one are numbered in pre-order.
pub fn labelled(schedule: &Schedule) -> Result<Schedule, IslError> {
    let is_labelled = |node: &ScheduleNode| Ok::<_, IslError>(!is_loops(node)? || label_above(node)?.is_some());
    let root = schedule.get_root()?;
    if root.every_descendant(is_labelled)? {
        return Ok(schedule.clone());
    }
    label_below(root, &mut next_number(schedule)?)?.get_schedule()
}

/// Ends where it began.
fn label_below(node: ScheduleNode, next: &mut u32) -> Result<ScheduleNode, IslError> {
    let mut node = node;
    let mut inserted = 0;
    if is_loops(&node)? && label_above(&node)?.is_none() {
        let band = BandId { number: *next, level: 0 };
        *next += 1;
        node = Label::from(band).insert(&node)?.child(0)?;
        inserted = 1;
    }
    for k in 0..children(&node)? {
        node = label_below(node.child(k)?, next)?.parent()?;
    }
    node.ancestor(inserted)
}

/// A band with no members is no loop, and is nobody's.
fn is_loops(node: &ScheduleNode) -> Result<bool, IslError> {
    Ok(node.get_type()? == ScheduleNodeType::Band && node.band_n_member()? > 0)
}

fn children(node: &ScheduleNode) -> Result<usize, IslError> {
    if node.get_type()? == ScheduleNodeType::Leaf { Ok(0) } else { node.n_children() }
}

/// The band with this id, in a tree or below a node of it.
pub(super) fn find(node: &ScheduleNode, band: BandId) -> Result<Option<ScheduleNode>, IslError> {
    if is_loops(node)? && label_above(node)?.is_some_and(|label| label.band == band) {
        return Ok(Some(node.clone()));
    }
    for k in 0..children(node)? {
        if let Some(found) = find(&node.child(k)?, band)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
