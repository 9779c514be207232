//! Loops and branches of the plan, and regions at odd places of the control flow.

use super::*;

/// `for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i * m + j] = 2 * a[i * m + j] + i - j`, n and m at least 1
const NEST: &str = r#"
define void @nest(ptr noundef %a, i64 noundef %n, i64 noundef %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.latch ]
  %row = mul nsw i64 %i, %m
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %index = add nsw i64 %row, %j
  %at = getelementptr inbounds i64, ptr %a, i64 %index
  %x = load i64, ptr %at, align 8
  %twice = shl i64 %x, 1
  %more = add i64 %twice, %i
  %y = sub i64 %more, %j
  store i64 %y, ptr %at, align 8
  %j.next = add nuw nsw i64 %j, 1
  %j.end = icmp eq i64 %j.next, %m
  br i1 %j.end, label %outer.latch, label %inner
outer.latch:
  %i.next = add nuw nsw i64 %i, 1
  %i.end = icmp eq i64 %i.next, %n
  br i1 %i.end, label %done, label %outer
done:
  ret void
}
"#;

fn nest() -> (Fixture, ReadRegion) {
    let fixture = Fixture::new(NEST);
    let mut region = fixture.region("outer", "done", &["outer", "inner", "outer.latch"], &["n", "m"]);
    region.bases = [(ArrayId(0), fixture.value_id("a"))].into_iter().collect();
    let mut body = fixture.body(2, &["row", "index", "at", "x", "twice", "more", "y", "store"]);
    body.inductions = vec![fixture.induction("i", &[1, 0]), fixture.induction("j", &[0, 1])];
    body.recomputed.push(fixture.value_id("row"));
    region.bodies.insert(StatementId(0), body);
    (fixture, region)
}

/// Runs for all sizes up to 9 × 9, where the fast side must be taken.
fn expect_nest(fixture: Fixture) {
    let (new, old) = (fixture.run(), Running::original(NEST));
    let functions = [&new, &old]
        .map(|r| unsafe { std::mem::transmute::<usize, extern "C" fn(*mut i64, i64, i64)>(r.address("nest")) });
    for (n, m) in (1..10).flat_map(|n| (1..10).map(move |m| (n, m))) {
        let mut memory = [0, 1].map(|_| (0..81).map(|i| i * i).collect::<Vec<i64>>());
        for (function, memory) in functions.iter().zip(&mut memory) {
            function(memory.as_mut_ptr(), n, m);
        }
        assert_eq!(memory[0], memory[1], "{n} {m}");
    }
    assert_eq!(new.counts(), (81, 0));
}

#[test]
fn loops_change_places() {
    let (fixture, region) = nest();
    let inner = loop_of(1, int(0), below(param(0)), call(0, vec![counter(1), counter(0)]));
    let outer = loop_of(0, int(0), below(param(1)), Node::For(Box::new(inner)));
    fixture.write(&region, &Plan { check: Vec::new(), temporaries: Vec::new(), body: Node::For(Box::new(outer)) });
    expect_nest(fixture);
}

#[test]
fn tiles_have_steps_and_minima() {
    let (fixture, region) = nest();
    let end =
        |tile: u32, size: u32| binary(BinaryOp::Min, below(param(size)), binary(BinaryOp::Add, counter(tile), int(3)));
    let point_j = loop_of(3, counter(1), end(1, 1), call(0, vec![counter(2), counter(3)]));
    let point_i = loop_of(2, counter(0), end(0, 0), Node::For(Box::new(point_j)));
    let mut tile_j = loop_of(1, int(0), below(param(1)), Node::For(Box::new(point_i)));
    tile_j.step = 4;
    let mut tile_i = loop_of(0, int(0), below(param(0)), Node::For(Box::new(tile_j)));
    tile_i.step = 4;
    fixture.write(&region, &Plan { check: Vec::new(), temporaries: Vec::new(), body: Node::For(Box::new(tile_i)) });
    expect_nest(fixture);
}

#[test]
fn branches_split_the_iterations() {
    let (fixture, region) = nest();
    // Even rows now, odd rows in a loop of their own behind; the second by an else.
    let is_even = || binary(BinaryOp::Eq, binary(BinaryOp::ZeroTestRem, counter(0), int(2)), int(0));
    let row = |i: u32, j: u32| {
        Node::For(Box::new(loop_of(j, int(0), below(param(1)), call(0, vec![counter(i), counter(j)]))))
    };
    let even = Node::If { condition: is_even(), then: Box::new(row(0, 1)), otherwise: None };
    let odd =
        Node::If { condition: is_even(), then: Box::new(Node::Block(vec![])), otherwise: Some(Box::new(row(0, 2))) };
    let twice = [even, odd].map(|body| Node::For(Box::new(loop_of(0, int(0), below(param(0)), body))));
    fixture.write(
        &region,
        &Plan { check: Vec::new(), temporaries: Vec::new(), body: Node::Block(twice.into_iter().collect()) },
    );
    expect_nest(fixture);
}

