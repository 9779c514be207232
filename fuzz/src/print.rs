//! A kernel as C.

use crate::case::Case;
use crate::kernel::*;
use crate::odd;
use crate::range::{self, Env, Extents, Interval};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Cells around everything that is passed, so that a write out of bounds shows in the hash.
const SLACK: i64 = 4;

/// A complete program: all kernels, and a `main` that calls each with all its argument sets.
///
/// Requires: every kernel is valid.
pub fn program(cases: &[Case]) -> String {
    let odd = cases.iter().any(|case| matches!(case, Case::Odd(_)));
    let mut text = include_str!("runtime.h").to_string();
    if odd {
        text.push_str(odd::print::PRELUDE);
    }
    let (mut definitions, mut prototypes, mut calls) = (String::new(), String::new(), String::new());
    for case in cases {
        let printed = case.print();
        prototypes.push_str(&printed.declarations);
        definitions.push_str(&printed.definition);
        calls.push_str(&printed.calls);
    }
    let _ = write!(text, "\n{prototypes}\n#ifndef LW_DRIVER\n{definitions}#endif\n\n#ifndef LW_KERNELS\n");
    text.push_str(include_str!("driver.h"));
    if odd {
        text.push_str(odd::print::DRIVER);
    }
    text.push_str(&calls);
    text.push_str("\nint main(void) {\n");
    for case in cases {
        let _ = writeln!(text, "  run_k{}();", case.index());
    }
    text.push_str("  return 0;\n}\n#endif\n");
    text
}

fn tag(elem: Elem) -> &'static str {
    match elem {
        Elem::UChar => "uchar",
        other => other.name(),
    }
}

/// The parts of a program that are about one kernel.
pub struct Printed {
    pub declarations: String,
    pub definition: String,
    /// The function that calls it with all argument sets.
    pub calls: String,
}

/// Requires: the kernel is valid.
pub fn kernel(kernel: &Kernel) -> Printed {
    Printed::new(kernel, range::analyse(kernel).expect("only valid kernels are printed"))
}

impl Printed {
    fn new(kernel: &Kernel, extents: Extents) -> Printed {
        let printer = Printer { kernel, extents, used: RefCell::default(), walks: RefCell::default() };
        let mut body = String::new();
        printer.block(&kernel.body, &Env::at_entry(kernel), 1, &mut body);
        if let Some(ScalarId(k)) = kernel.result {
            let _ = writeln!(body, "  return s{k};");
        }
        let head = printer.head();
        let (own, outside) = printer.globals();
        Printed {
            declarations: format!("{outside}{head};\n"),
            definition: format!("{own}__attribute__((noinline)) {head} {{\n{body}}}\n\n"),
            calls: printer.calls(),
        }
    }
}

#[derive(Default)]
struct Used {
    vars: BTreeSet<VarId>,
    arrays: BTreeSet<ArrayId>,
    tables: BTreeSet<TableId>,
}

struct Printer<'a> {
    kernel: &'a Kernel,
    extents: Extents,
    /// What the body mentions; the rest is not passed.
    used: RefCell<Used>,
    /// Loops around the place being printed whose pointers into arrays may be used, and whether they were.
    walks: RefCell<Vec<(ArrayId, VarId, bool)>>,
}

/// An expression with its C type; `negative` if its value in ℤ may be.
struct Typed {
    text: String,
    ty: Int,
    negative: bool,
}

impl Typed {
    /// The same text, or a cast, whose value in C is the value in ℤ.
    fn exact(self) -> Typed {
        match (self.ty, self.negative) {
            (Int::Unsigned, true) => Typed { text: format!("(int)({})", self.text), ty: Int::Int, ..self },
            (Int::Size, true) => Typed { text: format!("(long)({})", self.text), ty: Int::Long, ..self },
            _ => self,
        }
    }
}

/// Two operands of a comparison that C compares as ℤ does.
fn comparable(a: Typed, b: Typed) -> (String, String) {
    let (a, b) = (a.exact(), b.exact());
    if (a.ty.promoted().is_unsigned() || b.ty.promoted().is_unsigned()) && (a.negative || b.negative) {
        (format!("(long)({})", a.text), format!("(long)({})", b.text))
    } else {
        (a.text, b.text)
    }
}

