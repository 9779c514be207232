//! Seed → kernel with extreme argument sets.
//!
//! Programs are drawn freely, argument sets too; the interpreter keeps the sets that are valid. Loops are of forms that run a few
//! times, or not at all, for most of the numbers that are drawn: up to the smaller of two bounds, from p to p + 5, up to a
//! remainder, with counters that wrap.

use super::interpret::{self, Trace};
use super::*;
use crate::rng::Rng;

/// Cells of an array, and before its first one, that nothing else lies on unless it is put there.
const PART: i64 = 640;
const BEFORE: i64 = 128;
/// Argument sets of a kernel, and how many are tried for them.
const SETS: usize = 16;
const LEAST_SETS: usize = 10;
const CANDIDATES: usize = 120;
/// Placements tried with the same values.
const PLACEMENTS: usize = 8;

pub fn kernel(seed: u64, index: usize) -> Kernel {
    // Some programs have hardly any valid argument sets: another one, then.
    let attempts = (0..).map(|attempt: u64| Rng::new(seed ^ attempt << 40, index as u64));
    attempts.filter_map(|rng| Draw::new(rng, index).kernel()).next().expect("one of infinitely many")
}

struct Draw {
    rng: Rng,
    kernel: Kernel,
    /// Loops around the place where something is drawn.
    around: Vec<Around>,
    depth: usize,
    /// The first parameter is a bound in memory, and the first array may be written over it.
    duel: bool,
}

struct Around {
    counter: usize,
    /// Counts from zero, or nearly so.
    position: Expr,
}

/// How the values of a set are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What people pass.
    Usual,
    /// Zero, one, minus one.
    Edge,
    /// One value is as small or large as its type allows, or nearly so.
    Extreme,
    /// Two values that belong together: `p` extreme, `q` a bit more.
    Related,
    /// All of them.
    Wild,
}

impl Draw {
    fn new(mut rng: Rng, index: usize) -> Draw {
        let depth = 1 + rng.weighted(&[35, 45, 20]);
        let table = rng.pick(&[Ty::LONG, Ty::INT, Ty::UNSIGNED, Ty::SIZE]);
        let kernel = Kernel {
            index,
            params: Vec::new(),
            arrays: Vec::new(),
            counters: Vec::new(),
            table,
            sum: None,
            body: Vec::new(),
            segments: Vec::new(),
            arena: 0,
            sets: Vec::new(),
        };
        let duel = rng.percent(45);
        Draw { rng, kernel, around: Vec::new(), depth, duel }
    }

    fn kernel(mut self) -> Option<Kernel> {
        self.signature();
        if self.rng.percent(25) {
            let float = self.rng.percent(60);
            self.kernel.sum = Some(if float { Elem::Double } else { Elem::Int(Ty::SIZE) });
        }
        for _ in 0..1 + self.rng.weighted(&[75, 25]) {
            let nest = self.nest(self.depth);
            self.kernel.body.push(nest);
        }
        self.lay_out();
        self.sets().then_some(self.kernel)
    }

    // --- parameters and arrays ---

    fn any_type(&mut self) -> Ty {
        let types = [Ty::INT, Ty::LONG, Ty::UNSIGNED, Ty::SIZE, Ty::SHORT, Ty::USHORT, Ty::UCHAR, Ty::SCHAR];
        types[self.rng.weighted(&[33, 22, 17, 12, 4, 4, 6, 2])]
    }

