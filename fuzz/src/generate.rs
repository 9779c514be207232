//! Seed → kernel. Every choice is checked against the intervals when it is made and replaced by a simpler one if it does not
//! hold, down to one that always does: no kernel is thrown away.

mod scalars;
mod signature;
mod values;

use crate::case::Case;
use crate::extremes;
use crate::kernel::*;
use crate::odd;
use crate::range::{self, Env, Extents, Interval, Invalid, Judge};
use crate::rng::Rng;
use signature::Role;

/// Tries before the simple choice.
const TRIES: usize = 10;

/// What kind of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Family {
    /// Every form of loops, bounds, subscripts and arrays.
    Loops,
    /// Scalars that cross statements: sums, registers, exchanges, hoisted values.
    Scalars,
    /// In turn: even kernels are those of `loops`, odd ones those of `scalars`.
    Mixed,
    /// The smallest and largest arguments, bounds in memory, arrays that lie on each other and on the bounds.
    Extremes,
    /// Memory in every width, at every offset and through every door, and updates that overlap.
    Bytes,
    /// Errno, exits, promises, casts and what is only defined behind a guard.
    Effects,
}

/// The kernel number `index` of the run with this seed; does not depend on other kernels.
pub fn case(family: Family, seed: u64, index: usize) -> Case {
    match family {
        Family::Loops => Case::Nest(loops(seed, index)),
        Family::Scalars => Case::Nest(scalars(seed, index)),
        Family::Mixed if index % 2 == 1 => Case::Nest(scalars(seed, index)),
        Family::Mixed => Case::Nest(loops(seed, index)),
        Family::Extremes => Case::Extreme(extremes::draw::kernel(seed, index)),
        Family::Bytes => Case::Odd(odd::bytes::kernel(seed, index)),
        Family::Effects => Case::Odd(odd::effects::kernel(seed, index)),
    }
}

pub fn scalars(seed: u64, index: usize) -> Kernel {
    let kernel = scalars::kernel(Rng::new(seed, index as u64), index).0;
    debug_assert_eq!(range::analyse(&kernel).err(), None);
    kernel
}

pub fn loops(seed: u64, index: usize) -> Kernel {
    let mut rng = Rng::new(seed, index as u64);
    let depth = 1 + rng.weighted(&[15, 40, 32, 13]);
    let (kernel, roles) = signature::generate(&mut rng, index, depth, &signature::LOOPS);
    let left = rng.within(2, 9);
    let mut generator = Generator::new(rng, kernel, roles, left);
    generator.body(depth);
    debug_assert_eq!(range::analyse(&generator.kernel).err(), None);
    generator.kernel
}

struct Generator {
    rng: Rng,
    kernel: Kernel,
    /// By parameter.
    roles: Vec<Role>,
    extents: Extents,
    /// How many statements may still come.
    left: i64,
    counters: Vec<VarId>,
    scope: Vec<ScalarId>,
}

/// What stands around a block.
#[derive(Clone, Copy)]
struct Around {
    depth: usize,
    /// The loop that `break` and `continue` would mean.
    inside: Option<Form>,
}

impl Generator {
    fn new(rng: Rng, kernel: Kernel, roles: Vec<Role>, left: i64) -> Generator {
        let extents = Extents::new(&kernel);
        Generator { rng, kernel, roles, extents, left, counters: Vec::new(), scope: Vec::new() }
    }

    fn body(&mut self, depth: usize) {
        let entry = Env::at_entry(&self.kernel);
        let mut body = Vec::new();
        if self.rng.percent(25) {
            let scalar = self.new_scalar();
            let value = self.value(self.kernel.scalars[scalar.0], &entry, 1, None);
            body.push(Stmt::Scalar(scalar, value));
            self.scope.push(scalar);
            self.kernel.result = Some(scalar);
        }
        let nests = 1 + self.rng.weighted(&[60, 28, 12]);
        for k in 0..nests {
            self.left = self.left.max(2);
            let deep = if k == 0 { depth } else { 1 + self.rng.below(depth) };
            match self.nest(&entry, deep, k == 0) {
                Some(l) => body.push(Stmt::Loop(l)),
                None => body.push(self.assign(&entry)),
            }
            if self.rng.percent(8) {
                body.push(self.assign(&entry));
            }
        }
        self.kernel.body = body;
    }

