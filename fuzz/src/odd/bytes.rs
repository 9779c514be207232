//! The family `bytes`: memory in every width, at every offset, through every door.

use super::draw::{Choice, Draw};
use super::*;

pub fn kernel(seed: u64, index: usize) -> Kernel {
    draw::kernel("bytes", seed, index, body)
}

fn body(draw: &mut Draw) -> Vec<Stmt> {
    let parts = if draw.rng.percent(75) { 1 } else { 2 };
    let mut out = Vec::new();
    for _ in 0..parts {
        match draw.rng.weighted(&[28, 32, 11, 12, 6, 4, 7]) {
            0 => out.extend(updates(draw)),
            1 => out.extend(sums(draw)),
            2 => out.extend(reuse(draw)),
            3 => out.extend(rare_types(draw)),
            4 => out.extend(reassociated(draw)),
            5 => out.extend(copies(draw)),
            _ => out.extend(siblings(draw)),
        }
    }
    out
}

/// Updates of cells that are the same, apart, or neither, along the columns of a matrix.
pub fn updates(draw: &mut Draw) -> Vec<Stmt> {
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let elem = input_type(draw);
    let input = draw.matrix(elem);
    let read = Value::Read(column(draw, input, outer, inner));
    let first = draw.width();
    let shared = draw.operator(first);
    let first_steps = steps(draw, first);
    let mut body = Vec::new();
    for k in 0..draw.rng.within(1, 3) {
        // The same operation in another sign or width, or another one.
        let ty = if k == 0 { first } else { similar(draw, first) };
        let op = if draw.rng.percent(75) && ty.operators().contains(&shared) { shared } else { draw.operator(ty) };
        let counter = if draw.rng.percent(if k == 0 { 80 } else { 55 }) { inner } else { outer };
        let other = if counter == inner { outer } else { inner };
        let (stride, offset) = if k == 0 || draw.rng.percent(50) { first_steps } else { steps(draw, ty) };
        let mut at = Expr::Counter(counter).times(stride).plus(offset);
        if draw.rng.percent(15) {
            at = at.and(Expr::Counter(other).times(draw.rng.pick(&[1, 2, stride, 64])));
        }
        let arena = draw.arena();
        let place = draw.bytes(arena, ty, at, gcd(stride, offset));
        let value = if draw.rng.percent(60) {
            read.clone()
        } else {
            draw.value(&[read.clone(), Value::Index(Expr::Counter(inner))], 2)
        };
        let stmt = match draw.rng.below(12) {
            0 => Stmt::Store(place, value),
            _ => Stmt::Update(place, op, value),
        };
        body.push(match draw.rng.below(10) {
            0 => {
                let counter = draw.rng.pick(&[outer, inner]);
                Stmt::If(draw.condition(counter), vec![stmt], Vec::new())
            }
            _ => stmt,
        });
    }
    let inside = draw.some_loop(inner, m, body);
    vec![draw.some_loop(outer, n, vec![inside])]
}

/// Two updates of the same cells, in an order that shows: minima of both signs, or two operators that do not commute.
fn siblings(draw: &mut Draw) -> Vec<Stmt> {
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let bits = draw.rng.pick(&[8, 16, 32, 32, 64]);
    let (one, two) = if draw.rng.percent(50) { (signed(bits), unsigned(bits)) } else { (unsigned(bits), signed(bits)) };
    let input = draw.matrix(one);
    let read = Value::Read(column(draw, input, outer, inner));
    let ops = draw.rng.pick(&[
        [Op::Min, Op::Min],
        [Op::Max, Op::Max],
        [Op::Min, Op::Min],
        [Op::Min, Op::Max],
        [Op::Add, Op::Xor],
        [Op::Or, Op::And],
        [Op::Add, Op::Mul],
    ]);
    let array = draw.array(one);
    let offset = draw.rng.pick(&[0, 0, 1]);
    let cell = |draw: &Draw, ty: Ty, counter: usize, by: i64| Place {
        ty,
        ..draw.element(array, None, Expr::Counter(counter).plus(by))
    };
    let mut body = vec![
        Stmt::Update(cell(draw, one, inner, 0), ops[0], read.clone()),
        Stmt::Update(cell(draw, two, outer, offset), ops[1], read),
    ];
    if draw.rng.percent(30) {
        body.reverse();
    }
    let inside = draw.up(inner, m, body);
    vec![draw.up(outer, n, vec![inside])]
}

