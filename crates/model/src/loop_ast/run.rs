//! Interpreting expressions and trees with concrete parameters: the definition of what they mean.

use super::{BinaryOp, Counter, Expr, For, Node, OwnCell, PrivateScalar};
use crate::delicm::Element;
use crate::scop::{ArrayId, StatementId, ValueId};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Whether loops that claim to be coincident run forwards or backwards: the claim says that it makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forwards,
    CoincidentBackwards,
}

impl Expr {
    /// `None` where a value does not fit 128 bits, a divisor is not positive, a promise of an operator
    /// (exact, non-negative) is broken, or a variable is unknown.
    pub fn evaluate(&self, params: &[i128], counters: &HashMap<Counter, i128>) -> Option<i128> {
        match self {
            Expr::Int(v) => Some(*v),
            Expr::Param(p) => params.get(p.index()).copied(),
            Expr::Counter(c) => counters.get(c).copied(),
            Expr::Neg(e) => e.evaluate(params, counters)?.checked_neg(),
            // isl may put a division by zero or a broken promise behind a guard, so laziness is part of the meaning here.
            Expr::Binary(BinaryOp::And, l, r) => match l.evaluate(params, counters)? {
                0 => Some(0),
                _ => r.evaluate(params, counters),
            },
            Expr::Binary(BinaryOp::Or, l, r) => match l.evaluate(params, counters)? {
                0 => r.evaluate(params, counters),
                _ => Some(1),
            },
            Expr::Binary(op, l, r) => apply(*op, l.evaluate(params, counters)?, r.evaluate(params, counters)?),
            Expr::Select { condition, then, otherwise } => match condition.evaluate(params, counters)? {
                0 => otherwise.evaluate(params, counters),
                _ => then.evaluate(params, counters),
            },
        }
    }
}

fn apply(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    use BinaryOp::*;
    let divisor_is_fine = b > 0;
    match op {
        Add => a.checked_add(b),
        Sub => a.checked_sub(b),
        Mul => a.checked_mul(b),
        FloorDiv => divisor_is_fine.then(|| a.div_euclid(b)),
        ExactDiv => (divisor_is_fine && a % b == 0).then(|| a / b),
        NonNegDiv => (divisor_is_fine && a >= 0).then(|| a / b),
        NonNegRem => (divisor_is_fine && a >= 0).then(|| a % b),
        ZeroTestRem => divisor_is_fine.then(|| a % b),
        Power => a.checked_pow(u32::try_from(b).ok()?),
        Min => Some(a.min(b)),
        Max => Some(a.max(b)),
        Eq => Some(i128::from(a == b)),
        Lt => Some(i128::from(a < b)),
        Le => Some(i128::from(a <= b)),
        Gt => Some(i128::from(a > b)),
        Ge => Some(i128::from(a >= b)),
        And => Some(i128::from(a != 0 && b != 0)),
        Or => Some(i128::from(a != 0 || b != 0)),
    }
}

/// The tree asked for something that has no meaning at these parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaningless {
    pub what: String,
}

fn own_cell(
    own: &OwnCell,
    value: &impl Fn(&Expr) -> Result<i128, Meaningless>,
) -> Result<(ArrayId, i128), Meaningless> {
    let number = value(&own.number)?;
    match (0..i128::from(own.cells)).contains(&number) {
        true => Ok((own.temporary, number)),
        false => Err(Meaningless { what: format!("cell {number} of {}, which has {}", own.temporary, own.cells) }),
    }
}

/// What a tree does, step by step.
#[derive(Clone, Debug)]
pub enum Ran<'n> {
    Instance {
        statement: StatementId,
        at: Vec<i128>,
        /// Loads that find their values in a cell of a temporary.
        found: Vec<(ValueId, (ArrayId, i128))>,
        /// Scalars of which it uses one of several.
        private: Vec<(ArrayId, i128)>,
    },
    /// A loop in which something stays as it is begins, or has ended.
    Enters(&'n For),
    Leaves,
    /// A cell of a temporary gets what is in an element.
    Copy {
        from: &'n Element,
        at: Vec<i128>,
        into: (ArrayId, i128),
    },
}

impl Node {
    /// Visits the statement instances in execution order until `visit` breaks, or until the loops have gone round `most` times:
    /// they may do so without any instance.
    pub fn run<'n>(
        &'n self,
        params: &[i128],
        direction: Direction,
        most: u64,
        visit: &mut impl FnMut(Ran<'n>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Meaningless> {
        run(self, params, &mut HashMap::new(), direction, &mut { most }, visit)
    }
}

fn run<'n>(
    node: &'n Node,
    params: &[i128],
    counters: &mut HashMap<Counter, i128>,
    direction: Direction,
    left: &mut u64,
    visit: &mut impl FnMut(Ran<'n>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Meaningless> {
    let value = |e: &Expr, counters: &HashMap<Counter, i128>| {
        e.evaluate(params, counters)
            .ok_or_else(|| Meaningless { what: format!("{e:?} with {params:?} and {counters:?}") })
    };
    match node {
        Node::Block(children) | Node::Jammed { points: children, .. } => {
            for child in children {
                if run(child, params, counters, direction, left, visit)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Node::For(f) => {
            let (first, last, step) = (value(&f.first, counters)?, value(&f.last, counters)?, i128::from(f.step));
            if first > last {
                return Ok(ControlFlow::Continue(()));
            }
            let trips = (last - first) / step + 1;
            if !f.untouched.is_empty() && visit(Ran::Enters(f)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for k in 0..trips {
                if *left == 0 {
                    return Ok(ControlFlow::Break(()));
                }
                *left -= 1;
                let backwards = f.role.is_independent() && direction == Direction::CoincidentBackwards;
                let k = if backwards { trips - 1 - k } else { k };
                counters.insert(f.counter, first + k * step);
                if run(&f.body, params, counters, direction, left, visit)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if !f.untouched.is_empty() {
                return Ok(visit(Ran::Leaves));
            }
        }
        Node::If { condition, then, otherwise } => {
            let taken = if value(condition, counters)? != 0 { Some(then) } else { otherwise.as_ref() };
            if let Some(child) = taken {
                return run(child, params, counters, direction, left, visit);
            }
        }
        // What the data say is not known here; both ways are seen in turn.
        Node::IfHold { when, then, otherwise, .. } => {
            let holds = value(when, counters)? != 0 && direction == Direction::Forwards;
            return run(if holds { then } else { otherwise }, params, counters, direction, left, visit);
        }
        Node::Call { statement, coordinates, found, private } => {
            let at = coordinates.iter().map(|c| value(c, counters)).collect::<Result<Vec<_>, _>>()?;
            let found = found.iter().map(|(load, own)| Ok((*load, own_cell(own, &|e| value(e, counters))?)));
            let found = found.collect::<Result<_, _>>()?;
            let mut own = Vec::new();
            for PrivateScalar { scalar, number, of } in private {
                let number = value(number, counters)?;
                if !(0..i128::from(*of)).contains(&number) {
                    return Err(Meaningless { what: format!("{scalar} of iteration {number}, of {of}") });
                }
                own.push((*scalar, number));
            }
            return Ok(visit(Ran::Instance { statement: *statement, at, found, private: own }));
        }
        Node::Copy { from, coordinates, into, .. } => {
            let at = coordinates.iter().map(|c| value(c, counters)).collect::<Result<Vec<_>, _>>()?;
            return Ok(visit(Ran::Copy { from, at, into: own_cell(into, &|e| value(e, counters))? }));
        }
    }
    Ok(ControlFlow::Continue(()))
}