#[test]
fn loops_may_reach_the_ends_of_their_type() {
    // Counters from the least to the greatest number in giant steps: 3 trips, and no wrap between them.
    let (fixture, region) = nest();
    let step = i64::MAX;
    let row = binary(BinaryOp::FloorDiv, counter(0), int(i128::from(step)));
    let row = binary(BinaryOp::Add, row, int(2));
    let inner = loop_of(1, int(0), below(param(1)), call(0, vec![row, counter(1)]));
    let mut outer = loop_of(0, int(i64::MIN.into()), int(i64::MAX.into()), Node::For(Box::new(inner)));
    outer.step = step;
    let check = vec![holds(binary(BinaryOp::Eq, param(0), int(3)))];
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: Node::For(Box::new(outer)) });
    let (new, old) = (fixture.run(), Running::original(NEST));
    let functions = [&new, &old]
        .map(|r| unsafe { std::mem::transmute::<usize, extern "C" fn(*mut i64, i64, i64)>(r.address("nest")) });
    let mut memory = [vec![5i64; 12], vec![5i64; 12]];
    for (function, memory) in functions.iter().zip(&mut memory) {
        function(memory.as_mut_ptr(), 3, 4);
    }
    assert_eq!(memory[0], memory[1]);
    assert_eq!(new.counts(), (1, 0));
}

/// The region is the whole function but its return, entered at the function's first block, left over two edges.
const WHOLE: &str = r#"
define i32 @whole(ptr noundef %a, i32 noundef %n) {
entry:
  %room = alloca i32, align 4
  %double = shl i32 %n, 1
  store i32 %double, ptr %a, align 4
  %large = icmp sgt i32 %n, 9
  br i1 %large, label %more, label %done
more:
  %third = mul i32 %n, 3
  store i32 %third, ptr %a, align 4
  br label %done
done:
  %r = phi i32 [ %double, %entry ], [ %third, %more ]
  ret i32 %r
}
"#;

#[test]
fn a_region_may_start_with_the_function_and_leave_over_two_edges() {
    let fixture = Fixture::new(WHOLE);
    let mut region = fixture.region("entry", "done", &["entry", "more"], &["n"]);
    let mut first = fixture.body(0, &["double", "store"]);
    first.writes.push(fixture.scalar("double", 0));
    let mut second = fixture.body(0, &["third"]);
    second.kind = BodyKind::Instructions(vec![fixture.value_id("third"), fixture.store_id(1)]);
    second.writes.push(fixture.scalar("third", 0));
    region.bodies.insert(StatementId(0), first);
    region.bodies.insert(StatementId(1), second);
    region.live_outs.push(LiveOut::ExitPhi { phi: fixture.value_id("r"), slot: ArrayId(0), only: None });
    let condition = binary(BinaryOp::Gt, param(0), int(9));
    let large = Node::If { condition, then: Box::new(call(1, vec![])), otherwise: None };
    let check = vec![holds(binary(BinaryOp::Gt, param(0), int(0)))];
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: Node::Block(vec![call(0, vec![]), large]) });
    let new = fixture.run();
    let function: extern "C" fn(*mut i32, i32) -> i32 = unsafe { std::mem::transmute(new.address("whole")) };
    for n in [-3, 1, 9, 10] {
        let mut cell = 0;
        let expected = if n > 9 { 3 * n } else { 2 * n };
        assert_eq!(function(&mut cell, n), expected);
        assert_eq!(cell, expected);
    }
    assert_eq!(new.counts(), (3, 1));
}

/// The entry has φs but no back edge: they count as outside.
const JOINED: &str = r#"
define i64 @joined(i1 noundef %c, i64 noundef %x, i64 noundef %y) {
entry:
  br i1 %c, label %left, label %right
left:
  br label %both
right:
  br label %both
both:
  %n = phi i64 [ %x, %left ], [ %y, %right ]
  %s = add i64 %n, 5
  br label %done
done:
  %r = phi i64 [ %s, %both ]
  ret i64 %r
}
"#;

#[test]
fn phis_of_an_entry_without_back_edge_are_inputs() {
    let fixture = Fixture::new(JOINED);
    let mut region = fixture.region("both", "done", &["both"], &["n"]);
    let mut body = fixture.body(0, &["s"]);
    body.writes.push(fixture.scalar("s", 0));
    region.bodies.insert(StatementId(0), body);
    region.live_outs.push(LiveOut::ExitPhi { phi: fixture.value_id("r"), slot: ArrayId(0), only: None });
    let check = vec![holds(binary(BinaryOp::Gt, param(0), int(0)))];
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: call(0, vec![]) });
    let new = fixture.run();
    let function: extern "C" fn(bool, i64, i64) -> i64 = unsafe { std::mem::transmute(new.address("joined")) };
    assert_eq!((function(true, 3, -4), function(false, 3, -4)), (8, 1));
    assert_eq!(new.counts(), (1, 1));
}
