//! Exact polynomials with integer coefficients over iteration counts and parameters.
//!
//! An address in an array whose size is known only at run time is such a polynomial: `A[i][j]` in rows of `n` is `n·i + j`.
//! Coefficients are 128 bits wide; whatever does not fit is `TooLarge`, never wrong.

use crate::scop::ParamId;
use isl::{Aff, DimType, LocalSpace, PwAff, Set, Space, Val};
use num_integer::gcd;
use std::collections::BTreeMap;
use std::fmt;

/// Polynomials of more terms, and piecewise ones of more pieces, are not worth reading.
pub const MAX_TERMS: usize = 256;
pub const MAX_PIECES: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Var {
    /// Dimension of the domain.
    Counter(u32),
    Param(ParamId),
}
impl Var {
    pub fn is_param(self) -> bool {
        matches!(self, Var::Param(_))
    }
}
impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Var::Counter(d) => write!(f, "i{d}"),
            Var::Param(p) => write!(f, "{p}"),
        }
    }
}

/// A product of powers; sorted by variable, no exponent is 0. The empty one is 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monomial(Vec<(Var, u32)>);
impl Monomial {
    pub fn one() -> Self {
        Self::default()
    }
    pub fn var(var: Var) -> Self {
        Monomial(vec![(var, 1)])
    }
    pub fn factors(&self) -> &[(Var, u32)] {
        &self.0
    }
    pub fn degree(&self) -> u32 {
        self.0.iter().map(|(_, e)| e).sum()
    }
    pub fn exponent(&self, var: Var) -> u32 {
        self.0.iter().find(|(v, _)| *v == var).map_or(0, |(_, e)| *e)
    }
    pub fn times(&self, other: &Self) -> Self {
        let mut all: BTreeMap<Var, u32> = self.0.iter().copied().collect();
        for (var, exponent) in &other.0 {
            *all.entry(*var).or_default() += exponent;
        }
        Monomial(all.into_iter().collect())
    }
    /// `self / other`, if that is a monomial.
    pub fn over(&self, other: &Self) -> Option<Self> {
        let mut all: BTreeMap<Var, u32> = self.0.iter().copied().collect();
        for (var, exponent) in &other.0 {
            let have = all.get_mut(var)?;
            *have = have.checked_sub(*exponent)?;
        }
        Some(Monomial(all.into_iter().filter(|(_, e)| *e > 0).collect()))
    }
    /// The counters of it and the parameters of it.
    pub fn split(&self) -> (Self, Self) {
        let (params, counters) = self.0.iter().copied().partition(|(v, _)| v.is_param());
        (Monomial(counters), Monomial(params))
    }
}

