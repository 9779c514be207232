//! An odd kernel as C.

use super::interpret::{self, Extents};
use super::*;
use crate::print::Printed;
use std::cell::Cell;
use std::fmt::Write;

/// What programs with odd kernels begin with, and what their drivers need.
pub const PRELUDE: &str = include_str!("prelude.h");
pub const DRIVER: &str = include_str!("driver.h");

/// Bytes beside those that a call touches: they must stay as they are, and unions may reach over the end.
const MARGIN: i64 = 64;

struct Printer<'a> {
    kernel: &'a Kernel,
    extents: Extents,
    labels: Cell<usize>,
}

/// Requires: the kernel is valid.
pub fn print(kernel: &Kernel) -> Printed {
    let extents = interpret::extents(kernel).expect("only valid kernels are printed");
    let printer = Printer { kernel, extents, labels: Cell::new(0) };
    let mut body = String::new();
    if kernel.reassociate {
        body.push_str("  #pragma clang fp reassociate(on)\n");
    }
    for (k, ty) in kernel.locals.iter().enumerate() {
        let _ = writeln!(body, "  {} x{k} = {};", ty.name(), if ty.is_vector() { "{0}" } else { "0" });
    }
    printer.block(&kernel.body, 1, &mut body);
    if kernel.result.is_some() {
        let _ = writeln!(body, "  {}", printer.give_back());
    }
    let (own, outside) = printer.globals();
    let head = printer.head();
    let (linkage, dispatch) = match printer.dispatch() {
        Some(dispatch) => ("static ", dispatch),
        None => ("__attribute__((noinline)) ", String::new()),
    };
    let declared = if dispatch.is_empty() { head.clone() } else { printer.dispatch_head() };
    Printed {
        declarations: format!("{outside}{declared};\n"),
        definition: format!("{own}{linkage}{head} {{\n{body}}}\n{dispatch}\n"),
        calls: format!("LW_CALLS void run_k{}(void) {{\n{}}}\n\n", kernel.index, printer.calls()),
    }
}

/// A literal of C that has this value.
fn literal(n: i64) -> String {
    match n {
        i64::MIN => "(-9223372036854775807l - 1)".into(),
        n if i32::try_from(n).is_err() => format!("{n}l"),
        n if n < 0 => format!("({n})"),
        n => n.to_string(),
    }
}

