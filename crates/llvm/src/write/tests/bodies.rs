//! Statement bodies: scalars, inductions of all types, boxed control flow.

use super::*;

/// `double s = 0; for (i = 0; i < n; i++) s += a[i]; return s;`
const SUM: &str = r#"
define double @sum(ptr noundef %a, i64 noundef %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s.next, %loop ]
  %from = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %from, align 8
  %s.next = fadd double %s, %x
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ 0.0, %entry ], [ %s.next, %loop ]
  ret double %r
}
"#;

fn sum_region(fixture: &Fixture) -> (ReadRegion, Plan) {
    let mut region = fixture.region("loop", "done", &["loop"], &["n"]);
    let mut body = fixture.body(1, &["from", "x", "s.next"]);
    body.inductions.push(fixture.induction("i", &[1]));
    body.reads.push(fixture.scalar("s", 0));
    body.writes = vec![fixture.scalar("s.next", 0), fixture.scalar("s.next", 1)];
    region.bodies.insert(StatementId(0), body);
    region.initial.push((ArrayId(0), fixture.value_id("s")));
    let all = loop_of(0, int(0), below(param(0)), call(0, vec![counter(0)]));
    let check = vec![holds(binary(BinaryOp::Le, param(0), int(5)))];
    (region, Plan { check, temporaries: Vec::new(), body: Node::For(Box::new(all)) })
}

fn expect_sums(fixture: Fixture, text: &str) {
    let (new, old) = (fixture.run(), Running::original(text));
    let functions = [&new, &old]
        .map(|r| unsafe { std::mem::transmute::<usize, extern "C" fn(*const f64, i64) -> f64>(r.address("sum")) });
    let numbers: Vec<f64> = (1..=10).map(|i| 1.0 / f64::from(i)).collect();
    let first = if text == SUM { 0 } else { 1 };
    for n in first..10 {
        let [actual, expected] = functions.map(|f| f(numbers.as_ptr(), n));
        assert_eq!(actual.to_bits(), expected.to_bits(), "{n}");
    }
    assert_eq!(new.counts(), (5, 4));
}

#[test]
fn a_sum_arrives_at_the_phi_behind_the_loop() {
    let fixture = Fixture::new(SUM);
    let (mut region, plan) = sum_region(&fixture);
    region.live_outs.push(LiveOut::ExitPhi { phi: fixture.value_id("r"), slot: ArrayId(1), only: None });
    fixture.write(&region, &plan);
    expect_sums(fixture, SUM);
}

#[test]
fn a_sum_used_directly_behind_the_loop_is_merged() {
    let text = SUM
        .replace("br i1 %some, label %loop, label %done", "br label %loop")
        .replace("%r = phi double [ 0.0, %entry ], [ %s.next, %loop ]", "%r = fadd double %s.next, 0.0");
    let fixture = Fixture::new(&text);
    let (mut region, plan) = sum_region(&fixture);
    region.live_outs.push(LiveOut::Value { value: fixture.value_id("s.next"), slot: ArrayId(1) });
    fixture.write(&region, &plan);
    expect_sums(fixture, &text);
}

#[test]
fn a_live_value_that_the_reader_forgot_is_an_error() {
    let fixture = Fixture::new(SUM);
    let (region, plan) = sum_region(&fixture);
    let error = write_region(&fixture, &region, &plan, &WriteOptions::default()).expect_err("no slot for r");
    assert!(error.to_string().contains("not live-out"), "{error}");
}

#[test]
fn a_value_that_the_statement_lacks_is_an_error() {
    let fixture = Fixture::new(SUM);
    let (mut region, plan) = sum_region(&fixture);
    region.bodies[0].reads.clear();
    let error = write_region(&fixture, &region, &plan, &WriteOptions::default()).expect_err("s is unknown");
    assert!(error.to_string().contains("neither computes nor reads"), "{error}");
}

/// `char *p = a; for (int i = n; i > 0; i -= 2) { *p = i; p += 3; }` with counters of 32 bits.
const STRIDES: &str = r#"
define void @strides(ptr noundef %a, i32 noundef %n) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i32 [ %n, %entry ], [ %i.next, %loop ]
  %p = phi ptr [ %a, %entry ], [ %p.next, %loop ]
  %c = trunc i32 %i to i8
  store i8 %c, ptr %p, align 1
  %p.next = getelementptr inbounds i8, ptr %p, i64 3
  %i.next = add nsw i32 %i, -2
  %more = icmp sgt i32 %i.next, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}
"#;

