//! Executes a kernel with one argument set, and says whether C defines what it does.

use super::*;

/// Statements and tests of loops in one call.
const MOST_STEPS: usize = 6000;

pub type Invalid = &'static str;

/// What happened in a call.
#[derive(Clone, Debug)]
pub struct Trace {
    pub stores: usize,
    /// A parameter in memory was overwritten with something else.
    pub changed: bool,
    /// By array: the first byte touched and the one behind the last, counted from its pointer.
    pub reach: Vec<Option<(i64, i64)>>,
    /// The same of what was stored to.
    pub written: Vec<Option<(i64, i64)>>,
}

/// What the bytes of the memory are. Whoever stores a cell must have the type of what was there; only bytes may go anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Between cells.
    Padding,
    Cell(Elem),
    Pointer,
}

/// `None` is not known: what floating-point cells contain is not followed.
type Known = Option<i128>;

struct Memory {
    bytes: Vec<Option<u8>>,
    kinds: Vec<Kind>,
}

impl Memory {
    fn new(size: i64) -> Memory {
        Memory { bytes: vec![Some(0); size as usize], kinds: vec![Kind::Padding; size as usize] }
    }

    fn set(&mut self, at: i64, kind: Kind, bytes: i64, value: Known) {
        for k in 0..bytes {
            let n = (at + k) as usize;
            self.bytes[n] = value.map(|v| (v >> (8 * k)) as u8);
            self.kinds[n] = kind;
        }
    }

    fn check(&self, at: i128, elem: Elem) -> Result<usize, Invalid> {
        let bytes = i128::from(elem.bytes());
        if at < 0 || at + bytes > self.bytes.len() as i128 {
            return Err("out of bounds");
        }
        if at % bytes != 0 {
            return Err("not aligned");
        }
        let start = at as usize;
        let fits = |kind: &Kind| match (kind, elem) {
            (Kind::Cell(Elem::Int(_)) | Kind::Padding, Elem::Int(ty)) if ty.bits == 8 => true,
            (Kind::Cell(other), _) => other.is_compatible(elem),
            _ => false,
        };
        let all = &self.kinds[start..start + bytes as usize];
        if all.iter().all(fits) { Ok(start) } else { Err("a cell of another type") }
    }

    fn load(&self, at: i128, elem: Elem) -> Result<Known, Invalid> {
        let start = self.check(at, elem)?;
        let Elem::Int(ty) = elem else { return Ok(None) };
        let bytes = &self.bytes[start..start + elem.bytes() as usize];
        let join = |sum: Known, (k, byte): (usize, &Option<u8>)| Some(sum? | i128::from((*byte)?) << (8 * k));
        Ok(bytes.iter().enumerate().fold(Some(0), join).map(|v| ty.wrap(v)))
    }

    fn store(&mut self, at: i128, elem: Elem, value: Known) -> Result<(), Invalid> {
        let start = self.check(at, elem)?;
        for k in 0..elem.bytes() as usize {
            self.bytes[start + k] = value.map(|v| (v >> (8 * k)) as u8);
        }
        Ok(())
    }
}

/// What cells contain at the start; the driver computes the same.
pub fn initial(cell: i64) -> i64 {
    (cell * 37 + 11) % 101 - 20
}

struct Machine<'a> {
    kernel: &'a Kernel,
    set: &'a Set,
    arena: Memory,
    table: Memory,
    record: Vec<(Member, i64)>,
    counters: Vec<i128>,
    sum: Known,
    steps: usize,
    trace: Trace,
}

/// Ensures: the call is free of undefined behaviour, and short.
pub fn run(kernel: &Kernel, set: &Set) -> Result<Trace, Invalid> {
    let mut machine = Machine {
        kernel,
        set,
        arena: Memory::new(kernel.arena),
        table: Memory::new(kernel.table_size() * i64::from(kernel.table.bits / 8)),
        record: kernel.record(),
        counters: vec![0; kernel.counters.len()],
        sum: matches!(kernel.sum, Some(Elem::Int(_))).then_some(0),
        steps: 0,
        trace: Trace {
            stores: 0,
            changed: false,
            reach: vec![None; kernel.arrays.len()],
            written: vec![None; kernel.arrays.len()],
        },
    };
    machine.prepare()?;
    machine.block(&kernel.body)?;
    for (k, value) in set.values.iter().enumerate() {
        machine.trace.changed |= machine.param(k)? != Some(*value);
    }
    Ok(machine.trace)
}

