//! What the rooms below share: a region goes through the scheduler, and what comes out is replayed.

mod nests;
mod outlook;
mod random;
mod scalars;

use super::*;
use crate::dependence::dependences;
use crate::fixture::{Dice, computed, test_scop};
use crate::loop_ast::{AstError, AstOptions, Node, generate, note_untouched, own_scalars, write_out};
use crate::names::Names;
use crate::transform::{
    BandId, Copies, Legality, Step, StepError, Tree, apart_points, check_legal, label_above, labelled,
};
use crate::verify::{Verdict, sample_params, verify};
use expect_test::{Expect, expect};
use isl::Schedule;

/// The loops that were chosen, or why none were; in either case every order is replayed at a small size if there is one.
fn chosen(sketch: &str, options: &ScheduleOptions) -> String {
    let scop = test_scop(sketch);
    let deps = dependences(&scop).unwrap();
    let decision = choose(&scop, &deps, &Machine::default(), options).unwrap();
    // What is left before the dependences are known would be left with them.
    if let Some(early) = outlook(&scop, &Machine::default(), options).unwrap().decision {
        assert!(matches!(decision, Decision::Leave { .. }), "{early:?}\n{sketch}");
    }
    match decision {
        Decision::Leave { reason, .. } => format!("left alone: {reason}\n"),
        Decision::Illegal { steps, pairs } => panic!("{steps:?} breaks {pairs}"),
        Decision::Transform { order, reason, .. } => {
            let node = generate(order.tree(), &scop.context, &AstOptions::default()).unwrap();
            if let Some(params) = sample_params(&scop, &scop.context, 5).unwrap() {
                let node = loops(order.tree(), &scop).unwrap();
                let verdict = verify(&scop, &computed(&scop), &node, &params).unwrap();
                assert!(!matches!(verdict, Verdict::Different { .. }), "{verdict:?}\n{}", node.text(&scop));
            }
            let (tiled, parallel, vectorized) = (order.is_tiled(), order.is_for_threads(), order.is_for_vectors());
            format!("tiled: {tiled}, parallel: {parallel}, vectorized: {vectorized}; {reason}\n{}", node.text(&scop))
        }
    }
}

/// Everything that a plan would run.
fn loops(tree: &Tree, scop: &Scop) -> Result<Node, AstError> {
    let mut node = generate(tree, &scop.context, &AstOptions { max_nodes: 2000 })?;
    own_scalars(&mut node, scop, &tree.private)?;
    let mut node = write_out(node, scop, &apart_points(tree, scop)?);
    note_untouched(&mut node, scop)?;
    Ok(node)
}

fn check_with(sketch: &str, options: &ScheduleOptions, expected: Expect) {
    expected.assert_eq(&chosen(sketch, options));
}

fn check(sketch: &str, expected: Expect) {
    check_with(sketch, &ScheduleOptions::default(), expected);
}

/// Changes bands at random, in ways that are legal; `schedule` is labelled.
fn random_steps(dice: &mut Dice, scop: &Scop, deps: &Dependences, schedule: &Schedule) -> Steps {
    let tree = shape::EstimatedTree::of(&region::EstimatedRegion::of(scop, deps).unwrap(), schedule).unwrap();
    let mut steps = Steps::new();
    tree.shape.for_each_band(&mut |band, members, permutable| {
        for member in members.iter().filter(|m| m.coincident) {
            if dice.roll(3) == 0 {
                steps.push(Step::Reverse { band, member: member.position });
            }
        }
        if permutable && members.len() > 1 && dice.roll(3) > 0 {
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.rotate_left(dice.roll(members.len() as u64) as usize);
            steps.push(Step::Permute { band, order });
            if dice.roll(3) > 0 {
                steps.push(Step::Tile { band, sizes: members.iter().map(|_| 2 + dice.roll(2) as i64).collect() });
            }
            return;
        }
        let by = 2 + dice.roll(2) as i64;
        let free = members.iter().filter(|m| m.coincident && dice.roll(3) == 0);
        steps.extend(free.map(|m| Step::Jam { band, member: m.position, by }));
    });
    steps
}

