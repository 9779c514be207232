//! Everything from dependences to loops, against the checker that uses none of it.

use super::*;

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
    let mut replayed = 0;
    for _ in 0..24 {
        let sketch = random_sketch(&mut dice);
        let scop = test_scop(&sketch);
        let deps = dependences(&scop).unwrap();
        let fusion = if dice.roll(2) == 0 { Fusion::Min } else { Fusion::Max };
        let schedule = Orders::of(&scop, &deps, false, Scalars::InOrder).unwrap().find(fusion).unwrap().unwrap();
        let schedule = labelled(&schedule).unwrap();
        let steps = random_steps(&mut dice, &scop, &deps, &schedule);
        let schedule = legal(&schedule, &steps, &deps);
        let options = AstOptions { max_nodes: 2000 };
        let node = generate(&schedule, &scop.context, &options).unwrap();
        for params in [[5, 4], [3, 6], [1, 1]] {
            match verify(&scop, &computed(&scop), &node, &params).unwrap() {
                Verdict::Same { instances } => replayed += instances,
                verdict => panic!("{verdict:?} at {params:?}\n{sketch}\n{schedule}\n{}", node.text(&scop)),
            }
        }
    }
    assert!(replayed > 1000, "{replayed}");
}
