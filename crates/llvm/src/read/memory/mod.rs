//! Memory: which bytes from which base an instance touches, and the cells that are loaded before the region.

mod errno;
mod preload;
mod rows;

pub use errno::Errno;
pub use preload::{CellRead, InvariantRead, read_invariants};
pub use rows::{expect_rows, expect_unchanged_rows, refuse_row};

use super::Stop;
use super::arithmetic::{Address, Arithmetic, Framed, NotAffine, Scope};
use super::control::Turning;
use super::statement::{Cut, Draft};
use crate::facts::{BlockId, MemoryUse, UseSize, ValueId, ValueKind};
use indexmap::IndexMap;
use isl::{DimType, IslError, PwAff, Set};
use model::delinearize::Offset;
use model::polynomial::{PiecewisePolynomial, Polynomial, Var};
use model::refusal::RefusalKind;
use model::scop::AccessKind;
use model::source::Line;
use std::collections::BTreeSet;

/// One load, store or block operation of a draft.
pub struct MemoryAccess {
    pub draft: usize,
    pub instruction: ValueId,
    pub kind: AccessKind,
    /// Where the pointer to its row is, in bytes from the base of the array of pointers; nothing if the base is from outside.
    pub row: Option<Polynomial>,
    /// Bytes from the base at which it starts; `None`: anything reachable from the base may be touched.
    pub offset: Option<Offset>,
    /// The offset may differ from that by a multiple of 2^(index width), unless the extent of the whole array is checked.
    pub(super) may_wrap: bool,
    /// The offset may differ unless a part of it lies where it must.
    pub framed: Option<Framed<PiecewisePolynomial>>,
    pub extent: AccessSize,
    /// In a loop of a box, with the counters of which the offset moves: all iterations that may get there. The row is one for all of them.
    pub turns: Option<Set>,
    pub line: Line,
}

impl MemoryAccess {
    /// Does it touch what is said only if all bytes of the array that are touched can be counted?
    pub fn may_wrap(&self) -> bool {
        let is_long = matches!(self.extent, AccessSize::Product(Length { may_wrap: true, .. }));
        self.may_wrap || is_long
    }
}

/// Where an access begins; the fields are those of [`MemoryAccess`].
struct AccessStart {
    base: ValueId,
    offset: Option<Offset>,
    may_wrap: bool,
    framed: Option<Framed<PiecewisePolynomial>>,
    turns: Option<Set>,
}

impl AccessStart {
    fn exactly(base: ValueId, offset: Option<Offset>) -> AccessStart {
        AccessStart { base, offset, may_wrap: false, framed: None, turns: None }
    }
}

pub enum AccessSize {
    Bytes(u64),
    /// A number of bytes that varies.
    Affine(PwAff),
    /// The same in an array of several dimensions, where its factors count.
    Product(Length),
    Unknown,
}

/// A number of bytes modulo 2^64; in ℤ unless it may wrap.
pub struct Length {
    pub bytes: Polynomial,
    pub may_wrap: bool,
}

/// A block operation whose length is to be read.
struct BlockOperation {
    base: ValueId,
    /// Among the accesses of the base.
    position: usize,
    draft: usize,
    length: ValueId,
}

/// All accesses, by base pointer in order of first appearance. For rows behind pointers one of the loads of such a pointer stands for all.
pub type AccessesByBase = IndexMap<ValueId, Vec<MemoryAccess>>;

pub struct Accesses {
    pub by_base: AccessesByBase,
    /// Rows behind pointers, by the load that stands for them.
    pub rows: IndexMap<ValueId, RowPointers>,
    /// Values from outside were read as products, though they could have been symbols.
    pub expanded_products: bool,
}

impl Accesses {
    /// Those to the pointers that rows are behind.
    fn of_pointers(&self, rows: &RowPointers) -> &[MemoryAccess] {
        self.by_base.get(&rows.base).map_or(&[], |all| &all[..])
    }
}

/// The array of the pointers to rows.
pub struct RowPointers {
    pub base: ValueId,
    pub loads: BTreeSet<ValueId>,
}

struct AccessReader<'r, 'a> {
    arithmetic: &'r mut Arithmetic<'a>,
    found: Accesses,
    blocks: Vec<BlockOperation>,
}

pub fn read_accesses(arithmetic: &mut Arithmetic, cut: &Cut) -> Result<Accesses, Stop> {
    let values = arithmetic.values;
    let found = Accesses { by_base: AccessesByBase::new(), rows: IndexMap::new(), expanded_products: false };
    let mut reader = AccessReader { arithmetic, found, blocks: Vec::new() };
    for (index, draft) in cut.drafts.iter().enumerate() {
        for instruction in draft.all_instructions(values.facts) {
            reader.read_instruction(index, draft, instruction)?;
        }
    }
    for BlockOperation { base, position, draft, length } in std::mem::take(&mut reader.blocks) {
        let all = &reader.found.by_base[&base];
        let is_shaped = all.iter().any(|access| matches!(access.offset, Some(Offset::Polynomial(_))));
        let extent = reader.extent(length, &cut.drafts[draft].scope, is_shaped)?;
        let access = &mut reader.found.by_base[&base][position];
        if matches!(extent, AccessSize::Unknown) {
            access.offset = None;
        }
        access.extent = extent;
    }
    errno::add_calls_to_errno(values, cut, &mut reader.found.by_base)?;
    Ok(reader.found)
}

