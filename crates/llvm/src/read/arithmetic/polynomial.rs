//! Integer values as polynomials in iteration counts and parameters.
//!
//! isl knows nothing of products, so the range of a polynomial that is not affine comes from no-wrap flags or from the ranges of its
//! variables; for addresses a third way is left, a check of the bytes that the recovered array spans.

use super::modular::{Framed, Function, Modular};
use super::{Affine, Arithmetic, MAX_DEPTH, NotAffine, Read, Scope, any_of, not_affine, set_space};
use crate::facts::{Scev, Type, ValueId};
use isl::{PwAff, Set};
use model::assume::AssumptionKind;
use model::loop_ast::{BinaryOp, Counter, Expr, Ranges};
use model::polynomial::{MAX_PIECES, PiecewisePolynomial, Polynomial, TooLarge, Var};

/// A number of which only the remainder is known, as a polynomial.
type Value = Modular<PiecewisePolynomial>;

/// A φ: from a base, if it is a pointer, so far; right if a part of that lies where it must.
#[derive(Clone)]
pub struct InductionForm {
    pub base: Option<ValueId>,
    pub offset: Polynomial,
    pub framed: Option<Framed<PiecewisePolynomial>>,
}

fn too_large<T>() -> Read<T> {
    not_affine("a very long expression")
}

impl Function for PiecewisePolynomial {
    const UNEVEN: bool = true;

    fn constant(arithmetic: &Arithmetic, scope: &Scope, value: i64) -> Read<Self> {
        let everywhere = arithmetic.everywhere(scope)?;
        Ok(PiecewisePolynomial { pieces: vec![(everywhere, Polynomial::constant(value.into()))] })
    }
    fn add(&self, other: &Self) -> Read<Self> {
        self.zip(other, |a, b| a.add(b))?.map_or_else(too_large, Ok)
    }
    fn sub(&self, other: &Self) -> Read<Self> {
        self.zip(other, |a, b| a.sub(b))?.map_or_else(too_large, Ok)
    }
    fn mul(&self, other: &Self) -> Read<Self> {
        self.zip(other, |a, b| a.mul(b))?.map_or_else(too_large, Ok)
    }
    fn can_multiply(&self, _: &Self) -> Read<bool> {
        Ok(true)
    }
    fn scale(&self, by: i128) -> Read<Self> {
        self.map(|p| p.scale(by)).map_or_else(too_large, Ok)
    }
    fn or_else(&self, condition: &Set, other: &Self) -> Read<Self> {
        let mut whole = self.intersect_domain(condition)?;
        whole.pieces.extend(other.intersect_domain(&condition.complement()?)?.pieces);
        if whole.pieces.len() > MAX_PIECES { too_large() } else { Ok(whole) }
    }
    fn is_affine(&self) -> bool {
        self.is_affine()
    }
    fn as_constant(&self) -> Option<i128> {
        let [(_, first), others @ ..] = &self.pieces[..] else { return None };
        let number = first.as_constant().filter(|n| n.abs() < 1 << 62);
        number.filter(|_| others.iter().all(|(_, other)| other.as_constant() == number))
    }
    /// a + b·i + c·i(i−1)/2 + …, where that has whole coefficients.
    ///
    /// i(i−1)/2 is whole for every i, but as a polynomial it has halves; a step that is a multiple of 2 takes them away.
    fn recurrence(arithmetic: &Arithmetic, parts: Vec<Self>, scope: &Scope, dimension: usize) -> Read<Self> {
        if arithmetic.origins.contains_key(&scope.loops[dimension]) {
            return recurrence_from_origin(arithmetic, &parts, scope, dimension);
        }
        let i = Polynomial::counter(dimension);
        let mut falling = Polynomial::constant(1);
        let mut factorial = 1i128;
        let mut sum: Option<Self> = None;
        for (k, part) in parts.iter().enumerate() {
            if k > 0 {
                let Ok(next) = i.sub(&Polynomial::constant(k as i128 - 1)).and_then(|f| falling.mul(&f)) else {
                    return too_large();
                };
                falling = next;
                factorial *= k as i128;
            }
            let term = part.map(|p| p.mul(&falling)?.exact_div(factorial).ok_or(TooLarge));
            let Some(term) = term else { return not_affine("a value that does not grow by equal steps") };
            sum = Some(match sum {
                None => term,
                Some(so_far) => so_far.add(&term)?,
            });
        }
        sum.map_or_else(|| not_affine("an empty recurrence"), Ok)
    }

