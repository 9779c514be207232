//! Kernels rich in scalars that cross statements: what people write and what compilers make of array cells.
//!
//! A nest has some loops around sections, and a section has an inner loop and what stands before and after it:
//!
//! ```c
//! for (i …) {
//!   double s = 0;              // before
//!   for (k …)
//!     s += A[i][k] * B[k];     // inner
//!   C[i] = s;                  // after
//! }
//! ```
//!
//! A feature adds to each of the three. Features of one section share its loop, see each other's scalars, and are free to read and
//! overwrite each other's cells: a scalar that fits into a cell in one kernel conflicts with something in the next.

use super::signature;
use super::{Generator, Role};
use crate::kernel::*;
use crate::range::Env;
use crate::rng::Rng;

/// Something that makes a scalar cross statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `s = 0; for … s += …; C[i] = s;`, also in memory, stored in every iteration, or starting with the old cell.
    Sum,
    /// The same under a condition, or with two sides.
    ConditionalSum,
    /// `m = m > x ? m : x;`
    Extremum,
    /// `if (…) t = x; else t = y;` and a use behind it.
    Choice,
    /// A value used by two later statements.
    TwoUses,
    /// Reads and writes of the cell a scalar is stored to, in any order with its definition and uses.
    CellInUse,
    /// `a = b; b = c; c = A[k + 1];`
    ShiftRegister,
    /// `a = 2 * A[i];` used in the loop, `A` changed in between or not.
    HoistedLoad,
    /// A root or a quotient, used in the loop.
    HoistedQuotient,
    /// Declared before all loops, updated in them, needed afterwards.
    Carried,
    /// `t = A[i]; A[i] = A[j]; A[j] = t;`
    Exchange,
    /// `p = p / 2 + A[k]; C[k] = p;`
    Running,
    /// A loop that clears an array before the nest uses it.
    Cleared,
}

pub const FEATURES: [(Feature, u64); 13] = [
    (Feature::Sum, 22),
    (Feature::ConditionalSum, 12),
    (Feature::Extremum, 6),
    (Feature::Choice, 9),
    (Feature::TwoUses, 9),
    (Feature::CellInUse, 12),
    (Feature::ShiftRegister, 8),
    (Feature::HoistedLoad, 11),
    (Feature::HoistedQuotient, 8),
    (Feature::Carried, 8),
    (Feature::Exchange, 5),
    (Feature::Running, 7),
    (Feature::Cleared, 6),
];

/// A kernel, and for each of its nests what it was asked to contain.
pub fn kernel(mut rng: Rng, index: usize) -> (Kernel, Vec<Vec<Feature>>) {
    let depth = 1 + rng.weighted(&[15, 55, 30]);
    let (kernel, roles) = signature::generate(&mut rng, index, depth, &signature::SCALARS);
    let mut generator = Generator::new(rng, kernel, roles, 0);
    let nests = generator.nests(depth);
    (generator.kernel, nests)
}

/// The statements around and in an inner loop while they are being collected.
struct Section {
    before: Vec<Stmt>,
    inner: Vec<Stmt>,
    after: Vec<Stmt>,
    counter: VarId,
    /// Where the loop starts, if it goes up by ones from one number.
    start: Option<Poly>,
    /// Declared in `inner` and in `after`; what `before` declares is in scope everywhere.
    inner_scope: Vec<ScalarId>,
    after_scope: Vec<ScalarId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Inner,
    After,
}

/// What holds around and in the inner loop.
struct Envs<'a> {
    outer: &'a Env,
    inner: &'a Env,
}

impl Section {
    fn list(&mut self, part: Part) -> &mut Vec<Stmt> {
        match part {
            Part::Before => &mut self.before,
            Part::Inner => &mut self.inner,
            Part::After => &mut self.after,
        }
    }
}

impl Envs<'_> {
    fn of(&self, part: Part) -> &Env {
        if part == Part::Inner { self.inner } else { self.outer }
    }
}

fn boxed(place: &Place) -> Box<Value> {
    Box::new(Value::Read(place.clone()))
}

fn sum(a: Value, b: Value) -> Value {
    Value::Binary(Op::Add, Box::new(a), Box::new(b))
}

fn product(a: Value, b: Value) -> Value {
    Value::Binary(Op::Mul, Box::new(a), Box::new(b))
}

