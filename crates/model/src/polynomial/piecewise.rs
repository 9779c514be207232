//! Functions that are polynomials on each of their pieces.

use super::{MAX_PIECES, Polynomial, TooLarge};
use isl::{PwAff, Set};

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