    fn read(arithmetic: &mut Arithmetic, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Value> {
        arithmetic.polynomial(value, scope, trusted, depth)
    }
    fn otherwise(arithmetic: &mut Arithmetic, scev: &Scev, scope: &Scope, depth: u32) -> Read<Value> {
        polynomial_of(arithmetic.of_scev(scev, scope, depth)?)?.map_or_else(|| not_affine("a division"), Ok)
    }
    fn in_range(arithmetic: &mut Arithmetic, a: Value, scope: &Scope, signed: bool) -> Read<Value> {
        if a.is_known(signed) {
            return Ok(a);
        }
        if a.function.is_affine() {
            if let Some(function) = a.function.to_pw_aff()? {
                let affine = PwAff::in_range(arithmetic, Affine::new(function, a.bits), scope, signed)?;
                // The constant 0xffffffff was stored as −1.
                if !signed
                    && affine.function.is_cst()?
                    && let Some(read) = polynomial_of(affine)?
                {
                    return Ok(Value { framed: a.framed, ..read });
                }
                return Ok(a.known(signed));
            }
        } else if arithmetic.fits(&a, scope, signed)? {
            return Ok(a.known(signed));
        }
        if let Some(required) = arithmetic.required.as_mut().filter(|_| !arithmetic.proofs_only) {
            required.push((a.function.clone(), any_of(a.bits, !signed)));
            return Ok(a.known(signed));
        }
        let may_frame = arithmetic.framing || arithmetic.may_assume(AssumptionKind::EE);
        if !may_frame || a.framed.is_some() || a.bits > 32 {
            return Err(NotAffine::Wraps("the arithmetic here".into()));
        }
        // It is for the check to show that the function stays in range, at its ends.
        let (least, greatest) = any_of(a.bits, !signed);
        let framed = Framed { part: a.function.clone(), window: (least, greatest + 1) };
        Ok(Value { framed: Some(framed), ..a.known(signed) })
    }
    fn index(arithmetic: &mut Arithmetic, a: Value, scope: &Scope) -> Read<(Value, bool)> {
        if a.bits < arithmetic.values.facts.target.index_bits {
            return Ok((Self::in_range(arithmetic, a, scope, true)?, true));
        }
        // Its remainder is all that the address needs; the extent of the array is checked instead.
        let exact = a.signed || arithmetic.fits(&a, scope, true)?;
        Ok((a, exact))
    }
}

/// a + b·i of a loop that does not count from 0.
fn recurrence_from_origin(
    arithmetic: &Arithmetic,
    parts: &[PiecewisePolynomial],
    scope: &Scope,
    dimension: usize,
) -> Read<PiecewisePolynomial> {
    let [start, step] = parts else { return not_affine("a value that does not grow by equal steps") };
    let iteration = PiecewisePolynomial::from_pw_aff(&arithmetic.iteration(scope, dimension)?)?;
    let Some(iteration) = iteration else { return not_affine("a division") };
    Ok(start.add(&step.mul(&iteration)?)?.merged()?)
}

fn polynomial_of(affine: Affine) -> Read<Option<Value>> {
    let Affine { bits, signed, unsigned, .. } = affine;
    let function = PiecewisePolynomial::from_pw_aff(&affine.function)?;
    Ok(function.map(|function| Value { signed, unsigned, ..Value::new(function, bits) }))
}

impl Arithmetic<'_> {
    /// The φ as one polynomial modulo 2^(its width). Nothing is assumed but what the form says.
    pub fn induction_polynomial(
        &mut self,
        phi: ValueId,
        scope: &Scope,
    ) -> Result<Option<InductionForm>, isl::IslError> {
        let may_frame = self.may_frame && self.allowed.contains(AssumptionKind::EE);
        let read = |this: &mut Self| {
            let (base, function, framed) = match this.values.facts.value(phi).ty {
                Type::Pointer { .. } => {
                    let address = this.address::<PiecewisePolynomial>(phi, scope, 0)?;
                    (Some(address.base), address.offset, address.framed)
                }
                _ => {
                    let number = this.polynomial(phi, scope, false, 0)?;
                    (None, number.function, number.framed)
                }
            };
            match &function.pieces[..] {
                [(_, only)] => Ok(InductionForm { base, offset: only.clone(), framed }),
                _ => not_affine("a counter in pieces"),
            }
        };
        self.with(|this| &mut this.framing, may_frame, |this| this.prove(read))
    }

    /// A number of bytes as a polynomial of its factors, those of values from outside too; and whether it may have wrapped.
    pub fn product_of_bytes(&mut self, length: ValueId, scope: &Scope) -> Read<(Polynomial, bool)> {
        let read = self.with(|this| &mut this.expand_products, true, |this| this.polynomial(length, scope, false, 0));
        let Value { function, bits, unsigned, .. } = read?.unframed()?;
        match function.pieces.as_slice() {
            [(_, bytes)] if bits == 64 => Ok((bytes.clone(), !unsigned)),
            _ => not_affine("a number of bytes in several forms"),
        }
    }