    /// Runs a check that may enlarge arrays; keeps the new sizes only if it holds.
    fn check<T>(&mut self, test: impl FnOnce(&mut Judge) -> Result<T, Invalid>) -> Option<T> {
        let mut judge = Judge::resume(&self.kernel, self.extents.clone());
        let result = test(&mut judge).ok()?;
        self.extents = judge.into_extents();
        Some(result)
    }

    // --- loops ---

    /// `depth` loops; perfect ones are what optimizers like most, so they are frequent.
    fn nest(&mut self, env: &Env, depth: usize, perfect: bool) -> Option<Loop> {
        let (mut l, inner) = self.header(env)?;
        self.counters.push(l.counter);
        let scope = self.scope.len();
        let perfect = if perfect { 75 } else { 50 };
        if depth > 1 && self.rng.percent(perfect) {
            match self.nest(&inner, depth - 1, true) {
                Some(nested) => l.body.push(Stmt::Loop(nested)),
                None => l.body.push(self.assign(&inner)),
            }
        } else {
            l.body = self.block(&inner, Around { depth: depth - 1, inside: Some(l.form) });
        }
        self.scope.truncate(scope);
        self.counters.pop();
        Some(l)
    }

    /// A loop without a body, and what holds in it. `None` where even a short loop would run too long.
    fn header(&mut self, env: &Env) -> Option<(Loop, Env)> {
        self.header_like(env, Generator::any_loop)
    }

    fn any_loop(&mut self, counter: VarId) -> (Loop, Int) {
        let types = [Int::Int, Int::Long, Int::Unsigned, Int::Size, Int::Short, Int::UChar];
        let forms = [Form::Less, Form::AtMost, Form::Differs, Form::While, Form::Do, Form::Down, Form::Decrement];
        let l = Loop {
            counter,
            form: forms[self.rng.weighted(&[45, 12, 6, 4, 4, 16, 12])],
            low: self.low(),
            high: self.high(),
            stride: [1, 2, 3][self.rng.weighted(&[80, 13, 7])],
            body: Vec::new(),
        };
        (l, types[self.rng.weighted(&[45, 20, 15, 12, 4, 4])])
    }

    fn header_like(&mut self, env: &Env, draw: fn(&mut Generator, VarId) -> (Loop, Int)) -> Option<(Loop, Env)> {
        let counter = VarId(self.kernel.vars.len());
        self.kernel.vars.push(Var { ty: Int::Int, origin: Origin::Counter });
        for attempt in 0..TRIES + 2 {
            let (mut l, mut ty) = draw(self, counter);
            if l.form == Form::Differs || l.form == Form::Decrement {
                l.stride = 1;
            }
            if attempt >= TRIES {
                (ty, l.form, l.stride) = (Int::Int, Form::Less, 1);
                (l.low, l.high) = (Bound::One(Poly::number(0)), Bound::One(Poly::number(5)));
                if attempt == TRIES {
                    l.high = Bound::One(self.size());
                }
            }
            self.kernel.vars[counter.0].ty = ty;
            if let Some(inner) = self.check(|judge| judge.enter(&l, env)) {
                // A loop that no argument set enters tests little.
                if inner.sets.iter().any(Option::is_some) || attempt >= TRIES {
                    return Some((l, inner));
                }
            }
        }
        // The last one: later counters keep their numbers.
        self.kernel.vars.pop();
        None
    }

    fn low(&mut self) -> Bound {
        let one = Bound::One;
        match self.rng.weighted(&[52, 16, 16, 6, 5, 2]) {
            1 => one(Poly::number(self.rng.within(1, 3))),
            2 => match self.counter() {
                Some(c) => one(Poly::var(c).plus(self.rng.within(0, 1))),
                None => one(Poly::number(0)),
            },
            3 => match self.counter() {
                Some(c) => {
                    let back = self.rng.within(1, 5);
                    Bound::Max(Poly::var(c).plus(-back), Poly::number(self.rng.within(0, 2)))
                }
                None => one(Poly::number(1)),
            },
            4 => one(self.offset()),
            5 => one(self.lookup()),
            _ => one(Poly::number(0)),
        }
    }

