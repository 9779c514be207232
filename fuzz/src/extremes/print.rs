//! An extreme kernel as C.

use super::*;
use crate::print::Printed;
use std::fmt::Write;

pub fn print(kernel: &Kernel) -> Printed {
    let printer = Printer { kernel, record: kernel.record() };
    let mut body = String::new();
    if let Some(elem) = kernel.sum {
        let _ = writeln!(body, "  {} s = 0;", elem.name());
    }
    printer.block(&kernel.body, 1, &mut body);
    if kernel.sum.is_some() {
        body.push_str("  return s;\n");
    }
    let (index, head) = (kernel.index, printer.head());
    let table = printer.table().map(|t| format!("{t};\n")).unwrap_or_default();
    let declared = if table.is_empty() { String::new() } else { format!("extern {table}") };
    Printed {
        declarations: format!("{}{declared}{head};\n", printer.record_type()),
        definition: format!("{table}__attribute__((noinline)) {head} {{\n{body}}}\n\n"),
        calls: format!("\nLW_CALLS void run_k{index}(void) {{\n{}}}\n", printer.calls()),
    }
}

struct Printer<'a> {
    kernel: &'a Kernel,
    record: Vec<(Member, i64)>,
}

/// A number of this type, however small or large it is.
fn literal(value: i128) -> String {
    match Ty::LONG.wrap(value) {
        least if least == Ty::LONG.least() => "(-9223372036854775807 - 1)".to_string(),
        number => number.to_string(),
    }
}

