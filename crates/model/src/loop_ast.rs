//! Loops, guards and statement calls in execution order: the isl AST as plain owned Rust data, and nothing isl left in it.
//!
//! All arithmetic is in ℤ. Whoever turns an [`Expr`] into machine arithmetic proves that it fits (see [`Expr::interval`]).

mod direct;
mod fits;
mod generate;
mod jam;
mod order;
mod run;
mod sets;
mod show;
mod untouched;

pub use fits::{Fits, Ranges, fits_i64, interval_of};
pub use generate::{AST, AstError, AstOptions, expr_from_pw_aff, expr_from_set, generate};
pub use jam::{own_scalars, write_out};
pub use run::{Direction, Meaningless, Ran};
pub use show::Spelling;
pub(crate) use untouched::note_untouched;
pub use untouched::{Untouched, calls_of};

use crate::delicm::Element;
use crate::scop::{ArrayId, CopyId, ParamId, StatementId, ValueId};
use crate::transform::Points;
use std::collections::BTreeMap;

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
    /// Where `when` is true and the predicates of all these calls hold, `then`, else `otherwise`: the same instances either way.
    IfHold {
        when: Expr,
        calls: Vec<Node>,
        /// The loop in `then` that runs these calls, and need not ask again.
        asked_for: Counter,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
    /// Iterations of loops that run side by side, written out, in their order.
    Jammed {
        points: Vec<Node>,
        apart: Vec<Apart>,
    },
    /// One instance of a statement; `coordinates[d]` is its d-th iteration count.
    Call {
        statement: StatementId,
        coordinates: Vec<Expr>,
        /// Loads that are not done: their values are in memory of our own.
        found: Vec<(ValueId, OwnCell)>,
        /// The scalars that it shares with its own iteration only, of those that run side by side.
        private: Vec<PrivateScalar>,
    },
    /// `into = from`.
    Copy {
        copy: CopyId,
        /// The values of the tree's loops around it.
        around: Vec<Expr>,
        from: Element,
        /// The counters of the element's offset.
        coordinates: Vec<Expr>,
        into: OwnCell,
        /// The loads that the copy stands for.
        loads: Vec<ValueId>,
    },
}

/// Points of different classes touch no cell of the array together, if one of them writes there, whatever the iterations of the loops
/// around.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    pub array: ArrayId,
    /// Of each point, counted from 0.
    pub classes: Vec<usize>,
}

/// One of as many scalars as there are iterations side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateScalar {
    pub scalar: ArrayId,
    pub number: Expr,
    pub of: i64,
}

/// A cell of a temporary, from its first one on.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCell {
    pub temporary: ArrayId,
    pub number: Expr,
    /// How many cells there are, and how large each is.
    pub cells: i64,
    pub bytes: u64,
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
    pub role: LoopRole,
    /// Of an innermost loop, as far as it was looked for.
    pub untouched: Vec<Untouched>,
}

/// What is known of the iterations of a loop, and what is to become of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopRole {
    /// They run one after the other.
    #[default]
    InOrder,
    /// They run one after the other, and are few: not all of those that were to be written out exist.
    Few,
    /// No dependence is carried: they may run in any order or at once.
    Independent,
    /// There are so many at most, from 0 on, to be written out where there are as many.
    Jammed { points: Points },
    /// Independent, innermost and mostly stride-one: meant for the vectorizer.
    Vectors,
    /// Independent, and distributed over threads; no loop around is. The share of each thread may be meant for the vectorizer.
    Threads { vectors: bool },
}

impl LoopRole {
    pub fn is_independent(self) -> bool {
        !matches!(self, LoopRole::InOrder | LoopRole::Few | LoopRole::Jammed { .. })
    }
    fn is_jammed(self) -> bool {
        matches!(self, LoopRole::Jammed { .. })
    }
    pub fn is_for_threads(self) -> bool {
        matches!(self, LoopRole::Threads { .. })
    }
    pub fn is_for_vectors(self) -> bool {
        matches!(self, LoopRole::Vectors | LoopRole::Threads { vectors: true })
    }
    /// What it is with one iteration.
    fn alone(self) -> LoopRole {
        match self {
            // Which of the iterations side by side it is tells whose scalars these are.
            LoopRole::Jammed { .. } => self,
            _ if self.is_independent() => LoopRole::Independent,
            _ => LoopRole::InOrder,
        }
    }
    /// What it is inside of a loop whose iterations have a thread each.
    fn in_thread(self) -> LoopRole {
        match self {
            LoopRole::Threads { vectors: true } => LoopRole::Vectors,
            LoopRole::Threads { vectors: false } => LoopRole::Independent,
            role => role,
        }
    }
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
    /// The left operand to the power of the right one. There is no value where the exponent is negative.
    Power,
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

impl Expr {
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }
    pub fn truth(value: bool) -> Expr {
        Expr::Int(i128::from(value))
    }
    /// The constant this is, if it is one literally.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Expr::Int(v) => Some(*v),
            _ => None,
        }
    }
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Expr::Int(_) | Expr::Param(_) | Expr::Counter(_) => Vec::new(),
            Expr::Neg(e) => vec![e],
            Expr::Binary(_, l, r) => vec![l, r],
            Expr::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }
    /// With other values for some counters and parameters.
    fn replaced(&self, value: &impl Fn(&Expr) -> Option<Expr>) -> Expr {
        let inner = |e: &Expr| Box::new(e.replaced(value));
        match self {
            Expr::Int(_) => self.clone(),
            Expr::Param(_) | Expr::Counter(_) => value(self).unwrap_or_else(|| self.clone()),
            Expr::Neg(e) => Expr::Neg(inner(e)),
            Expr::Binary(op, l, r) => match (op, *inner(l), *inner(r)) {
                (BinaryOp::Add | BinaryOp::Sub, left, Expr::Int(0)) => left,
                (BinaryOp::Add, Expr::Int(0), right) => right,
                (op, left, right) => {
                    let known = match (op, left.as_int(), right.as_int()) {
                        (BinaryOp::Add, Some(l), Some(r)) => l.checked_add(r),
                        (BinaryOp::Sub, Some(l), Some(r)) => l.checked_sub(r),
                        (BinaryOp::Mul, Some(l), Some(r)) => l.checked_mul(r),
                        _ => None,
                    };
                    known.map_or_else(|| Expr::binary(*op, left, right), Expr::Int)
                }
            },
            Expr::Select { condition, then, otherwise } => {
                Expr::Select { condition: inner(condition), then: inner(then), otherwise: inner(otherwise) }
            }
        }
    }
    /// This expression and all below it, operands after their users.
    pub fn for_each(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        self.operands().into_iter().for_each(|e| e.for_each(visit));
    }
    /// How many operations its evaluation takes at most.
    pub fn cost(&self) -> usize {
        let mut operations = 0;
        self.for_each(&mut |e| operations += usize::from(!e.operands().is_empty()));
        operations
    }
}

