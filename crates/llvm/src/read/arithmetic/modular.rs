//! Numbers modulo 2^w, and what is the same for all functions that they are read as.

use super::{Arithmetic, MAX_DEPTH, NotAffine, Read, Scope, not_affine};
use crate::facts::{CastOp, IntOp, Op, Scev, ValueId, ValueKind};
use isl::Set;
use model::polynomial::PiecewisePolynomial;

/// `function` ≡ the value modulo 2^bits; equal to its signed (unsigned) reading where `signed` (`unsigned`) is true.
#[derive(Clone, Debug)]
pub struct Modular<F> {
    pub function: F,
    pub bits: u32,
    pub signed: bool,
    pub unsigned: bool,
    /// All of this is true if a part of the function lies where it must.
    pub framed: Option<Framed<F>>,
}

/// First number, and the one behind the last.
pub type Window = (i128, i128);

/// A function that must lie in a window, in all instances.
#[derive(Clone, Debug)]
pub struct Framed<F> {
    pub part: F,
    pub window: Window,
}

impl<F: Function> Framed<F> {
    /// The same in smaller units, so that it stays a part of what is scaled.
    pub fn scaled(self, by: Option<i128>) -> Read<Self> {
        let Some(by) = by.filter(|by| (1..1 << 32).contains(by)) else { return wraps_in("a product") };
        let (first, end) = self.window;
        Ok(Framed { part: self.part.scale(by)?, window: (first * by, end * by) })
    }
}

impl Framed<PiecewisePolynomial> {
    /// It says what the other one says, which counts in units that are no larger.
    pub fn is_part_of(&self, other: &Self) -> bool {
        let by = (other.window.1 - other.window.0) / (self.window.1 - self.window.0);
        let same = |scaled: Self| scaled.window == other.window && scaled.part.is_plainly_equal(&other.part);
        self.clone().scaled(Some(by)).is_ok_and(same)
    }
}

/// What a sum has to keep of its operands.
pub fn framed_in_sum<F>(a: Option<Framed<F>>, b: Option<Framed<F>>) -> Read<Option<Framed<F>>> {
    if a.is_some() && b.is_some() { wraps_in("a sum") } else { Ok(a.or(b)) }
}

/// Functions of counters and parameters: affine ones, of which isl knows everything, and polynomials.
pub trait Function: Clone {
    /// May a step grow itself?
    const UNEVEN: bool;
    fn constant(arithmetic: &Arithmetic, scope: &Scope, value: i64) -> Read<Self>;
    fn add(&self, other: &Self) -> Read<Self>;
    fn sub(&self, other: &Self) -> Read<Self>;
    /// Requires: `can_multiply`.
    fn mul(&self, other: &Self) -> Read<Self>;
    fn can_multiply(&self, other: &Self) -> Read<bool>;
    fn scale(&self, by: i128) -> Read<Self>;
    /// The function, and the other where the condition does not hold.
    fn or_else(&self, condition: &Set, other: &Self) -> Read<Self>;
    fn is_affine(&self) -> bool;
    /// The number that it is known to be everywhere.
    fn as_constant(&self) -> Option<i128>;
    /// {a,+,b,+,c,+,…} by the loop of the dimension.
    fn recurrence(arithmetic: &Arithmetic, parts: Vec<Self>, scope: &Scope, dimension: usize) -> Read<Self>;

    /// Reads an integer. `trusted`: poison of it reaches what is being read.
    fn read(
        arithmetic: &mut Arithmetic,
        value: ValueId,
        scope: &Scope,
        trusted: bool,
        depth: u32,
    ) -> Read<Modular<Self>>;
    /// What a scalar evolution is whose operation leads out of these functions.
    fn otherwise(arithmetic: &mut Arithmetic, scev: &Scev, scope: &Scope, depth: u32) -> Read<Modular<Self>>;
    /// Ensures: the result's function is the signed (unsigned) reading of the value in all instances, given the assumptions.
    fn in_range(arithmetic: &mut Arithmetic, a: Modular<Self>, scope: &Scope, signed: bool) -> Read<Modular<Self>>;
    /// As an index of an address; and whether it is known to be the signed reading.
    fn index(arithmetic: &mut Arithmetic, a: Modular<Self>, scope: &Scope) -> Read<(Modular<Self>, bool)>;
}

#[derive(Clone, Copy, PartialEq)]
enum Combine {
    Add,
    Sub,
    Mul,
}

pub fn wraps_in<T>(what: &str) -> Read<T> {
    Err(NotAffine::Wraps(format!("a part of {what}")))
}

