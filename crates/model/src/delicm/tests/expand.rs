//! Which scalars get memory of their own, of which shape, and which do not.

use super::*;
use crate::scop::ArrayKind;

/// for i { for j { t = 0; for k { t += A1[i][k] * A2[k][j]; } A0[i][j] *= t; } }
const SUM: (&str, &str) = (
    "
    array A3 scalar
    for i : 0 <= i < p0
      for j : 0 <= j < p1
        write A3[]
        for k : 0 <= k < p0
          read A3[]; read A1[i, k]; read A2[k, j]; write A3[]
        read A3[]; read A0[i, j]; write A0[i, j]
    ",
    "
    scalar 0 zero
    c = scalar 0; a = load 1; b = load 2; ab = mul a b; d = add+ c ab; scalar 3 d
    e = scalar 0; o = load 1; x = mul o e; store 2 x
    ",
);

/// The accesses, and the sizes of the inner dimensions of each temporary.
fn shown(after: &After) -> String {
    let mut out = accesses(&after.scop);
    for (id, array) in after.scop.arrays.iter().filter(|(_, a)| a.kind == ArrayKind::Temporary) {
        let sizes: String = array.inner_sizes.iter().map(|s| format!("[{s}]")).collect();
        out += &format!("{id}[]{sizes}\n");
    }
    out
}

fn stays(sketch: &str, code: &str) {
    let After { scop, outcome } = expanded(sketch, code, Expansion::Wide);
    assert_eq!(outcome.counts.expanded, 0, "{}", accesses(&scop));
    assert!(scop.arrays.values().all(|a| a.kind != ArrayKind::Temporary));
}

#[test]
fn a_sum_gets_a_row() {
    let after = expanded(SUM.0, SUM.1, Expansion::Narrow);
    // k carries it from iteration to iteration, and gets no dimension.
    assert_eq!(
        shown(&after),
        "S0: write A4[j]\n\
         S1: read A4[j] reduces; read A1[i, k]; read A2[k, j]; write A4[j] reduces\n\
         S2: read A4[j]; read A0[i, j]; write A0[i, j]\n\
         A4[]\n"
    );
    assert_eq!((after.outcome.counts.expanded, after.outcome.counts.after), (1, 0));
}

#[test]
fn a_sum_gets_a_plane_if_that_is_allowed() {
    let after = expanded(SUM.0, SUM.1, Expansion::Wide);
    let text = shown(&after);
    assert!(text.starts_with("S0: write A4[i, j]\n") && text.ends_with("A4[][p1]\n"), "{text}");
    assert_eq!(after.outcome.counts.expanded, 1);
}

#[test]
fn without_permission_it_stays() {
    let After { outcome, .. } = moved(SUM.0, SUM.1);
    assert_eq!((outcome.counts.expanded, outcome.counts.after), (0, 2));
}

#[test]
fn a_triangle_lies_in_a_square() {
    let triangle = SUM.0.replace("j : 0 <= j < p1", "j : 0 <= j <= i");
    let after = expanded(&triangle, SUM.1, Expansion::Wide);
    let text = shown(&after);
    assert!(text.ends_with("A4[][p0]\n"), "{text}");
}

#[test]
fn of_two_sizes_the_larger_one_must_be_known() {
    let with = |bound: &str| SUM.0.replace("j : 0 <= j < p1", &format!("j : 0 <= j and {bound}"));
    // Either of two sizes bounds the smaller one.
    let text = shown(&expanded(&with("j < p1 and j < p0"), SUM.1, Expansion::Wide));
    assert!(text.ends_with("A4[][p0]\n") || text.ends_with("A4[][p1]\n"), "{text}");
    let larger = with("(j < p1 or j < p0)");
    stays(&larger, SUM.1);
    // One dimension needs none.
    assert_eq!(expanded(&larger, SUM.1, Expansion::Narrow).outcome.counts.expanded, 1);
}

