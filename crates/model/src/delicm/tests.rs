//! The examples of "DeLICM: Scalar Dependence Removal at Zero Memory Cost", as regions with code, and what goes past them.

mod cells;
mod expand;

use super::*;
use crate::dependence::dependences;
use crate::fixture::SUM;
use crate::fixture::test_scop;
use crate::scop::Scop;
use crate::verify::{Verdict, sample_params};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Values are written as words; those that no statement computes are the same everywhere.
#[derive(Default)]
struct Names(HashMap<String, ValueId>);

impl Names {
    fn of(&mut self, name: &str) -> ValueId {
        let next = ValueId(self.0.len() as u32);
        *self.0.entry(name.to_string()).or_insert(next)
    }
}

/// Of an access that was not named yet.
const UNKNOWN: Role = Role::Block(ValueId(u32::MAX));

/// One line per statement, parts separated by `;`, in the order in which they run. `a = load 0` and `store 1 x` name the access by
/// its position; `c = scalar 0` and `scalar 1 c` a scalar's; `x = mul a b` is an operation, `x = div! a b` one that
/// must not be repeated, `x = add+ a b` one whose updates may be reordered.
fn program(scop: &mut Scop, text: &str) -> Program {
    let mut names = Names::default();
    let mut program = Program::default();
    for ((&id, statement), line) in
        scop.statements.iter_mut().zip(text.lines().map(str::trim).filter(|l| !l.is_empty()))
    {
        let mut code = Code::default();
        statement.accesses.iter_mut().for_each(|access| access.role = UNKNOWN);
        for part in line.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let words: Vec<&str> = part.split_whitespace().collect();
            match words[..] {
                ["store", access, value] => {
                    let instruction = names.of(&format!("{id} stores {access}"));
                    let value = names.of(value);
                    statement.accesses[access.parse::<usize>().unwrap()].role = Role::Store { instruction, value };
                    let operation = Operation { operands: vec![value], repeatable: false, update: None };
                    program.origins.insert(instruction, Origin::Operation(operation));
                    code.operations.push(instruction);
                    code.effects.push(instruction);
                }
                ["scalar", access, value] => {
                    statement.accesses[access.parse::<usize>().unwrap()].role =
                        Role::WriteScalar(Some(names.of(value)));
                }
                [value, "=", "scalar", access] => {
                    let value = names.of(value);
                    program.origins.entry(value).or_insert(Origin::Merge);
                    statement.accesses[access.parse::<usize>().unwrap()].role = Role::ReadScalar(value);
                }
                [value, "=", "load", access] => {
                    let value = names.of(value);
                    program.origins.insert(value, Origin::Load { operands: Vec::new() });
                    statement.accesses[access.parse::<usize>().unwrap()].role = Role::Load(value);
                    code.operations.push(value);
                }
                [value, "=", op, ref operands @ ..] => {
                    let operands = operands.iter().map(|o| names.of(o)).collect();
                    let update = op.ends_with('+').then_some((SUM, true));
                    let operation = Operation { operands, repeatable: !op.ends_with('!'), update };
                    let value = names.of(value);
                    program.origins.insert(value, Origin::Operation(operation));
                    code.operations.push(value);
                }
                _ => panic!("{part}"),
            }
        }
        assert!(statement.accesses.iter().all(|access| access.role != UNKNOWN), "{id}: an access has no role");
        program.statements.insert(id, code);
    }
    program
}

struct After {
    scop: Scop,
    outcome: Outcome,
}

/// Moves scalars, and compares by replay at several parameter values.
fn moved(sketch: &str, code: &str) -> After {
    expanded(sketch, code, Expansion::None)
}

/// The same, with memory for what found no element.
fn expanded(sketch: &str, code: &str, expansion: Expansion) -> After {
    let mut before = test_scop(sketch);
    let program = program(&mut before, code);
    let mut scop = before.clone();
    let outcome = delicm(&mut scop, &program, expansion).unwrap();
    if !outcome.statements.is_empty() {
        let mut compared = 0;
        for wish in [-1, 0, 1, 2, 3, 6] {
            let Some(params) = sample_params(&before, &before.context, wish).unwrap() else { continue };
            match replay(&before, &program, &scop, &outcome, &params).unwrap() {
                Verdict::Same { .. } => compared += 1,
                other => panic!("at {params:?}: {other:?}"),
            }
        }
        assert!(compared >= 3, "compared at {compared} parameter values only");
    }
    After { scop, outcome }
}

