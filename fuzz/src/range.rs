//! Intervals of all counters and subscripts, for every argument set: the only judge of whether a kernel is valid.
//!
//! Intervals over-approximate: a cell that is found in bounds is in bounds in every execution.

use crate::kernel::*;

/// The largest array, in elements; larger ones only cost time.
pub const LARGEST_ARRAY: i64 = 80_000;
/// The most iterations of one innermost loop body in one call.
pub const MOST_ITERATIONS: i64 = 200_000;

/// { x | low ≤ x ≤ high }, not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: i64,
    pub high: i64,
}

impl Interval {
    pub fn point(x: i64) -> Interval {
        Interval { low: x, high: x }
    }

    pub fn new(low: i64, high: i64) -> Option<Interval> {
        (low <= high).then_some(Interval { low, high })
    }

    pub fn sum(self, other: Interval) -> Interval {
        Interval { low: self.low.saturating_add(other.low), high: self.high.saturating_add(other.high) }
    }

    pub fn multiply(self, other: Interval) -> Interval {
        let corners = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)]
            .map(|(a, b)| a.saturating_mul(b));
        Interval { low: corners.into_iter().min().unwrap_or(0), high: corners.into_iter().max().unwrap_or(0) }
    }

    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// What the variables in scope may be at one point of the kernel, per argument set; `None` where that set never gets there.
#[derive(Clone, Debug)]
pub struct Env {
    pub sets: Vec<Option<Vec<Interval>>>,
    /// Per set: how often control gets here at most.
    pub visits: Vec<i64>,
}

impl Env {
    pub fn at_entry(kernel: &Kernel) -> Env {
        let values = |set: &ArgumentSet| Some(set.values.iter().map(|v| Interval::point(*v)).collect());
        Env { sets: kernel.sets.iter().map(values).collect(), visits: vec![1; kernel.sets.len()] }
    }

    pub fn poly(&self, kernel: &Kernel, poly: &Poly) -> Vec<Option<Interval>> {
        self.sets.iter().map(|set| set.as_ref().map(|vars| poly_in(kernel, vars, poly))).collect()
    }

    /// The hull over all sets that get here.
    pub fn hull(&self, kernel: &Kernel, poly: &Poly) -> Option<Interval> {
        self.poly(kernel, poly).into_iter().flatten().reduce(Interval::hull)
    }

    pub fn may_be_negative(&self, kernel: &Kernel, poly: &Poly) -> bool {
        self.hull(kernel, poly).is_some_and(|i| i.low < 0)
    }

    pub fn bound(&self, kernel: &Kernel, bound: &Bound) -> Vec<Option<Interval>> {
        let both = |a: &Poly, b: &Poly, pick: fn(i64, i64) -> i64| {
            let join = |(a, b): (Option<Interval>, Option<Interval>)| {
                let (a, b) = (a?, b?);
                Some(Interval { low: pick(a.low, b.low), high: pick(a.high, b.high) })
            };
            self.poly(kernel, a).into_iter().zip(self.poly(kernel, b)).map(join).collect()
        };
        match bound {
            Bound::One(a) => self.poly(kernel, a),
            Bound::Min(a, b) => both(a, b, i64::min),
            Bound::Max(a, b) => both(a, b, i64::max),
        }
    }

    /// The body of a loop.
    pub fn inside(&self, kernel: &Kernel, l: &Loop) -> Env {
        let (lows, highs) = (self.bound(kernel, &l.low), self.bound(kernel, &l.high));
        let mut inner = self.clone();
        for (k, set) in inner.sets.iter_mut().enumerate() {
            let (Some(vars), Some(low), Some(high)) = (set.as_mut(), lows[k], highs[k]) else { continue };
            let last = if l.form == Form::Do { low.high.max(high.high - 1) } else { high.high - 1 };
            match Interval::new(low.low, last) {
                Some(range) => {
                    vars.resize(vars.len().max(l.counter.0 + 1), Interval::point(0));
                    vars[l.counter.0] = range;
                    inner.visits[k] = inner.visits[k].saturating_mul((range.high - range.low) / l.stride + 1);
                }
                None => *set = None,
            }
        }
        inner
    }

