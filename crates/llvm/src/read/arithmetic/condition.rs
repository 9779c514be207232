//! Conditions as sets of instances.

use super::{Affine, Arithmetic, MAX_DEPTH, NotAffine, Read, Scope, not_affine, set_space};
use crate::facts::{IntOp, Op, Predicate, Type, ValueId, ValueKind};
use isl::Set;
use planted::Fault;

impl Arithmetic<'_> {
    /// The instances of `scope` (a superset of its domain's restriction) in which the condition is true.
    pub fn condition(&mut self, value: ValueId, scope: &Scope) -> Read<Set> {
        self.condition_at(value, scope, true, 0)
    }

    pub fn condition_at(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Set> {
        if depth > MAX_DEPTH {
            return not_affine("a very deep condition");
        }
        let facts = self.values.facts;
        let universe = Set::universe(&set_space(self.values.ctx, scope.loops.len())?)?;
        if let ValueKind::ConstantInt(c) = facts.value(value).kind {
            return Ok(if c != 0 { universe } else { universe.complement()? });
        }
        if let Some((question, opposite)) = self.values.switch(value) {
            let answer = self.bit(question, scope)?;
            return Ok(if opposite { answer.complement()? } else { answer });
        }
        let readable = facts.instruction(value).filter(|_| facts.value(value).ty == Type::Int(1));
        let by_structure = match readable {
            Some(instruction) => {
                let operands = &instruction.operands;
                let deeper = depth + 1;
                match &instruction.op {
                    Op::ICmp(predicate) => {
                        self.comparison(*predicate, operands[0], operands[1], scope, trusted, deeper)
                    }
                    Op::Int(IntOp::And) => {
                        let a = self.condition_at(operands[0], scope, trusted, deeper)?;
                        let b = self.condition_at(operands[1], scope, trusted, deeper)?;
                        Ok(a.intersect(&b)?)
                    }
                    Op::Int(IntOp::Or) => {
                        let a = self.condition_at(operands[0], scope, trusted, deeper)?;
                        let b = self.condition_at(operands[1], scope, trusted, deeper)?;
                        Ok(a.union(&b)?)
                    }
                    Op::Int(IntOp::Xor) => {
                        let a = self.condition_at(operands[0], scope, trusted, deeper)?;
                        let b = self.condition_at(operands[1], scope, trusted, deeper)?;
                        Ok(a.subtract(&b)?.union(&b.subtract(&a)?)?)
                    }
                    Op::Select => {
                        // `a && b` and `a || b`: the side that is not looked at may be anything, so it is read only where it counts.
                        let a = self.condition_at(operands[0], scope, trusted, deeper)?;
                        let not_a = a.complement()?;
                        let when = |domain: Set| Scope { domain, ..scope.clone() };
                        let then_scope = when(scope.domain.intersect(&a)?);
                        let else_scope = when(scope.domain.intersect(&not_a)?);
                        let then = self.condition_at(operands[1], &then_scope, trusted, deeper)?;
                        let otherwise = self.condition_at(operands[2], &else_scope, trusted, deeper)?;
                        Ok(a.intersect(&then)?.union(&not_a.intersect(&otherwise)?)?)
                    }
                    _ => not_affine(facts.display_name(value)),
                }
            }
            None => not_affine(facts.display_name(value)),
        };
        match by_structure {
            // What is decided before the region is one bit, and so is what the region decides from such values, of floating-point
            // numbers too.
            Err(NotAffine::Because(_) | NotAffine::Wraps(_)) if self.values.is_outside(value) => self.bit(value, scope),
            Err(NotAffine::Because(_)) if readable.is_some() && self.values.is_hoistable(value, 0) => {
                self.bit(value, scope)
            }
            other => other,
        }
    }

    /// Where a condition that is known before the region holds.
    fn bit(&mut self, condition: ValueId, scope: &Scope) -> Read<Set> {
        let is_outside = self.values.is_outside(condition);
        let bit =
            if is_outside { self.parameter(scope, condition)? } else { self.hoisted_parameter(scope, condition)? };
        Ok(bit.function.ne_set(&self.constant(scope, 0)?)?)
    }

    fn comparison(
        &mut self,
        predicate: Predicate,
        left: ValueId,
        right: ValueId,
        scope: &Scope,
        trusted: bool,
        depth: u32,
    ) -> Read<Set> {
        use Predicate::*;
        let a = self.affine_at(left, scope, trusted, depth)?;
        let b = self.affine_at(right, scope, trusted, depth)?;
        let (a, b) = match predicate {
            Slt | Sle | Sgt | Sge => (self.as_signed(a, scope)?, self.as_signed(b, scope)?),
            Ult | Ule | Ugt | Uge if planted::is(Fault::UnsignedTakenForSigned) => {
                (self.as_signed(a, scope)?, self.as_signed(b, scope)?)
            }
            Ult | Ule | Ugt | Uge => (self.as_unsigned(a, scope)?, self.as_unsigned(b, scope)?),
            // Equality modulo 2^w is equality where both lie in one range of 2^w numbers.
            Eq | Ne => {
                let only_unsigned = |x: &Affine| x.unsigned && !x.signed;
                if a.unsigned && b.unsigned {
                    (a, b)
                } else if only_unsigned(&a)
                    || only_unsigned(&b)
                    || !(self.is_signed(&a, scope)? && self.is_signed(&b, scope)?)
                        && self.is_unsigned(&a, scope)?
                        && self.is_unsigned(&b, scope)?
                {
                    (self.as_unsigned(a, scope)?, self.as_unsigned(b, scope)?)
                } else {
                    (self.as_signed(a, scope)?, self.as_signed(b, scope)?)
                }
            }
        };
        let (a, b) = (&a.function, &b.function);
        Ok(match predicate {
            Eq => a.eq_set(b)?,
            Ne => a.ne_set(b)?,
            Slt | Ult => a.lt_set(b)?,
            Sle | Ule => a.le_set(b)?,
            Sgt | Ugt => a.gt_set(b)?,
            Sge | Uge => a.ge_set(b)?,
        })
    }
}
