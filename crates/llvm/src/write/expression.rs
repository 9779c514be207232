//! The plan's integer expressions as 64-bit arithmetic in the new code.
//!
//! The plan has proved, or put into the check, that every value fits into 64 bits where it is evaluated, so wrapping arithmetic
//! gives exactly the value in ℤ. No operation claims nsw: that would turn a mistake there from a wrong bound into poison, and
//! neither ScalarEvolution nor the vectorizer needs it at full width.

use super::WriteError;
use super::code::CodeWriter;
use super::ir::{Builder, Compare, Value};
use model::loop_ast::{BinaryOp, Expr};
use model::polynomial::{Polynomial, Var};

impl CodeWriter<'_> {
    /// An i64.
    pub(super) fn write_int(&mut self, expr: &Expr) -> Result<Value, WriteError> {
        Ok(match expr {
            Expr::Int(value) => match i64::try_from(*value) {
                Ok(value) => self.build.constant(value),
                Err(_) => return Err(WriteError::Plan(format!("the constant {value} does not fit"))),
            },
            Expr::Param(param) => match self.inputs.param(*param) {
                Some(value) => self.local(value),
                None => return Err(WriteError::Plan(format!("the parameter {param} does not exist"))),
            },
            Expr::Counter(counter) => match self.counters.get(counter) {
                Some(&value) => self.local(value),
                None => return Err(WriteError::Plan(format!("the counter {} is used outside its loop", counter.0))),
            },
            Expr::Neg(operand) => {
                let operand = self.write_int(operand)?;
                self.build.sub(self.build.constant(0), operand)
            }
            Expr::Binary(op, a, b) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                    let (a, b) = (self.write_int(a)?, self.write_int(b)?);
                    write_arithmetic(self.build, *op, a, b)
                }
                BinaryOp::Min | BinaryOp::Max => {
                    let (a, b) = (self.write_int(a)?, self.write_int(b)?);
                    let name = if *op == BinaryOp::Min { "llvm.smin" } else { "llvm.smax" };
                    match (a.constant_int(), b.constant_int()) {
                        (Some(x), Some(y)) => {
                            self.build.constant(if *op == BinaryOp::Min { x.min(y) } else { x.max(y) })
                        }
                        _ => self.build.intrinsic(name, a, b),
                    }
                }
                BinaryOp::FloorDiv
                | BinaryOp::ExactDiv
                | BinaryOp::NonNegDiv
                | BinaryOp::NonNegRem
                | BinaryOp::ZeroTestRem => {
                    let divisor = positive_divisor(b)?;
                    let dividend = self.write_int(a)?;
                    write_division(self.build, *op, dividend, divisor)
                }
                BinaryOp::Power => {
                    power_of_two(a)?;
                    let exponent = self.write_int(b)?;
                    self.build.shl(self.build.constant(1), exponent)
                }
                BinaryOp::Eq
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or => {
                    let truth = self.write_bool(expr)?;
                    self.build.zext(truth, self.build.i64())
                }
            },
            Expr::Select { condition, then, otherwise } => {
                let condition = self.write_bool(condition)?;
                let (then, otherwise) = (self.write_int(then)?, self.write_int(otherwise)?);
                self.build.select(condition, then, otherwise)
            }
        })
    }

    /// An i1.
    pub(super) fn write_bool(&mut self, expr: &Expr) -> Result<Value, WriteError> {
        if let Expr::Binary(op, a, b) = expr {
            if let Some(how) = comparison(*op) {
                let (a, b) = (self.write_int(a)?, self.write_int(b)?);
                return Ok(self.build.compare(how, a, b));
            }
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                let (a, b) = (self.write_bool(a)?, self.write_bool(b)?);
                return Ok(if *op == BinaryOp::And { self.build.and(a, b) } else { self.build.or(a, b) });
            }
        }
        let number = self.write_int(expr)?;
        Ok(self.build.compare(Compare::Ne, number, self.build.constant(0)))
    }

    /// In wrapping 64-bit arithmetic.
    pub(super) fn write_polynomial(
        &mut self,
        polynomial: &Polynomial,
        coordinates: &[Value],
    ) -> Result<Value, WriteError> {
        let mut sum = self.build.constant(0);
        for (monomial, coefficient) in polynomial.terms() {
            // The low 64 bits are all that counts.
            let mut product = self.build.constant(coefficient as i64);
            for &(var, exponent) in monomial.factors() {
                let value = match var {
                    Var::Counter(d) => coordinates.get(d as usize).copied(),
                    Var::Param(id) => self.inputs.param(id).map(|value| self.local(value)),
                };
                let Some(value) = value else {
                    return Err(WriteError::Reader(format!("a polynomial uses {var}, which does not exist")));
                };
                for _ in 0..exponent {
                    product = if product.constant_int() == Some(1) { value } else { self.build.mul(product, value) };
                }
            }
            sum = if sum.constant_int() == Some(0) { product } else { self.build.add(sum, product) };
        }
        Ok(sum)
    }
}

/// A sum, difference or product, wrapping.
pub(super) fn write_arithmetic(build: &Builder, op: BinaryOp, a: Value, b: Value) -> Value {
    match op {
        BinaryOp::Add => build.add(a, b),
        BinaryOp::Sub => build.sub(a, b),
        _ => build.mul(a, b),
    }
}

/// `op` is a division or remainder, `divisor` positive.
pub(super) fn write_division(build: &Builder, op: BinaryOp, dividend: Value, divisor: i64) -> Value {
    let shift = (divisor as u64).is_power_of_two().then(|| divisor.trailing_zeros());
    let by = build.constant(divisor);
    match (op, shift) {
        // The arithmetic shift rounds towards −∞; on what divides exactly or is not negative all roundings agree.
        (BinaryOp::FloorDiv | BinaryOp::ExactDiv | BinaryOp::NonNegDiv, Some(shift)) => build.ashr(dividend, shift),
        (BinaryOp::FloorDiv, None) => {
            // x = q·d + r with r of x's sign: the floor is one less exactly where r < 0, and r >> 63 is −1 there, else 0.
            // Neither operation overflows, since d > 1.
            let quotient = build.sdiv(dividend, by);
            let remainder = build.sub(dividend, build.mul(quotient, by));
            build.add(quotient, build.ashr(remainder, 63))
        }
        (BinaryOp::ExactDiv, None) => build.sdiv(dividend, by),
        (BinaryOp::NonNegDiv, None) => build.udiv(dividend, by),
        // In two's complement the low bits are the remainder towards −∞: right for what is not negative and for a zero test.
        (_, Some(_)) => build.and(dividend, build.constant(divisor - 1)),
        (_, None) => build.srem(dividend, by),
    }
}

pub(super) fn comparison(op: BinaryOp) -> Option<Compare> {
    Some(match op {
        BinaryOp::Eq => Compare::Eq,
        BinaryOp::Lt => Compare::Lt,
        BinaryOp::Le => Compare::Le,
        BinaryOp::Gt => Compare::Gt,
        BinaryOp::Ge => Compare::Ge,
        _ => return None,
    })
}

/// Powers of other numbers are not written.
pub(super) fn power_of_two(base: &Expr) -> Result<(), WriteError> {
    match base {
        Expr::Int(2) => Ok(()),
        other => Err(WriteError::Plan(format!("a power of {other:?}"))),
    }
}

pub(super) fn positive_divisor(expr: &Expr) -> Result<i64, WriteError> {
    match expr {
        Expr::Int(value) if *value > 0 && i64::try_from(*value).is_ok() => Ok(*value as i64),
        other => Err(WriteError::Plan(format!("{other:?} is not a positive constant divisor"))),
    }
}
