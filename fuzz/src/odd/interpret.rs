//! Executes control and addresses of all calls: sizes of blocks, or why something is undefined.

use super::*;
use std::collections::BTreeMap;

/// Steps of one call.
const PATIENCE: usize = 200_000;

/// The bytes of each block that calls touch: the first, and one behind the last.
pub type Extents = Vec<(i64, i64)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Left,
}

struct Run<'a> {
    kernel: &'a Kernel,
    set: &'a Set,
    /// Those of the loops around.
    counters: Vec<Option<i64>>,
    steps: usize,
    extents: &'a mut Extents,
    /// What the bytes of blocks were last written as through plain types, if not as what they were filled with.
    written: BTreeMap<(usize, i64), (Ty, i64)>,
}

/// Requires: nothing. Ensures: if `Ok`, C defines what every call does.
pub fn extents(kernel: &Kernel) -> Result<Extents, String> {
    let mut extents = vec![(0, 0); kernel.blocks.len()];
    for set in &kernel.sets {
        apart(kernel, set)?;
        let mut run = Run {
            kernel,
            set,
            counters: vec![None; kernel.counters],
            steps: 0,
            extents: &mut extents,
            written: BTreeMap::new(),
        };
        if matches!(run.block(&kernel.body)?, Flow::Break | Flow::Continue) {
            return Err("no loop to leave".into());
        }
    }
    for (block, (start, end)) in kernel.blocks.iter().zip(&extents) {
        match block {
            Block::Errno if *start < 0 || *end > 4 => return Err("more than errno".into()),
            Block::Global(_) if *start < 0 => return Err("before a global array".into()),
            _ => {}
        }
    }
    Ok(extents)
}

/// `restrict` keeps what it says, and global arrays are where they are.
fn apart(kernel: &Kernel, set: &Set) -> Result<(), String> {
    for (p, pointer) in kernel.pointers.iter().enumerate() {
        let shared = set.at.iter().enumerate().any(|(q, at)| q != p && at.0 == set.at[p].0);
        if pointer.restrict && shared {
            return Err("restrict".into());
        }
        if pointer.row.is_some() && pointer.elem.is_real() && shared {
            return Err("numbers that others may write as bytes".into());
        }
        let own = pointer.place == Where::Argument || set.at[p].1 == 0;
        if !own {
            return Err("a global array that is elsewhere".into());
        }
    }
    Ok(())
}