/// The accesses of all statements, `S0: read A0[i]; …`, without conditions.
fn accesses(scop: &Scop) -> String {
    let mut out = String::new();
    for (id, statement) in &scop.statements {
        let texts: Vec<String> = statement
            .accesses
            .iter()
            .map(|a| {
                let relation = a.relation.gist_domain(&statement.domain).unwrap().gist_params(&scop.context).unwrap();
                let text = relation.to_string();
                let to = text.rsplit("-> ").next().unwrap().trim_end_matches(" }");
                let kind = if a.is_write() { "write" } else { "read" };
                let reduction = if a.update.is_some() { " reduces" } else { "" };
                format!("{kind} {}{reduction}", to.split(" : ").next().unwrap())
            })
            .collect();
        out += &format!("{id}: {}\n", texts.join("; "));
    }
    out
}

const LISTING_1: (&str, &str) = (
    "
    for i : 0 <= i < p0
      write A0[i]
      for k : 0 <= k < p1
        read A0[i]; read A1[i]; read A2[k]; write A0[i]
    ",
    "
    store 0 zero
    c = load 0; a = load 1; b = load 2; ab = mul a b; d = add c ab; store 3 d
    ",
);

/// `{ source -> sink }` of all kinds, with statements renamed.
fn all_dependences(scop: &Scop, names: &[(&str, &str)]) -> isl::UnionMap {
    let found = dependences(scop).unwrap();
    let all = found.flow.union(&found.anti).unwrap().union(&found.output).unwrap();
    let mut renamed = isl::UnionMap::empty_ctx(&scop.ctx).unwrap();
    for map in all.maps().unwrap() {
        let mut map = map;
        for kind in [isl::DimType::In, isl::DimType::Out] {
            let name = map.get_tuple_name(kind).unwrap();
            let to = names.iter().find(|(from, _)| *from == name).map_or(name.as_str(), |(_, to)| to);
            map = map.set_tuple_name(kind, to).unwrap();
        }
        renamed = renamed.union(&isl::UnionMap::from_map(&map).unwrap()).unwrap();
    }
    renamed
}

/// As text: relations of different contexts cannot be compared otherwise.
fn same_dependences(a: &Scop, b: &Scop, names: &[(&str, &str)]) {
    let expected = all_dependences(a, &[]);
    let found = isl::UnionMap::read_from_str(&a.ctx, &all_dependences(b, names).to_string()).unwrap();
    assert!(found.is_equal(&expected).unwrap(), "{found}\nexpected {expected}");
}

#[test]
fn listing_2_a_hoisted_load_is_repeated() {
    let After { scop, outcome } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          write A0[i]
          read A1[i]; write A3[]
          for k : 0 <= k < p1
            read A0[i]; read A3[]; read A2[k]; write A0[i]
        ",
        "
        store 0 zero
        a = load 0; scalar 1 a
        c = load 0; a = scalar 1; b = load 2; ab = mul a b; d = add c ab; store 3 d
        ",
    );
    assert_eq!(accesses(&scop), "S0: write A0[i]\nS2: read A0[i]; read A2[k]; write A0[i]; read A1[i]\n");
    assert_eq!((outcome.counts.forwarded, outcome.counts.reloaded, outcome.counts.mapped), (0, 1, 0));
    assert_eq!((outcome.counts.before, outcome.counts.after), (1, 0));
    same_dependences(&test_scop(LISTING_1.0), &scop, &[("S2", "S1")]);
}

#[test]
fn listing_3_a_sum_moves_into_the_element_that_gets_it() {
    let After { scop, outcome } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          write A3[]
          for k : 0 <= k < p1
            read A3[]; read A1[i]; read A2[k]; write A3[]
          read A3[]; write A0[i]
        ",
        "
        scalar 0 zero
        c = scalar 0; a = load 1; b = load 2; ab = mul a b; d = add+ c ab; scalar 3 d
        e = scalar 0; store 1 e
        ",
    );
    // The store at the end only put back what was there.
    assert_eq!(
        accesses(&scop),
        "S0: write A0[i]\nS1: read A0[i] reduces; read A1[i]; read A2[k]; write A0[i] reduces\n"
    );
    assert_eq!((outcome.counts.mapped, outcome.counts.after), (1, 0));
    let listing_1 = LISTING_1.1.replace("d = add ", "d = add+ ");
    let plain = moved(LISTING_1.0, &listing_1);
    assert!(plain.outcome.statements.is_empty());
    same_dependences(&with_reduction(plain.scop), &scop, &[]);
}

