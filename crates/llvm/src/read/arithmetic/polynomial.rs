//! Integer values and addresses as polynomials in iteration counts and parameters.
//!
//! What [`super::affine`] says of functions holds here too: a value of w bits is read as a polynomial P into ℤ of which only
//! *P ≡ value (mod 2^w)* is claimed, until its range is proved. Sums, products and shifts to the left keep that claim. isl knows
//! nothing of products, so the range of a polynomial that is not affine comes from no-wrap flags or from the ranges of its
//! variables; for addresses a third way is left, a check of the bytes that the recovered array spans.

use super::{Affine, Arithmetic, MAX_DEPTH, NotAffine, Read, Scope, set_space};
use crate::facts::{CastOp, IntOp, Op, Scev, Type, ValueId, ValueKind};
use isl::Set;
use model::assume::AssumptionKind;
use model::polynomial::{PiecewisePolynomial, Polynomial, TooLarge, Var};

/// `function` ≡ the value modulo 2^bits; equal to its signed (unsigned) reading where `signed` (`unsigned`) is true.
#[derive(Clone, Debug)]
struct Value {
    function: PiecewisePolynomial,
    bits: u32,
    signed: bool,
    unsigned: bool,
    /// All of this is true if the function lies in here, the end excluded, in all instances.
    window: Option<Window>,
}

pub type Window = (i128, i128);

/// A pointer as base plus bytes modulo 2^w. `exact`: no step of its computation can have wrapped.
#[derive(Clone, Debug)]
pub struct PolynomialAddress {
    pub base: ValueId,
    pub offset: PiecewisePolynomial,
    pub exact: bool,
    /// The offset is right if it lies in here, the end excluded, in all instances.
    pub window: Option<Window>,
}

fn not_polynomial<T>(why: impl Into<String>) -> Read<T> {
    Err(NotAffine::Because(why.into()))
}

fn wraps_in<T>(what: &str) -> Read<T> {
    Err(NotAffine::Wraps(format!("a part of {what}")))
}

impl Value {
    fn without_window(self) -> Read<Value> {
        if self.window.is_none() { Ok(self) } else { wraps_in("a value") }
    }
}

impl PolynomialAddress {
    fn without_window(self) -> Read<PolynomialAddress> {
        if self.window.is_none() { Ok(self) } else { wraps_in("an address") }
    }
}

/// The number that the function is everywhere.
fn constant_of(function: &PiecewisePolynomial) -> Option<i128> {
    let [(_, first), others @ ..] = &function.pieces[..] else { return None };
    let number = first.as_constant().filter(|n| n.abs() < 1 << 62);
    number.filter(|_| others.iter().all(|(_, other)| other.as_constant() == number))
}

fn too_large<T>() -> Read<T> {
    not_polynomial("a very long expression")
}

#[derive(Clone, Copy)]
enum Combine {
    Add,
    Sub,
    Mul,
}
impl Combine {
    fn apply(self, a: &Polynomial, b: &Polynomial) -> Result<Polynomial, TooLarge> {
        match self {
            Combine::Add => a.add(b),
            Combine::Sub => a.sub(b),
            Combine::Mul => a.mul(b),
        }
    }
}

