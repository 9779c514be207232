//! Which of two wide polynomials is greater: proved, or under a condition that the check can test.

use super::atom::{Atom, Symbol};
use super::search::{MAX_STEPS, Search, linear_in};
use super::{TooLarge, Var, Whole};
use crate::loop_ast::{BinaryOp, Expr};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A condition of more inequalities is not worth a check.
const MAX_CONDITIONS: usize = 8;

/// Whether something holds for all values of the symbols that the facts admit.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Proved,
    /// It does if this does, a term of the check; where that has no value, or overflows, nothing is known.
    Under(Expr),
    Unknown,
}

impl Answer {
    pub fn is_proved(&self) -> bool {
        *self == Answer::Proved
    }
    pub fn is_known(&self) -> bool {
        *self != Answer::Unknown
    }
    /// Both hold.
    pub fn and(self, other: Answer) -> Answer {
        match (self, other) {
            (Answer::Unknown, _) | (_, Answer::Unknown) => Answer::Unknown,
            (Answer::Proved, answer) | (answer, Answer::Proved) => answer,
            (Answer::Under(a), Answer::Under(b)) if has_operand(&a, &b) => Answer::Under(a),
            (Answer::Under(a), Answer::Under(b)) => Answer::Under(Expr::binary(BinaryOp::And, a, b)),
        }
    }
    /// The second is not asked about where the first does not hold.
    pub fn and_then(self, other: impl FnOnce() -> Answer) -> Answer {
        if self == Answer::Unknown { self } else { self.and(other()) }
    }
    /// One of them holds.
    pub fn or(self, other: Answer) -> Answer {
        match (self, other) {
            (Answer::Proved, _) | (_, Answer::Proved) => Answer::Proved,
            (Answer::Unknown, answer) | (answer, Answer::Unknown) => answer,
            (Answer::Under(a), Answer::Under(b)) if a == b => Answer::Under(a),
            (Answer::Under(a), Answer::Under(b)) => Answer::Under(Expr::binary(BinaryOp::Or, a, b)),
        }
    }
    /// The second is not asked about where the first is proved.
    pub fn or_else(self, other: impl FnOnce() -> Answer) -> Answer {
        if self == Answer::Proved { self } else { self.or(other()) }
    }
    pub fn if_proved(holds: bool) -> Answer {
        if holds { Answer::Proved } else { Answer::Unknown }
    }
}

/// `all` is a conjunction with `one` in it.
fn has_operand(all: &Expr, one: &Expr) -> bool {
    all == one || matches!(all, Expr::Binary(BinaryOp::And, a, b) if has_operand(a, one) || has_operand(b, one))
}

/// What is known of symbols: each of these numbers is ≥ 0.
#[derive(Clone, Debug)]
pub struct Facts {
    known: Vec<Rc<Whole>>,
    /// The rounds of [`witness`] that the facts admit, as bits.
    witnesses: u64,
    asked: Asked,
}

/// What was asked before; of other facts it says nothing.
#[derive(Debug, Default)]
struct Asked(RefCell<HashMap<Whole, bool>>);
impl Clone for Asked {
    fn clone(&self) -> Self {
        Asked::default()
    }
}

impl Default for Facts {
    fn default() -> Self {
        Facts { known: Vec::new(), witnesses: u64::MAX, asked: Asked::default() }
    }
}

