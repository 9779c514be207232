//! The examples of the article, as corrected, before and after; and what it leaves to intuition.

use super::*;
use crate::loop_ast::Expr;
use crate::scop::ParamId;
use std::collections::HashMap;

/// Parameters and counters by their names.
const PARAMS: [&str; 6] = ["n", "m", "l", "u", "J", "b"];
const COUNTERS: [&str; 4] = ["i", "j", "k", "h"];

fn name(symbol: Symbol) -> String {
    match symbol {
        Symbol::Var(Var::Param(id)) => PARAMS[id.index()].into(),
        Symbol::Var(Var::Counter(d)) => COUNTERS.get(d as usize).map_or_else(|| format!("c{d}"), |c| c.to_string()),
        Symbol::Opaque(_) => symbol.to_string(),
    }
}

fn symbol(name: &str) -> Symbol {
    if let Some(k) = PARAMS.iter().position(|p| *p == name) {
        return Symbol::param(ParamId(k as u32));
    }
    Symbol::counter(COUNTERS.iter().position(|c| *c == name).unwrap_or_else(|| panic!("{name}")))
}

/// `n*n + 2*i - 3`, `2^J`, and a divisor behind all of it: `i*i + i / 2`.
fn whole(text: &str) -> Whole {
    let text = text.replace(' ', "");
    let (text, by) = text.split_once('/').map_or((text.as_str(), 1), |(text, by)| (text, by.parse().unwrap()));
    let mut sum = Whole::zero();
    for term in text.replace('-', "+-").split('+').filter(|term| !term.is_empty()) {
        let (sign, term) = term.strip_prefix('-').map_or((1, term), |rest| (-1, rest));
        let mut product = Whole::constant(sign);
        for factor in term.split('*') {
            let factor = match (factor.parse::<i128>(), factor.strip_prefix("2^")) {
                (Ok(number), _) => Whole::constant(number),
                (_, Some(exponent)) => Whole::symbol(symbol(exponent)).power_of_two().unwrap(),
                _ => Whole::symbol(symbol(factor)),
            };
            product = product.mul(&factor).unwrap();
        }
        sum = sum.add(&product).unwrap();
    }
    Whole::fraction(sum.over().clone(), by).unwrap()
}

/// `0 <= x` for each.
fn facts(known: &[&str]) -> Facts {
    let mut facts = Facts::new();
    known.iter().for_each(|text| facts.know(&whole(text)));
    facts
}

/// Loops from the inside, each with its last iteration.
fn nest(offset: &str, loops: &[(&str, &str)], known: &[&str]) -> Lmad {
    let mut ground = Ground::proved(facts(known));
    let loops: Vec<Loop> = loops.iter().map(|(index, last)| Loop { index: symbol(index), last: whole(last) }).collect();
    Lmad::of_nest(whole(offset), 1, &loops, &mut ground).expect("monotonic")
}

#[track_caller]
fn shows(lmad: &Lmad, expected: &str) {
    assert_eq!(lmad.shown(1, &name).expect("in elements").text("A"), expected);
}

#[track_caller]
fn simplifies(lmad: &Lmad, known: &[&str], expected: &str) -> Lmad {
    let simple = lmad.simplified(&mut Ground::proved(facts(known))).unwrap();
    shows(&simple, expected);
    assert_eq!(simple.mark(), Mark::Exact);
    simple
}

/// Numbers: base, and stride and last of each dimension.
fn regular(base: i128, steps: &[(i128, i128)]) -> Lmad {
    let steps: Vec<_> = steps.iter().map(|&(s, m)| (Whole::constant(s), Whole::constant(m))).collect();
    Lmad::regular(Whole::constant(base), &steps, 1).unwrap()
}

fn holds(condition: &Answer, params: &[i128]) -> bool {
    match condition {
        Answer::Proved => true,
        Answer::Under(expr) => expr.evaluate(params, &HashMap::new()).is_some_and(|value| value != 0),
        Answer::Unknown => false,
    }
}

