//! Integer values as quasi-affine functions of iteration counts and parameters.
//!
//! Proofs of ranges are isl's.

use super::modular::{Function, Modular};
use super::{Arithmetic, MAX_ASSUMPTION_PARTS, MAX_DEPTH, NotAffine, Read, Scope, not_affine, set_space};
use crate::facts::{IntOp, MinMaxOp, Op, Scev, ValueId, ValueKind};
use isl::{Aff, DimType, LocalSpace, PwAff, Set, Val};
use model::assume::{Assumption, of_consequence};
use model::scop::ParamId;

pub type Affine = Modular<PwAff>;

impl Function for PwAff {
    const UNEVEN: bool = false;

    fn constant(arithmetic: &Arithmetic, scope: &Scope, value: i64) -> Read<PwAff> {
        arithmetic.constant(scope, value)
    }
    fn add(&self, other: &PwAff) -> Read<PwAff> {
        Ok(self.add(other)?)
    }
    fn sub(&self, other: &PwAff) -> Read<PwAff> {
        Ok(self.sub(other)?)
    }
    fn mul(&self, other: &PwAff) -> Read<PwAff> {
        Ok(self.mul(other)?)
    }
    fn can_multiply(&self, other: &PwAff) -> Read<bool> {
        Ok(self.is_cst()? || other.is_cst()?)
    }
    fn scale(&self, by: i128) -> Read<PwAff> {
        Ok(self.scale_val(&Val::from_str(self.ctx(), &by.to_string())?)?)
    }
    fn or_else(&self, condition: &Set, other: &PwAff) -> Read<PwAff> {
        let otherwise = other.intersect_domain(&condition.complement()?)?;
        Ok(self.intersect_domain(condition)?.union_add(&otherwise)?.coalesce()?)
    }
    fn is_affine(&self) -> bool {
        true
    }
    fn as_constant(&self) -> Option<i128> {
        let pieces = self.pieces().ok().filter(|_| self.is_cst().unwrap_or(false))?;
        let [(_, only)] = &pieces[..] else { return None };
        only.get_constant_val().ok()?.to_i128()
    }
    fn recurrence(arithmetic: &Arithmetic, parts: Vec<PwAff>, scope: &Scope, dimension: usize) -> Read<PwAff> {
        let [start, step] = &parts[..] else { return not_affine("a value that does not grow by equal steps") };
        if !step.is_cst()? {
            return not_affine("a step that is not constant");
        }
        // In pieces that meet where the loop's own first value is subtracted.
        Ok(start.add(&step.mul(&arithmetic.iteration(scope, dimension)?)?)?.coalesce()?)
    }

    fn read(arithmetic: &mut Arithmetic, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Affine> {
        arithmetic.affine_at(value, scope, trusted, depth)
    }
    fn otherwise(arithmetic: &mut Arithmetic, scev: &Scev, scope: &Scope, depth: u32) -> Read<Affine> {
        match scev {
            Scev::UDiv { bits, dividend, divisor } => {
                let Scev::Constant { value: divisor, .. } = **divisor else {
                    return not_affine("a division by something that is not constant");
                };
                if divisor <= 0 {
                    return not_affine("a division by a huge number");
                }
                let dividend = arithmetic.of_scev(dividend, scope, depth)?;
                let dividend = arithmetic.as_unsigned(dividend, scope)?;
                let by = Val::int_from_si(arithmetic.values.ctx, divisor)?;
                let function = dividend.function.scale_down_val(&by)?.floor()?;
                Ok(Affine { signed: divisor > 1, unsigned: true, ..Affine::new(function, *bits) })
            }
            Scev::MinMax { op, operands, .. } => {
                let operands = operands.iter().map(|o| arithmetic.of_scev(o, scope, depth)).collect::<Read<_>>()?;
                arithmetic.min_max(*op, operands, scope)
            }
            _ => arithmetic.product_parameter(scev, scope),
        }
    }
    fn in_range(arithmetic: &mut Arithmetic, a: Affine, scope: &Scope, signed: bool) -> Read<Affine> {
        if signed { arithmetic.as_signed(a, scope) } else { arithmetic.as_unsigned(a, scope) }
    }
    fn index(arithmetic: &mut Arithmetic, a: Affine, scope: &Scope) -> Read<(Affine, bool)> {
        Ok((arithmetic.as_signed(a, scope)?, true))
    }
}

fn power_of_two(ctx: &isl::Ctx, exponent: u32) -> Result<Val, isl::IslError> {
    let half = Val::int_from_si(ctx, 1 << (exponent / 2))?;
    half.mul(&Val::int_from_si(ctx, 1 << exponent.div_ceil(2))?)
}

impl Arithmetic<'_> {
    pub fn constant(&self, scope: &Scope, value: i64) -> Read<PwAff> {
        Ok(self.number(scope, &Val::int_from_si(self.values.ctx, value)?)?)
    }