impl Printer<'_> {
    // --- integers ---

    fn var(&self, var: VarId, env: &Env, context: Int) -> String {
        let Var { ty, origin } = &self.kernel.vars[var.0];
        self.used.borrow_mut().vars.insert(var);
        let name = self.var_name(var);
        let name = if *origin == Origin::Pointee { format!("(*{name})") } else { name };
        match (*ty, context.is_wide()) {
            (Int::Unsigned, true) if env.may_be_negative(self.kernel, &Poly::var(var)) => format!("(long)(int){name}"),
            (Int::Unsigned, true) => format!("(long){name}"),
            _ => name,
        }
    }

    fn var_name(&self, var: VarId) -> String {
        match self.kernel.vars[var.0].origin {
            Origin::Counter => format!("i{}", var.0),
            Origin::Argument | Origin::Pointee => format!("n{}", var.0),
            Origin::Global => format!("g{}_{}", self.kernel.index, var.0),
        }
    }

    /// Computes the polynomial modulo the width of `context`, which is at least its own type.
    fn poly_as(&self, poly: &Poly, env: &Env, context: Int) -> String {
        let mut text = String::new();
        for (c, factors) in &poly.terms {
            let names: Vec<String> = factors.iter().map(|f| self.factor(f, env, context)).collect();
            let product = match (c.abs(), names.is_empty()) {
                (1, false) => names.join(" * "),
                (n, true) => n.to_string(),
                (n, false) => format!("{n} * {}", names.join(" * ")),
            };
            let sign = match (*c < 0, text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            text.push_str(sign);
            text.push_str(&product);
        }
        match (poly.constant, text.is_empty()) {
            (0, false) => {}
            (c, true) => text = c.to_string(),
            (c, false) if c < 0 => text.push_str(&format!(" - {}", -c)),
            (c, false) => text.push_str(&format!(" + {c}")),
        }
        text
    }

    fn factor(&self, factor: &Factor, env: &Env, context: Int) -> String {
        match factor {
            Factor::Var(v) => self.var(*v, env, context),
            Factor::Lookup(table, at) => {
                self.used.borrow_mut().tables.insert(*table);
                format!("t{}[{}]", table.0, self.subscript(at, env))
            }
        }
    }

    fn poly(&self, poly: &Poly, env: &Env) -> Typed {
        let ty = range::type_of(self.kernel, poly);
        Typed { text: self.poly_as(poly, env, ty), ty, negative: env.may_be_negative(self.kernel, poly) }
    }

    fn subscript(&self, poly: &Poly, env: &Env) -> String {
        self.poly(poly, env).exact().text
    }

    fn bound(&self, bound: &Bound, env: &Env) -> Typed {
        let negative = env.bound(self.kernel, bound).into_iter().flatten().any(|r| r.low < 0);
        match bound {
            Bound::One(a) => self.poly(a, env).exact(),
            Bound::Min(a, b) | Bound::Max(a, b) => {
                let sign = if matches!(bound, Bound::Min(..)) { "<" } else { ">" };
                let types = [range::type_of(self.kernel, a), range::type_of(self.kernel, b)];
                let (a, b) = comparable(self.poly(a, env), self.poly(b, env));
                // What the conditional expression converts to; `long` if anything was cast.
                let common = [Int::Size, Int::Long, Int::Unsigned].into_iter().find(|t| types.contains(t));
                let ty = if negative { Int::Long } else { common.unwrap_or(Int::Int) };
                Typed { text: format!("({a} {sign} {b} ? {a} : {b})"), ty, negative }
            }
        }
    }

    // --- conditions and values ---

    fn cond(&self, cond: &Cond, env: &Env) -> String {
        match cond {
            // As they stand: a comparison that wraps is valid C, too.
            Cond::Compare(a, rel, b) => {
                format!("{} {} {}", self.poly(a, env).text, rel.sign(), self.poly(b, env).text)
            }
            Cond::Remainder(a, modulus, rel, rest) => {
                format!("({}) % {modulus} {} {rest}", self.poly(a, env).text, rel.sign())
            }
            Cond::Guard(var, low, high) => {
                let poly = Poly::var(*var);
                let compare = |rel: &str, x: i64| {
                    let number = Typed { text: x.to_string(), ty: Int::Int, negative: x < 0 };
                    let (a, b) = comparable(self.poly(&poly, env), number);
                    format!("{a} {rel} {b}")
                };
                format!("({} && {})", compare(">=", *low), compare("<", *high))
            }
            Cond::Data(place, rel, number) => {
                let number =
                    if self.elem(place).is_float() { float(*number, Elem::Double) } else { number.to_string() };
                format!("{} {} {number}", self.place(place, env), rel.sign())
            }
            Cond::And(a, b) => format!("({} && {})", self.cond(a, env), self.cond(b, &env.assuming(a))),
            Cond::Or(a, b) => format!("({} || {})", self.cond(a, env), self.cond(b, env)),
            Cond::Not(a) => format!("!({})", self.cond(a, env)),
        }
    }

    fn elem(&self, place: &Place) -> Elem {
        match place {
            Place::Cell(a, _) => self.kernel.arrays[a.0].elem,
            Place::Scalar(s) => self.kernel.scalars[s.0],
        }
    }

    fn place(&self, place: &Place, env: &Env) -> String {
        match place {
            Place::Scalar(s) => format!("s{}", s.0),
            Place::Cell(array, at) => self.cell(*array, at, env),
        }
    }

    fn cell(&self, array: ArrayId, at: &[Poly], env: &Env) -> String {
        self.used.borrow_mut().arrays.insert(array);
        let shape = &self.kernel.arrays[array.0].shape;
        let name = self.array_name(array);
        let flat = |scale: &dyn Fn(usize, Int) -> String| {
            let context = range::flat_type(self.kernel, shape, at);
            let mut text = self.poly_as(&at[0], env, context);
            for (d, next) in at.iter().enumerate().skip(1) {
                text = format!("({text}) * {} + {}", scale(d - 1, context), self.poly_as(next, env, context));
            }
            format!("{name}[{text}]")
        };
        match shape {
            Shape::Global | Shape::Rows | Shape::Pointers | Shape::Vla(_) => {
                if let Shape::Vla(sizes) = shape {
                    self.used.borrow_mut().vars.extend(sizes.iter().flat_map(Poly::vars));
                }
                at.iter().fold(name, |text, poly| format!("{text}[{}]", self.subscript(poly, env)))
            }
            Shape::Flat(ld) => flat(&|d, _| ld[d].to_string()),
            Shape::FlatBy(ld) => flat(&|d, context| self.lead(&ld[d], env, context)),
            Shape::Walked(ld) => {
                let mut walks = self.walks.borrow_mut();
                let walk = walks.iter_mut().filter(|(a, ..)| *a == array).find_map(|(_, counter, used)| {
                    let rows = at[0].distance_from(*counter)?;
                    *used = true;
                    Some((*counter, rows))
                });
                drop(walks);
                match walk {
                    Some((counter, rows)) => {
                        let cell = ld.clone().scale(rows).sum(&at[1]);
                        let cell = if rows == 0 { &at[1] } else { &cell };
                        format!("{}[{}]", self.walk_name(array, counter), self.subscript(cell, env))
                    }
                    None => flat(&|_, context| self.lead(ld, env, context)),
                }
            }
            Shape::Shifted(offset) => {
                let start = self.subscript(&Poly::var(*offset), env);
                format!("({name} + {start})[{}]", self.subscript(&at[0], env))
            }
        }
    }

    /// A leading dimension as a factor.
    fn lead(&self, poly: &Poly, env: &Env, context: Int) -> String {
        let text = self.poly_as(poly, env, context);
        if text.contains(' ') { format!("({text})") } else { text }
    }

    fn walk_name(&self, array: ArrayId, counter: VarId) -> String {
        format!("w{}_{}", array.0, counter.0)
    }

    fn array_name(&self, array: ArrayId) -> String {
        match self.kernel.arrays[array.0].shape {
            Shape::Global => format!("G{}_{}", self.kernel.index, array.0),
            _ => format!("A{}", array.0),
        }
    }

    /// In the arithmetic of `class`: `double`, `float`, or unsigned integers of at least its width.
    fn value(&self, value: &Value, class: Elem, env: &Env) -> String {
        let sub = |v: &Value| self.value(v, class, env);
        let f = if class == Elem::Float { "f" } else { "" };
        match value {
            Value::Read(place) => {
                let (elem, text) = (self.elem(place), self.place(place, env));
                match (class.is_float(), elem.is_float()) {
                    (true, _) if elem == class => text,
                    (false, true) => format!("({})({text} > 0.25)", arithmetic(class)),
                    _ => format!("({}){text}", arithmetic(class)),
                }
            }
            Value::Number(n) if class.is_float() => float(*n, class),
            Value::Number(n) => format!("({}){n}", arithmetic(class)),
            Value::Index(poly) => {
                let index = format!("({})({})", arithmetic(class), self.poly(poly, env).text);
                if class.is_float() { format!("{index} * 0.015625{f}") } else { index }
            }
            Value::Binary(op, a, b) => {
                let (a, b) = (sub(a), sub(b));
                match (op, class.is_float()) {
                    (Op::Add, _) => format!("({a} + {b})"),
                    (Op::Sub, _) => format!("({a} - {b})"),
                    (Op::Mul, _) => format!("{a} * {b}"),
                    (Op::Div, true) => format!("{a} / (fabs{f}({b}) + 1.0{f})"),
                    (Op::Div, false) => format!("{a} / ({b} | 1)"),
                    (Op::Quotient, _) => format!("({b} != 0 ? ({a}) / ({b}) : 1)"),
                    (_, true) => format!("({a} - {b})"),
                    (Op::And, false) => format!("({a} & {b})"),
                    (Op::Or, false) => format!("({a} | {b})"),
                    (Op::Xor, false) => format!("({a} ^ {b})"),
                }
            }
            Value::Abs(a) if class.is_float() => format!("fabs{f}({})", sub(a)),
            Value::Abs(a) => format!("(0 - {})", sub(a)),
            Value::Root(a) if class.is_float() => format!("sqrt{f}(fabs{f}({}) + 1.0{f})", sub(a)),
            Value::Root(a) => format!("({} >> 1)", sub(a)),
            Value::Over(a, by) => {
                format!("({} / ({})({}))", sub(a), arithmetic(class), self.poly(by, env).exact().text)
            }
            Value::Pick(cond, a, b) => {
                let then = self.value(a, class, &env.assuming(cond));
                format!("({} ? {then} : {})", self.cond(cond, env), sub(b))
            }
        }
    }

    // --- statements ---

    fn block(&self, stmts: &[Stmt], env: &Env, depth: usize, out: &mut String) {
        for stmt in stmts {
            self.stmt(stmt, env, depth, out);
        }
    }

    fn stmt(&self, stmt: &Stmt, env: &Env, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        match stmt {
            Stmt::Loop(l) => self.print_loop(l, env, depth, out),
            Stmt::If(cond, then, other) => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.cond(cond, env));
                self.block(then, &env.assuming(cond), depth + 1, out);
                if !other.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(other, env, depth + 1, out);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Switch(on, arms) => {
                let _ = writeln!(out, "{pad}switch ((unsigned)({}) % {}u) {{", self.poly(on, env).text, arms.len());
                for (k, arm) in arms.iter().enumerate() {
                    let label = if k + 1 == arms.len() { "default".to_string() } else { format!("case {k}") };
                    let _ = writeln!(out, "{pad}{label}: {{");
                    self.block(arm, env, depth + 1, out);
                    let _ = writeln!(out, "{pad}  break;\n{pad}}}");
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Assign(place, update, value) => {
                let elem = self.elem(place);
                let (x, v) = (self.place(place, env), self.value(value, elem, env));
                let ty = elem.name();
                let sign = match update {
                    Update::Set => "=",
                    Update::Add => "+=",
                    Update::Sub => "-=",
                    Update::Mul => "*=",
                    Update::Xor if elem.is_float() => "-=",
                    Update::Or if elem.is_float() => "+=",
                    Update::Xor => "^=",
                    Update::Or => "|=",
                    Update::MinIf => {
                        let _ = writeln!(out, "{pad}{{ {ty} m = {v}; if (m < {x}) {x} = m; }}");
                        return;
                    }
                    Update::MaxPick => {
                        let _ = writeln!(out, "{pad}{x} = {x} > ({ty})({v}) ? {x} : ({ty})({v});");
                        return;
                    }
                };
                let _ = writeln!(out, "{pad}{x} {sign} {v};");
            }
            Stmt::Scalar(id, value) => {
                let elem = self.kernel.scalars[id.0];
                let _ = writeln!(out, "{pad}{} s{} = {};", elem.name(), id.0, self.value(value, elem, env));
            }
            Stmt::Fill(array, at, count, byte) => {
                let ty = self.kernel.arrays[array.0].elem.name();
                let cell = self.cell(*array, at, env);
                let _ = writeln!(out, "{pad}memset(&{cell}, {byte}, sizeof({ty}) * {});", self.count(count, env));
            }
            Stmt::Move { to, from, count } => {
                let ty = self.kernel.arrays[to.0.0].elem.name();
                // Copies within one array, or between arrays that may lie on each other, must not be memcpy.
                let call = if to.0 != from.0 && !self.kernel.overlaps() { "memcpy" } else { "memmove" };
                let (a, b) = (self.cell(to.0, &to.1, env), self.cell(from.0, &from.1, env));
                let _ = writeln!(out, "{pad}{call}(&{a}, &{b}, sizeof({ty}) * {});", self.count(count, env));
            }
            Stmt::Nudge(array, at, distance) => {
                let name = tag(self.kernel.arrays[array.0].elem);
                let other = range::moved(at, &Poly::number(*distance));
                let (a, b) = (self.cell(*array, at, env), self.cell(*array, &other, env));
                let _ = writeln!(out, "{pad}nudge_{name}(&{a}, &{b});");
            }
            Stmt::Leave(cond, how) => {
                let word = if *how == Leave::Break { "break" } else { "continue" };
                let _ = writeln!(out, "{pad}if ({}) {word};", self.cond(cond, env));
            }
        }
    }

    fn count(&self, count: &Poly, env: &Env) -> String {
        let count = self.poly(count, env).exact();
        if count.negative {
            format!("(size_t)({0} > 0 ? {0} : 0)", count.text)
        } else {
            format!("(size_t)({})", count.text)
        }
    }

    fn print_loop(&self, l: &Loop, env: &Env, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let Loop { counter, form, low, high, stride, body } = l;
        let ty = self.kernel.vars[counter.0].ty;
        let name = self.var_name(*counter);
        let inner = env.inside(self.kernel, l);
        // The test also sees the value beyond the last one, and downwards the first one where nothing runs.
        let least = if matches!(form, Form::Down | Form::Decrement) { low.plus(-stride) } else { low.clone() };
        let first = if *form == Form::Down { high.plus(-1) } else { high.clone() };
        let negative =
            [&least, &first].iter().any(|b| env.bound(self.kernel, b).into_iter().flatten().any(|r| r.low < 0));
        let own = || Typed { text: name.clone(), ty, negative: negative && !ty.is_unsigned() };
        let test = |left: Typed, sign: &str, bound: &Bound| {
            let (a, b) = comparable(left, self.bound(bound, env));
            format!("{a} {sign} {b}")
        };
        let start = |bound: &Bound| format!("{} {name} = {}", ty.name(), self.bound(bound, env).text);
        let walkers = self.walkers(l);
        let known = self.walks.borrow().len();
        self.walks.borrow_mut().extend(walkers.iter().map(|(array, _)| (*array, *counter, false)));
        let mut text = String::new();
        self.block(body, &inner, depth + 1, &mut text);
        let walks = self.walks.borrow_mut().split_off(known);
        let walkers: Vec<_> = walkers.into_iter().zip(walks).filter(|(_, walk)| walk.2).map(|(w, _)| w).collect();
        for (array, lead) in &walkers {
            let (elem, walk) = (self.kernel.arrays[array.0].elem.name(), self.walk_name(*array, *counter));
            let start = if *form == Form::Down { high.plus(-1) } else { low.clone() };
            let (start, lead) = (self.bound(&start, env).text, self.poly(lead, env).exact().text);
            let _ =
                writeln!(out, "{pad}{elem} *{walk} = {} + (long)({start}) * (long)({lead});", self.array_name(*array));
        }
        let step = |sign: &str| {
            let mut step =
                if *stride == 1 { format!("{name}{sign}{sign}") } else { format!("{name} {sign}= {stride}") };
            for (array, lead) in &walkers {
                let lead = lead.clone().scale(*stride);
                let by = self.poly(&lead, env).exact().text;
                let _ = write!(step, ", {} {sign}= {by}", self.walk_name(*array, *counter));
            }
            step
        };
        let (before, after) = match form {
            Form::Less => (format!("for ({}; {}; {})", start(low), test(own(), "<", high), step("+")), None),
            Form::AtMost => {
                (format!("for ({}; {}; {})", start(low), test(own(), "<=", &high.plus(-1)), step("+")), None)
            }
            Form::Differs => (format!("for ({}; {}; {})", start(low), test(own(), "!=", high), step("+")), None),
            Form::Down => (format!("for ({}; {}; {})", start(&high.plus(-1)), test(own(), ">=", low), step("-")), None),
            Form::Decrement => {
                let old = Typed { text: format!("{name}--"), ..own() };
                (format!("for ({}; {}; )", start(high), test(old, ">", low)), None)
            }
            Form::While => (
                format!("{{\n{pad}{};\n{pad}while ({})", start(low), test(own(), "<", high)),
                Some(format!("\n{pad}}}")),
            ),
            Form::Do => {
                let next = Typed { text: format!("({name} += {stride})"), ..own() };
                (
                    format!("{{\n{pad}{};\n{pad}do", start(low)),
                    Some(format!(" while ({});\n{pad}}}", test(next, "<", high))),
                )
            }
        };
        let _ = writeln!(out, "{pad}{before} {{");
        out.push_str(&text);
        if *form == Form::While {
            let _ = writeln!(out, "{pad}  {};", step("+"));
        }
        let _ = writeln!(out, "{pad}}}{}", after.unwrap_or_default());
    }

    /// Arrays into which a pointer may go with this loop, and the lengths of their rows.
    fn walkers(&self, l: &Loop) -> Vec<(ArrayId, Poly)> {
        if !matches!(l.form, Form::Less | Form::AtMost | Form::Down) {
            return Vec::new();
        }
        let all = self.kernel.arrays.iter().enumerate();
        let walked = all.filter_map(|(k, array)| match &array.shape {
            Shape::Walked(lead) => Some((ArrayId(k), lead.clone())),
            _ => None,
        });
        walked.collect()
    }

    // --- around the body ---

    fn head(&self) -> String {
        let kernel = self.kernel;
        let used = self.used.borrow();
        let restrict = if kernel.restrict { "restrict " } else { "" };
        let mut list = Vec::new();
        for var in used.vars.iter().filter(|v| v.0 < kernel.parameters) {
            let (ty, name) = (kernel.vars[var.0].ty.name(), self.var_name(*var));
            match kernel.vars[var.0].origin {
                Origin::Argument => list.push(format!("{ty} {name}")),
                Origin::Pointee => list.push(format!("{ty} *{name}")),
                Origin::Global | Origin::Counter => {}
            }
        }
        for id in &used.arrays {
            let Array { elem, dims, shape } = &kernel.arrays[id.0];
            let (ty, name) = (elem.name(), self.array_name(*id));
            match shape {
                Shape::Global => {}
                Shape::Rows if *dims > 1 => {
                    let rows: String = self.extents.dims[id.0][1..].iter().map(|n| format!("[{n}]")).collect();
                    list.push(format!("{ty} (*{restrict}{name}){rows}"));
                }
                Shape::Pointers => list.push(self.row_pointer(*id, &format!("*{restrict}{name}"))),
                Shape::Vla(sizes) => {
                    let sizes: String = sizes.iter().map(|size| format!("[{}]", self.size_text(size))).collect();
                    list.push(format!("{ty} (*{restrict}{name}){sizes}"));
                }
                _ => list.push(format!("{ty} *{restrict}{name}")),
            }
        }
        list.extend(used.tables.iter().map(|t| format!("const int *{restrict}t{}", t.0)));
        let ty = kernel.result.map_or("void", |r| kernel.scalars[r.0].name());
        let list = if list.is_empty() { "void".to_string() } else { list.join(", ") };
        format!("{ty} k{}({list})", kernel.index)
    }

    /// `T *name`, a pointer to a row of an array with rows behind pointers.
    fn row_pointer(&self, array: ArrayId, name: &str) -> String {
        let ty = self.kernel.arrays[array.0].elem.name();
        match &self.extents.dims[array.0][2..] {
            [] => format!("{ty} *{name}"),
            inner => {
                let inner: String = inner.iter().map(|n| format!("[{n}]")).collect();
                format!("{ty} (*{name}){inner}")
            }
        }
    }

    /// A table of pointers to the rows from `start` on, for argument set `s`.
    fn row_table(&self, array: ArrayId, s: usize, start: &str) -> String {
        let cells: i64 = self.extents.dims[array.0][1..].iter().product();
        let last = self.extents.flat[array.0][s].map_or(0, |range| range.high);
        let count = ((last + 1) / cells).max(1);
        let habits = if self.kernel.restrict { 4 } else { 6 };
        let place = match (self.kernel.index + 5 * s + array.0) % habits {
            0 | 1 => format!("r * {cells}"),
            2 => format!("({count} - 1 - r) * {cells}"),
            3 if count % 7 != 0 => format!("(r * 7 + 3) % {count} * {cells}"),
            4 => format!("r / 2 * {cells}"),
            5 if cells > 1 => format!("r * ({cells} - 1)"),
            _ => format!("r * {cells}"),
        };
        let table = self.row_pointer(array, &format!("p{}[{count}]", array.0));
        format!("    {table}; for (long r = 0; r < {count}; r++) p{}[r] = (void *)({start} + {place});\n", array.0)
    }

    /// The size of a parameter: a sum of other parameters and a number.
    fn size_text(&self, size: &Poly) -> String {
        let mut parts: Vec<String> = size.vars().map(|v| self.var_name(v)).collect();
        if size.constant != 0 {
            parts.push(size.constant.to_string());
        }
        parts.join(" + ")
    }

    /// Definitions, and declarations for the other half of the program.
    fn globals(&self) -> (String, String) {
        let used = self.used.borrow();
        let mut all = String::new();
        for var in used.vars.iter().filter(|v| self.kernel.vars[v.0].origin == Origin::Global) {
            let _ = writeln!(all, "{} {};", self.kernel.vars[var.0].ty.name(), self.var_name(*var));
        }
        for id in &used.arrays {
            if self.kernel.arrays[id.0].shape == Shape::Global {
                let sizes: String = self.extents.dims[id.0].iter().map(|n| format!("[{n}]")).collect();
                let _ = writeln!(all, "{} {}{sizes};", self.kernel.arrays[id.0].elem.name(), self.array_name(*id));
            }
        }
        let outside = all.lines().map(|line| format!("extern {line}\n")).collect();
        (all, outside)
    }

    fn calls(&self) -> String {
        let kernel = self.kernel;
        let used = self.used.borrow();
        let mut out = format!("\nLW_CALLS void run_k{}(void) {{\n", kernel.index);
        for (s, set) in kernel.sets.iter().enumerate() {
            let arena = Arena::new(kernel, &self.extents, &used.arrays, set, s);
            let _ = writeln!(out, "  {{\n    lw_start({}u);", kernel.index * 64 + s);
            for (elem, size) in &arena.sizes {
                let _ = writeln!(out, "    {} *m_{1} = lw_new_{1}({size});", elem.name(), tag(*elem));
            }
            for t in &used.tables {
                let (size, limit) = (self.extents.tables[t.0], kernel.tables[t.0].limit);
                let _ = writeln!(out, "    int *t{} = lw_new_table({size}, {limit});", t.0);
            }
            let mut mixes = String::new();
            for id in &used.arrays {
                let Array { elem, shape, .. } = &kernel.arrays[id.0];
                if *shape == Shape::Global {
                    let (name, tag, ty) = (self.array_name(*id), tag(*elem), elem.name());
                    let _ = writeln!(out, "    lw_fill_{tag}(({ty} *){name}, sizeof {name} / sizeof({ty}));");
                    let _ = writeln!(mixes, "    lw_mix_{tag}(({ty} *){name}, sizeof {name} / sizeof({ty}));");
                }
            }
            let mut list = Vec::new();
            for var in used.vars.iter().filter(|v| v.0 < kernel.parameters) {
                let (ty, name, value) = (kernel.vars[var.0].ty.name(), self.var_name(*var), set.values[var.0]);
                match kernel.vars[var.0].origin {
                    Origin::Argument => list.push(format!("({ty})V({value})")),
                    Origin::Pointee => {
                        let _ = writeln!(out, "    {ty} {name} = ({ty})V({value});");
                        list.push(format!("&{name}"));
                    }
                    Origin::Global => {
                        let _ = writeln!(out, "    {name} = ({ty})V({value});");
                    }
                    Origin::Counter => {}
                }
            }
            for id in &used.arrays {
                let elem = kernel.arrays[id.0].elem;
                let start = match (arena.within[id.0], arena.bases[id.0]) {
                    (Some((global, base)), _) => format!("({} *){} + V({base})", elem.name(), self.array_name(global)),
                    (None, Some(base)) => format!("m_{} + V({base})", tag(elem)),
                    (None, None) => continue,
                };
                if kernel.arrays[id.0].shape == Shape::Pointers {
                    out.push_str(&self.row_table(*id, s, &start));
                    list.push(format!("p{}", id.0));
                } else {
                    // A pointer to rows converts from void *.
                    list.push(format!("(void *)({start})"));
                }
            }
            list.extend(used.tables.iter().map(|t| format!("t{}", t.0)));
            let call = format!("k{}({})", kernel.index, list.join(", "));
            match kernel.result {
                Some(r) => {
                    let elem = kernel.scalars[r.0];
                    let _ = writeln!(out, "    {} r = {call};\n    lw_mix_{}(&r, 1);", elem.name(), tag(elem));
                }
                None => {
                    let _ = writeln!(out, "    {call};");
                }
            }
            out.push_str(&mixes);
            for (elem, size) in &arena.sizes {
                let _ = writeln!(out, "    lw_mix_{0}(m_{0}, {size});\n    free(m_{0});", tag(*elem));
            }
            for t in &used.tables {
                let _ = writeln!(out, "    free(t{});", t.0);
            }
            let _ = writeln!(out, "    lw_report({}, {s});\n  }}", kernel.index);
        }
        out.push_str("}\n");
        out
    }
}

/// Where the arrays of one argument set lie: one block of memory per element type.
struct Arena {
    sizes: Vec<(Elem, i64)>,
    /// By array; `None` for globals, unused ones and those within globals.
    bases: Vec<Option<i64>>,
    /// By array.
    within: Vec<Option<(ArrayId, i64)>>,
}

impl Arena {
    fn new(kernel: &Kernel, extents: &Extents, used: &BTreeSet<ArrayId>, set: &ArgumentSet, s: usize) -> Arena {
        let extent = |a: ArrayId| extents.flat[a.0][s].unwrap_or(Interval::point(0));
        let within: Vec<Option<(ArrayId, i64)>> = (0..kernel.arrays.len())
            .map(ArrayId)
            .map(|a| match set.placement[a.0] {
                Placement::Within(global, random) if used.contains(&global) => {
                    let room = extents.dims[global.0].iter().product::<i64>() - (extent(a).high - extent(a).low + 1);
                    (room >= 0).then(|| (global, (random % (room as u64 + 1)) as i64 - extent(a).low))
                }
                _ => None,
            })
            .collect();
        let mut bases = vec![None; kernel.arrays.len()];
        let mut sizes = Vec::new();
        for elem in Elem::ALL {
            let mine: Vec<ArrayId> = (0..kernel.arrays.len())
                .map(ArrayId)
                .filter(|a| {
                    used.contains(a)
                        && within[a.0].is_none()
                        && kernel.arrays[a.0].elem == elem
                        && kernel.arrays[a.0].shape != Shape::Global
                })
                .collect();
            if mine.is_empty() {
                continue;
            }
            let mut end = 0;
            for a in &mine {
                let base = match set.placement[a.0] {
                    Placement::Near(b, by) if bases[b.0].is_some() => bases[b.0].unwrap_or(0) + by,
                    Placement::Behind(b) if bases[b.0].is_some() => {
                        bases[b.0].unwrap_or(0) + extent(b).high + 1 - extent(*a).low
                    }
                    // Also where the other array was cut away.
                    _ => end + SLACK - extent(*a).low,
                };
                bases[a.0] = Some(base);
                end = end.max(base + extent(*a).high + 1);
            }
            let first = mine.iter().filter_map(|a| Some(bases[a.0]? + extent(*a).low)).min().unwrap_or(0);
            let shift = SLACK - first;
            for a in &mine {
                bases[a.0] = bases[a.0].map(|b| b + shift);
            }
            sizes.push((elem, end + shift + SLACK));
        }
        Arena { sizes, bases, within }
    }
}

/// The type in which values that go to `class` are computed.
fn arithmetic(class: Elem) -> &'static str {
    match class {
        Elem::Double => "double",
        Elem::Float => "float",
        Elem::Long => "unsigned long",
        Elem::Int | Elem::Short | Elem::UChar => "unsigned",
    }
}

fn float(eighths: i64, class: Elem) -> String {
    let suffix = if class == Elem::Float { "f" } else { "" };
    format!("{:?}{suffix}", eighths as f64 / 8.0)
}