    fn signature(&mut self) {
        let has_record = self.rng.percent(45);
        let usual = self.any_type();
        for k in 0..self.rng.within(2, 4) {
            let origins = [Origin::Argument, Origin::Pointee, Origin::Member, Origin::Table];
            let is_bound = self.duel && k == 0;
            let origin = match origins[self.rng.weighted(&[if is_bound { 0 } else { 42 }, 14, 30, 14])] {
                Origin::Member if !has_record && is_bound => Origin::Pointee,
                Origin::Member if !has_record => Origin::Argument,
                other => other,
            };
            let ty = match origin {
                Origin::Table => self.kernel.table,
                _ if self.rng.percent(65) => usual,
                _ => self.any_type(),
            };
            self.kernel.params.push(Param { ty, origin });
        }
        let floats = self.rng.percent(50);
        for k in 0..self.rng.within(1, 3) {
            // Of the type of a bound, so that it may lie on it.
            let is_rival = self.duel && k == 0;
            let of = if is_rival { 0 } else { self.param() };
            let bound = self.kernel.params[of].ty;
            let choice = self.rng.weighted(&[if floats { 55 } else { 10 }, 8, 45, 16, 10, 8]);
            let elem = match if is_rival && choice < 5 { 2 } else { choice } {
                0 => Elem::Double,
                1 => Elem::Float,
                2 => Elem::Int(bound),
                3 => Elem::Int(Ty::INT),
                4 => Elem::Int(Ty::LONG),
                _ => Elem::Int(Ty::UCHAR),
            };
            let row = self.rng.percent(22).then(|| self.rng.within(3, 12));
            let member = has_record && self.rng.percent(45);
            self.kernel.arrays.push(Array { elem, member, row });
        }
    }

    /// One segment for each type of cell, with a part for each array, and one for what is passed by pointer.
    fn lay_out(&mut self) {
        let kernel = &mut self.kernel;
        let mut segments: Vec<Segment> = Vec::new();
        for array in &kernel.arrays {
            match segments.iter_mut().find(|s| s.elem.is_compatible(array.elem)) {
                Some(segment) => segment.cells += PART,
                None => segments.push(Segment { elem: array.elem, start: 0, cells: 2 * PART }),
            }
        }
        // Pointees without an array of their type, and the record.
        let mut end = 256;
        for segment in &mut segments {
            segment.start = end;
            end += (segment.cells * segment.elem.bytes() + 63) / 64 * 64;
        }
        kernel.segments = segments;
        kernel.arena = end;
    }

    // --- loops ---

    fn param(&mut self) -> usize {
        self.rng.below(self.kernel.params.len())
    }

    fn nest(&mut self, depth: usize) -> Stmt {
        let (mut l, position) = self.header();
        self.around.push(Around { counter: l.counter, position });
        let mut body = Vec::new();
        if depth > 1 {
            if self.rng.percent(25) {
                body.push(self.statement());
            }
            body.push(self.nest(depth - 1));
            if self.rng.percent(20) {
                body.push(self.statement());
            }
        } else {
            for _ in 0..1 + self.rng.weighted(&[60, 30, 10]) {
                body.push(self.statement());
            }
        }
        if self.rng.percent(10) {
            let cond = self.cond();
            body = vec![Stmt::If(cond, body, Vec::new())];
        }
        self.around.pop();
        l.body = body;
        Stmt::Loop(l)
    }