impl Generator {
    fn nests(&mut self, depth: usize) -> Vec<Vec<Feature>> {
        let entry = Env::at_entry(&self.kernel);
        let mut body = Vec::new();
        let mut nests = Vec::new();
        for k in 0..1 + self.rng.weighted(&[58, 30, 12]) {
            let depth = if k == 0 { depth } else { 1 + self.rng.below(depth) };
            let weights: Vec<u64> = FEATURES.iter().map(|f| f.1).collect();
            let count = 1 + self.rng.weighted(&[42, 34, 16, 8]);
            let features: Vec<Feature> = (0..count).map(|_| FEATURES[self.rng.weighted(&weights)].0).collect();
            for feature in &features {
                match feature {
                    Feature::Carried => {
                        let elem = self.array_elem();
                        let start = self.start(elem, &entry, None);
                        let scalar = self.scalar_of(elem);
                        body.push(Stmt::Scalar(scalar, start));
                        self.scope.push(scalar);
                    }
                    Feature::Cleared => body.push(self.clearing(&entry)),
                    _ => {}
                }
            }
            let sectioned: Vec<Feature> = features.iter().copied().filter(|f| *f != Feature::Cleared).collect();
            body.extend(self.around(&entry, depth - 1, &sectioned));
            nests.push(features);
        }
        // Live behind all loops: returned, or stored.
        for scalar in self.scope.clone() {
            if self.kernel.result.is_none() && self.rng.percent(75) {
                self.kernel.result = Some(scalar);
            } else {
                let array = self.array();
                let cell = Place::Cell(array, self.cell(&entry, array, None));
                body.push(Stmt::Assign(cell, Update::Set, Value::Read(Place::Scalar(scalar))));
            }
        }
        self.kernel.body = body;
        nests
    }

    /// Every cell that a nest is likely to use is set to zero, or almost every.
    fn clearing(&mut self, env: &Env) -> Stmt {
        let array = self.array();
        let mut headers = Vec::new();
        let mut inner = env.clone();
        for _ in 0..self.kernel.arrays[array.0].dims {
            let Some((l, within)) = self.header_like(&inner, Generator::plain_loop) else { break };
            self.counters.push(l.counter);
            headers.push(l);
            inner = within;
        }
        let at = self.neat_cell(&inner, array);
        let zero = if self.rng.percent(90) { 0 } else { 3 };
        let mut stmt = Stmt::Assign(Place::Cell(array, at), Update::Set, Value::Number(zero));
        for mut l in headers.into_iter().rev() {
            self.counters.pop();
            l.body.push(stmt);
            stmt = Stmt::Loop(l);
        }
        stmt
    }

    /// `levels` loops around sections, with some of the features between them.
    fn around(&mut self, env: &Env, levels: usize, features: &[Feature]) -> Vec<Stmt> {
        let scope = self.scope.len();
        let stmts = if levels == 0 {
            self.sections(env, features)
        } else {
            let mut stmts = Vec::new();
            let mut rest = features;
            // Not outside of all loops: there a nest would be two.
            if features.len() > 1 && !self.counters.is_empty() && self.rng.percent(25) {
                let (here, inside) = features.split_at(1);
                stmts = self.sections(env, here);
                rest = inside;
            }
            match self.header_like(env, Generator::plain_loop) {
                Some((mut l, inner)) => {
                    self.counters.push(l.counter);
                    l.body = self.around(&inner, levels - 1, rest);
                    self.counters.pop();
                    stmts.push(Stmt::Loop(l));
                }
                None => stmts.extend(self.sections(env, rest)),
            }
            stmts
        };
        // What is declared outside of all loops stays.
        if !self.counters.is_empty() {
            self.scope.truncate(scope);
        }
        stmts
    }

    /// One inner loop for all features, or one for some and another for the rest.
    fn sections(&mut self, env: &Env, features: &[Feature]) -> Vec<Stmt> {
        if features.len() > 1 && self.rng.percent(30) {
            let (first, second) = features.split_at(self.rng.within(1, features.len() as i64 - 1) as usize);
            let mut stmts = self.section(env, first);
            stmts.extend(self.section(env, second));
            stmts
        } else {
            self.section(env, features)
        }
    }

