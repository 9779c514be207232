//! The family `effects`: what loops do besides, when they end, and what is only defined where they get to.

use super::bytes::{self, column};
use super::draw::{Choice, Draw};
use super::*;

pub fn kernel(seed: u64, index: usize) -> Kernel {
    draw::kernel("effects", seed, index, body)
}

fn body(draw: &mut Draw) -> Vec<Stmt> {
    let mut out = match draw.rng.weighted(&[20, 34, 18, 20, 8]) {
        0 => calls(draw),
        1 => exits(draw),
        2 => casts(draw),
        3 => guards(draw),
        _ => jumps(draw),
    };
    if draw.rng.percent(12) {
        let kind = draw.rng.pick(&[Neighbour::Volatile, Neighbour::Atomic, Neighbour::ThreadLocal, Neighbour::Fence]);
        let touch = Stmt::Touch(kind);
        match out.last_mut() {
            // In a loop it is in order with everything there.
            Some(Stmt::Loop(l)) if draw.rng.percent(40) => l.body.push(touch),
            _ => out.insert(draw.rng.below(out.len() + 1), touch),
        }
    }
    out
}

fn less(left: Expr, right: Expr) -> Cond {
    Cond { left, rel: Rel::Lt, right }
}

fn compare(left: Expr, rel: Rel, right: Expr) -> Cond {
    Cond { left, rel, right }
}

/// Functions that set `errno`, in an order that shows in it, and accesses that may or may not mean it.
fn calls(draw: &mut Draw) -> Vec<Stmt> {
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let input = draw.matrix_of(Ty::Double, Block::Arguments);
    let elem = draw.rng.pick(&[Ty::Double, Ty::Double, Ty::Float]);
    let output = draw.matrix(elem);
    let read = Value::Read(column(draw, input, outer, inner));
    let pointee = draw.rng.percent(45).then(|| {
        let own = draw.block(Block::Filled(signed(32)));
        let errno = draw.block(Block::Errno);
        let pointer = Pointer { elem: signed(32), row: None, restrict: false, place: Where::Argument };
        draw.pointer(pointer, vec![(errno, 0), (errno, 0), (own, 0)])
    });
    let indirect = pointee.map(|p| draw.element(p, None, Expr::Number(0)));
    let mut body = Vec::new();
    for _ in 0..draw.rng.within(1, 2) {
        let math = draw.rng.pick(&[
            Math::Log,
            Math::Log,
            Math::Exp,
            Math::Root,
            Math::Power,
            Math::Arcus,
            Math::Modulo,
            Math::LogFloat,
            Math::RootFloat,
        ]);
        let call = Value::Call(math, Box::new(read.clone()));
        let place = column(draw, output, outer, inner);
        let stmt = match draw.rng.below(4) {
            0 => Stmt::Update(place, Op::Add, call),
            _ => Stmt::Store(place, call),
        };
        body.push(match draw.rng.below(6) {
            0 => Stmt::If(draw.condition(inner), vec![stmt], Vec::new()),
            _ => stmt,
        });
    }
    let seen = (indirect.is_some() || draw.rng.percent(30)).then(|| draw.matrix(signed(32)));
    if let Some(seen) = seen {
        let value = match &indirect {
            Some(place) if draw.rng.percent(75) => Value::Read(place.clone()),
            _ => Value::Errno,
        };
        let place = column(draw, seen, outer, inner);
        let at = draw.rng.below(body.len() + 1);
        body.insert(at, Stmt::Store(place, value));
    }
    if let Some(place) = indirect
        && draw.rng.percent(60)
    {
        let value = draw.rng.pick(&[Expr::Counter(inner), Expr::Counter(outer), Expr::Number(7)].each_ref()).clone();
        let at = draw.rng.below(body.len() + 1);
        body.insert(at, Stmt::Store(place, Value::Index(value)));
    }
    let inside = draw.up(inner, m, body);
    let mut around = vec![inside];
    if draw.rng.percent(15) {
        around.insert(0, Stmt::SetErrno(Value::Index(Expr::Counter(outer))));
    }
    let mut out = vec![draw.up(outer, n, around)];
    if draw.rng.percent(50) {
        let last = draw.local(signed(32));
        out.push(Stmt::Set(last, Value::Errno));
        draw.kernel.result = Some(last);
    }
    out
}

