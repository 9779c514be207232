//! Integers that are polynomials with fractions for coefficients, in symbols, powers of two, quotients and maxima.

use super::atom::{Atom, OpaqueId, Sign, Symbol};
use super::{Polynomial, Product, Sum, TooLarge, Var};
use crate::scop::ParamId;
use num_integer::{gcd, lcm};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Higher powers are not computed.
const MAX_POWER: u32 = 16;
/// 2 to a greater power is not kept as a number.
const MAX_SHIFT: u32 = 100;
/// Of so many points at most whole values are looked at, to see that a polynomial has no others.
const MAX_GRID: u64 = 4096;
/// How deep quotients and maxima may be in each other.
const MAX_NESTING: u32 = 4;

/// An integer, `over / by`: i(i+1)/2 has no whole coefficients and is whole all the same.
///
/// A power of two has a value where its exponent is not negative. What is said of a number with powers in it is said of those values of
/// the symbols where they all have one; whoever makes one knows that it is looked at nowhere else.
///
/// Numbers that are equal as polynomials are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whole {
    over: Sum<Atom>,
    /// Positive, and without a common divisor with the coefficients.
    by: i128,
}

impl Whole {
    pub fn zero() -> Self {
        Self::constant(0)
    }
    pub fn one() -> Self {
        Self::constant(1)
    }
    pub fn constant(value: i128) -> Self {
        Whole { over: Sum::constant(value), by: 1 }
    }
    pub fn symbol(symbol: Symbol) -> Self {
        Self::atom(Atom::Symbol(symbol))
    }
    pub fn param(id: ParamId) -> Self {
        Self::symbol(Symbol::param(id))
    }
    pub fn counter(d: usize) -> Self {
        Self::symbol(Symbol::counter(d))
    }
    pub fn opaque(id: OpaqueId) -> Self {
        Self::symbol(Symbol::Opaque(id))
    }
    pub(super) fn atom(atom: Atom) -> Self {
        Whole { over: Sum::var(atom), by: 1 }
    }
    pub fn over(&self) -> &Sum<Atom> {
        &self.over
    }
    pub fn by(&self) -> i128 {
        self.by
    }

    /// Requires: the quotient is an integer wherever it is looked at.
    pub(super) fn quotient(mut over: Sum<Atom>, by: i128) -> Result<Self, TooLarge> {
        debug_assert!(by != 0);
        if by == 1 {
            return Ok(Whole { over, by });
        }
        let mut divisor = gcd(over.content(), by);
        if by < 0 {
            divisor = divisor.checked_neg().ok_or(TooLarge)?;
        }
        if over.is_zero() {
            return Ok(Self::zero());
        }
        over = over.exact_div(divisor).ok_or(TooLarge)?;
        Ok(Whole { over, by: by / divisor })
    }

    /// `over / by` if that is an integer for all integers.
    ///
    /// A polynomial of degree d in a variable is a sum of binomials, the coefficients of which are sums and differences of its values at 0
    /// ..= d; so it is whole everywhere if it is whole there, one variable after the other.
    pub fn fraction(over: Sum<Atom>, by: i128) -> Option<Self> {
        // So that sums of two remainders are no overflow.
        if !(1..1 << 62).contains(&by) {
            return None;
        }
        let reduced = Self::quotient(over, by).ok()?;
        let Whole { over, by } = &reduced;
        if *by == 1 {
            return Some(reduced);
        }
        let mut degrees: BTreeMap<Atom, u32> = BTreeMap::new();
        for (product, _) in over.terms() {
            for (atom, exponent) in product.factors() {
                let degree = degrees.entry(atom.clone()).or_default();
                *degree = (*degree).max(*exponent);
            }
        }
        let points = degrees.values().try_fold(1u64, |n, d| n.checked_mul(u64::from(*d) + 1))?;
        if points > MAX_GRID {
            return None;
        }
        let axes: Vec<(Atom, u32)> = degrees.into_iter().collect();
        for point in 0..points {
            let mut rest = point;
            let mut at = BTreeMap::new();
            for (atom, degree) in &axes {
                at.insert(atom, i128::from(rest % (u64::from(*degree) + 1)));
                rest /= u64::from(*degree) + 1;
            }
            let mut sum = 0i128;
            for (product, c) in over.terms() {
                let mut value = c.rem_euclid(*by);
                for (atom, exponent) in product.factors() {
                    for _ in 0..*exponent {
                        value = value.checked_mul(at[atom])?.rem_euclid(*by);
                    }
                }
                sum = (sum + value) % by;
            }
            if sum != 0 {
                return None;
            }
        }
        Some(reduced)
    }