    /// Reads an integer. `trusted`: poison of it reaches the address or branch that is being read.
    pub(super) fn polynomial(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Value> {
        let value = self.values.stands_for(value);
        if depth > MAX_DEPTH {
            return not_affine("a very deep expression");
        }
        match self.attempt(|this| this.by_operation(value, scope, trusted, depth))? {
            Some(read) => Ok(read),
            None => self.as_leaf(value, scope, trusted),
        }
    }

    /// What is no sum or product: an affine function or a parameter.
    fn as_leaf(&mut self, value: ValueId, scope: &Scope, trusted: bool) -> Read<Value> {
        let before = self.known.mark();
        if let Some(read) = polynomial_of(self.affine(value, scope, trusted)?)? {
            let pieces = read.function.pieces.len();
            let function = self.where_something_runs(read.function, scope)?;
            if pieces > 1 && function.pieces.len() == 1 {
                self.sizes.whole.insert(value);
            }
            let in_pieces = self.sizes.in_pieces.contains(&value) || !self.values.is_hoistable(value, 0);
            if function.pieces.len() <= 1 || in_pieces {
                return Ok(Value { function, ..read });
            }
            self.sizes.symbols.insert(value);
            self.known.go_back_to(before);
            // What it is computed as stays unsaid: a fact in pieces would take all that meets it to pieces.
            return polynomial_of(self.symbol(value, scope)?)?
                .map_or_else(|| not_affine(self.values.facts.display_name(value)), Ok);
        }
        // `n / 2` as a size is a symbol of its own.
        let parameter = self.symbol(value, scope)?;
        self.define(&parameter, value, scope)?;
        polynomial_of(parameter)?.map_or_else(|| not_affine(self.values.facts.display_name(value)), Ok)
    }

    fn symbol(&mut self, value: ValueId, scope: &Scope) -> Read<Affine> {
        if self.values.is_outside(value) {
            self.parameter(scope, value)
        } else if self.values.is_hoistable(value, 0) {
            self.hoisted_parameter(scope, value)
        } else {
            not_affine(self.values.facts.display_name(value))
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

    /// The operation that computes `value`, if it is one that polynomials are closed under.
    fn by_operation(&mut self, value: ValueId, scope: &Scope, trusted: bool, depth: u32) -> Read<Value> {
        let bits = self.bits(value)?;
        if !self.expand_products && self.values.is_outside(value) && self.values.hides_product(value, 0) {
            return not_affine("a symbol");
        }
        match self.operation(value, bits, scope, trusted, depth)? {
            Some(counter) if self.values.facts.is_phi(value) => self.with_proved_ranges(counter, scope),
            Some(read) => Ok(read),
            None => not_affine(self.values.facts.display_name(value)),
        }
    }

    /// Counters mostly lie in range because of their loop's bound, flag or no flag; products of them build on that.
    fn with_proved_ranges(&self, a: Value, scope: &Scope) -> Read<Value> {
        if a.signed || !a.function.is_affine() {
            return Ok(a);
        }
        let Some(function) = a.function.to_pw_aff()? else { return Ok(a) };
        let signed = self.prove_signed(&Affine::new(function, a.bits), scope)?;
        Ok(Value { signed, ..a })
    }

    /// By the ranges of the variables alone.
    fn fits(&self, a: &Value, scope: &Scope, signed: bool) -> Read<bool> {
        let (low, high) = any_of(a.bits, !signed);
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
        let mut ranges = Ranges::of_params(&self.known.params);
        let mut sum = Expr::Int(0);
        for (monomial, coefficient) in polynomial.terms() {
            let mut product = Expr::Int(coefficient);
            for &(var, exponent) in monomial.factors() {
                let factor = match var {
                    Var::Param(id) => Expr::Param(id),
                    Var::Counter(d) => {
                        let high = instances.dim_max_val(d as usize)?.to_i128();
                        let low = instances.dim_min_val(d as usize)?.to_i128();
                        ranges.counters.extend(low.zip(high).map(|range| (Counter(d), range)));
                        Expr::Counter(Counter(d))
                    }
                };
                for _ in 0..exponent {
                    product = Expr::binary(BinaryOp::Mul, product, factor.clone());
                }
            }
            sum = Expr::binary(BinaryOp::Add, sum, product);
        }
        Ok(sum.interval(&ranges))
    }
}
