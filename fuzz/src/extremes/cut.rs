//! Smaller kernels, for the reducer.

use super::*;
use crate::reduce::{cut_block, with_one_less};

/// All kernels with one thing less, the largest cuts first; some are invalid.
pub fn cuts(kernel: &Kernel) -> Vec<Kernel> {
    let mut out: Vec<Kernel> = with_one_less(&kernel.sets).map(|sets| Kernel { sets, ..kernel.clone() }).collect();
    out.extend(block(&kernel.body).into_iter().map(|body| Kernel { body, ..kernel.clone() }));
    for k in 0..kernel.params.len() {
        if kernel.params[k].origin != Origin::Argument {
            let mut cut = kernel.clone();
            cut.params[k].origin = Origin::Argument;
            out.push(cut);
        }
    }
    for k in 0..kernel.arrays.len() {
        if kernel.arrays[k].member {
            let mut cut = kernel.clone();
            cut.arrays[k].member = false;
            out.push(cut);
        }
    }
    for s in 0..kernel.sets.len() {
        for k in 0..kernel.params.len() {
            for simple in [0, 1, 5] {
                if kernel.sets[s].values[k] > simple || kernel.sets[s].values[k] < 0 {
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
        _ => Vec::new(),
    };
    cut_block(stmts, branches, inside)
}

fn inside(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Loop(l) => {
            let mut out: Vec<Loop> = block(&l.body).into_iter().map(|body| Loop { body, ..l.clone() }).collect();
            out.extend(exprs(&l.start).into_iter().map(|start| Loop { start, ..l.clone() }));
            out.extend(exprs(&l.end).into_iter().map(|end| Loop { end, ..l.clone() }));
            if l.step.abs() != 1 {
                out.push(Loop { step: l.step.signum(), ..l.clone() });
            }
            if l.form == Form::Do {
                out.push(Loop { form: Form::For, ..l.clone() });
            }
            out.into_iter().map(Stmt::Loop).collect()
        }
        Stmt::If(cond, then, other) => {
            let mut out: Vec<Stmt> =
                block(then).into_iter().map(|b| Stmt::If(cond.clone(), b, other.clone())).collect();
            out.extend(block(other).into_iter().map(|b| Stmt::If(cond.clone(), then.clone(), b)));
            out
        }
        Stmt::Assign(place, add, all) => {
            let mut out: Vec<Stmt> = terms(all).into_iter().map(|t| Stmt::Assign(place.clone(), *add, t)).collect();
            out.extend(places(place).into_iter().map(|p| Stmt::Assign(p, *add, all.clone())));
            if *add {
                out.push(Stmt::Assign(place.clone(), false, all.clone()));
            }
            out
        }
        Stmt::Sum(all) => terms(all).into_iter().map(Stmt::Sum).collect(),
        Stmt::Keep(place) => places(place).into_iter().map(Stmt::Keep).collect(),
    }
}

fn terms(all: &[Term]) -> Vec<Vec<Term>> {
    let mut out = Vec::new();
    for (k, term) in all.iter().enumerate() {
        let mut less = all.to_vec();
        less.remove(k);
        out.push(less);
        let simpler: Vec<Term> = match term {
            Term::Read(place, factor) => places(place).into_iter().map(|p| Term::Read(p, *factor)).collect(),
            Term::Index(expr) => exprs(expr).into_iter().map(Term::Index).collect(),
        };
        for one in simpler {
            let mut other = all.to_vec();
            other[k] = one;
            out.push(other);
        }
    }
    out
}

fn places(place: &Place) -> Vec<Place> {
    let mut out: Vec<Place> = exprs(&place.at).into_iter().map(|at| Place { at, ..place.clone() }).collect();
    if let Some(row) = &place.row {
        out.extend(exprs(row).into_iter().map(|row| Place { row: Some(row), ..place.clone() }));
    }
    out
}

fn exprs(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Number(0) => Vec::new(),
        Expr::Number(_) => vec![Expr::Number(0)],
        Expr::Param(_) | Expr::Counter(_) => vec![Expr::Number(0), Expr::Number(5)],
        Expr::Cell(place) => {
            let mut out = vec![Expr::Number(0)];
            out.extend(places(place).into_iter().map(|p| Expr::Cell(Box::new(p))));
            out
        }
        Expr::Cast(ty, inner) => {
            let mut out = vec![(**inner).clone()];
            out.extend(exprs(inner).into_iter().map(|e| e.cast(*ty)));
            out
        }
        Expr::Binary(op, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(exprs(a).into_iter().map(|a| a.binary(*op, (**b).clone())));
            out.extend(exprs(b).into_iter().map(|b| (**a).clone().binary(*op, b)));
            out
        }
        Expr::Least(a, b) => vec![(**a).clone(), (**b).clone()],
    }
}