#[test]
fn a_value_that_is_handed_on_needs_memory_once() {
    // The sum leaves its loop in another register than the one it grew in.
    let after = expanded(
        "
        array A3 scalar
        array A4 scalar
        for i : 0 <= i < p0
          write A3[]
          for k : 0 <= k < p1
            read A3[]; read A1[i, k]; write A3[]
          read A3[]; write A4[]
          read A4[]; read A0[i]; write A0[i]
        ",
        "
        scalar 0 zero
        c = scalar 0; a = load 1; d = add+ c a; scalar 2 d
        e = scalar 0; scalar 1 e
        f = scalar 0; o = load 1; x = mul o f; store 2 x
        ",
        Expansion::Wide,
    );
    assert_eq!((after.outcome.counts.expanded, after.outcome.counts.after), (1, 0), "{}", shown(&after));
    assert!(!after.scop.statements.contains_key(&StatementId(2)), "{}", shown(&after));
}

#[test]
fn values_that_are_not_needed_at_the_same_time_share_memory() {
    // The sum, or 1 where there is nothing to sum up, leaves the branch in another register than the one it grew in.
    let (sketch, code) = (
        "
        array A3 scalar
        array A4 scalar
        for i : 0 <= i < p0 and p1 <= 0
          write A4[]
          read A4[]; read A0[i]; write A0[i]
        for i : 0 <= i < p0 and p1 > 0
          write A3[]
          for k : 0 <= k < p1
            read A3[]; read A1[i, k]; write A3[]
          read A3[]; write A4[]
          read A4[]; read A0[i]; write A0[i]
        ",
        "
        scalar 0 one
        f = scalar 0; o = load 1; x = mul o f; store 2 x
        scalar 0 zero
        c = scalar 0; a = load 1; d = add+ c a; scalar 2 d
        e = scalar 0; g = f! e; scalar 1 g
        f = scalar 0; o = load 1; x = mul o f; store 2 x
        ",
    );
    let after = expanded(sketch, code, Expansion::Wide);
    assert_eq!((after.outcome.counts.expanded, after.outcome.counts.after), (1, 0), "{}", shown(&after));
}

#[test]
fn loops_side_by_side_have_the_loop_around_them_in_common() {
    let after = expanded(
        "
        array A3 scalar
        for i : 0 <= i < p0
          for j : 0 <= j < p1 and j < i
            read A1[i, j]; write A3[]
          for j : 0 <= j < p1 and j < i
            read A3[]; read A0[i, j]; write A0[i, j]
        ",
        "
        a = load 0; b = f! a; scalar 1 b
        c = scalar 0; o = load 1; x = mul o c; store 2 x
        ",
        Expansion::Wide,
    );
    // Only what the last iteration of the first loop wrote is read, in all iterations of the second.
    let text = shown(&after);
    assert!(text.contains("write A4[i]\n") && text.contains("read A4[i]; "), "{text}");
}

#[test]
fn what_enters_the_loop_from_before_it_stays() {
    // b = A1[0]; for i { A0[i] = A0[i] * b; b = f(b); }
    stays(
        "
        array A3 scalar
        read A1[0]; write A3[]
        for i : 0 <= i < p0
          read A3[]; read A0[i]; write A0[i]; write A3[]
        ",
        "
        a = load 0; b = f! a; scalar 1 b
        c = scalar 0; o = load 1; x = mul o c; d = f! c; store 2 x; scalar 3 d
        ",
    );
}

#[test]
fn what_travels_along_every_loop_stays() {
    // Each iteration reads what the one before it wrote; the first iteration writes only.
    stays(
        "
        array A3 scalar
        for i : 0 <= i < p0
          for j : i <= j <= i and j <= 0
            read A1[i]; write A3[]
          for j : 1 <= j < p0 and j <= i and j >= i
            read A3[]; read A0[i]; write A0[i]; write A3[]
        ",
        "
        a = load 0; b = f! a; scalar 1 b
        c = scalar 0; o = load 1; x = mul o c; d = f! c; store 2 x; scalar 3 d
        ",
    );
}

#[test]
fn what_is_needed_behind_the_region_or_comes_from_before_it_stays() {
    let (sketch, code) = SUM;
    let mut before = test_scop(sketch);
    let mut program = program(&mut before, code);
    let mut scop = before.clone();
    scop.arrays[&ArrayId(3)].live_out = true;
    assert_eq!(delicm(&mut scop, &program, Expansion::Wide).unwrap().counts.expanded, 0);
    program.initial.push(ArrayId(3));
    assert_eq!(delicm(&mut before.clone(), &program, Expansion::Wide).unwrap().counts.expanded, 0);
}
