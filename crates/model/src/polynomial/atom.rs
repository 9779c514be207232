//! What wide polynomials are made of: symbols, and what is no polynomial in them.

use super::{Var, Whole};
use crate::scop::ParamId;
use std::fmt;
use std::sync::Arc;

/// An integer of which nobody knows more than what is said of it beside: loaded in an iteration, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpaqueId {
    /// The counter of the innermost loop of which an iteration has its own value.
    pub counter: u32,
    pub number: u32,
}

/// An integer that is not computed from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    Var(Var),
    Opaque(OpaqueId),
}

impl Symbol {
    pub fn counter(d: usize) -> Symbol {
        Symbol::Var(Var::Counter(d as u32))
    }
    pub fn param(id: ParamId) -> Symbol {
        Symbol::Var(Var::Param(id))
    }
    pub fn is_param(self) -> bool {
        matches!(self, Symbol::Var(Var::Param(_)))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Var(var) => var.fmt(f),
            Symbol::Opaque(id) => write!(f, "v{}", id.number),
        }
    }
}

/// A factor of a product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Symbol(Symbol),
    /// 2^symbol, or 2^−symbol; a product never has both of one symbol.
    Power(Symbol, Sign),
    /// ⌊x / n⌋, n > 1.
    Floor(Arc<Whole>, i128),
    /// max(x, 0); the leading coefficient of x is positive.
    Positive(Arc<Whole>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    Plus,
    Minus,
}

impl Atom {
    /// Calls `visit` for each symbol in it.
    pub(super) fn for_each_symbol(&self, visit: &mut impl FnMut(Symbol)) {
        match self {
            Atom::Symbol(symbol) | Atom::Power(symbol, _) => visit(*symbol),
            Atom::Floor(inner, _) | Atom::Positive(inner) => inner.for_each_symbol(visit),
        }
    }
    /// It is made of others, and is no power.
    pub(super) fn is_compound(&self) -> bool {
        matches!(self, Atom::Floor(..) | Atom::Positive(_))
    }
}