/// A scalar that is folded along a column and stored, with other stores around it to bytes nearby.
fn sums(draw: &mut Draw) -> Vec<Stmt> {
    let (i, k) = (draw.counter(), draw.counter());
    // Of the form 4x + 1: the last address is aligned where the stride is.
    let (n, m) = (Expr::Param(draw.new_size()), draw.size());
    // In most iterations the store promises less than in the others: it shows where whole vectors are stored.
    let aligned = draw.rng.percent(25);
    let ty = match draw.rng.below(8) {
        0 => Ty::Floats,
        1 => Ty::Lanes(32),
        2..=5 if aligned => draw.rng.pick(&[Ty::Floats, Ty::Lanes(32)]),
        2 => signed(64),
        3 => unsigned(16),
        _ => draw.rng.pick(&[signed(32), unsigned(32), unsigned(32), Ty::Float, unsigned(64)]),
    };
    let size = ty.bytes();
    let elem = if ty.is_vector() { ty } else { input_type(draw) };
    let input = draw.matrix(elem);
    let read = Value::Read(column(draw, input, i, k));
    let sum = draw.local(ty);
    let arena = draw.arena();
    let stride = draw.rng.pick(&[size, size, 2 * size, size + 4, 8]);
    let cell = |draw: &mut Draw, ty: Ty, by: i64| {
        let at = Expr::Counter(i).times(stride).plus(by);
        draw.bytes(arena, ty, at, gcd(stride, by))
    };
    let constant = Value::Number(draw.rng.pick(&[0, 1, 0x0102_0304]));
    let nearby = draw.rng.pick(&[0, 1, 2, 2, size / 2, size / 2, 3, -1, -2, size]);
    let mut out = Vec::new();
    let mut before =
        vec![Stmt::Set(sum, if draw.rng.percent(75) { constant.clone() } else { Value::Read(cell(draw, ty, 0)) })];
    let mut term = read.clone();
    let mut inside = Vec::new();
    let mut behind = Vec::new();
    match if aligned { draw.rng.below(27) } else { draw.rng.below(9) } {
        // The same constant, or the sum so far, to bytes nearby while it is being summed up.
        0 | 1 => {
            let along = draw.rng.pick(&[0, 0, 512, stride]);
            let mut place = cell(draw, ty, nearby);
            place.at = place.at.and(Expr::Counter(k).times(along));
            if !matches!(place.how, How::Three) {
                place.how = How::Unaligned;
            }
            let value = if draw.rng.percent(70) { constant.clone() } else { Value::Local(sum) };
            let store = Stmt::Store(place, value);
            inside.push(if draw.rng.percent(30) {
                Stmt::If(draw.condition(k), vec![store], Vec::new())
            } else {
                store
            });
        }
        // A loop before it stores the constant nearby, and its sum reads it.
        2 | 3 => {
            let mut place = cell(draw, ty, nearby);
            place.how = How::Unaligned;
            out.push(draw.up(i, n.clone(), vec![Stmt::Store(place.clone(), constant.clone())]));
            place.at = place.at.and(Expr::Counter(k).times(draw.rng.pick(&[0, 512, stride])));
            term = if draw.rng.percent(60) {
                Value::Read(place)
            } else {
                read.clone().binary(Op::Add, Value::Read(place))
            };
        }
        // A second loop stores it in one of its iterations, and uses it in all.
        4 | 5 => {
            let elem = draw.rng.pick(&[signed(32), unsigned(64), unsigned(16)]);
            let used = draw.matrix(elem);
            let used = draw.element(used, Some(Expr::Counter(i)), Expr::Counter(k));
            let store = Stmt::Store(cell(draw, ty, nearby), Value::Local(sum));
            let inside = vec![
                Stmt::If(draw.condition(k), vec![store], Vec::new()),
                Stmt::Update(used, Op::Xor, Value::Local(sum)),
            ];
            behind.push(draw.up(k, m.clone(), inside));
        }
        // The initial value comes from bytes nearby.
        6 => before = vec![Stmt::Set(sum, Value::Read(cell(draw, ty, nearby)))],
        _ => {}
    }
    let op = draw.operator(ty);
    inside.push(match draw.rng.below(3) {
        0 => Stmt::Fold(sum, op, term),
        1 => Stmt::Set(sum, Value::Local(sum).binary(Op::Mul, Value::Number(3)).binary(Op::Add, term)),
        _ => Stmt::Fold(sum, Op::Add, term),
    });
    if draw.rng.percent(10) {
        inside.reverse();
    }
    let last = |draw: &mut Draw| {
        if draw.rng.percent(60) { Value::Local(sum) } else { Value::Local(sum).binary(Op::Mul, Value::Number(3)) }
    };
    match if aligned { 0 } else { draw.rng.weighted(&[0, 3, 1, 2]) } {
        0 => {
            let (unaligned, aligned) = (How::Unaligned, draw.rng.pick(&[How::Over, How::Assumed, How::Alias]));
            let stride = draw.rng.pick(&[4, 12, 20, 20, size]).max(size.min(8));
            let place = |how| Place { pointer: arena, ty, how, row: None, at: Expr::Counter(i).times(stride) };
            let is_last = match draw.rng.below(3) {
                0 => {
                    let limit = draw.param(draw.kernel.counter, false, Choice::Near(first_param(&n), vec![-1]));
                    Cond { left: Expr::Counter(i), rel: Rel::Lt, right: Expr::Param(limit) }
                }
                1 => Cond { left: Expr::Counter(i), rel: Rel::Lt, right: n.clone().plus(-1) },
                _ => Cond {
                    left: Expr::Counter(i).partial(Partial::Remainder, 32, Expr::Number(4)),
                    rel: Rel::Ne,
                    right: Expr::Number(0),
                },
            };
            let (a, b) = (last(draw), last(draw));
            behind.push(Stmt::If(
                is_last,
                vec![Stmt::Store(place(unaligned), a)],
                vec![Stmt::Store(place(aligned), b)],
            ));
        }
        // A wide store, and a narrow one to some of its bytes; or the other way round.
        1 => {
            let wide = draw.rng.pick(&[unsigned(64), unsigned(64), unsigned(128), Ty::Lanes(32), unsigned(32)]);
            let elem = draw.rng.pick(&[unsigned(64), signed(64), unsigned(32)]);
            let factors = draw.array(elem);
            let factor = Value::Read(draw.element(factors, None, Expr::Counter(i)));
            let by = draw.rng.pick(&[0, 0, 0, 1, 2, 4, -2]);
            let narrow = if draw.rng.percent(75) { ty } else { similar(draw, ty) };
            let mut stores = vec![
                Stmt::Store(cell(draw, wide, 0), Value::Local(sum).cast(wide).binary(Op::Mul, factor.cast(wide))),
                Stmt::Store(cell(draw, narrow, by), Value::Local(sum)),
            ];
            if draw.rng.percent(25) {
                stores.reverse();
            }
            behind.extend(stores);
        }
        2 => {
            let value = last(draw);
            behind.push(Stmt::Store(cell(draw, ty, 0), value));
            let by = draw.rng.pick(&[1, 2, size, -1]);
            let other = similar(draw, ty);
            let op = draw.operator(other);
            behind.push(Stmt::Update(cell(draw, other, by), op, Value::Local(sum)));
        }
        _ => {
            let value = last(draw);
            behind.push(Stmt::Store(cell(draw, ty, 0), value));
        }
    }
    before.push(draw.up(k, m, inside));
    before.extend(behind);
    out.push(draw.up(i, n, before));
    if draw.rng.percent(10) {
        draw.kernel.result = Some(sum);
    }
    out
}