/// A coefficient, or the number of terms, is beyond what we handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a polynomial is too large")]
pub struct TooLarge;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial {
    /// No coefficient is 0.
    terms: BTreeMap<Monomial, i128>,
}
impl Polynomial {
    pub fn zero() -> Self {
        Self::default()
    }
    pub fn constant(value: i128) -> Self {
        Self::term(Monomial::one(), value)
    }
    pub fn var(var: Var) -> Self {
        Self::term(Monomial::var(var), 1)
    }
    pub fn param(id: ParamId) -> Self {
        Self::var(Var::Param(id))
    }
    pub fn counter(d: usize) -> Self {
        Self::var(Var::Counter(d as u32))
    }
    pub fn term(monomial: Monomial, coefficient: i128) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Polynomial { terms }
    }
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }
    pub fn coefficient(&self, of: &Monomial) -> i128 {
        self.terms.get(of).copied().unwrap_or(0)
    }
    pub fn constant_term(&self) -> i128 {
        self.coefficient(&Monomial::one())
    }
    /// The value, if no variable occurs.
    pub fn as_constant(&self) -> Option<i128> {
        (self.degree() == 0).then(|| self.constant_term())
    }
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(Monomial::degree).max().unwrap_or(0)
    }
    pub fn is_affine(&self) -> bool {
        self.degree() <= 1
    }
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        self.terms.keys().flat_map(|m| m.0.iter().map(|(v, _)| *v))
    }
    pub fn has_counters(&self) -> bool {
        self.vars().any(|v| !v.is_param())
    }
    /// Two counters have different factors.
    pub fn mixes_counters(&self) -> bool {
        let mut speeds = self.terms().filter(|(m, _)| m.split().0.degree() > 0).map(|(_, c)| c.abs());
        speeds.next().is_some_and(|first| speeds.any(|other| other != first))
    }
    /// The greatest number that divides all coefficients; 0 for the zero polynomial.
    pub fn content(&self) -> i128 {
        self.terms.values().fold(0, |g, c| gcd(g, *c))
    }
    /// `self = Σ stride · counter part`: for each product of counters (1 included) the polynomial in the parameters that it
    /// is multiplied with.
    pub fn by_counters(&self) -> BTreeMap<Monomial, Polynomial> {
        let mut parts: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        for (monomial, c) in &self.terms {
            let (counters, params) = monomial.split();
            parts.entry(counters).or_default().terms.insert(params, *c);
        }
        parts
    }

    pub fn add(&self, other: &Self) -> Result<Self, TooLarge> {
        let mut sum = self.clone();
        for (monomial, c) in &other.terms {
            sum.accumulate(monomial.clone(), *c)?;
        }
        sum.checked()
    }
    pub fn sub(&self, other: &Self) -> Result<Self, TooLarge> {
        self.add(&other.scale(-1)?)
    }
    pub fn scale(&self, by: i128) -> Result<Self, TooLarge> {
        let mut scaled = Self::zero();
        for (monomial, c) in &self.terms {
            scaled.accumulate(monomial.clone(), c.checked_mul(by).ok_or(TooLarge)?)?;
        }
        Ok(scaled)
    }
    pub fn mul(&self, other: &Self) -> Result<Self, TooLarge> {
        let mut product = Self::zero();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                product.accumulate(a.times(b), x.checked_mul(*y).ok_or(TooLarge)?)?;
            }
        }
        product.checked()
    }
    /// `self / divisor`, if all coefficients are multiples of it.
    pub fn exact_div(&self, divisor: i128) -> Option<Self> {
        let terms =
            self.terms.iter().map(|(m, c)| (c % divisor == 0).then(|| (m.clone(), c / divisor))).collect::<Option<_>>();
        terms.map(|terms| Polynomial { terms })
    }
    fn accumulate(&mut self, monomial: Monomial, c: i128) -> Result<(), TooLarge> {
        let entry = self.terms.entry(monomial);
        let std::collections::btree_map::Entry::Occupied(mut have) = entry else {
            if c != 0 {
                entry.or_insert(c);
            }
            return Ok(());
        };
        let sum = have.get().checked_add(c).ok_or(TooLarge)?;
        if sum == 0 {
            have.remove();
        } else {
            have.insert(sum);
        }
        Ok(())
    }
    fn checked(self) -> Result<Self, TooLarge> {
        if self.terms.len() > MAX_TERMS { Err(TooLarge) } else { Ok(self) }
    }

    /// The value at the given values of the variables; `None` if it leaves 128 bits.
    pub fn at(&self, value: impl Fn(Var) -> i128) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, c) in &self.terms {
            let mut product = *c;
            for (var, exponent) in &monomial.0 {
                for _ in 0..*exponent {
                    product = product.checked_mul(value(*var))?;
                }
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// The polynomial with counter d replaced by `counters[d]`.
    ///
    /// Too large, too, where there is none.
    pub fn compose(&self, counters: &[Polynomial]) -> Result<Self, TooLarge> {
        let mut sum = Self::zero();
        for (monomial, c) in &self.terms {
            let mut product = Self::constant(*c);
            for (var, exponent) in &monomial.0 {
                let factor = match var {
                    Var::Counter(d) => counters.get(*d as usize).cloned().ok_or(TooLarge)?,
                    Var::Param(id) => Self::param(*id),
                };
                for _ in 0..*exponent {
                    product = product.mul(&factor)?;
                }
            }
            sum = sum.add(&product)?;
        }
        Ok(sum)
    }

    /// One affine expression as a polynomial; `None` if it contains divisions.
    pub fn from_aff(aff: &Aff) -> Result<Option<Self>, isl::IslError> {
        if !aff.get_denominator_val()?.is_one()? || aff.involves_locals()? {
            return Ok(None);
        }
        let Some(constant) = aff.get_constant_val()?.to_i64() else { return Ok(None) };
        let mut polynomial = Self::constant(constant.into());
        for (kind, isl_kind) in [(false, DimType::In), (true, DimType::Param)] {
            for k in 0..aff.dim(isl_kind)? {
                let Some(c) = aff.get_coefficient_val(isl_kind, k)?.to_i64() else { return Ok(None) };
                if c == 0 {
                    continue;
                }
                let var = if kind {
                    let Some(id) = ParamId::from_isl_name(&aff.get_dim_name(DimType::Param, k)?) else {
                        return Ok(None);
                    };
                    Var::Param(id)
                } else {
                    Var::Counter(k as u32)
                };
                polynomial.terms.insert(Monomial::var(var), c.into());
            }
        }
        Ok(Some(polynomial))
    }

    /// As an isl function on `space` (a set space with all counters); `None` if it is not affine or a coefficient needs more than 64 bits.
    pub fn to_aff(&self, space: &Space) -> Result<Option<Aff>, isl::IslError> {
        if !self.is_affine() {
            return Ok(None);
        }
        let ctx = space.ctx();
        let mut space = space.clone();
        for var in self.vars() {
            let Var::Param(id) = var else { continue };
            let name = id.to_string();
            if space.find_dim_by_name(DimType::Param, &name)?.is_none() {
                let at = space.dim(DimType::Param)?;
                space = space.add_dims(DimType::Param, 1)?.set_dim_name(DimType::Param, at, &name)?;
            }
        }
        let local = LocalSpace::from_space(&space)?;
        let mut aff = Aff::zero_on_domain(&local)?;
        for (monomial, c) in &self.terms {
            let Ok(c) = i64::try_from(*c) else { return Ok(None) };
            let c = Val::int_from_si(ctx, c)?;
            aff = match monomial.0.as_slice() {
                [] => aff.set_constant_val(&c)?,
                [(Var::Counter(d), 1)] => aff.set_coefficient_val(DimType::In, *d as usize, &c)?,
                [(Var::Param(id), 1)] => {
                    let at = space.find_dim_by_name(DimType::Param, &id.to_string())?.expect("added above");
                    aff.set_coefficient_val(DimType::Param, at, &c)?
                }
                _ => return Ok(None),
            };
        }
        Ok(Some(aff))
    }
}

impl Polynomial {
    /// As a sum of products, with names for the variables.
    pub fn show(&self, name: &dyn Fn(Var) -> String) -> String {
        // Variables before the constant, as a person writes it.
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(m, _)| (std::cmp::Reverse(m.degree()), (*m).clone()));
        let mut text = String::new();
        for (monomial, c) in terms {
            text += match (text.is_empty(), *c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let mut factors: Vec<String> = Vec::new();
            if c.unsigned_abs() != 1 || monomial.0.is_empty() {
                factors.push(c.unsigned_abs().to_string());
            }
            for (var, exponent) in &monomial.0 {
                factors.extend((0..*exponent).map(|_| name(*var)));
            }
            text += &factors.join("*");
        }
        if text.is_empty() { "0".into() } else { text }
    }
}

/// In isl's syntax where it is affine; products with `*`.
impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&|var| var.to_string()))
    }
}