    fn section(&mut self, outer: &Env, features: &[Feature]) -> Vec<Stmt> {
        let Some((mut l, inner)) = self.header_like(outer, Generator::plain_loop) else {
            return vec![self.assign(outer)];
        };
        let start = match &l.low {
            Bound::One(low) if l.stride == 1 && !matches!(l.form, Form::Down | Form::Decrement) => Some(low.clone()),
            _ => None,
        };
        let mut section = Section {
            before: Vec::new(),
            inner: Vec::new(),
            after: Vec::new(),
            counter: l.counter,
            start,
            inner_scope: Vec::new(),
            after_scope: Vec::new(),
        };
        let envs = Envs { outer, inner: &inner };
        for feature in features {
            match feature {
                Feature::Sum => self.sum(&mut section, &envs, false),
                Feature::ConditionalSum => self.sum(&mut section, &envs, true),
                Feature::Extremum => self.extremum(&mut section, &envs),
                Feature::Choice => self.choice(&mut section, &envs),
                Feature::TwoUses => self.two_uses(&mut section, &envs),
                Feature::CellInUse => self.cell_in_use(&mut section, &envs),
                Feature::ShiftRegister => self.shift_register(&mut section, &envs),
                Feature::HoistedLoad => self.hoisted_load(&mut section, &envs),
                Feature::HoistedQuotient => self.hoisted_quotient(&mut section, &envs),
                Feature::Carried => self.carried(&mut section, &envs),
                Feature::Exchange => self.exchange(&mut section, &envs),
                Feature::Running => self.running(&mut section, &envs),
                Feature::Cleared => {}
            }
        }
        l.body = section.inner;
        // A loop without a body tests nothing.
        if l.body.is_empty() {
            self.counters.push(l.counter);
            l.body.push(self.use_of(None, &inner));
            self.counters.pop();
        }
        // Behind the section its own scalars are as visible as those before it, inside of the same loop.
        self.scope.extend(section.after_scope);
        let mut stmts = section.before;
        stmts.push(Stmt::Loop(l));
        stmts.extend(section.after);
        stmts
    }

    // --- features ---

    fn sum(&mut self, section: &mut Section, envs: &Envs, conditional: bool) {
        let (cell, elem) = self.own_cell(envs.outer);
        let class = self.near(elem);
        // In memory; stored after the loop, in it, both; added to the cell after it.
        let how = self.rng.weighted(&[15, 43, 16, 16, 10]);
        if how == 0 {
            if self.rng.percent(60) {
                let start = self.start(elem, envs.outer, None);
                section.before.push(Stmt::Assign(cell.clone(), Update::Set, start));
            }
            self.emit(section, Part::Inner, |this| this.accumulate(&cell, elem, envs.inner, conditional));
            return;
        }
        let start = self.start(class, envs.outer, Some(&cell));
        let scalar = self.declare(section, Part::Before, class, start);
        self.emit(section, Part::Inner, |this| this.accumulate(&scalar, class, envs.inner, conditional));
        if matches!(how, 2 | 3) {
            let store = Stmt::Assign(cell.clone(), Update::Set, Value::Read(scalar.clone()));
            self.emit(section, Part::Inner, |this| {
                let guarded = this.rng.percent(20);
                vec![if guarded { Stmt::If(this.plain_cond(envs.inner), vec![store], Vec::new()) } else { store }]
            });
        }
        if how != 3 {
            let update = if how == 4 { Update::Add } else { Update::Set };
            self.emit(section, Part::After, |this| {
                let value = this.settled(&scalar, class, envs.outer);
                vec![Stmt::Assign(cell, update, value)]
            });
        }
    }

    fn extremum(&mut self, section: &mut Section, envs: &Envs) {
        let (cell, elem) = self.own_cell(envs.outer);
        let start = self.start(elem, envs.outer, Some(&cell));
        let scalar = self.declare(section, Part::Before, elem, start);
        let update = self.rng.pick(&[Update::MinIf, Update::MaxPick]);
        self.emit(section, Part::Inner, |this| {
            let value = this.term(elem, envs.inner);
            vec![Stmt::Assign(scalar.clone(), update, value)]
        });
        self.emit(section, Part::After, |this| {
            let value = this.settled(&scalar, elem, envs.outer);
            vec![Stmt::Assign(cell, Update::Set, value)]
        });
    }

    fn choice(&mut self, section: &mut Section, envs: &Envs) {
        let part = self.rng.pick(&[Part::Before, Part::Inner]);
        let env = envs.of(part);
        let class = self.array_elem();
        let first = self.within(section, part, |this| this.term(class, env));
        let scalar = self.declare(section, part, class, first);
        self.emit(section, part, |this| {
            let cond = this.plain_cond(env);
            let mut side = || vec![Stmt::Assign(scalar.clone(), Update::Set, this.term(class, env))];
            let (then, other) = (side(), side());
            let one_sided = this.rng.percent(45);
            vec![Stmt::If(cond, then, if one_sided { Vec::new() } else { other })]
        });
        self.emit(section, Part::Inner, |this| vec![this.use_of(Some(&scalar), envs.inner)]);
        if part == Part::Before && self.rng.percent(40) {
            self.emit(section, Part::After, |this| vec![this.use_of(Some(&scalar), envs.outer)]);
        }
    }