    fn header(&mut self) -> (Loop, Expr) {
        let p = if self.duel && self.rng.percent(50) { 0 } else { self.param() };
        let of_p = self.kernel.params[p].ty;
        let ty = if self.rng.percent(60) { of_p } else { self.any_type() };
        self.kernel.counters.push(ty);
        let counter = self.kernel.counters.len() - 1;
        let i = Expr::Counter(counter);
        let small = self.rng.within(1, if self.depth == 1 { 24 } else { 9 });
        let q = self.param();
        let (n, m) = (Expr::Param(p), Expr::Param(q));
        let zero = Expr::Number(0);
        let upwards = |start: Expr, rel: Rel, end: Expr, step: i64| Loop {
            counter,
            form: Form::For,
            start,
            rel,
            end,
            step,
            body: Vec::new(),
        };
        let less = if self.rng.percent(25) { Rel::Le } else { Rel::Lt };
        let step = [1, 2, 3][self.rng.weighted(&[84, 10, 6])];
        // A difference in an unsigned type is the right one, however often the counter wrapped.
        let from = |this: &mut Draw, start: Expr| {
            let difference = i.clone().binary(Op::Sub, start);
            if ty.bits < 32 || this.rng.percent(30) { difference.cast(ty) } else { difference }
        };
        match self.rng.weighted(&[20, 10, 13, 12, 9, 6, 5, 7, 6, 8, 5, 5]) {
            1 => {
                let least = Expr::Least(Box::new(n), Box::new(Expr::Number(small)));
                (upwards(zero, less, least, step), i)
            }
            2 => (upwards(n.clone(), less, n.clone().plus(small), step), from(self, n)),
            3 => {
                self.kernel.counters[counter] = of_p;
                let difference = i.clone().binary(Op::Sub, n.clone());
                let position = if of_p.bits < 32 { difference.cast(of_p) } else { difference };
                (upwards(n.clone(), Rel::Ne, n.plus(small).cast(of_p), 1), position)
            }
            4 => {
                let rel = if self.rng.percent(50) { Rel::Ne } else { less };
                (upwards(n.clone(), rel, m, if rel == Rel::Ne { 1 } else { step }), from(self, n))
            }
            5 => {
                let l = upwards(n, Rel::Gt, zero, -1);
                (Loop { form: Form::CountDown, ..l }, i)
            }
            6 => (upwards(n.plus(-1), Rel::Ge, zero, -step), i),
            7 => (upwards(zero, less, m.binary(Op::Sub, n), step), i),
            8 => (upwards(zero, less, n.binary(Op::Mul, m), step), i),
            9 => {
                let end = match self.rng.below(4) {
                    0 => n.binary(Op::Rem, Expr::Number(small + 1)),
                    1 => n.binary(Op::And, Expr::Number(self.rng.pick(&[7, 15]))),
                    2 => n.binary(Op::Shr, Expr::Number(i64::from(of_p.promoted().bits) - 4)),
                    _ => n.binary(Op::Div, Expr::Number(self.rng.pick(&[2, 3, 1 << 28]))),
                };
                (upwards(zero, less, end, step), i)
            }
            10 => (Loop { form: Form::Do, ..upwards(zero, less, n, step) }, i),
            11 if !self.around.is_empty() => {
                let outer = Expr::Counter(self.around[self.around.len() - 1].counter);
                if self.rng.percent(50) {
                    (upwards(outer, less, n, step), i)
                } else {
                    (upwards(zero, less, outer.plus(self.rng.within(0, 2)), step), i)
                }
            }
            _ => {
                let by = self.rng.pick(&[0, 0, 0, 1, -1, -2]);
                (upwards(zero, less, n.plus(by), step), i)
            }
        }
    }

    // --- statements ---

    fn statement(&mut self) -> Stmt {
        let mut stmt = match (self.rng.weighted(&[70, 20, 10]), self.kernel.sum) {
            (1, Some(_)) => Stmt::Sum(self.terms()),
            (2, Some(_)) => Stmt::Keep(self.place()),
            _ => {
                let rival = self.duel && self.rng.percent(60);
                let place = if rival { self.place_in(0) } else { self.place() };
                let add = self.rng.percent(35);
                let mut terms = self.terms();
                // What was there before, or beside it.
                if !add && self.rng.percent(30) {
                    let near = self.rng.within(-2, 2);
                    let at = place.at.clone().plus(near);
                    terms.push(Term::Read(Place { at, ..place.clone() }, self.rng.within(1, 4)));
                }
                Stmt::Assign(place, add, terms)
            }
        };
        if self.rng.percent(12) {
            let cond = self.cond();
            let other = if self.rng.percent(30) { vec![stmt.clone()] } else { Vec::new() };
            stmt = Stmt::If(cond, vec![stmt], other);
        }
        stmt
    }

    fn terms(&mut self) -> Vec<Term> {
        let mut terms = Vec::new();
        for _ in 0..self.rng.within(1, 2) {
            let term = if self.rng.percent(75) {
                let place = self.place();
                Term::Read(place, self.rng.within(1, 5))
            } else {
                Term::Index(self.subscript())
            };
            terms.push(term);
        }
        terms
    }

    fn cond(&mut self) -> Cond {
        let rel = self.rng.pick(&[Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Eq, Rel::Ne]);
        let left = self.position();
        let right = match self.rng.below(3) {
            0 => Expr::Number(self.rng.within(0, 5)),
            1 => Expr::Param(self.param()).plus(self.rng.pick(&[0, 0, 1, -1])),
            _ => self.position(),
        };
        Cond { left, rel, right }
    }

