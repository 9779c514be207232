//! What the rooms below share: a region goes through the scheduler, and what comes out is replayed.

mod nests;
mod random;
mod scalars;

use super::*;
use crate::dependence::dependences;
use crate::fixture::{Dice, computed, test_scop};
use crate::loop_ast::{AstOptions, generate};
use crate::verify::{Verdict, sample_params, verify};
use expect_test::{Expect, expect};

/// The loops that were chosen, or why none were; in either case every order is replayed at a small size if there is one.
fn chosen(sketch: &str, options: &ScheduleOptions) -> String {
    let scop = test_scop(sketch);
    let deps = dependences(&scop).unwrap();
    match choose(&scop, &deps, &Machine::default(), options).unwrap() {
        Decision::Leave { reason, .. } => format!("left alone: {reason}\n"),
        Decision::Transform { schedule, tiled, parallel, vectorized, reason, .. } => {
            let node = generate(&schedule, &scop.context, &AstOptions::default()).unwrap();
            if let Some(params) = sample_params(&scop, &scop.context, 5).unwrap() {
                let verdict = verify(&scop, &computed(&scop), &node, &params).unwrap();
                assert!(!matches!(verdict, Verdict::Different { .. }), "{verdict:?}\n{}", node.text(&scop));
            }
            format!("tiled: {tiled}, parallel: {parallel}, vectorized: {vectorized}; {reason}\n{}", node.text(&scop))
        }
    }
}

fn check_with(sketch: &str, options: &ScheduleOptions, expected: Expect) {
    expected.assert_eq(&chosen(sketch, options));
}

fn check(sketch: &str, expected: Expect) {
    check_with(sketch, &ScheduleOptions::default(), expected);
}

fn random_choices(dice: &mut Dice, scop: &Scop, deps: &Dependences, schedule: &Schedule) -> shape::Choices {
    let tree = shape::Tree::of(&shape::Region::of(scop, deps).unwrap(), schedule).unwrap();
    let mut choices = shape::Choices::new();
    for (index, members, permutable) in search::bands(&tree.shape) {
        if permutable && members > 1 {
            let mut order: Vec<usize> = (0..members).collect();
            order.rotate_left(dice.roll(members as u64) as usize);
            let tiles = (dice.roll(3) > 0).then(|| (0..members).map(|_| 2 + dice.roll(2) as i64).collect());
            choices.insert(index, shape::Choice { order, tiles });
        }
    }
    choices
}

/// The region becomes two loops of 1000 iterations in tiles of 32 by 32 around these calls, for this reason.
fn check_square_tiles(sketch: &str, reason: &str, calls: &[&str]) {
    let calls: String = calls.iter().map(|call| format!("        {call};\n")).collect();
    let expected = format!(
        "tiled: true, parallel: false, vectorized: false; {reason}
for (int c0 = 0; c0 <= 31; ++c0) {{
  for (int c1 = 0; c1 <= 31; ++c1) {{
    for (int c2 = 0; c2 <= min(31, (-32) * c0 + 999); ++c2) {{
      for (int c3 = 0; c3 <= min(31, (-32) * c1 + 999); ++c3) {{
{calls}      }}
    }}
  }}
}}
"
    );
    assert_eq!(chosen(sketch, &ScheduleOptions::default()), expected);
}