    fn two_uses(&mut self, section: &mut Section, envs: &Envs) {
        let part = if self.rng.percent(70) { Part::Before } else { Part::Inner };
        let class = self.array_elem();
        let value = self.within(section, part, |this| this.term(class, envs.of(part)));
        let scalar = self.declare(section, part, class, value);
        for _ in 0..self.rng.within(2, 3) {
            let place = match part {
                Part::Inner => Part::Inner,
                _ => self.rng.pick(&[Part::Before, Part::Inner, Part::Inner, Part::After]),
            };
            self.emit(section, place, |this| vec![this.use_of(Some(&scalar), envs.of(place))]);
        }
    }

    /// The cell in which a scalar ends up is read and written in between, or a neighbour of it, or nothing is.
    fn cell_in_use(&mut self, section: &mut Section, envs: &Envs) {
        let inside = self.rng.percent(35);
        let home = if inside { Part::Inner } else { Part::Before };
        let (cell, elem) = self.within(section, home, |this| this.own_cell(envs.of(home)));
        let mut scalar = None;
        let split = self.rng.within(1, 4);
        // Old value read; scalar defined; old value read; overwritten; scalar used; stored; used again.
        for (step, chance) in [35, 100, 35, 30, 45, 85, 45].into_iter().enumerate() {
            if !self.rng.percent(chance) {
                continue;
            }
            let part = match home {
                Part::Inner => Part::Inner,
                _ if step as i64 > split => Part::After,
                _ if step != 1 && self.rng.percent(20) => Part::Inner,
                _ => Part::Before,
            };
            let env = envs.of(part);
            if step == 1 {
                let value = self.within(section, home, |this| this.term(elem, env));
                scalar = Some(self.declare(section, home, elem, value));
                continue;
            }
            self.emit(section, part, |this| {
                let near = if this.rng.percent(25) { this.neighbour(env, &cell) } else { cell.clone() };
                let read = Value::Read(scalar.clone().unwrap_or(near.clone()));
                vec![match step {
                    0 | 2 => this.use_of(Some(&near), env),
                    3 => Stmt::Assign(near, Update::Set, this.term(elem, env)),
                    5 => Stmt::Assign(cell.clone(), Update::Set, read),
                    _ => this.use_of(scalar.as_ref(), env),
                }]
            });
        }
    }

    fn shift_register(&mut self, section: &mut Section, envs: &Envs) {
        let (from, elem) = self.own_cell(envs.outer);
        let Place::Cell(array, own) = from else { unreachable!("an own cell is a cell") };
        let row = |last: Poly| {
            let mut at = own.clone();
            at.pop();
            at.push(last);
            at
        };
        let width = self.rng.within(2, 3);
        // The loop moves along the last dimension; if it might leave the array, the registers rotate over what is known to exist.
        let k = Poly::var(section.counter);
        let stays = self.check(|j| (0..=width).try_for_each(|c| j.access(array, &row(k.clone().plus(c)), envs.inner)));
        let entry = section.start.clone().filter(|low| {
            let low = low.clone();
            self.check(|j| (0..=width).try_for_each(|c| j.access(array, &row(low.clone().plus(c)), envs.outer)))
                .is_some()
        });
        let registers: Vec<Place> = (0..width)
            .map(|c| {
                let start = match &entry {
                    Some(low) => Value::Read(Place::Cell(array, row(low.clone().plus(c)))),
                    None => self.start(elem, envs.outer, None),
                };
                self.declare(section, Part::Before, elem, start)
            })
            .collect();
        let next = match stays {
            Some(()) => Value::Read(Place::Cell(array, row(k.plus(width)))),
            None => self.within(section, Part::Inner, |this| this.source(elem, envs.inner)),
        };
        let in_place = self.rng.percent(25);
        let at_the_top = self.rng.percent(50);
        let newest = if at_the_top { Value::Read(self.declare(section, Part::Inner, elem, next)) } else { next };
        let here = Poly::var(section.counter);
        self.emit(section, Part::Inner, |this| {
            let weighted = |place: &Place| product(Value::Read(place.clone()), Value::Number(2));
            let value = registers[1..].iter().fold(weighted(&registers[0]), |all, r| sum(all, weighted(r)));
            let cell = match this.own_cell(envs.inner) {
                _ if in_place && stays.is_some() => Place::Cell(array, row(here)),
                (cell, _) => cell,
            };
            let update = this.rng.pick(&[Update::Set, Update::Set, Update::Add]);
            let mut stmts = vec![Stmt::Assign(cell, update, value)];
            for pair in registers.windows(2) {
                stmts.push(Stmt::Assign(pair[0].clone(), Update::Set, Value::Read(pair[1].clone())));
            }
            stmts.push(Stmt::Assign(registers[registers.len() - 1].clone(), Update::Set, newest));
            stmts
        });
    }

