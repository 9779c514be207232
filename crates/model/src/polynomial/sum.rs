//! Sums of products with integer coefficients, over any kind of variable.

use super::MAX_TERMS;
use num_integer::gcd;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A product of powers; sorted by variable, no exponent is 0. The empty one is 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Product<V>(pub(super) Vec<(V, u32)>);

impl<V> Default for Product<V> {
    fn default() -> Self {
        Product(Vec::new())
    }
}

impl<V: Clone + Ord> Product<V> {
    pub fn one() -> Self {
        Self::default()
    }
    pub fn var(var: V) -> Self {
        Product(vec![(var, 1)])
    }
    pub fn factors(&self) -> &[(V, u32)] {
        &self.0
    }
    pub fn degree(&self) -> u32 {
        self.0.iter().map(|(_, e)| e).sum()
    }
    pub fn exponent(&self, var: V) -> u32 {
        self.0.iter().find(|(v, _)| *v == var).map_or(0, |(_, e)| *e)
    }
    pub fn times(&self, other: &Self) -> Self {
        let mut all: BTreeMap<V, u32> = self.0.iter().cloned().collect();
        for (var, exponent) in &other.0 {
            *all.entry(var.clone()).or_default() += exponent;
        }
        Product(all.into_iter().collect())
    }
    /// `self / other`, if that is a product.
    pub fn over(&self, other: &Self) -> Option<Self> {
        let mut all: BTreeMap<V, u32> = self.0.iter().cloned().collect();
        for (var, exponent) in &other.0 {
            let have = all.get_mut(var)?;
            *have = have.checked_sub(*exponent)?;
        }
        Some(Product(all.into_iter().filter(|(_, e)| *e > 0).collect()))
    }
    /// Graded lexicographic: it respects products, unlike the order of the list of factors.
    fn graded(&self, other: &Self) -> Ordering {
        let by_exponents = || {
            let (mut a, mut b) = (self.0.iter(), other.0.iter());
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return Ordering::Equal,
                    (Some(_), None) => return Ordering::Greater,
                    (None, Some(_)) => return Ordering::Less,
                    // The smaller variable has the greater weight: whoever contains it is greater.
                    (Some((x, e)), Some((y, f))) => match y.cmp(x).then(e.cmp(f)) {
                        Ordering::Equal => {}
                        decided => return decided,
                    },
                }
            }
        };
        self.degree().cmp(&other.degree()).then_with(by_exponents)
    }
}

/// A coefficient, or the number of terms, is beyond what we handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a polynomial is too large")]
pub struct TooLarge;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum<V> {
    /// No coefficient is 0.
    pub(super) terms: BTreeMap<Product<V>, i128>,
}

impl<V> Default for Sum<V> {
    fn default() -> Self {
        Sum { terms: BTreeMap::new() }
    }
}

impl<V: Clone + Ord> Sum<V> {
    pub fn zero() -> Self {
        Self::default()
    }
    pub fn constant(value: i128) -> Self {
        Self::term(Product::one(), value)
    }
    pub fn var(var: V) -> Self {
        Self::term(Product::var(var), 1)
    }
    pub fn term(product: Product<V>, coefficient: i128) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(product, coefficient);
        }
        Sum { terms }
    }
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Product<V>, i128)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }
    pub fn coefficient(&self, of: &Product<V>) -> i128 {
        self.terms.get(of).copied().unwrap_or(0)
    }
    pub fn constant_term(&self) -> i128 {
        self.coefficient(&Product::one())
    }
    /// The value, if no variable occurs.
    pub fn as_constant(&self) -> Option<i128> {
        (self.degree() == 0).then(|| self.constant_term())
    }
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(Product::degree).max().unwrap_or(0)
    }
    pub fn is_affine(&self) -> bool {
        self.degree() <= 1
    }
    pub fn vars(&self) -> impl Iterator<Item = V> {
        self.terms.keys().flat_map(|m| m.0.iter().map(|(v, _)| v.clone()))
    }
    /// The greatest number that divides all coefficients; 0 for the zero polynomial.
    pub fn content(&self) -> i128 {
        self.terms.values().fold(0, |g, c| gcd(g, *c))
    }
    /// The greatest product by degree, then by the exponents of the variables in turn.
    pub fn leading(&self) -> Option<(&Product<V>, i128)> {
        self.terms().max_by(|(a, _), (b, _)| a.graded(b))
    }

    pub fn add(&self, other: &Self) -> Result<Self, TooLarge> {
        let mut sum = self.clone();
        for (product, c) in &other.terms {
            sum.accumulate(product.clone(), *c)?;
        }
        sum.checked()
    }
    pub fn sub(&self, other: &Self) -> Result<Self, TooLarge> {
        self.add(&other.scale(-1)?)
    }
    pub fn scale(&self, by: i128) -> Result<Self, TooLarge> {
        let mut scaled = Self::zero();
        for (product, c) in &self.terms {
            scaled.accumulate(product.clone(), c.checked_mul(by).ok_or(TooLarge)?)?;
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
        terms.map(|terms| Sum { terms })
    }
    pub(super) fn accumulate(&mut self, product: Product<V>, c: i128) -> Result<(), TooLarge> {
        let entry = self.terms.entry(product);
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
    pub(super) fn checked(self) -> Result<Self, TooLarge> {
        if self.terms.len() > MAX_TERMS { Err(TooLarge) } else { Ok(self) }
    }

    /// As a sum of products, with names for the variables.
    pub fn show(&self, name: &dyn Fn(V) -> String) -> String {
        // Variables before the constant, as a person writes it.
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(m, _)| (std::cmp::Reverse(m.degree()), (*m).clone()));
        let mut text = String::new();
        for (product, c) in terms {
            text += match (text.is_empty(), *c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let mut factors: Vec<String> = Vec::new();
            if c.unsigned_abs() != 1 || product.0.is_empty() {
                factors.push(c.unsigned_abs().to_string());
            }
            for (var, exponent) in &product.0 {
                factors.extend((0..*exponent).map(|_| name(var.clone())));
            }
            text += &factors.join("*");
        }
        if text.is_empty() { "0".into() } else { text }
    }
}
