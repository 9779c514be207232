//! Smaller kernels, for the reducer.

use super::*;
use crate::reduce::{cut_block, with_one_less};

/// All kernels with one thing less, the largest cuts first; some are invalid.
pub fn cuts(kernel: &Kernel) -> Vec<Kernel> {
    let mut out: Vec<Kernel> = with_one_less(&kernel.sets).map(|sets| Kernel { sets, ..kernel.clone() }).collect();
    out.extend(block(&kernel.body).into_iter().map(|body| Kernel { body, ..kernel.clone() }));
    if kernel.result.is_some() {
        out.push(Kernel { result: None, ..kernel.clone() });
    }
    if kernel.reassociate {
        out.push(Kernel { reassociate: false, ..kernel.clone() });
    }
    for k in 0..kernel.params.len() {
        if kernel.params[k].known {
            let mut cut = kernel.clone();
            cut.params[k].known = false;
            out.push(cut);
        }
    }
    for (s, set) in kernel.sets.iter().enumerate() {
        for (k, value) in set.values.iter().enumerate() {
            for simple in [0, 1, 5] {
                if *value > simple || *value < 0 {
                    let mut cut = kernel.clone();
                    cut.sets[s].values[k] = simple;
                    out.push(cut);
                }
            }
        }
    }
    out
}

fn block(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let branches = |stmt: &Stmt| match stmt {
        Stmt::If(_, then, other) => vec![then.clone(), other.clone()],
        Stmt::Switch(_, arms, _) => arms.clone(),
        // Its counter is then what it was before, or nothing.
        Stmt::Loop(l) => vec![l.body.clone()],
        _ => Vec::new(),
    };
    cut_block(stmts, branches, inside)
}

fn inside(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Loop(l) => loops(l).into_iter().map(Stmt::Loop).collect(),
        Stmt::If(cond, then, other) => {
            let mut out: Vec<Stmt> =
                block(then).into_iter().map(|b| Stmt::If(cond.clone(), b, other.clone())).collect();
            out.extend(block(other).into_iter().map(|b| Stmt::If(cond.clone(), then.clone(), b)));
            out
        }
        Stmt::Switch(on, arms, computed) => {
            let mut out = Vec::new();
            for (k, arm) in arms.iter().enumerate() {
                for smaller in block(arm) {
                    let mut arms = arms.clone();
                    arms[k] = smaller;
                    out.push(Stmt::Switch(on.clone(), arms, *computed));
                }
            }
            out
        }
        Stmt::Store(place, value) => {
            let mut out: Vec<Stmt> = values(value).into_iter().map(|v| Stmt::Store(place.clone(), v)).collect();
            out.extend(places(place).into_iter().map(|p| Stmt::Store(p, value.clone())));
            out
        }
        Stmt::Update(place, op, value) => {
            let mut out = vec![Stmt::Store(place.clone(), value.clone())];
            out.extend(values(value).into_iter().map(|v| Stmt::Update(place.clone(), *op, v)));
            out.extend(places(place).into_iter().map(|p| Stmt::Update(p, *op, value.clone())));
            out
        }
        Stmt::Set(k, value) => values(value).into_iter().map(|v| Stmt::Set(*k, v)).collect(),
        Stmt::Fold(k, op, value) => {
            let mut out = vec![Stmt::Set(*k, value.clone())];
            out.extend(values(value).into_iter().map(|v| Stmt::Fold(*k, *op, v)));
            out
        }
        Stmt::SetErrno(value) => values(value).into_iter().map(Stmt::SetErrno).collect(),
        Stmt::Leave(..) | Stmt::Promise(..) | Stmt::Touch(_) => Vec::new(),
    }
}

fn loops(l: &Loop) -> Vec<Loop> {
    let mut out: Vec<Loop> = block(&l.body).into_iter().map(|body| Loop { body, ..l.clone() }).collect();
    out.extend(exprs(&l.low).into_iter().map(|low| Loop { low, ..l.clone() }));
    out.extend(exprs(&l.high).into_iter().map(|high| Loop { high, ..l.clone() }));
    if l.step != 1 {
        out.push(Loop { step: 1, ..l.clone() });
    }
    if l.form != Form::Up {
        out.push(Loop { form: Form::Up, ..l.clone() });
    }
    out
}

fn places(place: &Place) -> Vec<Place> {
    let mut out: Vec<Place> = exprs(&place.at).into_iter().map(|at| Place { at, ..place.clone() }).collect();
    if let Some(row) = &place.row {
        out.extend(exprs(row).into_iter().map(|row| Place { row: Some(row), ..place.clone() }));
    }
    if matches!(place.how, How::Copy | How::Pun) {
        out.push(Place { how: How::Unaligned, ..place.clone() });
    }
    out
}

fn exprs(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Number(_) => Vec::new(),
        Expr::Counter(_) => vec![Expr::Number(0)],
        Expr::Param(_) => vec![Expr::Number(0), Expr::Number(8)],
        Expr::Times(n, a) => {
            let mut out = vec![Expr::Number(0), (**a).clone()];
            out.extend(exprs(a).into_iter().map(|a| a.times(*n)));
            out
        }
        Expr::Sum(a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(exprs(a).into_iter().map(|a| a.and((**b).clone())));
            out.extend(exprs(b).into_iter().map(|b| (**a).clone().and(b)));
            out
        }
        Expr::Partial(op, bits, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone(), Expr::Number(5)];
            out.extend(exprs(a).into_iter().map(|a| a.partial(*op, *bits, (**b).clone())));
            out.extend(exprs(b).into_iter().map(|b| (**a).clone().partial(*op, *bits, b)));
            out
        }
    }
}

fn values(value: &Value) -> Vec<Value> {
    let mut out = match value {
        Value::Number(_) => return Vec::new(),
        Value::Local(_) | Value::Errno => Vec::new(),
        Value::Index(expr) => exprs(expr).into_iter().map(Value::Index).collect(),
        Value::Read(place) => places(place).into_iter().map(Value::Read).collect(),
        Value::As(ty, a) => {
            let mut out = vec![(**a).clone()];
            out.extend(values(a).into_iter().map(|a| a.cast(*ty)));
            out
        }
        Value::Bits(_, _, a) | Value::Call(_, a) => vec![(**a).clone()],
        Value::Binary(op, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(values(a).into_iter().map(|a| a.binary(*op, (**b).clone())));
            out.extend(values(b).into_iter().map(|b| (**a).clone().binary(*op, b)));
            out
        }
        Value::Pick(_, a, b) => vec![(**a).clone(), (**b).clone()],
    };
    out.push(Value::Number(3));
    out
}
