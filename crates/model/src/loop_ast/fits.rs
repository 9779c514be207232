//! Which values an expression can take, and what must hold of the parameters for 64 bits to be enough.

use super::{BinaryOp, Counter, Expr, Node};
use crate::scop::{Param, ParamId};
use std::collections::{BTreeSet, HashMap};

/// Inclusive bounds of the variables of an expression.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    pub params: Vec<(i128, i128)>,
    pub counters: HashMap<Counter, (i128, i128)>,
}

impl Ranges {
    pub fn of_params(params: &[Param]) -> Ranges {
        Ranges { params: params.iter().map(|p| p.range).collect(), counters: HashMap::new() }
    }
}

/// Whether the generated arithmetic can be carried out in 64-bit signed integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Fits {
    Always,
    /// If all of these parameters are in −2^bits ..= 2^bits.
    Within {
        params: Vec<ParamId>,
        bits: u32,
    },
    /// Not even for small parameters.
    Never,
}

/// Smaller parameters than 2^this are not worth a special path.
const SMALLEST_USEFUL_BITS: u32 = 16;

/// Ensures: under the condition it returns, every subexpression of every bound, guard and coordinate of `node`, and every value
/// a counter takes (the one that ends its loop included), is a 64-bit signed integer.
pub fn fits_i64(node: &Node, params: &[Param]) -> Fits {
    let known = Ranges::of_params(params);
    if node_fits(node, &mut known.clone()) {
        return Fits::Always;
    }
    let mut used = BTreeSet::new();
    node.for_each_expr(&mut |e| {
        e.for_each(&mut |e| {
            if let Expr::Param(p) = e {
                used.insert(*p);
            }
        })
    });
    for bits in (SMALLEST_USEFUL_BITS..=62).rev() {
        let limit = 1i128 << bits;
        let wide = |p: &ParamId| known.params[p.index()].0 < -limit || known.params[p.index()].1 > limit;
        let wide: Vec<ParamId> = used.iter().copied().filter(wide).collect();
        let mut ranges = known.clone();
        for p in &wide {
            let range = &mut ranges.params[p.index()];
            *range = (range.0.max(-limit), range.1.min(limit));
        }
        if node_fits(node, &mut ranges) {
            return Fits::Within { params: wide, bits };
        }
    }
    Fits::Never
}

fn node_fits(node: &Node, ranges: &mut Ranges) -> bool {
    match node {
        Node::Block(children) | Node::Jammed { points: children, .. } => children.iter().all(|c| node_fits(c, ranges)),
        Node::For(f) => {
            let (Some(first), Some(last)) = (expr_fits(&f.first, ranges), expr_fits(&f.last, ranges)) else {
                return false;
            };
            // The counter starts at `first`; while the body runs it is at most `last`; one step later the loop ends.
            let end = last.1.max(first.1) + i128::from(f.step);
            if !is_i64((first.0, end)) {
                return false;
            }
            let inside = (first.0, last.1.max(first.0));
            ranges.counters.insert(f.counter, inside);
            node_fits(&f.body, ranges)
        }
        Node::If { condition, then, otherwise } => {
            expr_fits(condition, ranges).is_some()
                && node_fits(then, ranges)
                && otherwise.as_ref().is_none_or(|o| node_fits(o, ranges))
        }
        Node::IfHold { when, calls, then, otherwise, .. } => {
            let parts = calls.iter().chain([&**then, &**otherwise]);
            expr_fits(when, ranges).is_some() && parts.into_iter().all(|part| node_fits(part, ranges))
        }
        Node::Call { .. } | Node::Copy { .. } => {
            let mut all = true;
            node.for_each_expr(&mut |e| all &= expr_fits(e, ranges).is_some());
            all
        }
    }
}

/// The interval of an expression all of whose subexpressions fit.
fn expr_fits(expr: &Expr, ranges: &Ranges) -> Option<(i128, i128)> {
    let mut all = true;
    expr.for_each(&mut |e| all &= e.interval(ranges).is_some_and(is_i64));
    if all { expr.interval(ranges) } else { None }
}

fn is_i64((low, high): (i128, i128)) -> bool {
    i128::from(i64::MIN) <= low && high <= i128::from(i64::MAX)
}