impl<F> Modular<F> {
    /// A function of which nothing but the remainder modulo 2^bits is known to be right.
    pub fn new(function: F, bits: u32) -> Self {
        Modular { function, bits, signed: false, unsigned: false, framed: None }
    }

    pub fn unframed(self) -> Read<Self> {
        if self.framed.is_none() { Ok(self) } else { wraps_in("a value") }
    }

    pub fn is_known(&self, signed: bool) -> bool {
        if signed { self.signed } else { self.unsigned }
    }

    /// The same, known to be the signed (unsigned) reading.
    pub fn known(self, signed: bool) -> Self {
        Modular { signed: self.signed || signed, unsigned: self.unsigned || !signed, ..self }
    }
}

impl<F: Function> Modular<F> {
    pub fn constant(arithmetic: &Arithmetic, scope: &Scope, bits: u32, value: i64) -> Read<Self> {
        let function = F::constant(arithmetic, scope, value)?;
        Ok(Modular { signed: true, unsigned: value >= 0, ..Modular::new(function, bits) })
    }

    fn combined(how: Combine, a: &Self, b: &Self, bits: u32, (nsw, nuw): (bool, bool)) -> Read<Self> {
        let function = match how {
            Combine::Add => a.function.add(&b.function)?,
            Combine::Sub => a.function.sub(&b.function)?,
            Combine::Mul => a.function.mul(&b.function)?,
        };
        let framed = framed_in_sum(a.framed.clone(), b.framed.clone())?;
        let framed = match (how, framed) {
            (Combine::Mul, Some(framed)) => {
                let other = if a.framed.is_some() { &b.function } else { &a.function };
                Some(framed.scaled(other.as_constant())?)
            }
            (_, framed) => framed,
        };
        let (signed, unsigned) = (nsw && a.signed && b.signed, nuw && a.unsigned && b.unsigned);
        Ok(Modular { function, bits, signed, unsigned, framed })
    }
}