impl AccessReader<'_, '_> {
    fn read_instruction(&mut self, index: usize, draft: &Draft, value: ValueId) -> Result<(), Stop> {
        let facts = self.arithmetic.values.facts;
        let instruction = facts.instruction(value).expect("an instruction");
        let write = if draft.is_certain() { AccessKind::Write } else { AccessKind::MayWrite };
        let line = instruction.line.or(draft.scope.line);
        let Some(MemoryUse { reads, writes, size, .. }) = instruction.op.memory() else { return Ok(()) };
        for (pointer, kind) in [(reads, AccessKind::Read), (writes, write)] {
            let Some(pointer) = pointer else { continue };
            let mut start = self.start(pointer, draft, instruction.block, line)?;
            if start.offset.is_none()
                && let (Some(turning), UseSize::Bytes(_)) = (draft.turning_at(instruction.block), size)
                && let Some(moving) = self.moving_start(pointer, turning)?
            {
                start = moving;
            }
            let (base, row) = self.base_and_row(&start, draft)?;
            let AccessStart { offset, may_wrap, framed, turns, .. } = start;
            let accesses = self.found.by_base.entry(base).or_default();
            let extent = match size {
                UseSize::Bytes(bytes) => AccessSize::Bytes(bytes),
                UseSize::Value(length) => {
                    self.blocks.push(BlockOperation { base, position: accesses.len(), draft: index, length });
                    AccessSize::Unknown
                }
            };
            accesses.push(MemoryAccess {
                draft: index,
                instruction: value,
                kind,
                row,
                offset,
                may_wrap,
                framed,
                extent,
                turns,
                line,
            });
        }
        Ok(())
    }

    /// An access in a loop of a box, as the counters in there move it. Nothing is assumed for it: who knows whether it runs.
    fn moving_start(&mut self, pointer: ValueId, turning: &Turning) -> Result<Option<AccessStart>, IslError> {
        let Turning { scope, endless } = turning;
        let affine = self.arithmetic.prove(|this| {
            let (base, offset) = this.pointer(pointer, scope)?;
            let hidden = this.expand_products && this.hides_products(&offset)?;
            if hidden { Err(NotAffine::Because("a product".into())) } else { Ok((base, offset)) }
        })?;
        let turns = Some(scope.domain.clone());
        if let Some((base, offset)) = affine {
            for &dimension in endless {
                if offset.involves_dims(DimType::In, dimension, 1)? {
                    return Ok(None);
                }
            }
            return Ok(Some(AccessStart { turns, ..AccessStart::exactly(base, Some(Offset::Affine(offset))) }));
        }
        let address = self.arithmetic.prove(|this| this.address::<PiecewisePolynomial>(pointer, scope, 0))?;
        let Some(Address { base, offset, exact, framed: None }) = address else { return Ok(None) };
        let is_endless = |var: Var| matches!(var, Var::Counter(d) if endless.contains(&(d as usize)));
        if offset.pieces.iter().any(|(_, piece)| piece.vars().any(is_endless)) {
            return Ok(None);
        }
        let offset = Some(Offset::Polynomial(offset));
        Ok(Some(AccessStart { base, offset, may_wrap: !exact, framed: None, turns }))
    }

    fn extent(&mut self, length: ValueId, scope: &Scope, is_shaped: bool) -> Result<AccessSize, Stop> {
        if let ValueKind::ConstantInt(bytes) = self.arithmetic.values.facts.value(length).kind
            && bytes >= 0
        {
            return Ok(AccessSize::Bytes(bytes as u64));
        }
        if is_shaped {
            let product = self.arithmetic.attempt(|this| this.product_of_bytes(length, scope))?;
            let length = |(bytes, may_wrap)| AccessSize::Product(Length { bytes, may_wrap });
            return Ok(product.map_or(AccessSize::Unknown, length));
        }
        let read = self.arithmetic.attempt(|this| {
            let length = this.affine(length, scope, false)?;
            this.as_unsigned(length, scope)
        })?;
        Ok(read.map_or(AccessSize::Unknown, |length| AccessSize::Affine(length.function)))
    }

    fn start(&mut self, pointer: ValueId, draft: &Draft, block: BlockId, line: Line) -> Result<AccessStart, Stop> {
        // Inside a box loops turn that are not dimensions; the address is read as seen from the box, and is unknown if it varies there.
        let mut hidden = false;
        let affine = self.arithmetic.attempt(|this| {
            let (base, offset) = this.pointer(pointer, &draft.scope)?;
            hidden = this.expand_products && this.hides_products(&offset)?;
            if hidden { Err(NotAffine::Because("a product".into())) } else { Ok((base, offset)) }
        })?;
        if let Some((base, offset)) = affine {
            return Ok(AccessStart::exactly(base, Some(Offset::Affine(offset))));
        }
        let address = self.arithmetic.attempt(|this| this.address::<PiecewisePolynomial>(pointer, &draft.scope, 0))?;
        if let Some(Address { base, offset, exact, framed }) = address
            && !offset.is_affine()
        {
            self.found.expanded_products |= hidden;
            let offset = Some(Offset::Polynomial(offset));
            return Ok(AccessStart { base, offset, may_wrap: !exact, framed, turns: None });
        }
        if hidden && let Some((base, offset)) = self.arithmetic.attempt(|this| this.pointer(pointer, &draft.scope))? {
            return Ok(AccessStart::exactly(base, Some(Offset::Affine(offset))));
        }
        let root = self.arithmetic.values.root_pointer(pointer);
        if self.arithmetic.values.is_outside(root) || self.arithmetic.values.rows.contains(&root) {
            return Ok(AccessStart::exactly(root, None));
        }
        let mut what = self.arithmetic.values.facts.display_name(root);
        if let Some(why) = self.why_no_row(root, draft) {
            what += &format!(", {why},");
        }
        Err(Stop::refuse(RefusalKind::UnknownBase, line, what, block))
    }
}
