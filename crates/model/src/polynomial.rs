//! Exact polynomials with integer coefficients over iteration counts and parameters.
//!
//! An address in an array whose size is known only at run time is such a polynomial: `A[i][j]` in rows of `n` is `n·i + j`.
//! Coefficients are 128 bits wide; whatever does not fit is `TooLarge`, never wrong.

mod atom;
mod order;
mod piecewise;
mod quotient;
mod search;
mod show;
mod sum;
mod whole;

pub use atom::{Atom, OpaqueId, Sign, Symbol};
pub use order::{Answer, Facts};
pub use piecewise::PiecewisePolynomial;
pub use quotient::divide;
pub use sum::{Product, Sum, TooLarge};
pub use whole::Whole;

use crate::scop::ParamId;
use isl::{Aff, DimType, LocalSpace, Space, Val};
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

pub type Monomial = Product<Var>;
pub type Polynomial = Sum<Var>;

impl Monomial {
    /// The counters of it and the parameters of it.
    pub fn split(&self) -> (Self, Self) {
        let (params, counters) = self.0.iter().copied().partition(|(v, _)| v.is_param());
        (Product(counters), Product(params))
    }
}

impl Polynomial {
    pub fn param(id: ParamId) -> Self {
        Self::var(Var::Param(id))
    }
    pub fn counter(d: usize) -> Self {
        Self::var(Var::Counter(d as u32))
    }
    pub fn has_counters(&self) -> bool {
        self.vars().any(|v| !v.is_param())
    }
    /// Two counters have different factors.
    pub fn mixes_counters(&self) -> bool {
        let mut speeds = self.terms().filter(|(m, _)| m.split().0.degree() > 0).map(|(_, c)| c.abs());
        speeds.next().is_some_and(|first| speeds.any(|other| other != first))
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

/// In isl's syntax where it is affine; products with `*`.
impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&|var| var.to_string()))
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod narrow_tests {
    use super::*;
    use isl::{PwAff, Set};

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