impl Node {
    /// The nodes directly in this one.
    pub fn parts(&self) -> Vec<&Node> {
        match self {
            Node::Block(children) | Node::Jammed { points: children, .. } => children.iter().collect(),
            Node::For(f) => vec![&f.body],
            Node::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).map(|part| &**part).collect(),
            Node::IfHold { then, otherwise, .. } => vec![then, otherwise],
            Node::Call { .. } | Node::Copy { .. } => Vec::new(),
        }
    }
    /// With others in their places.
    fn with_parts(self, change: &mut impl FnMut(Node) -> Node) -> Node {
        match self {
            Node::Block(children) => Node::Block(children.into_iter().map(change).collect()),
            Node::Jammed { points, apart } => Node::Jammed { points: points.into_iter().map(change).collect(), apart },
            Node::For(mut f) => {
                f.body = change(f.body);
                Node::For(f)
            }
            Node::If { condition, then, otherwise } => {
                let then = Box::new(change(*then));
                Node::If { condition, then, otherwise: otherwise.map(|other| Box::new(change(*other))) }
            }
            Node::IfHold { when, calls, asked_for, then, otherwise } => {
                let (then, otherwise) = (Box::new(change(*then)), Box::new(change(*otherwise)));
                Node::IfHold { when, calls, asked_for, then, otherwise }
            }
            Node::Call { .. } | Node::Copy { .. } => self,
        }
    }
    /// It and everything in it, in the order of the text.
    pub fn for_each(&self, visit: &mut impl FnMut(&Node)) {
        visit(self);
        self.parts().into_iter().for_each(|part| part.for_each(visit));
    }
    /// The scalars that iterations side by side have for themselves, and how many there are of each.
    pub fn private_scalars(&self) -> BTreeMap<ArrayId, i64> {
        let mut all = BTreeMap::new();
        self.for_each(&mut |node| {
            if let Node::Call { private, .. } = node {
                all.extend(private.iter().map(|p| (p.scalar, p.of)));
            }
        });
        all
    }
    /// Every expression that is evaluated: bounds, guards, coordinates, cells.
    pub fn for_each_expr(&self, visit: &mut impl FnMut(&Expr)) {
        self.for_each(&mut |node| match node {
            Node::Block(_) | Node::Jammed { .. } => {}
            Node::For(f) => [&f.first, &f.last].into_iter().for_each(&mut *visit),
            Node::If { condition, .. } => visit(condition),
            Node::IfHold { when, calls, .. } => {
                visit(when);
                calls.iter().for_each(|call| call.for_each_expr(visit));
            }
            Node::Call { coordinates, found, private, .. } => {
                let own = found.iter().map(|(_, own)| &own.number).chain(private.iter().map(|p| &p.number));
                coordinates.iter().chain(own).for_each(&mut *visit);
            }
            Node::Copy { coordinates, into, .. } => coordinates.iter().chain([&into.number]).for_each(&mut *visit),
        });
    }
    /// With other values for some counters and parameters, also where nothing is evaluated.
    fn replaced(self, value: &impl Fn(&Expr) -> Option<Expr>) -> Node {
        let replace = |e: &mut Expr| *e = e.replaced(value);
        let mut node = self.with_parts(&mut |part| part.replaced(value));
        match &mut node {
            Node::Block(_) | Node::Jammed { .. } => {}
            Node::For(f) => [&mut f.first, &mut f.last].into_iter().for_each(replace),
            Node::If { condition, .. } => replace(condition),
            Node::IfHold { when, calls, .. } => {
                replace(when);
                *calls = std::mem::take(calls).into_iter().map(|call| call.replaced(value)).collect();
            }
            Node::Call { coordinates, found, private, .. } => {
                let own = found.iter_mut().map(|(_, own)| &mut own.number);
                let own = own.chain(private.iter_mut().map(|p| &mut p.number));
                coordinates.iter_mut().chain(own).for_each(replace);
            }
            Node::Copy { around, coordinates, into, .. } => {
                around.iter_mut().chain(coordinates).chain([&mut into.number]).for_each(replace);
            }
        }
        node
    }
}