    fn hoisted_load(&mut self, section: &mut Section, envs: &Envs) {
        let (cell, elem) = self.own_cell(envs.outer);
        let mut value = Value::Read(cell.clone());
        if self.rng.percent(60) {
            value = product(value, Value::Number(self.rng.pick(&[2, 3, 4, 12])));
        }
        let scalar = self.declare(section, Part::Before, elem, value);
        let change = |this: &mut Generator, env: &Env| {
            let target = match this.rng.weighted(&[45, 30, 25]) {
                0 => cell.clone(),
                1 => this.neighbour(env, &cell),
                _ => this.own_cell(env).0,
            };
            let class = this.elem_of(&target);
            let update = this.rng.pick(&[Update::Set, Update::Add]);
            Stmt::Assign(target, update, this.term(class, env))
        };
        // Unchanged; changed before the loop, in it before the use, in it after the use.
        let when = self.rng.weighted(&[45, 15, 20, 20]);
        if when == 1 {
            self.emit(section, Part::Before, |this| vec![change(this, envs.outer)]);
        }
        self.emit(section, Part::Inner, |this| {
            let mut stmts = vec![this.use_of(Some(&scalar), envs.inner)];
            if when > 1 {
                stmts.insert(when - 2, change(this, envs.inner));
            }
            stmts
        });
        if self.rng.percent(25) {
            self.emit(section, Part::After, |this| vec![this.use_of(Some(&scalar), envs.outer)]);
        }
    }

    fn hoisted_quotient(&mut self, section: &mut Section, envs: &Envs) {
        // In the loop a divisor may be known not to be zero that is not so outside: a compiler may only hoist with care.
        let part = if self.rng.percent(60) { Part::Before } else { Part::Inner };
        let env = envs.of(part);
        let class = self.array_elem();
        let by = self.size();
        let divides = self.check(|judge| judge.divisor(&by, env)).is_some();
        let value = self.within(section, part, |this| {
            let (a, b) = (Box::new(this.source(class, env)), Box::new(this.source(class, env)));
            match this.rng.below(4) {
                0 => Value::Root(a),
                1 => Value::Binary(Op::Quotient, a, b),
                2 if divides => Value::Over(a, by),
                _ => Value::Binary(Op::Div, a, b),
            }
        });
        let scalar = self.declare(section, part, class, value);
        self.emit(section, Part::Inner, |this| vec![this.use_of(Some(&scalar), envs.inner)]);
        if part == Part::Before && self.rng.percent(30) {
            self.emit(section, Part::After, |this| vec![this.use_of(Some(&scalar), envs.outer)]);
        }
    }

    /// Goes on with a scalar of the loops around, usually the first: it was declared before all of them.
    fn carried(&mut self, section: &mut Section, envs: &Envs) {
        let Some(first) = self.scope.first().copied() else { return };
        let any = self.rng.pick(&self.scope);
        let place = Place::Scalar(if self.rng.percent(65) { first } else { any });
        let class = self.elem_of(&place);
        let part = self.rng.pick(&[Part::Before, Part::Inner, Part::Inner, Part::After]);
        let conditional = self.rng.percent(30);
        self.emit(section, part, |this| this.accumulate(&place, class, envs.of(part), conditional));
        if self.rng.percent(60) {
            let part = self.rng.pick(&[Part::Before, Part::Inner, Part::After]);
            self.emit(section, part, |this| vec![this.use_of(Some(&place), envs.of(part))]);
        }
    }

