//! Integer values as quasi-affine functions of iteration counts and parameters.
//!
//! Proofs of ranges are isl's.

use super::{Arithmetic, MAX_ASSUMPTION_PARTS, MAX_DEPTH, NotAffine, Read, Scope, not_affine, set_space};
use crate::facts::{CastOp, IntOp, MinMaxOp, Op, Scev, ValueId, ValueKind};
use isl::{Aff, DimType, LocalSpace, PwAff, Set, Val};
use model::assume::{Assumption, of_consequence};

/// `function` ≡ the value modulo 2^bits; equal to its signed (unsigned) reading where `signed` (`unsigned`) is true.
#[derive(Clone, Debug)]
pub struct Affine {
    pub function: PwAff,
    pub bits: u32,
    pub signed: bool,
    pub unsigned: bool,
}

impl Affine {
    /// A function of which nothing but the remainder modulo 2^bits is known to be right.
    pub fn modular(function: PwAff, bits: u32) -> Affine {
        Affine { function, bits, signed: false, unsigned: false }
    }
    /// Is the function known to be the signed, the unsigned reading of the value?
    pub fn ranges(&self) -> (bool, bool) {
        (self.signed, self.unsigned)
    }
}
fn power_of_two(ctx: &isl::Ctx, exponent: u32) -> Result<Val, isl::IslError> {
    let half = Val::int_from_si(ctx, 1 << (exponent / 2))?;
    half.mul(&Val::int_from_si(ctx, 1 << exponent.div_ceil(2))?)
}

