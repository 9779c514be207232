//! Pointers as a base and an affine number of bytes.

use super::{Affine, Arithmetic, NotAffine, Read, Scope};
use crate::facts::{CastOp, Op, Scev, ValueId, ValueKind};
use isl::PwAff;

/// A pointer as base plus bytes. `exact`: no step of its computation can have wrapped.
struct Address {
    base: ValueId,
    offset: PwAff,
    exact: bool,
}

impl Arithmetic<'_> {
    /// The pointer as a base defined outside the region plus an affine number of bytes.
    pub fn pointer(&mut self, pointer: ValueId, scope: &Scope) -> Read<(ValueId, PwAff)> {
        let address = self.address(pointer, scope, 0)?;
        if address.exact {
            return Ok((address.base, address.offset));
        }
        // Two offsets within one signed range differ by less than 2^w: equal addresses have equal offsets.
        let bits = self.values.facts.target.index_bits;
        let offset = self.as_signed(Affine::modular(address.offset, bits), scope)?;
        Ok((address.base, offset.function))
    }

    fn address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<Address> {
        if depth > 48 {
            return Err(NotAffine::Because("a very long address computation".into()));
        }
        let pointer = self.values.stands_for(pointer);
        let outside = self.values.is_outside(pointer);
        if outside {
            // Look through sums that need no assumption, so that `A` and `A + 1` are one array.
            let inside = self.prove(|this| {
                let address = this.computed_address(pointer, scope, depth)?;
                if address.exact { Ok(address) } else { Err(NotAffine::Wraps("an address".into())) }
            })?;
            if let Some(address) = inside {
                return Ok(address);
            }
            let Some(base) = self.values.handed_on(pointer) else {
                return Err(NotAffine::Because(self.values.facts.display_name(pointer)));
            };
            return Ok(Address { base, offset: self.constant(scope, 0)?, exact: true });
        }
        self.computed_address(pointer, scope, depth)
    }

    fn computed_address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<Address> {
        let facts = self.values.facts;
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
                    let scale = isl::Val::int_from_si(self.values.ctx, scale)?;
                    offset = offset.add(&index.function.scale_val(&scale)?)?;
                }
                Ok(Address { base: from.base, offset, exact: from.exact && (*inbounds || *nusw) })
            }
            Op::Cast(CastOp::BitCast) => self.address(instruction.operands[0], scope, depth + 1),
            Op::Phi { .. } if !self.values.is_outside(pointer) && self.values.turns_with(pointer, &scope.loops) => {
                let scev = self.values.oracle.scev(pointer, scope.loops.last().copied().or(self.values.region.scope));
                self.address_of_scev(&scev, scope, depth + 1)
            }
            _ => not_affine(),
        }
    }

    fn address_of_scev(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<Address> {
        let not_affine = || Err(NotAffine::Because("a pointer that does not move by equal steps".into()));
        match scev {
            Scev::Unknown { value, .. } => {
                let is_phi_itself = self.values.facts.is_phi(*value) && !self.values.is_outside(*value);
                if is_phi_itself { not_affine() } else { self.address(*value, scope, depth + 1) }
            }
            Scev::Add { operands, .. } => {
                let mut address: Option<Address> = None;
                let mut sum = self.constant(scope, 0)?;
                for operand in operands {
                    if self.values.is_pointer(operand) {
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
}