fn first_param(expr: &Expr) -> usize {
    match expr {
        Expr::Param(k) => *k,
        _ => 0,
    }
}

/// One memory as one type after another.
fn reuse(draw: &mut Draw) -> Vec<Stmt> {
    let n = draw.size();
    let block = draw.block(Block::Filled(unsigned(8)));
    let types = [Ty::Float, signed(32), unsigned(64), Ty::Double, signed(16), unsigned(32)];
    let mut out = Vec::new();
    let flat = draw.rng.percent(60);
    for _ in 0..draw.rng.within(2, 3) {
        let elem = draw.rng.pick(&types);
        let spots = if draw.rng.percent(70) { vec![(block, 0)] } else { vec![(block, 0), (block, 16)] };
        let pointer = draw.pointer(Pointer { elem, row: None, restrict: false, place: Where::Argument }, spots);
        let (i, j) = (draw.counter(), draw.counter());
        let kept = draw.matrix(elem);
        let at =
            if flat { Expr::Counter(j) } else { Expr::Counter(j).and(Expr::Counter(i).times(draw.rng.pick(&[1, 40]))) };
        let cell = draw.element(pointer, None, at);
        let value = draw.value(&[Value::Index(Expr::Counter(j)), Value::Index(Expr::Counter(i))], 1);
        let row = if flat { Expr::Number(0) } else { Expr::Counter(i) };
        let use_it = Stmt::Update(draw.element(kept, Some(row), Expr::Counter(j)), Op::Add, Value::Read(cell.clone()));
        let store = Stmt::Store(cell, value);
        let around = |draw: &mut Draw, body: Vec<Stmt>| {
            let inner = draw.up(j, n.clone(), body);
            if flat { inner } else { draw.up(i, n.clone(), vec![inner]) }
        };
        if draw.rng.percent(80) {
            out.push(around(draw, vec![store]));
            out.push(around(draw, vec![use_it]));
        } else {
            out.push(around(draw, vec![store, use_it]));
        }
    }
    out
}

