//! Conjunctions of linear equations and inequalities over integers, small enough to be taken apart by elimination.
//!
//! What they are found to imply, they imply. What they are not found to imply may be true all the same: elimination is of rational numbers,
//! with rounding where only integers count, and ends where there would be too much to look at, in one question or in all of them.

use num_integer::Integer;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// More rows than this are too much.
const MAX_ROWS: usize = 64;

/// What may be spent on questions, in pairs of rows; each takes about a microsecond.
pub(crate) struct Patience(Cell<u64>);

impl Patience {
    pub(crate) fn new(pairs: u64) -> Patience {
        Patience(Cell::new(pairs))
    }
    /// From then on nothing is found any more.
    pub(crate) fn is_at_an_end(&self) -> bool {
        self.0.get() == 0
    }
    fn take(&self, pairs: usize) -> Option<()> {
        self.0.set(self.0.get().saturating_sub(1 + pairs as u64));
        (!self.is_at_an_end()).then_some(())
    }
}

/// Variables in their order, each with what it is multiplied by, which is not zero: there are few, so that a list is the fastest to merge.
type Terms<V> = Vec<(V, i128)>;

/// A sum of multiples of variables, and a constant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Affine<V: Ord> {
    terms: Terms<V>,
    pub constant: i128,
}

impl<V: Ord + Copy> Affine<V> {
    pub(crate) fn number(constant: i128) -> Self {
        Affine { terms: Terms::new(), constant }
    }
    pub(crate) fn variable(v: V) -> Self {
        Affine { terms: vec![(v, 1)], constant: 0 }
    }
    /// In the order of the variables.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (V, i128)> {
        self.terms.iter().copied()
    }
    pub(crate) fn coefficient(&self, v: V) -> i128 {
        coefficient(&self.terms, v)
    }
    pub(crate) fn is_number(&self) -> bool {
        self.terms.is_empty()
    }
    /// `None` where numbers become too large, as everywhere here.
    pub(crate) fn plus(&self, other: &Self, times: i128) -> Option<Self> {
        let constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        if times == 0 {
            return Some(Affine { terms: self.terms.clone(), constant });
        }
        let mut terms = Terms::with_capacity(self.terms.len() + other.terms.len());
        let (mut own, mut others) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (own.peek(), others.peek()) {
                (None, None) => return Some(Affine { terms, constant }),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((v, _)), Some((w, _))) => v.cmp(w),
            };
            let kept = own.next_if(|_| next.is_le());
            let added = others.next_if(|_| next.is_ge());
            let Some((v, _)) = kept.or(added) else { unreachable!("one of them has a next term") };
            let added = added.map_or(Some(0), |(_, c)| c.checked_mul(times))?;
            let value = kept.map_or(0, |(_, c)| *c).checked_add(added)?;
            if value != 0 {
                terms.push((*v, value));
            }
        }
    }
    pub(crate) fn times(&self, by: i128) -> Option<Self> {
        Affine::number(0).plus(self, by)
    }
    /// With another expression for a variable.
    pub(crate) fn with(&self, v: V, value: &Self) -> Option<Self> {
        let times = self.coefficient(v);
        if times == 0 {
            return Some(self.clone());
        }
        let mut rest = self.clone();
        rest.terms.retain(|(w, _)| *w != v);
        rest.plus(value, times)
    }
    fn content(&self) -> i128 {
        self.terms.iter().fold(0, |content, (_, c)| content.gcd(c))
    }
    /// An expression of integers that is not negative where this one is not, with the least coefficients.
    fn tightened(mut self) -> Self {
        let content = self.content();
        if content > 1 {
            self.terms.iter_mut().for_each(|(_, c)| *c /= content);
            self.constant = self.constant.div_euclid(content);
        }
        self
    }
    /// `None`: no integers make it zero. The first coefficient is positive.
    fn into_equation(mut self) -> Option<Self> {
        let content = self.content();
        if content == 0 {
            return (self.constant == 0).then_some(self);
        }
        if self.constant % content != 0 {
            return None;
        }
        let by = if self.terms.first().is_some_and(|(_, c)| *c < 0) { -content } else { content };
        self.terms.iter_mut().for_each(|(_, c)| *c /= by);
        self.constant /= by;
        Some(self)
    }
}

fn coefficient<V: Ord>(terms: &Terms<V>, v: V) -> i128 {
    terms.iter().find(|(w, _)| *w == v).map_or(0, |(_, c)| *c)
}

/// All equations are zero, and all inequalities are not negative.
#[derive(Clone, Debug)]
pub(crate) struct System<V: Ord> {
    equations: BTreeSet<Affine<V>>,
    /// By what is not constant; of several, the strictest.
    inequalities: BTreeMap<Terms<V>, i128>,
    is_impossible: bool,
}

impl<V: Ord + Copy> Default for System<V> {
    fn default() -> Self {
        System { equations: BTreeSet::new(), inequalities: BTreeMap::new(), is_impossible: false }
    }
}