#[test]
fn narrow_and_pointer_inductions_are_recomputed_in_any_order() {
    let fixture = Fixture::new(STRIDES);
    let mut region = fixture.region("loop", "done", &["loop"], &["n"]);
    region.bases = [(ArrayId(0), fixture.value_id("a"))].into_iter().collect();
    let mut body = fixture.body(1, &["c", "store"]);
    let mut i = fixture.induction("i", &[-2]);
    i.offset = i.offset.add(&Polynomial::param(ParamId(0))).unwrap();
    let mut p = fixture.induction("p", &[3]);
    p.base = Some(fixture.value_id("a"));
    body.inductions = vec![i, p];
    region.bodies.insert(StatementId(0), body);
    // Trips: ⌈n / 2⌉, from the last to the first.
    let last = binary(BinaryOp::FloorDiv, below(param(0)), int(2));
    let backwards = binary(BinaryOp::Sub, last.clone(), counter(0));
    let all = loop_of(0, int(0), last, call(0, vec![backwards]));
    let check = vec![holds(binary(BinaryOp::Le, param(0), int(1000)))];
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: Node::For(Box::new(all)) });
    let (new, old) = (fixture.run(), Running::original(STRIDES));
    let functions = [&new, &old]
        .map(|r| unsafe { std::mem::transmute::<usize, extern "C" fn(*mut u8, i32)>(r.address("strides")) });
    for n in [-5, 0, 1, 2, 3, 10, 255, 300] {
        let mut memory = [vec![0u8; 512], vec![0u8; 512]];
        for (function, memory) in functions.iter().zip(&mut memory) {
            function(memory.as_mut_ptr(), n);
        }
        assert_eq!(memory[0], memory[1], "{n}");
    }
    assert_eq!(new.counts(), (6, 0));
}

/// `for (i = 0; i < n; i++) { x = a[i]; while (x > 10) x = x / 2 + 1; a[i] = x > 5 ? x : -x; }`
const BOX: &str = r#"
define void @halve(ptr noundef %a, i64 noundef %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at, align 4
  br label %while
while:
  %v = phi i32 [ %x, %loop ], [ %v.next, %shrink ]
  %big = icmp sgt i32 %v, 10
  br i1 %big, label %shrink, label %choose
shrink:
  %half = sdiv i32 %v, 2
  %v.next = add nsw i32 %half, 1
  br label %while, !llvm.loop !0
choose:
  %keep = icmp sgt i32 %v, 5
  br i1 %keep, label %latch, label %negate
negate:
  %minus = sub nsw i32 0, %v
  br label %latch
latch:
  %out = phi i32 [ %v, %choose ], [ %minus, %negate ]
  store i32 %out, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
"#;

#[test]
fn a_boxed_part_is_copied_with_its_control_flow() {
    let fixture = Fixture::new(BOX);
    let blocks = ["loop", "while", "shrink", "choose", "negate", "latch"];
    let mut region = fixture.region("loop", "done", &blocks, &["n"]);
    let mut load = fixture.body(1, &["at", "x"]);
    load.inductions.push(fixture.induction("i", &[1]));
    load.writes.push(fixture.scalar("x", 0));
    let mut boxed = fixture.body(1, &[]);
    boxed.kind = BodyKind::Boxed {
        entry: fixture.block_id("while"),
        exit: fixture.block_id("latch"),
        blocks: ["while", "shrink", "choose", "negate"].map(|b| fixture.block_id(b)).to_vec(),
        edge_writes: vec![
            (fixture.block_id("choose"), fixture.scalar("v", 1)),
            (fixture.block_id("negate"), fixture.scalar("minus", 1)),
        ],
    };
    boxed.reads.push(fixture.scalar("x", 0));
    let mut store = fixture.body(1, &["at", "store"]);
    store.inductions.push(fixture.induction("i", &[1]));
    store.recomputed.push(fixture.value_id("at"));
    store.reads.push(fixture.scalar("out", 1));
    for (id, body) in [load, boxed, store].into_iter().enumerate() {
        region.bodies.insert(StatementId(id as u32), body);
    }
    let body = Node::Block((0..3).map(|s| call(s, vec![counter(0)])).collect());
    let all = loop_of(0, int(0), below(param(0)), body);
    let check = vec![holds(binary(BinaryOp::Gt, param(0), int(1)))];
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: Node::For(Box::new(all)) });
    let text = fixture.text();
    assert_eq!(text.matches("getelementptr inbounds i32").count(), 2, "the recomputed one promises nothing:\n{text}");
    let (new, old) = (fixture.run(), Running::original(BOX));
    let functions =
        [&new, &old].map(|r| unsafe { std::mem::transmute::<usize, extern "C" fn(*mut i32, i64)>(r.address("halve")) });
    for n in [1, 2, 40] {
        let mut memory = [0, 1].map(|_| (0..40).map(|i| i * i - 100).collect::<Vec<i32>>());
        for (function, memory) in functions.iter().zip(&mut memory) {
            function(memory.as_mut_ptr(), n);
        }
        assert_eq!(memory[0], memory[1], "{n}");
    }
    assert_eq!(new.counts(), (2, 1));
}
