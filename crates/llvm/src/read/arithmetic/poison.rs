//! Which values cannot be poison.
//!
//! Where poison of a value reaches a branch or an address the program has no meaning, and its flags are promises. Behind `freeze` they
//! are not: a flag that lies makes any number of the value there, and the same one for all that use it. So a value is looked at
//! through `freeze` only if each of its flags is proved, with nothing assumed.

use super::{Arithmetic, MAX_DEPTH, Read, Scope};
use crate::facts::{CastOp, Instruction, IntOp, Op, ValueId, ValueKind};
use crate::read::arithmetic::affine::Affine;

impl Arithmetic<'_> {
    /// Is what `freeze` gives what it gets? One in the region gets inputs that were frozen when the region was entered; one before it may
    /// have got others.
    pub(super) fn is_its_operand(&mut self, freeze: ValueId, scope: &Scope, depth: u32) -> Read<bool> {
        let Some(instruction) = self.values.facts.instruction(freeze) else { return Ok(false) };
        let operand = instruction.operands[0];
        Ok(self.values.oracle.is_guaranteed_not_poison(operand)
            || !self.values.is_outside(freeze) && self.is_never_poison(operand, scope, depth)?)
    }

    /// In no instance of the scope. What comes from outside and is not looked through is frozen when the region is entered.
    fn is_never_poison(&mut self, value: ValueId, scope: &Scope, depth: u32) -> Read<bool> {
        let facts = self.values.facts;
        let value = self.values.stands_for(value);
        if matches!(facts.value(value).kind, ValueKind::ConstantInt(_))
            || self.values.oracle.is_guaranteed_not_poison(value)
        {
            return Ok(true);
        }
        let outside = self.values.is_outside(value);
        let Some(instruction) = facts.instruction(value) else { return Ok(outside) };
        if depth > MAX_DEPTH {
            return Ok(false);
        }
        match &instruction.op {
            Op::Phi { .. } if !outside => self.is_sound_counter(value, instruction, scope, depth),
            Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul) | Op::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc) => {
                Ok(self.are_never_poison(&instruction.operands, scope, depth)?
                    && self.flags_hold(value, instruction, scope)?)
            }
            Op::MinMax(_) => self.are_never_poison(&instruction.operands, scope, depth),
            _ => Ok(outside && matches!(instruction.op, Op::Load { .. } | Op::Phi { .. } | Op::Call { .. })),
        }
    }

    fn are_never_poison(&mut self, values: &[ValueId], scope: &Scope, depth: u32) -> Read<bool> {
        for value in values {
            if !self.is_never_poison(*value, scope, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value in ℤ, computed without trusting any flag.
    fn proved(&mut self, value: ValueId, scope: &Scope) -> Read<Option<Affine>> {
        Ok(self.prove(|this| this.affine(value, scope, false))?)
    }

    /// Do operands and result lie in the ranges for which the operation promises something?
    fn flags_hold(&mut self, value: ValueId, instruction: &Instruction, scope: &Scope) -> Read<bool> {
        let flags = instruction.flags;
        if flags.exact || flags.disjoint {
            return Ok(false);
        }
        if !(flags.nsw || flags.nuw || flags.nneg) {
            return Ok(true);
        }
        let mut all = Vec::new();
        for operand in &instruction.operands {
            all.push(self.proved(*operand, scope)?);
        }
        if !flags.nneg {
            // Computed from its operands: as a parameter of its own it would be in range by definition.
            let bits = self.bits(value)?;
            all.push(self.prove(|this| this.expression(value, bits, scope, false, 0))?);
        }
        for a in all {
            let Some(a) = a else { return Ok(false) };
            let is_natural = flags.nuw || flags.nneg;
            // Both readings are one number then.
            let signed = flags.nsw || flags.nneg;
            if signed && !self.prove_signed(&a, scope)? || is_natural && !self.prove_unsigned(&a, scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A counter with constant steps, each of which keeps what it promises: between its first value and its last it lies in the ranges
    /// of both.
    fn is_sound_counter(&mut self, phi: ValueId, instruction: &Instruction, scope: &Scope, depth: u32) -> Read<bool> {
        let facts = self.values.facts;
        let Op::Phi { incoming } = &instruction.op else { return Ok(false) };
        let Some(in_loop) = facts.block(instruction.block).innermost_loop else { return Ok(false) };
        if facts.loops[in_loop.index()].header != instruction.block || !scope.loops.contains(&in_loop) {
            return Ok(false);
        }
        for (operand, from) in instruction.operands.iter().zip(incoming) {
            if !facts.in_loop(*from, in_loop) {
                // The first value is in range, too, or the steps do not begin where the function does.
                let Some(first) = self.proved(*operand, scope)? else { return Ok(false) };
                let in_range = self.prove_signed(&first, scope)? && self.prove_unsigned(&first, scope)?;
                if !in_range || !self.is_never_poison(*operand, scope, depth + 1)? {
                    return Ok(false);
                }
                continue;
            }
            let Some(step) = facts.instruction(*operand) else { return Ok(false) };
            let is_constant = |v: &ValueId| matches!(facts.value(*v).kind, ValueKind::ConstantInt(_));
            let is_step = matches!(step.op, Op::Int(IntOp::Add))
                && step.operands.contains(&phi)
                && step.operands.iter().all(|v| *v == phi || is_constant(v))
                && step.operands.iter().any(is_constant);
            if !is_step {
                return Ok(false);
            }
            let Some(a) = self.proved(phi, scope)? else { return Ok(false) };
            let natural_step = step.operands.iter().all(|v| match facts.value(*v).kind {
                ValueKind::ConstantInt(c) => c >= 0,
                _ => true,
            });
            if step.flags.nsw && !self.prove_signed(&a, scope)?
                || step.flags.nuw && !(natural_step && self.prove_unsigned(&a, scope)?)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