impl<V: Ord + Copy> System<V> {
    pub(crate) fn equate(&mut self, zero: Affine<V>) {
        match zero.into_equation() {
            Some(row) if row.is_number() => {}
            Some(row) => _ = self.equations.insert(row),
            None => self.is_impossible = true,
        }
    }
    pub(crate) fn demand(&mut self, not_negative: Affine<V>) {
        let row = not_negative.tightened();
        if row.is_number() {
            self.is_impossible |= row.constant < 0;
            return;
        }
        let known = self.inequalities.entry(row.terms).or_insert(row.constant);
        *known = row.constant.min(*known);
    }
    /// Plainly: there may be a contradiction among the rows, too.
    pub(crate) fn is_contradiction(&self) -> bool {
        self.is_impossible
    }
    pub(crate) fn equations(&self) -> impl Iterator<Item = &Affine<V>> {
        self.equations.iter()
    }
    pub(crate) fn inequalities(&self) -> impl Iterator<Item = Affine<V>> {
        self.inequalities.iter().map(|(terms, constant)| Affine { terms: terms.clone(), constant: *constant })
    }
    pub(crate) fn and(&mut self, other: &System<V>) {
        other.equations().cloned().for_each(|row| self.equate(row));
        other.inequalities().for_each(|row| self.demand(row));
        self.is_impossible |= other.is_impossible;
    }
    fn variables(&self) -> BTreeSet<V> {
        let rows = self.equations.iter().map(|row| &row.terms).chain(self.inequalities.keys());
        rows.flatten().map(|(v, _)| *v).collect()
    }

    /// With another expression for a variable.
    pub(crate) fn with(&self, v: V, value: &Affine<V>) -> Option<System<V>> {
        let mut out = System { is_impossible: self.is_impossible, ..System::default() };
        for row in self.equations() {
            out.equate(row.with(v, value)?);
        }
        for row in self.inequalities() {
            out.demand(row.with(v, value)?);
        }
        Some(out)
    }

    /// What it says of the others.
    ///
    /// Ensures: every solution, without the variable, is one of the result.
    pub(crate) fn without(&self, v: V, patience: &Patience) -> Option<System<V>> {
        let equation = self.equations.iter().filter(|row| row.coefficient(v) != 0);
        let mut out = System { is_impossible: self.is_impossible, ..System::default() };
        if let Some(equation) = equation.min_by_key(|row| row.coefficient(v).abs()) {
            let by = equation.coefficient(v);
            // |by| · row ∓ coefficient · equation is without the variable.
            patience.take(self.equations.len() + self.inequalities.len())?;
            let reduced = |row: &Affine<V>| row.times(by.abs())?.plus(equation, -row.coefficient(v) * by.signum());
            for row in self.equations() {
                out.equate(reduced(row)?);
            }
            for row in self.inequalities() {
                out.demand(reduced(&row)?);
            }
            return Some(out);
        }
        out.equations = self.equations.clone();
        let (mut below, mut above) = (Vec::new(), Vec::new());
        for row in self.inequalities() {
            match row.coefficient(v).signum() {
                0 => out.demand(row),
                1 => below.push(row),
                _ => above.push(row),
            }
        }
        patience.take(below.len() * above.len())?;
        for low in &below {
            for high in &above {
                out.demand(low.times(-high.coefficient(v))?.plus(high, low.coefficient(v))?);
            }
        }
        (out.inequalities.len() <= MAX_ROWS).then_some(out)
    }

    /// Of one that it is not found of it may be true, too.
    pub(crate) fn is_impossible(&self, patience: &Patience) -> bool {
        let mut rest = self.clone();
        while !rest.is_impossible {
            // The one that makes the fewest new rows.
            let price = |v: &V| {
                let in_rows =
                    |sign: i128| rest.inequalities.keys().filter(|row| coefficient(row, *v).signum() == sign).count();
                let is_equated = rest.equations.iter().any(|row| row.coefficient(*v) != 0);
                if is_equated { 0 } else { in_rows(1) * in_rows(-1) }
            };
            let Some(v) = rest.variables().into_iter().min_by_key(price) else { return false };
            match rest.without(v, patience) {
                Some(without) => rest = without,
                None => return false,
            }
        }
        true
    }

    /// Of one that it is not found of it may be true, too.
    pub(crate) fn implies(&self, not_negative: &Affine<V>, patience: &Patience) -> bool {
        let row = not_negative.clone().tightened();
        if row.is_number() && row.constant >= 0
            || self.inequalities.get(&row.terms).is_some_and(|known| *known <= row.constant)
        {
            return true;
        }
        let opposite = row.times(-1).and_then(|row| row.plus(&Affine::number(-1), 1));
        opposite.is_some_and(|opposite| {
            let mut together = self.about(&row.terms);
            together.demand(opposite);
            together.is_impossible(patience)
        })
    }
    pub(crate) fn implies_zero(&self, zero: &Affine<V>, patience: &Patience) -> bool {
        self.implies(zero, patience) && zero.times(-1).is_some_and(|negative| self.implies(&negative, patience))
    }