/// Listing 1 with its sum marked as one.
fn with_reduction(mut scop: Scop) -> Scop {
    for k in [0, 3] {
        scop.statements[1].accesses[k].update = Some(SUM);
    }
    scop
}

#[test]
fn listing_4_a_sum_that_is_stored_all_along_is_written_only_where_it_is() {
    // As the compiler leaves it: the loop over k is entered only if it runs at all.
    let After { scop, outcome } = moved(
        "
        context 1 <= p1
        array A3 scalar
        for i : 0 <= i < p0
          write A3[]
          for k : 0 <= k < p1
            read A3[]; read A1[i]; read A2[k]; write A0[i]; write A3[]
        ",
        "
        scalar 0 zero
        c = scalar 0; a = load 1; b = load 2; ab = mul a b; d = add c ab; store 3 d; scalar 4 d
        ",
    );
    assert_eq!(accesses(&scop), "S0: write A0[i]\nS1: read A0[i]; read A1[i]; read A2[k]; write A0[i]\n");
    assert_eq!(outcome.counts.after, 0);
}

#[test]
fn listing_4_with_an_empty_loop_leaves_the_array_untouched() {
    let After { scop, outcome } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          write A3[]
          for k : 0 <= k < p1
            read A3[]; read A1[i]; read A2[k]; write A0[i]; write A3[]
        ",
        "
        scalar 0 zero
        c = scalar 0; a = load 1; b = load 2; ab = mul a b; d = add c ab; store 3 d; scalar 4 d
        ",
    );
    // The first statement runs only where somebody reads what it writes: replay shows that nothing else is written at p1 <= 0.
    let first = scop.statements[0].domain.params().unwrap();
    let nonempty = isl::Set::read_from_str(&scop.ctx, "[p1] -> { : p1 > 0 }").unwrap();
    assert!(first.is_subset(&nonempty).unwrap(), "{first}");
    assert_eq!(outcome.counts.after, 0);
}

#[test]
fn listing_7_a_value_moves_even_if_that_orders_its_uses() {
    let After { scop, .. } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
          read A3[]; write A2[i]
          read A3[]; write A0[i]
        ",
        "
        x = load 0; c = f! x; scalar 1 c
        d = scalar 0; u = g! d; store 1 u
        e = scalar 0; v = g! e; store 1 v
        ",
    );
    // S2 reads it where it stores; so does S1, before.
    let text = accesses(&scop);
    assert!(!text.contains("A3"), "{text}");
}

#[test]
fn a_division_is_repeated_and_what_may_not_be_is_not() {
    for (op, after) in [("div", 0), ("div!", 1)] {
        let After { outcome, .. } = moved(
            "
            array A3 scalar
            for i : 0 <= i < p0
              read A1[i]; write A3[]
              for k : 0 <= k < p1
                read A3[]; read A0[i, k]; write A0[i, k]
            ",
            &format!(
                "
                a = load 0; q = {op} a n; scalar 1 q
                q = scalar 0; x = load 1; y = mul q x; store 2 y
                "
            ),
        );
        assert_eq!(outcome.counts.after, after, "{op}");
    }
}

#[test]
fn a_value_is_not_repeated_for_instances_that_find_another() {
    // for i { if (i > 0) q = A1[i] / n; A0[i] = q; }: in the first iteration nobody divided, and perhaps nobody may.
    let After { outcome, .. } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          for k : k = 0 and i >= 1
            read A1[i]; write A3[]
          read A3[]; write A0[i]
        ",
        "
        a = load 0; q = div a n; scalar 1 q
        q = scalar 0; store 1 q
        ",
    );
    assert_eq!((outcome.counts.forwarded, outcome.counts.after), (0, 1));
}

#[test]
fn a_load_is_not_repeated_if_somebody_wrote_in_between() {
    // for i { a = A1[i]; for k { A1[k] = a * 2; } }: at k = i, A1[i] is overwritten.
    let After { outcome, .. } = moved(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
          for k : 0 <= k < p0
            read A3[]; write A1[k]
        ",
        "
        a = load 0; scalar 1 a
        a = scalar 0; x = mul a two; store 1 x
        ",
    );
    assert_eq!(outcome.counts.after, 1);
}

/// for i { c = 0; for k { c += …; } …; }: the sum stays where it is.
fn sum_stays(summed: &str, end: &str, ending: &str) {
    let After { outcome, .. } = moved(
        &format!(
            "
            array A3 scalar
            for i : 0 <= i < p0
              write A3[]
              for k : 0 <= k < p0
                read A3[]; read {summed}; write A3[]
              read A3[]; {end}
            "
        ),
        &format!(
            "
            scalar 0 zero
            c = scalar 0; b = load 1; d = add c b; scalar 2 d
            e = scalar 0; {ending}
            "
        ),
    );
    assert_eq!((outcome.counts.mapped, outcome.counts.after), (0, 2));
}

