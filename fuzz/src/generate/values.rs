//! Values and conditions.

use super::Generator;
use crate::kernel::*;
use crate::range::Env;

impl Generator {
    /// A value for a place of type `class`; `target` is that place, if its neighbours may be read.
    pub(super) fn value(&mut self, class: Elem, env: &Env, size: usize, target: Option<&Place>) -> Value {
        let number = |n: i64| Box::new(Value::Number(n));
        let read = |this: &mut Generator| Box::new(this.read(class, env, target));
        match self.rng.weighted(&[18, 42, 18, 5, 5, 6, 6]) {
            // A weighted sum: in floating point, no larger than what is read, so that nothing overflows.
            1 if size > 1 => {
                let terms = self.rng.within(2, 4);
                let mut sum = Value::Binary(Op::Mul, read(self), number(self.rng.pick(&[2, 3, 4])));
                for _ in 1..terms {
                    let factor = number(self.rng.pick(&[1, 2, 2]));
                    let term = Value::Binary(Op::Mul, read(self), factor);
                    let op = if class.is_float() {
                        self.rng.pick(&[Op::Add, Op::Add, Op::Sub])
                    } else {
                        self.rng.pick(&[Op::Add, Op::Add, Op::Sub, Op::Xor, Op::Or, Op::And])
                    };
                    sum = Value::Binary(op, Box::new(sum), Box::new(term));
                }
                sum
            }
            2 if size > 1 => {
                let product = Value::Binary(Op::Mul, read(self), read(self));
                Value::Binary(Op::Mul, Box::new(product), number(self.rng.pick(&[1, 2, 4])))
            }
            3 if size > 1 => {
                let root = self.rng.percent(50);
                let inner = read(self);
                Value::Binary(Op::Mul, Box::new(if root { Value::Root(inner) } else { Value::Abs(inner) }), number(4))
            }
            4 if size > 1 => Value::Binary(Op::Div, read(self), read(self)),
            5 if size > 1 => {
                let guarded = self.rng.percent(40);
                let cond = if guarded { self.guard(env) } else { self.cond(env, 1) };
                let inside = env.assuming(&cond);
                let then = self.read(class, &inside, target);
                Value::Pick(Box::new(cond), Box::new(then), Box::new(self.value(class, env, 1, target)))
            }
            6 => Value::Index(self.affine(env)),
            0 if self.rng.percent(25) => Value::Number(self.rng.within(-6, 6)),
            _ => *read(self),
        }
    }

    fn read(&mut self, class: Elem, env: &Env, target: Option<&Place>) -> Value {
        if !self.scope.is_empty() && self.rng.percent(20) {
            return Value::Read(Place::Scalar(self.scope[self.rng.below(self.scope.len())]));
        }
        if let Some(Place::Cell(array, at)) = target
            && self.rng.percent(40)
        {
            return Value::Read(Place::Cell(*array, self.cell(env, *array, Some(at))));
        }
        let mut array = self.array();
        if self.kernel.arrays[array.0].elem.is_float() != class.is_float() {
            array = self.array();
        }
        Value::Read(Place::Cell(array, self.cell(env, array, None)))
    }

    pub(super) fn cond(&mut self, env: &Env, size: usize) -> Cond {
        let rel = self.rng.pick(&[Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Eq, Rel::Ne, Rel::Lt, Rel::Ne]);
        match self.rng.weighted(&[38, 18, 14, 12, 10, 5, 3]) {
            1 => {
                let poly = self.affine(env);
                let modulus = self.rng.within(2, 4);
                let rel = self.rng.pick(&[Rel::Eq, Rel::Ne, Rel::Lt]);
                Cond::Remainder(poly, modulus, rel, self.rng.within(0, modulus - 1))
            }
            2 => match self.read(Elem::Double, env, None) {
                Value::Read(place) => {
                    let rel = self.rng.pick(&[Rel::Lt, Rel::Gt]);
                    Cond::Data(place, rel, self.rng.within(-3, 3))
                }
                other => unreachable!("a read is a read: {other:?}"),
            },
            3 if size > 1 => Cond::And(Box::new(self.cond(env, 1)), Box::new(self.cond(env, 1))),
            4 if size > 1 => Cond::Or(Box::new(self.cond(env, 1)), Box::new(self.cond(env, 1))),
            5 if size > 1 => Cond::Not(Box::new(self.cond(env, 1))),
            6 => match self.by_role(super::Role::Huge) {
                Some(huge) => Cond::Compare(self.affine(env), rel, Poly::var(huge)),
                None => self.guard(env),
            },
            _ => {
                let left = self.affine(env);
                let right = match self.rng.below(4) {
                    0 => self.size().plus(-1),
                    1 => self.affine(env),
                    2 => self.counter().map_or(Poly::number(1), Poly::var),
                    _ => Poly::number(self.rng.within(0, 9)),
                };
                Cond::Compare(left, rel, right)
            }
        }
    }

    /// `1 <= i && i < 17`: what stands under it may count on it.
    pub(super) fn guard(&mut self, env: &Env) -> Cond {
        let Some(counter) = self.counter() else {
            return Cond::Compare(self.size(), Rel::Gt, Poly::number(1));
        };
        match env.hull(&self.kernel, &Poly::var(counter)) {
            Some(range) => {
                let low = range.low + self.rng.within(0, 2);
                let high = range.high + 1 - self.rng.within(0, 2);
                Cond::Guard(counter, low, high.max(low + 1))
            }
            None => Cond::Guard(counter, 0, 5),
        }
    }
}
