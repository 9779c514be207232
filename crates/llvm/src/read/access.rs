//! Addresses: which bytes from which base an instance touches.

use super::affine::{Affine, NotAffine, Scope};
use super::polynomial::{PolynomialAddress, Window};
use super::statement::{Cut, Draft};
use super::{Reader, Stop};
use crate::facts::{BlockId, CastOp, Op, Scev, Type, ValueId, ValueKind};
use indexmap::IndexMap;
use isl::{DimType, PwAff};
use model::delinearize::Offset;
use model::polynomial::Polynomial;
use model::refusal::RefusalKind;
use model::scop::{AccessKind, ParamId};

/// One load, store or block operation of a draft.
pub struct MemoryAccess {
    pub draft: usize,
    pub instruction: ValueId,
    pub kind: AccessKind,
    /// Bytes from the base at which it starts; `None`: anything reachable from the base may be touched.
    pub offset: Option<Offset>,
    /// The offset may differ from that by a multiple of 2^(index width), unless the extent of the whole array is checked.
    pub(super) may_wrap: bool,
    /// The offset may differ unless all bytes of the array that are touched lie in here, the end excluded.
    pub window: Option<Window>,
    pub extent: Extent,
    pub line: u32,
}

impl MemoryAccess {
    /// Does it touch what is said only if something is shown of all bytes that are touched?
    pub fn may_wrap(&self) -> bool {
        let is_long = matches!(self.extent, Extent::Product(Length { may_wrap: true, .. }));
        self.may_wrap || self.window.is_some() || is_long
    }
}

/// Where an access begins; the fields are those of [`MemoryAccess`].
struct Start {
    base: ValueId,
    offset: Option<Offset>,
    may_wrap: bool,
    window: Option<Window>,
}

impl Start {
    fn exactly(base: ValueId, offset: Option<Offset>) -> Start {
        Start { base, offset, may_wrap: false, window: None }
    }
}

pub enum Extent {
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

/// How much an instruction touches, as it says it.
#[derive(Clone, Copy)]
enum Size {
    Bytes(u64),
    Value(ValueId),
}

/// A block operation whose length is to be read.
struct Block {
    base: ValueId,
    /// Among the accesses of the base.
    position: usize,
    draft: usize,
    length: ValueId,
}

/// All accesses, by base pointer in order of first appearance.
pub type AccessesByBase = IndexMap<ValueId, Vec<MemoryAccess>>;

/// A pointer as base plus bytes. `exact`: no step of its computation can have wrapped.
struct Address {
    base: ValueId,
    offset: PwAff,
    exact: bool,
}

impl Reader<'_> {
    pub(super) fn read_accesses(&mut self, cut: &Cut) -> Result<AccessesByBase, Stop> {
        let mut all = AccessesByBase::new();
        let mut blocks = Vec::new();
        for (index, draft) in cut.drafts.iter().enumerate() {
            for instruction in self.instructions_of(draft) {
                self.read_instruction(index, draft, instruction, &mut all, &mut blocks)?;
            }
        }
        for Block { base, position, draft, length } in blocks {
            let is_shaped = all[&base].iter().any(|access| matches!(access.offset, Some(Offset::Polynomial(_))));
            let extent = self.extent(length, &cut.drafts[draft].scope, is_shaped)?;
            let access = &mut all[&base][position];
            if matches!(extent, Extent::Unknown) {
                access.offset = None;
            }
            access.extent = extent;
        }
        self.add_calls_to_errno(cut, &mut all)?;
        Ok(all)
    }

    pub(super) fn instructions_of(&self, draft: &Draft) -> Vec<ValueId> {
        match &draft.boxed {
            Some(part) => part.blocks.iter().flat_map(|&b| self.facts.block(b).instructions.clone()).collect(),
            None => draft.instructions.clone(),
        }
    }

