use super::*;
use crate::fixture::test_scop;

const LISTING_1: &str = "
    for i : 0 <= i < p0
      write A0[i]
      for k : 0 <= k < p1
        read A0[i]; read A1[i]; read A2[k]; write A0[i]";
const LISTING_2: &str = "
    array A3 scalar
    for i : 0 <= i < p0
      read A1[i]; write A0[i]; write A3[]
      for k : 0 <= k < p1
        read A0[i]; read A3[]; read A2[k]; write A0[i]";
const LISTING_3: &str = "
    array A3 scalar
    for i : 0 <= i < p0
      write A3[]
      for k : 0 <= k < p1
        read A3[]; read A1[i]; read A2[k]; write A3[]
      read A3[]; write A0[i]";
const LISTING_4: &str = "
    array A3 scalar
    for i : 0 <= i < p0
      write A3[]
      for k : 0 <= k < p1
        read A3[]; read A1[i]; read A2[k]; write A3[]; write A0[i]";
const LISTING_5: &str = "
    for i : 0 <= i < p0
      write A0[i]
      for k : 0 <= k < p1
        read A0[i]; read A1[i]; read A2[k]; write A0[i]
      read A0[i]; write A0[i]";

const TO_THE_ROW: &str = "{ S0[i] -> A0[i]; S1[i, k] -> A0[i] }";

fn with_context(sketch: &str, context: &str) -> Scop {
    test_scop(&format!("context {context}\n{}", sketch.trim_start_matches('\n')))
}

/// The two sets have the same elements at the parameter values that count.
fn check_set(scop: &Scop, found: &Set, expected: &str) {
    let expected = Set::read_from_str(&scop.ctx, &format!("[p0, p1] -> {expected}")).unwrap();
    let equal = found.intersect_params(&scop.context).unwrap();
    let equal = equal.is_equal(&expected.intersect_params(&scop.context).unwrap()).unwrap();
    assert!(equal, "{found}\nis not\n{expected}");
}

fn check_map(scop: &Scop, found: &UnionMap, expected: &str) {
    let expected = UnionMap::read_from_str(&scop.ctx, &format!("[p0, p1] -> {expected}")).unwrap();
    let equal = found.intersect_params(&scop.context).unwrap();
    let equal = equal.is_equal(&expected.intersect_params(&scop.context).unwrap()).unwrap();
    assert!(equal, "{found}\nis not\n{expected}");
}

fn values(entries: &[(u32, usize, Value)]) -> Values {
    let mut values = Values::default();
    entries.iter().for_each(|&(statement, access, value)| values.insert(StatementId(statement), access, value));
    values
}

/// What putting the scalar `A3` into `A0` by `target` meets.
fn conflict(scop: &Scop, target: &str, values: &Values) -> Option<Conflict> {
    let zones = Zones::of(scop).unwrap();
    let target = UnionMap::read_from_str(&scop.ctx, target).unwrap();
    let proposal = zones.proposal(ArrayId(3), &target, values).unwrap().unwrap();
    zones.knowledge(ArrayId(0), values).unwrap().conflict(&proposal).unwrap()
}

#[test]
fn the_example_of_the_module() {
    let scop = test_scop(
        "array A0 scalar
         for i : 0 <= i < 3
           write A0[]
           read A0[]",
    );
    let zones = Zones::of(&scop).unwrap();
    let reaching = zones.reaching_definitions(ArrayId(0)).unwrap();
    let definitions =
        "{ [A0[] -> Zone[z, s]] -> S0[i] : 0 <= i < 3 and i, 0 << z, s and (i = 2 or (z, s <<= i + 1, 0)) }";
    check_map(&scop, &reaching.definitions, definitions);
    check_set(&scop, &reaching.initial, "{ [A0[] -> Zone[z, s]] : z, s <<= 0, 0 }");
    check_set(&scop, zones.lifetime(ArrayId(0)).unwrap(), "{ [A0[] -> Zone[z, 1]] : 0 <= z < 3 }");
    let unused = "{ [A0[] -> Zone[z, s]] : z < 0 or z > 2 or s < 1 or s > 1 }";
    check_set(&scop, zones.unused(ArrayId(0)).unwrap(), unused);
    let lifetimes = zones.lifetime_of_definitions(ArrayId(0)).unwrap();
    check_map(&scop, &lifetimes, "{ S0[i] -> [A0[] -> Zone[i, 1]] : 0 <= i < 3 }");
}