impl Arithmetic<'_> {
    /// The φ as one polynomial modulo 2^(its width), from a base if it is a pointer. Nothing is assumed.
    pub fn induction_polynomial(
        &mut self,
        phi: ValueId,
        scope: &Scope,
    ) -> Result<Option<(Option<ValueId>, Polynomial)>, isl::IslError> {
        self.prove(|this| {
            let (base, function) = match this.values.facts.value(phi).ty {
                Type::Pointer { .. } => {
                    let address = this.polynomial_address(phi, scope, 0)?;
                    (Some(address.base), address.offset)
                }
                _ => (None, this.polynomial(phi, scope, false, 0)?.function),
            };
            match &function.pieces[..] {
                [(_, only)] => Ok((base, only.clone())),
                _ => not_polynomial("a counter in pieces"),
            }
        })
    }

    /// A number of bytes as a polynomial of its factors, those of values from outside too; and whether it may have wrapped.
    pub fn product_of_bytes(&mut self, length: ValueId, scope: &Scope) -> Read<(Polynomial, bool)> {
        let read = self.with(|this| &mut this.expand_products, true, |this| this.polynomial(length, scope, false, 0));
        let Value { function, bits, unsigned, .. } = read?.without_window()?;
        match function.pieces.as_slice() {
            [(_, bytes)] if bits == 64 => Ok((bytes.clone(), !unsigned)),
            _ => not_polynomial("a number of bytes in several forms"),
        }
    }

    // ---- integers ----

    /// Reads an integer. `trusted`: poison of it reaches the address or branch that is being read.
    fn polynomial(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Value> {
        let value = self.values.stands_for(value);
        if depth > MAX_DEPTH {
            return not_polynomial("a very deep expression");
        }
        match self.attempt(|this| this.by_operation(value, scope, trusted, depth))? {
            Some(read) => Ok(read),
            None => self.as_leaf(value, scope, trusted),
        }
    }

    /// What is no sum or product: an affine function or a parameter.
    fn as_leaf(&mut self, value: ValueId, scope: &Scope, trusted: bool) -> Read<Value> {
        let affine = self.affine(value, scope, trusted)?;
        let (signed, unsigned) = affine.ranges();
        if let Some(function) = PiecewisePolynomial::from_pw_aff(&affine.function)? {
            let function = self.where_something_runs(function, scope)?;
            return Ok(Value { function, bits: affine.bits, signed, unsigned, window: None });
        }
        // `n / 2` as a size is a symbol of its own.
        let parameter = if self.values.is_outside(value) {
            self.parameter(scope, value)?
        } else if self.values.is_hoistable(value, 0) {
            self.hoisted_parameter(scope, value)?
        } else {
            return not_polynomial(self.values.facts.display_name(value));
        };
        self.define(&parameter, value, scope)?;
        let (signed, unsigned) = parameter.ranges();
        match PiecewisePolynomial::from_pw_aff(&parameter.function)? {
            Some(function) => Ok(Value { function, bits: parameter.bits, signed, unsigned, window: None }),
            None => not_polynomial(self.values.facts.display_name(value)),
        }
    }

    /// Makes it a fact that the parameter is what it is computed as.
    ///
    /// The context simplifies the check, so that it may hold only what is true whether the check holds or not: no flag is trusted (the
    /// computation may be repeated where it promises nothing), nothing assumed and no instance presupposed. The copies of two values
    /// from outside that are frozen one by one are unrelated if both were poison.
    fn define(&mut self, parameter: &Affine, value: ValueId, scope: &Scope) -> Read<()> {
        if self.values.is_outside(value) && !self.values.oracle.is_guaranteed_not_poison(value) {
            return Ok(());
        }
        let everywhere = Scope { domain: self.everywhere(scope)?, ..scope.clone() };
        self.prove(|this| {
            let assumed = std::mem::replace(&mut this.known.assumed, this.known.context.clone());
            let definition = this.definition(value, parameter, &everywhere)?;
            let defined = parameter.function.eq_set(&definition.function)?.params()?;
            this.known.context = this.known.context.intersect(&defined)?;
            this.known.assumed = assumed.intersect(&this.known.assumed)?.intersect(&defined)?;
            Ok(())
        })?;
        Ok(())
    }

    /// Pieces for instances that do not exist are dropped: a Fortran extent `max(n, 0)` is `n` where anything runs.
    fn where_something_runs(&self, function: PiecewisePolynomial, scope: &Scope) -> Read<PiecewisePolynomial> {
        if function.pieces.len() <= 1 {
            return Ok(function);
        }
        let live = function.intersect_domain(&scope.domain.intersect_params(&self.known.assumed)?)?;
        match live.pieces.as_slice() {
            // One piece that covers all instances needs no condition.
            [(_, only)] => Ok(PiecewisePolynomial { pieces: vec![(self.everywhere(scope)?, only.clone())] }),
            [] => Ok(function),
            _ => Ok(live),
        }
    }

    fn everywhere(&self, scope: &Scope) -> Read<Set> {
        Ok(Set::universe(&set_space(self.values.ctx, scope.loops.len())?)?)
    }

    fn single(&self, polynomial: Polynomial, scope: &Scope) -> Read<PiecewisePolynomial> {
        Ok(PiecewisePolynomial { pieces: vec![(self.everywhere(scope)?, polynomial)] })
    }

    /// The operation that computes `value`, if it is one that polynomials are closed under.
    fn by_operation(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Value> {
        let facts = self.values.facts;
        let no_operation = || not_polynomial(facts.display_name(value));
        let Some(instruction) = facts.instruction(value) else { return no_operation() };
        let (op, operands, flags) = (&instruction.op, &instruction.operands, instruction.flags);
        let Type::Int(bits) = facts.value(value).ty else { return no_operation() };
        if bits > 64 {
            return no_operation();
        }
        let deeper = depth + 1;
        if !self.expand_products && self.values.is_outside(value) && self.values.hides_product(value, 0) {
            return no_operation();
        }
        match op {
            Op::Phi { .. } if !self.values.is_outside(value) && self.values.turns_with(value, &scope.loops) => {
                let scev = self.values.oracle.scev(value, scope.loops.last().copied().or(self.values.region.scope));
                if matches!(scev, Scev::Unknown { value: same, .. } if same == value) {
                    return no_operation();
                }
                let counter = self.polynomial_of_scev(&scev, scope, deeper)?;
                self.with_proved_ranges(counter.without_window()?, scope)
            }
            Op::Int(int_op) => {
                let how = match int_op {
                    IntOp::Add => Combine::Add,
                    IntOp::Sub => Combine::Sub,
                    IntOp::Mul => Combine::Mul,
                    // A disjoint `or` is a sum that carries nothing; if the flag lies the result is poison.
                    IntOp::Or if flags.disjoint && trusted => Combine::Add,
                    IntOp::Shl => return self.shifted(operands, bits, scope, trusted, flags, deeper),
                    _ => return no_operation(),
                };
                let (nsw, nuw) = if *int_op == IntOp::Or { (false, true) } else { (flags.nsw, flags.nuw) };
                let a = self.polynomial(operands[0], scope, trusted, deeper)?;
                let b = self.polynomial(operands[1], scope, trusted, deeper)?;
                self.combine(how, &a, &b, bits, trusted && nsw, trusted && nuw)
            }
            Op::Cast(cast @ (CastOp::SExt | CastOp::ZExt | CastOp::Trunc)) => {
                let a = self.polynomial(operands[0], scope, trusted, deeper)?;
                match cast {
                    CastOp::SExt => self.sign_extended(a, bits, scope),
                    CastOp::ZExt if trusted && flags.nneg && a.signed => Ok(Value { bits, unsigned: true, ..a }),
                    CastOp::ZExt => self.zero_extended(a, bits, scope),
                    _ => {
                        let a = a.without_window()?;
                        let (signed, unsigned) = (trusted && flags.nsw && a.signed, trusted && flags.nuw && a.unsigned);
                        Ok(Value { bits, signed, unsigned, ..a })
                    }
                }
            }
            _ => no_operation(),
        }
    }

    fn shifted(
        &mut self,
        operands: &[ValueId],
        bits: u32,
        scope: &Scope,
        trusted: bool,
        flags: crate::facts::Flags,
        depth: u32,
    ) -> Read<Value> {
        let ValueKind::ConstantInt(by) = self.values.facts.value(operands[1]).kind else {
            return not_polynomial("a shift by something that is not constant");
        };
        if !(0..i64::from(bits)).contains(&by) {
            return not_polynomial("a shift by more than there is");
        }
        let a = self.polynomial(operands[0], scope, trusted, depth)?;
        let Some(function) = a.function.map(|p| p.scale(1 << by)) else { return too_large() };
        let (signed, unsigned) = (trusted && flags.nsw && a.signed, trusted && flags.nuw && a.unsigned);
        let window = a.window.map(|(first, end)| (first << by, end << by));
        Ok(Value { function, bits, signed, unsigned, window })
    }

    fn combine(&self, how: Combine, a: &Value, b: &Value, bits: u32, nsw: bool, nuw: bool) -> Read<Value> {
        let Some(function) = a.function.zip(&b.function, |x, y| how.apply(x, y))? else { return too_large() };
        let (signed, unsigned) = (nsw && a.signed && b.signed, nuw && a.unsigned && b.unsigned);
        let window = match (a.window, constant_of(&b.function), b.window, constant_of(&a.function)) {
            (None, _, None, _) => None,
            (Some((first, end)), Some(by), None, _) | (None, _, Some((first, end)), Some(by)) => match how {
                Combine::Add => Some((first + by, end + by)),
                Combine::Sub if a.window.is_some() => Some((first - by, end - by)),
                Combine::Mul if by > 0 && by < 1 << 32 => Some((first * by, end * by)),
                _ => return wraps_in("a product"),
            },
            _ => return wraps_in("a sum"),
        };
        Ok(Value { function, bits, signed, unsigned, window })
    }

    fn polynomial_of_scev(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<Value> {
        if depth > MAX_DEPTH {
            return not_polynomial("a very deep expression");
        }
        let deeper = depth + 1;
        match scev {
            Scev::Constant { bits, value } => {
                let function = self.single(Polynomial::constant((*value).into()), scope)?;
                Ok(Value { function, bits: *bits, signed: true, unsigned: *value >= 0, window: None })
            }
            Scev::Unknown { value, .. } => self.polynomial(*value, scope, false, deeper),
            Scev::Add { bits, operands, nsw, nuw } => {
                self.fold(Combine::Add, operands, *bits, (*nsw, *nuw), scope, deeper)
            }
            Scev::Mul { bits, operands, nsw, nuw } => {
                self.fold(Combine::Mul, operands, *bits, (*nsw, *nuw), scope, deeper)
            }
            Scev::AddRec { bits, in_loop, operands, nsw, nuw, .. } => {
                let Some(dimension) = scope.loops.iter().position(|l| l == in_loop) else {
                    return not_polynomial("a value that another loop computes");
                };
                let mut parts = Vec::new();
                for operand in operands {
                    parts.push(self.polynomial_of_scev(operand, scope, deeper)?.without_window()?);
                }
                // What the flags say of steps that grow themselves is not used.
                let even = parts.len() == 2;
                let (signed, unsigned) =
                    (even && parts.iter().all(|p| p.signed), even && parts.iter().all(|p| p.unsigned));
                let function = self.recurrence(parts.into_iter().map(|p| p.function).collect(), dimension)?;
                Ok(Value { function, bits: *bits, signed: *nsw && signed, unsigned: *nuw && unsigned, window: None })
            }
            Scev::SExt { bits, operand } => {
                let a = self.polynomial_of_scev(operand, scope, deeper)?;
                self.sign_extended(a, *bits, scope)
            }
            Scev::ZExt { bits, operand } => {
                let a = self.polynomial_of_scev(operand, scope, deeper)?;
                self.zero_extended(a, *bits, scope)
            }
            Scev::Trunc { bits, operand } => {
                let a = self.polynomial_of_scev(operand, scope, deeper)?.without_window()?;
                Ok(Value { bits: *bits, signed: false, unsigned: false, ..a })
            }
            Scev::UDiv { .. } | Scev::MinMax { .. } => {
                let affine = self.affine_of_scev(scev, scope, deeper)?;
                let (signed, unsigned) = affine.ranges();
                match PiecewisePolynomial::from_pw_aff(&affine.function)? {
                    Some(function) => Ok(Value { function, bits: affine.bits, signed, unsigned, window: None }),
                    None => not_polynomial("a division"),
                }
            }
            Scev::PtrToInt { .. } => not_polynomial("a pointer used as a number"),
            Scev::Other { text } => not_polynomial(format!("`{text}`")),
        }
    }

    fn fold(
        &mut self,
        how: Combine,
        operands: &[Scev],
        bits: u32,
        (nsw, nuw): (bool, bool),
        scope: &Scope,
        depth: u32,
    ) -> Read<Value> {
        let mut all: Option<Value> = None;
        for operand in operands {
            let operand = self.polynomial_of_scev(operand, scope, depth)?;
            all = Some(match all {
                None => operand,
                Some(so_far) => self.combine(how, &so_far, &operand, bits, nsw, nuw)?,
            });
        }
        all.map_or_else(|| not_polynomial("an empty sum"), Ok)
    }

    /// {a,+,b,+,c,+,…} = a + b·i + c·i(i−1)/2 + …, where that has whole coefficients.
    ///
    /// i(i−1)/2 is whole for every i, but as a polynomial it has halves; a step that is a multiple of 2 takes them away.
    fn recurrence(&self, parts: Vec<PiecewisePolynomial>, dimension: usize) -> Read<PiecewisePolynomial> {
        let i = Polynomial::counter(dimension);
        let mut falling = Polynomial::constant(1);
        let mut factorial = 1i128;
        let mut sum: Option<PiecewisePolynomial> = None;
        for (k, part) in parts.iter().enumerate() {
            if k > 0 {
                let Ok(next) = i.sub(&Polynomial::constant(k as i128 - 1)).and_then(|f| falling.mul(&f)) else {
                    return too_large();
                };
                falling = next;
                factorial *= k as i128;
            }
            let term = part.map(|p| p.mul(&falling)?.exact_div(factorial).ok_or(TooLarge));
            let Some(term) = term else { return not_polynomial("a value that does not grow by equal steps") };
            sum = Some(match sum {
                None => term,
                Some(so_far) => match so_far.zip(&term, |a, b| a.add(b))? {
                    Some(sum) => sum,
                    None => return too_large(),
                },
            });
        }
        sum.map_or_else(|| not_polynomial("an empty recurrence"), Ok)
    }

    // ---- ranges ----

    fn sign_extended(&mut self, a: Value, bits: u32, scope: &Scope) -> Read<Value> {
        let a = self.in_range(a, scope, true)?;
        Ok(Value { bits, ..a })
    }

    fn zero_extended(&mut self, a: Value, bits: u32, scope: &Scope) -> Read<Value> {
        let a = self.in_range(a, scope, false)?;
        Ok(Value { bits, signed: true, unsigned: true, ..a })
    }

    /// Ensures: the result's function is the signed (unsigned) reading of the value in all instances, given the assumptions.
    fn in_range(&mut self, a: Value, scope: &Scope, signed: bool) -> Read<Value> {
        if if signed { a.signed } else { a.unsigned } {
            return Ok(a);
        }
        if a.function.is_affine() {
            if let Some(function) = a.function.to_pw_aff()? {
                let affine = Affine::modular(function, a.bits);
                if signed {
                    self.as_signed(affine, scope)?
                } else {
                    self.as_unsigned(affine, scope)?
                };
                return Ok(if signed { Value { signed, ..a } } else { Value { unsigned: true, ..a } });
            }
        } else if self.fits(&a, scope, signed)? {
            return Ok(if signed { Value { signed, ..a } } else { Value { unsigned: true, ..a } });
        }
        if !self.may_assume(AssumptionKind::EE) || a.window.is_some() || a.bits > 32 {
            return Err(NotAffine::Wraps(format!("the arithmetic in line {}", scope.line)));
        }
        // It is for the check to show that the function stays in range, at its ends.
        let half = 1i128 << (a.bits - 1);
        let window = Some(if signed { (-half, half) } else { (0, 2 * half) });
        Ok(if signed { Value { signed, window, ..a } } else { Value { unsigned: true, window, ..a } })
    }

    /// Counters mostly lie in range because of their loop's bound, flag or no flag; products of them build on that.
    fn with_proved_ranges(&self, a: Value, scope: &Scope) -> Read<Value> {
        if a.signed || !a.function.is_affine() {
            return Ok(a);
        }
        let Some(function) = a.function.to_pw_aff()? else { return Ok(a) };
        let signed = self.prove_signed(&Affine::modular(function, a.bits), scope)?;
        Ok(Value { signed, ..a })
    }

    /// By the ranges of the variables alone.
    fn fits(&self, a: &Value, scope: &Scope, signed: bool) -> Read<bool> {
        let (low, high) =
            if signed { (-(1i128 << (a.bits - 1)), (1i128 << (a.bits - 1)) - 1) } else { (0, (1i128 << a.bits) - 1) };
        for (domain, polynomial) in &a.function.pieces {
            let here = domain.intersect(&scope.domain)?.intersect_params(&self.known.assumed)?;
            if here.is_empty()? {
                continue;
            }
            match self.interval(polynomial, &here)? {
                Some((least, greatest)) if low <= least && greatest <= high => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn interval(&self, polynomial: &Polynomial, instances: &Set) -> Read<Option<(i128, i128)>> {
        let mut sum = (0i128, 0i128);
        for (monomial, coefficient) in polynomial.terms() {
            let mut product = (coefficient, coefficient);
            for &(var, exponent) in monomial.factors() {
                let range = match var {
                    Var::Param(id) => Some(self.known.params[id.index()].range),
                    Var::Counter(d) => {
                        let high = instances.dim_max_val(d as usize)?.to_i128();
                        let low = instances.dim_min_val(d as usize)?.to_i128();
                        low.zip(high)
                    }
                };
                let Some((low, high)) = range else { return Ok(None) };
                for _ in 0..exponent {
                    let corners = [(product.0, low), (product.0, high), (product.1, low), (product.1, high)];
                    let mut values = Vec::new();
                    for (x, y) in corners {
                        let Some(value) = x.checked_mul(y) else { return Ok(None) };
                        values.push(value);
                    }
                    product = (*values.iter().min().expect("four"), *values.iter().max().expect("four"));
                }
            }
            let (Some(low), Some(high)) = (sum.0.checked_add(product.0), sum.1.checked_add(product.1)) else {
                return Ok(None);
            };
            sum = (low, high);
        }
        Ok(Some(sum))
    }

    // ---- addresses ----

    /// The pointer as a base defined outside the region plus a number of bytes modulo 2^(index width).
    pub fn polynomial_address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<PolynomialAddress> {
        if depth > MAX_DEPTH {
            return not_polynomial("a very long address computation");
        }
        let pointer = self.values.stands_for(pointer);
        if !self.values.is_outside(pointer) {
            return self.computed_polynomial_address(pointer, scope, depth);
        }
        // Look through sums that need no assumption, so that `A` and `A + n*n` are one array.
        let inside = self.prove(|this| {
            let address = this.computed_polynomial_address(pointer, scope, depth)?;
            let plain = this.expand_products || address.offset.is_affine();
            if address.exact && address.window.is_none() && plain { Ok(address) } else { wraps_in("an address") }
        })?;
        if let Some(address) = inside {
            return Ok(address);
        }
        let Some(base) = self.values.handed_on(pointer) else {
            return not_polynomial(self.values.facts.display_name(pointer));
        };
        let offset = self.single(Polynomial::zero(), scope)?;
        Ok(PolynomialAddress { base, offset, exact: true, window: None })
    }

    fn computed_polynomial_address(&mut self, pointer: ValueId, scope: &Scope, depth: u32) -> Read<PolynomialAddress> {
        let facts = self.values.facts;
        let Some(instruction) = facts.instruction(pointer) else {
            return match facts.value(pointer).kind {
                ValueKind::ConstantGep { base, offset } => {
                    let offset = self.single(Polynomial::constant(offset.into()), scope)?;
                    Ok(PolynomialAddress { base, offset, exact: true, window: None })
                }
                _ => not_polynomial(facts.display_name(pointer)),
            };
        };
        match &instruction.op {
            Op::Gep { base, offset: Some(terms), inbounds, nusw, .. } => {
                let from = self.polynomial_address(*base, scope, depth + 1)?;
                let mut exact = from.exact && (*inbounds || *nusw);
                let constant = Polynomial::constant(terms.constant.into());
                let Some(mut offset) = from.offset.map(|p| p.add(&constant)) else { return too_large() };
                // What has a window, and what it is a part of the offset as.
                let mut framed: Vec<(Window, PiecewisePolynomial)> = Vec::new();
                framed.extend(from.window.map(|window| (window, from.offset)));
                for &(index, scale) in &terms.terms {
                    // Poison in an index is poison in the address, and every address read here is used.
                    let index = self.polynomial(index, scope, true, depth + 1)?;
                    let index = if index.bits < facts.target.index_bits {
                        self.in_range(index, scope, true)?
                    } else {
                        // Its remainder is all that the address needs; the extent of the array is checked instead.
                        exact &= index.signed || self.fits(&index, scope, true)?;
                        index
                    };
                    let Some(scaled) = index.function.map(|p| p.scale(scale.into())) else { return too_large() };
                    let Some(added) = offset.zip(&scaled, |a, b| a.add(b))? else { return too_large() };
                    offset = added;
                    if let Some((first, end)) = index.window {
                        let scale = i128::from(scale);
                        if !(1..1 << 32).contains(&scale) {
                            return wraps_in("an address");
                        }
                        framed.push(((first * scale, end * scale), scaled));
                    }
                }
                let window = match &framed[..] {
                    [] => None,
                    // All but that part must be a number, or the whole would say nothing about the part.
                    [((first, end), part)] => {
                        let rest = offset.zip(part, |whole, part| whole.sub(part))?;
                        let Some(by) = rest.as_ref().and_then(constant_of) else { return wraps_in("an address") };
                        Some((first + by, end + by))
                    }
                    _ => return wraps_in("an address"),
                };
                Ok(PolynomialAddress { base: from.base, offset, exact, window })
            }
            Op::Cast(CastOp::BitCast) => self.polynomial_address(instruction.operands[0], scope, depth + 1),
            Op::Phi { .. } if !self.values.is_outside(pointer) && self.values.turns_with(pointer, &scope.loops) => {
                let scev = self.values.oracle.scev(pointer, scope.loops.last().copied().or(self.values.region.scope));
                self.polynomial_address_of_scev(&scev, scope, depth + 1)
            }
            _ => not_polynomial(facts.display_name(pointer)),
        }
    }

    fn polynomial_address_of_scev(&mut self, scev: &Scev, scope: &Scope, depth: u32) -> Read<PolynomialAddress> {
        let not_even = || not_polynomial("a pointer that does not move by equal steps");
        match scev {
            Scev::Unknown { value, .. } => {
                let is_phi_itself = self.values.facts.is_phi(*value) && !self.values.is_outside(*value);
                if is_phi_itself { not_even() } else { self.polynomial_address(*value, scope, depth + 1) }
            }
            Scev::Add { operands, .. } => {
                let (pointers, numbers): (Vec<&Scev>, Vec<&Scev>) =
                    operands.iter().partition(|o| self.values.is_pointer(o));
                let [pointer] = pointers[..] else { return not_even() };
                let mut address = self.polynomial_address_of_scev(pointer, scope, depth + 1)?.without_window()?;
                for number in numbers {
                    let number = self.polynomial_of_scev(number, scope, depth + 1)?.without_window()?;
                    let Some(sum) = address.offset.zip(&number.function, |a, b| a.add(b))? else { return too_large() };
                    address.offset = sum;
                }
                Ok(PolynomialAddress { exact: false, ..address })
            }
            Scev::AddRec { in_loop, operands, .. } => {
                let Some(dimension) = scope.loops.iter().position(|l| l == in_loop) else { return not_even() };
                let [start, steps @ ..] = operands.as_slice() else { return not_even() };
                let start = self.polynomial_address_of_scev(start, scope, depth + 1)?.without_window()?;
                let mut parts = vec![start.offset];
                for step in steps {
                    parts.push(self.polynomial_of_scev(step, scope, depth + 1)?.without_window()?.function);
                }
                let offset = self.recurrence(parts, dimension)?;
                Ok(PolynomialAddress { base: start.base, offset, exact: false, window: None })
            }
            _ => not_even(),
        }
    }
}