/// Elements of types that loops seldom see, beside each other and beside others.
fn rare_types(draw: &mut Draw) -> Vec<Stmt> {
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let types = [
        Ty::Bool,
        Ty::Half,
        Ty::Long,
        Ty::Complex,
        Ty::Lanes(32),
        Ty::Lanes(8),
        Ty::Lanes(16),
        Ty::Floats,
        Ty::Fields,
        Ty::Fields,
        signed(128),
        unsigned(128),
        signed(8),
    ];
    let elem = input_type(draw);
    let input = draw.matrix(elem);
    let mut reads = vec![Value::Read(column(draw, input, outer, inner)), Value::Index(Expr::Counter(outer))];
    let mut body = Vec::new();
    for _ in 0..draw.rng.within(1, 2) {
        let elem = draw.rng.pick(&types);
        let array = draw.array(elem);
        let (counter, other) = if draw.rng.percent(75) { (inner, outer) } else { (outer, inner) };
        let mut at = Expr::Counter(counter);
        if draw.rng.percent(30) {
            at = at.and(Expr::Counter(other));
        }
        for _ in 0..draw.rng.within(1, 2) {
            let mut place = draw.element(array, None, at.clone());
            if elem == Ty::Fields {
                place.how = How::Field(draw.rng.below(6));
                place.ty = if draw.rng.percent(50) { signed(32) } else { unsigned(32) };
            }
            let ty = place.ty;
            let value = draw.value(&reads, 1);
            let op = draw.operator(ty);
            body.push(if draw.rng.percent(80) {
                Stmt::Update(place.clone(), op, value)
            } else {
                Stmt::Store(place.clone(), value)
            });
            reads.push(Value::Read(place));
        }
    }
    let inside = draw.some_loop(inner, m, body);
    vec![draw.some_loop(outer, n, vec![inside])]
}