#[test]
fn a_sum_in_its_row_is_needed_from_the_first_write_on() {
    let scop = test_scop(LISTING_1);
    let zones = Zones::of(&scop).unwrap();
    let row = "{ [A0[e] -> Zone[z, s, k]] : 0 <= e < p0 and z, s, k <<= e, 0, 0 }";
    check_set(&scop, zones.unused(ArrayId(0)).unwrap(), row);
    check_set(
        &scop,
        zones.lifetime(ArrayId(0)).unwrap(),
        "{ [A0[e] -> Zone[z, s, k]] : (0 <= e < p0 and e, 0, 0 << z, s, k) or e < 0 or e >= p0 }",
    );
    check_set(
        &scop,
        &zones.written(ArrayId(0)).unwrap(),
        "{ [A0[e] -> Time[e, 0, 0]] : 0 <= e < p0; [A0[e] -> Time[e, 1, k]] : 0 <= e < p0 and 0 <= k < p1 }",
    );
    // What is only read stays as it was and is never unused.
    check_set(&scop, zones.unused(ArrayId(1)).unwrap(), "{ [A1[e] -> Zone[z, s, k]] : false }");
    check_map(&scop, &zones.reaching_definitions(ArrayId(1)).unwrap().definitions, "{ }");
}

#[test]
fn a_hoisted_load_lives_until_the_last_iteration_and_equals_its_source() {
    let scop = test_scop(LISTING_2);
    let zones = Zones::of(&scop).unwrap();
    check_set(
        &scop,
        zones.lifetime(ArrayId(3)).unwrap(),
        "{ [A3[] -> Zone[i, s, k]] : 0 <= i < p0 and p1 > 0 and i, 0, 0 << i, s, k and (i, s, k <<= i, 1, p1 - 1) }",
    );
    let values = values(&[(0, 0, Value::Own(7)), (0, 2, Value::Own(7))]);
    check_map(
        &scop,
        &zones.known(ArrayId(1), &values).unwrap(),
        "{ [A1[e] -> Zone[z, s, k]] -> [S0[e] -> V[7]] : 0 <= e < p0 }",
    );
    check_map(
        &scop,
        &zones.known(ArrayId(3), &values).unwrap(),
        "{ [A3[] -> Zone[z, s, k]] -> [S0[i] -> V[7]] : 0 <= i < p0 and i, 0, 0 << z, s, k
             and (i = p0 - 1 or (z, s, k <<= i + 1, 0, 0)) }",
    );
}

#[test]
fn a_promoted_sum_fits_into_its_row() {
    let scop = test_scop(LISTING_3);
    let zones = Zones::of(&scop).unwrap();
    check_set(
        &scop,
        zones.lifetime(ArrayId(3)).unwrap(),
        "{ [A3[] -> Zone[i, s, k]] : 0 <= i < p0 and i, 0, 0 << i, s, k and (i, s, k <<= i, 2, 0) }",
    );
    check_set(
        &scop,
        zones.unused(ArrayId(0)).unwrap(),
        "{ [A0[e] -> Zone[z, s, k]] : 0 <= e < p0 and z, s, k <<= e, 2, 0 }",
    );
    check_map(
        &scop,
        &zones.lifetime_of_definitions(ArrayId(3)).unwrap(),
        "{ S0[i] -> [A3[] -> Zone[i, s, z]] : 0 <= i < p0 and i, 0, 0 << i, s, z and p1 <= 0 and (i, s, z <<= i, 2, 0);
           S0[i] -> [A3[] -> Zone[i, s, z]] : 0 <= i < p0 and i, 0, 0 << i, s, z and p1 > 0 and (i, s, z <<= i, 1, 0);
           S1[i, k] -> [A3[] -> Zone[i, 1, k + 1]] : 0 <= i < p0 and 0 <= k < p1 - 1;
           S1[i, k] -> [A3[] -> Zone[i, s, z]] : 0 <= i < p0 and 0 <= k = p1 - 1 and i, 1, k << i, s, z
               and (i, s, z <<= i, 2, 0) }",
    );
    assert_eq!(conflict(&scop, TO_THE_ROW, &Values::default()), None);
}

#[test]
fn a_promoted_sum_fits_into_the_last_element_but_not_into_one_outside() {
    let scop = test_scop(LISTING_3);
    let last = "[p0] -> { S0[i] -> A0[p0 - 1]; S1[i, k] -> A0[p0 - 1] }";
    assert_eq!(conflict(&scop, last, &Values::default()), None);
    // Its content before the region is visible afterwards.
    let outside = "[p0] -> { S0[i] -> A0[p0]; S1[i, k] -> A0[p0] }";
    assert_eq!(conflict(&scop, outside, &Values::default()), Some(Conflict::BothNeeded));
    // The sum of row 1 would overwrite what row 0 is to keep.
    let first = "{ S0[i] -> A0[0]; S1[i, k] -> A0[0] }";
    assert_eq!(conflict(&scop, first, &Values::default()), Some(Conflict::BothNeeded));
}