    pub fn is_zero(&self) -> bool {
        self.over.is_zero()
    }
    pub fn as_constant(&self) -> Option<i128> {
        if self.by == 1 { self.over.as_constant() } else { None }
    }
    pub fn is_one(&self) -> bool {
        self.as_constant() == Some(1)
    }
    pub fn for_each_symbol(&self, visit: &mut impl FnMut(Symbol)) {
        for (product, _) in self.over.terms() {
            product.factors().iter().for_each(|(atom, _)| atom.for_each_symbol(visit));
        }
    }
    pub fn has(&self, symbol: Symbol) -> bool {
        let mut found = false;
        self.for_each_symbol(&mut |s| found |= s == symbol);
        found
    }
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut all = Vec::new();
        self.for_each_symbol(&mut |s| all.push(s));
        all.sort();
        all.dedup();
        all
    }
    /// Nothing but parameters.
    pub fn is_fixed(&self) -> bool {
        let mut fixed = true;
        self.for_each_symbol(&mut |s| fixed &= s.is_param());
        fixed
    }

    pub fn add(&self, other: &Self) -> Result<Self, TooLarge> {
        if self.by == 1 && other.by == 1 {
            return Ok(Whole { over: self.over.add(&other.over)?, by: 1 });
        }
        let common = lcm(self.by, other.by);
        if !(1..1 << 62).contains(&common) {
            return Err(TooLarge);
        }
        let (a, b) = (self.over.scale(common / self.by)?, other.over.scale(common / other.by)?);
        Self::quotient(a.add(&b)?, common)
    }
    pub fn sub(&self, other: &Self) -> Result<Self, TooLarge> {
        self.add(&other.neg()?)
    }
    pub fn neg(&self) -> Result<Self, TooLarge> {
        self.scale(-1)
    }
    pub fn plus(&self, number: i128) -> Result<Self, TooLarge> {
        self.add(&Self::constant(number))
    }
    pub fn scale(&self, by: i128) -> Result<Self, TooLarge> {
        Self::quotient(self.over.scale(by)?, self.by)
    }
    pub fn mul(&self, other: &Self) -> Result<Self, TooLarge> {
        let by = self.by.checked_mul(other.by).filter(|by| *by < 1 << 62).ok_or(TooLarge)?;
        Self::quotient(cancel_powers(self.over.mul(&other.over)?)?, by)
    }
    fn pow(&self, exponent: u32) -> Result<Self, TooLarge> {
        if exponent > MAX_POWER {
            return Err(TooLarge);
        }
        (0..exponent).try_fold(Self::one(), |product, _| product.mul(self))
    }

    /// self·(self − 1)·…·(self − k + 1) / k!
    pub fn choose(&self, k: u32) -> Result<Self, TooLarge> {
        if k > MAX_POWER {
            return Err(TooLarge);
        }
        let mut product = Self::one();
        for j in 0..i128::from(k) {
            product = product.mul(&self.plus(-j)?)?;
        }
        let factorial: i128 = (1..=i128::from(k)).product();
        // k consecutive numbers: one of them is a multiple of each of 1 ..= k, and their product of all.
        Self::quotient(product.over, product.by.checked_mul(factorial).ok_or(TooLarge)?)
    }

    /// 2^self; too large where that is not affine in symbols.
    pub fn power_of_two(&self) -> Result<Self, TooLarge> {
        if self.by != 1 {
            return Err(TooLarge);
        }
        let shift = |by: u32| if by <= MAX_SHIFT { Ok(1i128 << by) } else { Err(TooLarge) };
        let mut product = Product::one();
        let (mut times, mut by) = (1, 1);
        for (factors, c) in self.over.terms() {
            let exponent = u32::try_from(c.unsigned_abs()).map_err(|_| TooLarge)?;
            match factors.factors() {
                [] if c < 0 => by = shift(exponent)?,
                [] => times = shift(exponent)?,
                [(Atom::Symbol(symbol), 1)] if exponent <= MAX_POWER => {
                    let sign = if c < 0 { Sign::Minus } else { Sign::Plus };
                    product = product.times(&Product(vec![(Atom::Power(*symbol, sign), exponent)]));
                }
                _ => return Err(TooLarge),
            }
        }
        Self::quotient(Sum::term(product, times), by)
    }

    /// ⌊self / n⌋, n > 0.
    pub fn floor_div(&self, n: i128) -> Result<Self, TooLarge> {
        // A quotient of integers rounded down twice is rounded down once.
        if n == 1 {
            return Ok(self.clone());
        }
        let n = n.checked_mul(self.by).filter(|n| *n > 0).ok_or(TooLarge)?;
        let (mut whole, mut rest) = (Sum::zero(), Sum::zero());
        for (product, c) in self.over.terms() {
            // Half a power of two may be no integer, so that it cannot be taken out of the quotient.
            let (mut q, mut r) = if has_inverse(product) { (0, c) } else { (c.div_euclid(n), c.rem_euclid(n)) };
            if product.degree() > 0 && r > n / 2 && !has_inverse(product) {
                // −x stays −x: coefficients near 0 are easier to read, and as unique.
                (q, r) = (q.checked_add(1).ok_or(TooLarge)?, r - n);
            }
            whole.accumulate(product.clone(), q)?;
            rest.accumulate(product.clone(), r)?;
        }
        let whole = Whole { over: whole, by: 1 };
        if let Some(rest) = rest.as_constant() {
            return whole.plus(rest.div_euclid(n));
        }
        // ⌊(g·x + c)/(g·n)⌋ = ⌊(x + ⌊c/g⌋)/n⌋
        let constant = rest.constant_term();
        let moving = rest.sub(&Sum::constant(constant))?;
        let divided = if moving.terms().any(|(p, _)| has_inverse(p)) { 1 } else { gcd(moving.content(), n) };
        let moving = moving.exact_div(divided).ok_or(TooLarge)?;
        let rest = Whole { over: moving.add(&Sum::constant(constant.div_euclid(divided)))?, by: 1 };
        if n == divided {
            return whole.add(&rest);
        }
        if rest.nesting() >= MAX_NESTING {
            return Err(TooLarge);
        }
        whole.add(&Self::atom(Atom::Floor(Arc::new(rest), n / divided)))
    }

    /// max(self, 0)
    pub fn positive(&self) -> Result<Self, TooLarge> {
        if let Some(c) = self.as_constant() {
            return Ok(Self::constant(c.max(0)));
        }
        if self.nesting() >= MAX_NESTING {
            return Err(TooLarge);
        }
        // max(x, 0) = x + max(−x, 0)
        match self.over.leading() {
            Some((_, c)) if c < 0 => self.add(&Self::atom(Atom::Positive(Arc::new(self.neg()?)))),
            _ => Ok(Self::atom(Atom::Positive(Arc::new(self.clone())))),
        }
    }
    pub fn maximum(&self, other: &Self) -> Result<Self, TooLarge> {
        self.add(&other.sub(self)?.positive()?)
    }
    pub fn minimum(&self, other: &Self) -> Result<Self, TooLarge> {
        self.sub(&self.sub(other)?.positive()?)
    }
    fn nesting(&self) -> u32 {
        let of_atom = |atom: &Atom| match atom {
            Atom::Floor(inner, _) | Atom::Positive(inner) => 1 + inner.nesting(),
            _ => 0,
        };
        let atoms = self.over.terms().flat_map(|(product, _)| product.factors());
        atoms.map(|(atom, _)| of_atom(atom)).max().unwrap_or(0)
    }

    /// With another number for a symbol.
    pub fn with(&self, symbol: Symbol, value: &Self) -> Result<Self, TooLarge> {
        if !self.has(symbol) {
            return Ok(self.clone());
        }
        let mut sum = Self::zero();
        for (product, c) in self.over.terms() {
            let mut term = Self::constant(c);
            for (atom, exponent) in product.factors() {
                let factor = match atom {
                    Atom::Symbol(s) if *s == symbol => value.clone(),
                    Atom::Power(s, Sign::Plus) if *s == symbol => value.power_of_two()?,
                    Atom::Power(s, Sign::Minus) if *s == symbol => value.neg()?.power_of_two()?,
                    Atom::Floor(inner, n) => inner.with(symbol, value)?.floor_div(*n)?,
                    Atom::Positive(inner) => inner.with(symbol, value)?.positive()?,
                    other => Self::atom(other.clone()),
                };
                term = term.mul(&factor.pow(*exponent)?)?;
            }
            sum = sum.add(&term)?;
        }
        Self::quotient(sum.over, sum.by.checked_mul(self.by).ok_or(TooLarge)?)
    }
    /// With another number for an atom, wherever it is a factor; not inside of others.
    pub(super) fn with_atom(&self, atom: &Atom, value: &Self) -> Result<Self, TooLarge> {
        let mut sum = Self::zero();
        for (product, c) in self.over.terms() {
            let exponent = product.exponent(atom.clone());
            let others = product.factors().iter().filter(|(a, _)| a != atom).cloned().collect();
            let rest = Whole { over: Sum::term(Product(others), c), by: 1 };
            sum = sum.add(&rest.mul(&value.pow(exponent)?)?)?;
        }
        Self::quotient(sum.over, sum.by.checked_mul(self.by).ok_or(TooLarge)?)
    }
    /// From one value of a symbol to the next: self at symbol + 1, less self.
    pub fn difference(&self, symbol: Symbol) -> Result<Self, TooLarge> {
        self.with(symbol, &Self::symbol(symbol).plus(1)?)?.sub(self)
    }

    /// `None` where it has no value, or none that 128 bits hold.
    pub fn at(&self, value: &dyn Fn(Symbol) -> Option<i128>) -> Option<i128> {
        let mut terms = Vec::new();
        for (product, c) in self.over.terms() {
            let mut term = c;
            let mut exponent = 0i128;
            for (atom, times) in product.factors() {
                let factor = match atom {
                    Atom::Symbol(s) => value(*s)?,
                    Atom::Power(s, sign) => {
                        let by = value(*s)?.checked_mul(i128::from(*times))?;
                        exponent =
                            if *sign == Sign::Plus { exponent.checked_add(by)? } else { exponent.checked_sub(by)? };
                        continue;
                    }
                    Atom::Floor(inner, n) => inner.at(value)?.div_euclid(*n),
                    Atom::Positive(inner) => inner.at(value)?.max(0),
                };
                for _ in 0..*times {
                    term = term.checked_mul(factor)?;
                }
            }
            terms.push((term, exponent));
        }
        let least = terms.iter().map(|(_, e)| *e).min().unwrap_or(0).min(0);
        let mut sum = 0i128;
        for (term, exponent) in terms {
            let shift = u32::try_from(exponent.checked_sub(least)?).ok().filter(|s| *s <= MAX_SHIFT)?;
            sum = sum.checked_add(term.checked_mul(1 << shift)?)?;
        }
        let shift = u32::try_from(-least).ok().filter(|s| *s <= MAX_SHIFT)?;
        let by = self.by.checked_mul(1 << shift)?;
        (sum % by == 0).then(|| sum / by)
    }
}