fn union_of(all: &[&Lmad], ground: &mut Ground) -> Region {
    let mut region = Region::nothing(Side::May);
    all.iter().for_each(|lmad| region.add(lmad, ground));
    region.simplify(ground);
    region
}

const N: &[&str] = &["n - 1"];

#[test]
fn figure_2_the_diagonal_and_all_of_a_matrix() {
    shows(&nest("n*i + 2*i", &[("i", "n")], N), "A^{n+2}_{n*n+2*n}+0");
    let rows = nest("n*i + i + j", &[("j", "n"), ("i", "n")], N);
    shows(&rows, "A^{1,n+1}_{n,n*n+n}+0");
    simplifies(&rows, N, "A^{1}_{n*n+2*n}+0");
}

#[test]
fn figure_3_two_that_are_isomorphic_are_one_if_the_second_begins_in_the_first() {
    let (first, second) =
        (nest("8*i + j", &[("j", "n"), ("i", "n")], N), nest("i + 8*j + l", &[("j", "n"), ("i", "n")], N));
    shows(&first, "A^{1,8}_{n,8*n}+0");
    shows(&second, "A^{8,1}_{8*n,n}+l");
    assert!(first.isomorphic(&second, &facts(N)).is_proved());
    let equal = first.equivalent(&second, &facts(N));
    assert!(holds(&equal, &[20, 0, 0]) && !holds(&equal, &[20, 0, 1]));

    let mut ground = Ground::assuming(facts(N));
    let both = first.union(&second, &mut ground).expect("contiguous");
    shows(&both.normalised(&facts(N)).unwrap(), "A^{1,8}_{n+l,8*n}+0");
    for n in 1..=5 {
        for l in -2..=n + 3 {
            assert_eq!(holds(ground.condition(), &[n, 0, l]), 0 <= l && l <= n + 1, "{n} {l}");
        }
    }
    assert!(first.union(&second, &mut Ground::proved(facts(N))).is_none());
    let known = &["n - 1", "l", "n + 1 - l"];
    let both = first.union(&second, &mut Ground::proved(facts(known))).expect("known to be contiguous");
    assert_eq!(both.mark(), Mark::Exact);
}

#[test]
fn figure_3_the_triangle_is_one_run() {
    let triangle = nest("i*i + i + 2*j / 2", &[("j", "i"), ("i", "n")], N);
    shows(&triangle, "A^{1,i+1}_{i,(n*n+n)/2}+0");
    simplifies(&triangle, N, "A^{1}_{(n*n+3*n)/2}+0");
    // Without its diagonal, also where there is nothing but the diagonal.
    let strict = nest("i*i - i + 2*j / 2", &[("j", "i - 1"), ("i", "n")], &["n"]);
    simplifies(&strict, &["n"], "A^{1}_{(n*n+n)/2-1}+0".replace("(n*n+n)/2-1", "(n*n+n-2)/2").as_str());
}

#[test]
fn figure_6_three_ways_to_walk_through_twelve_elements() {
    let sparse = nest("3*i + j + 1", &[("j", "2"), ("i", "3")], &[]);
    shows(&sparse, "A^{1,3}_{2,9}+1");
    let dense = simplifies(&sparse, &[], "A^{1}_{11}+1");
    let other = regular(1, &[(1, 1), (2, 5)]);
    shows(&other, "A^{1,2}_{1,10}+1");
    for (a, b) in [(&sparse, &other), (&sparse, &dense), (&other, &dense)] {
        assert!(a.equivalent(b, &Facts::new()).is_proved());
    }
    assert_eq!(dense.shown(1, &name).unwrap().triplet("a").as_deref(), Some("a(1:12:1)"));
    assert_eq!(sparse.shown(1, &name).unwrap().triplet("a"), None);
}

