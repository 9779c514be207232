//! A failing kernel → a smaller one that fails in the same way: greedy, one cut at a time, until no cut is left.

use crate::case::Case;
use crate::kernel::*;

/// Requires: `fails(case)`. Ensures: the result fails, too, and is valid.
///
/// At most `budget` calls of `fails`: each of them compiles and runs programs.
pub fn reduce(case: Case, mut budget: usize, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case;
    'again: loop {
        for candidate in best.cuts() {
            if !candidate.is_valid() {
                continue;
            }
            if budget == 0 {
                return best;
            }
            budget -= 1;
            if fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// All kernels with one thing less, the largest cuts first; some are invalid.
pub fn cuts(kernel: &Kernel) -> Vec<Kernel> {
    let mut out: Vec<Kernel> = with_one_less(&kernel.sets).map(|sets| Kernel { sets, ..kernel.clone() }).collect();
    if kernel.result.is_some() {
        out.push(Kernel { result: None, ..kernel.clone() });
    }
    out.extend(block(&kernel.body).into_iter().map(|body| Kernel { body, ..kernel.clone() }));
    for (k, set) in kernel.sets.iter().enumerate() {
        for (a, placement) in set.placement.iter().enumerate() {
            if *placement != Placement::Apart {
                let mut cut = kernel.clone();
                cut.sets[k].placement[a] = Placement::Apart;
                out.push(cut);
            }
        }
    }
    out
}

fn block(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let branches = |stmt: &Stmt| match stmt {
        Stmt::If(_, then, other) => vec![then.clone(), other.clone()],
        Stmt::Switch(_, arms) => arms.clone(),
        _ => Vec::new(),
    };
    cut_block(stmts, branches, inside)
}

/// All blocks that lack a statement, or have the statements of one of its branches, or a smaller one, in its place.
pub(crate) fn cut_block<S: Clone>(
    stmts: &[S],
    branches: impl Fn(&S) -> Vec<Vec<S>>,
    smaller: impl Fn(&S) -> Vec<S>,
) -> Vec<Vec<S>> {
    let splice = |k: usize, new: Vec<S>| {
        let mut all = stmts.to_vec();
        all.splice(k..=k, new);
        all
    };
    let mut out: Vec<Vec<S>> = (0..stmts.len()).map(|k| splice(k, Vec::new())).collect();
    for (k, stmt) in stmts.iter().enumerate() {
        out.extend(branches(stmt).into_iter().map(|branch| splice(k, branch)));
        out.extend(smaller(stmt).into_iter().map(|s| splice(k, vec![s])));
    }
    out
}

/// All lists that lack one of these, if there are two or more.
pub(crate) fn with_one_less<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    let lacking = |k: usize| [&all[..k], &all[k + 1..]].concat();
    (0..all.len()).filter(|_| all.len() > 1).map(lacking)
}

fn inside(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Loop(l) => {
            let mut out: Vec<Stmt> =
                block(&l.body).into_iter().map(|body| Stmt::Loop(Loop { body, ..l.clone() })).collect();
            if l.stride != 1 {
                out.push(Stmt::Loop(Loop { stride: 1, ..l.clone() }));
            }
            if l.form != Form::Less {
                out.push(Stmt::Loop(Loop { form: Form::Less, ..l.clone() }));
            }
            for bound in bounds(&l.low) {
                out.push(Stmt::Loop(Loop { low: bound, ..l.clone() }));
            }
            for bound in bounds(&l.high) {
                out.push(Stmt::Loop(Loop { high: bound, ..l.clone() }));
            }
            out
        }
        Stmt::If(cond, then, other) => {
            let mut out: Vec<Stmt> =
                block(then).into_iter().map(|b| Stmt::If(cond.clone(), b, other.clone())).collect();
            out.extend(block(other).into_iter().map(|b| Stmt::If(cond.clone(), then.clone(), b)));
            out.extend(conds(cond).into_iter().map(|c| Stmt::If(c, then.clone(), other.clone())));
            out
        }
        Stmt::Switch(on, arms) => {
            let mut out = Vec::new();
            for (k, arm) in arms.iter().enumerate() {
                for smaller in block(arm) {
                    let mut arms = arms.clone();
                    arms[k] = smaller;
                    out.push(Stmt::Switch(on.clone(), arms));
                }
            }
            out
        }
        Stmt::Assign(place, update, value) => {
            let mut out: Vec<Stmt> =
                values(value).into_iter().map(|v| Stmt::Assign(place.clone(), *update, v)).collect();
            if *update != Update::Set {
                out.push(Stmt::Assign(place.clone(), Update::Set, value.clone()));
            }
            out
        }
        Stmt::Scalar(id, value) => values(value).into_iter().map(|v| Stmt::Scalar(*id, v)).collect(),
        Stmt::Leave(cond, how) => conds(cond).into_iter().map(|c| Stmt::Leave(c, *how)).collect(),
        Stmt::Fill(..) | Stmt::Move { .. } | Stmt::Nudge(..) => Vec::new(),
    }
}

fn bounds(bound: &Bound) -> Vec<Bound> {
    match bound {
        Bound::One(poly) if poly.constant != 0 && !poly.terms.is_empty() => {
            vec![Bound::One(Poly { constant: 0, ..poly.clone() })]
        }
        Bound::One(_) => Vec::new(),
        Bound::Min(a, b) | Bound::Max(a, b) => vec![Bound::One(a.clone()), Bound::One(b.clone())],
    }
}

fn conds(cond: &Cond) -> Vec<Cond> {
    match cond {
        Cond::And(a, b) | Cond::Or(a, b) => vec![(**a).clone(), (**b).clone()],
        Cond::Not(a) => vec![(**a).clone()],
        _ => Vec::new(),
    }
}

fn values(value: &Value) -> Vec<Value> {
    let mut out = match value {
        Value::Number(_) => return Vec::new(),
        Value::Read(_) | Value::Index(_) => Vec::new(),
        Value::Abs(a) | Value::Root(a) | Value::Over(a, _) => vec![(**a).clone()],
        Value::Binary(op, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(values(a).into_iter().map(|a| Value::Binary(*op, Box::new(a), b.clone())));
            out.extend(values(b).into_iter().map(|b| Value::Binary(*op, a.clone(), Box::new(b))));
            out
        }
        Value::Pick(cond, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(conds(cond).into_iter().map(|c| Value::Pick(Box::new(c), a.clone(), b.clone())));
            out
        }
    };
    out.push(Value::Number(3));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Family};

    #[test]
    fn what_does_not_matter_is_cut_away() {
        let nest = |case: &Case| match case {
            Case::Nest(kernel) => kernel.clone(),
            _ => panic!("a cut leaves a family"),
        };
        let has_loop = |case: &Case| nest(case).body.iter().any(|s| matches!(s, Stmt::Loop(_)));
        let small = nest(&reduce(generate::case(Family::Loops, 1, 3), 10_000, has_loop));
        assert_eq!((small.sets.len(), small.body.len()), (1, 1));
        assert!(matches!(&small.body[0], Stmt::Loop(l) if l.body.is_empty()));
    }
}
