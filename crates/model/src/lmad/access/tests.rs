//! Descriptors of the accesses of sketched regions, as text, and against the elements that their relations lead to.

use super::*;
use crate::fixture::{Dice, test_scop};
use crate::names::Names;
use crate::scop::{ParamId, Scop};
use isl::{Map, Point};
use std::collections::{BTreeSet, HashMap};

/// Cells are of 8 bytes. With offsets that are polynomials where sizes are parameters, as the reader has them.
fn region(sketch: &str) -> Scop {
    let mut scop = test_scop(sketch);
    for statement in scop.statements.values_mut() {
        let domain = statement.domain.reset_tuple_id().unwrap();
        // Anything is a function of nothing.
        if domain.is_empty().unwrap() {
            continue;
        }
        for access in &mut statement.accesses {
            let sizes = &scop.arrays[&access.array].inner_sizes;
            let everywhere = access.relation.gist_domain(&statement.domain).unwrap();
            let pieces = everywhere.as_pw_multi_aff().unwrap().pieces().unwrap();
            let subscripts = pieces[0].1.list().unwrap();
            let mut flat = Polynomial::zero();
            for (k, subscript) in subscripts.iter().enumerate() {
                if k > 0 {
                    flat = flat.mul(&sizes[k - 1]).unwrap();
                }
                flat = flat.add(&Polynomial::from_aff(subscript).unwrap().expect("no divisions")).unwrap();
            }
            let pieces = vec![(domain.clone(), flat.scale(8).unwrap())];
            access.offset = Some(Offset::Polynomial(PiecewisePolynomial { pieces }));
        }
    }
    scop
}

fn descriptor(scop: &Scop, statement: &Statement, access: &Access) -> Option<Lmad> {
    Lmad::of_access(statement, access, &scop.given().unwrap()).unwrap()
}

fn text(scop: &Scop) -> String {
    let (names, statement) = (Names::of(scop), &scop.statements[0]);
    let local = names.inside(statement);
    let access = &statement.accesses[0];
    let Some(lmad) = descriptor(scop, statement, access) else { return "none".into() };
    let shown = lmad.shown(8, &|symbol| local.in_isl_text(&symbol.to_string())).expect("in elements");
    format!("{} {:?}", shown.text("A"), shown.mark)
}

/// The cells that base, strides and spans say: all that a report has.
fn cells_of(lmad: &Lmad, params: &[i128]) -> BTreeSet<i128> {
    fn step(lmad: &Lmad, left: usize, at: i128, indices: &mut HashMap<Symbol, i128>, out: &mut Out) {
        let params = out.params;
        let Some(dim) = left.checked_sub(1).map(|k| &lmad.dims[k]) else {
            out.cells.extend((0..lmad.bytes).map(|byte| (at + byte).div_euclid(8)));
            return;
        };
        let mut gone = 0;
        let span = value(&dim.span, indices, params);
        for k in 0.. {
            indices.insert(dim.index, k);
            if gone > span {
                assert!(span < 0, "beyond the span of {dim:?} at {params:?}");
                break;
            }
            step(lmad, left - 1, at + gone, indices, out);
            if gone == span {
                break;
            }
            let stride = value(&dim.stride, indices, params);
            assert!(stride > 0, "{dim:?} at {params:?} ends nowhere");
            gone += stride;
        }
        indices.remove(&dim.index);
    }
    struct Out<'p> {
        params: &'p [i128],
        cells: BTreeSet<i128>,
    }
    fn value(x: &Whole, indices: &HashMap<Symbol, i128>, params: &[i128]) -> i128 {
        let of = |symbol| match symbol {
            Symbol::Var(Var::Param(id)) => params.get(id.index()).copied(),
            other => indices.get(&other).copied(),
        };
        x.at(&of).expect("a value")
    }
    let mut out = Out { params, cells: BTreeSet::new() };
    let base = value(&lmad.base, &HashMap::new(), params);
    step(lmad, lmad.dims.len(), base, &mut HashMap::new(), &mut out);
    out.cells
}