#[test]
fn figure_7_unrolled_steps_take_turns() {
    // Iteration k is i = l + 6k, so that the last one is ⌊(u − l)/6⌋.
    let last = whole("u - l").floor_div(6).unwrap();
    let part = |by: i128| {
        let base = whole("l").plus(by).unwrap();
        Lmad::regular(base, &[(Whole::constant(6), last.clone())], 1).unwrap()
    };
    let parts = [part(0), part(2), part(4)];
    shows(&parts[1], "A^{6}_{6*floor((u-l)/6)}+l+2");
    let mut ground = Ground::proved(facts(&[]));
    let all = union_of(&[&parts[2], &parts[0], &parts[1]], &mut ground);
    let [all] = all.parts() else { panic!("{all:?}") };
    shows(all, "A^{2}_{6*floor((u-l)/6)+4}+l");
    assert_eq!(all.mark(), Mark::Exact);

    // As it is printed, which is right where 6 divides u − l.
    let printed =
        Lmad::regular(whole("l"), &[(Whole::constant(2), whole("u - l + 4").floor_div(2).unwrap())], 1).unwrap();
    let same = all.equivalent(&printed, &facts(&["u - l"]));
    for u in 0..=30 {
        for l in 0..=u {
            let params = [0, 0, l, u];
            assert!(!holds(&same, &params) || (u - l) % 6 <= 1, "{l} {u}");
            assert!(holds(&same, &params) || (u - l) % 6 != 0, "{l} {u}");
        }
    }
    // And back, with another number of turns.
    let four = all.interleave(0, 4).unwrap();
    let mut ground = Ground::proved(facts(&[]));
    let again = union_of(&four.iter().collect::<Vec<_>>(), &mut ground);
    assert_eq!(again.parts(), std::slice::from_ref(all));
}

#[test]
fn figure_8_four_that_are_one() {
    let all = [
        nest("5*i + 1", &[("i", "3")], &[]),
        nest("k + 5*i + 2", &[("k", "1"), ("i", "3")], &[]),
        nest("5*i + j + 3", &[("j", "3"), ("i", "3")], &[]),
        nest("5*i + 4", &[("i", "3")], &[]),
    ];
    for (lmad, expected) in all.iter().zip(["A^{5}_{15}+1", "A^{1,5}_{1,15}+2", "A^{1,5}_{3,15}+3", "A^{5}_{15}+4"]) {
        shows(lmad, expected);
    }
    let mut ground = Ground::proved(Facts::new());
    let two = all[1].union(&all[2], &mut ground).expect("contiguous");
    shows(&two, "A^{1,5}_{4,15}+2");
    assert!(all[3].contained_in(&all[2], &Facts::new()).is_proved());
    // The first and the third have a gap between them.
    let one_and_three = all[0].contiguous_with(&all[2]);
    assert!(!one_and_three);
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 3, 1], [2, 0, 1, 3]];
    for order in orders {
        let region = union_of(&order.map(|k| &all[k]), &mut ground);
        let [one] = region.parts() else { panic!("{order:?}: {region:?}") };
        shows(one, "A^{1}_{20}+1");
        assert_eq!(region.mark(), Mark::Exact);
    }
}

impl Lmad {
    fn contiguous_with(&self, other: &Lmad) -> bool {
        self.union(other, &mut Ground::proved(Facts::new())).is_some_and(|joined| joined.dims().len() <= 2)
    }
}

#[test]
fn figure_9_direction_makes_no_difference() {
    let (down, up) =
        (nest("-i + 4*j + 4", &[("i", "2"), ("j", "3")], &[]), nest("i + 4*j + 2", &[("i", "2"), ("j", "3")], &[]));
    shows(&down, "A^{1,4}_{2,12}+2");
    shows(&up, "A^{1,4}_{2,12}+2");
    assert!(down.equivalent(&up, &Facts::new()).is_proved());
}

#[test]
fn an_outer_index_that_runs_downwards() {
    let lmad = nest("-i + j", &[("j", "i"), ("i", "n")], N);
    simplifies(&lmad, N, "A^{1}_{n}-n");
}

