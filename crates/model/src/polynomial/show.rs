//! Wide polynomials as text, as expressions of the check, and what is between the two.

use super::atom::{Atom, Sign, Symbol};
use super::{Product, Sum, Var, Whole};
use crate::loop_ast::{BinaryOp, Expr};
use std::cmp::Reverse;
use std::fmt;

impl Whole {
    /// As a person writes it, with names for the symbols.
    pub fn show(&self, name: &dyn Fn(Symbol) -> String) -> String {
        let halves = self.by().trailing_zeros();
        // Where nothing but powers of two is halved, their exponents say so.
        let in_exponents = self.by().count_ones() == 1 && self.over().terms().all(|(p, _)| has_power(p));
        let text = show_sum(self.over(), if in_exponents { halves } else { 0 }, name);
        match self.by() {
            1 => text,
            _ if in_exponents => text,
            by if self.over().terms().count() == 1 => format!("{text}/{by}"),
            by => format!("({text})/{by}"),
        }
    }

    /// In the arithmetic of the check; `None` if it speaks of more than parameters.
    pub fn to_expr(&self) -> Option<Expr> {
        let over = sum_to_expr(self.over())?;
        Some(match self.by() {
            1 => over,
            by => Expr::binary(BinaryOp::FloorDiv, over, Expr::Int(by)),
        })
    }

    /// `self ≥ 0` as a term of the check; `None` if it speaks of more than parameters.
    pub fn not_negative_expr(&self) -> Option<Expr> {
        // The divisor is positive, and what is on both sides of ≥ need not be subtracted.
        let (mut left, mut right) = (Sum::zero(), Sum::zero());
        for (product, c) in self.over().terms() {
            let side = if c > 0 { &mut left } else { &mut right };
            side.accumulate(product.clone(), c.checked_abs()?).ok()?;
        }
        Some(Expr::binary(BinaryOp::Ge, sum_to_expr(&left)?, sum_to_expr(&right)?))
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&|symbol| symbol.to_string()))
    }
}

fn has_power(product: &Product<Atom>) -> bool {
    product.factors().iter().any(|(atom, _)| matches!(atom, Atom::Power(..)))
}

/// The exponent of 2 in the product, without a constant: pairs of times and symbol.
fn exponent(product: &Product<Atom>) -> Vec<(i128, Symbol)> {
    let factors = product.factors().iter();
    let of_factor = |(atom, times): &(Atom, u32)| match atom {
        Atom::Power(symbol, Sign::Plus) => Some((i128::from(*times), *symbol)),
        Atom::Power(symbol, Sign::Minus) => Some((-i128::from(*times), *symbol)),
        _ => None,
    };
    factors.filter_map(of_factor).collect()
}

fn show_sum(sum: &Sum<Atom>, halves: u32, name: &dyn Fn(Symbol) -> String) -> String {
    let mut terms: Vec<(&Product<Atom>, i128)> = sum.terms().collect();
    // Powers before others, and what is added before what is subtracted.
    terms.sort_by_key(|(product, c)| (Reverse(product.degree()), *c < 0, (*product).clone()));
    let mut text = String::new();
    for (product, c) in terms {
        text += match (text.is_empty(), c < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let mut factors: Vec<String> = Vec::new();
        let mut number = c.unsigned_abs();
        let mut power = None;
        if has_power(product) {
            let twos = number.trailing_zeros();
            number >>= twos;
            let mut sum: Sum<Symbol> = Sum::constant(i128::from(twos) - i128::from(halves));
            let terms = exponent(product);
            terms.into_iter().for_each(|(times, symbol)| {
                let _ = sum.accumulate(Product::var(symbol), times);
            });
            let shown = sum.show(&|symbol| name(symbol));
            power = Some(if sum.terms().count() == 1 && !shown.starts_with('-') && !shown.contains('*') {
                format!("2^{shown}")
            } else {
                format!("2^({shown})")
            });
        }
        for (atom, times) in product.factors() {
            let shown = match atom {
                Atom::Symbol(symbol) => name(*symbol),
                Atom::Power(..) => continue,
                Atom::Floor(inner, n) => format!("floor(({})/{n})", inner.show(name)),
                Atom::Positive(inner) => format!("max(0, {})", inner.show(name)),
            };
            factors.extend((0..*times).map(|_| shown.clone()));
        }
        factors.extend(power);
        if number != 1 || factors.is_empty() {
            factors.insert(0, number.to_string());
        }
        text += &factors.join("*");
    }
    if text.is_empty() { "0".into() } else { text }
}

fn symbol_to_expr(symbol: Symbol) -> Option<Expr> {
    match symbol {
        Symbol::Var(Var::Param(id)) => Some(Expr::Param(id)),
        Symbol::Var(Var::Counter(_)) | Symbol::Opaque(_) => None,
    }
}

fn sum_to_expr(sum: &Sum<Atom>) -> Option<Expr> {
    let mut total: Option<Expr> = None;
    for (product, c) in sum.terms() {
        let mut factors: Vec<Expr> = Vec::new();
        let exponents = exponent(product);
        if !exponents.is_empty() {
            let mut exponent: Option<Expr> = None;
            for (times, symbol) in exponents {
                let symbol = symbol_to_expr(symbol)?;
                let term = times_expr(times.checked_abs()?, symbol);
                exponent = Some(plus_expr(exponent, term, times < 0));
            }
            factors.push(Expr::binary(BinaryOp::Power, Expr::Int(2), exponent?));
        }
        for (atom, times) in product.factors() {
            let factor = match atom {
                Atom::Symbol(symbol) => symbol_to_expr(*symbol)?,
                Atom::Power(..) => continue,
                Atom::Floor(inner, n) => Expr::binary(BinaryOp::FloorDiv, inner.to_expr()?, Expr::Int(*n)),
                Atom::Positive(inner) => Expr::binary(BinaryOp::Max, inner.to_expr()?, Expr::Int(0)),
            };
            factors.extend((0..*times).map(|_| factor.clone()));
        }
        let product = factors.into_iter().reduce(|product, factor| Expr::binary(BinaryOp::Mul, product, factor));
        let term = product.map_or(Expr::Int(c.checked_abs()?), |product| times_expr(c.unsigned_abs() as i128, product));
        total = Some(plus_expr(total, term, c < 0));
    }
    Some(total.unwrap_or(Expr::Int(0)))
}

fn times_expr(times: i128, e: Expr) -> Expr {
    if times == 1 { e } else { Expr::binary(BinaryOp::Mul, Expr::Int(times), e) }
}

fn plus_expr(sum: Option<Expr>, term: Expr, negative: bool) -> Expr {
    match (sum, negative) {
        (None, false) => term,
        (None, true) => Expr::Neg(Box::new(term)),
        (Some(sum), false) => Expr::binary(BinaryOp::Add, sum, term),
        (Some(sum), true) => Expr::binary(BinaryOp::Sub, sum, term),
    }
}