/// The cells that the relation says.
fn touched(scop: &Scop, access: &Access, relation: &Map, params: &[i128]) -> BTreeSet<i128> {
    let equal: Vec<String> = params.iter().enumerate().map(|(k, v)| format!("p{k} = {v}")).collect();
    let names: Vec<String> = (0..params.len()).map(|k| format!("p{k}")).collect();
    let fixed = format!("[{}] -> {{ : {} }}", names.join(", "), equal.join(" and "));
    let cells = relation.intersect_params(&Set::read_from_str(&scop.ctx, &fixed).unwrap()).unwrap().range().unwrap();
    let (mut all, sizes) = (BTreeSet::new(), &scop.arrays[&access.array].inner_sizes);
    let rank = cells.dim(DimType::Set).unwrap();
    cells
        .foreach_point(|point: Point| -> Result<(), IslError> {
            let mut flat = 0;
            for k in 0..rank {
                let at = point.get_coordinate_val(DimType::Set, k)?.to_i128().expect("small");
                let of_param = |var| match var {
                    Var::Param(id) => params[ParamId::index(id)],
                    Var::Counter(_) => unreachable!("sizes are fixed"),
                };
                let size = if k == 0 { 1 } else { sizes[k - 1].at(of_param).expect("small") };
                flat = flat * size + at;
            }
            all.insert(flat);
            Ok(())
        })
        .unwrap();
    all
}

/// How many descriptors there are, and how many of them are exact.
fn compare(sketch: &str) -> (usize, usize) {
    let scop = region(sketch);
    let mut found = (0, 0);
    for statement in scop.statements.values() {
        for access in &statement.accesses {
            let Some(lmad) = descriptor(&scop, statement, access) else { continue };
            found = (found.0 + 1, found.1 + usize::from(lmad.mark == Mark::Exact));
            for params in (-2..=5).flat_map(|a| (-2..=5).map(move |b| [a, b])) {
                let params = &params[..scop.params.len()];
                let meant = touched(&scop, access, &access.relation, params);
                // It is meant for parameters for which there is an instance.
                if meant.is_empty() {
                    continue;
                }
                let said = cells_of(&lmad, params);
                let right = match lmad.mark {
                    Mark::Exact => said == meant,
                    Mark::Over => said.is_superset(&meant),
                    Mark::Under => said.is_subset(&meant),
                };
                assert!(right, "at {params:?}, of {:?}\n{lmad:?}\n{sketch}\nmeant {meant:?}\nsaid {said:?}", lmad.mark);
            }
        }
    }
    found
}

/// (sketch, descriptor of the first access)
const TABLE: &[(&str, &str)] = &[
    // A matrix in rows of a parameter, all of it and one column.
    (
        "context p1 >= 1
         array A0 8 p1
         for i : 0 <= i < p0
           for j : 0 <= j < p1
             read A0[i, j]",
        "A^{1,p1}_{p1-1,p0*p1-p1}+0 Exact",
    ),
    (
        "context p1 >= 4
         array A0 8 p1
         for i : 0 <= i < p0
           read A0[i, 3]",
        "A^{p1}_{p0*p1-p1}+3 Exact",
    ),
    // Every second element, and as many as there are below p0.
    ("for i : 0 <= 2i < p0\n  read A0[2i]", "A^{2}_{2*floor((p0+1)/2)-2}+0 Exact"),
    // Downwards: the base is the lowest address.
    ("for i : 0 <= i < p0\n  read A0[p0 - 1 - i]", "A^{1}_{p0-1}+0 Exact"),
    // A triangle with rows of 1000, below and above the diagonal.
    (
        "array A0 8 1000
         for i : 0 <= i < p0
           for j : 0 <= j <= i
             read A0[i, j]",
        "A^{1,1000}_{i,1000*p0-1000}+0 Exact",
    ),
    (
        "array A0 8 1000
         for i : 0 <= i < p0
           for j : i <= j < p0
             read A0[i, j]",
        "A^{1,1001}_{p0-i-1,1001*p0-1001}+0 Exact",
    ),
    // Only the inner loop moves the address, and the outer one says how far.
    ("for i : 0 <= i < p0\n  for j : 0 <= j <= i\n    read A0[j]", "A^{1}_{p0-1}+0 Exact"),
    // Not a loop that moves it at all.
    ("for i : 0 <= i < p0\n  for j : 0 <= j < p1\n    read A0[j]", "A^{1}_{p1-1}+0 Exact"),
    // A condition cuts a hole.
    ("for i : 0 <= i < p0 and (i <= 2 or i >= 5)\n  read A0[i]", "A^{1}_{p0-1}+0 Over"),
    // No loop moves it.
    ("for i : 0 <= i < p0\n  read A0[7]", "A+7 Exact"),
    // Nobody knows whether p1 is negative.
    ("array A0 8 p1\nfor i : 0 <= i < p0\n  read A0[i, 0]", "none"),
    // A window that moves: the loop begins at the counter around it.
    ("for i : 0 <= i < p0\n  for j : i <= j <= i + 3\n    read A0[j]", "A^{1,1}_{3,p0-1}+0 Exact"),
    // Half as many, rounded down.
    (
        "for i : 0 <= i < p0\n  for j : 0 <= 2j <= i\n    read A0[100i + j]",
        "A^{1,100}_{floor((i)/2),100*p0-100}+0 Exact",
    ),
];