    fn high(&mut self) -> Bound {
        let one = Bound::One;
        let counter = self.counter();
        match (self.rng.weighted(&[45, 16, 6, 7, 4, 5, 5, 2, 3, 3]), counter) {
            (1, Some(c)) => one(Poly::var(c).plus(self.rng.within(0, 2))),
            (2, _) => one(Poly::number(self.rng.within(1, 20))),
            (3, Some(c)) => {
                let ahead = self.rng.within(1, 9);
                Bound::Min(self.size(), Poly::var(c).plus(ahead))
            }
            (4, Some(c)) => Bound::Max(self.size(), Poly::var(c)),
            (5, Some(c)) => one(self.size().sum(&Poly::var(c).scale(-1))),
            (6, _) => match self.by_role(Role::Huge) {
                Some(huge) => Bound::Min(Poly::var(huge), self.size()),
                None => Bound::Min(self.size(), self.size()),
            },
            (7, _) => one(self.lookup()),
            (8, _) => {
                let offset = self.offset();
                one(self.size().sum(&offset))
            }
            (9, _) => Bound::Max(self.size(), Poly::number(self.rng.within(1, 4))),
            _ => {
                let less = self.rng.pick(&[0, 0, 0, 0, -1, -1, -2, 1]);
                one(self.size().plus(less))
            }
        }
    }

    // --- statements ---

    fn block(&mut self, env: &Env, around: Around) -> Vec<Stmt> {
        let scope = self.scope.len();
        let mut out = Vec::new();
        for _ in 0..1 + self.rng.weighted(&[40, 38, 22]) {
            if self.left <= 0 && !out.is_empty() {
                break;
            }
            self.left -= 1;
            let loops = if around.depth > 0 { 1 } else { 0 };
            match self.rng.weighted(&[55, 13, 8, 10 * loops, 4, 3, 2, 2, 30 * loops, 12 * loops]) {
                1 => out.push(self.branch(env, around)),
                2 => {
                    let scalar = self.new_scalar();
                    let value = self.value(self.kernel.scalars[scalar.0], env, 2, None);
                    out.push(Stmt::Scalar(scalar, value));
                    self.scope.push(scalar);
                    out.push(self.assign(env));
                }
                3 => self.reduction(env, around, &mut out),
                4 => out.push(self.row(env)),
                5 => out.push(self.nudge(env)),
                6 => match around.inside {
                    Some(form) => {
                        let cond = self.cond(env, 1);
                        let how =
                            if form != Form::While && self.rng.percent(70) { Leave::Continue } else { Leave::Break };
                        out.push(Stmt::Leave(cond, how));
                        out.push(self.assign(env));
                    }
                    None => out.push(self.assign(env)),
                },
                7 => out.push(self.switch(env)),
                8 => match self.nest(env, around.depth, false) {
                    Some(l) => out.push(Stmt::Loop(l)),
                    None => out.push(self.assign(env)),
                },
                9 => out.push(self.sweep(env, around)),
                _ => out.push(self.assign(env)),
            }
        }
        self.scope.truncate(scope);
        out
    }

    fn branch(&mut self, env: &Env, around: Around) -> Stmt {
        let cond = if self.rng.percent(30) { self.guard(env) } else { self.cond(env, 2) };
        let inner = env.assuming(&cond);
        let around = Around { depth: if self.rng.percent(20) { around.depth } else { 0 }, ..around };
        let then = self.block(&inner, around);
        let other = if self.rng.percent(30) { self.block(env, around) } else { Vec::new() };
        Stmt::If(cond, then, other)
    }