impl Expr {
    /// Bounds of the values of this expression, not necessarily tight; `None` where 128 bits do not hold them.
    ///
    /// Requires: every variable of the expression is in `ranges`, else `None`.
    pub fn interval(&self, ranges: &Ranges) -> Option<(i128, i128)> {
        match self {
            Expr::Int(v) => Some((*v, *v)),
            Expr::Param(p) => ranges.params.get(p.index()).copied(),
            Expr::Counter(c) => ranges.counters.get(c).copied(),
            Expr::Neg(e) => {
                let (low, high) = e.interval(ranges)?;
                Some((high.checked_neg()?, low.checked_neg()?))
            }
            Expr::Binary(op, left, right) => interval_of(*op, left.interval(ranges)?, right.interval(ranges)?),
            Expr::Select { condition, then, otherwise } => {
                condition.interval(ranges)?;
                let (a, b) = (then.interval(ranges)?, otherwise.interval(ranges)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }
}

/// Bounds of what the operation gives for operands in the intervals; `None` where 128 bits do not hold them.
pub fn interval_of(op: BinaryOp, a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    use BinaryOp::*;
    match op {
        Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        Mul => {
            // A bilinear function takes its extremes at the corners.
            let corners = [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        FloorDiv | ExactDiv | NonNegDiv => {
            // Monotone in the dividend; in the divisor monotone on either side of a dividend of 0, so the corners do again.
            (b.0 > 0).then_some(())?;
            let corners = [a.0.div_euclid(b.0), a.0.div_euclid(b.1), a.1.div_euclid(b.0), a.1.div_euclid(b.1)];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        NonNegRem => {
            (b.0 > 0).then_some(())?;
            Some((0, (b.1 - 1).min(a.1.max(0))))
        }
        ZeroTestRem => {
            (b.0 > 0).then_some(())?;
            Some((1 - b.1, b.1 - 1))
        }
        Power => {
            // Monotone in both where the base is positive; elsewhere nobody asks.
            (a.0 > 0 && b.0 >= 0).then_some(())?;
            let power = |base: i128, exponent: i128| base.checked_pow(u32::try_from(exponent).ok()?);
            Some((power(a.0, b.0)?, power(a.1, b.1)?))
        }
        Min => Some((a.0.min(b.0), a.1.min(b.1))),
        Max => Some((a.0.max(b.0), a.1.max(b.1))),
        Eq | Lt | Le | Gt | Ge | And | Or => Some((0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{For, LoopRole, Node};
    use super::*;
    use crate::scop::StatementId;
    use BinaryOp::*;

    fn p(n: u32) -> Expr {
        Expr::Param(ParamId(n))
    }
    fn of(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b)
    }
    fn param(range: (i128, i128)) -> Param {
        Param { name: "n".into(), value: crate::scop::ValueId(0), bits: 64, unsigned: false, range }
    }
    fn nest(last: Expr, step: i64) -> Node {
        let c = Counter(0);
        let body = Node::Call {
            statement: StatementId(0),
            coordinates: vec![Expr::Counter(c)],
            found: vec![],
            private: vec![],
        };
        Node::For(Box::new(For {
            counter: c,
            first: Expr::Int(0),
            last,
            step,
            body,
            role: LoopRole::InOrder,
            untouched: Vec::new(),
        }))
    }

    /// Every operation's interval holds every result of a brute-force walk over small operands.
    #[test]
    fn intervals_hold_all_results() {
        for op in
            [Add, Sub, Mul, FloorDiv, ExactDiv, NonNegDiv, NonNegRem, ZeroTestRem, Power, Min, Max, Eq, Lt, Le, Gt, Ge]
        {
            for (low, high) in [(-7i128, 9i128), (0, 4), (-5, -2), (3, 3)] {
                for (dlow, dhigh) in [(1i128, 4i128), (3, 3), (-3, 5)] {
                    let ranges = Ranges { params: vec![(low, high), (dlow, dhigh)], counters: HashMap::new() };
                    let expr = of(op, p(0), p(1));
                    let Some(interval) = expr.interval(&ranges) else { continue };
                    for x in low..=high {
                        for y in dlow..=dhigh {
                            let total = !matches!(op, NonNegDiv | NonNegRem) || x >= 0;
                            let exact = op != ExactDiv || x % y == 0;
                            if total && exact {
                                let v = expr.evaluate(&[x, y], &HashMap::new()).unwrap();
                                assert!(interval.0 <= v && v <= interval.1, "{op:?} {x} {y} = {v} not in {interval:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn narrow_parameters_always_fit() {
        let node = nest(of(Sub, p(0), Expr::Int(1)), 1);
        assert_eq!(fits_i64(&node, &[param((i128::from(i32::MIN), i128::from(i32::MAX)))]), Fits::Always);
    }

    #[test]
    fn a_wide_parameter_gets_the_widest_range_that_suffices() {
        let node = nest(of(Mul, Expr::Int(4), p(0)), 1);
        let wide = param((i128::from(i64::MIN), i128::from(i64::MAX)));
        assert_eq!(fits_i64(&node, &[wide]), Fits::Within { params: vec![ParamId(0)], bits: 60 });
    }

    #[test]
    fn the_step_beyond_the_last_iteration_counts() {
        let node = nest(p(0), 32);
        let wide = param((0, i128::from(i64::MAX)));
        assert_eq!(fits_i64(&node, &[wide]), Fits::Within { params: vec![ParamId(0)], bits: 62 });
    }
}