    fn exchange(&mut self, section: &mut Section, envs: &Envs) {
        let part = self.rng.pick(&[Part::Before, Part::Inner, Part::Inner, Part::After]);
        let env = envs.of(part);
        let (one, elem, other) = self.within(section, part, |this| {
            let (one, elem) = this.own_cell(env);
            let Place::Cell(array, at) = &one else { unreachable!("an own cell is a cell") };
            let other = match this.rng.below(3) {
                0 => this.neighbour(env, &one),
                1 => Place::Cell(*array, this.cell(env, *array, None)),
                _ => {
                    // The transposed cell, where there is one.
                    let mirrored: Vec<Poly> = at.iter().rev().cloned().collect();
                    let exists = this.check(|judge| judge.access(*array, &mirrored, env)).is_some();
                    if exists { Place::Cell(*array, mirrored) } else { this.neighbour(env, &one) }
                }
            };
            (one, elem, other)
        });
        let scalar = self.declare(section, part, elem, Value::Read(one.clone()));
        section.list(part).extend([
            Stmt::Assign(one, Update::Set, Value::Read(other.clone())),
            Stmt::Assign(other, Update::Set, Value::Read(scalar)),
        ]);
    }

    fn running(&mut self, section: &mut Section, envs: &Envs) {
        let (cell, elem) = self.within(section, Part::Inner, |this| this.own_cell(envs.inner));
        let start = self.start(elem, envs.outer, None);
        let scalar = self.declare(section, Part::Before, elem, start);
        let stores_first = self.rng.percent(25);
        self.emit(section, Part::Inner, |this| {
            let next = sum(product(Value::Read(scalar.clone()), Value::Number(4)), this.term(elem, envs.inner));
            let advance = Stmt::Assign(scalar.clone(), Update::Set, next);
            let store = Stmt::Assign(cell, Update::Set, Value::Read(scalar.clone()));
            if stores_first { vec![store, advance] } else { vec![advance, store] }
        });
    }

    // --- where statements go ---

    /// Runs `make` with the counters and scalars that are known at the end of a part of the section.
    fn within<T>(&mut self, section: &Section, part: Part, make: impl FnOnce(&mut Generator) -> T) -> T {
        let known = self.scope.len();
        match part {
            Part::Before => {}
            Part::Inner => {
                self.scope.extend(&section.inner_scope);
                self.counters.push(section.counter);
            }
            Part::After => self.scope.extend(&section.after_scope),
        }
        let made = make(self);
        if part == Part::Inner {
            self.counters.pop();
        }
        self.scope.truncate(known);
        made
    }

    /// Makes statements at the end of a part of the section.
    fn emit(&mut self, section: &mut Section, part: Part, make: impl FnOnce(&mut Generator) -> Vec<Stmt>) {
        let stmts = self.within(section, part, make);
        section.list(part).extend(stmts);
    }

    /// A scalar from the end of a part on.
    fn declare(&mut self, section: &mut Section, part: Part, elem: Elem, value: Value) -> Place {
        let scalar = self.scalar_of(elem);
        section.list(part).push(Stmt::Scalar(scalar, value));
        match part {
            Part::Before => self.scope.push(scalar),
            Part::Inner => section.inner_scope.push(scalar),
            Part::After => section.after_scope.push(scalar),
        }
        Place::Scalar(scalar)
    }

    // --- statements and values ---

    /// A statement that reads the place, and usually something else, and writes a cell.
    fn use_of(&mut self, place: Option<&Place>, env: &Env) -> Stmt {
        let (cell, elem) = self.own_cell(env);
        let other = self.source(elem, env);
        let value = match place.map(boxed) {
            None => other,
            Some(read) => match self.rng.weighted(&[40, 25, 20, 15]) {
                0 => product(*read, other),
                1 => sum(*read, product(other, Value::Number(2))),
                2 => *read,
                _ => Value::Binary(Op::Sub, Box::new(other), read),
            },
        };
        let update = [Update::Set, Update::Add, Update::Sub, Update::MaxPick][self.rng.weighted(&[55, 35, 5, 5])];
        Stmt::Assign(cell, update, value)
    }

    /// `s += …`, on both sides of a condition if `conditional`.
    fn accumulate(&mut self, place: &Place, class: Elem, env: &Env, conditional: bool) -> Vec<Stmt> {
        let step = |this: &mut Generator| {
            let term = this.term(class, env);
            match this.rng.weighted(&[64, 14, 12, 6, 4]) {
                1 => Stmt::Assign(place.clone(), Update::Sub, term),
                // Decays, so that nothing overflows.
                2 => {
                    let half = product(Value::Read(place.clone()), Value::Number(4));
                    Stmt::Assign(place.clone(), Update::Set, sum(half, term))
                }
                3 if !class.is_float() => Stmt::Assign(place.clone(), Update::Xor, term),
                4 => {
                    let factor = this.rng.pick(&[-6, -4, 5, 7]);
                    Stmt::Assign(place.clone(), Update::Mul, Value::Number(factor))
                }
                _ => Stmt::Assign(place.clone(), Update::Add, term),
            }
        };
        if !conditional {
            return vec![step(self)];
        }
        let (then, other) = (step(self), step(self));
        let cond = self.plain_cond(env);
        let one_sided = self.rng.percent(60);
        vec![Stmt::If(cond, vec![then], if one_sided { Vec::new() } else { vec![other] })]
    }