    /// A loop that data decides about which the kernel may write, and now and then ends early: `if (A[i][j] > 0) for (…) { … if (…) break; … }`
    fn sweep(&mut self, env: &Env, around: Around) -> Stmt {
        let (array, at) = self.target(env);
        let rel = self.rng.pick(&[Rel::Lt, Rel::Gt]);
        let mut cond = Cond::Data(Place::Cell(array, at), rel, self.rng.within(-3, 3));
        if self.rng.percent(35) {
            let other = Box::new(self.cond(env, 1));
            cond =
                if self.rng.percent(50) { Cond::And(Box::new(cond), other) } else { Cond::Or(Box::new(cond), other) };
        }
        let inner = env.assuming(&cond);
        let mut then = Vec::new();
        if let Some((mut l, in_loop)) = self.header(&inner) {
            self.counters.push(l.counter);
            let within = Around { depth: if self.rng.percent(25) { around.depth } else { 0 }, inside: Some(l.form) };
            l.body = self.block(&in_loop, within);
            if self.rng.percent(40) {
                let place = self.rng.below(l.body.len() + 1);
                // Scalars that are declared further down are not known there.
                let leave = Stmt::Leave(self.cond(&in_loop, 1), Leave::Break);
                l.body.insert(place, leave);
            }
            self.counters.pop();
            then.push(Stmt::Loop(l));
        }
        then.push(self.assign(&inner));
        let other = if self.rng.percent(20) { self.block(env, Around { depth: 0, ..around }) } else { Vec::new() };
        Stmt::If(cond, then, other)
    }

    fn switch(&mut self, env: &Env) -> Stmt {
        let on = self.affine(env);
        let around = Around { depth: 0, inside: None };
        let arms = (0..self.rng.within(2, 3)).map(|_| self.block(env, around)).collect();
        Stmt::Switch(on, arms)
    }

    /// `s = …; for (…) s += …; A[…] = s;`
    fn reduction(&mut self, env: &Env, around: Around, out: &mut Vec<Stmt>) {
        let scalar = self.new_scalar();
        let elem = self.kernel.scalars[scalar.0];
        let start =
            if self.rng.percent(60) { Value::Number(self.rng.within(0, 4)) } else { self.value(elem, env, 1, None) };
        out.push(Stmt::Scalar(scalar, start));
        self.scope.push(scalar);
        if let Some((mut l, inner)) = self.header(env) {
            self.counters.push(l.counter);
            if around.depth > 1 && self.rng.percent(30) {
                l.body = self.block(&inner, Around { depth: around.depth - 1, inside: Some(l.form) });
            }
            let update = self.update();
            let value = self.value(elem, &inner, 2, None);
            l.body.push(Stmt::Assign(
                Place::Scalar(scalar),
                if update == Update::Set { Update::Add } else { update },
                value,
            ));
            self.counters.pop();
            out.push(Stmt::Loop(l));
        }
        let (array, at) = self.target(env);
        out.push(Stmt::Assign(Place::Cell(array, at), Update::Set, Value::Read(Place::Scalar(scalar))));
    }

    fn assign(&mut self, env: &Env) -> Stmt {
        let place = match self.scope.last().copied() {
            // Carried from iteration to iteration, if the scalar was declared outside.
            Some(_) if self.rng.percent(20) => Place::Scalar(self.scope[self.rng.below(self.scope.len())]),
            _ => {
                let (array, at) = self.target(env);
                Place::Cell(array, at)
            }
        };
        let elem = match &place {
            Place::Cell(a, _) => self.kernel.arrays[a.0].elem,
            Place::Scalar(s) => self.kernel.scalars[s.0],
        };
        let update = self.update();
        let value = match update {
            // Repeated multiplication must not overflow.
            Update::Mul if elem.is_float() => Value::Number(self.rng.pick(&[-6, -4, 4, 5, 7])),
            _ => self.value(elem, env, 3, Some(&place)),
        };
        Stmt::Assign(place, update, value)
    }

    fn update(&mut self) -> Update {
        use Update::*;
        [Set, Add, Sub, Mul, Xor, Or, MinIf, MaxPick][self.rng.weighted(&[55, 22, 6, 3, 3, 2, 5, 4])]
    }