impl Printer<'_> {
    // --- the function ---

    fn result(&self) -> &'static str {
        if self.kernel.result.is_some() { "u64" } else { "void" }
    }

    fn pointer(&self, k: usize) -> String {
        let Pointer { elem, row, restrict, .. } = self.kernel.pointers[k];
        let name = format!("{}p{k}", if restrict { "restrict " } else { "" });
        match row {
            Some(row) => format!("{} (*{name})[{row}]", elem.name()),
            None => format!("{} *{name}", elem.name()),
        }
    }

    fn passed_pointers(&self) -> Vec<usize> {
        let pointers = 0..self.kernel.pointers.len();
        pointers.filter(|k| self.kernel.pointers[*k].place == Where::Argument).collect()
    }

    fn head(&self) -> String {
        let params = self.kernel.params.iter().enumerate();
        let mut list: Vec<String> = params.map(|(k, p)| format!("{} n{k}", p.ty.name())).collect();
        list.extend(self.passed_pointers().into_iter().map(|k| self.pointer(k)));
        format!(
            "{} k{}({})",
            self.result(),
            self.kernel.index,
            if list.is_empty() { "void".into() } else { list.join(", ") }
        )
    }

    fn dispatch_head(&self) -> String {
        let params = self.kernel.params.iter().enumerate().filter(|(_, p)| !p.known);
        let mut list = vec!["int set".to_string()];
        list.extend(params.map(|(k, p)| format!("{} n{k}", p.ty.name())));
        list.extend(self.passed_pointers().into_iter().map(|k| self.pointer(k)));
        format!("__attribute__((noinline)) {} w{}({})", self.result(), self.kernel.index, list.join(", "))
    }

    /// A caller in which the compiler sees some arguments.
    fn dispatch(&self) -> Option<String> {
        if !self.kernel.params.iter().any(|p| p.known) {
            return None;
        }
        let mut out = format!("{} {{\n  switch (set) {{\n", self.dispatch_head());
        for (s, set) in self.kernel.sets.iter().enumerate() {
            let mut list: Vec<String> = Vec::new();
            for (k, param) in self.kernel.params.iter().enumerate() {
                list.push(if param.known { literal(set.values[k]) } else { format!("n{k}") });
            }
            list.extend(self.passed_pointers().into_iter().map(|k| format!("p{k}")));
            let call = format!("k{}({})", self.kernel.index, list.join(", "));
            let call =
                if self.kernel.result.is_some() { format!("return {call};") } else { format!("{call}; return;") };
            let _ = writeln!(out, "  case {s}: {call}");
        }
        let end = if self.kernel.result.is_some() { "  return 0;\n" } else { "" };
        let _ = writeln!(out, "  }}\n{end}}}");
        Some(out)
    }

    /// Definitions, and declarations for the driver.
    fn globals(&self) -> (String, String) {
        let mut own = String::new();
        let mut outside = String::new();
        for (k, pointer) in self.kernel.pointers.iter().enumerate() {
            let local = match pointer.place {
                Where::Argument => continue,
                Where::Global => "",
                Where::ThreadLocal => "_Thread_local ",
            };
            let text = format!(
                "{local}{} __attribute__((aligned(64))) {}[{}]",
                pointer.elem.name(),
                self.name(k),
                self.global_cells(k)
            );
            let _ = writeln!(own, "{text};");
            let _ = writeln!(outside, "extern {text};");
        }
        for (kind, text) in [
            (Neighbour::Volatile, format!("volatile u32 v{}", self.kernel.index)),
            (Neighbour::Atomic, format!("_Atomic u32 a{}", self.kernel.index)),
            (Neighbour::ThreadLocal, format!("_Thread_local u32 t{}", self.kernel.index)),
        ] {
            if touches(&self.kernel.body, kind) {
                let _ = writeln!(own, "{text};");
                let _ = writeln!(outside, "extern {text};");
            }
        }
        (own, outside)
    }

    fn global_cells(&self, pointer: usize) -> i64 {
        let (_, end) = self.extents[self.global_block(pointer)];
        end / self.kernel.pointers[pointer].elem.bytes() + MARGIN
    }

    fn global_block(&self, pointer: usize) -> usize {
        let found = self.kernel.blocks.iter().position(|b| *b == Block::Global(pointer));
        found.expect("every global array is a block")
    }

    fn name(&self, pointer: usize) -> String {
        match self.kernel.pointers[pointer].place {
            Where::Argument => format!("p{pointer}"),
            _ => format!("g{}_{pointer}", self.kernel.index),
        }
    }

    fn give_back(&self) -> String {
        match self.kernel.result {
            Some(local) => format!("return {};", self.value(&Value::Local(local), unsigned(64))),
            None => "return;".into(),
        }
    }

    // --- expressions ---

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Number(n) => literal(*n),
            Expr::Counter(k) => format!("i{k}"),
            Expr::Param(k) => format!("n{k}"),
            Expr::Sum(a, b) => match &**b {
                Expr::Number(n) if *n < 0 => format!("{} - {}", self.expr(a), -n),
                b => format!("{} + {}", self.expr(a), self.expr(b)),
            },
            Expr::Times(n, a) => format!("{} * {}", literal(*n), self.operand(a)),
            Expr::Partial(op, bits, a, b) => {
                let signed = signed(*bits).name();
                let unsigned = unsigned(*bits).name();
                let long = if *bits == 64 { "l" } else { "" };
                let (a, b) = (self.operand(a), self.operand(b));
                match op {
                    Partial::ShiftLeft => format!("(({signed}){a} << {b})"),
                    Partial::ShiftRight => format!("(({signed}){a} >> {b})"),
                    Partial::Quotient => format!("(({signed}){a} / ({signed}){b})"),
                    Partial::Remainder => format!("(({signed}){a} % ({signed}){b})"),
                    Partial::TrailingZeros => format!("__builtin_ctz{long}(({unsigned}){a})"),
                    Partial::LeadingZeros => format!("__builtin_clz{long}(({unsigned}){a})"),
                    Partial::Magnitude => format!("__builtin_{long}abs(({signed}){a})"),
                    Partial::ToSigned => format!("(({signed}){a})"),
                    Partial::ToUnsigned => format!("(({unsigned}){a})"),
                }
            }
        }
    }

    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Sum(..) | Expr::Times(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn cond(&self, cond: &Cond) -> String {
        format!("{} {} {}", self.expr(&cond.left), cond.rel.sign(), self.expr(&cond.right))
    }

    fn address(&self, place: &Place) -> String {
        let at = self.operand(&place.at);
        let name = self.name(place.pointer);
        match (&place.row, self.kernel.pointers[place.pointer].row) {
            (Some(row), Some(length)) => format!("((char *){name} + {length} * {} + {at})", self.operand(row)),
            _ => format!("((char *){name} + {at})"),
        }
    }

    /// Something that can be read and stored to, if the door is not `memcpy`.
    fn lvalue(&self, place: &Place) -> String {
        let ty = place.ty.name();
        match place.how {
            How::Plain | How::Field(_) => {
                let name = self.name(place.pointer);
                let at = self.expr(&place.at);
                let cell = match &place.row {
                    Some(row) => format!("{name}[{}][{at}]", self.expr(row)),
                    None => format!("{name}[{at}]"),
                };
                match place.how {
                    How::Field(k) => format!("{cell}.{}", ["a", "b", "c", "d", "e", "f"][k % 6]),
                    _ => cell,
                }
            }
            How::Unaligned => format!("*({ty}_u *){}", self.address(place)),
            How::Alias => format!("*({ty}_m *){}", self.address(place)),
            How::Over => format!("*({ty}_a *){}", self.address(place)),
            How::Assumed => format!("*({ty}_m *)__builtin_assume_aligned({}, 16)", self.address(place)),
            How::Pun => format!("((lw_pun *){})->{ty}", self.address(place)),
            How::Copy | How::Three => unreachable!("copied, not named"),
        }
    }

    /// The value in a place, of the place's type, as it is.
    fn read(&self, place: &Place) -> String {
        match place.how {
            How::Copy | How::Three => {
                format!("LW_GET({}, {}, {})", place.ty.name(), self.address(place), place.bytes())
            }
            How::Plain if place.ty == self.kernel.pointers[place.pointer].elem => self.lvalue(place),
            How::Plain | How::Field(_) => format!("({}){}", place.ty.name(), self.lvalue(place)),
            _ => self.lvalue(place),
        }
    }

    fn write(&self, place: &Place, value: &str) -> String {
        match place.how {
            How::Copy | How::Three => {
                format!("LW_SET({}, {}, {}, {value});", place.ty.name(), self.address(place), place.bytes())
            }
            _ => format!("{} = {value};", self.lvalue(place)),
        }
    }

    /// Of exactly this type.
    fn value(&self, value: &Value, ty: Ty) -> String {
        let name = ty.name();
        match value {
            Value::Number(n) => self.convert(&literal(*n), signed(32), ty),
            Value::Index(expr) => {
                let from = match expr {
                    Expr::Partial(Partial::ToUnsigned, bits, ..) => unsigned(*bits),
                    Expr::Partial(_, bits, ..) => signed(*bits),
                    _ => self.kernel.counter,
                };
                self.convert(&format!("({})({})", from.name(), self.expr(expr)), from, ty)
            }
            Value::Read(place) => {
                let read = self.read(place);
                // Of two numbers that are none, an operation keeps either's bits: one at most takes part in any whose bits matter.
                let any_bytes = self.kernel.pointers[place.pointer].row.is_none();
                let tamed = if any_bytes { tame(place.ty, read) } else { read };
                self.convert(&tamed, place.ty, ty)
            }
            Value::Local(k) => self.convert(&format!("x{k}"), self.kernel.locals[*k], ty),
            Value::Binary(op, a, b) => self.operate(*op, &self.value(a, ty), &self.value(b, ty), ty),
            Value::As(as_type, a) => self.convert(&self.value(a, *as_type), *as_type, ty),
            Value::Bits(from, to, a) => {
                let a = self.value(a, *from);
                let bits = format!("LW_BITS({}, {}, {})", from.name(), to.name(), tame(*from, a));
                self.convert(&tame(*to, bits), *to, ty)
            }
            Value::Pick(cond, a, b) => {
                format!("({} ? {} : {})", self.cond(cond), self.value(a, ty), self.value(b, ty))
            }
            Value::Call(math, a) => {
                let x = self.value(a, Ty::Double);
                let (call, of) = match math {
                    Math::Log => (format!("log({x})"), Ty::Double),
                    Math::Exp => (format!("exp({x})"), Ty::Double),
                    Math::Root => (format!("sqrt({x})"), Ty::Double),
                    Math::Power => (format!("pow({x}, {x})"), Ty::Double),
                    Math::Arcus => (format!("acos({x})"), Ty::Double),
                    Math::Modulo => (format!("fmod(1.5, {x})"), Ty::Double),
                    Math::LogFloat => (format!("logf((f32){x})"), Ty::Float),
                    Math::RootFloat => (format!("sqrtf((f32){x})"), Ty::Float),
                };
                self.convert(&call, of, ty)
            }
            Value::Errno => format!("({name})errno"),
        }
    }

    fn convert(&self, text: &str, from: Ty, to: Ty) -> String {
        if from == to {
            return text.to_string();
        }
        let name = to.name();
        match (from, to) {
            _ if from.is_vector() && to.is_vector() && from.part().is_integer() && to.part().is_integer() => {
                format!("({name})({text})")
            }
            _ if from.is_vector() => self.convert(&format!("({text})[1]"), from.part(), to),
            _ if to.is_vector() => format!("(({name}){{0}} + {})", self.convert(text, from, to.part())),
            (Ty::Complex, _) => self.convert(&format!("(__real__ ({text}))"), Ty::Float, to),
            (_, Ty::Bool) if from.is_integer() => format!("(b8)({text} & 5)"),
            (_, Ty::Bool) => format!("(b8)({text} > 0)"),
            (_, Ty::Int { signed, .. }) if from.is_real() => {
                let tame = if signed { "LW_TAME" } else { "LW_TAME_UP" };
                format!("({name}){tame}({}, {text})", from.name())
            }
            // Any number of 16 bytes is more than a small one can be.
            (Ty::Int { bits, .. }, Ty::Half) if bits > 8 => format!("(f16)(s8)({text})"),
            _ => format!("({name})({text})"),
        }
    }

    fn operate(&self, op: Op, a: &str, b: &str, ty: Ty) -> String {
        let name = ty.name();
        let sign = match op {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
            Op::Min => return format!("LW_MIN({name}, {a}, {b})"),
            Op::Max => return format!("LW_MAX({name}, {a}, {b})"),
        };
        match ty {
            Ty::Int { bits, .. } => {
                let wide = unsigned(bits.max(32)).name();
                if wide == name {
                    format!("({a} {sign} {b})")
                } else {
                    format!("({name})(({wide}){a} {sign} ({wide}){b})")
                }
            }
            Ty::Bool => format!("(b8)((u32){a} {sign} (u32){b})"),
            Ty::Half => format!("(f16)({a} {sign} {b})"),
            _ => format!("({a} {sign} {b})"),
        }
    }

    // --- statements ---

    fn block(&self, stmts: &[Stmt], depth: usize, out: &mut String) {
        for stmt in stmts {
            self.stmt(stmt, depth, out);
        }
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let index = self.kernel.index;
        let line = match stmt {
            Stmt::Loop(l) => return self.print_loop(l, depth, out),
            Stmt::If(cond, then, other) => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.cond(cond));
                self.block(then, depth + 1, out);
                if !other.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(other, depth + 1, out);
                }
                "}".into()
            }
            Stmt::Switch(on, arms, computed) => return self.switch(on, arms, *computed, depth, out),
            Stmt::Store(place, value) => self.write(place, &self.value(value, place.ty)),
            Stmt::Update(place, op, value) => {
                let new = self.operate(*op, &self.read(place), &self.value(value, place.ty), place.ty);
                self.write(place, &new)
            }
            Stmt::Set(k, value) => format!("x{k} = {};", self.value(value, self.kernel.locals[*k])),
            Stmt::Fold(k, op, value) => {
                let ty = self.kernel.locals[*k];
                format!("x{k} = {};", self.operate(*op, &format!("x{k}"), &self.value(value, ty), ty))
            }
            Stmt::Leave(cond, exit) => {
                let exit = match exit {
                    Exit::Handler(code) => format!("lw_leave({code});"),
                    Exit::Return => self.give_back(),
                    Exit::Break => "break;".into(),
                    Exit::Continue => "continue;".into(),
                };
                format!("if ({}) {exit}", self.cond(cond))
            }
            Stmt::Promise(cond, Promise::Assume) => format!("__builtin_assume({});", self.cond(cond)),
            Stmt::Promise(cond, Promise::Unreachable) => {
                format!("if (!({})) __builtin_unreachable();", self.cond(cond))
            }
            Stmt::SetErrno(value) => format!("errno = {};", self.value(value, signed(32))),
            Stmt::Touch(Neighbour::Volatile) => format!("v{index} = v{index} * 3 + 1;"),
            Stmt::Touch(Neighbour::Atomic) => format!("a{index} += 3;"),
            Stmt::Touch(Neighbour::ThreadLocal) => format!("t{index} = t{index} * 5 + 1;"),
            Stmt::Touch(Neighbour::Fence) => "__atomic_thread_fence(__ATOMIC_SEQ_CST);".into(),
        };
        let _ = writeln!(out, "{pad}{line}");
    }

    fn switch(&self, on: &Expr, arms: &[Vec<Stmt>], computed: bool, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let on = format!("(unsigned)({}) % {}", self.expr(on), arms.len().max(1));
        if !computed {
            let _ = writeln!(out, "{pad}switch ({on}) {{");
            for (k, arm) in arms.iter().enumerate() {
                let _ = writeln!(out, "{pad}case {k}:");
                self.block(arm, depth + 1, out);
                let _ = writeln!(out, "{pad}  break;");
            }
            let _ = writeln!(out, "{pad}}}");
            return;
        }
        let base = self.labels.replace(self.labels.get() + arms.len() + 1);
        let labels: Vec<String> = (0..arms.len()).map(|k| format!("&&l{}", base + k)).collect();
        let end = base + arms.len();
        let _ = writeln!(out, "{pad}{{ static void *const to[] = {{{}}}; goto *to[{on}]; }}", labels.join(", "));
        for (k, arm) in arms.iter().enumerate() {
            let _ = writeln!(out, "{pad}l{}:;", base + k);
            self.block(arm, depth + 1, out);
            let _ = writeln!(out, "{pad}  goto l{end};");
        }
        let _ = writeln!(out, "{pad}l{end}:;");
    }

    fn print_loop(&self, l: &Loop, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let (ty, low, high, step) = (self.kernel.counter.name(), self.expr(&l.low), self.operand(&l.high), l.step);
        let i = format!("i{}", l.counter);
        let next = if step == 1 { format!("{i}++") } else { format!("{i} += {step}") };
        let (before, after) = match l.form {
            Form::Up => (format!("for ({ty} {i} = {low}; {i} < {high}; {next}) {{"), "}".to_string()),
            Form::Down => (
                format!("for ({ty} {i} = {high} - 1; {i} >= {}; {i} -= {step}) {{", self.operand(&l.low)),
                "}".to_string(),
            ),
            Form::Do => (format!("{{ {ty} {i} = {low}; do {{"), format!("}} while (({i} += {step}) < {high}); }}")),
        };
        let _ = writeln!(out, "{pad}{before}");
        self.block(&l.body, depth + 1, out);
        let _ = writeln!(out, "{pad}{after}");
    }

    // --- its calls ---

    fn calls(&self) -> String {
        let kernel = self.kernel;
        let index = kernel.index;
        let dispatched = kernel.params.iter().any(|p| p.known);
        let mut out = String::new();
        for (s, set) in kernel.sets.iter().enumerate() {
            let _ = writeln!(out, "  {{\n    lw_start({}u);", index * 64 + s);
            let (mut after, mut end) = (String::new(), String::new());
            for (b, block) in kernel.blocks.iter().enumerate() {
                let (start, stop) = self.extents[b];
                let (name, bytes, ty) = match block {
                    Block::Errno => continue,
                    Block::Global(k) => {
                        let ty = kernel.pointers[*k].elem;
                        (self.name(*k), self.global_cells(*k) * ty.bytes(), ty)
                    }
                    Block::Filled(_) | Block::Arguments => {
                        let ty = if let Block::Filled(ty) = block { *ty } else { Ty::Double };
                        let bytes = (stop + MARGIN + 63) / 64 * 64 - self.origin(start);
                        let _ = writeln!(out, "    char *m{b} = lw_odd_block({bytes});");
                        let _ = writeln!(end, "    free(m{b});");
                        (format!("m{b}"), bytes, ty)
                    }
                };
                let (fill, mix) = fill_and_mix(ty);
                let fill = if *block == Block::Arguments { "lw_odd_fill_arguments".into() } else { fill };
                let _ = writeln!(out, "    {fill}((void *){name}, {bytes});");
                let _ = writeln!(after, "    {mix}((void *){name}, {bytes});");
            }
            for (kind, letter) in [(Neighbour::Volatile, 'v'), (Neighbour::Atomic, 'a'), (Neighbour::ThreadLocal, 't')]
            {
                if touches(&kernel.body, kind) {
                    let _ = writeln!(out, "    {letter}{index} = 1;");
                    let _ = writeln!(after, "    lw_mix({letter}{index});");
                }
            }
            let mut list: Vec<String> = if dispatched { vec![format!("V({s})")] } else { Vec::new() };
            for (k, param) in kernel.params.iter().enumerate().filter(|(_, p)| !p.known) {
                list.push(format!("({})V({})", param.ty.name(), literal(set.values[k])));
            }
            for k in self.passed_pointers() {
                let (b, byte) = set.at[k];
                list.push(match kernel.blocks[b] {
                    Block::Errno => "&errno".into(),
                    Block::Global(p) => format!("(void *)((char *){} + V({byte}))", self.name(p)),
                    Block::Filled(_) | Block::Arguments => {
                        format!("(void *)(m{b} + V({}))", byte - self.origin(self.extents[b].0))
                    }
                });
            }
            let call = format!("{}{index}({})", if dispatched { 'w' } else { 'k' }, list.join(", "));
            let call = if kernel.result.is_some() { format!("lw_mix({call});") } else { format!("{call};") };
            let _ = writeln!(out, "    errno = 0;\n    if (!setjmp(lw_back)) {call}");
            // Threads leave there what they like when they are started; it only counts for those who look.
            if kernel.mentions_errno() {
                let _ = writeln!(out, "    lw_mix(errno);");
            }
            let _ = writeln!(out, "{after}{end}    lw_report({index}, {s});\n  }}");
        }
        out
    }

    /// Where a block begins, in the numbering of its bytes: on a boundary, below all that is touched.
    fn origin(&self, start: i64) -> i64 {
        (start - MARGIN).div_euclid(64) * 64
    }
}