/// A function into ℤ that is a polynomial on each of its pieces.
#[derive(Clone, Debug)]
pub struct PiecewisePolynomial {
    /// Disjoint sets of counters (unnamed tuples) and parameters.
    pub pieces: Vec<(Set, Polynomial)>,
}
impl PiecewisePolynomial {
    /// `None` if it contains divisions.
    pub fn from_pw_aff(function: &PwAff) -> Result<Option<Self>, isl::IslError> {
        let mut pieces = Vec::new();
        for (domain, aff) in function.pieces()? {
            let Some(polynomial) = Polynomial::from_aff(&aff)? else { return Ok(None) };
            pieces.push((domain, polynomial));
        }
        Ok(Some(PiecewisePolynomial { pieces }))
    }
    /// `None` if a piece is not affine.
    pub fn to_pw_aff(&self) -> Result<Option<PwAff>, isl::IslError> {
        let mut whole: Option<PwAff> = None;
        for (domain, polynomial) in &self.pieces {
            let Some(aff) = polynomial.to_aff(&domain.get_space()?)? else { return Ok(None) };
            let domain = domain.align_params(&aff.get_domain_space()?)?;
            let piece = PwAff::alloc(&domain, &aff)?;
            whole = Some(match whole {
                None => piece,
                Some(others) => others.union_add(&piece)?,
            });
        }
        whole.map(|w| w.coalesce()).transpose()
    }
    /// Equal at a glance; others may be equal too.
    pub fn is_plainly_equal(&self, other: &Self) -> bool {
        let same =
            |((a, p), (b, q)): (&(Set, Polynomial), &(Set, Polynomial))| p == q && a.plain_is_equal(b).unwrap_or(false);
        self.pieces.len() == other.pieces.len() && self.pieces.iter().zip(&other.pieces).all(same)
    }
    pub fn is_affine(&self) -> bool {
        self.pieces.iter().all(|(_, p)| p.is_affine())
    }
    /// Combines where both are defined; `None` if that is too large.
    pub fn zip(
        &self,
        other: &Self,
        operation: impl Fn(&Polynomial, &Polynomial) -> Result<Polynomial, TooLarge>,
    ) -> Result<Option<Self>, isl::IslError> {
        let mut pieces = Vec::new();
        for (here, a) in &self.pieces {
            for (there, b) in &other.pieces {
                let both = here.intersect(there)?;
                if both.is_empty()? {
                    continue;
                }
                let Ok(value) = operation(a, b) else { return Ok(None) };
                pieces.push((both, value));
            }
        }
        Ok((pieces.len() <= MAX_PIECES).then_some(PiecewisePolynomial { pieces }))
    }
    pub fn map(&self, operation: impl Fn(&Polynomial) -> Result<Polynomial, TooLarge>) -> Option<Self> {
        let pieces = self.pieces.iter().map(|(d, p)| Some((d.clone(), operation(p).ok()?))).collect::<Option<_>>()?;
        Some(PiecewisePolynomial { pieces })
    }
    /// The same function, in one piece where it is one polynomial.
    pub fn merged(&self) -> Result<Self, isl::IslError> {
        let mut pieces: Vec<(Set, Polynomial)> = Vec::new();
        for (domain, polynomial) in &self.pieces {
            match pieces.iter_mut().find(|(_, known)| known == polynomial) {
                Some((known, _)) => *known = known.union(domain)?.coalesce()?,
                None => pieces.push((domain.clone(), polynomial.clone())),
            }
        }
        Ok(PiecewisePolynomial { pieces })
    }
    pub fn intersect_domain(&self, domain: &Set) -> Result<Self, isl::IslError> {
        let mut pieces = Vec::new();
        for (here, polynomial) in &self.pieces {
            let both = here.intersect(domain)?;
            if !both.is_empty()? {
                pieces.push((both, polynomial.clone()));
            }
        }
        Ok(PiecewisePolynomial { pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Polynomial {
        Polynomial::param(ParamId(0))
    }

    #[test]
    fn products_expand_and_cancel() {
        let plus = n().add(&Polynomial::constant(2)).unwrap();
        let minus = n().sub(&Polynomial::constant(2)).unwrap();
        assert_eq!(plus.mul(&minus).unwrap().to_string(), "p0*p0 - 4");
        assert!(plus.sub(&plus).unwrap().is_zero());
        assert_eq!(plus.mul(&plus).unwrap().at(|_| 5), Some(49));
    }

    #[test]
    fn coefficients_that_do_not_fit_are_an_error() {
        let huge = Polynomial::constant(i128::MAX);
        assert_eq!(huge.add(&Polynomial::constant(1)), Err(TooLarge));
        assert_eq!(huge.mul(&huge), Err(TooLarge));
    }

    #[test]
    fn strides_are_what_counters_are_multiplied_with() {
        let i = Polynomial::counter(0);
        let offset = n().mul(&n()).unwrap().mul(&i).unwrap().add(&n()).unwrap().add(&i.scale(3).unwrap()).unwrap();
        let parts = offset.by_counters();
        assert_eq!(parts[&Monomial::var(Var::Counter(0))].to_string(), "p0*p0 + 3");
        assert_eq!(parts[&Monomial::one()].to_string(), "p0");
    }

    #[test]
    fn pieces_of_one_polynomial_are_one() {
        let ctx = isl::Ctx::new();
        let piece = |set: &str, value: Polynomial| (Set::read_from_str(&ctx, set).unwrap(), value);
        let below = piece("[p0] -> { [i] : i < p0 }", n());
        let above = piece("[p0] -> { [i] : i >= p0 }", n());
        let merged = PiecewisePolynomial { pieces: vec![below.clone(), above] }.merged().unwrap();
        let [(everywhere, _)] = &merged.pieces[..] else { panic!("{merged:?}") };
        assert!(everywhere.plain_is_universe().unwrap());
        let other = piece("[p0] -> { [i] : i >= p0 }", Polynomial::constant(1));
        assert_eq!(PiecewisePolynomial { pieces: vec![below, other] }.merged().unwrap().pieces.len(), 2);
    }

    #[test]
    fn affine_ones_go_to_isl_and_back() {
        let ctx = isl::Ctx::new();
        let function = PwAff::read_from_str(&ctx, "[p0, p3] -> { [i, j] -> [(2i - 3p3 + 7)] : j > 0 }").unwrap();
        let polynomial = PiecewisePolynomial::from_pw_aff(&function).unwrap().unwrap();
        assert_eq!(polynomial.pieces[0].1.to_string(), "2*i0 - 3*p3 + 7");
        assert!(polynomial.to_pw_aff().unwrap().unwrap().is_equal(&function).unwrap());
        let unnamed = Set::universe(&Space::set_alloc(&ctx, 0, 1).unwrap()).unwrap();
        let n_plus_i = n().add(&Polynomial::counter(0)).unwrap();
        let anywhere = PiecewisePolynomial { pieces: vec![(unnamed, n_plus_i)] };
        assert_eq!(anywhere.to_pw_aff().unwrap().unwrap().to_string(), "[p0] -> { [i0] -> [(p0 + i0)] }");
        let divided = PwAff::read_from_str(&ctx, "{ [i] -> [(floor(i/2))] }").unwrap();
        assert!(PiecewisePolynomial::from_pw_aff(&divided).unwrap().is_none());
    }
}