impl Machine<'_> {
    /// In the order of the driver.
    fn prepare(&mut self) -> Result<(), Invalid> {
        let kernel = self.kernel;
        for segment in &kernel.segments {
            for cell in 0..segment.cells {
                let value = matches!(segment.elem, Elem::Int(_)).then(|| i128::from(initial(cell)));
                let at = segment.start + cell * segment.elem.bytes();
                self.arena.set(at, Kind::Cell(segment.elem), segment.elem.bytes(), value);
            }
        }
        for (k, param) in kernel.params.iter().enumerate() {
            let (bytes, value) = (i64::from(param.ty.bits / 8), Some(self.set.values[k]));
            match param.origin {
                Origin::Pointee => {
                    let at = self.set.pointees[k];
                    room(at, bytes, kernel.arena)?;
                    self.arena.set(at, Kind::Cell(Elem::Int(param.ty)), bytes, value);
                }
                Origin::Table => self.table.set(k as i64 * bytes, Kind::Cell(Elem::Int(kernel.table)), bytes, value),
                Origin::Argument | Origin::Member => {}
            }
        }
        for (member, offset) in self.record.clone() {
            let at = self.set.record + offset;
            let (kind, bytes, value) = match member {
                Member::Param(k) => {
                    let ty = kernel.params[k].ty;
                    (Kind::Cell(Elem::Int(ty)), i64::from(ty.bits / 8), Some(self.set.values[k]))
                }
                Member::Array(_) => (Kind::Pointer, 8, None),
            };
            room(at, bytes, kernel.arena)?;
            self.arena.set(at, kind, bytes, value);
        }
        // A later one may lie on an earlier one, and their types differ.
        for (k, param) in kernel.params.iter().enumerate() {
            if param.origin == Origin::Pointee {
                self.arena.load(i128::from(self.set.pointees[k]), Elem::Int(param.ty))?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Invalid> {
        self.steps += 1;
        if self.steps > MOST_STEPS { Err("takes long") } else { Ok(()) }
    }

    fn block(&mut self, stmts: &[Stmt]) -> Result<(), Invalid> {
        for stmt in stmts {
            self.step()?;
            match stmt {
                Stmt::Loop(l) => self.turn(l)?,
                Stmt::If(cond, then, other) => {
                    let holds = self.compare(&cond.left, cond.rel, &cond.right)?;
                    self.block(if holds { then } else { other })?;
                }
                Stmt::Assign(place, add, terms) => {
                    let (spot, elem) = self.target(place)?;
                    let mut value = self.value(elem, terms)?;
                    if *add {
                        let old = self.load(spot, elem)?;
                        value = old.zip(value).map(|(a, b)| a + b);
                    }
                    self.store(spot, elem, value)?;
                }
                Stmt::Sum(terms) => {
                    let elem = self.kernel.sum.ok_or("no sum")?;
                    let value = self.value(elem, terms)?;
                    self.sum = self.sum.zip(value).map(|(a, b)| a + b);
                    if let Elem::Int(ty) = elem {
                        self.sum = self.sum.map(|v| ty.wrap(v));
                    }
                }
                Stmt::Keep(place) => {
                    let (spot, elem) = self.target(place)?;
                    let from = self.kernel.sum.ok_or("no sum")?;
                    let value = if matches!(from, Elem::Int(_)) { self.sum } else { None };
                    self.store(spot, elem, value)?;
                }
            }
        }
        Ok(())
    }

    fn turn(&mut self, l: &Loop) -> Result<(), Invalid> {
        let ty = self.kernel.counters[l.counter];
        let counter = Expr::Counter(l.counter);
        self.counters[l.counter] = ty.wrap(self.number(&l.start)?);
        let mut first = true;
        loop {
            self.step()?;
            let holds = match l.form {
                Form::For => self.compare(&counter, l.rel, &l.end)?,
                Form::Do => first || self.compare(&counter, l.rel, &l.end)?,
                Form::CountDown => {
                    let holds = self.compare(&counter, l.rel, &l.end)?;
                    self.advance(l.counter, ty, -1)?;
                    holds
                }
            };
            if !holds {
                return Ok(());
            }
            first = false;
            self.block(&l.body)?;
            if l.form != Form::CountDown {
                self.advance(l.counter, ty, l.step)?;
            }
        }
    }

    /// `i += step`: computed in the promoted type, converted back.
    fn advance(&mut self, counter: usize, ty: Ty, step: i64) -> Result<(), Invalid> {
        let sum = result(ty.promoted(), self.counters[counter] + i128::from(step))?;
        self.counters[counter] = ty.wrap(sum);
        Ok(())
    }

    fn compare(&mut self, left: &Expr, rel: Rel, right: &Expr) -> Result<bool, Invalid> {
        let ((a, x), (b, y)) = (self.typed(left)?, self.typed(right)?);
        let common = a.common(b);
        let (x, y) = x.zip(y).ok_or("unknown")?;
        Ok(rel.holds(common.wrap(x), common.wrap(y)))
    }

    fn number(&mut self, expr: &Expr) -> Result<i128, Invalid> {
        self.typed(expr)?.1.ok_or("unknown")
    }

    fn typed(&mut self, expr: &Expr) -> Result<(Ty, Known), Invalid> {
        Ok(match expr {
            Expr::Number(n) => {
                let ty = if Ty::INT.holds(i128::from(*n)) { Ty::INT } else { Ty::LONG };
                (ty, Some(i128::from(*n)))
            }
            Expr::Param(k) => (self.kernel.params[*k].ty, self.param(*k)?),
            Expr::Counter(k) => (self.kernel.counters[*k], Some(self.counters[*k])),
            Expr::Cell(place) => {
                let (spot, elem) = self.address(place)?;
                let Elem::Int(ty) = elem else { return Err("not an integer") };
                (ty, self.load(spot, elem)?)
            }
            Expr::Cast(ty, inner) => {
                let value = self.typed(inner)?.1;
                (*ty, value.map(|v| ty.wrap(v)))
            }
            Expr::Least(a, b) => {
                let ((s, x), (t, y)) = (self.typed(a)?, self.typed(b)?);
                let common = s.common(t);
                let (x, y) = x.zip(y).ok_or("unknown")?;
                (common, Some(common.wrap(x).min(common.wrap(y))))
            }
            Expr::Binary(op, a, b) => {
                let ((s, x), (t, y)) = (self.typed(a)?, self.typed(b)?);
                let common = if *op == Op::Shr { s.promoted() } else { s.common(t) };
                let Some((x, y)) = x.zip(y) else { return Ok((common, None)) };
                let (x, y) = (common.wrap(x), if *op == Op::Shr { y } else { common.wrap(y) });
                let value = match op {
                    Op::Add => x + y,
                    Op::Sub => x - y,
                    Op::Mul => x.checked_mul(y).ok_or("overflow")?,
                    Op::Div | Op::Rem if y == 0 => return Err("division by zero"),
                    Op::Div => x / y,
                    // INT_MIN % -1 is as undefined as the quotient.
                    Op::Rem => result(common, x / y).map(|_| x % y)?,
                    Op::And => x & y,
                    Op::Shr if (0..i128::from(common.bits)).contains(&y) => x >> y,
                    Op::Shr => return Err("shift"),
                };
                (common, Some(result(common, value)?))
            }
        })
    }

    fn param(&self, k: usize) -> Result<Known, Invalid> {
        let param = self.kernel.params[k];
        match param.origin {
            Origin::Argument => Ok(Some(self.set.values[k])),
            Origin::Pointee => self.arena.load(i128::from(self.set.pointees[k]), Elem::Int(param.ty)),
            Origin::Table => {
                let ty = self.kernel.table;
                self.table.load(k as i128 * i128::from(ty.bits / 8), Elem::Int(ty))
            }
            Origin::Member => {
                let member = self.record.iter().find(|(m, _)| *m == Member::Param(k)).ok_or("no such member")?;
                self.arena.load(i128::from(self.set.record + member.1), Elem::Int(param.ty))
            }
        }
    }

    fn address(&mut self, place: &Place) -> Result<((Object, i128), Elem), Invalid> {
        let Array { elem, row, .. } = self.kernel.arrays[place.array];
        let Spot { object, byte } = self.set.arrays[place.array];
        let size = i128::from(elem.bytes());
        let end = match object {
            Object::Arena => self.arena.bytes.len(),
            Object::Table => self.table.bytes.len(),
        } as i128;
        let mut at = i128::from(byte);
        if let Some(subscript) = &place.row {
            let length = row.ok_or("no rows")?;
            at += self.number(subscript)? * i128::from(length) * size;
            // The row is a pointer of its own.
            if at < 0 || at > end {
                return Err("a row out of bounds");
            }
        }
        at += self.number(&place.at)? * size;
        if at < 0 || at + size > end {
            return Err("out of bounds");
        }
        widen(&mut self.trace.reach[place.array], (at - i128::from(byte)) as i64, elem);
        Ok(((object, at), elem))
    }

    /// The cell of a place that is stored to.
    fn target(&mut self, place: &Place) -> Result<((Object, i128), Elem), Invalid> {
        let (spot, elem) = self.address(place)?;
        let from = (spot.1 - i128::from(self.set.arrays[place.array].byte)) as i64;
        widen(&mut self.trace.written[place.array], from, elem);
        Ok((spot, elem))
    }

    fn load(&self, (object, at): (Object, i128), elem: Elem) -> Result<Known, Invalid> {
        match object {
            Object::Arena => self.arena.load(at, elem),
            Object::Table => self.table.load(at, elem),
        }
    }

    fn store(&mut self, (object, at): (Object, i128), elem: Elem, value: Known) -> Result<(), Invalid> {
        self.trace.stores += 1;
        match object {
            Object::Arena => self.arena.store(at, elem, value),
            Object::Table => self.table.store(at, elem, value),
        }
    }

    /// For a cell of this type, before it is converted to it.
    fn value(&mut self, class: Elem, terms: &[Term]) -> Result<Known, Invalid> {
        let mut sum = Some(0);
        for term in terms {
            let part = match term {
                Term::Read(place, factor) => {
                    let (spot, elem) = self.address(place)?;
                    self.load(spot, elem)?.map(|v| v * i128::from(*factor))
                }
                Term::Index(expr) => self.typed(expr)?.1,
            };
            sum = sum.zip(part).map(|(a, b)| a + b);
        }
        let Elem::Int(ty) = class else { return Ok(None) };
        Ok(sum.map(|v| ty.arithmetic().wrap(v)))
    }
}

fn widen(range: &mut Option<(i64, i64)>, byte: i64, elem: Elem) {
    let (low, high) = range.unwrap_or((byte, byte));
    *range = Some((low.min(byte), high.max(byte + elem.bytes())));
}

fn room(at: i64, bytes: i64, size: i64) -> Result<(), Invalid> {
    let fits = at >= 0 && at + bytes <= size && at % bytes == 0;
    if fits { Ok(()) } else { Err("misplaced") }
}

/// Unsigned arithmetic wraps, signed arithmetic must not.
fn result(ty: Ty, value: i128) -> Result<i128, Invalid> {
    match (ty.signed, ty.holds(value)) {
        (_, true) => Ok(value),
        (false, false) => Ok(ty.wrap(value)),
        (true, false) => Err("signed overflow"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(expr: &Expr, values: &[(Ty, i128)]) -> Result<(Ty, Known), Invalid> {
        let params = values.iter().map(|(ty, _)| Param { ty: *ty, origin: Origin::Argument }).collect();
        let kernel = Kernel {
            index: 0,
            params,
            arrays: Vec::new(),
            counters: Vec::new(),
            table: Ty::LONG,
            sum: None,
            body: Vec::new(),
            segments: Vec::new(),
            arena: 8,
            sets: Vec::new(),
        };
        let set = Set {
            values: values.iter().map(|v| v.1).collect(),
            pointees: vec![0; values.len()],
            record: 0,
            arrays: Vec::new(),
        };
        let mut machine = Machine {
            kernel: &kernel,
            set: &set,
            arena: Memory::new(8),
            table: Memory::new(8),
            record: Vec::new(),
            counters: Vec::new(),
            sum: None,
            steps: 0,
            trace: Trace { stores: 0, changed: false, reach: Vec::new(), written: Vec::new() },
        };
        machine.typed(expr)
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        let sum = Expr::Param(0).binary(Op::Add, Expr::Param(1));
        let max = i128::from(i32::MAX);
        assert_eq!(typed(&sum, &[(Ty::INT, max), (Ty::INT, 1)]), Err("signed overflow"));
        assert_eq!(typed(&sum, &[(Ty::INT, max), (Ty::LONG, 1)]), Ok((Ty::LONG, Some(max + 1))));
        assert_eq!(typed(&sum, &[(Ty::UNSIGNED, (1 << 32) - 1), (Ty::INT, 2)]), Ok((Ty::UNSIGNED, Some(1))));
        assert_eq!(typed(&sum, &[(Ty::UCHAR, 255), (Ty::UCHAR, 1)]), Ok((Ty::INT, Some(256))));
        assert_eq!(typed(&sum, &[(Ty::SIZE, 0), (Ty::INT, -1)]), Ok((Ty::SIZE, Some((1 << 64) - 1))));
        let rest = Expr::Param(0).binary(Op::Rem, Expr::Param(1));
        assert_eq!(typed(&rest, &[(Ty::INT, -max - 1), (Ty::INT, -1)]), Err("signed overflow"));
        assert_eq!(typed(&rest, &[(Ty::INT, -7), (Ty::INT, 4)]), Ok((Ty::INT, Some(-3))));
        let least = Expr::Least(Box::new(Expr::Param(0)), Box::new(Expr::Number(3)));
        assert_eq!(typed(&least, &[(Ty::UNSIGNED, (1 << 32) - 1)]), Ok((Ty::UNSIGNED, Some(3))));
    }
}