#[test]
fn a_row_read_in_between_is_no_place() {
    let scop = test_scop(&LISTING_3.replace("read A1[i]", "read A0[i]"));
    assert_eq!(conflict(&scop, TO_THE_ROW, &Values::default()), Some(Conflict::BothNeeded));
    let context = "p1 <= 0";
    let scop = with_context(&LISTING_3.replace("read A1[i]", "read A0[i]"), context);
    assert_eq!(conflict(&scop, TO_THE_ROW, &Values::default()), None);
}

#[test]
fn a_partly_promoted_sum_shares_the_row_because_both_store_the_same() {
    let scop = with_context(LISTING_4, "1 <= p1");
    let same = values(&[(1, 3, Value::Own(9)), (1, 4, Value::Own(9))]);
    assert_eq!(conflict(&scop, TO_THE_ROW, &same), None);
    // At the same instant another value is stored, or nobody knows which.
    let other = values(&[(1, 3, Value::Own(9)), (1, 4, Value::Own(8))]);
    assert_eq!(conflict(&scop, TO_THE_ROW, &other), Some(Conflict::FirstOverwrites));
    assert_eq!(conflict(&scop, TO_THE_ROW, &Values::default()), Some(Conflict::FirstOverwrites));
}

#[test]
fn a_partly_promoted_sum_has_no_place_if_the_inner_loop_may_not_run() {
    let scop = test_scop(LISTING_4);
    let same = values(&[(1, 3, Value::Own(9)), (1, 4, Value::Own(9))]);
    assert_eq!(conflict(&scop, TO_THE_ROW, &same), Some(Conflict::SecondOverwrites));
    let zones = Zones::of(&scop).unwrap();
    check_set(
        &scop,
        zones.unused(ArrayId(0)).unwrap(),
        "{ [A0[e] -> Zone[z, s, k]] : 0 <= e < p0 and 0 < p1 and z, s, k <<= e, 1, p1 - 1 }",
    );
}

#[test]
fn after_coalescing_the_row_is_known_to_hold_the_sum() {
    let scop = test_scop(LISTING_5);
    let zones = Zones::of(&scop).unwrap();
    check_set(
        &scop,
        zones.unused(ArrayId(0)).unwrap(),
        "{ [A0[e] -> Zone[z, s, k]] : 0 <= e < p0 and z, s, k <<= e, 0, 0 }",
    );
    let last = with_context(LISTING_5, "1 <= p1");
    let zones = Zones::of(&last).unwrap();
    check_map(
        &last,
        &zones.reaching_definitions(ArrayId(0)).unwrap().definitions,
        "{ [A0[e] -> Zone[e, s, z]] -> S0[e] : 0 <= e < p0 and e, 0, 0 << e, s, z and (e, s, z <<= e, 1, 0);
           [A0[e] -> Zone[e, 1, z]] -> S1[e, z - 1] : 0 <= e < p0 and 1 <= z < p1;
           [A0[e] -> Zone[e, s, z]] -> S1[e, p1 - 1] : 0 <= e < p0 and e, 1, p1 - 1 << e, s, z and (e, s, z <<= e, 2, 0);
           [A0[e] -> Zone[i, s, z]] -> S2[e] : 0 <= e < p0 and e, 2, 0 << i, s, z }",
    );
    // The copy of the row onto itself stores what is there.
    let values = values(&[(2, 0, Value::Own(0)), (2, 1, Value::Own(0))]);
    let known = zones.known(ArrayId(0), &values).unwrap();
    check_map(
        &last,
        &known,
        "{ [A0[e] -> Zone[i, s, z]] -> [S2[e] -> V[0]] : 0 <= e < p0 and e, 1, p1 - 1 << i, s, z }",
    );
}