    fn place(&mut self) -> Place {
        let array = self.rng.below(self.kernel.arrays.len());
        self.place_in(array)
    }

    fn place_in(&mut self, array: usize) -> Place {
        if self.kernel.arrays[array].row.is_some() {
            let (row, column) = self.row_and_column();
            let row = row.plus(self.rng.pick(&[0, 0, 0, 1, -1]));
            let at = column.plus(self.rng.pick(&[0, 0, 0, 1, -1, 3]));
            return Place { array, row: Some(row), at };
        }
        Place { array, row: None, at: self.subscript() }
    }

    /// The place in one of the loops around; now and then its counter.
    fn position(&mut self) -> Expr {
        if self.around.is_empty() {
            return Expr::Number(self.rng.within(0, 3));
        }
        let around = &self.around[self.rng.below(self.around.len())];
        if self.rng.percent(12) { Expr::Counter(around.counter) } else { around.position.clone() }
    }

    /// Often as in a matrix.
    fn row_and_column(&mut self) -> (Expr, Expr) {
        match &self.around[..] {
            [.., outer, inner] if self.rng.percent(55) => (outer.position.clone(), inner.position.clone()),
            _ => (self.position(), self.position()),
        }
    }

    fn subscript(&mut self) -> Expr {
        let n = Expr::Param(self.param());
        let n = if self.rng.percent(20) { n.plus(1) } else { n };
        let constant = self.rng.pick(&[0, 0, 0, 1, -1, 2, -3]);
        let (row, column) = self.row_and_column();
        // As people write it, and as careful people do.
        let row = if self.rng.percent(20) { row.cast(self.rng.pick(&[Ty::LONG, Ty::SIZE, Ty::UNSIGNED])) } else { row };
        match self.rng.weighted(&[30, 10, 12, 24, 6, 6, 5, 4]) {
            1 => column.binary(Op::Add, n),
            2 => {
                row.binary(Op::Mul, Expr::Number(self.rng.pick(&[3, 5, 8, 16]))).binary(Op::Add, column).plus(constant)
            }
            3 => row.plus(constant).binary(Op::Mul, n).binary(Op::Add, column),
            4 => row.binary(Op::Mul, n),
            5 => Expr::Number(self.rng.within(5, 30)).binary(Op::Sub, column),
            6 => column.binary(Op::Mul, Expr::Number(2)).plus(constant),
            7 => {
                let integers: Vec<usize> = (0..self.kernel.arrays.len())
                    .filter(|a| {
                        matches!(self.kernel.arrays[*a].elem, Elem::Int(_)) && self.kernel.arrays[*a].row.is_none()
                    })
                    .collect();
                match integers[..] {
                    [] => column,
                    _ => Expr::Cell(Box::new(Place { array: self.rng.pick(&integers), row: None, at: column })),
                }
            }
            _ => column.plus(constant),
        }
    }

    // --- argument sets ---

    /// Are there enough of them, and does something happen?
    fn sets(&mut self) -> bool {
        let kinds = [
            Kind::Usual,
            Kind::Usual,
            Kind::Extreme,
            Kind::Related,
            Kind::Edge,
            Kind::Extreme,
            Kind::Usual,
            Kind::Related,
            Kind::Wild,
            Kind::Extreme,
        ];
        let (mut busy, mut extreme, mut changed) = (0, 0, 0);
        for candidate in 0..CANDIDATES {
            if self.kernel.sets.len() == SETS || candidate == 40 && self.kernel.sets.len() < 4 {
                break;
            }
            let kind = kinds[candidate % kinds.len()];
            let values = self.values(kind);
            let apart = self.apart(values);
            let Ok(trace) = interpret::run(&self.kernel, &apart) else { continue };
            let found = if self.rng.percent(40) { Some((apart, trace)) } else { self.tried(&apart, &trace) };
            let Some((set, trace)) = found else { continue };
            if self.kernel.sets.contains(&set) {
                continue;
            }
            busy += usize::from(trace.stores >= 8);
            changed += usize::from(trace.changed);
            extreme += usize::from(set.values.iter().any(|v| v.abs() > 1000));
            self.kernel.sets.push(set);
        }
        // A duel that nobody can win is of no interest; but overwriting a bound is not always possible.
        let decided = !self.duel || changed > 0 || self.rng.percent(10);
        self.kernel.sets.len() >= LEAST_SETS && busy >= 3 && extreme >= 3 && decided
    }