    /// The first value of a scalar; often what is in the cell it will be stored to.
    fn start(&mut self, class: Elem, env: &Env, cell: Option<&Place>) -> Value {
        match (self.rng.weighted(&[45, 30, 15, 10]), cell) {
            (1, Some(cell)) => Value::Read(cell.clone()),
            (2, _) => self.term(class, env),
            (3, _) => Value::Number(self.rng.within(-4, 4)),
            _ => Value::Number(0),
        }
    }

    /// A scalar on its way into a cell.
    fn settled(&mut self, scalar: &Place, class: Elem, env: &Env) -> Value {
        let read = boxed(scalar);
        match self.rng.weighted(&[55, 22, 10, 8, 5]) {
            // Smaller than one: products of such cells do not overflow.
            1 => Value::Binary(Op::Div, read.clone(), read),
            2 => product(*read, Value::Number(self.rng.pick(&[1, 2, 3]))),
            3 => sum(*read, self.term(class, env)),
            4 => Value::Root(read),
            _ => *read,
        }
    }

    fn term(&mut self, class: Elem, env: &Env) -> Value {
        match self.rng.weighted(&[36, 30, 14, 5, 5, 10]) {
            0 => {
                let factors = product(self.source(class, env), self.source(class, env));
                if self.rng.percent(50) { factors } else { product(factors, Value::Number(self.rng.pick(&[1, 2, 4]))) }
            }
            2 if !self.scope.is_empty() => {
                let scalar = self.rng.pick(&self.scope.clone());
                product(Value::Read(Place::Scalar(scalar)), product(self.source(class, env), Value::Number(2)))
            }
            3 => Value::Index(self.affine(env)),
            4 => Value::Number(self.rng.within(-6, 6)),
            5 => self.value(class, env, 2, None),
            _ => self.source(class, env),
        }
    }

    /// A cell to read; usually not of the array that is written most.
    fn source(&mut self, class: Elem, env: &Env) -> Value {
        let count = self.kernel.arrays.len();
        let mut array = self.array();
        for _ in 0..3 {
            let fits = self.kernel.arrays[array.0].elem.is_float() == class.is_float();
            if (fits && array.0 != 0) || count == 1 {
                break;
            }
            array = self.array();
        }
        Value::Read(Place::Cell(array, self.neat_cell(env, array)))
    }

    /// Compares counters and parameters, mostly.
    fn plain_cond(&mut self, env: &Env) -> Cond {
        let rel = self.rng.pick(&[Rel::Ne, Rel::Ne, Rel::Lt, Rel::Eq, Rel::Ge]);
        match (self.rng.weighted(&[40, 20, 12, 28]), self.counter()) {
            (0, Some(counter)) => {
                let other = self.counters.iter().copied().find(|c| *c != counter);
                let right = other.map_or_else(|| Poly::number(self.rng.within(0, 6)), Poly::var);
                Cond::Compare(Poly::var(counter), rel, right)
            }
            (1, Some(counter)) => Cond::Compare(Poly::var(counter), rel, Poly::number(self.rng.within(0, 9))),
            (2, _) => Cond::Compare(self.size(), rel, Poly::number(self.rng.within(0, 30))),
            _ => self.cond(env, 1),
        }
    }

    // --- cells ---

    /// A cell to write: of the first array, or another, at the counters around it.
    fn own_cell(&mut self, env: &Env) -> (Place, Elem) {
        let array = if self.rng.percent(45) { ArrayId(0) } else { self.array() };
        let at = self.neat_cell(env, array);
        (Place::Cell(array, at), self.kernel.arrays[array.0].elem)
    }