/// A value to try. Most parameters are larger than most counters, and all are small.
fn witness(round: u32, symbol: Symbol) -> i128 {
    let (number, spread) = match symbol {
        Symbol::Var(Var::Param(id)) => (id.index() as u64, 1),
        Symbol::Var(Var::Counter(d)) => (u64::from(d) + 1000, 0),
        Symbol::Opaque(id) => (u64::from(id.number) + 2000, 0),
    };
    // Any numbers will do that are not the same for all symbols: a step of SplitMix64.
    let mut z = (u64::from(round) << 32 | number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let turn = i128::from((z >> 40) % 16);
    let size = i128::from(round / 4 % 8);
    match (spread, round % 4) {
        // All parameters alike; then a little apart; then anything, small or not.
        (1, 0) => size,
        (1, 1) => size + turn % 3,
        (1, 2) => turn - 2,
        (1, _) => turn * (size + 1),
        (_, 0) => 0,
        (_, 1) => turn % 2,
        (_, 2) => turn % (size + 1),
        (_, _) => turn * size / 8,
    }
}

impl Facts {
    pub fn new() -> Self {
        Self::default()
    }
    /// x ≥ 0
    pub fn know(&mut self, x: &Whole) {
        if x.as_constant().is_none() && !self.known.iter().any(|known| **known == *x) {
            self.known.push(Rc::new(x.clone()));
            self.asked = Asked::default();
            self.witnesses = self.admitted(x).filter(|(_, x)| *x >= 0).fold(0, |all, (round, _)| all | 1 << round);
        }
    }
    pub fn known(&self) -> impl Iterator<Item = &Whole> {
        self.known.iter().map(|x| &**x)
    }
    /// The rounds that the facts admit, with the value that x has there.
    fn admitted(&self, x: &Whole) -> impl Iterator<Item = (u32, i128)> {
        let rounds = (0..u64::BITS).filter(|round| self.witnesses >> round & 1 == 1);
        rounds.filter_map(|round| Some((round, x.at(&|symbol| Some(witness(round, symbol)))?)))
    }
    /// x is negative for some values that the facts admit; if not, nothing is known.
    pub fn refutes_not_negative(&self, x: &Whole) -> bool {
        match x.as_constant() {
            Some(c) => c < 0,
            None => self.admitted(x).any(|(_, x)| x < 0),
        }
    }
    /// low ≤ x
    pub fn at_least(&mut self, x: &Whole, low: i128) {
        if let Some(Ok(x)) = low.checked_neg().map(|by| x.plus(by)) {
            self.know(&x);
        }
    }
    /// x ≤ high
    pub fn at_most(&mut self, x: &Whole, high: i128) {
        if let Ok(x) = x.neg().and_then(|x| x.plus(high)) {
            self.know(&x);
        }
    }
    pub fn and(&self, also: &[&Whole]) -> Facts {
        let mut facts = self.clone();
        also.iter().for_each(|x| facts.know(x));
        facts
    }
    /// 0 ≤ counter ≤ last
    pub fn and_counter(&self, counter: Symbol, last: &Whole) -> Facts {
        let counter = Whole::symbol(counter);
        match last.sub(&counter) {
            Ok(rest) => self.and(&[&counter, &rest]),
            Err(TooLarge) => self.and(&[&counter]),
        }
    }

    pub fn proves_not_negative(&self, x: &Whole) -> bool {
        if let Some(c) = x.as_constant() {
            return c >= 0;
        }
        // Where it is not so for some values, no proof need be looked for.
        if self.refutes_not_negative(x) {
            return false;
        }
        if let Some(known) = self.asked.0.borrow().get(x) {
            return *known;
        }
        let steps = Cell::new(MAX_STEPS);
        let proved = Search::of(&self.known, &steps).proves(&numerator(x)).unwrap_or(false);
        self.asked.0.borrow_mut().insert(x.clone(), proved);
        proved
    }

    /// x ≥ 0
    pub fn not_negative(&self, x: &Whole) -> Answer {
        if self.proves_not_negative(x) {
            return Answer::Proved;
        }
        if x.as_constant().is_some() || self.is_negative(x) {
            return Answer::Unknown;
        }
        if x.is_fixed() {
            return x.not_negative_expr().map_or(Answer::Unknown, Answer::Under);
        }
        let steps = Cell::new(MAX_STEPS);
        let search = Search::of(&self.known, &steps);
        let mut fixed = Vec::new();
        if search.weaken(&numerator(x), &mut fixed).is_none() || fixed.len() > MAX_CONDITIONS {
            return Answer::Unknown;
        }
        let mut answer = Answer::Proved;
        for x in fixed {
            if self.proves_not_negative(&x) {
                continue;
            }
            let condition = if self.is_negative(&x) { None } else { x.not_negative_expr() };
            answer = answer.and(condition.map_or(Answer::Unknown, Answer::Under));
        }
        answer
    }
    pub fn is_negative(&self, x: &Whole) -> bool {
        x.neg().and_then(|x| x.plus(-1)).is_ok_and(|x| self.proves_not_negative(&x))
    }
    /// a ≤ b
    pub fn at_most_as(&self, a: &Whole, b: &Whole) -> Answer {
        b.sub(a).map_or(Answer::Unknown, |x| self.not_negative(&x))
    }
    /// a < b
    pub fn less(&self, a: &Whole, b: &Whole) -> Answer {
        b.sub(a).and_then(|x| x.plus(-1)).map_or(Answer::Unknown, |x| self.not_negative(&x))
    }
    pub fn proves_less(&self, a: &Whole, b: &Whole) -> bool {
        b.sub(a).and_then(|x| x.plus(-1)).is_ok_and(|x| self.proves_not_negative(&x))
    }
    pub fn equal(&self, a: &Whole, b: &Whole) -> Answer {
        if a == b {
            return Answer::Proved;
        }
        let (Ok(x), Ok(y)) = (a.sub(b), b.sub(a)) else { return Answer::Unknown };
        if x.as_constant().is_some() {
            return Answer::Unknown;
        }
        self.not_negative(&x).and_then(|| self.not_negative(&y))
    }
    /// A bound of the symbol at which x is at least what it is at any of its values; `None` if none is known.
    pub fn extreme_at(&self, x: &Whole, symbol: Symbol) -> Option<Whole> {
        let atom = Atom::Symbol(symbol);
        let difference = x.difference(symbol).ok()?;
        let falls = difference.neg().ok()?;
        // Between the bound and the symbol nothing else need hold that is said of the symbol.
        let known = |bound: &Whole, way: i128| {
            let holds = |fact: &&Rc<Whole>| match linear_in(fact, &atom) {
                Some((c, _)) => ***fact == *bound || c.signum() == way,
                None => !fact.has(symbol),
            };
            let mut facts = Facts::new();
            self.known.iter().filter(holds).for_each(|fact| facts.know(fact));
            facts
        };
        self.known.iter().find_map(|fact| {
            let (c, rest) = linear_in(fact, &atom)?;
            match c {
                // symbol ≤ rest: the next value must not be beyond it.
                -1 if known(fact, 1).and(&[&fact.plus(-1).ok()?]).proves_not_negative(&difference) => Some(rest),
                1 if known(fact, -1)
                    .and(&[&fact.plus(-1).ok()?])
                    .proves_not_negative(&falls.with(symbol, &Whole::symbol(symbol).plus(-1).ok()?).ok()?) =>
                {
                    rest.neg().ok()
                }
                _ => None,
            }
        })
    }

    /// max(a, b), as one of them if it is known which.
    pub fn max(&self, a: &Whole, b: &Whole) -> Result<Whole, TooLarge> {
        let difference = a.sub(b)?;
        if self.proves_not_negative(&difference) {
            Ok(a.clone())
        } else if self.proves_not_negative(&difference.neg()?) {
            Ok(b.clone())
        } else {
            a.maximum(b)
        }
    }
    pub fn min(&self, a: &Whole, b: &Whole) -> Result<Whole, TooLarge> {
        let difference = a.sub(b)?;
        if self.proves_not_negative(&difference) {
            Ok(b.clone())
        } else if self.proves_not_negative(&difference.neg()?) {
            Ok(a.clone())
        } else {
            a.minimum(b)
        }
    }
}

/// The sign of a number is that of its numerator.
pub(super) fn numerator(x: &Whole) -> Whole {
    Whole::quotient(x.over().clone(), 1).unwrap_or_else(|TooLarge| x.clone())
}
