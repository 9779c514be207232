//! Pointers as a base, defined outside the region or the pointer to a row, and a number of bytes.

use super::modular::{Framed, Function, Modular, framed_in_sum, wraps_in};
use super::{Arithmetic, MAX_DEPTH, Read, Scope, not_affine};
use crate::facts::{CastOp, Op, Scev, ValueId, ValueKind};
use isl::PwAff;

/// The pointer is `base` plus `offset` bytes modulo 2^w. `exact`: no step of its computation can have wrapped.
#[derive(Clone, Debug)]
pub struct Address<F> {
    pub base: ValueId,
    pub offset: F,
    pub exact: bool,
    /// The offset is right if a part of it lies where it must.
    pub framed: Option<Framed<F>>,
}

impl<F: Function> Address<F> {
    fn exactly(arithmetic: &Arithmetic, scope: &Scope, base: ValueId, offset: i64) -> Read<Self> {
        Ok(Address { base, offset: F::constant(arithmetic, scope, offset)?, exact: true, framed: None })
    }
}

impl Arithmetic<'_> {
    /// The pointer with an affine number of bytes that has not wrapped.
    pub fn pointer(&mut self, pointer: ValueId, scope: &Scope) -> Read<(ValueId, PwAff)> {
        let address = self.address::<PwAff>(pointer, scope, 0)?;
        if address.exact {
            return Ok((address.base, address.offset));
        }
        // Two offsets within one signed range differ by less than 2^w: equal addresses have equal offsets.
        let bits = self.values.facts.target.index_bits;
        let offset = self.as_signed(Modular::new(address.offset, bits), scope)?;
        Ok((address.base, offset.function))
    }

    pub fn address<F: Function>(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<Address<F>> {
        if depth > MAX_DEPTH {
            return not_affine("a very long address computation");
        }
        let pointer = self.values.stands_for(pointer);
        if self.values.rows.contains(&pointer) {
            return Address::exactly(self, scope, pointer, 0);
        }
        if !self.values.is_outside(pointer) {
            return self.computed_address(pointer, scope, depth);
        }
        // Look through sums that need no assumption, so that `A` and `A + 1` are one array. A number may be added in whatever way: the
        // address is that far from the base modulo 2^w.
        let inside = self.prove(|this| {
            let address = this.computed_address::<F>(pointer, scope, depth)?;
            let plain = this.expand_products || address.offset.is_affine();
            let right = address.exact || address.offset.as_constant().is_some();
            if right && address.framed.is_none() && plain { Ok(address) } else { wraps_in("an address") }
        })?;
        if let Some(address) = inside {
            return Ok(address);
        }
        match self.values.handed_on(pointer) {
            Some(base) => Address::exactly(self, scope, base, 0),
            None => not_affine(self.values.facts.display_name(pointer)),
        }
    }

    fn computed_address<F: Function>(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<Address<F>> {
        let facts = self.values.facts;
        let Some(instruction) = facts.instruction(pointer) else {
            return match facts.value(pointer).kind {
                ValueKind::ConstantGep { base, offset } => Address::exactly(self, scope, base, offset),
                _ => not_affine(facts.display_name(pointer)),
            };
        };
        match &instruction.op {
            Op::Gep { base, offset: Some(terms), inbounds, nusw, .. } => {
                let from = self.address::<F>(*base, scope, depth + 1)?;
                let mut exact = from.exact && (*inbounds || *nusw);
                let mut offset = from.offset.add(&F::constant(self, scope, terms.constant)?)?;
                let mut framed = from.framed;
                for &(index, scale) in &terms.terms {
                    // Poison in an index is poison in the address, and every address read here is used.
                    let index = F::read(self, index, scope, true, depth + 1)?;
                    let (index, is_exact) = F::index(self, index, scope)?;
                    exact &= is_exact;
                    let scale = i128::from(scale);
                    offset = offset.add(&index.function.scale(scale)?)?;
                    let part = index.framed.map(|framed| framed.scaled(Some(scale))).transpose()?;
                    framed = framed_in_sum(framed, part)?;
                }
                Ok(Address { base: from.base, offset, exact, framed })
            }
            Op::Cast(CastOp::BitCast) => self.address(instruction.operands[0], scope, depth + 1),
            Op::Select => {
                let &[condition, then, otherwise] = &instruction.operands[..] else {
                    return not_affine(facts.display_name(pointer));
                };
                // Poison in the condition is poison in the address, and so is poison in the side that is chosen.
                let condition = self.condition_at(condition, scope, true, depth + 1)?;
                let when = |domain| Scope { domain, ..scope.clone() };
                let then_scope = when(scope.domain.intersect(&condition)?);
                let else_scope = when(scope.domain.subtract(&condition)?);
                let then = self.address::<F>(then, &then_scope, depth + 1)?;
                let otherwise = self.address::<F>(otherwise, &else_scope, depth + 1)?;
                if then.base != otherwise.base || then.framed.is_some() || otherwise.framed.is_some() {
                    return not_affine(facts.display_name(pointer));
                }
                let offset = then.offset.or_else(&condition, &otherwise.offset)?;
                Ok(Address { offset, exact: then.exact && otherwise.exact, ..then })
            }
            Op::Phi { .. } if !self.values.is_outside(pointer) && self.values.turns_with(pointer, &scope.loops) => {
                self.address_of_scev(&self.scev(pointer, scope), scope, depth + 1)
            }
            _ => not_affine(facts.display_name(pointer)),
        }
    }

    pub fn address_of_scev<F: Function>(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<Address<F>> {
        let not_even = || not_affine("a pointer that does not move by equal steps");
        match scev {
            Scev::Unknown { value, .. } => {
                let is_phi_itself = self.values.facts.is_phi(*value) && !self.values.is_outside(*value);
                if is_phi_itself { not_even() } else { self.address(*value, scope, depth + 1) }
            }
            Scev::Add { operands, .. } => {
                let mut address: Option<Address<F>> = None;
                let mut sum = F::constant(self, scope, 0)?;
                let mut framed = None;
                for operand in operands {
                    if !self.values.is_pointer(operand) {
                        let operand = self.of_scev::<F>(operand, scope, depth + 1)?;
                        sum = sum.add(&operand.function)?;
                        framed = framed_in_sum(framed, operand.framed)?;
                    } else if address.is_none() {
                        address = Some(self.address_of_scev::<F>(operand, scope, depth + 1)?);
                    } else {
                        return not_even();
                    }
                }
                let Some(address) = address else { return not_even() };
                let framed = framed_in_sum(address.framed, framed)?;
                Ok(Address { base: address.base, offset: address.offset.add(&sum)?, exact: false, framed })
            }
            Scev::AddRec { in_loop, operands, .. } => {
                let dimension = scope.loops.iter().position(|l| l == in_loop);
                let ([start, steps @ ..], Some(dimension)) = (operands.as_slice(), dimension) else {
                    return not_even();
                };
                if steps.len() != 1 && !F::UNEVEN {
                    return not_even();
                }
                let start = self.address_of_scev::<F>(start, scope, depth + 1)?;
                let mut parts = vec![start.offset];
                for step in steps {
                    parts.push(self.of_scev::<F>(step, scope, depth + 1)?.unframed()?.function);
                }
                let offset = F::recurrence(self, parts, scope, dimension)?;
                Ok(Address { base: start.base, offset, exact: false, framed: start.framed })
            }
            _ => not_even(),
        }
    }
}
