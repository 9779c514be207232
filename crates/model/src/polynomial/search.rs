//! The search for a proof that a wide polynomial is never negative.

use super::atom::{Atom, Symbol};
use super::order::numerator;
use super::{Product, Sum, Var, Whole};
use std::cell::Cell;
use std::rc::Rc;

/// How many inequalities are looked at for one proof.
pub(super) const MAX_STEPS: u32 = 60;
/// Differences of polynomials end; those of powers of two never do.
const MAX_DEPTH: u32 = 3;

/// A number is bounded by eliminating one atom after the other, each by one of its bounds; what has been eliminated does not come back.
#[derive(Clone)]
pub(super) struct Search<'s> {
    known: Rc<Vec<Rc<Whole>>>,
    gone: Rc<Vec<Atom>>,
    steps: &'s Cell<u32>,
    /// How many differences of differences this is about.
    depth: u32,
}

/// Numbers, of each list of which one must be ≥ 0, as far as that search can tell.
type Parts<'s> = Vec<Vec<(Search<'s>, Whole)>>;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Up,
    Down,
}

impl<'s> Search<'s> {
    pub(super) fn of(known: &[Rc<Whole>], steps: &'s Cell<u32>) -> Search<'s> {
        Search { known: Rc::new(known.to_vec()), gone: Rc::default(), steps, depth: 0 }
    }
    fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }
    fn without(&self, atom: &Atom) -> Search<'s> {
        let mut gone = Vec::clone(&self.gone);
        gone.push(atom.clone());
        Search { gone: Rc::new(gone), ..self.clone() }
    }
    fn knowing(&self, x: &Whole) -> Search<'s> {
        let mut known = Vec::clone(&self.known);
        known.push(Rc::new(x.clone()));
        Search { known: Rc::new(known), ..self.clone() }
    }

    /// Whether `x ≥ 0` follows. `None`: that takes too many steps.
    pub(super) fn proves(&self, x: &Whole) -> Option<bool> {
        if let Some(c) = x.over().as_constant() {
            return Some(c >= 0);
        }
        if !self.step() {
            return None;
        }
        if self.is_plain(x) {
            return Some(true);
        }
        for atom in candidates(x) {
            let Some(parts) = self.eliminated(x, &atom) else { continue };
            let is_proved = |(search, bound): &(Search, Whole)| search.proves(bound) == Some(true);
            if parts.iter().all(|alternatives| alternatives.iter().any(is_proved)) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// A sum of what cannot be negative, or a known number and more.
    fn is_plain(&self, x: &Whole) -> bool {
        let is_sum = |x: &Whole| {
            x.over().terms().all(|(product, c)| c > 0 && product.factors().iter().all(|(atom, _)| self.has_sign(atom)))
        };
        let exceeds = |fact: &Rc<Whole>| {
            let rest = x.over().sub(fact.over());
            rest.is_ok_and(|rest| rest.as_constant().is_some_and(|c| c >= 0))
        };
        is_sum(x) || self.known.iter().any(exceeds)
    }
    /// It is never negative, by what is plainly known.
    fn has_sign(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Power(..) | Atom::Positive(_) => true,
            Atom::Symbol(_) | Atom::Floor(..) => self.known.iter().any(|fact| {
                let over = fact.over();
                over.is_affine() && over.coefficient(&Product::var(atom.clone())) > 0 && {
                    let others = over.terms().filter(|(p, _)| p.exponent(atom.clone()) == 0);
                    // a·x + c ≥ 0 with c ≤ 0
                    others.into_iter().all(|(p, c)| p.degree() == 0 && c <= 0)
                }
            }),
        }
    }

    /// Numbers without the atom such that x ≥ 0 if, of each list, one is ≥ 0.
    fn eliminated(&self, x: &Whole, atom: &Atom) -> Option<Parts<'s>> {
        match atom {
            Atom::Positive(inner) => {
                // One of two numbers it is.
                let zero = x.with_atom(atom, &Whole::zero()).ok()?;
                let itself = x.with_atom(atom, inner).ok()?;
                let negative = inner.neg().ok()?;
                let without = self.without(atom);
                Some(vec![
                    vec![(without.knowing(&negative), numerator(&zero))],
                    vec![(without.knowing(inner), numerator(&itself))],
                ])
            }
            Atom::Power(symbol, _) => self.by_differences(x, *symbol),
            Atom::Floor(..) if x.over().terms().any(|(product, _)| product.exponent(atom.clone()) > 1) => None,
            Atom::Floor(..) => self.affine(x, atom),
            Atom::Symbol(symbol) => {
                let occurs_elsewhere = |(product, _): (&Product<Atom>, i128)| {
                    let has = |other: &Atom| {
                        let mut found = false;
                        other.for_each_symbol(&mut |s| found |= s == *symbol);
                        found && other != atom
                    };
                    product.exponent(atom.clone()) > 1 || product.factors().iter().any(|(other, _)| has(other))
                };
                if x.over().terms().any(occurs_elsewhere) {
                    self.by_differences(x, *symbol)
                } else {
                    self.affine(x, atom)
                }
            }
        }
    }

    /// x = a·v + b: with c·v + r ≥ 0 where c has the sign of a, |c|·x ≥ |c|·b − |a|·r.
    fn affine(&self, x: &Whole, atom: &Atom) -> Option<Parts<'s>> {
        let b = x.with_atom(atom, &Whole::zero()).ok()?;
        let a = x.with_atom(atom, &Whole::one()).ok()?.sub(&b).ok()?;
        if a.over().vars().any(|v| v == *atom) {
            return None;
        }
        let search = self.without(atom);
        let way = self.sign_of(&a)?;
        let size = if way == Way::Up { a } else { a.neg().ok()? };
        let mut bounds = Vec::new();
        let floor = match atom {
            Atom::Floor(inner, n) => {
                // n·v ≤ x ≤ n·v + n − 1
                let v = Whole::atom(atom.clone()).scale(*n).ok()?;
                let above = inner.sub(&v).ok()?;
                let below = v.sub(inner).and_then(|x| x.plus(n - 1)).ok()?;
                vec![Rc::new(above), Rc::new(below)]
            }
            _ => Vec::new(),
        };
        for fact in floor.iter().chain(self.known.iter()) {
            let Some((c, rest)) = linear_in(fact, atom) else { continue };
            if (c > 0) != (way == Way::Up) || self.is_gone(&rest) {
                continue;
            }
            let rest = numerator(&rest);
            let Ok(bound) = b.scale(c.checked_abs()?).and_then(|b| b.sub(&size.mul(&rest)?)) else { continue };
            bounds.push((search.clone(), numerator(&bound)));
        }
        Some(vec![bounds])
    }

    fn sign_of(&self, a: &Whole) -> Option<Way> {
        if let Some(c) = a.over().as_constant() {
            return Some(if c >= 0 { Way::Up } else { Way::Down });
        }
        if self.proves(&numerator(a))? {
            return Some(Way::Up);
        }
        self.proves(&numerator(&a.neg().ok()?))?.then_some(Way::Down)
    }

    fn is_gone(&self, x: &Whole) -> bool {
        let mut found = false;
        for gone in self.gone.iter() {
            match gone {
                Atom::Symbol(symbol) | Atom::Power(symbol, _) => found |= x.has(*symbol),
                other => found |= x.over().vars().any(|v| v == *other),
            }
        }
        found
    }

    /// By what happens from one value of the symbol to the next.
    ///
    /// Where x never falls between a lower bound and the symbol, it is at least what it is at the bound. That must be proved for all
    /// values in between, of which only those facts are used that hold there: the bound itself, and upper bounds of the symbol. Where
    /// differences never grow, the least value is at one of the ends.
    fn by_differences(&self, x: &Whole, symbol: Symbol) -> Option<Parts<'s>> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let atom = Atom::Symbol(symbol);
        let difference = numerator(&x.difference(symbol).ok()?);
        let (mut lower, mut upper, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for fact in self.known.iter() {
            match linear_in(fact, &atom) {
                Some((c, rest)) => if c > 0 { &mut lower } else { &mut upper }.push((fact.clone(), c, rest)),
                None if fact.has(symbol) => {}
                None => others.push(fact.clone()),
            }
        }
        let without = self.without(&atom);
        let mut usable = [Vec::new(), Vec::new()];
        for (bounds, list) in [&lower, &upper].into_iter().zip(&mut usable) {
            for (fact, c, rest) in bounds {
                if c.abs() == 1 && !self.is_gone(rest) {
                    list.push((fact, if *c > 0 { rest.neg().ok()? } else { rest.clone() }));
                }
            }
        }
        let [lowest, highest] = &usable;
        let between = |bound: &Rc<Whole>, beyond: &[(Rc<Whole>, i128, Whole)]| {
            let known = others.iter().chain(beyond.iter().map(|(fact, ..)| fact)).chain([bound]).cloned().collect();
            Search { known: Rc::new(known), depth: self.depth + 1, ..self.clone() }
        };
        let mut bounds = Vec::new();
        for (fact, value) in lowest {
            if between(fact, &upper).proves(&difference) == Some(true) {
                bounds.push((without.clone(), numerator(&x.with(symbol, value).ok()?)));
            }
        }
        let falls = numerator(&difference.neg().ok()?);
        for (fact, value) in highest {
            if between(fact, &lower).proves(&falls) == Some(true) {
                bounds.push((without.clone(), numerator(&x.with(symbol, value).ok()?)));
            }
        }
        if !bounds.is_empty() {
            return Some(vec![bounds]);
        }
        let bends = numerator(&difference.difference(symbol).ok()?.neg().ok()?);
        let (first, last) = (lowest.first()?, highest.first()?);
        let known = others.iter().chain([first.0, last.0]).cloned().collect();
        let inside = Search { known: Rc::new(known), depth: self.depth + 1, ..self.clone() };
        if inside.proves(&bends) != Some(true) {
            return None;
        }
        let end = |value: &Whole| Some(vec![(without.clone(), numerator(&x.with(symbol, value).ok()?))]);
        Some(vec![end(&first.1)?, end(&last.1)?])
    }

    /// Numbers in parameters alone such that x ≥ 0 if all of them are.
    pub(super) fn weaken(&self, x: &Whole, fixed: &mut Vec<Whole>) -> Option<()> {
        if x.is_fixed() {
            fixed.push(x.clone());
            return Some(());
        }
        if !self.step() {
            return None;
        }
        let mut found = None;
        for atom in candidates(x) {
            let mut moves = false;
            atom.for_each_symbol(&mut |s| moves |= !s.is_param());
            if !moves {
                continue;
            }
            let Some(parts) = self.eliminated(x, &atom) else { continue };
            let mut all = Vec::new();
            let done = parts.into_iter().all(|alternatives| {
                alternatives.into_iter().any(|(search, bound)| {
                    let before = all.len();
                    let done = search.weaken(&bound, &mut all).is_some();
                    if !done {
                        all.truncate(before);
                    }
                    done
                })
            });
            if done {
                found = Some(all);
                break;
            }
        }
        fixed.extend(found?);
        Some(())
    }
}