impl Printer<'_> {
    // --- the kernel ---

    fn record_type(&self) -> String {
        if self.record.is_empty() {
            return String::new();
        }
        let members: String = self.record.iter().map(|(m, _)| format!(" {};", self.member(*m))).collect();
        format!("struct r{} {{{members} }};\n", self.kernel.index)
    }

    fn member(&self, member: Member) -> String {
        match member {
            Member::Param(k) => format!("{} n{k}", self.kernel.params[k].ty.name()),
            Member::Array(k) => self.pointer(k, &format!("a{k}")),
        }
    }

    fn pointer(&self, array: usize, name: &str) -> String {
        let Array { elem, row, .. } = self.kernel.arrays[array];
        match row {
            Some(length) => format!("{} (*{name})[{length}]", elem.name()),
            None => format!("{} *{name}", elem.name()),
        }
    }

    fn table(&self) -> Option<String> {
        let Kernel { index, table, params, .. } = self.kernel;
        let any = params.iter().any(|p| p.origin == Origin::Table)
            || self.kernel.sets.iter().flat_map(|s| &s.arrays).any(|a| a.object == Object::Table);
        any.then(|| format!("{} g{index}[{}]", table.name(), self.kernel.table_size()))
    }

    fn head(&self) -> String {
        let mut list = Vec::new();
        for (k, param) in self.kernel.params.iter().enumerate() {
            match param.origin {
                Origin::Argument => list.push(format!("{} n{k}", param.ty.name())),
                Origin::Pointee => list.push(format!("{} *n{k}", param.ty.name())),
                Origin::Member | Origin::Table => {}
            }
        }
        let arrays = self.kernel.arrays.iter().enumerate().filter(|(_, a)| !a.member);
        list.extend(arrays.map(|(k, _)| self.pointer(k, &format!("a{k}"))));
        if !self.record.is_empty() {
            list.push(format!("struct r{} *r", self.kernel.index));
        }
        let list = if list.is_empty() { "void".to_string() } else { list.join(", ") };
        format!("{} k{}({list})", self.kernel.sum.map_or("void", Elem::name), self.kernel.index)
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Number(n) if *n < 0 => format!("({})", literal(i128::from(*n))),
            Expr::Number(n) => n.to_string(),
            Expr::Param(k) => match self.kernel.params[*k].origin {
                Origin::Argument => format!("n{k}"),
                Origin::Pointee => format!("(*n{k})"),
                Origin::Member => format!("r->n{k}"),
                Origin::Table => format!("g{}[{k}]", self.kernel.index),
            },
            Expr::Counter(k) => format!("i{k}"),
            Expr::Cell(place) => self.place(place),
            Expr::Cast(ty, inner) => format!("({}){}", ty.name(), self.operand(inner)),
            Expr::Binary(op, a, b) => format!("{} {} {}", self.operand(a), op.sign(), self.operand(b)),
            Expr::Least(a, b) => {
                let (a, b) = (self.operand(a), self.operand(b));
                format!("({a} < {b} ? {a} : {b})")
            }
        }
    }

    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(..) | Expr::Cast(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn place(&self, place: &Place) -> String {
        let name = format!("{}a{}", if self.kernel.arrays[place.array].member { "r->" } else { "" }, place.array);
        match &place.row {
            // A row is a pointer of its own: it may be left at either end.
            Some(row) => format!("(&{name}[{}][0])[{}]", self.expr(row), self.expr(&place.at)),
            None => format!("{name}[{}]", self.expr(&place.at)),
        }
    }

    fn terms(&self, class: Elem, terms: &[Term]) -> String {
        let elem = |place: &Place| self.kernel.arrays[place.array].elem;
        let part = |term: &Term| match (term, class) {
            (Term::Read(place, factor), Elem::Int(ty)) => {
                let (unsigned, cell) = (ty.arithmetic().name(), self.place(place));
                match elem(place) {
                    Elem::Int(_) => format!("({unsigned}){cell} * {factor}"),
                    _ => format!("({unsigned})({cell} > 0.25) * {factor}"),
                }
            }
            (Term::Index(expr), Elem::Int(ty)) => format!("({})({})", ty.arithmetic().name(), self.expr(expr)),
            (Term::Read(place, factor), float) => {
                let suffix = if float == Elem::Float { "f" } else { "" };
                format!("({}){} * {:?}{suffix}", float.name(), self.place(place), *factor as f64 / 8.0)
            }
            (Term::Index(expr), float) => format!("({})({})", float.name(), self.expr(expr)),
        };
        let parts: Vec<String> = terms.iter().map(part).collect();
        if parts.is_empty() { "0".to_string() } else { parts.join(" + ") }
    }

    fn block(&self, stmts: &[Stmt], depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => self.print_loop(l, depth, out),
                Stmt::If(Cond { left, rel, right }, then, other) => {
                    let _ = writeln!(out, "{pad}if ({} {} {}) {{", self.operand(left), rel.sign(), self.operand(right));
                    self.block(then, depth + 1, out);
                    if !other.is_empty() {
                        let _ = writeln!(out, "{pad}}} else {{");
                        self.block(other, depth + 1, out);
                    }
                    let _ = writeln!(out, "{pad}}}");
                }
                Stmt::Assign(place, add, terms) => {
                    let value = self.terms(self.kernel.arrays[place.array].elem, terms);
                    let sign = if *add { "+=" } else { "=" };
                    let _ = writeln!(out, "{pad}{} {sign} {value};", self.place(place));
                }
                Stmt::Sum(terms) => {
                    let class = self.kernel.sum.unwrap_or(Elem::Double);
                    let _ = writeln!(out, "{pad}s += {};", self.terms(class, terms));
                }
                Stmt::Keep(place) => {
                    let from = self.kernel.sum.unwrap_or(Elem::Double);
                    // What a large floating-point number is as an integer, C does not say.
                    let whole =
                        matches!(from, Elem::Int(_)) || !matches!(self.kernel.arrays[place.array].elem, Elem::Int(_));
                    let _ = writeln!(out, "{pad}{} = {};", self.place(place), if whole { "s" } else { "s > 0.25" });
                }
            }
        }
    }

    fn print_loop(&self, l: &Loop, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let Loop { counter, form, start, rel, end, step, body } = l;
        let start = format!("{} i{counter} = {}", self.kernel.counters[*counter].name(), self.expr(start));
        let (sign, end) = (rel.sign(), self.operand(end));
        let next = match step {
            1 => format!("i{counter}++"),
            -1 => format!("i{counter}--"),
            n if *n < 0 => format!("i{counter} -= {}", -n),
            n => format!("i{counter} += {n}"),
        };
        let (before, after) = match form {
            Form::For => (format!("for ({start}; i{counter} {sign} {end}; {next}) {{"), "}".to_string()),
            Form::CountDown => (format!("for ({start}; i{counter}-- {sign} {end};) {{"), "}".to_string()),
            Form::Do => {
                let next = if *step < 0 { format!("-= {}", -step) } else { format!("+= {step}") };
                (format!("{{ {start}; do {{"), format!("}} while ((i{counter} {next}) {sign} {end}); }}"))
            }
        };
        let _ = writeln!(out, "{pad}{before}");
        self.block(body, depth + 1, out);
        let _ = writeln!(out, "{pad}{after}");
    }

    // --- its calls ---

    fn spot(&self, array: usize, spot: Spot) -> String {
        let Array { elem, .. } = self.kernel.arrays[array];
        match spot.object {
            Object::Arena => format!("(void *)(m + V({}))", spot.byte),
            Object::Table => format!("(void *)(g{} + V({}))", self.kernel.index, spot.byte / elem.bytes()),
        }
    }

    fn calls(&self) -> String {
        let Kernel { index, params, arena, sum, .. } = self.kernel;
        let mut out = String::new();
        for (s, set) in self.kernel.sets.iter().enumerate() {
            let _ = writeln!(out, "  {{\n    lw_start({}u);\n    char *m = lw_new_arena({arena});", index * 64 + s);
            for Segment { elem, start, cells } in &self.kernel.segments {
                let each = if matches!(elem, Elem::Int(_)) { "1" } else { "0.015625" };
                let _ = writeln!(out, "    LW_RAMP({}, m + {start}, {cells}, {each});", elem.name());
            }
            let mut list = Vec::new();
            for (k, param) in params.iter().enumerate() {
                let (ty, value) = (param.ty.name(), literal(set.values[k]));
                match param.origin {
                    Origin::Argument => list.push(format!("({ty})V({value})")),
                    Origin::Pointee => {
                        let at = set.pointees[k];
                        let _ = writeln!(out, "    *({ty} *)(m + {at}) = ({ty})V({value});");
                        list.push(format!("(void *)(m + V({at}))"));
                    }
                    Origin::Table => {
                        let _ = writeln!(out, "    g{index}[{k}] = ({ty})V({value});");
                    }
                    Origin::Member => {}
                }
            }
            let passed = (0..self.kernel.arrays.len()).filter(|k| !self.kernel.arrays[*k].member);
            list.extend(passed.map(|k| self.spot(k, set.arrays[k])));
            let mut kept = String::new();
            if !self.record.is_empty() {
                let _ = writeln!(out, "    struct r{index} *r = (void *)(m + V({}));", set.record);
                list.push("r".to_string());
                for (member, _) in &self.record {
                    match member {
                        Member::Param(k) => {
                            let (ty, value) = (params[*k].ty.name(), literal(set.values[*k]));
                            let _ = writeln!(out, "    r->n{k} = ({ty})V({value});");
                        }
                        Member::Array(k) => {
                            let spot = self.spot(*k, set.arrays[*k]);
                            let _ = writeln!(out, "    r->a{k} = {spot};");
                            // Addresses differ from run to run.
                            let _ = writeln!(kept, "    lw_mix((void *)r->a{k} == {spot});\n    r->a{k} = 0;");
                        }
                    }
                }
            }
            let call = format!("k{index}({})", list.join(", "));
            match sum {
                Some(Elem::Int(ty)) => {
                    let _ = writeln!(out, "    {} s = {call};\n    lw_mix_bytes(&s, sizeof s);", ty.name());
                }
                Some(float) => {
                    let ty = float.name();
                    let _ = writeln!(out, "    {ty} s = {call};\n    lw_mix_{ty}(&s, 1);");
                }
                None => {
                    let _ = writeln!(out, "    {call};");
                }
            }
            out.push_str(&kept);
            let mut hashed = 0;
            let mut segments = self.kernel.segments.clone();
            segments.retain(|s| !matches!(s.elem, Elem::Int(_)));
            segments.sort_by_key(|s| s.start);
            for Segment { elem, start, cells } in segments {
                let ty = elem.name();
                let _ = writeln!(out, "    lw_mix_bytes(m + {hashed}, {});", start - hashed);
                let _ = writeln!(out, "    lw_mix_{ty}(({ty} *)(m + {start}), {cells});");
                hashed = start + cells * elem.bytes();
            }
            let _ = writeln!(out, "    lw_mix_bytes(m + {hashed}, {});\n    free(m);", arena - hashed);
            if self.table().is_some() {
                let _ = writeln!(out, "    lw_mix_bytes(g{index}, sizeof g{index});");
            }
            let _ = writeln!(out, "    lw_report({index}, {s});\n  }}");
        }
        out
    }
}