fn has_inverse(product: &Product<Atom>) -> bool {
    product.factors().iter().any(|(atom, _)| matches!(atom, Atom::Power(_, Sign::Minus)))
}

/// 2^s·2^−s is 1.
pub(super) fn cancel_powers(sum: Sum<Atom>) -> Result<Sum<Atom>, TooLarge> {
    if !sum.terms().any(|(product, _)| has_inverse(product)) {
        return Ok(sum);
    }
    let mut out = Sum::zero();
    for (product, c) in sum.terms() {
        let mut factors: BTreeMap<Atom, u32> = product.factors().iter().cloned().collect();
        for (atom, _) in product.factors() {
            if let Atom::Power(symbol, Sign::Minus) = atom {
                let (up, down) = (Atom::Power(*symbol, Sign::Plus), atom);
                let (Some(&a), Some(&b)) = (factors.get(&up), factors.get(down)) else { continue };
                let both = a.min(b);
                factors.insert(up, a - both);
                factors.insert(down.clone(), b - both);
            }
        }
        out.accumulate(Product(factors.into_iter().filter(|(_, e)| *e > 0).collect()), c)?;
    }
    Ok(out)
}

impl From<&Polynomial> for Whole {
    fn from(polynomial: &Polynomial) -> Whole {
        let mut over = Sum::zero();
        for (monomial, c) in polynomial.terms() {
            let wide = |(var, exponent): &(Var, u32)| (Atom::Symbol(Symbol::Var(*var)), *exponent);
            over.terms.insert(Product(monomial.factors().iter().map(wide).collect()), c);
        }
        Whole { over, by: 1 }
    }
}