#[test]
fn descriptors_of_accesses() {
    let shown: Vec<String> = TABLE.iter().map(|(sketch, _)| format!("{sketch}\n{}", text(&region(sketch)))).collect();
    let expected: Vec<String> = TABLE.iter().map(|(sketch, expected)| format!("{sketch}\n{expected}")).collect();
    assert_eq!(shown.join("\n\n"), expected.join("\n\n"));
}

#[test]
fn descriptors_are_what_relations_say() {
    for (sketch, _) in TABLE {
        compare(sketch);
    }
}

#[test]
fn descriptors_of_drawn_nests_are_what_relations_say() {
    let mut dice = Dice(0x5eed_1e55);
    let (mut all, mut found, mut exact) = (0, 0, 0);
    for _ in 0..250 {
        let outer =
            dice.one_of(&["0 <= i < p0", "0 <= i <= 3", "0 <= 3i < p0", "p1 <= i < p0", "0 <= i < p0 and i < p1"]);
        let inner = dice.one_of(&[
            "0 <= j < p1",
            "0 <= j <= i",
            "i < j < p0",
            "0 <= j < p1 - i",
            "0 <= 2j <= i + p1",
            "0 <= j < 4 and j <= i",
            "0 <= j <= 2i and 2j <= p0",
            "0 <= j < p0 and j < p1",
            "j = i",
            "i <= 2j <= i + 5",
            "0 <= j < p0 and j != 2",
        ]);
        let innermost =
            dice.one_of(&["0 <= k < 3", "0 <= k <= j", "0 <= k < p1 - j", "i <= k <= j", "0 <= k <= i - j"]);
        let mut subscript = || {
            let mut sum = dice.one_of(&["", "2i", "i", "3i", "-i", "-2i"]).to_string();
            for part in [&["", " + j", " - j", " + 2j", " + 4j"], &["", " + k", " - k", " + 3k", ""]] {
                sum += dice.one_of(part);
            }
            format!("{} {}", sum, dice.one_of(&["+ 1", "+ p0", "+ p1", "- 2 + 0", "+ 0"]))
                .trim_start_matches([' ', '+'])
                .to_string()
        };
        let (first, second) = (subscript(), subscript());
        let place = dice.one_of(&["A0[FIRST]", "A0[FIRST]", "A1[FIRST, SECOND]", "A2[FIRST, SECOND]"]);
        let place = place.replace("FIRST", &first).replace("SECOND", &second);
        let sketch = format!(
            "context p0 <= 99 and p1 >= {}\narray A0 8\narray A1 8 7\narray A2 8 p1\nfor i : {outer}\n  for j : {inner}\n    for k : {innermost}\n      read {place}",
            dice.one_of(&["-9", "0", "1", "2"])
        );
        let count = compare(&sketch);
        (all, found, exact) = (all + 1, found + count.0, exact + count.1);
    }
    // It is no feat to be right about nothing.
    assert!(4 * found >= 2 * all && 3 * exact >= found, "of {all} there are {found}, {exact} of them exact");
}