/// Loops that are left, and promises of things that never come to pass because they were.
fn exits(draw: &mut Draw) -> Vec<Stmt> {
    let size = draw.new_size();
    let n = Expr::Param(size);
    let limit = draw.param(signed(32), false, Choice::Near(size, vec![-12, -4, -4, -3, -1, 0, 5]));
    let m = Expr::Param(limit);
    let (i, j) = (draw.counter(), draw.counter());
    let elem = draw.rng.pick(&[Ty::Double, signed(32), Ty::Float]);
    let (array, input) = (draw.matrix(elem), draw.matrix(elem));
    let inner = if draw.rng.percent(70) { n.clone() } else { draw.size() };
    let cell = column(draw, array, i, j);
    let read = Value::Read(column(draw, input, i, j));
    let work = Stmt::Update(cell, Op::Add, read);
    let exit = match draw.rng.below(8) {
        0..=4 => Exit::Handler(draw.rng.within(1, 90)),
        5 | 6 => Exit::Return,
        _ => Exit::Break,
    };
    let rel = draw.rng.pick(&[Rel::Eq, Rel::Eq, Rel::Ge]);
    let at = draw.rng.pick(&[-1, -1, 0, -2]);
    let leave = Stmt::Leave(compare(Expr::Counter(i), rel, m.clone().plus(at)), exit);
    // Data-dependent exits are refused; one that is known before the loops is not.
    let leave = match draw.rng.below(3) {
        0 | 1 if exit != Exit::Break => Stmt::If(compare(n.clone(), Rel::Gt, m.clone()), vec![leave], Vec::new()),
        _ => leave,
    };
    let mut fact = promised(draw, i, &n, &m);
    let inside = draw.rng.percent(20);
    if inside {
        fact = Stmt::If(compare(Expr::Counter(j), Rel::Eq, Expr::Number(0)), vec![fact], Vec::new());
    }
    let mut inner_body = vec![work];
    if inside {
        let at = draw.rng.below(2);
        inner_body.insert(at, fact.clone());
    }
    let nest = draw.up(j, inner, inner_body);
    let mut body = vec![nest, leave];
    if !inside {
        body.push(fact);
    }
    if draw.rng.percent(30) {
        let second = draw.rng.percent(50);
        let fact = if second {
            promised(draw, i, &n, &m)
        } else {
            Stmt::Leave(draw.condition(i), Exit::Handler(draw.rng.within(1, 90)))
        };
        body.push(fact);
    }
    shuffle(draw, &mut body);
    // What is promised in the text before the way out is the harder case.
    if draw.rng.percent(50) {
        body.sort_by_key(|stmt| match stmt {
            Stmt::Promise(..) => 0,
            Stmt::Leave(..) | Stmt::If(..) => 2,
            _ => 1,
        });
    }
    vec![draw.up(i, n, body)]
}

/// Something that is only right where a loop has not been left: a promise, or what an execution proves.
fn promised(draw: &mut Draw, i: usize, n: &Expr, m: &Expr) -> Stmt {
    let kind = draw.rng.pick(&[Promise::Assume, Promise::Assume, Promise::Unreachable]);
    match draw.rng.below(10) {
        0..=5 => {
            let rel = draw.rng.pick(&[Rel::Lt, Rel::Lt, Rel::Ne, Rel::Le]);
            Stmt::Promise(compare(Expr::Counter(i), rel, m.clone()), kind)
        }
        6 => Stmt::Promise(compare(n.clone(), Rel::Le, m.clone().plus(draw.rng.pick(&[0, 3]))), kind),
        // No division by zero, no overflow, an aligned address.
        7 => {
            let array = draw.matrix(signed(32));
            let rest = m.clone().and(Expr::Counter(i).times(-1)).plus(draw.rng.pick(&[0, 1]));
            let quotient = Expr::Number(100).partial(Partial::Quotient, 32, rest);
            Stmt::Update(draw.element(array, Some(Expr::Counter(i)), Expr::Number(0)), Op::Add, Value::Index(quotient))
        }
        8 => {
            let array = draw.matrix(signed(32));
            let big = draw.param(signed(32), false, Choice::Among(vec![i32::MAX as i64 - 4, i32::MAX as i64 - 12, 3]));
            let sum = Expr::Counter(i).and(Expr::Param(big));
            let place = draw.element(array, Some(Expr::Counter(i)), Expr::Number(1));
            Stmt::Update(place, Op::Add, Value::Index(sum))
        }
        _ => {
            let array = draw.array(signed(32));
            let at = Expr::Counter(i).times(draw.rng.pick(&[4, 8, 16]));
            let how = draw.rng.pick(&[How::Over, How::Assumed]);
            Stmt::Update(Place { pointer: array, ty: signed(32), how, row: None, at }, Op::Xor, Value::Number(5))
        }
    }
}

fn shuffle(draw: &mut Draw, stmts: &mut [Stmt]) {
    for k in (1..stmts.len()).rev() {
        stmts.swap(k, draw.rng.below(k + 1));
    }
}