/// `x = c·atom + rest` times its denominator, with a number c.
pub(super) fn linear_in(x: &Whole, atom: &Atom) -> Option<(i128, Whole)> {
    let c = x.over().coefficient(&Product::var(atom.clone()));
    if c == 0 {
        return None;
    }
    let rest = x.over().sub(&Sum::term(Product::var(atom.clone()), c)).ok()?;
    let rest = Whole::quotient(rest, 1).ok()?;
    let mut found = false;
    match atom {
        Atom::Symbol(symbol) => found |= rest.has(*symbol),
        other => found |= rest.over().vars().any(|v| v == *other),
    }
    (!found).then_some((c, rest))
}

/// What is worth eliminating, the most promising first: maxima, then what runs, then quotients, then parameters.
fn candidates(x: &Whole) -> Vec<Atom> {
    let mut inside = Vec::new();
    let mut all: Vec<Atom> = x.over().vars().collect();
    all.sort();
    all.dedup();
    for atom in all.iter().filter(|atom| atom.is_compound()) {
        atom.for_each_symbol(&mut |symbol| inside.push(symbol));
    }
    let rank = |atom: &Atom| match atom {
        Atom::Positive(_) => (0, 0),
        Atom::Symbol(symbol) | Atom::Power(symbol, _) if inside.contains(symbol) => (5, rank_of(*symbol)),
        Atom::Symbol(symbol) | Atom::Power(symbol, _) if !symbol.is_param() => (1, rank_of(*symbol)),
        Atom::Floor(..) => (2, 0),
        Atom::Symbol(symbol) | Atom::Power(symbol, _) => (3, rank_of(*symbol)),
    };
    let mut ranked: Vec<((u32, u32), Atom)> = Vec::new();
    for atom in all {
        let at = rank(&atom);
        // What occurs in a quotient is not eliminated before the quotient is.
        if at.0 == 5 {
            continue;
        }
        // A power and its symbol go together.
        let atom = match atom {
            Atom::Power(symbol, _) => Atom::Symbol(symbol),
            other => other,
        };
        if !ranked.iter().any(|(_, known)| *known == atom) {
            ranked.push((at, atom));
        }
    }
    ranked.sort();
    ranked.into_iter().map(|(_, atom)| atom).collect()
}

/// Values of iterations first, then inner counters.
fn rank_of(symbol: Symbol) -> u32 {
    match symbol {
        Symbol::Opaque(_) => 0,
        Symbol::Var(Var::Counter(d)) => u32::MAX - d,
        Symbol::Var(Var::Param(_)) => 0,
    }
}