impl Arithmetic<'_> {
    pub fn constant(&self, scope: &Scope, value: i64) -> Read<PwAff> {
        let local = LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?;
        let aff = Aff::val_on_domain(&local, &Val::int_from_si(self.values.ctx, value)?)?;
        Ok(PwAff::from_aff(&aff)?)
    }

    pub fn dimension(&self, scope: &Scope, dimension: usize) -> Read<PwAff> {
        let local = LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?;
        Ok(PwAff::from_aff(&Aff::var_on_domain(&local, DimType::Set, dimension)?)?)
    }

    /// What is computed without trusting any flag, in ℤ; in the same reading as the parameter that stands for it.
    pub fn definition(&mut self, value: ValueId, parameter: &Affine, scope: &Scope) -> Read<Affine> {
        let affine = self.expression(value, parameter.bits, scope, false, 0)?;
        if parameter.signed { self.as_signed(affine, scope) } else { self.as_unsigned(affine, scope) }
    }

    /// Reads an integer value in `scope`. `trusted`: poison of it reaches what is being read.
    pub fn affine(&mut self, value: ValueId, scope: &Scope, trusted: bool) -> Read<Affine> {
        self.affine_at(value, scope, trusted, 0)
    }

    pub fn affine_at(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Affine> {
        let value = self.values.stands_for(value);
        if depth > MAX_DEPTH {
            return not_affine("a very deep expression");
        }
        let bits = self.bits(value)?;
        if let ValueKind::ConstantInt(c) = self.values.facts.value(value).kind {
            let function = self.constant(scope, c)?;
            return Ok(Affine { function, bits, signed: true, unsigned: c >= 0 });
        }
        if self.values.is_outside(value) {
            // Looking through sums and casts relates `n - 1` and `(long)n` to `n`; if that cannot be justified without an
            // assumption, the value is a parameter of its own.
            let inside = self.prove(|this| {
                let affine = this.expression(value, bits, scope, false, depth)?;
                if this.is_signed(&affine, scope)? {
                    Ok(Affine { signed: true, ..affine })
                } else if this.values.is_taken_for_unsigned(value, bits) && this.is_unsigned(&affine, scope)? {
                    Ok(Affine { unsigned: true, ..affine })
                } else {
                    Err(NotAffine::Wraps("a value from outside".into()))
                }
            })?;
            return inside.map_or_else(|| self.parameter(scope, value), Ok);
        }
        match self.expression(value, bits, scope, trusted, depth) {
            // `n * m`, computed in the region from what is known before it, is a number of its own.
            Err(NotAffine::Because(_)) if self.values.is_hoistable(value, 0) => self.hoisted_parameter(scope, value),
            read => read,
        }
    }

    /// A parameter for a product that scalar evolution has seen through: an instruction that computes it.
    ///
    /// Scalar evolution drops no-wrap flags that it cannot prove, so that an instruction of the same value may be poison where the
    /// program's own is not. One of the region is computed again without flags; one from outside must not be poison.
    fn product_parameter(&mut self, scev: &Scev, scope: &Scope) -> Read<Affine> {
        let facts = self.values.facts;
        let multiplies = |v: &ValueId| matches!(facts.instruction(*v).map(|i| &i.op), Some(Op::Int(IntOp::Mul)));
        for value in (0..facts.values.len() as u32).map(ValueId).filter(multiplies) {
            let block = facts.instruction(value).expect("an instruction").block;
            let outside = self.values.is_outside(value);
            let known_before = outside
                && facts.dominates(block, self.values.region.entry)
                && self.values.oracle.is_guaranteed_not_poison(value);
            if !known_before && (outside || !self.values.is_hoistable(value, 0)) {
                continue;
            }
            if self.values.oracle.scev(value, self.values.region.scope) == *scev {
                return if outside { self.parameter(scope, value) } else { self.hoisted_parameter(scope, value) };
            }
        }
        not_affine("a product")
    }

    /// The operation that computes `value`, read through its operands.
    fn expression(&mut self, value: ValueId, bits: u32, scope: &Scope, trusted: bool, depth: u32) -> Read<Affine> {
        let facts = self.values.facts;
        let Some(instruction) = facts.instruction(value) else {
            return not_affine(facts.display_name(value));
        };
        let (op, operands, flags) = (&instruction.op, &instruction.operands, instruction.flags);
        let deeper = depth + 1;
        let modular = |function| Affine { function, bits, signed: false, unsigned: false };
        match op {
            Op::Phi { .. } if !self.values.is_outside(value) && self.values.turns_with(value, &scope.loops) => {
                self.scev_of(value, scope, deeper)
            }
            Op::Int(int_op) => {
                // A disjoint `or` is a sum that carries nothing, so it cannot wrap either; if the flag lies the result is poison, so it
                // must be trusted for the sum to be right at all.
                let disjoint = *int_op == IntOp::Or && flags.disjoint && trusted;
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let b = self.affine_at(operands[1], scope, trusted, deeper)?;
                let by_flag = |result: Affine, a: &Affine, b: &Affine, nsw: bool, nuw: bool| Affine {
                    signed: trusted && nsw && a.signed && b.signed,
                    unsigned: trusted && nuw && a.unsigned && b.unsigned,
                    ..result
                };
                match int_op {
                    IntOp::Add | IntOp::Or | IntOp::Sub if *int_op != IntOp::Or || disjoint => {
                        let function = if *int_op == IntOp::Sub {
                            a.function.sub(&b.function)?
                        } else {
                            a.function.add(&b.function)?
                        };
                        let flags = if disjoint { (false, true) } else { (flags.nsw, flags.nuw) };
                        Ok(by_flag(modular(function), &a, &b, flags.0, flags.1))
                    }
                    IntOp::Mul => {
                        if !a.function.is_cst()? && !b.function.is_cst()? {
                            return not_affine(format!("the product {}", facts.display_name(value)));
                        }
                        let function = a.function.mul(&b.function)?;
                        Ok(by_flag(modular(function), &a, &b, flags.nsw, flags.nuw))
                    }
                    IntOp::Shl => {
                        let shift = self.constant_operand(operands[1], bits)?;
                        let function = a.function.scale_val(&power_of_two(self.values.ctx, shift)?)?;
                        let b = Affine { signed: true, unsigned: true, ..b };
                        Ok(by_flag(modular(function), &a, &b, flags.nsw, flags.nuw))
                    }
                    IntOp::UDiv | IntOp::LShr => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_unsigned(a, scope)?;
                        let function = a.function.scale_down_val(&divisor)?.floor()?;
                        Ok(Affine { function, bits, signed: !divisor.is_one()?, unsigned: true })
                    }
                    IntOp::AShr => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_signed(a, scope)?;
                        let function = a.function.scale_down_val(&divisor)?.floor()?;
                        Ok(Affine { function, bits, signed: true, unsigned: false })
                    }
                    IntOp::SDiv | IntOp::SRem => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_signed(a, scope)?;
                        let by = PwAff::from_aff(&Aff::val_on_domain(
                            &LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?,
                            &divisor,
                        )?)?;
                        let function = if self.is_never_negative(&a, scope)? {
                            match int_op {
                                IntOp::SDiv => a.function.scale_down_val(&divisor)?.floor()?,
                                _ => a.function.mod_val(&divisor)?,
                            }
                        } else {
                            match int_op {
                                IntOp::SDiv => a.function.tdiv_q(&by)?,
                                _ => a.function.tdiv_r(&by)?,
                            }
                        };
                        Ok(Affine { function, bits, signed: true, unsigned: false })
                    }
                    IntOp::URem => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_unsigned(a, scope)?;
                        Ok(Affine { function: a.function.mod_val(&divisor)?, bits, signed: false, unsigned: true })
                    }
                    IntOp::And => {
                        // Low bits are a remainder by a power of two, whatever the upper bits are.
                        let mask = match (facts.value(operands[1]).kind.clone(), facts.value(operands[0]).kind.clone())
                        {
                            (ValueKind::ConstantInt(m), _) | (_, ValueKind::ConstantInt(m)) => m,
                            _ => return not_affine(format!("the bit operation {}", facts.display_name(value))),
                        };
                        let width = (mask as u64).trailing_ones();
                        if mask <= 0 || (mask as u64) >> width != 0 || width >= bits {
                            return not_affine(format!("the bit operation {}", facts.display_name(value)));
                        }
                        let of = if matches!(facts.value(operands[1]).kind, ValueKind::ConstantInt(_)) { a } else { b };
                        let function = of.function.mod_val(&power_of_two(self.values.ctx, width)?)?;
                        Ok(Affine { function, bits, signed: true, unsigned: true })
                    }
                    IntOp::Xor if matches!(facts.value(operands[1]).kind, ValueKind::ConstantInt(-1)) => {
                        let minus_one = self.constant(scope, -1)?;
                        Ok(Affine { function: minus_one.sub(&a.function)?, bits, signed: a.signed, unsigned: false })
                    }
                    _ => not_affine(format!("the bit operation {}", facts.display_name(value))),
                }
            }
            Op::Cast(CastOp::Trunc) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let signed = trusted && flags.nsw && a.signed;
                let unsigned = trusted && flags.nuw && a.unsigned;
                Ok(Affine { function: a.function, bits, signed, unsigned })
            }
            Op::Cast(CastOp::SExt) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let a = self.as_signed(a, scope)?;
                Ok(Affine { bits, ..a })
            }
            Op::Cast(CastOp::ZExt) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let a = if a.signed && flags.nneg && trusted {
                    Affine { unsigned: true, ..a }
                } else {
                    self.as_unsigned(a, scope)?
                };
                Ok(Affine { function: a.function, bits, signed: true, unsigned: true })
            }
            // A choice made before the loops is a number; as a function in pieces it would take all that uses it to pieces.
            Op::Select if self.values.is_hoistable(value, 0) => not_affine(facts.display_name(value)),
            Op::Select => {
                let condition = self.condition_at(operands[0], scope, trusted, deeper)?;
                // Poison of the side not chosen does not get through.
                let then = self.affine_at(operands[1], scope, false, deeper)?;
                let otherwise = self.affine_at(operands[2], scope, false, deeper)?;
                let then_part = then.function.intersect_domain(&condition)?;
                let else_part = otherwise.function.intersect_domain(&condition.complement()?)?;
                Ok(Affine {
                    function: then_part.union_add(&else_part)?.coalesce()?,
                    bits,
                    signed: then.signed && otherwise.signed,
                    unsigned: then.unsigned && otherwise.unsigned,
                })
            }
            Op::MinMax(min_max) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let b = self.affine_at(operands[1], scope, trusted, deeper)?;
                self.min_max(*min_max, vec![a, b], scope)
            }
            Op::Freeze if self.values.oracle.is_guaranteed_not_poison(operands[0]) => {
                self.affine_at(operands[0], scope, false, deeper)
            }
            _ => not_affine(facts.display_name(value)),
        }
    }

    fn min_max(&mut self, op: MinMaxOp, operands: Vec<Affine>, scope: &Scope) -> Read<Affine> {
        let mut best: Option<Affine> = None;
        for operand in operands {
            let operand = match op {
                MinMaxOp::SMin | MinMaxOp::SMax => self.as_signed(operand, scope)?,
                MinMaxOp::UMin | MinMaxOp::UMax => self.as_unsigned(operand, scope)?,
                _ => return not_affine("a floating-point minimum"),
            };
            best = Some(match best {
                None => operand,
                Some(so_far) => Affine {
                    function: match op {
                        MinMaxOp::SMin | MinMaxOp::UMin => so_far.function.min(&operand.function)?,
                        _ => so_far.function.max(&operand.function)?,
                    },
                    bits: operand.bits,
                    signed: so_far.signed && operand.signed,
                    unsigned: so_far.unsigned && operand.unsigned,
                },
            });
        }
        best.map_or_else(|| not_affine("an empty minimum"), Ok)
    }

    /// What LLVM's scalar evolution says of a φ (or any value), read like an expression.
    fn scev_of(&mut self, value: ValueId, scope: &Scope, depth: u32) -> Read<Affine> {
        let scev = self.values.oracle.scev(value, scope.loops.last().copied().or(self.values.region.scope));
        if scev == (Scev::Unknown { bits: self.bits(value)?, value }) {
            return not_affine(self.values.facts.display_name(value));
        }
        self.affine_of_scev(&scev, scope, depth)
    }

    pub fn affine_of_scev(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<Affine> {
        if depth > MAX_DEPTH {
            return not_affine("a very deep expression");
        }
        let deeper = depth + 1;
        match scev {
            Scev::Constant { bits, value } => {
                Ok(Affine { function: self.constant(scope, *value)?, bits: *bits, signed: true, unsigned: *value >= 0 })
            }
            Scev::Unknown { value, .. } => self.affine_at(*value, scope, false, deeper),
            Scev::Add { bits, operands, nsw, nuw } => {
                let mut sum: Option<Affine> = None;
                for operand in operands {
                    let operand = self.affine_of_scev(operand, scope, deeper)?;
                    sum = Some(match sum {
                        None => operand,
                        Some(s) => Affine {
                            function: s.function.add(&operand.function)?,
                            bits: *bits,
                            signed: *nsw && s.signed && operand.signed,
                            unsigned: *nuw && s.unsigned && operand.unsigned,
                        },
                    });
                }
                sum.map_or_else(|| not_affine("an empty sum"), Ok)
            }
            Scev::Mul { bits, operands, nsw, nuw } => {
                let mut product: Option<Affine> = None;
                for operand in operands {
                    let operand = self.affine_of_scev(operand, scope, deeper)?;
                    product = Some(match product {
                        None => operand,
                        Some(p) => {
                            if !p.function.is_cst()? && !operand.function.is_cst()? {
                                return self.product_parameter(scev, scope);
                            }
                            Affine {
                                function: p.function.mul(&operand.function)?,
                                bits: *bits,
                                signed: *nsw && p.signed && operand.signed,
                                unsigned: *nuw && p.unsigned && operand.unsigned,
                            }
                        }
                    });
                }
                product.map_or_else(|| not_affine("an empty product"), Ok)
            }
            Scev::UDiv { bits, dividend, divisor } => {
                let Scev::Constant { value: divisor, .. } = **divisor else {
                    return not_affine("a division by something that is not constant");
                };
                if divisor <= 0 {
                    return not_affine("a division by a huge number");
                }
                let dividend = self.affine_of_scev(dividend, scope, deeper)?;
                let dividend = self.as_unsigned(dividend, scope)?;
                let function =
                    dividend.function.scale_down_val(&Val::int_from_si(self.values.ctx, divisor)?)?.floor()?;
                Ok(Affine { function, bits: *bits, signed: divisor > 1, unsigned: true })
            }
            Scev::MinMax { op, operands, .. } => {
                let operands =
                    operands.iter().map(|o| self.affine_of_scev(o, scope, deeper)).collect::<Read<Vec<_>>>()?;
                self.min_max(*op, operands, scope)
            }
            Scev::AddRec { bits, in_loop, operands, nsw, nuw, .. } => {
                let Some(dimension) = scope.loops.iter().position(|l| l == in_loop) else {
                    return not_affine("a value that another loop computes");
                };
                let [start, step] = operands.as_slice() else {
                    return not_affine("a value that does not grow by equal steps");
                };
                let start = self.affine_of_scev(start, scope, deeper)?;
                let step = self.affine_of_scev(step, scope, deeper)?;
                if !step.function.is_cst()? {
                    return not_affine("a step that is not constant");
                }
                let function = start.function.add(&step.function.mul(&self.dimension(scope, dimension)?)?)?;
                Ok(Affine {
                    function,
                    bits: *bits,
                    signed: *nsw && start.signed && step.signed,
                    unsigned: *nuw && start.unsigned && step.unsigned,
                })
            }
            Scev::SExt { bits, operand } => {
                let a = self.affine_of_scev(operand, scope, deeper)?;
                Ok(Affine { bits: *bits, ..self.as_signed(a, scope)? })
            }
            Scev::ZExt { bits, operand } => {
                let a = self.affine_of_scev(operand, scope, deeper)?;
                let a = self.as_unsigned(a, scope)?;
                Ok(Affine { function: a.function, bits: *bits, signed: true, unsigned: true })
            }
            Scev::Trunc { bits, operand } => {
                let a = self.affine_of_scev(operand, scope, deeper)?;
                Ok(Affine { function: a.function, bits: *bits, signed: false, unsigned: false })
            }
            Scev::PtrToInt { .. } => not_affine("a pointer used as a number"),
            Scev::Other { text } => not_affine(format!("`{text}`")),
        }
    }

    fn constant_operand(&self, value: ValueId, bits: u32) -> Read<u32> {
        match self.values.facts.value(value).kind {
            ValueKind::ConstantInt(c) if c >= 0 && c < bits as i64 => Ok(c as u32),
            _ => not_affine("a shift by something that is not constant"),
        }
    }

    /// The positive constant that the operation divides by.
    fn divisor(&self, op: &IntOp, value: ValueId, bits: u32) -> Read<Val> {
        if matches!(op, IntOp::LShr | IntOp::AShr) {
            return Ok(power_of_two(self.values.ctx, self.constant_operand(value, bits)?)?);
        }
        match self.values.facts.value(value).kind {
            ValueKind::ConstantInt(c) if c > 0 => Ok(Val::int_from_si(self.values.ctx, c)?),
            _ => not_affine("a division by something that is not a positive constant"),
        }
    }

    // ---- ranges ----

    /// Ensures: the result's function is the signed reading of the value in all instances of the scope (given the assumptions).
    pub fn as_signed(&mut self, a: Affine, scope: &Scope) -> Read<Affine> {
        if self.is_signed(&a, scope)? {
            return Ok(Affine { signed: true, ..a });
        }
        let outside = self.outside_range(&a, scope, true)?;
        self.assume_never(outside, scope)?;
        Ok(Affine { signed: true, ..a })
    }

    /// Ensures: the result's function is the unsigned reading of the value in all instances of the scope (given the assumptions).
    pub fn as_unsigned(&mut self, a: Affine, scope: &Scope) -> Read<Affine> {
        if a.unsigned {
            return Ok(a);
        }
        // The constant 0xffffffff is stored as −1. (Of 64 bits its unsigned reading would be too large for the check.)
        if a.bits < 64 && a.function.is_cst()? {
            let function = a.function.mod_val(&power_of_two(self.values.ctx, a.bits)?)?;
            return Ok(Affine { function, bits: a.bits, signed: false, unsigned: true });
        }
        let outside = self.outside_range(&a, scope, false)?;
        if !outside.is_empty()? {
            self.assume_never(outside, scope)?;
        }
        Ok(Affine { unsigned: true, ..a })
    }

    pub fn prove_signed(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(self.outside_range(a, scope, true)?.is_empty()?)
    }

    /// Known to be, or proved here.
    pub fn is_signed(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(a.signed || self.prove_signed(a, scope)?)
    }
    pub fn is_unsigned(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(a.unsigned || self.outside_range(a, scope, false)?.is_empty()?)
    }

    fn is_never_negative(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        let zero = self.constant(scope, 0)?;
        let negative = a.function.lt_set(&zero)?.intersect(&scope.domain)?;
        Ok(negative.intersect_params(&self.known.assumed)?.is_empty()?)
    }

    /// Instances in which the function leaves the range of its type.
    fn outside_range(&self, a: &Affine, scope: &Scope, signed: bool) -> Read<Set> {
        let (low, high) = if signed {
            let half = power_of_two(self.values.ctx, a.bits - 1)?;
            (half.neg()?, half)
        } else {
            (Val::int_from_si(self.values.ctx, 0)?, power_of_two(self.values.ctx, a.bits)?)
        };
        let local = LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?;
        let low = PwAff::from_aff(&Aff::val_on_domain(&local, &low)?)?;
        let high = PwAff::from_aff(&Aff::val_on_domain(&local, &high)?)?;
        let outside = a.function.lt_set(&low)?.union(&a.function.ge_set(&high)?)?;
        // Proofs may rest on earlier assumptions: the check tests them all.
        Ok(outside.intersect(&scope.domain)?.intersect_params(&self.known.assumed)?)
    }

    /// Takes for granted, to be checked at run time, that none of these instances exists.
    pub fn assume_never(&mut self, instances: Set, scope: &Scope) -> Read<()> {
        let wraps = || NotAffine::Wraps(format!("the arithmetic in line {}", scope.line));
        if self.proofs_only || self.unsure.is_none() && !self.may_assume(self.subject.0) {
            return Err(wraps());
        }
        if let Some(unsure) = &self.unsure {
            self.unsure = Some(unsure.union(&instances)?);
            return Ok(());
        }
        let bad = instances.params()?.coalesce()?;
        // What the assumption says of parameters for which nothing of this runs does not matter, nor does what it says of those that
        // an earlier assumption rules out: the check tests them all.
        let running = scope.domain.params()?.intersect(&self.known.assumed)?;
        let valid = simplified(&bad.complement()?, &running)?;
        let possible = valid.intersect(&self.known.assumed)?;
        // The region must still be able to run under the assumption, and testing it must stay cheap.
        let useful = scope.domain.intersect_params(&possible)?;
        if useful.is_empty()? || valid.basic_sets()?.len() > MAX_ASSUMPTION_PARTS {
            return Err(wraps());
        }
        self.known.assumed = self.known.assumed.intersect(&valid)?;
        self.known.assumptions.push(Assumption {
            kind: self.subject.0,
            because: self.subject.1.clone(),
            line: scope.line,
            valid,
        });
        Ok(())
    }
}

/// What of an assumption matters where its scope runs.
fn simplified(valid: &Set, running: &Set) -> Result<Set, isl::IslError> {
    let short = valid.gist(running)?.coalesce()?;
    if short.basic_sets()?.len() < 2 { Ok(short) } else { of_consequence(valid, running)?.gist(running)?.coalesce() }
}