#[test]
fn a_sum_stays_if_the_old_content_of_its_element_is_needed() {
    sum_stays("A1[k]", "read A0[i]; write A0[i]", "o = load 1; x = mul o e; store 2 x");
}

#[test]
fn a_sum_stays_if_its_element_is_read_meanwhile() {
    // At k = i the element that would hold the sum is read.
    sum_stays("A0[k]", "write A0[i]", "store 1 e");
}

/// Elements of 8 bytes in an array that is divided into cells of 4, because half an element is read somewhere.
fn sum_into_halves(read_meanwhile: &str) -> After {
    moved(
        &format!(
            "
            array A0 4
            array A3 scalar
            for i : 0 <= i < p0
              write A3[]
              for k : 0 <= k < p1
                read A3[]; read A1[k]; {read_meanwhile}; write A3[]
              read A3[]; write A0[2i # 2]
            for l : 0 <= l < p0
              read A0[2l + 1]; write A2[l]
            "
        ),
        "
        scalar 0 zero
        c = scalar 0; b = load 1; h = load 2; bh = mul b h; d = add c bh; scalar 3 d
        e = scalar 0; store 1 e
        x = load 0; store 1 x
        ",
    )
}

#[test]
fn a_sum_moves_into_an_element_of_several_cells() {
    let After { scop, outcome } = sum_into_halves("read A4[k]");
    assert_eq!((outcome.counts.mapped, outcome.counts.after), (1, 0));
    let element = "{ [i] -> A0[e] : 2i <= e <= 2i + 1 }";
    let element = isl::Map::read_from_str(&scop.ctx, element).unwrap();
    let write = &scop.statements[&StatementId(0)].accesses[0].relation;
    let expected = element.set_tuple_name(isl::DimType::In, "S0").unwrap().intersect_domain(&write.domain().unwrap());
    assert!(expected.unwrap().is_equal(write).unwrap(), "{write}");
}

#[test]
fn a_sum_stays_if_half_of_its_element_is_read_meanwhile() {
    let After { outcome, .. } = sum_into_halves("read A0[2i + 1]");
    assert_eq!((outcome.counts.mapped, outcome.counts.after), (0, 2));
    let After { outcome, .. } = sum_into_halves("read A0[2i - 1]");
    assert_eq!((outcome.counts.mapped, outcome.counts.after), (1, 0), "the element before");
}

#[test]
fn a_register_that_carries_an_element_to_the_next_iteration_is_loaded_again() {
    // b = A1[0]; for i { c = A1[i + 1]; A0[i] = b + c; b = c; }
    let After { scop, outcome } = moved(
        "
        context 1 <= p0
        array A3 scalar
        for t : 0 <= t < p1
          read A1[t, 0]; write A3[]
          for i : 0 <= i < p0
            read A3[]; read A1[t, i + 1]; write A0[t, i]; write A3[]
        ",
        "
        a = load 0; scalar 1 a
        b = scalar 0; c = load 1; s = add b c; store 2 s; scalar 3 c
        ",
    );
    assert_eq!(accesses(&scop), "S1: read A1[t, 1 + i]; write A0[t, i]; read A1[t, i]\n");
    assert_eq!((outcome.counts.reloaded, outcome.counts.after), (1, 0));
}

#[test]
fn a_constant_before_the_first_iteration_makes_two_statements() {
    // p = 0; for i { x = A1[t, i] + p; A0[t, i] = x; p = x; }
    let After { scop, outcome } = moved(
        "
        array A3 scalar
        for t : 0 <= t < p1
          write A3[]
          for i : 0 <= i < p0
            read A3[]; read A1[t, i]; write A0[t, i]; write A3[]
        ",
        "
        scalar 0 zero
        p = scalar 0; a = load 1; x = add p a; store 2 x; scalar 3 x
        ",
    );
    assert_eq!(outcome.counts.after, 0, "{}", accesses(&scop));
    let text = accesses(&scop);
    assert!(text.contains("S2: ") && text.contains("read A0[t, -1 + i]"), "{text}");
}

#[test]
fn of_what_is_needed_behind_the_region_the_last_is_computed() {
    // for i { s = A1[i]; }, and the same where the last one comes from somewhere else if there are two iterations.
    let ends = |sketch: &str, code: &str| {
        let mut before = test_scop(sketch);
        before.arrays[&crate::scop::ArrayId(3)].live_out = true;
        let program = program(&mut before, code);
        let mut scop = before.clone();
        let outcome = delicm(&mut scop, &program, Expansion::None).unwrap();
        for params in [[0, 0], [1, 0], [2, 1], [5, 3]] {
            let same = replay(&before, &program, &scop, &outcome, &params[..before.params.len()]).unwrap();
            assert!(matches!(same, Verdict::Same { .. }), "{params:?}: {same:?}");
        }
        let domains: Vec<String> =
            scop.statements.values().map(|s| s.domain.gist_params(&scop.context).unwrap().to_string()).collect();
        (outcome.counts.before, outcome.counts.after, domains.join(" "))
    };
    let once = ends(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
        ",
        "a = load 0; scalar 1 a",
    );
    assert_eq!(once, (1, 0, "[p0] -> { S0[i = -1 + p0] : p0 > 0 }".into()));
    let overwritten = ends(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
        for j : 0 <= j < p1
          may A3[]
        for j : 2 <= j < p0
          read A2[j]; write A3[]
        ",
        "
        a = load 0; scalar 1 a
        scalar 0 x
        b = load 0; scalar 1 b
        ",
    );
    assert_eq!((overwritten.0, overwritten.1), (3, 1), "{}", overwritten.2);
    let in_vain = ends(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
        write A3[]
        ",
        "
        a = load 0; scalar 1 a
        scalar 0 x
        ",
    );
    assert_eq!(in_vain, (1, 0, "[p0] -> { S1[] }".into()));
}

#[test]
fn what_is_found_elsewhere_in_the_region_is_computed_once_for_behind_it() {
    let mut before = test_scop(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
          read A3[]; write A0[i]
        ",
    );
    before.arrays[&crate::scop::ArrayId(3)].live_out = true;
    let program = program(
        &mut before,
        "
        a = load 0; scalar 1 a
        b = scalar 0; store 1 b
        ",
    );
    let mut scop = before.clone();
    let outcome = delicm(&mut scop, &program, Expansion::None).unwrap();
    assert_eq!((outcome.counts.before, outcome.counts.after), (1, 0), "{}", accesses(&scop));
    assert!(scop.statements[0].domain.is_singleton().unwrap() && !scop.statements[1].domain.is_singleton().unwrap());
    let same = replay(&before, &program, &scop, &outcome, &[4]).unwrap();
    assert!(matches!(same, Verdict::Same { .. }), "{same:?}");
}

#[test]
fn replay_sees_a_value_that_went_wrong() {
    let mut before = test_scop(
        "
        array A3 scalar
        for i : 0 <= i < p0
          read A1[i]; write A3[]
          read A3[]; write A0[i]
        ",
    );
    let program = program(
        &mut before,
        "
        a = load 0; scalar 1 a
        b = scalar 0; store 1 b
        ",
    );
    let mut scop = before.clone();
    let mut outcome = delicm(&mut scop, &program, Expansion::None).unwrap();
    let good = replay(&before, &program, &scop, &outcome, &[4]).unwrap();
    assert!(matches!(good, Verdict::Same { instances } if instances > 0), "{good:?}");
    // The element beside the right one.
    let mut changes: IndexMap<_, _> = outcome.statements.clone();
    for changed in changes.values_mut() {
        for fetch in &mut changed.fetched {
            if let Fetch::Load { element, .. } = fetch {
                element.offset = element.offset.add(&crate::polynomial::Polynomial::constant(8)).unwrap();
            }
        }
    }
    outcome.statements = changes;
    let bad = replay(&before, &program, &scop, &outcome, &[4]).unwrap();
    assert!(matches!(bad, Verdict::Different { .. }), "{bad:?}");
}

#[test]
fn a_recurrence_is_not_cut_iteration_by_iteration() {
    // for i { s = 1; for k { A0[i] = s; s = s * 0.5; } }
    let After { scop, outcome } = moved(
        "
        array A1 scalar
        for i : 0 <= i < p0
          write A1[]
          for k : 0 <= k < p1
            read A1[]; write A0[i]; write A1[]
        ",
        "
        scalar 0 one
        s = scalar 0; store 1 s; t = mul s half; scalar 2 t
        ",
    );
    assert!(scop.statements.len() <= 3, "{}", accesses(&scop));
    assert_eq!(outcome.counts.mapped, 0);
}