    fn values(&mut self, kind: Kind) -> Vec<i128> {
        let count = self.kernel.params.len();
        let usual = if self.depth == 1 { 60 } else { 14 };
        let mut values = Vec::new();
        for k in 0..count {
            let ty = self.kernel.params[k].ty;
            let value = match kind {
                Kind::Edge if self.rng.percent(50) => self.rng.pick(&[0, 1, -1, 2, -5]),
                Kind::Edge | Kind::Usual | Kind::Extreme | Kind::Related => self.rng.within(2, usual),
                Kind::Wild => 0,
            };
            values.push(match kind {
                Kind::Wild => self.extreme(ty),
                _ => ty.wrap(i128::from(value)),
            });
        }
        let one = self.param();
        let other = (one + 1 + self.rng.below(count - 1)) % count;
        if matches!(kind, Kind::Extreme | Kind::Related) {
            values[one] = self.extreme(self.kernel.params[one].ty);
        }
        if kind == Kind::Related {
            let near = values[one] + i128::from(self.rng.within(-2, 9));
            let near = if self.rng.percent(15) { -values[one] } else { near };
            values[other] = self.kernel.params[other].ty.wrap(near);
        }
        values
    }

    /// A value at which something may wrap.
    fn extreme(&mut self, ty: Ty) -> i128 {
        let near = i128::from(self.rng.pick(&[0, 0, 0, 1, 2, 5]));
        let value = match self.rng.below(13) {
            0 | 1 => ty.least() + near,
            2 | 3 => ty.greatest() - near,
            4 => -1 - near,
            5 => i128::from(i32::MAX) - near,
            6 => i128::from(i32::MIN) + near,
            7 => (1 << 32) + near,
            8 => (1 << 32) - 1 - near,
            9 => (1 << 62) + near,
            10 => -(1 << 62) + near,
            11 => 1 << (ty.bits / 2),
            _ => i128::from(self.rng.within(-3, 3)),
        };
        if ty.holds(value) { value } else { ty.wrap(value) }
    }

    fn apart(&mut self, values: Vec<i128>) -> Set {
        let kernel = &self.kernel;
        let mut used = vec![0; kernel.segments.len()];
        let mut arrays = Vec::new();
        for array in &kernel.arrays {
            let (k, segment) = segment_of(kernel, array.elem);
            arrays.push(Spot { object: Object::Arena, byte: cell(segment, used[k] * PART + BEFORE) });
            used[k] += 1;
        }
        // The numbers behind each other at the start, the record behind them.
        let pointees = (0..kernel.params.len() as i64).map(|k| 8 * k).collect();
        Set { values, pointees, record: 64, arrays }
    }

    /// A valid one of several placements; one that decides the duel, if there is one.
    fn tried(&mut self, apart: &Set, trace: &Trace) -> Option<(Set, Trace)> {
        let mut valid = None;
        for _ in 0..PLACEMENTS {
            let set = self.moved(apart, trace);
            let Ok(trace) = interpret::run(&self.kernel, &set) else { continue };
            let decided = trace.changed || !self.duel;
            if decided || valid.is_none() {
                valid = Some((set, trace));
            }
            if decided {
                break;
            }
        }
        valid
    }