/// A producer that gets something wrong is told what, in words that a person who wrote the steps can use.
#[test]
fn steps_that_make_no_order_are_refused() {
    let scop = test_scop("for i : 1 <= i < 100\n  for j : 0 <= j < 100\n    read A0[i - 1, j]; write A0[i, j]");
    let deps = dependences(&scop).unwrap();
    let tree = labelled(&scop.schedule).unwrap();
    let refused = |steps: &[Step]| {
        let order = Order::from_steps((Start::Original, &tree), steps, &scop, &deps, None);
        order.map_or_else(|error| error.to_string(), |order| order.history(&Names::of(&scop)).join("; "))
    };
    let [outer, inner] = [0, 1].map(|number| BandId { number, level: 0 });
    let (tile, reverse) = (|band| Step::Tile { band, sizes: vec![8] }, |band| Step::Reverse { band, member: 0 });
    expect!["start with the original order; tile B1 by 8; vectors B1.1"]
        .assert_eq(&refused(&[tile(inner), Step::Vectors { band: inner.points() }]));
    expect!["the order breaks dependences: { S0[i, j] -> S0[i' = 1 + i, j' = j] : 0 < i <= 98 and 0 <= j <= 99 }"]
        .assert_eq(&refused(&[reverse(outer)]));
    expect!["threads B0: the iterations of this loop depend on each other"]
        .assert_eq(&refused(&[Step::Threads { band: outer }]));
    expect!["tile B0 by 8: the order is to be changed before loops are given to threads or vectors"]
        .assert_eq(&refused(&[Step::Threads { band: inner }, tile(outer)]));
    expect!["tile B1.1 by 8: there is no such band"].assert_eq(&refused(&[tile(inner.points())]));
}

fn applied(tree: Tree, steps: &Steps, scop: &Scop) -> Tree {
    steps.iter().fold(tree, |tree, step| step.apply(&tree, scop).unwrap())
}

/// The tree, which must be legal, with exact flags.
fn legal(tree: Tree, scop: &Scop, deps: &Dependences) -> Tree {
    match check_legal(&tree, scop, deps).unwrap() {
        Legality::Legal(legal) => legal.tree().clone(),
        Legality::Violated(pairs) => panic!("{pairs} is broken\n{}\n{:?}", tree.schedule, tree.copies),
    }
}

/// With copies of what some bands read of some arrays.
fn random_packs(dice: &mut Dice, mut tree: Tree, scop: &Scop) -> Tree {
    let mut bands = Vec::new();
    tree.schedule
        .foreach_schedule_node_top_down(|node: &isl::ScheduleNode| -> Result<bool, IslError> {
            bands.extend(label_above(node)?.map(|label| label.band));
            Ok(true)
        })
        .unwrap();
    for band in bands {
        for &array in scop.arrays.keys() {
            let step = Step::Pack { band, array };
            match step.apply(&tree, scop) {
                Ok(packed) if dice.roll(2) == 0 => tree = packed,
                Err(StepError::Isl(error)) => panic!("{step}: {error}\n{}", tree.schedule),
                _ => {}
            }
        }
    }
    tree
}

/// With a copy that is said to be something else than it is.
fn spoilt_copies(dice: &mut Dice, copies: &Copies) -> Copies {
    let mut copies = copies.clone();
    let number = dice.roll(copies.len() as u64) as usize;
    let other = copies[(number + 1) % copies.len()].clone();
    let copy = &mut copies[number];
    match dice.roll(5) {
        0 => copy.cell = copy.cell.fix_si(isl::DimType::Out, 0, 0).unwrap(),
        1 => copy.cells -= 1,
        2 => copy.temporary = other.temporary,
        3 => copy.readers.extend(other.readers),
        _ => {
            let shift =
                isl::Map::read_from_str(copy.cell.ctx(), "{ [t] -> [t + 1] : t mod 2 = 0; [t] -> [t] : t mod 2 = 1 }");
            copy.cell = copy.cell.apply_range(&shift.unwrap()).unwrap();
        }
    }
    copies
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
