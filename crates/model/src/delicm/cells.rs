//! Which accesses touch the same bytes, and in which order an instance touches them.
//!
//! "It has the same value" excuses a store or a read only where it has it in the *same cell*: the same array, the same first byte and
//! the same width. Two stores of 0x01020304 that are two bytes apart leave 0x03040304. Every excuse of this room asks here.
//!
//! An array has cells as large as the common granule of all its accesses, so an access covers an interval of them: all bytes of
//! each, from the first on. Two intervals are the same if they begin in the same cell and are equally long.

use super::code::{Role, ValueId};
use super::work::{Work, WorkingAccess, WorkingStatement};
use crate::scop::{AccessKind, ArrayId, StatementId};
use isl::{DimType, IslError, Map};
use planted::Fault;

/// One interval of bytes for each instance.
#[derive(Clone, Copy)]
pub(super) struct Span<'m> {
    pub array: ArrayId,
    pub bytes: u64,
    /// `{ S[i…] -> A[e…] }`: the cells in it.
    pub cells: &'m Map,
    /// These cells and no others.
    pub exact: bool,
}

impl WorkingAccess {
    pub(super) fn span(&self) -> Span<'_> {
        let Self { access, relation, .. } = self;
        Span { array: access.array, bytes: access.bytes, cells: relation, exact: access.exact }
    }
    /// Certainly overwrites all its bytes.
    pub(super) fn overwrites(&self) -> bool {
        self.alive && self.access.exact && self.access.kind == AccessKind::Write
    }
}

/// When in its instance an access takes place: what is read for it first, then its operations, then what it hands on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Before,
    Operation(usize),
    Behind(usize),
}

impl WorkingStatement {
    /// `None`: at any time.
    fn moment(&self, index: usize) -> Option<Moment> {
        let position = |value: ValueId| self.code.operations.iter().position(|&v| v == value).map(Moment::Operation);
        match self.items[index].access.role {
            Role::ReadScalar(_) | Role::Reload(_) => Some(Moment::Before),
            Role::Load(value) | Role::Call(value) => position(value),
            Role::Store { instruction, .. } => position(instruction),
            Role::WriteScalar(_) => Some(Moment::Behind(index)),
            Role::Block(_) => None,
        }
    }
}

impl Work<'_> {
    /// `{ a[i…] -> b[j…] }`: instances that share a byte.
    pub(super) fn meeting(&self, a: Span, b: Span) -> Result<Map, IslError> {
        a.cells.apply_range(&b.cells.reverse()?)
    }

    /// `{ a[i…] -> b[j…] }`: instances that touch the same bytes, neither more nor less. Where that is not certain they are left out.
    pub(super) fn same_cell(&self, a: Span, b: Span) -> Result<Map, IslError> {
        if planted::is(Fault::CellsMeetInPart) {
            return self.meeting(a, b);
        }
        if a.array != b.array || a.bytes != b.bytes || !a.exact || !b.exact {
            return Map::empty(&self.meeting(a, b)?.get_space()?);
        }
        self.first_cells(a.array, a.bytes, a.cells)?
            .apply_range(&self.first_cells(b.array, b.bytes, b.cells)?.reverse()?)
    }

    /// Do two accesses of one statement touch the same bytes in every instance?
    pub(super) fn same_cells(&self, a: Span, b: Span) -> Result<bool, IslError> {
        if a.array != b.array || a.bytes != b.bytes || !a.exact || !b.exact {
            return Ok(false);
        }
        Ok(self.is_inside(a.cells, b.cells)? && self.is_inside(b.cells, a.cells)?)
    }

    /// Of these bytes, in one instance each: is what was there when access `from` took place still there when `until` does, or at the
    /// end of the instance? Writes of the same value to the same cell do not matter.
    ///
    /// Requires: `until` comes after `from`.
    pub(super) fn is_undisturbed(
        &self,
        statement: StatementId,
        from: usize,
        until: Option<usize>,
    ) -> Result<bool, IslError> {
        let draft = &self.drafts[&statement];
        let first = &draft.items[from];
        let (start, end) = (draft.moment(from), until.map(|k| draft.moment(k)));
        for (k, item) in draft.alive().filter(|(_, i)| i.writes() && i.access.array == first.access.array) {
            let moment = draft.moment(k);
            // Where one of the moments is not known, it may be in between.
            let earlier = matches!((moment, start), (Some(a), Some(b)) if a <= b);
            let later = matches!((moment, end), (Some(a), Some(Some(b))) if a >= b);
            if k == from || Some(k) == until || earlier || later || planted::is(Fault::OwnStoreOverlooked) {
                continue;
            }
            let same = item.value().is_some() && item.value() == first.value();
            if same && self.same_cells(item.span(), first.span())? {
                continue;
            }
            if !self.is_impossible(&item.relation.intersect(&first.relation)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first of the cells of an access that covers several.
    pub(super) fn first_cells(&self, array: ArrayId, bytes: u64, cells: &Map) -> Result<Map, IslError> {
        if bytes == self.array(array).cell_bytes { Ok(cells.clone()) } else { cells.lexmin() }
    }

    /// All cells of an access of so many bytes, from the first.
    pub(super) fn with_width(&self, array: ArrayId, bytes: u64, first: &Map) -> Result<Map, IslError> {
        let cells = bytes / self.array(array).cell_bytes;
        if cells == 1 {
            return Ok(first.clone());
        }
        let dims = first.dim(DimType::Out)?;
        let from: Vec<String> = (0..dims).map(|d| format!("e{d}")).collect();
        let mut to = from.clone();
        to[dims - 1] = "f".into();
        let text = format!(
            "{{ {array}[{}] -> {array}[{}] : e{last} <= f < e{last} + {cells} }}",
            from.join(", "),
            to.join(", "),
            last = dims - 1
        );
        first.apply_range(&Map::read_from_str(&self.scop.ctx, &text)?)
    }

    /// Are these the cells of one interval in each instance, from `first` on?
    pub(super) fn is_one_interval(
        &self,
        array: ArrayId,
        bytes: u64,
        cells: &Map,
        first: &Map,
    ) -> Result<bool, IslError> {
        if bytes == self.array(array).cell_bytes {
            return Ok(true);
        }
        self.is_inside(cells, &self.with_width(array, bytes, first)?)
    }
}
