//! The check takes the new code exactly where its terms hold in ℤ.

use super::*;

type Triple = unsafe extern "C" fn(*mut i32, *const i32, i64);

fn run_triple(running: &Running, memory: &mut [i32], to: usize, from: usize, n: i64) {
    let function: Triple = unsafe { std::mem::transmute(running.address("triple")) };
    let base = memory.as_mut_ptr();
    unsafe { function(base.add(to), base.add(from), n) }
}

#[test]
fn arrays_apart_run_the_new_code_and_overlapping_ones_the_original() {
    let (fixture, region, plan) = triple();
    fixture.write(&region, &plan);
    let (new, old) = (fixture.run(), Running::original(TRIPLE));
    for (to, from, fast) in
        [(0, 100, true), (100, 0, true), (0, 99, false), (1, 0, false), (0, 0, false), (99, 0, false)]
    {
        let before = new.counts();
        let mut expected: Vec<i32> = (0..200).collect();
        let mut actual = expected.clone();
        run_triple(&old, &mut expected, to, from, 100);
        run_triple(&new, &mut actual, to, from, 100);
        assert_eq!(actual, expected);
        let after = new.counts();
        assert_eq!((after.0 - before.0, after.1 - before.1), if fast { (1, 0) } else { (0, 1) }, "{to} {from}");
    }
}

#[test]
fn a_region_that_is_not_entered_counts_on_no_side() {
    let (fixture, region, plan) = triple();
    fixture.write(&region, &plan);
    let new = fixture.run();
    run_triple(&new, &mut [1, 2, 3], 0, 1, 0);
    assert_eq!(new.counts(), (0, 0));
}

#[test]
fn an_empty_check_leaves_no_way_to_the_original() {
    let (fixture, region, mut plan) = triple();
    plan.check.clear();
    fixture.write(&region, &plan);
    assert!(!fixture.text().contains("br i1 %some, label %loop,"));
    let new = fixture.run();
    run_triple(&new, &mut [1; 8], 0, 4, 4);
    assert_eq!(new.counts(), (1, 0));
}

#[test]
fn inputs_that_may_be_poison_are_frozen_and_others_not() {
    let (fixture, region, plan) = triple();
    fixture.write(&region, &plan);
    assert!(!fixture.text().contains("freeze"));

    let doubtful = TRIPLE.replace("noundef %b", "%b").replace("noundef %n", "%n");
    let (known, region, plan) = triple();
    drop(known);
    let fixture = Fixture::new(&doubtful);
    fixture.write(&region, &plan);
    let text = fixture.text();
    assert_eq!(text.matches("= freeze ").count(), 2, "{text}");
    // The copy of the load goes through the frozen base.
    assert!(text.contains("= freeze ptr %b"), "{text}");
}

/// Two numbers and two pointers enter a check; the loop behind it does nothing.
const PROBE: &str = r#"
define void @probe(ptr noundef %a, ptr noundef %b, i64 noundef %p, i64 noundef %q) {
entry:
  br label %loop
loop:
  br i1 false, label %loop, label %done
done:
  ret void
}
"#;

/// A function that says for (a, b, p, q) whether the check holds.
fn probe(check: Vec<CheckTerm>) -> impl Fn(u64, u64, i64, i64) -> bool {
    let fixture = Fixture::new(PROBE);
    let mut region = fixture.region("loop", "done", &["loop"], &["p", "q"]);
    region.bases = [(ArrayId(0), fixture.value_id("a")), (ArrayId(1), fixture.value_id("b"))].into_iter().collect();
    fixture.write(&region, &Plan { check, temporaries: Vec::new(), body: Node::Block(Vec::new()) });
    let running = fixture.run();
    let function: unsafe extern "C" fn(u64, u64, i64, i64) = unsafe { std::mem::transmute(running.address("probe")) };
    move |a, b, p, q| {
        let before = running.counts();
        unsafe { function(a, b, p, q) };
        let after = running.counts();
        assert_eq!(after.0 + after.1, before.0 + before.1 + 1);
        after.0 > before.0
    }
}

const NUMBERS: [i64; 15] =
    [i64::MIN, i64::MIN + 1, -(1 << 62), -9, -8, -7, -1, 0, 1, 2, 7, 8, 1 << 62, i64::MAX - 1, i64::MAX];