#[test]
fn nothing_is_known_after_a_possible_write_until_somebody_reads() {
    let scop = test_scop(
        "
         write A0[0]
         may A0[0]
         may A0[0]
         read A0[0]",
    );
    let zones = Zones::of(&scop).unwrap();
    let values = values(&[(0, 0, Value::Constant(5)), (1, 0, Value::Constant(5)), (3, 0, Value::Own(0))]);
    let known = zones.known(ArrayId(0), &values).unwrap();
    check_map(&scop, &known, "{ [A0[0] -> Zone[1]] -> Constant[5]; [A0[0] -> Zone[z]] -> [S3[] -> V[0]] : z > 2 }");
    let reaching = zones.reaching_definitions(ArrayId(0)).unwrap();
    check_map(&scop, &reaching.definitions, "{ [A0[0] -> Zone[1]] -> S0[] }");
    let possible = zones.possible_definitions(ArrayId(0)).unwrap();
    check_map(
        &scop,
        &possible.definitions,
        "{ [A0[0] -> Zone[z]] -> S0[] : z > 0; [A0[0] -> Zone[z]] -> S1[] : z > 1; [A0[0] -> Zone[z]] -> S2[] : z > 2 }",
    );
}

#[test]
fn a_region_without_loops_has_one_time_dimension() {
    let scop = test_scop("write A0[3]");
    let zones = Zones::of(&scop).unwrap();
    let reaching = zones.reaching_definitions(ArrayId(0)).unwrap();
    check_map(&scop, &reaching.definitions, "{ [A0[3] -> Zone[z]] -> S0[] : z > 0 }");
    check_set(&scop, zones.unused(ArrayId(0)).unwrap(), "{ [A0[3] -> Zone[z]] : z <= 0 }");
}

#[test]
fn what_crosses_the_region_or_is_uncertain_stays_where_it_is() {
    let immovable = |sketch: &str, live_out: bool, target: &str| {
        let mut scop = test_scop(sketch);
        scop.arrays[&ArrayId(3)].live_out = live_out;
        let target = UnionMap::read_from_str(&scop.ctx, target).unwrap();
        Zones::of(&scop).unwrap().proposal(ArrayId(3), &target, &Values::default()).unwrap().err()
    };
    assert_eq!(immovable(LISTING_3, false, TO_THE_ROW), None);
    assert_eq!(immovable(LISTING_3, true, TO_THE_ROW), Some(Immovable::CrossesRegion));
    assert_eq!(immovable(LISTING_3, false, "{ S0[i] -> A0[i] }"), Some(Immovable::NoTarget));
    let two = "{ S0[i] -> A0[i]; S1[i, k] -> A0[i]; S1[i, k] -> A0[i + 1] }";
    assert_eq!(immovable(LISTING_3, false, two), Some(Immovable::NoTarget));
    let may = LISTING_3.replace("read A2[k]; write A3[]", "read A2[k]; may A3[]");
    assert_eq!(immovable(&may, false, TO_THE_ROW), Some(Immovable::Uncertain));
    let early = LISTING_3.replace("      write A3[]\n      for", "      read A3[]; write A3[]\n      for");
    assert_eq!(immovable(&early, false, TO_THE_ROW), Some(Immovable::CrossesRegion));
    let wide = LISTING_3.replace("    array A3 scalar\n", "").replace("A3[]", "A3[i]");
    assert_eq!(immovable(&wide, false, TO_THE_ROW), Some(Immovable::NotScalar));
}

#[test]
fn what_was_put_into_a_row_is_in_the_way_of_the_next() {
    let scop = test_scop(LISTING_3);
    let zones = Zones::of(&scop).unwrap();
    let target = UnionMap::read_from_str(&scop.ctx, TO_THE_ROW).unwrap();
    let proposal = zones.proposal(ArrayId(3), &target, &Values::default()).unwrap().unwrap();
    let row = zones.knowledge(ArrayId(0), &Values::default()).unwrap();
    let merged = row.merged(&proposal).unwrap();
    assert!(!row.conflicts_with(&proposal).unwrap());
    assert!(merged.conflicts_with(&proposal).unwrap());
    // The row is needed from the first write on, as in listing 1.
    let expected = "{ [A0[e] -> Zone[z, s, k]] : (0 <= e < p0 and e, 0, 0 << z, s, k) or e < 0 or e >= p0 }";
    let occupied = merged.occupied().extract_set(&zones.unused(ArrayId(0)).unwrap().get_space().unwrap()).unwrap();
    check_set(&scop, &occupied, expected);
}

#[test]
fn a_used_up_budget_is_an_error_and_not_a_wrong_answer() {
    let scop = test_scop(LISTING_3);
    let tried = scop.ctx.within(isl::Budget::new("small", 2000), || {
        let zones = Zones::of(&scop)?;
        zones.lifetime(ArrayId(3)).cloned()
    });
    assert!(tried.unwrap_err().is_out_of_budget());
}