    /// The rows that have something to do with these variables, if only through others.
    fn about(&self, terms: &Terms<V>) -> System<V> {
        let mut known: BTreeSet<V> = terms.iter().map(|(v, _)| *v).collect();
        loop {
            let before = known.len();
            let rows = self.equations.iter().map(|row| &row.terms).chain(self.inequalities.keys());
            for row in rows {
                if row.iter().any(|(v, _)| known.contains(v)) {
                    known.extend(row.iter().map(|(v, _)| *v));
                }
            }
            if known.len() == before {
                break;
            }
        }
        let is_about = |terms: &Terms<V>| terms.iter().any(|(v, _)| known.contains(v));
        System {
            equations: self.equations.iter().filter(|row| is_about(&row.terms)).cloned().collect(),
            inequalities: self
                .inequalities
                .iter()
                .filter(|(terms, _)| is_about(terms))
                .map(|(t, c)| (t.clone(), *c))
                .collect(),
            is_impossible: self.is_impossible,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a·x + b·y + c·z + d`
    fn row([a, b, c, d]: [i128; 4]) -> Affine<char> {
        let mut sum = Affine::number(d);
        for (v, times) in [('x', a), ('y', b), ('z', c)] {
            sum = sum.plus(&Affine::variable(v), times).unwrap();
        }
        sum
    }

    fn system(rows: &[[i128; 4]]) -> System<char> {
        let mut all = System::default();
        rows.iter().for_each(|r| all.demand(row(*r)));
        all
    }

    fn endless() -> Patience {
        Patience::new(u64::MAX)
    }

    #[test]
    fn chains_of_inequalities_are_followed() {
        // x >= 1, y >= x, z >= 2 y
        let all = system(&[[1, 0, 0, -1], [-1, 1, 0, 0], [0, -2, 1, 0]]);
        assert!(all.implies(&row([0, 0, 1, -2]), &endless()));
        assert!(!all.implies(&row([0, 0, 1, -3]), &endless()));
        assert!(all.implies(&row([-1, 0, 1, -1]), &endless()));
        assert!(!all.is_impossible(&endless()));
    }

    #[test]
    fn impatience_finds_nothing() {
        let all = system(&[[1, 0, 0, -1], [-1, 1, 0, 0]]);
        let patience = Patience::new(3);
        assert!(all.implies(&row([0, 1, 0, -1]), &endless()));
        assert!(!all.implies(&row([0, 1, 0, -1]), &patience));
        assert!(patience.is_at_an_end() && all.without('x', &patience).is_none());
    }

    #[test]
    fn only_integers_count() {
        // 0 < 3 x < 3
        assert!(system(&[[3, 0, 0, -1], [-3, 0, 0, 2]]).is_impossible(&endless()));
        // 2 x = 2 y + 1
        let mut odd = System::default();
        odd.equate(row([2, -2, 0, -1]));
        assert!(odd.is_impossible(&endless()));
        // 32 x <= y <= 32 x + 31 and y >= 0
        let tile = system(&[[-32, 1, 0, 0], [32, -1, 0, 31], [0, 1, 0, 0]]);
        assert!(tile.without('y', &endless()).unwrap().implies(&row([1, 0, 0, 0]), &endless()));
    }

    #[test]
    fn what_is_said_of_the_others_is_true() {
        // All solutions in a cube, against those of the projection.
        let mut seed = 7u64;
        let mut roll = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..500 {
            let mut all = System::default();
            for _ in 0..4 {
                let mut number = || roll(7) as i128 - 3;
                let made = row([number(), number(), number(), number() * 2]);
                if roll(5) == 0 { all.equate(made) } else { all.demand(made) }
            }
            let (without, is_impossible) = (all.without('z', &endless()).unwrap(), all.is_impossible(&endless()));
            let holds = |system: &System<char>, x: i128, y: i128, z: i128| {
                let at = |row: &Affine<char>| {
                    row.coefficient('x') * x + row.coefficient('y') * y + row.coefficient('z') * z + row.constant
                };
                !system.is_impossible
                    && system.equations().all(|row| at(row) == 0)
                    && system.inequalities().all(|row| at(&row) >= 0)
            };
            for (x, y, z) in (0..9 * 9 * 9).map(|k| (k % 9 - 4, k / 9 % 9 - 4, k / 81 - 4)) {
                if holds(&all, x, y, z) {
                    assert!(!is_impossible);
                    assert!(holds(&without, x, y, 0));
                    for bound in [[1, 0, 0, 2], [0, -1, 1, 1], [1, 1, -2, 0]] {
                        let value = bound[0] * x + bound[1] * y + bound[2] * z + bound[3];
                        assert!(value >= 0 || !all.implies(&row(bound), &endless()));
                    }
                }
            }
        }
    }
}
