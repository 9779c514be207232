//! Everything from dependences to loops, against the checker that uses none of it.

use super::scalars::{random_sketch_with_scalars, random_tree};
use super::*;
use crate::dependence::value_dependences;
use crate::loop_ast::AstError;
use crate::scop::{AccessKind, StatementId};

/// One or two loop nests of depth 2 or 3 over two small arrays, with enough coupling to make schedules interesting.
fn random_sketch(dice: &mut Dice) -> String {
    let mut sketch = String::from("context 1 <= p0 <= 6\ncontext 1 <= p1 <= 6\n");
    for _ in 0..1 + dice.roll(2) {
        sketch += "for i : 0 <= i < p0\n";
        if dice.roll(3) == 0 {
            sketch += " write A0[i, 0]; read A1[i, 1]\n";
        }
        sketch += dice.one_of(&[" for j : 0 <= j < p1\n", " for j : 0 <= j <= i\n", " for j : i <= j < p1 + 2\n"]);
        let deep = dice.roll(2) == 0;
        for _ in 0..1 + dice.roll(2) {
            if deep {
                sketch += "  for k : 0 <= k < 3\n ";
            }
            let subscripts =
                ["i, j", "j, i", "i, j - 1", "i - 1, j + 1", "j, i + 1", "i + 1, j", "0, j", "i, 0", "i + j, j"];
            let kind = dice.one_of(&["write", "write", "write", "update", "may"]);
            sketch += &format!("  read A{}[{}]; ", dice.roll(2), dice.one_of(&subscripts));
            sketch += &format!("{kind} A{}[{}]\n", dice.roll(2), dice.one_of(&subscripts));
        }
    }
    sketch
}

/// Dependences, scheduler, tiling, coincidence and loop generation against the checker that uses none of them.
#[test]
fn random_nests_in_random_orders_compute_the_same() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut replayed, mut copied) = (0, 0);
    for _ in 0..24 {
        let sketch = random_sketch(&mut dice);
        let scop = test_scop(&sketch);
        let deps = dependences(&scop).unwrap();
        let fusion = if dice.roll(2) == 0 { Fusion::Min } else { Fusion::Max };
        let schedule = Orders::of(&scop, &deps).unwrap().find(fusion).unwrap().unwrap();
        let schedule = labelled(&schedule).unwrap();
        let steps = random_steps(&mut dice, &scop, &deps, &schedule);
        let tree = random_packs(&mut dice, applied(schedule.into(), &steps, &scop), &scop);
        copied += usize::from(!tree.copies.is_empty());
        let tree = legal(tree, &scop, &deps);
        let node = loops(&tree, &scop).unwrap();
        for params in [[5, 4], [3, 6], [1, 1]] {
            match verify(&scop, &computed(&scop), &node, &params).unwrap() {
                Verdict::Same { instances } => replayed += instances,
                verdict => panic!("{verdict:?} at {params:?}\n{sketch}\n{}\n{}", tree.schedule, node.text(&scop)),
            }
        }
    }
    assert!(replayed > 1000 && copied > 5, "{replayed} instances, copies in {copied} nests");
}

/// Which orders are tried: the environment variable ORDERS, as in `2000..4000`, or these. Each depends on its number alone.
const ORDERS: std::ops::Range<u64> = 0..400;

fn orders() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("ORDERS") else { return ORDERS };
    let (from, to) = asked.split_once("..").unwrap_or(("0", &asked));
    from.parse().unwrap()..to.parse().unwrap()
}