/// Sums that may be in any order: of numbers so small that none is rounded, whatever the order.
fn reassociated(draw: &mut Draw) -> Vec<Stmt> {
    if !draw.kernel.pointers.is_empty() {
        return updates(draw);
    }
    draw.kernel.reassociate = true;
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let ty = draw.rng.pick(&[Ty::Float, Ty::Double]);
    let input = draw.matrix(ty);
    let read = Value::Read(column(draw, input, outer, inner));
    let array = draw.array(ty);
    let group: &[Op] = draw.rng.pick(&[
        &[Op::Add, Op::Sub][..],
        &[Op::Add][..],
        &[Op::Min, Op::Max][..],
        &[Op::Min][..],
        &[Op::Mul][..],
    ]);
    let mut body = Vec::new();
    for _ in 0..draw.rng.within(1, 3) {
        let op = draw.rng.pick(group);
        let counter = if draw.rng.percent(70) { inner } else { outer };
        let at = Expr::Counter(counter).plus(draw.rng.pick(&[0, 0, 1]));
        let value = match op {
            Op::Mul => {
                Value::Pick(Box::new(draw.condition(inner)), Box::new(Value::Number(-1)), Box::new(Value::Number(1)))
            }
            _ => read.clone(),
        };
        body.push(Stmt::Update(draw.element(array, None, at), op, value));
    }
    let inside = draw.up(inner, m, body);
    vec![draw.up(outer, n, vec![inside])]
}

/// Values that go from some bytes to others, in widths that differ.
fn copies(draw: &mut Draw) -> Vec<Stmt> {
    let (n, m) = (draw.size(), draw.size());
    let (outer, inner) = (draw.counter(), draw.counter());
    let rows = draw.rng.pick(&[64, 160, 320]);
    let mut body = Vec::new();
    for _ in 0..draw.rng.within(2, 3) {
        let (from, to) = (draw.width(), draw.width());
        let arena = draw.arena();
        let at = |draw: &mut Draw, ty: Ty| {
            let (stride, offset) = steps(draw, ty);
            let at = Expr::Counter(inner).times(rows).and(Expr::Counter(outer).times(stride)).plus(offset);
            draw.bytes(arena, ty, at, gcd(gcd(rows, stride), offset))
        };
        let (read, place) = (at(draw, from), at(draw, to));
        let value = draw.value(&[Value::Read(read)], 1);
        body.push(Stmt::Store(place, value));
    }
    let inside = draw.some_loop(inner, m, body);
    vec![draw.some_loop(outer, n, vec![inside])]
}

/// `input[inner][outer]`: along a column, so that another order is better; now and then along a row.
pub fn column(draw: &mut Draw, input: usize, outer: usize, inner: usize) -> Place {
    let (row, at) = if draw.rng.percent(85) { (inner, outer) } else { (outer, inner) };
    draw.element(input, Some(Expr::Counter(row)), Expr::Counter(at))
}

fn input_type(draw: &mut Draw) -> Ty {
    draw.rng.pick(&[signed(32), signed(32), unsigned(32), unsigned(64), signed(16), unsigned(8), Ty::Float, Ty::Double])
}

/// The same with another sign or width, or anything.
fn similar(draw: &mut Draw, ty: Ty) -> Ty {
    match (ty, draw.rng.below(4)) {
        (Ty::Int { bits, signed }, 0 | 1) => Ty::Int { bits, signed: !signed },
        (Ty::Int { bits, signed }, 2) => {
            Ty::Int { bits: draw.rng.pick(if bits > 32 { &[8, 16, 32][..] } else { &[16, 32, 64][..] }), signed }
        }
        (_, 0) => ty,
        _ => draw.width(),
    }
}

/// A stride and an offset in bytes: cells side by side, on each other, or overlapping in part.
fn steps(draw: &mut Draw, ty: Ty) -> (i64, i64) {
    let size = ty.bytes();
    let stride = match draw.rng.below(8) {
        0..=3 => size,
        4 | 5 => (size / 2).max(1),
        6 => draw.rng.pick(&[1, 2, 3, 4, 6, 8]),
        _ => 2 * size,
    };
    let offset = match draw.rng.below(6) {
        0 => draw.rng.within(0, size),
        1 => size / 2,
        _ => 0,
    };
    (stride, offset)
}

pub fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