    /// Puts things beside and onto each other.
    fn moved(&mut self, apart: &Set, trace: &Trace) -> Set {
        let mut set = apart.clone();
        let count = self.kernel.arrays.len();
        for k in 1..count {
            let other = self.rng.below(k);
            let (Array { elem, .. }, onto) = (self.kernel.arrays[k], self.kernel.arrays[other]);
            let bytes_may_go_there = elem.bytes() == 1 && matches!(onto.elem, Elem::Int(_));
            if !(elem.is_compatible(onto.elem) || bytes_may_go_there) || self.rng.percent(30) {
                continue;
            }
            let start = set.arrays[other].byte;
            let (low, high) = trace.reach[other].unwrap_or((0, 8));
            let (own_low, own_high) = trace.reach[k].unwrap_or((0, 8));
            let size = elem.bytes();
            set.arrays[k].byte = match self.rng.below(6) {
                0 | 1 => start,
                2 => start + size * self.rng.within(-3, 3),
                3 => start + high - own_low,
                4 => start + low - own_high,
                // All but some of it.
                _ => start + high - own_low - size * self.rng.within(1, 4),
            };
        }
        // A bound that the loop itself overwrites, or all but overwrites.
        for k in 0..self.kernel.params.len() {
            let ty = self.kernel.params[k].ty;
            if self.kernel.params[k].origin == Origin::Pointee && self.rng.percent(55) {
                set.pointees[k] = self.near_an_array(&set, trace, Elem::Int(ty)).unwrap_or(set.pointees[k]);
            }
        }
        let record = self.kernel.record();
        if !record.is_empty() && self.rng.percent(45) {
            let (member, offset) = record[self.rng.below(record.len())];
            let elem = match member {
                Member::Param(p) => Elem::Int(self.kernel.params[p].ty),
                Member::Array(_) => Elem::Int(Ty::LONG),
            };
            if let Some(spot) = self.near_an_array(&set, trace, elem) {
                // Its most demanding member is a pointer.
                let all = if record.iter().any(|(m, _)| matches!(m, Member::Array(_))) { 8 } else { elem.bytes() };
                set.record = (spot - offset).div_euclid(all) * all;
            }
        }
        let table = Elem::Int(self.kernel.table);
        if self.kernel.params.iter().any(|p| p.origin == Origin::Table) && self.rng.percent(35) {
            let fit: Vec<usize> = (0..count).filter(|k| self.kernel.arrays[*k].elem.is_compatible(table)).collect();
            if !fit.is_empty() {
                let low = trace.reach[self.rng.pick(&fit)].map_or(0, |r| r.0);
                let array = self.rng.pick(&fit);
                let byte = table.bytes() * self.rng.within(0, self.kernel.table_size() - 1) - low;
                if (0..self.kernel.table_size() * table.bytes()).contains(&byte) {
                    set.arrays[array] = Spot { object: Object::Table, byte };
                }
            }
        }
        set
    }

    /// A cell of this type that an array writes, touches, or one beside it.
    fn near_an_array(&mut self, set: &Set, trace: &Trace, elem: Elem) -> Option<i64> {
        let fit: Vec<usize> = (0..self.kernel.arrays.len())
            .filter(|k| {
                let array = self.kernel.arrays[*k].elem;
                array.is_compatible(elem) || array.bytes() == 1 && matches!(elem, Elem::Int(_))
            })
            .collect();
        let array = *fit.get(self.rng.below(fit.len().max(1)))?;
        let written = trace.written[array].filter(|_| self.rng.percent(70));
        if let Some((low, high)) = written {
            let cells = (low / elem.bytes(), (high - 1) / elem.bytes());
            let byte = set.arrays[array].byte + elem.bytes() * self.rng.within(cells.0, cells.1.max(cells.0));
            return Some(byte.div_euclid(elem.bytes()) * elem.bytes());
        }
        let (low, high) = trace.reach[array]?;
        let (first, last) = (low / elem.bytes() - 1, high / elem.bytes());
        let byte = set.arrays[array].byte + elem.bytes() * self.rng.within(first, last.max(first));
        Some(byte.div_euclid(elem.bytes()) * elem.bytes())
    }
}

fn segment_of(kernel: &Kernel, elem: Elem) -> (usize, Segment) {
    let mut all = kernel.segments.iter().enumerate();
    let (k, segment) = all.find(|(_, s)| s.elem.is_compatible(elem)).expect("a segment for every type of array");
    (k, *segment)
}

fn cell(segment: Segment, number: i64) -> i64 {
    segment.start + number * segment.elem.bytes()
}