/// Two conversions of one value that meet behind a condition.
fn casts(draw: &mut Draw) -> Vec<Stmt> {
    let (i, j) = (draw.counter(), draw.counter());
    let low = draw.param(signed(32), false, Choice::Among(vec![-8, -3, -8, 0]));
    let (n, m) = (draw.size(), draw.size());
    let row = Expr::Counter(i).plus(8);
    let (target, one, two) = (draw.rng.pick(&[Ty::Double, Ty::Float, signed(64), signed(32)]), signed(32), signed(32));
    let (array, first, second) = (draw.matrix(target), draw.matrix(one), draw.matrix(two));
    let narrow = draw.rng.pick(&[8, 16, 32]);
    let wide = draw.rng.percent(25) && target != signed(32);
    // The value that is converted: a counter, an element, or a floating-point argument.
    let from = match (target, draw.rng.below(4)) {
        (Ty::Double | Ty::Float, 0..=1) => Value::Index(Expr::Counter(i)),
        _ => {
            let elem = if target == signed(32) { Ty::Float } else { signed(32) };
            let input = draw.matrix(elem);
            Value::Read(draw.element(input, Some(row.clone()), Expr::Counter(j)))
        }
    };
    let bits = if wide { 64 } else { narrow };
    let mut ways: Vec<Value> = match target {
        _ if target == signed(32) => {
            vec![
                from.clone().cast(signed(32)),
                from.clone().cast(unsigned(32)),
                Value::Bits(Ty::Float, signed(32), Box::new(from.clone())),
                Value::Bits(Ty::Float, unsigned(32), Box::new(from.clone())),
                from.clone().cast(Ty::Double).cast(signed(32)),
                from.clone().cast(signed(16)),
            ]
        }
        _ => {
            let mut ways = vec![
                from.clone().cast(signed(bits)),
                from.clone().cast(unsigned(bits)),
                from.clone().cast(signed(32)).cast(unsigned(64)),
                from.clone().cast(unsigned(32)).cast(unsigned(64)),
            ];
            if target != signed(64) {
                ways.push(Value::Bits(signed(32), Ty::Float, Box::new(from.clone())));
                ways.push(from.clone().cast(Ty::Float));
            }
            ways
        }
    };
    let cond = if draw.rng.percent(80) { draw.condition(j) } else { draw.condition(i) };
    let mut arms = Vec::new();
    if draw.rng.percent(15) {
        // (int)x where it is negative, (unsigned)x where it is not.
        let x = draw.param(Ty::Double, false, Choice::Among(vec![-5, -2_000_000_000, 3_000_000_000, 17]));
        let bits = draw.rng.pick(&[32, 64]);
        ways = vec![
            Value::Index(Expr::Param(x).partial(Partial::ToSigned, bits, Expr::Number(0))),
            Value::Index(Expr::Param(x).partial(Partial::ToUnsigned, bits, Expr::Number(0))),
        ];
        arms.push(less(Expr::Param(x), Expr::Number(0)));
    }
    let cond = arms.pop().unwrap_or(cond);
    let met = draw.local(target);
    let (a, b) = (draw.rng.below(ways.len()), draw.rng.below(ways.len()));
    let (a, b) = if ways.len() == 2 { (0, 1) } else { (a, b) };
    let at = Some(row.clone());
    let mut then = vec![Stmt::Set(met, ways[a].clone())];
    let mut other = vec![Stmt::Set(met, ways[b].clone())];
    if draw.rng.percent(80) {
        then.insert(0, Stmt::Update(draw.element(first, at.clone(), Expr::Counter(j)), Op::Add, Value::Number(3)));
        other.insert(0, Stmt::Update(draw.element(second, at, Expr::Counter(j)), Op::Mul, Value::Number(5)));
    }
    let cell = draw.element(array, Some(row), Expr::Counter(j));
    let use_it = Stmt::Update(cell, Op::Add, Value::Local(met));
    let inside = draw.up(j, m, vec![Stmt::If(cond, then, other), use_it]);
    vec![draw.from(i, Expr::Param(low), n, vec![inside])]
}