#[test]
fn arithmetic_that_overflows_takes_the_original() {
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
        // Always true in ℤ, whatever the value: only an overflow can make it fail.
        let value = || binary(op, param(0), param(1));
        let holds_for = probe(vec![holds(binary(BinaryOp::Eq, value(), value()))]);
        for p in NUMBERS {
            for q in NUMBERS {
                let (x, y) = (i128::from(p), i128::from(q));
                let exact = match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    _ => x * y,
                };
                assert_eq!(holds_for(0, 0, p, q), i64::try_from(exact).is_ok(), "{op:?} {p} {q}");
            }
        }
    }
}

#[test]
fn powers_beyond_64_bits_take_the_original() {
    let power = || binary(BinaryOp::Power, int(2), param(0));
    let any = probe(vec![holds(binary(BinaryOp::Eq, power(), power()))]);
    let equal = probe(vec![holds(binary(BinaryOp::Eq, power(), param(1)))]);
    for p in NUMBERS.into_iter().chain([31, 32, 61, 62, 63, 64, 65, 127, 128]) {
        assert_eq!(any(0, 0, p, 0), (0..=62).contains(&p), "2^{p}");
        for exponent in 0..=62 {
            assert_eq!(equal(0, 0, p, 1 << exponent), p == exponent, "2^{p} = 2^{exponent}");
        }
    }
}

#[test]
fn divisions_round_towards_minus_infinity() {
    for divisor in [1, 2, 3, 7, 8, 1 << 40, i64::MAX] {
        let quotient = binary(BinaryOp::FloorDiv, param(0), int(divisor.into()));
        let remainder = binary(BinaryOp::NonNegRem, param(0), int(divisor.into()));
        let divides = probe(vec![holds(binary(BinaryOp::Eq, quotient, param(1)))]);
        let leaves = probe(vec![holds(binary(BinaryOp::Eq, remainder, param(1)))]);
        for p in NUMBERS {
            assert!(divides(0, 0, p, p.div_euclid(divisor)), "{p} / {divisor}");
            assert!(leaves(0, 0, p, p.rem_euclid(divisor)), "{p} mod {divisor}");
        }
    }
}

#[test]
fn constants_beyond_64_bits_are_compared_by_range_only() {
    let huge = 1i128 << 70;
    let always = probe(vec![holds(binary(BinaryOp::Lt, param(0), int(huge)))]);
    let never = probe(vec![holds(binary(BinaryOp::Ge, param(0), int(huge)))]);
    let overflowing = probe(vec![holds(binary(BinaryOp::Le, binary(BinaryOp::Sub, param(0), int(huge)), int(-huge)))]);
    for p in NUMBERS {
        assert!(always(0, 0, p, 0));
        assert!(!never(0, 0, p, 0));
        assert!(!overflowing(0, 0, p, 0));
    }
}

#[test]
fn boolean_expressions_mean_what_they_say() {
    let both = probe(vec![holds(binary(
        BinaryOp::And,
        binary(BinaryOp::Ge, binary(BinaryOp::Max, param(0), param(1)), int(7)),
        binary(BinaryOp::Or, binary(BinaryOp::Lt, param(0), int(0)), binary(BinaryOp::Gt, param(1), int(1))),
    ))]);
    for p in NUMBERS {
        for q in NUMBERS {
            assert_eq!(both(0, 0, p, q), p.max(q) >= 7 && (p < 0 || q > 1), "{p} {q}");
        }
    }
}

#[test]
fn extents_are_disjoint_as_sets_of_addresses() {
    // a + p .. a + q against b .. b + 8, at both ends of the address space too.
    let apart = probe(vec![disjoint((0, param(0), param(1)), (1, int(0), int(8)))]);
    let addresses = [0, 8, 16, 1 << 40, (1 << 63) - 8, 1 << 63, u64::MAX - 15, u64::MAX - 7];
    for a in addresses {
        for b in addresses {
            for p in NUMBERS {
                for q in NUMBERS {
                    let address = |base: u64, offset: i64| i128::from(base) + i128::from(offset);
                    let fits = |x: i128| (0..1 << 64).contains(&x);
                    let (low, high, b_low, b_high) = (address(a, p), address(a, q), address(b, 0), address(b, 8));
                    let exact = fits(low) && fits(high) && fits(b_high);
                    let expected = p >= q || exact && (high <= b_low || b_high <= low);
                    assert_eq!(apart(a, b, p, q), expected, "{a} {b} {p} {q}");
                }
            }
        }
    }
}