    fn row(&mut self, env: &Env) -> Stmt {
        let array = self.array();
        let elem = self.kernel.arrays[array.0].elem;
        let partner: Vec<ArrayId> =
            (0..self.kernel.arrays.len()).map(ArrayId).filter(|a| self.kernel.arrays[a.0].elem == elem).collect();
        let from = self.rng.pick(&partner);
        let fill = self.rng.percent(50);
        for _ in 0..TRIES {
            let count = if self.rng.percent(40) { Poly::number(self.rng.within(1, 9)) } else { self.size() };
            let mut to_at = self.subscripts(env, array);
            let mut from_at = self.subscripts(env, from);
            if self.rng.percent(70) {
                for at in [&mut to_at, &mut from_at] {
                    if let Some(last) = at.last_mut() {
                        *last = Poly::number(0);
                    }
                }
            }
            let byte = if elem.is_float() { 0 } else { self.rng.pick(&[0, 1, 255]) };
            let (stmt, good) = if fill {
                let good = self.check(|j| j.row(array, &to_at, &count, env));
                (Stmt::Fill(array, to_at, count, byte), good)
            } else {
                let good = self.check(|j| {
                    j.row(array, &to_at, &count, env)?;
                    j.row(from, &from_at, &count, env)
                });
                (Stmt::Move { to: (array, to_at), from: (from, from_at), count }, good)
            };
            // Each element moved is an iteration, too.
            if good.is_some() && env.visits.iter().all(|v| *v <= range::MOST_ITERATIONS / 16) {
                return stmt;
            }
        }
        self.assign(env)
    }

    fn nudge(&mut self, env: &Env) -> Stmt {
        for _ in 0..TRIES {
            let (array, at) = self.target(env);
            let distance = self.rng.pick(&[-2, -1, 1, 2]);
            if self.check(|j| j.access(array, &range::moved(&at, &Poly::number(distance)), env)).is_some() {
                return Stmt::Nudge(array, at, distance);
            }
        }
        self.assign(env)
    }

    // --- subscripts ---

    /// Arrays that come first are written more often.
    fn target(&mut self, env: &Env) -> (ArrayId, Vec<Poly>) {
        let array = if self.rng.percent(55) { ArrayId(0) } else { self.array() };
        (array, self.cell(env, array, None))
    }

    fn array(&mut self) -> ArrayId {
        ArrayId(self.rng.below(self.kernel.arrays.len()))
    }

    /// In bounds; near `like`, if there is one.
    fn cell(&mut self, env: &Env, array: ArrayId, like: Option<&[Poly]>) -> Vec<Poly> {
        for _ in 0..TRIES {
            let at = match like {
                Some(like) => {
                    let mut at = like.to_vec();
                    for poly in &mut at {
                        poly.constant += self.rng.pick(&[0, 0, 0, 0, -1, 1, -2, 2]);
                    }
                    self.shifted(env, array, at)
                }
                None => self.subscripts(env, array),
            };
            if self.check(|judge| judge.access(array, &at, env)).is_some() {
                return at;
            }
        }
        let zeros = vec![Poly::number(0); self.kernel.arrays[array.0].dims];
        self.check(|judge| judge.access(array, &zeros, env)).expect("the first cell always exists");
        zeros
    }

    fn subscripts(&mut self, env: &Env, array: ArrayId) -> Vec<Poly> {
        let dims = self.kernel.arrays[array.0].dims;
        let mut fresh = self.counters.clone();
        let mut at = Vec::new();
        for _ in 0..dims {
            // Different counters in different dimensions are the usual case; the innermost ones first.
            let straight = self.rng.percent(70);
            let taken = match fresh.len() {
                0 => None,
                n => Some(fresh.remove(if self.rng.percent(60) { n - 1 } else { self.rng.below(n) })),
            };
            at.push(match taken {
                Some(counter) if straight => Poly::var(counter).plus(self.rng.pick(&[0, 0, 0, 0, 1, -1, 2, -2])),
                _ => self.affine(env),
            });
        }
        if self.rng.percent(70) {
            at.reverse();
        }
        self.shifted(env, array, at)
    }