#[test]
fn an_inner_bound_moves_the_base() {
    // a(j), i ≤ j ≤ n: the stride of i with j fixed is 0.
    let lmad = nest("i + j", &[("j", "n - i"), ("i", "n")], N);
    shows(&lmad, "A^{1,1}_{n-i,n}+0");
    simplifies(&lmad, N, "A^{1}_{n}+0");
}

#[test]
fn figure_13_both_regions_are_the_whole_array() {
    let known = &["J"];
    let access = |offset: &str| nest(offset, &[("k", "2^J - 1"), ("i", "1")], known);
    let written = [access("2*k + 2*i*2^J"), access("2*k + 1 + 2*i*2^J")];
    shows(&written[0], "A^{2,2^(J+1)}_{2^(J+1)-2,2^(J+1)}+0");
    let read = [access("k + 2*i*2^J"), access("k + 2^J + 2*i*2^J")];
    let mut ground = Ground::proved(facts(known));
    for pair in [&written, &read] {
        let region = union_of(&[&pair[0], &pair[1]], &mut ground);
        let [one] = region.parts() else { panic!("{region:?}") };
        shows(one, "A^{1}_{2^(J+2)-1}+0");
        assert_eq!(region.mark(), Mark::Exact);
    }
    // What is read was written before.
    let mut certain = Region::nothing(Side::Must);
    written.iter().for_each(|lmad| certain.add(lmad, &mut ground));
    certain.simplify(&mut ground);
    let read = union_of(&[&read[0], &read[1]], &mut ground);
    assert!(read.covered_by(&certain, &facts(known)).is_proved());
}

#[test]
fn figure_13_with_a_counter_for_the_stage() {
    // The loops over k and i are in one over h, the stage: 0 ≤ h ≤ n.
    let mut ground = Ground::proved(facts(N).and_counter(symbol("h"), &whole("n")));
    let access = |offset: &str, ground: &mut Ground| {
        let loops =
            [Loop { index: symbol("k"), last: whole("2^h - 1") }, Loop { index: symbol("i"), last: whole("1") }];
        Lmad::of_nest(whole(offset), 1, &loops, ground).unwrap()
    };
    let both = [access("k + 2*i*2^h", &mut ground), access("k + 2^h + 2*i*2^h", &mut ground)];
    let stage = union_of(&[&both[0], &both[1]], &mut ground);
    shows(&stage.parts()[0], "A^{1}_{2^(h+2)-1}+0");
    let mut ground = Ground::proved(facts(N));
    let all = stage.expand(&Loop { index: symbol("h"), last: whole("n") }, &mut ground);
    let [all] = all.parts() else { panic!("{all:?}") };
    shows(all, "A^{1}_{2^(n+2)-1}+0");
    assert_eq!(all.mark(), Mark::Exact);
}

#[test]
fn fields_that_were_unrolled_are_one_access() {
    let fields: Vec<Lmad> = (0..5)
        .map(|m| {
            let base = whole("40*i").plus(8 * m).unwrap();
            let around = Loop { index: symbol("i"), last: whole("n") };
            Lmad::element(base, 8).expand(&around, &mut Ground::proved(facts(N))).unwrap()
        })
        .collect();
    for count in [5, 3] {
        let mut ground = Ground::proved(facts(N));
        let region = union_of(&fields[..count].iter().collect::<Vec<_>>(), &mut ground);
        let [one] = region.parts() else { panic!("{region:?}") };
        let expected = if count == 5 { "A^{1}_{5*n+4}+0" } else { "A^{1,5}_{2,5*n}+0" };
        assert_eq!((one.shown(8, &name).unwrap().text("A").as_str(), one.mark()), (expected, Mark::Exact));
    }
}