    fn number(&self, scope: &Scope, value: &Val) -> Result<PwAff, isl::IslError> {
        let local = LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?;
        PwAff::from_aff(&Aff::val_on_domain(&local, value)?)
    }

    /// How many iterations of the loop were before.
    pub fn iteration(&self, scope: &Scope, dimension: usize) -> Read<PwAff> {
        let local = LocalSpace::from_space(&set_space(self.values.ctx, scope.loops.len())?)?;
        let counter = PwAff::from_aff(&Aff::var_on_domain(&local, DimType::Set, dimension)?)?;
        match self.origins.get(&scope.loops[dimension]) {
            None => Ok(counter),
            Some(origin) => Ok(counter.sub(&origin.add_dims(DimType::In, scope.loops.len() - dimension)?)?),
        }
    }

    /// What is computed without trusting any flag, in ℤ; in the same reading as the parameter that stands for it.
    pub fn definition(&mut self, value: ValueId, parameter: &Affine, scope: &Scope) -> Read<Affine> {
        let affine = self.expression(value, parameter.bits, scope, false, 0)?;
        PwAff::in_range(self, affine, scope, parameter.signed)
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
            return Affine::constant(self, scope, bits, c);
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
    pub(super) fn expression(
        &mut self,
        value: ValueId,
        bits: u32,
        scope: &Scope,
        trusted: bool,
        depth: u32,
    ) -> Read<Affine> {
        let facts = self.values.facts;
        if let Some(read) = self.operation(value, bits, scope, trusted, depth)? {
            return Ok(read);
        }
        let Some(instruction) = facts.instruction(value) else {
            return not_affine(facts.display_name(value));
        };
        let (operands, deeper) = (&instruction.operands, depth + 1);
        match &instruction.op {
            Op::Int(int_op) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let b = self.affine_at(operands[1], scope, trusted, deeper)?;
                let bit_operation = || not_affine(format!("the bit operation {}", facts.display_name(value)));
                match int_op {
                    IntOp::UDiv | IntOp::LShr => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_unsigned(a, scope)?;
                        let function = a.function.scale_down_val(&divisor)?.floor()?;
                        Ok(Affine { signed: !divisor.is_one()?, unsigned: true, ..Affine::new(function, bits) })
                    }
                    IntOp::AShr => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_signed(a, scope)?;
                        let function = a.function.scale_down_val(&divisor)?.floor()?;
                        Ok(Affine { signed: true, ..Affine::new(function, bits) })
                    }
                    IntOp::SDiv | IntOp::SRem => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_signed(a, scope)?;
                        let by = self.number(scope, &divisor)?;
                        let function = match (self.is_never_negative(&a, scope)?, int_op) {
                            (true, IntOp::SDiv) => a.function.scale_down_val(&divisor)?.floor()?,
                            (true, _) => a.function.mod_val(&divisor)?,
                            (false, IntOp::SDiv) => a.function.tdiv_q(&by)?,
                            (false, _) => a.function.tdiv_r(&by)?,
                        };
                        Ok(Affine { signed: true, ..Affine::new(function, bits) })
                    }
                    IntOp::URem => {
                        let divisor = self.divisor(int_op, operands[1], bits)?;
                        let a = self.as_unsigned(a, scope)?;
                        Ok(Affine { unsigned: true, ..Affine::new(a.function.mod_val(&divisor)?, bits) })
                    }
                    IntOp::And => {
                        // Low bits are a remainder by a power of two, whatever the upper bits are.
                        let (mask, of) = match (&facts.value(operands[1]).kind, &facts.value(operands[0]).kind) {
                            (ValueKind::ConstantInt(mask), _) => (*mask, a),
                            (_, ValueKind::ConstantInt(mask)) => (*mask, b),
                            _ => return bit_operation(),
                        };
                        let width = (mask as u64).trailing_ones();
                        if mask <= 0 || (mask as u64) >> width != 0 || width >= bits {
                            return bit_operation();
                        }
                        let function = of.function.mod_val(&power_of_two(self.values.ctx, width)?)?;
                        Ok(Affine { signed: true, unsigned: true, ..Affine::new(function, bits) })
                    }
                    _ => bit_operation(),
                }
            }
            // A choice made before the loops is a number; as a function in pieces it would take all that uses it to pieces.
            Op::Select if self.values.is_hoistable(value, 0) => not_affine(facts.display_name(value)),
            Op::Select => {
                let condition = self.condition_at(operands[0], scope, trusted, deeper)?;
                // Poison of the side not chosen does not get through.
                let then = self.affine_at(operands[1], scope, false, deeper)?;
                let otherwise = self.affine_at(operands[2], scope, false, deeper)?;
                Ok(Affine {
                    signed: then.signed && otherwise.signed,
                    unsigned: then.unsigned && otherwise.unsigned,
                    ..Affine::new(then.function.or_else(&condition, &otherwise.function)?, bits)
                })
            }
            Op::MinMax(min_max) => {
                let a = self.affine_at(operands[0], scope, trusted, deeper)?;
                let b = self.affine_at(operands[1], scope, trusted, deeper)?;
                self.min_max(*min_max, vec![a, b], scope)
            }
            Op::Freeze if self.is_its_operand(value, scope, deeper)? => {
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
                    signed: so_far.signed && operand.signed,
                    unsigned: so_far.unsigned && operand.unsigned,
                    ..operand
                },
            });
        }
        best.map_or_else(|| not_affine("an empty minimum"), Ok)
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
            return Ok(Affine { unsigned: true, ..Affine::new(function, a.bits) });
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

    pub fn prove_unsigned(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(self.outside_range(a, scope, false)?.is_empty()?)
    }

    /// Known to be, or proved here.
    pub fn is_signed(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(a.signed || self.prove_signed(a, scope)?)
    }
    pub fn is_unsigned(&self, a: &Affine, scope: &Scope) -> Read<bool> {
        Ok(a.unsigned || self.prove_unsigned(a, scope)?)
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
        let (low, high) = (self.number(scope, &low)?, self.number(scope, &high)?);
        let outside = a.function.lt_set(&low)?.union(&a.function.ge_set(&high)?)?;
        // Proofs may rest on earlier assumptions: the check tests them all.
        Ok(outside.intersect(&scope.domain)?.intersect_params(&self.known.assumed)?)
    }

    /// Is some parameter so large or small that its type could hardly hold twice as much?
    pub fn are_extreme(&self, params: &Set) -> Result<bool, isl::IslError> {
        let mut usual = params.clone();
        for (p, param) in self.known.params.iter().enumerate() {
            let (id, limit) = (ParamId(p as u32), 1i128 << param.bits.saturating_sub(2));
            let range = format!("[{id}] -> {{ : -{limit} <= {id} <= {limit} }}");
            usual = usual.intersect_params(&Set::read_from_str(self.values.ctx, &range)?)?;
        }
        usual.is_empty()
    }

    /// Takes for granted, to be checked at run time, that none of these instances exists.
    pub fn assume_never(&mut self, instances: Set, scope: &Scope) -> Read<()> {
        let wraps = || NotAffine::Wraps("the arithmetic here".into());
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
        let (kind, because) = self.subject.clone();
        Ok(self.known.assume(Assumption { kind, because, line: scope.line, valid, bounds: Vec::new() })?)
    }
}

/// What of an assumption matters where its scope runs.
fn simplified(valid: &Set, running: &Set) -> Result<Set, isl::IslError> {
    let short = valid.gist(running)?.coalesce()?;
    if short.basic_sets()?.len() < 2 { Ok(short) } else { of_consequence(valid, running)?.gist(running)?.coalesce() }
}
