//! What is left alone before anybody looks at its dependences.

use super::*;

fn prospects(scop: &Scop) -> String {
    match outlook(scop, &Machine::default(), &ScheduleOptions::default()).unwrap().decision {
        None => "worth a look".into(),
        Some(Decision::Leave { reason, too_small, .. }) => {
            format!("{reason}{}", if too_small { " (small)" } else { "" })
        }
        Some(other) => panic!("{other:?}"),
    }
}

fn check(sketch: &str, expected: Expect) {
    expected.assert_eq(&prospects(&test_scop(sketch)));
}

#[test]
fn rows_that_are_walked_along_are_as_good_as_they_get() {
    check(
        "for i : 0 <= i < p0
           for j : 0 <= j < p0
             read A0[i, j]; read A1[i]; write A0[i, j]",
        expect!["whatever the order, it takes at least 99 % of the original's time, with what is unknown assumed 1024"],
    );
}

#[test]
fn columns_products_and_chains_may_gain() {
    let columns = "for i : 0 <= i < p0
                     for j : 0 <= j < p0
                       read A0[j, i]; write A1[j, i]";
    let product = "for i : 0 <= i < p0
                     for k : 0 <= k < p0
                       for j : 0 <= j < p0
                         read A0[i, k]; read A1[k, j]; read A2[i, j]; write A2[i, j]";
    let sums = "for i : 0 <= i < p0
                  for j : 0 <= j < p0
                    read A0[i, j]; read A1[i]; write A1[i]";
    for sketch in [columns, product, sums] {
        check(sketch, expect!["worth a look"]);
    }
}

#[test]
fn a_neighbour_in_the_same_row_is_a_doubt() {
    check(
        "for i : 0 <= i < p0
           for j : 1 <= j < p0
             read A0[i, j - 1]; write A0[i, j]",
        expect!["worth a look"],
    );
}

#[test]
fn the_same_column_of_another_row_is_none_but_its_neighbour_is() {
    let rows = "for i : 1 <= i < p0
                  for j : 1 <= j < p0
                    read A0[i - 1, j]; write A0[i, j]";
    check(
        rows,
        expect!["whatever the order, it takes at least 99 % of the original's time, with what is unknown assumed 1024"],
    );
    check(&rows.replace("i - 1, j", "i - 1, j - 1"), expect!["worth a look"]);
    // Which is another row, and not another column, in each iteration.
    check(&rows.replace("A0[i - 1, j]", "A0[j, i - 1]").replace("A0[i, j]", "A0[i, i]"), expect!["worth a look"]);
}

#[test]
fn few_instances_are_few_whatever_depends_on_what() {
    check("for i : 0 <= i < 10\n  write A0[0]", expect!["only about 10 statement instances (small)"]);
}

#[test]
fn what_is_written_anywhere_keeps_its_order() {
    let columns = "for i : 0 <= i < p0
                     for j : 0 <= j < p0
                       read A0[j, i]; write A1[j, i]";
    let mut scop = test_scop(columns);
    let write = &mut scop.statements[&crate::scop::StatementId(0)].accesses[1];
    (write.exact, write.offset) = (false, None);
    write.relation = isl::Map::read_from_str(&scop.ctx, "{ S0[i, j] -> A1[x, y] }").unwrap();
    expect!["whatever the order, it takes at least 100 % of the original's time, with what is unknown assumed 1024"]
        .assert_eq(&prospects(&scop));
}

#[test]
fn what_only_hands_on_a_scalar_is_left_alone() {
    let sketch = "for i : 0 <= i < p0
                    for j : 0 <= j < p0
                      read A0[j, i]; read A1[]; write A1[]";
    check(sketch, expect!["all that it computes are scalars, each from what they were before"]);
    // A sum that may be in any order may be along the rows.
    check(&sketch.replace("read A1[]; write A1[]", "update A1[] +"), expect!["worth a look"]);
}