/// What bytes mean as this type, where arithmetic with it is harmless.
fn tame(ty: Ty, text: String) -> String {
    match ty {
        Ty::Floats => format!("LW_TAME_LANES({text})"),
        _ if ty.is_real() => format!("LW_TAME({}, {text})", ty.name()),
        _ => text,
    }
}

fn fill_and_mix(ty: Ty) -> (String, String) {
    let fill = match ty {
        Ty::Int { bits, .. } => unsigned(bits).name(),
        Ty::Lanes(bits) => unsigned(bits).name(),
        Ty::Fields => "u8".into(),
        Ty::Complex | Ty::Floats => "f32".into(),
        other => other.name(),
    };
    let mix = match ty {
        _ if ty.is_real() => format!("lw_odd_mix_{}", ty.name()),
        Ty::Complex | Ty::Floats => "lw_odd_mix_f32".into(),
        _ => "lw_mix_bytes".into(),
    };
    (format!("lw_odd_fill_{fill}"), mix)
}

fn touches(stmts: &[Stmt], kind: Neighbour) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Touch(other) => *other == kind,
        Stmt::Loop(l) => touches(&l.body, kind),
        Stmt::If(_, a, b) => touches(a, kind) || touches(b, kind),
        Stmt::Switch(_, arms, _) => arms.iter().any(|arm| touches(arm, kind)),
        _ => false,
    })
}