    /// Each dimension at another counter, in the order of the loops or in reverse; now and then anything.
    fn neat_cell(&mut self, env: &Env, array: ArrayId) -> Vec<Poly> {
        let dims = self.kernel.arrays[array.0].dims;
        if self.rng.percent(8) {
            return self.cell(env, array, None);
        }
        let mut counters = self.counters.clone();
        while counters.len() > dims {
            let drop = self.rng.below(counters.len());
            counters.remove(drop);
        }
        let mut at: Vec<Poly> = counters.into_iter().map(Poly::var).collect();
        while at.len() < dims {
            let place = self.rng.below(at.len() + 1);
            at.insert(place, Poly::number(self.rng.pick(&[0, 0, 1, 3])));
        }
        if self.rng.percent(25) {
            at.reverse();
        }
        if self.rng.percent(15) {
            let moved = self.rng.below(dims);
            at[moved].constant += self.rng.pick(&[-1, 1, 1, 2]);
        }
        let at = self.shifted(env, array, at);
        if self.check(|judge| judge.access(array, &at, env)).is_some() { at } else { self.cell(env, array, None) }
    }

    fn neighbour(&mut self, env: &Env, place: &Place) -> Place {
        match place {
            Place::Cell(array, at) => Place::Cell(*array, self.cell(env, *array, Some(at))),
            Place::Scalar(_) => place.clone(),
        }
    }

    // --- small choices ---

    /// The loops that people write most.
    fn plain_loop(&mut self, counter: VarId) -> (Loop, Int) {
        let forms = [Form::Less, Form::AtMost, Form::Differs, Form::While, Form::Do, Form::Down, Form::Decrement];
        let form = forms[self.rng.weighted(&[70, 8, 2, 3, 3, 9, 5])];
        let around = self.counter().map(Poly::var);
        let low = match (self.rng.weighted(&[76, 11, 10, 3]), &around) {
            (1, _) => Poly::number(self.rng.within(1, 2)),
            (2, Some(i)) => i.clone().plus(self.rng.within(0, 1)),
            (3, _) => self.offset(),
            _ => Poly::number(0),
        };
        let high = match (self.rng.weighted(&[60, 10, 5, 8, 13, 4]), around) {
            (1, _) => Bound::One(self.size().plus(self.rng.pick(&[-2, -1, 1]))),
            (2, _) => Bound::One(Poly::number(self.rng.within(0, 7))),
            (3, _) => Bound::One(Poly::number(self.rng.within(8, 32))),
            (4, Some(i)) => Bound::One(i.plus(self.rng.pick(&[0, 0, 1]))),
            (5, Some(i)) => Bound::Min(self.size(), i.plus(self.rng.within(1, 9))),
            _ => Bound::One(self.by_role(Role::Size).map_or(Poly::number(9), Poly::var)),
        };
        let stride = [1, 2, 3][self.rng.weighted(&[96, 3, 1])];
        let ty = [Int::Int, Int::Long, Int::Unsigned, Int::Size][self.rng.weighted(&[50, 22, 10, 18])];
        (Loop { counter, form, low: Bound::One(low), high, stride, body: Vec::new() }, ty)
    }

    fn scalar_of(&mut self, elem: Elem) -> ScalarId {
        self.kernel.scalars.push(elem);
        ScalarId(self.kernel.scalars.len() - 1)
    }

    fn array_elem(&mut self) -> Elem {
        let array = self.array();
        self.kernel.arrays[array.0].elem
    }

    fn elem_of(&self, place: &Place) -> Elem {
        match place {
            Place::Cell(array, _) => self.kernel.arrays[array.0].elem,
            Place::Scalar(scalar) => self.kernel.scalars[scalar.0],
        }
    }

    /// The type of a scalar for cells of type `elem`: usually the same, else wider or narrower.
    fn near(&mut self, elem: Elem) -> Elem {
        if self.rng.percent(80) {
            return elem;
        }
        match elem {
            Elem::Double => Elem::Float,
            Elem::Float => Elem::Double,
            Elem::Int => Elem::Long,
            Elem::Long | Elem::Short | Elem::UChar => Elem::Int,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_have_one_to_four_features_and_all_turn_up() {
        let kernels: Vec<Vec<Vec<Feature>>> = (0..300).map(|k| kernel(Rng::new(16, k), k as usize).1).collect();
        for nests in &kernels {
            assert!((1..=3).contains(&nests.len()));
            assert!(nests.iter().all(|features| (1..=4).contains(&features.len())));
        }
        for (feature, _) in FEATURES {
            let count = kernels.iter().filter(|nests| nests.iter().flatten().any(|f| *f == feature)).count();
            assert!(count > 10, "{feature:?}: {count}");
        }
    }
}