    fn affine(&mut self, env: &Env) -> Poly {
        let constant: i64 = self.rng.pick(&[0, 0, 0, 1, -1, 2, 3]);
        let Some(counter) = self.counter() else {
            return match self.rng.below(3) {
                0 => Poly::number(constant.abs()),
                1 => self.offset(),
                _ => self.size().plus(-1),
            };
        };
        let x = Poly::var(counter);
        let poly = match self.rng.weighted(&[40, 12, 14, 9, 9, 6, 6, 3]) {
            1 => x.scale(self.rng.within(2, 3)),
            2 => {
                let other = self.counter().map_or(Poly::number(1), Poly::var);
                x.sum(&other.scale(self.rng.pick(&[1, 1, -1, 2])))
            }
            3 => self.size().plus(-1).sum(&x.scale(-1)),
            4 => x.sum(&self.offset()),
            5 => Poly::number(0),
            6 => self.lookup(),
            7 => Poly {
                constant: 0,
                terms: vec![(1, [counter, self.counter().unwrap_or(counter)].map(Factor::Var).to_vec())],
            },
            _ => x,
        };
        let poly = poly.plus(constant);
        // An overflow-free form in any context, conditions included.
        if self.check(|j| j.poly(&poly, env)).is_some() { poly } else { Poly::number(constant) }
    }

    /// Moved up by a constant so that no subscript is negative where that would be out of bounds.
    fn shifted(&mut self, env: &Env, array: ArrayId, mut at: Vec<Poly>) -> Vec<Poly> {
        let shape = self.kernel.arrays[array.0].shape.clone();
        let below = |range: Option<Interval>| range.map_or(0, |r| (-r.low).max(0));
        if matches!(shape, Shape::Global | Shape::Rows | Shape::Pointers | Shape::Vla(_)) {
            for poly in &mut at {
                poly.constant += below(env.hull(&self.kernel, poly));
            }
        } else {
            let flat = range::flatten(&shape, &at);
            let unsigned = range::flat_type(&self.kernel, &shape, &at).is_unsigned();
            if (unsigned || self.rng.percent(60))
                && let Some(last) = at.last_mut()
            {
                last.constant += below(env.hull(&self.kernel, &flat));
            }
        }
        at
    }

    // --- small choices ---

    fn counter(&mut self) -> Option<VarId> {
        match self.counters.len() {
            0 => None,
            // The innermost ones more often.
            n => Some(self.counters[(self.rng.below(n)).max(self.rng.below(n))]),
        }
    }

    fn by_role(&mut self, role: Role) -> Option<VarId> {
        let all: Vec<VarId> = (0..self.roles.len()).filter(|k| self.roles[*k] == role).map(VarId).collect();
        if all.is_empty() { None } else { Some(self.rng.pick(&all)) }
    }

    fn size(&mut self) -> Poly {
        // Along a whole row, now and then.
        let lead = if self.rng.percent(15) { self.by_role(Role::Lead { strict: true }) } else { None };
        let lead = if self.rng.percent(15) { self.by_role(Role::Lead { strict: false }) } else { lead };
        lead.or_else(|| self.by_role(Role::Size)).map_or(Poly::number(7), Poly::var)
    }

    fn offset(&mut self) -> Poly {
        self.by_role(Role::Offset).map_or(Poly::number(2), Poly::var)
    }

    fn lookup(&mut self) -> Poly {
        if self.kernel.tables.is_empty() {
            return Poly::number(3);
        }
        let table = TableId(self.rng.below(self.kernel.tables.len()));
        let at = self.counter().map_or(Poly::number(0), Poly::var);
        // Counters may start below zero; tables do not.
        let low = self.offset_to_zero(&at);
        Poly { constant: 0, terms: vec![(1, vec![Factor::Lookup(table, Box::new(at.plus(low)))])] }
    }

    /// A shift that makes every counter nonnegative: bounds start at offsets of at least -4, backed by at most a few more.
    fn offset_to_zero(&mut self, at: &Poly) -> i64 {
        if at.terms.is_empty() { 0 } else { self.rng.pick(&[0, 0, 12]) }
    }

    fn new_scalar(&mut self) -> ScalarId {
        let elem = self.kernel.arrays[self.rng.below(self.kernel.arrays.len())].elem;
        self.kernel.scalars.push(elem);
        ScalarId(self.kernel.scalars.len() - 1)
    }
}