/// Trees of any kind, most of them wrong. What is said to be legal computes the same; what is refused and computes the same all the
/// same breaks no flow of values from a certain write to an instance that somebody needs. Updates are no such writes: all their conflicts
/// are kept, not only those that carry a value.
#[test]
fn legal_orders_compute_the_same_and_refused_ones_have_a_reason() {
    let orders = orders();
    let count = orders.end - orders.start;
    let (mut legal, mut copied, mut wrong, mut strict, mut too_large, mut disordered) = (0, 0, 0, 0, 0, 0);
    for number in orders {
        let mut dice = Dice(0xA076_1D64_78BD_642F ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let sketch = if dice.roll(3) == 0 { random_sketch_with_scalars(&mut dice) } else { random_sketch(&mut dice) };
        let sketch = sketch.replace("p0", "5").replace("p1", "4");
        let sketch: String = sketch.lines().filter(|l| !l.starts_with("context")).map(|l| format!("{l}\n")).collect();
        let scop = test_scop(&sketch);
        let found = dependences(&scop).and_then(|deps| Ok((deps, value_dependences(&scop)?.flow)));
        let (deps, values) = match found {
            Err(error) if error.is_out_of_budget() => {
                too_large += 1;
                continue;
            }
            other => other.unwrap(),
        };
        let mut tree: Tree = labelled(&random_order(&mut dice, &scop, &deps)).unwrap().into();
        if dice.roll(3) == 0 {
            tree = random_jam(&mut dice, tree, &scop);
        }
        // Copies change nothing in the order of the others.
        let times = tree.schedule.get_map().unwrap();
        if dice.roll(2) == 0 {
            tree = random_packs(&mut dice, tree, &scop);
        }
        let has_copies = !tree.copies.is_empty();
        let is_spoilt = has_copies && dice.roll(3) == 0;
        if is_spoilt {
            tree.copies = spoilt_copies(&mut dice, &tree.copies);
        }
        let verdict = check_legal(&tree, &scop, &deps).unwrap();
        let tree = match &verdict {
            Legality::Legal(legal) => legal.tree(),
            Legality::Violated(_) => &tree,
        };
        let node = match loops(tree, &scop) {
            // A cell that does not exist has no number.
            Err(_) if is_spoilt && matches!(verdict, Legality::Violated(_)) => continue,
            // isl got it wrong in all ways, and it was noticed; or left a loop out that is needed.
            Err(AstError::Wrong { .. } | AstError::Alone { .. }) => {
                disordered += 1;
                continue;
            }
            other => other.unwrap(),
        };
        let same = match verify(&scop, &computed(&scop), &node, &[]).unwrap() {
            Verdict::Same { .. } => true,
            Verdict::Different { .. } => false,
            Verdict::TooLarge => {
                too_large += 1;
                continue;
            }
        };
        let shown = || format!("{sketch}\n{}\n{:?}\n{}", tree.schedule, tree.copies, node.text(&scop));
        match &verdict {
            Legality::Legal(_) => {
                assert!(same, "{}", shown());
                legal += 1;
                copied += u64::from(has_copies);
            }
            Legality::Violated(_) if !same => wrong += 1,
            Legality::Violated(pairs) => {
                strict += 1;
                let mut broken = pairs.intersect(&values).unwrap();
                if !is_spoilt {
                    // What the tree leaves open may go well.
                    broken = broken.intersect(&times.lex_gt_union_map(&times).unwrap()).unwrap();
                }
                if !broken.is_empty().unwrap() {
                    broken = broken.intersect_range(&needed(&sketch, &scop.ctx)).unwrap();
                }
                for map in broken.maps().unwrap() {
                    let name = map.get_tuple_name(isl::DimType::In).unwrap();
                    let source = &scop.statements[&StatementId::from_isl_name(&name).unwrap()];
                    let may = source.accesses.iter().any(|a| a.kind == AccessKind::MayWrite || a.update.is_some());
                    assert!(may, "{map} is broken, and nothing changes\n{}", shown());
                }
            }
        }
    }
    assert!(
        legal * 20 > count
            && copied * 80 > count
            && wrong * 4 > count
            && strict > 0
            && too_large * 50 < count
            && disordered * 100 <= count,
        "{legal} legal, {copied} of them with copies, {wrong} wrong, {strict} too strict, {too_large} too large to tell, \
         {disordered} without loops"
    );
}

/// Iterations of some loop side by side, whatever it carries.
fn random_jam(dice: &mut Dice, tree: Tree, scop: &Scop) -> Tree {
    let mut bands = Vec::new();
    let visit = |node: &isl::ScheduleNode| -> Result<bool, isl::IslError> {
        if let Some(label) = label_above(node)?.filter(|label| label.jam.is_none()) {
            bands.push((label.band, node.band_n_member()?));
        }
        Ok(true)
    };
    tree.schedule.foreach_schedule_node_top_down(visit).unwrap();
    let (band, members) = bands[dice.roll(bands.len() as u64) as usize];
    let step = Step::Jam { band, member: dice.roll(members as u64) as usize, by: 2 + dice.roll(2) as i64 };
    step.apply(&tree, scop).unwrap()
}

/// The instances of which something is left in the arrays at the end, or that such an instance gets a value from.
fn needed(sketch: &str, ctx: &isl::Ctx) -> isl::UnionSet {
    let all = "for i : -20 <= i < 20\n for j : -20 <= j < 20\n  read A0[i, j]; read A1[i, j]\n";
    let scop = test_scop(&format!("{sketch}{all}"));
    let flow = value_dependences(&scop).unwrap().flow;
    let mut needed = isl::UnionSet::from_set(&scop.statements.values().last().unwrap().domain).unwrap();
    loop {
        let more = needed.union(&flow.intersect_range(&needed).unwrap().domain().unwrap()).unwrap();
        if more.is_subset(&needed).unwrap() {
            return isl::UnionSet::read_from_str(ctx, &needed.to_string()).unwrap();
        }
        needed = more;
    }
}

/// isl's scheduler takes minutes for some regions.
const ATTEMPT: isl::Budget = isl::Budget { name: "schedule", operations: 100_000, steps: isl::STEPS_OF_A_SECOND };

/// Either isl's order with random steps, one loop reversed whatever it carries, or any tree.
fn random_order(dice: &mut Dice, scop: &Scop, deps: &Dependences) -> Schedule {
    let is_flat = scop.statements.values().all(|s| s.domain.dim(isl::DimType::Set).unwrap() >= 2);
    if is_flat && dice.roll(3) > 0 {
        return random_tree(dice, scop);
    }
    let orders = Orders::of(scop, deps).unwrap();
    let found = match scop.ctx.within(ATTEMPT, || orders.find(Fusion::Max)) {
        Err(error) if error.is_out_of_budget() => None,
        found => found.unwrap(),
    };
    let schedule = labelled(&found.unwrap_or_else(|| scop.schedule.clone())).unwrap();
    let mut steps = random_steps(dice, scop, deps, &schedule);
    let tree = shape::EstimatedTree::of(&region::EstimatedRegion::of(scop, deps).unwrap(), &schedule).unwrap();
    let wrong = dice.roll(6);
    let mut at = 0;
    tree.shape.for_each_band(&mut |band, members, _| {
        for member in members {
            if at == wrong {
                steps.insert(0, Step::Reverse { band, member: member.position });
            }
            at += 1;
        }
    });
    applied(schedule.into(), &steps, scop).schedule
}