    /// Where the condition holds; only guards narrow anything.
    pub fn assuming(&self, cond: &Cond) -> Env {
        let mut inner = self.clone();
        match cond {
            Cond::Guard(var, low, high) => {
                for set in &mut inner.sets {
                    let Some(vars) = set.as_mut() else { continue };
                    let old = vars[var.0];
                    match Interval::new(old.low.max(*low), old.high.min(high - 1)) {
                        Some(narrow) => vars[var.0] = narrow,
                        None => *set = None,
                    }
                }
                inner
            }
            Cond::And(a, b) => inner.assuming(a).assuming(b),
            _ => inner,
        }
    }
}

fn poly_in(kernel: &Kernel, vars: &[Interval], poly: &Poly) -> Interval {
    let factor = |f: &Factor| match f {
        Factor::Var(v) => vars[v.0],
        Factor::Lookup(t, _) => Interval { low: 0, high: kernel.tables[t.0].limit },
    };
    let term = |(c, fs): &(i64, Vec<Factor>)| fs.iter().map(factor).fold(Interval::point(*c), Interval::multiply);
    poly.terms.iter().map(term).fold(Interval::point(poly.constant), Interval::sum)
}

/// The C type of a polynomial as it is printed: 32-bit unsigned variables among 64-bit ones are cast to `long`.
pub fn type_of(kernel: &Kernel, poly: &Poly) -> Int {
    let mut types = vec![Int::Int];
    for factor in poly.terms.iter().flat_map(|t| &t.1) {
        types.push(match factor {
            Factor::Var(v) => kernel.vars[v.0].ty.promoted(),
            Factor::Lookup(..) => Int::Int,
        });
    }
    [Int::Size, Int::Long, Int::Unsigned].into_iter().find(|t| types.contains(t)).unwrap_or(Int::Int)
}

/// How much of each array and table is touched.
#[derive(Clone, Debug)]
pub struct Extents {
    /// Per array and dimension: the size a declaration needs.
    pub dims: Vec<Vec<i64>>,
    /// Per array and set: the elements touched, counted from the pointer that is passed.
    pub flat: Vec<Vec<Option<Interval>>>,
    pub tables: Vec<i64>,
}

impl Extents {
    pub fn new(kernel: &Kernel) -> Extents {
        Extents {
            dims: kernel.arrays.iter().map(|a| vec![1; a.dims]).collect(),
            flat: vec![vec![None; kernel.sets.len()]; kernel.arrays.len()],
            tables: vec![1; kernel.tables.len()],
        }
    }
}

/// Why a kernel is not valid. Generated kernels never are; half-reduced ones may be.
pub type Invalid = &'static str;

/// Ensures: every execution of the kernel with one of its argument sets is free of undefined behaviour, if the arrays have the
/// sizes returned.
pub fn analyse(kernel: &Kernel) -> Result<Extents, Invalid> {
    let mut judge = Judge::new(kernel);
    let mut scope = Vec::new();
    judge.block(&kernel.body, &Env::at_entry(kernel), &mut scope, None)?;
    if kernel.result.is_some_and(|r| !scope.contains(&r)) {
        return Err("the result is not declared");
    }
    Ok(judge.finish())
}

pub struct Judge<'a> {
    kernel: &'a Kernel,
    extents: Extents,
}