/// What is undefined for some arguments, behind a guard that keeps them out.
fn guards(draw: &mut Draw) -> Vec<Stmt> {
    let known = draw.rng.percent(55);
    let ty = draw.rng.pick(&[signed(32), signed(32), unsigned(32)]);
    let k = draw.kernel.params.len();
    let wild = Expr::Param(k);
    let number = Expr::Number;
    let zero = || Expr::Number(0);
    let (op, bits, first, second, guard, choices, ty) = match draw.rng.below(9) {
        0 | 1 => {
            (Partial::ShiftLeft, 32, number(1), wild, less(Expr::Param(k), number(6)), vec![40, 33, 5, 4, 3, 5], ty)
        }
        2 => (
            Partial::TrailingZeros,
            32,
            wild,
            zero(),
            compare(Expr::Param(k), Rel::Ne, zero()),
            vec![0, 64, 1 << 20, 1 << 12],
            ty,
        ),
        3 => (
            Partial::LeadingZeros,
            32,
            wild,
            zero(),
            compare(Expr::Param(k), Rel::Gt, zero()),
            vec![0, 1 << 20, 1 << 12],
            ty,
        ),
        4 => (
            Partial::Magnitude,
            32,
            wild,
            zero(),
            compare(Expr::Param(k), Rel::Gt, number(-30)),
            vec![i32::MIN.into(), -7, 12, -24],
            signed(32),
        ),
        5 => (
            Partial::Quotient,
            32,
            number(100),
            wild,
            compare(Expr::Param(k), Rel::Ne, zero()),
            vec![0, 7, 20, 5],
            signed(32),
        ),
        6 => (
            Partial::Remainder,
            32,
            number(61),
            wild,
            compare(Expr::Param(k), Rel::Ne, zero()),
            vec![0, 37, 40, 17],
            signed(32),
        ),
        7 => (Partial::ShiftRight, 32, number(4000), wild, less(Expr::Param(k), number(32)), vec![40, 64, 8, 9, 7], ty),
        _ => {
            let signed_one = draw.rng.percent(50);
            let op = if signed_one { Partial::ToSigned } else { Partial::ToUnsigned };
            let guard =
                if signed_one { less(Expr::Param(k), number(100)) } else { compare(Expr::Param(k), Rel::Ge, zero()) };
            (
                op,
                draw.rng.pick(&[32, 64]),
                wild,
                zero(),
                guard,
                if signed_one { vec![1 << 40, 12, 20] } else { vec![-5, 12, 20] },
                Ty::Double,
            )
        }
    };
    draw.param(ty, known && ty != Ty::Double, Choice::Among(choices));
    let odd = first.partial(op, bits, second);
    let (i, j) = (draw.counter(), draw.counter());
    let n = Expr::Param(draw.new_size());
    let elem = draw.rng.pick(&[signed(32), Ty::Double, Ty::Float, unsigned(16)]);
    let (array, input) = (draw.matrix(elem), draw.matrix(elem));
    let cell = column(draw, array, i, j);
    let read = Value::Read(draw.element(input, Some(Expr::Counter(i)), Expr::Counter(j)));
    let (value, high, cell) = match draw.rng.below(6) {
        // A bound, an offset, a value.
        0..=3 => (read, odd.clone(), cell),
        4 => {
            let flat = draw.array(elem);
            let at = Expr::Counter(j).and(Expr::Counter(i).times(48)).and(odd.clone());
            (read, draw.size(), draw.element(flat, None, at))
        }
        _ => (Value::Index(odd.clone()).binary(Op::Add, read), draw.size(), cell),
    };
    let work = draw.up(j, high, vec![Stmt::Update(cell, Op::Add, value)]);
    let kept = draw.matrix(elem);
    let other = Stmt::Update(
        draw.element(kept, Some(Expr::Counter(i)), Expr::Number(0)),
        Op::Add,
        Value::Index(Expr::Counter(i)),
    );
    match draw.rng.below(4) {
        0 | 1 => {
            let nest = draw.up(i, n, vec![work]);
            vec![Stmt::If(guard, vec![nest], Vec::new())]
        }
        2 => {
            let mut body = vec![other, Stmt::If(guard, vec![work], Vec::new())];
            shuffle(draw, &mut body);
            vec![draw.up(i, n, body)]
        }
        _ => {
            let inside = vec![Stmt::If(guard, vec![work], vec![other])];
            vec![draw.up(i, n, inside)]
        }
    }
}

/// Loops in the arms of a switch, or between labels whose addresses are taken.
fn jumps(draw: &mut Draw) -> Vec<Stmt> {
    let computed = draw.rng.percent(40);
    let arms: Vec<Vec<Stmt>> = (0..draw.rng.within(2, 3)).map(|_| bytes::updates(draw)).collect();
    if draw.rng.percent(60) {
        let on = draw.param(signed(32), false, Choice::Among(vec![0, 1, 2, 5]));
        return vec![Stmt::Switch(Expr::Param(on), arms, computed)];
    }
    let (i, n) = (draw.counter(), draw.rng.pick(&[2, 3, 5]));
    vec![draw.up(i, Expr::Number(n), vec![Stmt::Switch(Expr::Counter(i), arms, computed)])]
}
