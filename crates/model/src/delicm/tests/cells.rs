//! Elements wider than cells, which overlap in part: what the same value excuses there, and how moved values are aligned. Scalars have
//! 8 bytes, so that they take two cells of 4.

use super::*;
use crate::scop::StatementId;
use std::collections::BTreeSet;

fn mapped(sketch: &str, code: &str) -> u64 {
    moved(sketch, code).outcome.counts.mapped
}

#[test]
fn the_same_constant_is_no_excuse_beside_the_cell() {
    // for i { c = 7; for k { A0[4i + shift + 1000k] = 7; c *= A1[k]; } A0[4i] = c; }
    let at = |shift: &str| {
        let sketch = "
            context 0 <= p0 <= 200
            array A0 4
            array A2 scalar
            for i : 0 <= i < p0
              write A2[]
              for k : 0 <= k < p1
                read A1[k]; read A2[]; write A0[4i + SHIFT + 1000k # 2]; write A2[]
              read A2[]; write A0[4i # 2]
            ";
        let code = "
            scalar 0 seven
            store 2 seven; b = load 0; x = scalar 1; y = mul! x b; scalar 3 y
            z = scalar 0; store 1 z
            ";
        mapped(&sketch.replace("SHIFT", shift), code)
    };
    assert_eq!((at("2"), at("1"), at("-1")), (1, 0, 0));
}

#[test]
fn a_constant_that_is_read_beside_the_cell_is_overwritten() {
    // for i A0[4i + shift] = 7; for i { c = 7; for k c *= A0[4i + shift + 1000k]; A0[4i] = c; }
    let at = |shift: &str| {
        let sketch = "
            context 0 <= p0 <= 200
            array A0 4
            array A2 scalar
            for i : 0 <= i < p0
              write A0[4i + SHIFT # 2]
            for i : 0 <= i < p0
              write A2[]
              for k : 0 <= k < p1
                read A0[4i + SHIFT + 1000k # 2]; read A2[]; write A2[]
              read A2[]; write A0[4i # 2]
            ";
        let code = "
            store 0 seven
            scalar 0 seven
            b = load 0; x = scalar 1; y = mul! x b; scalar 2 y
            z = scalar 0; store 1 z
            ";
        mapped(&sketch.replace("SHIFT", shift), code)
    };
    assert_eq!((at("2"), at("1"), at("-1")), (1, 0, 0));
}

#[test]
fn the_scalar_stored_beside_its_cell_overwrites_it() {
    // for i { c = A1[i] * A1[i]; if (0 <= p2 < p1) A0[4i + shift] = c; A0[4i] = c * c; }
    let at = |shift: &str| {
        let sketch = "
            context 0 <= p0 <= 200
            array A0 4
            array A2 scalar
            for i : 0 <= i < p0
              read A1[i]; write A2[]
              for k : 0 <= k < p1 and k = p2
                read A2[]; write A0[4i + SHIFT # 2]
              read A2[]; write A0[4i # 2]
            ";
        let code = "
            a = load 0; c = mul! a a; scalar 1 c
            d = scalar 0; store 1 d
            e = scalar 0; f = mul! e e; store 1 f
            ";
        mapped(&sketch.replace("SHIFT", shift), code)
    };
    assert_eq!((at("0"), at("1"), at("-1")), (1, 0, 0));
}

#[test]
fn what_is_written_back_behind_another_store_counts() {
    // for i { c = 1; for k { c *= A1[k]; } A0[first] = c * c; A0[8i # 2] = c; }
    let at = |first: &str| {
        let sketch = "
            context 0 <= p0 <= 200
            array A0 4
            array A2 scalar
            for i : 0 <= i < p0
              write A2[]
              for k : 0 <= k < p1
                read A1[k]; read A2[]; write A2[]
              read A2[]; write A0[FIRST]; write A0[8i # 2]
            ";
        let code = "
            scalar 0 one
            b = load 0; x = scalar 1; y = mul! x b; scalar 2 y
            z = scalar 0; w = mul! z z; store 1 w; store 2 z
            ";
        let After { scop, outcome } = moved(&sketch.replace("FIRST", first), code);
        assert_eq!(outcome.counts.mapped, 1);
        scop.statements.values().last().unwrap().accesses.iter().filter(|a| a.is_write()).count()
    };
    assert_eq!(at("8i # 4"), 2, "over all of it");
    assert_eq!(at("8i + 1 # 3"), 2, "over its second half");
    assert_eq!(at("8i + 2 # 3"), 1, "beside it");
}

/// for i { c = 1; for k { c *= A1[k]; } if (i < p2) A0[stride·i] = c * c; else A0[stride·i] = c; }: the second store is aligned to 16,
/// the first to 4. What the moved scalar is aligned to, and what replay says where it is taken to be 16.
fn aligned(stride: &str) -> (BTreeSet<u64>, Verdict) {
    let sketch = "
        context 0 <= p0 <= 200
        context 0 <= p2 < p0
        array A0 4
        array A2 scalar
        for i : 0 <= i < p0
          write A2[]
          for k : 0 <= k < p1
            read A1[k]; read A2[]; write A2[]
          read A2[]; write A0[STRIDEi # 2]
          write A0[STRIDEi # 2]
        ";
    let mut before = test_scop(&sketch.replace("STRIDE", stride));
    let mut program = program(
        &mut before,
        "
        scalar 0 one
        b = load 0; x = scalar 1; y = mul! x b; scalar 2 y
        z = scalar 0; store 1 z
        store 0 zero
        ",
    );
    for (id, alignment) in [(2, 4), (3, 16)] {
        for access in &before.statements[&StatementId(id)].accesses {
            if let Role::Store { instruction, .. } = access.role {
                program.alignments.insert(instruction, alignment);
            }
        }
    }
    let mut scop = before.clone();
    let last = &mut scop.statements[&StatementId(3)];
    let only = isl::Set::read_from_str(&before.ctx, "[p0, p1, p2] -> { S3[i] : p2 <= i < p0 }").unwrap();
    last.domain = last.domain.intersect(&only).unwrap();
    last.accesses[0].relation = last.accesses[0].relation.intersect_domain(&only).unwrap();
    scop.schedule = scop
        .schedule
        .intersect_domain(&scop.statements.values().fold(isl::UnionSet::empty_ctx(&before.ctx).unwrap(), |all, s| {
            all.union(&isl::UnionSet::from_set(&s.domain).unwrap()).unwrap()
        }))
        .unwrap();
    let before = scop.clone();
    let mut outcome = delicm(&mut scop, &program, Expansion::None).unwrap();
    assert_eq!(outcome.counts.mapped, 1);
    let good = replay(&before, &program, &scop, &outcome, &[5, 3, 4]).unwrap();
    assert!(matches!(good, Verdict::Same { .. }), "{good:?}");
    let mut found = BTreeSet::new();
    for changed in outcome.statements.values_mut() {
        for (_, place) in changed.reads.iter_mut().chain(&mut changed.writes) {
            if let Home::Element(element) = place {
                found.insert(element.alignment);
                element.alignment = 16;
            }
        }
    }
    (found, replay(&before, &program, &scop, &outcome, &[5, 3, 4]).unwrap())
}

#[test]
fn a_moved_value_is_aligned_as_all_its_elements_are() {
    let (found, wished) = aligned("5");
    assert_eq!(found, BTreeSet::from([4]));
    assert!(matches!(&wished, Verdict::Different { what } if what.contains("no multiple of 16")), "{wished:?}");
    // Rows of 16 bytes: one of them is aligned, so all are; but who goes by cells of 4 does not see that.
    let (found, wished) = aligned("4");
    assert_eq!(found, BTreeSet::from([4]));
    assert!(matches!(wished, Verdict::Same { .. }), "{wished:?}");
}

#[test]
fn replay_tells_a_part_of_a_value_from_all_of_it() {
    // A1 is read in two widths; the wider value must not pass for the narrower one that begins in the same cell.
    let sketch = "
        array A0 4
        array A2 scalar
        for i : 0 <= i < p0
          read A1[i]; write A0[8i # 4]
          read A0[8i # 2]; write A2[]
          read A2[]; write A3[i]
        ";
    let mut before = test_scop(sketch);
    let program = program(
        &mut before,
        "
        a = load 0; b = mul! a a; store 1 b
        c = load 0; scalar 1 c
        d = scalar 0; store 1 d
        ",
    );
    let mut scop = before.clone();
    let mut outcome = delicm(&mut scop, &program, Expansion::None).unwrap();
    let good = replay(&before, &program, &scop, &outcome, &[4]).unwrap();
    assert!(matches!(good, Verdict::Same { .. }), "{good:?}");
    let mut widened = 0;
    for changed in outcome.statements.values_mut() {
        for fetch in &mut changed.fetched {
            if let Fetch::Load { element, .. } = fetch {
                element.bytes = 16;
                widened += 1;
            }
        }
    }
    assert!(widened > 0);
    let bad = replay(&before, &program, &scop, &outcome, &[4]).unwrap();
    assert!(matches!(bad, Verdict::Different { .. }), "{bad:?}");
}