#[test]
fn what_is_left_of_a_matrix_without_its_inside() {
    // n + 2 rows of m + 2, without rows 1 ..= n of columns 1 ..= m.
    let known = &["n - 1", "m - 1"];
    let all = nest("m*i + 2*i + j", &[("j", "m + 1"), ("i", "n + 1")], known);
    let inside = nest("m*i + 2*i + j + m + 3", &[("j", "m - 1"), ("i", "n - 1")], known);
    let mut ground = Ground::proved(facts(known));
    assert!(inside.contained_in(&all, &ground.facts).is_proved());
    let border = all.subtract(&inside, Side::Must, &mut ground);
    assert!(border.iter().all(|piece| piece.mark() == Mark::Exact));
    let shown: Vec<String> = border.iter().map(|piece| piece.shown(1, &name).unwrap().text("A")).collect();
    assert_eq!(
        shown,
        ["A^{1}_{m+1}+0", "A^{1}_{m+1}+n*m+2*n+m+2", "A^{m+2}_{n*m+2*n-m-2}+m+2", "A^{m+2}_{n*m+2*n-m-2}+2*m+3"]
    );
    let corner = nest("m*i + 2*i + j", &[("j", "1"), ("i", "1")], known);
    let common = inside.intersection(&corner, Side::Must, &mut ground).expect("one element");
    shows(&common, "A+m+3");
}

#[test]
fn loops_that_do_not_run_touch_nothing() {
    // Rows of m, n of them: for m = n = −5 the product of both is positive.
    let rows = nest("m*i + j", &[("j", "m - 1"), ("i", "n - 1")], &[]);
    let simple = rows.simplified(&mut Ground::proved(Facts::new())).unwrap();
    shows(&simple, "A^{1}_{n*m-1}+0");
    assert_eq!(simple.guards(), [whole("m - 1")]);
    for (n, m) in [(-5, -5), (0, 3), (3, 0), (2, 3), (-1, 4)] {
        let at = |s: Symbol| if s == symbol("n") { Some(n) } else { Some(m) };
        let runs = simple.guards().iter().chain(simple.dims().iter().map(|dim| &dim.last));
        let runs = runs.into_iter().all(|x| x.at(&at).unwrap() >= 0);
        assert_eq!(runs, n > 0 && m > 0, "{n} {m}");
    }
    let ends = simple.ends(&Facts::new()).unwrap();
    let value = |e: &Expr, n: i128, m: i128| e.evaluate(&[n, m], &HashMap::new()).unwrap();
    assert_eq!((value(&ends.low, -5, -5), value(&ends.high, -5, -5)), (0, 0));
    assert_eq!((value(&ends.low, 4, 5), value(&ends.high, 4, 5)), (0, 20));
    assert!(nest("i", &[("i", "-1")], &[]).is_empty(&Facts::new()));
}

#[test]
fn the_ends_of_a_packed_triangle() {
    let triangle = nest("4*i*i + 4*i + 8*j / 1", &[("j", "i"), ("i", "n - 1")], &[]);
    let triangle = Lmad { bytes: 8, ..triangle };
    let simple = triangle.simplified(&mut Ground::proved(facts(&["n"]))).unwrap();
    assert!(simple.guards().is_empty(), "{simple:?}");
    let ends = simple.ends(&facts(&["n"])).unwrap();
    for n in 0..9 {
        let at = |e: &Expr| e.evaluate(&[n], &HashMap::new());
        assert_eq!((at(&ends.low), at(&ends.high)), (Some(0), Some(4 * n * (n + 1))), "{n}");
    }
}

#[test]
fn bytes_are_shown_as_elements() {
    let ground = || Ground::proved(facts(&["J"]));
    let loops = [Loop { index: symbol("k"), last: whole("2^J - 1") }, Loop { index: symbol("i"), last: whole("n") }];
    let lmad = Lmad::of_nest(whole("16*k + 24*i*2^J - 8"), 8, &loops, &mut ground()).unwrap();
    let shown = lmad.shown(8, &name).expect("in elements");
    assert_eq!(shown.text("A"), "A^{2,3*2^J}_{2^(J+1)-2,3*n*2^J}-1");
    assert_eq!((shown.dims[0].index.as_str(), shown.triplet("A")), ("k", None));
    // Halves of elements have no place among them.
    assert_eq!(lmad.shown(16, &name), None);
    assert_eq!(Lmad::element(whole("4*n"), 8).shown(8, &name), None);
}