impl Run<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Result<Flow, String> {
        for stmt in stmts {
            match self.stmt(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Flow, String> {
        self.steps += 1;
        if self.steps > PATIENCE {
            return Err("takes too long".into());
        }
        match stmt {
            Stmt::Loop(l) => return self.run_loop(l),
            Stmt::If(cond, then, other) => {
                let taken = if self.cond(cond)? { then } else { other };
                return self.block(taken);
            }
            Stmt::Switch(on, arms, _) => {
                let arm = self.expr(on)?.rem_euclid(arms.len().max(1) as i64) as usize;
                let flow = arms.get(arm).map_or(Ok(Flow::Next), |arm| self.block(arm))?;
                // C gives these another meaning there.
                return if matches!(flow, Flow::Break | Flow::Continue) {
                    Err("leaves a switch".into())
                } else {
                    Ok(flow)
                };
            }
            Stmt::Store(place, value) => {
                self.value(value)?;
                self.access(place, true)?;
            }
            Stmt::Update(place, _, value) => {
                self.access(place, false)?;
                self.value(value)?;
                self.access(place, true)?;
            }
            Stmt::Set(_, value) | Stmt::Fold(_, _, value) | Stmt::SetErrno(value) => self.value(value)?,
            Stmt::Leave(cond, exit) => {
                if self.cond(cond)? {
                    return Ok(match exit {
                        Exit::Handler(_) | Exit::Return => Flow::Left,
                        Exit::Break => Flow::Break,
                        Exit::Continue => Flow::Continue,
                    });
                }
            }
            Stmt::Promise(cond, _) => {
                if !self.cond(cond)? {
                    return Err("a broken promise".into());
                }
            }
            Stmt::Touch(_) => {}
        }
        Ok(Flow::Next)
    }

    fn run_loop(&mut self, l: &Loop) -> Result<Flow, String> {
        let flow = self.iterate(l)?;
        self.counters[l.counter] = None;
        Ok(flow)
    }

    fn iterate(&mut self, l: &Loop) -> Result<Flow, String> {
        let low = self.expr(&l.low)?;
        if l.step <= 0 {
            return Err("a loop that stands still".into());
        }
        let mut at = match l.form {
            Form::Up => low,
            Form::Down => self.expr(&l.high)? - 1,
            Form::Do if low < self.expr(&l.high)? => low,
            Form::Do => return Err("a loop whose first iteration is one too many".into()),
        };
        loop {
            self.steps += 1;
            if self.steps > PATIENCE {
                return Err("takes too long".into());
            }
            // The counter as the condition sees it; bounds do not contain it.
            self.counters[l.counter] = Some(at);
            let goes_on = if l.form == Form::Down { at >= self.expr(&l.low)? } else { at < self.expr(&l.high)? };
            if !goes_on {
                return Ok(Flow::Next);
            }
            match self.block(&l.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                Flow::Left => return Ok(Flow::Left),
            }
            at += if l.form == Form::Down { -l.step } else { l.step };
        }
    }

    fn cond(&self, cond: &Cond) -> Result<bool, String> {
        let (a, b) = (self.expr(&cond.left)?, self.expr(&cond.right)?);
        Ok(cond.rel.holds(a.into(), b.into()))
    }

    fn expr(&self, expr: &Expr) -> Result<i64, String> {
        let small = |n: i64| if i32::try_from(n).is_ok() { Ok(n) } else { Err("an int that overflows".to_string()) };
        match expr {
            Expr::Number(n) => Ok(*n),
            Expr::Counter(k) => self.counters[*k].ok_or_else(|| "no such loop".to_string()),
            Expr::Param(k) => Ok(self.set.values[*k]),
            Expr::Sum(a, b) => small(self.expr(a)?.saturating_add(self.expr(b)?)),
            Expr::Times(n, a) => small(self.expr(a)?.saturating_mul(*n)),
            Expr::Partial(op, bits, a, b) => {
                partial(*op, *bits, self.expr(a)?, self.expr(b)?).ok_or_else(|| format!("{op:?} of this is undefined"))
            }
        }
    }

    fn value(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Number(_) | Value::Local(_) | Value::Errno => Ok(()),
            Value::Index(expr) => self.expr(expr).map(|_| ()),
            Value::Read(place) => self.access(place, false),
            Value::Binary(_, a, b) => {
                self.value(a)?;
                self.value(b)
            }
            Value::As(_, a) | Value::Bits(_, _, a) | Value::Call(_, a) => self.value(a),
            Value::Pick(cond, a, b) => {
                if self.cond(cond)? {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
        }
    }

    fn access(&mut self, place: &Place, writes: bool) -> Result<(), String> {
        let pointer = &self.kernel.pointers[place.pointer];
        let (block, base) = self.set.at[place.pointer];
        let at = self.expr(&place.at)?;
        let cell = match (&place.row, pointer.row) {
            (Some(row), Some(length)) if (0..length).contains(&at) => self.expr(row)? * length + at,
            (Some(_), _) => return Err("outside a row".into()),
            (None, Some(_)) if place.unit(pointer) != 1 => return Err("a row, not a cell".into()),
            (None, _) => at,
        };
        let start = base + cell * place.unit(pointer);
        let (size, alignment) = (place.bytes(), place.alignment());
        // Errno lies where it likes, as an integer of four bytes does.
        if start % alignment != 0 || (self.kernel.blocks[block] == Block::Errno && alignment > 4) {
            return Err("misaligned".into());
        }
        if pointer.row.is_some() && pointer.elem.is_real() && place.how != How::Plain {
            return Err("bytes of numbers".into());
        }
        if place.how == How::Plain && !place.ty.is_compatible(pointer.elem) {
            return Err("not an element".into());
        }
        let filled = match self.kernel.blocks[block] {
            Block::Filled(ty) => ty,
            Block::Arguments => Ty::Double,
            Block::Global(k) => self.kernel.pointers[k].elem,
            Block::Errno => signed(32),
        };
        if matches!(place.how, How::Plain | How::Field(_)) {
            let elem = pointer.elem;
            for byte in start..start + elem.bytes() {
                let (ty, first) = self
                    .written
                    .get(&(block, byte))
                    .copied()
                    .unwrap_or_else(|| (filled, byte - byte.rem_euclid(filled.bytes())));
                if writes {
                    self.written.insert((block, byte), (elem, start));
                } else if !(ty.is_compatible(elem) && first == start) {
                    return Err("read as another type than written".into());
                }
            }
        } else if writes && !filled.is_plain_bytes() {
            return Err("bytes that are no value".into());
        }
        let extent = &mut self.extents[block];
        *extent = (extent.0.min(start), extent.1.max(start + size));
        Ok(())
    }
}

/// In C's arithmetic of so many bits, where it is defined.
fn partial(op: Partial, bits: u32, a: i64, b: i64) -> Option<i64> {
    let least = -(1i128 << (bits - 1));
    let holds = |n: i128| (least <= n && n < -least).then_some(n as i64);
    match op {
        Partial::ToSigned => return holds(a.into()),
        Partial::ToUnsigned => return (a >= 0 && (bits > 62 || a < 1 << bits)).then_some(a),
        _ => {}
    }
    let (a, b) = (holds(a.into())?, holds(b.into())?);
    match op {
        Partial::ShiftLeft if a >= 0 && (0..i64::from(bits)).contains(&b) => holds(i128::from(a) << b),
        Partial::ShiftRight if (0..i64::from(bits)).contains(&b) => Some(a >> b),
        Partial::Quotient if b != 0 => holds(i128::from(a) / i128::from(b)),
        Partial::Remainder if b != 0 && holds(i128::from(a) / i128::from(b)).is_some() => {
            holds(i128::from(a) % i128::from(b))
        }
        Partial::TrailingZeros if a != 0 => Some(i64::from(a.trailing_zeros())),
        Partial::LeadingZeros if a != 0 => {
            Some(i64::from(if bits == 32 { (a as u32).leading_zeros() } else { a.leading_zeros() }))
        }
        Partial::Magnitude => holds(i128::from(a).abs()),
        _ => None,
    }
}