impl Arithmetic<'_> {
    /// What LLVM's scalar evolution says of a value where it is looked at.
    pub fn scev(&self, value: ValueId, scope: &Scope) -> Scev {
        self.values.oracle.scev(value, scope.loops.last().copied().or(self.values.region.scope))
    }

    /// The operation that computes `value`, read through its operands, if all functions may be closed under it.
    pub fn operation<F: Function>(
        &mut self,
        value: ValueId,
        bits: u32,
        scope: &Scope,
        trusted: bool,
        depth: u32,
    ) -> Read<Option<Modular<F>>> {
        let facts = self.values.facts;
        let Some(instruction) = facts.instruction(value) else { return Ok(None) };
        let (operands, flags, deeper) = (&instruction.operands, instruction.flags, depth + 1);
        let (nsw, nuw) = (trusted && flags.nsw, trusted && flags.nuw);
        // It is a sum that carries nothing, so it cannot wrap either; if the flag lies the result is poison, so it must be
        // trusted for the sum to be right at all.
        let disjoint = trusted && flags.disjoint;
        Ok(Some(match &instruction.op {
            Op::Phi { .. } if !self.values.is_outside(value) && self.values.turns_with(value, &scope.loops) => {
                let scev = self.scev(value, scope);
                if matches!(scev, Scev::Unknown { value: same, .. } if same == value) {
                    return not_affine(facts.display_name(value));
                }
                self.of_scev(&scev, scope, deeper)?
            }
            Op::Int(op)
                if matches!(op, IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Shl) || *op == IntOp::Or && disjoint =>
            {
                let a = F::read(self, operands[0], scope, trusted, deeper)?;
                let b = F::read(self, operands[1], scope, trusted, deeper)?;
                match op {
                    IntOp::Add => Modular::combined(Combine::Add, &a, &b, bits, (nsw, nuw))?,
                    IntOp::Sub => Modular::combined(Combine::Sub, &a, &b, bits, (nsw, nuw))?,
                    IntOp::Or => Modular::combined(Combine::Add, &a, &b, bits, (false, true))?,
                    IntOp::Shl => {
                        let by = self.constant_operand(operands[1], bits)?;
                        Modular {
                            function: a.function.scale(1 << by)?,
                            bits,
                            signed: nsw && a.signed,
                            unsigned: nuw && a.unsigned,
                            framed: a.framed.map(|framed| framed.scaled(Some(1 << by))).transpose()?,
                        }
                    }
                    _ if a.function.can_multiply(&b.function)? => {
                        Modular::combined(Combine::Mul, &a, &b, bits, (nsw, nuw))?
                    }
                    _ => return not_affine(format!("the product {}", facts.display_name(value))),
                }
            }
            // All bits turned: −1 − a.
            Op::Int(IntOp::Xor) if matches!(facts.value(operands[1]).kind, ValueKind::ConstantInt(-1)) => {
                let a = F::read(self, operands[0], scope, trusted, deeper)?.unframed()?;
                let function = F::constant(self, scope, -1)?.sub(&a.function)?;
                Modular { signed: a.signed, ..Modular::new(function, bits) }
            }
            Op::Cast(cast @ (CastOp::SExt | CastOp::ZExt | CastOp::Trunc)) => {
                let a = F::read(self, operands[0], scope, trusted, deeper)?;
                match cast {
                    CastOp::SExt => Modular { bits, ..F::in_range(self, a, scope, true)? },
                    CastOp::ZExt if trusted && flags.nneg && a.signed => Modular { bits, unsigned: true, ..a },
                    CastOp::ZExt => Modular { bits, signed: true, ..F::in_range(self, a, scope, false)? },
                    _ => {
                        let a = a.unframed()?;
                        Modular { bits, signed: nsw && a.signed, unsigned: nuw && a.unsigned, ..a }
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    pub fn of_scev<F: Function>(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<Modular<F>> {
        if depth > MAX_DEPTH {
            return not_affine("a very deep expression");
        }
        let deeper = depth + 1;
        match scev {
            Scev::Constant { bits, value } => Modular::constant(self, scope, *bits, *value),
            Scev::Unknown { value, .. } => F::read(self, *value, scope, false, deeper),
            Scev::Add { bits, operands, nsw, nuw } | Scev::Mul { bits, operands, nsw, nuw } => {
                let how = if matches!(scev, Scev::Add { .. }) { Combine::Add } else { Combine::Mul };
                let mut all: Option<Modular<F>> = None;
                for operand in operands {
                    let operand = self.of_scev::<F>(operand, scope, deeper)?;
                    all = Some(match all {
                        None => operand,
                        Some(a) if how == Combine::Mul && !a.function.can_multiply(&operand.function)? => {
                            return F::otherwise(self, scev, scope, deeper);
                        }
                        Some(a) => Modular::combined(how, &a, &operand, *bits, (*nsw, *nuw))?,
                    });
                }
                all.map_or_else(|| not_affine("an empty sum"), Ok)
            }
            Scev::AddRec { bits, in_loop, operands, nsw, nuw, .. } => {
                let Some(dimension) = scope.loops.iter().position(|l| l == in_loop) else {
                    return not_affine("a value that another loop computes");
                };
                // What the flags say of steps that grow themselves is not used.
                let even = operands.len() == 2;
                if !even && !F::UNEVEN {
                    return not_affine("a value that does not grow by equal steps");
                }
                let mut parts = Vec::new();
                let mut framed = None;
                for operand in operands {
                    let mut part = self.of_scev::<F>(operand, scope, deeper)?;
                    // A step is multiplied by the counter.
                    framed = if parts.is_empty() { part.framed.take() } else { framed };
                    parts.push(part.unframed()?);
                }
                let signed = *nsw && even && parts.iter().all(|p| p.signed);
                let unsigned = *nuw && even && parts.iter().all(|p| p.unsigned);
                let parts = parts.into_iter().map(|p| p.function).collect();
                let function = F::recurrence(self, parts, scope, dimension)?;
                Ok(Modular { signed, unsigned, framed, ..Modular::new(function, *bits) })
            }
            Scev::SExt { bits, operand } => {
                let a = self.of_scev(operand, scope, deeper)?;
                Ok(Modular { bits: *bits, ..F::in_range(self, a, scope, true)? })
            }
            Scev::ZExt { bits, operand } => {
                let a = self.of_scev(operand, scope, deeper)?;
                Ok(Modular { bits: *bits, signed: true, ..F::in_range(self, a, scope, false)? })
            }
            Scev::Trunc { bits, operand } => {
                Ok(Modular::new(self.of_scev::<F>(operand, scope, deeper)?.unframed()?.function, *bits))
            }
            Scev::UDiv { .. } | Scev::MinMax { .. } => F::otherwise(self, scev, scope, deeper),
            Scev::PtrToInt { .. } => not_affine("a pointer used as a number"),
            Scev::Other { text } => not_affine(format!("`{text}`")),
        }
    }

    pub fn constant_operand(&self, value: ValueId, bits: u32) -> Read<u32> {
        match self.values.facts.value(value).kind {
            ValueKind::ConstantInt(c) if c >= 0 && c < bits as i64 => Ok(c as u32),
            _ => not_affine("a shift by something that is not constant"),
        }
    }
}