#[test]
fn what_is_monotonic_under_a_condition_only() {
    // A[m*i]: nobody knows whether m is negative.
    let walk = Loop { index: symbol("i"), last: whole("n") };
    let element = Lmad::element(whole("m*i"), 1);
    assert_eq!(element.expand(&walk, &mut Ground::proved(facts(N))), Err(NotMonotonic));
    let mut ground = Ground::assuming(facts(N));
    shows(&element.expand(&walk, &mut ground).unwrap(), "A^{m}_{n*m}+0");
    assert!(holds(ground.condition(), &[3, 0]) && !holds(ground.condition(), &[3, -1]));
}

#[test]
fn a_subscript_from_data_is_as_good_as_its_range() {
    // A[16*v + j], 0 ≤ v ≤ m − 1, j ≤ n − 1 ≤ 15
    let value = Symbol::Opaque(crate::polynomial::OpaqueId { counter: 0, number: 0 });
    let base = Whole::symbol(value).scale(16).unwrap().add(&whole("j")).unwrap();
    let known = facts(&["n - 1", "16 - n", "m - 1"]);
    let mut ground = Ground::proved(known.clone());
    let row = Lmad::element(base, 1).expand(&Loop { index: symbol("j"), last: whole("n - 1") }, &mut ground).unwrap();
    // Another iteration has another value, so that this one must be gone before.
    let around = Loop { index: symbol("i"), last: whole("u") };
    assert_eq!(row.expand(&around, &mut ground), Err(NotMonotonic));
    let all = row.bounded(value, &Whole::zero(), &whole("m - 1"), Side::May, &known).unwrap().expect("a range");
    assert!(all.expand(&around, &mut ground).is_ok());
    assert_eq!((all.mark(), all.dims().len()), (Mark::Over, 2));
    let ends = all.ends(&known).unwrap();
    assert_eq!(ends.high.evaluate(&[4, 3], &HashMap::new()), Some(36));
    assert_eq!(row.bounded(value, &Whole::zero(), &whole("m - 1"), Side::Must, &known), Ok(None));
}

#[test]
fn strides_that_share_a_factor_stay_apart() {
    let (even, odd) = (regular(0, &[(6, 9), (4, 3)]), regular(3, &[(2, 40)]));
    assert!(even.disjoint(&odd, &Facts::new()).is_proved());
    // Rows of n elements, of which the first l and those from l on.
    let known = &["n - 1", "l", "n - l", "m - 1"];
    let left = nest("n*i + j", &[("j", "l - 1"), ("i", "m - 1")], known);
    let right = nest("n*i + j + l", &[("j", "n - l - 1"), ("i", "m - 1")], known);
    assert!(left.disjoint(&right, &facts(known)).is_proved());
    assert!(!left.disjoint(&left, &facts(known)).is_known());
    let mut ground = Ground::proved(facts(known));
    let both = left.union(&right, &mut ground).expect("contiguous");
    simplifies(&both, known, "A^{1}_{n*m-1}+0");
}

#[test]
fn a_region_keeps_to_its_limit() {
    let scattered: Vec<Lmad> = (0..400).map(|k| regular(k * k * k * 100, &[(7, 3 + k % 5)])).collect();
    let mut ground = Ground::proved(Facts::new());
    let (mut may, mut must) = (Region::nothing(Side::May), Region::nothing(Side::Must));
    for lmad in &scattered {
        may.add(lmad, &mut ground);
        must.add(lmad, &mut ground);
    }
    assert!(may.parts().len() <= MAX_DESCRIPTORS && must.parts().len() <= MAX_DESCRIPTORS);
    assert_eq!((may.mark(), must.mark()), (Mark::Over, Mark::Under));
    for lmad in &scattered {
        let covered = may.parts().iter().any(|part| lmad.contained_in(part, &Facts::new()).is_proved());
        assert!(covered, "{lmad:?}");
    }
}