impl<'a> Judge<'a> {
    pub fn new(kernel: &'a Kernel) -> Judge<'a> {
        Judge { kernel, extents: Extents::new(kernel) }
    }

    /// Goes on from what other accesses of the same kernel touch.
    pub fn resume(kernel: &'a Kernel, extents: Extents) -> Judge<'a> {
        Judge { kernel, extents }
    }

    pub fn into_extents(self) -> Extents {
        self.extents
    }

    fn finish(mut self) -> Extents {
        // Fixed-size rows: the flat extent follows from the final sizes.
        for (k, array) in self.kernel.arrays.iter().enumerate() {
            if matches!(array.shape, Shape::Rows | Shape::Pointers) {
                let row: i64 = self.extents.dims[k][1..].iter().product();
                for range in self.extents.flat[k].iter_mut().flatten() {
                    *range = Interval { low: 0, high: (range.high + 1) * row - 1 };
                }
            }
        }
        self.extents
    }

    fn block(
        &mut self,
        stmts: &[Stmt],
        env: &Env,
        scope: &mut Vec<ScalarId>,
        inside: Option<Form>,
    ) -> Result<(), Invalid> {
        for stmt in stmts {
            let mut nested = scope.clone();
            match stmt {
                Stmt::Loop(l) => {
                    let inner = self.enter(l, env)?;
                    self.block(&l.body, &inner, &mut nested, Some(l.form))?;
                }
                Stmt::If(cond, then, other) => {
                    self.cond(cond, env, scope)?;
                    self.block(then, &env.assuming(cond), &mut nested, inside)?;
                    self.block(other, env, &mut scope.clone(), inside)?;
                }
                Stmt::Switch(on, arms) => {
                    self.poly(on, env)?;
                    for arm in arms {
                        // `break` would leave the switch.
                        self.block(arm, env, &mut scope.clone(), None)?;
                    }
                }
                Stmt::Assign(place, _, value) => {
                    self.value(value, env, scope)?;
                    self.place(place, env, scope)?;
                }
                Stmt::Scalar(id, value) => {
                    self.value(value, env, scope)?;
                    scope.push(*id);
                }
                Stmt::Fill(array, at, count, _) => self.row(*array, at, count, env)?,
                Stmt::Move { to, from, count } => {
                    self.row(to.0, &to.1, count, env)?;
                    self.row(from.0, &from.1, count, env)?;
                }
                Stmt::Nudge(array, at, distance) => {
                    if *distance == 0 {
                        return Err("one cell through two restrict pointers");
                    }
                    self.access(*array, at, env)?;
                    self.access(*array, &moved(at, &Poly::number(*distance)), env)?;
                }
                Stmt::Leave(cond, how) => {
                    self.cond(cond, env, scope)?;
                    match (inside, how) {
                        (None, _) => return Err("nothing to leave"),
                        // It would skip the increment.
                        (Some(Form::While), Leave::Continue) => return Err("continue in a while loop"),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// The loop's header is valid; gives what holds in its body.
    pub fn enter(&mut self, l: &Loop, env: &Env) -> Result<Env, Invalid> {
        for poly in l.low.polys().into_iter().chain(l.high.polys()) {
            self.poly(poly, env)?;
        }
        let ty = self.kernel.vars[l.counter.0].ty;
        let room = ty.room();
        for (low, high) in env.bound(self.kernel, &l.low).into_iter().zip(env.bound(self.kernel, &l.high)) {
            let (Some(low), Some(high)) = (low, high) else { continue };
            // The value at the start, and one stride beyond the last one.
            let (first, last) = match l.form {
                Form::Down => (low.low.min(high.low - 1) - l.stride, high.high - 1),
                Form::Decrement => (low.low.min(high.low), high.high),
                _ => (low.low, low.high.max(high.high) + l.stride),
            };
            if first < room.0 || last > room.1 {
                return Err("the counter's type is too small");
            }
            if l.form == Form::Differs && (l.stride != 1 || low.high > high.low) {
                return Err("the counter may miss its end");
            }
            if l.form == Form::Decrement && l.stride != 1 {
                return Err("a decrement is by one");
            }
        }
        let inner = env.inside(self.kernel, l);
        if inner.visits.iter().zip(&inner.sets).any(|(v, s)| s.is_some() && *v > MOST_ITERATIONS) {
            return Err("too many iterations");
        }
        Ok(inner)
    }

    /// A polynomial is computed without overflow, and its lookups are in bounds.
    pub fn poly(&mut self, poly: &Poly, env: &Env) -> Result<(), Invalid> {
        for factor in poly.terms.iter().flat_map(|t| &t.1) {
            if let Factor::Lookup(table, at) = factor {
                self.poly(at, env)?;
                let Some(range) = env.hull(self.kernel, at) else { continue };
                if range.low < 0 || range.high >= LARGEST_ARRAY {
                    return Err("a table is read out of bounds");
                }
                let size = &mut self.extents.tables[table.0];
                *size = (*size).max(range.high + 1);
            }
        }
        let bare = poly.constant == 0 && poly.terms.len() == 1 && poly.terms[0].0 == 1 && poly.terms[0].1.len() == 1;
        if !bare && env.hull(self.kernel, poly).is_some_and(|r| r.low < -(1 << 29) || r.high > 1 << 29) {
            return Err("signed overflow");
        }
        // Each term by itself must be small, too: sums are formed in any order.
        for (c, factors) in &poly.terms {
            let term = Poly { constant: 0, terms: vec![(*c, factors.clone())] };
            if !bare && env.hull(self.kernel, &term).is_some_and(|r| r.low < -(1 << 28) || r.high > 1 << 28) {
                return Err("signed overflow");
            }
        }
        Ok(())
    }

    fn place(&mut self, place: &Place, env: &Env, scope: &[ScalarId]) -> Result<(), Invalid> {
        match place {
            Place::Cell(array, at) => self.access(*array, at, env),
            Place::Scalar(id) => scope.contains(id).then_some(()).ok_or("a scalar out of scope"),
        }
    }

    fn value(&mut self, value: &Value, env: &Env, scope: &[ScalarId]) -> Result<(), Invalid> {
        match value {
            Value::Read(place) => self.place(place, env, scope),
            Value::Number(_) => Ok(()),
            Value::Index(poly) => self.poly(poly, env),
            Value::Binary(_, a, b) => {
                self.value(a, env, scope)?;
                self.value(b, env, scope)
            }
            Value::Abs(a) | Value::Root(a) => self.value(a, env, scope),
            Value::Over(a, by) => {
                self.value(a, env, scope)?;
                self.divisor(by, env)
            }
            Value::Pick(cond, a, b) => {
                self.cond(cond, env, scope)?;
                self.value(a, &env.assuming(cond), scope)?;
                self.value(b, env, scope)
            }
        }
    }

    /// A polynomial that is not zero.
    pub fn divisor(&mut self, by: &Poly, env: &Env) -> Result<(), Invalid> {
        if env.poly(self.kernel, by).iter().flatten().any(|r| r.low <= 0 && 0 <= r.high) {
            return Err("a division by zero");
        }
        self.poly(by, env)
    }

    pub fn cond(&mut self, cond: &Cond, env: &Env, scope: &[ScalarId]) -> Result<(), Invalid> {
        match cond {
            Cond::Compare(a, _, b) => {
                self.poly(a, env)?;
                self.poly(b, env)
            }
            Cond::Remainder(a, modulus, ..) => {
                if *modulus < 2 {
                    return Err("a remainder by less than two");
                }
                self.poly(a, env)
            }
            Cond::Guard(..) => Ok(()),
            Cond::Data(place, ..) => self.place(place, env, scope),
            Cond::And(a, b) => {
                self.cond(a, env, scope)?;
                self.cond(b, &env.assuming(a), scope)
            }
            Cond::Or(a, b) => {
                self.cond(a, env, scope)?;
                self.cond(b, env, scope)
            }
            Cond::Not(a) => self.cond(a, env, scope),
        }
    }

    /// `count` cells along the last dimension; the first one must exist even when there is nothing to do.
    pub fn row(&mut self, array: ArrayId, at: &[Poly], count: &Poly, env: &Env) -> Result<(), Invalid> {
        self.poly(count, env)?;
        self.access(array, at, env)?;
        let mut nonempty = env.clone();
        for (set, range) in nonempty.sets.iter_mut().zip(env.poly(self.kernel, count)) {
            if range.is_some_and(|r| r.high <= 0) {
                *set = None;
            }
        }
        // Not computed by the program, so overflow and sign of this sum do not matter, only its cells.
        self.touch(array, &moved(at, &count.clone().plus(-1)), &nonempty)
    }

    pub fn access(&mut self, array: ArrayId, at: &[Poly], env: &Env) -> Result<(), Invalid> {
        for poly in at {
            self.poly(poly, env)?;
        }
        let shape = &self.kernel.arrays[array.0].shape;
        if matches!(shape, Shape::Flat(_) | Shape::FlatBy(_) | Shape::Walked(_) | Shape::Shifted(_)) {
            let flat = flatten(shape, at);
            self.poly(&flat, env)?;
            if flat_type(self.kernel, shape, at).is_unsigned() && env.may_be_negative(self.kernel, &flat) {
                return Err("a negative unsigned subscript");
            }
        }
        self.touch(array, at, env)
    }

    fn touch(&mut self, array: ArrayId, at: &[Poly], env: &Env) -> Result<(), Invalid> {
        let Array { dims, shape, .. } = &self.kernel.arrays[array.0];
        if at.len() != *dims {
            return Err("wrong number of subscripts");
        }
        let ranges: Vec<Vec<Option<Interval>>> = at.iter().map(|p| env.poly(self.kernel, p)).collect();
        let fixed = matches!(shape, Shape::Global | Shape::Rows | Shape::Pointers);
        if fixed {
            let sizes: Vec<i64> = (0..*dims)
                .map(|d| ranges[d].iter().flatten().map(|r| r.high + 1).fold(self.extents.dims[array.0][d], i64::max))
                .collect();
            if ranges.iter().flatten().flatten().any(|r| r.low < 0) {
                return Err("a negative subscript");
            }
            if sizes.iter().try_fold(1i64, |a, b| a.checked_mul(*b)).is_none_or(|n| n > LARGEST_ARRAY) {
                return Err("an array is too large");
            }
            self.extents.dims[array.0] = sizes;
        }
        let flat = flatten(shape, at);
        for (k, set) in env.sets.iter().enumerate() {
            let Some(vars) = set else { continue };
            let mut range = match shape {
                Shape::Global => continue,
                Shape::Rows | Shape::Pointers => ranges[0][k].expect("this set gets here"),
                _ => poly_in(self.kernel, vars, &flat),
            };
            if let Shape::Vla(sizes) = shape {
                for (column, size) in ranges[1..].iter().zip(sizes) {
                    let column = column[k].expect("this set gets here");
                    if column.low < 0 || column.high >= poly_in(self.kernel, vars, size).low {
                        return Err("a column out of bounds");
                    }
                }
            }
            if let Shape::Walked(lead) = shape {
                // The pointer to the row goes one stride, of three at most, beyond the last one.
                let row = poly_in(self.kernel, vars, lead);
                let reach = row.low.abs().max(row.high.abs()) * 4;
                range = Interval { low: range.low - reach, high: range.high + reach };
            }
            if let Shape::Shifted(offset) = shape {
                // `A + offset` is itself a pointer into the array.
                range = range.sum(vars[offset.0]).hull(vars[offset.0]);
            }
            let slot = &mut self.extents.flat[array.0][k];
            let all = slot.map_or(range, |old| old.hull(range)).hull(Interval::point(0));
            if all.high - all.low >= LARGEST_ARRAY {
                return Err("an array is too large");
            }
            *slot = Some(all);
        }
        Ok(())
    }
}

/// The last subscript moved by some cells.
pub fn moved(at: &[Poly], by: &Poly) -> Vec<Poly> {
    let mut at = at.to_vec();
    if let Some(last) = at.pop() {
        at.push(last.sum(by));
    }
    at
}

/// The C type of the one subscript of a flat array. A row length counts although its factor is zero: it is printed.
pub fn flat_type(kernel: &Kernel, shape: &Shape, at: &[Poly]) -> Int {
    let leads = match shape {
        Shape::FlatBy(leads) => leads.as_slice(),
        Shape::Walked(lead) => std::slice::from_ref(lead),
        _ => &[],
    };
    let all = at.iter().chain(leads).fold(Poly::default(), |all, poly| all.sum(poly));
    type_of(kernel, &all)
}

/// The one subscript of a flat array; of others, whatever counts their elements.
pub fn flatten(shape: &Shape, at: &[Poly]) -> Poly {
    let mut sum = at[0].clone();
    for (d, next) in at.iter().enumerate().skip(1) {
        sum = match shape {
            Shape::Flat(ld) => sum.scale(ld[d - 1]),
            Shape::FlatBy(ld) | Shape::Vla(ld) => sum.product(&ld[d - 1]),
            Shape::Walked(ld) => sum.product(ld),
            Shape::Global | Shape::Rows | Shape::Pointers | Shape::Shifted(_) => sum,
        };
        sum = sum.sum(next);
    }
    sum
}
