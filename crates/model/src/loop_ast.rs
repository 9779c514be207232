//! Loops, guards and statement calls in execution order: the isl AST as plain owned Rust data, and nothing isl left in it.
//!
//! All arithmetic is in ℤ. Whoever turns an [`Expr`] into machine arithmetic proves that it fits (see [`Expr::interval`]).

use crate::scop::{ParamId, StatementId};

/// A loop counter of the generated code; unique in one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counter(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Block(Vec<Node>),
    For(Box<For>),
    If {
        condition: Expr,
        then: Box<Node>,
        otherwise: Option<Box<Node>>,
    },
    /// One instance of a statement; `coordinates[d]` is its d-th iteration count.
    Call {
        statement: StatementId,
        coordinates: Vec<Expr>,
    },
}

/// `for (counter = first; counter <= last; counter += step) body`, step > 0. Zero-trip when first > last.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    pub counter: Counter,
    pub first: Expr,
    /// Inclusive.
    pub last: Expr,
    pub step: i64,
    pub body: Node,
    /// No dependence is carried: iterations may run in any order or at once.
    pub coincident: bool,
    /// To be distributed over threads (implies `coincident`, and that no enclosing loop is).
    pub parallel: bool,
    /// Innermost, coincident and mostly stride-one: meant for the vectorizer.
    pub vector: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Division towards −∞ by a positive divisor.
    FloorDiv,
    /// Division known to be exact.
    ExactDiv,
    /// Division of a dividend known to be ≥ 0 by a positive divisor.
    NonNegDiv,
    /// Remainder of a dividend known to be ≥ 0 by a positive divisor.
    NonNegRem,
    /// Remainder of which only "is it zero" is used.
    ZeroTestRem,
    Min,
    Max,
    // Boolean results
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
    /// Short-circuit or not: operands are total here, so both are the same.
    And,
    Or,
}

/// Integers, or booleans (0/1) where a comparison stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Int(i128),
    Param(ParamId),
    Counter(Counter),
    Neg(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Select { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
}
