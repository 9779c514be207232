//! Trees as C-like text, for people.

use super::{BinaryOp, Expr, Node, OwnCell};
use crate::scop::{ArrayId, ParamId, Scop, StatementId};
use std::fmt::Write;

/// What parameters, statements and arrays are called when a tree is shown.
pub struct Spelling<'a> {
    pub param: &'a dyn Fn(ParamId) -> String,
    pub statement: &'a dyn Fn(StatementId) -> String,
    pub array: &'a dyn Fn(ArrayId) -> String,
}

impl Node {
    /// C-like text with the source's parameter names.
    pub fn text(&self, scop: &Scop) -> String {
        let names = crate::names::Names::of(scop);
        let param = |p: ParamId| names.param_in_source(p).to_string();
        let array = |a: ArrayId| names.array_in_code(a);
        self.text_with(&Spelling { param: &param, statement: &|s| s.to_string(), array: &array })
    }
    pub fn text_with(&self, names: &Spelling) -> String {
        let mut out = String::new();
        node(self, names, 0, &mut out);
        out
    }
}

impl Expr {
    pub fn text_with(&self, names: &Spelling) -> String {
        expr(self, names, 0)
    }
}

fn node(n: &Node, names: &Spelling, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match n {
        Node::Block(children) | Node::Jammed { points: children, .. } => {
            children.iter().for_each(|c| node(c, names, depth, out));
        }
        Node::For(f) => {
            for (flag, text) in [(f.role.is_for_threads(), "parallel"), (f.role.is_for_vectors(), "vector")] {
                if flag {
                    let _ = writeln!(out, "{indent}// {text}");
                }
            }
            let c = format!("c{}", f.counter.0);
            let (first, last) = (f.first.text_with(names), f.last.text_with(names));
            let step = if f.step == 1 { format!("++{c}") } else { format!("{c} += {}", f.step) };
            let _ = writeln!(out, "{indent}for (int {c} = {first}; {c} <= {last}; {step}) {{");
            node(&f.body, names, depth + 1, out);
            let _ = writeln!(out, "{indent}}}");
        }
        Node::If { condition, then, otherwise } => {
            let _ = writeln!(out, "{indent}if ({}) {{", condition.text_with(names));
            node(then, names, depth + 1, out);
            if let Some(o) = otherwise {
                let _ = writeln!(out, "{indent}}} else {{");
                node(o, names, depth + 1, out);
            }
            let _ = writeln!(out, "{indent}}}");
        }
        Node::IfHold { when, then, otherwise, .. } => {
            let _ = writeln!(out, "{indent}if ({} && all conditions hold) {{", when.text_with(names));
            node(then, names, depth + 1, out);
            let _ = writeln!(out, "{indent}}} else {{");
            node(otherwise, names, depth + 1, out);
            let _ = writeln!(out, "{indent}}}");
        }
        Node::Call { statement, coordinates, found, .. } => {
            let found = found.iter().map(|(_, cell)| own(cell, names));
            let at: Vec<String> = coordinates.iter().map(|c| c.text_with(names)).chain(found).collect();
            let _ = writeln!(out, "{indent}{}({});", (names.statement)(*statement), at.join(", "));
        }
        Node::Copy { from, coordinates, into, .. } => {
            let at: Vec<String> = coordinates.iter().map(|c| c.text_with(names)).collect();
            let _ = writeln!(out, "{indent}{} = {}[{}];", own(into, names), (names.array)(from.array), at.join(", "));
        }
    }
}

fn own(cell: &OwnCell, names: &Spelling) -> String {
    format!("{}[{}]", (names.array)(cell.temporary), cell.number.text_with(names))
}

/// `binding`: how tightly the surroundings bind; parentheses appear where they bind tighter than the expression.
fn expr(e: &Expr, names: &Spelling, binding: u8) -> String {
    use BinaryOp::*;
    match e {
        Expr::Int(v) if *v < 0 && binding > 4 => format!("({v})"),
        Expr::Int(v) => v.to_string(),
        Expr::Param(p) => (names.param)(*p),
        Expr::Counter(c) => format!("c{}", c.0),
        Expr::Neg(e) => wrap(binding > 4, format!("-{}", expr(e, names, 6))),
        Expr::Select { condition, then, otherwise } => wrap(
            binding > 0,
            format!("{} ? {} : {}", expr(condition, names, 1), expr(then, names, 1), expr(otherwise, names, 1)),
        ),
        Expr::Binary(op, l, r) => {
            let infix = |sign: &str, level: u8| {
                let text = format!("{} {sign} {}", expr(l, names, level), expr(r, names, level + 1));
                wrap(binding > level, text)
            };
            let call = |name: &str| format!("{name}({}, {})", expr(l, names, 0), expr(r, names, 0));
            match op {
                Add => infix("+", 4),
                Sub => infix("-", 4),
                Mul => {
                    let text = format!("{} * {}", expr(l, names, 5), expr(r, names, 6));
                    wrap(binding > 5, text)
                }
                ExactDiv | NonNegDiv => infix("/", 5),
                NonNegRem | ZeroTestRem => infix("%", 5),
                FloorDiv => call("floord"),
                Power => call("pow"),
                Min => call("min"),
                Max => call("max"),
                Eq => infix("==", 3),
                Lt => infix("<", 3),
                Le => infix("<=", 3),
                Gt => infix(">", 3),
                Ge => infix(">=", 3),
                And => infix("&&", 2),
                Or => infix("||", 1),
            }
        }
    }
}

fn wrap(parentheses: bool, text: String) -> String {
    if parentheses { format!("({text})") } else { text }
}