    fn read_instruction(
        &mut self,
        index: usize,
        draft: &Draft,
        value: ValueId,
        all: &mut AccessesByBase,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Stop> {
        let facts = self.facts;
        let instruction = facts.instruction(value).expect("an instruction");
        let write = if draft.boxed.is_some() { AccessKind::MayWrite } else { AccessKind::Write };
        let line = if instruction.line != 0 { instruction.line } else { draft.scope.line };
        let (touched, size) = match &instruction.op {
            Op::Load { pointer, bytes, .. } => (vec![(*pointer, AccessKind::Read)], Size::Bytes(*bytes)),
            Op::Store { pointer, bytes, .. } => (vec![(*pointer, write)], Size::Bytes(*bytes)),
            Op::MemSet { destination, length, .. } => (vec![(*destination, write)], Size::Value(*length)),
            Op::MemCopy { destination, source, length, .. } => {
                (vec![(*source, AccessKind::Read), (*destination, write)], Size::Value(*length))
            }
            _ => return Ok(()),
        };
        for (pointer, kind) in touched {
            let Start { base, offset, may_wrap, window } = self.start(pointer, draft, instruction.block, line)?;
            let accesses = all.entry(base).or_default();
            let extent = match size {
                Size::Bytes(bytes) => Extent::Bytes(bytes),
                Size::Value(length) => {
                    blocks.push(Block { base, position: accesses.len(), draft: index, length });
                    Extent::Unknown
                }
            };
            accesses.push(MemoryAccess {
                draft: index,
                instruction: value,
                kind,
                offset,
                may_wrap,
                window,
                extent,
                line,
            });
        }
        Ok(())
    }

    fn extent(&mut self, length: ValueId, scope: &Scope, is_shaped: bool) -> Result<Extent, Stop> {
        if let ValueKind::ConstantInt(bytes) = self.facts.value(length).kind
            && bytes >= 0
        {
            return Ok(Extent::Bytes(bytes as u64));
        }
        if is_shaped {
            let product = self.attempt(|this| this.product_of_bytes(length, scope))?;
            return Ok(product.map_or(Extent::Unknown, Extent::Product));
        }
        let read = self.attempt(|this| {
            let length = this.affine(length, scope, false)?;
            this.as_unsigned(length, scope)
        })?;
        Ok(read.map_or(Extent::Unknown, |length| Extent::Affine(length.function)))
    }

    fn start(&mut self, pointer: ValueId, draft: &Draft, block: BlockId, line: u32) -> Result<Start, Stop> {
        // Inside a box loops turn that are not dimensions; the address is read as seen from the box, and is unknown if it varies there.
        let mut hidden = false;
        let affine = self.attempt(|this| {
            let (base, offset) = this.pointer(pointer, &draft.scope)?;
            hidden = this.expand_products && this.hides_products(&offset)?;
            if hidden { Err(NotAffine::Because("a product".into())) } else { Ok((base, offset)) }
        })?;
        if let Some((base, offset)) = affine {
            return Ok(Start::exactly(base, Some(Offset::Affine(offset))));
        }
        if let Some(address) = self.attempt(|this| this.polynomial_address(pointer, &draft.scope, 0))?
            && !address.offset.is_affine()
        {
            self.expanded_products |= hidden;
            let PolynomialAddress { base, offset, exact, window } = address;
            return Ok(Start { base, offset: Some(Offset::Polynomial(offset)), may_wrap: !exact, window });
        }
        if hidden && let Some((base, offset)) = self.attempt(|this| this.pointer(pointer, &draft.scope))? {
            return Ok(Start::exactly(base, Some(Offset::Affine(offset))));
        }
        let root = self.root_pointer(pointer);
        if self.is_outside(root) {
            return Ok(Start::exactly(root, None));
        }
        let what = self.facts.display_name(root);
        Err(Stop::refuse(RefusalKind::UnknownBase, line, what, block))
    }

    /// Is one of its parameters a product of others?
    fn hides_products(&self, offset: &PwAff) -> Result<bool, isl::IslError> {
        for p in 0..offset.dim(DimType::Param)? {
            let id = ParamId::from_isl_name(&offset.get_dim_name(DimType::Param, p)?);
            let product = id.is_some_and(|id| self.hides_product(self.param_values[id.index()], 0));
            if product && offset.involves_dims(DimType::Param, p, 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the pointer is computed from, whatever the offsets.
    pub(super) fn root_pointer(&self, pointer: ValueId) -> ValueId {
        let mut at = pointer;
        for _ in 0..64 {
            at = self.stands_for(at);
            let Some(instruction) = self.facts.instruction(at) else {
                return match self.facts.value(at).kind {
                    ValueKind::ConstantGep { base, .. } => base,
                    _ => at,
                };
            };
            at = match &instruction.op {
                Op::Gep { base, .. } => *base,
                Op::Cast(CastOp::BitCast) | Op::Freeze => instruction.operands[0],
                Op::Phi { incoming } => {
                    // A pointer that walks: where it starts.
                    let Some(l) = self.facts.block(instruction.block).innermost_loop else { return at };
                    let info = &self.facts.loops[l.index()];
                    if info.header != instruction.block || self.is_outside(at) {
                        return at;
                    }
                    let starts: Vec<ValueId> = instruction
                        .operands
                        .iter()
                        .zip(incoming)
                        .filter(|(_, from)| !info.blocks.contains(from))
                        .map(|(&v, _)| v)
                        .collect();
                    let steps_on_itself = instruction
                        .operands
                        .iter()
                        .zip(incoming)
                        .all(|(&v, from)| !info.blocks.contains(from) || self.walks_from(v, at));
                    match starts[..] {
                        [start] if steps_on_itself => start,
                        _ => return at,
                    }
                }
                _ => return at,
            };
        }
        at
    }

    /// Is `value` the pointer `phi` moved by some offset?
    fn walks_from(&self, value: ValueId, phi: ValueId) -> bool {
        let mut at = value;
        for _ in 0..64 {
            if at == phi {
                return true;
            }
            match self.facts.instruction(at).map(|i| &i.op) {
                Some(Op::Gep { base, .. }) => at = *base,
                _ => return false,
            }
        }
        false
    }

    /// The pointer as a base defined outside the region plus an affine number of bytes.
    pub(super) fn pointer(&mut self, pointer: ValueId, scope: &Scope) -> Result<(ValueId, PwAff), NotAffine> {
        let address = self.address(pointer, scope, 0)?;
        if address.exact {
            return Ok((address.base, address.offset));
        }
        // Two offsets within one signed range differ by less than 2^w: equal addresses have equal offsets.
        let bits = self.facts.target.index_bits;
        let offset = self.as_signed(Affine::modular(address.offset, bits), scope)?;
        Ok((address.base, offset.function))
    }

    fn address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Result<Address, NotAffine> {
        if depth > 48 {
            return Err(NotAffine::Because("a very long address computation".into()));
        }
        let pointer = self.stands_for(pointer);
        let outside = self.is_outside(pointer);
        if outside {
            // Look through sums that need no assumption, so that `A` and `A + 1` are one array.
            let inside = self.prove(|this| {
                let address = this.computed_address(pointer, scope, depth)?;
                if address.exact { Ok(address) } else { Err(NotAffine::Wraps("an address".into())) }
            })?;
            if let Some(address) = inside {
                return Ok(address);
            }
            let Some(base) = self.handed_on(pointer) else {
                return Err(NotAffine::Because(self.facts.display_name(pointer)));
            };
            return Ok(Address { base, offset: self.constant(scope, 0)?, exact: true });
        }
        self.computed_address(pointer, scope, depth)
    }

    fn computed_address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Result<Address, NotAffine> {
        let facts = self.facts;
        let not_affine = || Err(NotAffine::Because(facts.display_name(pointer)));
        let Some(instruction) = facts.instruction(pointer) else {
            return match facts.value(pointer).kind {
                ValueKind::ConstantGep { base, offset } => {
                    Ok(Address { base, offset: self.constant(scope, offset)?, exact: true })
                }
                _ => not_affine(),
            };
        };
        match &instruction.op {
            Op::Gep { base, offset: Some(terms), inbounds, nusw, .. } => {
                let from = self.address(*base, scope, depth + 1)?;
                let mut offset = from.offset.add(&self.constant(scope, terms.constant)?)?;
                for &(index, scale) in &terms.terms {
                    // Poison in an index is poison in the address, and every address read here is used.
                    let index = self.affine(index, scope, true)?;
                    let index = self.as_signed(index, scope)?;
                    let scale = isl::Val::int_from_si(&self.ctx, scale)?;
                    offset = offset.add(&index.function.scale_val(&scale)?)?;
                }
                Ok(Address { base: from.base, offset, exact: from.exact && (*inbounds || *nusw) })
            }
            Op::Cast(CastOp::BitCast) => self.address(instruction.operands[0], scope, depth + 1),
            Op::Phi { .. } if !self.is_outside(pointer) && self.turns_with(pointer, scope) => {
                let scev = self.oracle.scev(pointer, scope.loops.last().copied().or(self.region.scope));
                self.address_of_scev(&scev, scope, depth + 1)
            }
            _ => not_affine(),
        }
    }

    fn address_of_scev(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Result<Address, NotAffine> {
        let not_affine = || Err(NotAffine::Because("a pointer that does not move by equal steps".into()));
        match scev {
            Scev::Unknown { value, .. } => {
                let is_phi_itself = self.facts.is_phi(*value) && !self.is_outside(*value);
                if is_phi_itself { not_affine() } else { self.address(*value, scope, depth + 1) }
            }
            Scev::Add { operands, .. } => {
                let mut address: Option<Address> = None;
                let mut sum = self.constant(scope, 0)?;
                for operand in operands {
                    if self.is_pointer(operand) {
                        if address.is_some() {
                            return not_affine();
                        }
                        address = Some(self.address_of_scev(operand, scope, depth + 1)?);
                    } else {
                        sum = sum.add(&self.affine_of_scev(operand, scope, depth + 1)?.function)?;
                    }
                }
                match address {
                    Some(a) => Ok(Address { offset: a.offset.add(&sum)?, base: a.base, exact: false }),
                    None => not_affine(),
                }
            }
            Scev::AddRec { in_loop, operands, .. } => {
                let ([start, step], Some(dimension)) =
                    (operands.as_slice(), scope.loops.iter().position(|l| l == in_loop))
                else {
                    return not_affine();
                };
                let start = self.address_of_scev(start, scope, depth + 1)?;
                let step = self.affine_of_scev(step, scope, depth + 1)?.function;
                if !step.is_cst()? {
                    return not_affine();
                }
                let moved = step.mul(&self.dimension(scope, dimension)?)?;
                Ok(Address { base: start.base, offset: start.offset.add(&moved)?, exact: false })
            }
            _ => not_affine(),
        }
    }

    pub(super) fn is_pointer(&self, scev: &Scev) -> bool {
        match scev {
            Scev::Unknown { value, .. } => matches!(self.facts.value(*value).ty, Type::Pointer { .. }),
            Scev::Add { operands, .. } => operands.iter().any(|o| self.is_pointer(o)),
            Scev::AddRec { operands, .. } => operands.first().is_some_and(|o| self.is_pointer(o)),
            _ => false,
        }
    }
}
