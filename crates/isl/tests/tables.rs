//! Tables of strings in isl's notation: operands, and what the operation makes of them, compared as sets.

use isl::*;

fn set(ctx: &Ctx, text: &str) -> Set {
    Set::read_from_str(ctx, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(ctx: &Ctx, text: &str) -> Map {
    Map::read_from_str(ctx, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn union_map(ctx: &Ctx, text: &str) -> UnionMap {
    UnionMap::read_from_str(ctx, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn pw_aff(ctx: &Ctx, text: &str) -> PwAff {
    PwAff::read_from_str(ctx, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn assert_set(actual: Result<Set>, expected: &str) {
    let actual = actual.unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert!(actual.is_equal(&set(actual.ctx(), expected)).unwrap(), "{actual}\n  is not\n{expected}");
}

fn assert_map(actual: Result<Map>, expected: &str) {
    let actual = actual.unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert!(actual.is_equal(&map(actual.ctx(), expected)).unwrap(), "{actual}\n  is not\n{expected}");
}

fn assert_union_map(actual: Result<UnionMap>, expected: &str) {
    let actual = actual.unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert!(actual.is_equal(&union_map(actual.ctx(), expected)).unwrap(), "{actual}\n  is not\n{expected}");
}

fn assert_pw_aff(actual: Result<PwAff>, expected: &str) {
    let actual = actual.unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert!(actual.is_equal(&pw_aff(actual.ctx(), expected)).unwrap(), "{actual}\n  is not\n{expected}");
}

#[test]
fn operations_on_two_sets() {
    type Operation = fn(&Set, &Set) -> Result<Set>;
    let table: &[(&str, Operation, &str, &str)] = &[
        ("{ [i] : 0 <= i < 9 }", Set::intersect, "{ [i] : i mod 2 = 0 }", "{ [i] : i mod 2 = 0 and 0 <= i <= 8 }"),
        ("{ [i] : 0 <= i < 4 }", Set::union, "{ [i] : 4 <= i < 9 }", "{ [i] : 0 <= i < 9 }"),
        ("{ [i] : 0 <= i < 9 }", Set::subtract, "{ [i] : i = 4 }", "{ [i] : 0 <= i < 4 or 4 < i < 9 }"),
        ("[n] -> { [i] : 0 <= i < n and n > 5 }", Set::gist, "[n] -> { [i] : n > 7 }", "[n] -> { [i] : 0 <= i < n }"),
        (
            "[n] -> { [i] : 0 <= i < n }",
            Set::intersect_params,
            "[n] -> { : n = 3 }",
            "[n] -> { [i] : 0 <= i < 3 and n = 3 }",
        ),
        ("{ A[i] : i > 0 }", Set::product, "{ B[j] : j < 0 }", "{ [A[i] -> B[j]] : i > 0 > j }"),
        ("{ [i] : 0 <= i < 3 }", Set::flat_product, "{ [j] : j = 1 }", "{ [i, 1] : 0 <= i < 3 }"),
        ("{ [i] : 0 <= i < 3 }", Set::sum, "{ [i] : i = 10 }", "{ [i] : 10 <= i < 13 }"),
    ];
    let ctx = Ctx::new();
    for (a, operation, b, expected) in table {
        assert_set(operation(&set(&ctx, a), &set(&ctx, b)), expected);
    }
}

#[test]
fn operations_on_one_set() {
    type Operation = fn(&Set) -> Result<Set>;
    let table: &[(&str, Operation, &str)] = &[
        ("{ [i] : i < 0 or i > 5 }", Set::complement, "{ [i] : 0 <= i <= 5 }"),
        ("[n] -> { [i, j] : 0 <= j <= i < n }", Set::params, "[n] -> { : n > 0 }"),
        ("[n] -> { [i, j] : 2 <= i < n and i <= j }", Set::lexmin, "[n] -> { [2, 2] : n > 2 }"),
        ("[n] -> { [i] : 0 <= 3i < n }", Set::lexmax, "[n] -> { [floor((n - 1)/3)] : n > 0 }"),
        ("{ [i, j] : j = 2i }", |s| s.project_out(DimType::Set, 0, 1), "{ [j] : j mod 2 = 0 }"),
        ("{ [i, j] : j = 2i }", |s| s.eliminate(DimType::Set, 0, 1), "{ [i, j] : j mod 2 = 0 }"),
        ("{ [i, j] : 0 <= i <= j }", |s| s.fix_si(DimType::Set, 1, 2), "{ [i, 2] : 0 <= i <= 2 }"),
        (
            "{ [i] }",
            |s| s.lower_bound_si(DimType::Set, 0, -2)?.upper_bound_si(DimType::Set, 0, 2),
            "{ [i] : -2 <= i <= 2 }",
        ),
        ("{ [i, j] }", |s| s.equate(DimType::Set, 0, DimType::Set, 1), "{ [i, i] }"),
        ("{ S[i] : i > 0 }", |s| s.insert_dims(DimType::Set, 0, 1)?.set_tuple_name("T"), "{ T[a, i] : i > 0 }"),
        ("[n] -> { [i] : i < n }", |s| s.move_dims(DimType::Set, 1, DimType::Param, 0, 1), "{ [i, n] : i < n }"),
        (
            "[n, m] -> { [i] : n <= i <= m }",
            |s| s.project_out_param_id(&Id::alloc(s.ctx(), "n", 0)?),
            "[m] -> { [i] : i <= m }",
        ),
        ("{ [i] : i = 0 or i = 1 or i = 3 }", |s| Set::from_basic_set(&s.simple_hull()?), "{ [i] : 0 <= i <= 3 }"),
        ("{ [1, 2]; [2, 4]; [7, 14] }", |s| Set::from_basic_set(&s.affine_hull()?), "{ [i, 2i] }"),
        ("{ [i] : 0 <= i <= 4 or 3 <= i <= 8 }", Set::coalesce, "{ [i] : 0 <= i <= 8 }"),
        (
            "{ [i, j] : i > j and j > 0 }",
            |s| s.drop_constraints_involving_dims(DimType::Set, 0, 1),
            "{ [i, j] : j > 0 }",
        ),
        ("[n] -> { : n > 3 }", Set::from_params, "[n] -> { [] : n > 3 }"),
        ("{ [A[i] -> B[j]] : i < j }", |s| s.unwrap()?.reverse()?.wrap(), "{ [B[j] -> A[i]] : i < j }"),
        ("{ [i] : 0 < i < 4 }", Set::neg, "{ [i] : -4 < i < 0 }"),
    ];
    let ctx = Ctx::new();
    for (input, operation, expected) in table {
        assert_set(operation(&set(&ctx, input)), expected);
    }
}

#[test]
fn questions_about_sets() {
    type Question = fn(&Set) -> Result<bool>;
    let table: &[(&str, Question, bool)] = &[
        ("{ [i] : 2i = 1 }", Set::is_empty, true),
        ("{ [i] : 0 < 3i < 4 }", Set::is_empty, false),
        ("{ [i] : i > 0 }", Set::is_bounded, false),
        ("{ [i, j] : 0 < i, j < 4 }", Set::is_bounded, true),
        ("{ [i, j] }", Set::plain_is_universe, true),
        ("{ [3, 4] }", Set::is_singleton, true),
        ("{ [i, j] : 0 < i, j < 4 }", Set::is_box, true),
        ("[n] -> { : n > 0 }", Set::is_params, true),
        ("{ [A[] -> B[]] }", Set::is_wrapping, true),
        ("{ [i, j] : j > 2 }", |s| s.involves_dims(DimType::Set, 0, 1), false),
        ("{ [i] : 0 <= i < 4 }", |s| s.is_subset(&set(s.ctx(), "{ [i] : i < 4 }")), true),
        ("{ [i] : 0 <= i < 4 }", |s| s.is_disjoint(&set(s.ctx(), "{ [i] : i = 4 }")), true),
        ("{ [i] : 0 <= i < 4 }", |s| s.is_strict_subset(&set(s.ctx(), "{ [i] : 0 <= i <= 3 }")), false),
    ];
    let ctx = Ctx::new();
    for (input, question, expected) in table {
        assert_eq!(question(&set(&ctx, input)).unwrap(), *expected, "{input}");
    }
}

#[test]
fn values_and_bounds() {
    let ctx = Ctx::new();
    let triangle = set(&ctx, "{ S[i, j] : 0 <= j <= i < 5 }");
    assert_eq!(triangle.count_val().unwrap().to_i64(), Some(15));
    assert_eq!(triangle.dim_max_val(1).unwrap().to_i64(), Some(4));
    assert_eq!(triangle.dim_min_val(0).unwrap().to_i64(), Some(0));
    let sum = Aff::read_from_str(&ctx, "{ S[i, j] -> [(2i - j)] }").unwrap();
    assert_eq!(triangle.max_val(&sum).unwrap().to_i64(), Some(8));
    assert_eq!(triangle.min_val(&sum).unwrap().to_i64(), Some(0));
    assert!(set(&ctx, "{ [i] : i > 0 }").dim_max_val(0).unwrap().is_infty().unwrap());
    assert!(set(&ctx, "{ [i] : false }").dim_max_val(0).unwrap().is_nan().unwrap());
    assert_pw_aff(set(&ctx, "[n] -> { [i] : 0 <= i < n }").dim_max(0), "[n] -> { [(n - 1)] : n > 0 }");
    assert!(set(&ctx, "{ [i] : false }").sample_point().unwrap().is_void().unwrap());
    assert_eq!(set(&ctx, "{ [i] : i mod 4 = 3 }").get_stride(0).unwrap().to_i64(), Some(4));
    let (best, none) =
        set(&ctx, "[n] -> { [i] : 0 <= i < n }").partial_lexmax(&set(&ctx, "[n] -> { : n < 4 }")).unwrap();
    assert_set(Ok(best), "[n] -> { [n - 1] : 0 < n < 4 }");
    assert_set(Ok(none), "[n] -> { : n <= 0 }");
}

#[test]
fn operations_on_two_maps() {
    type Operation = fn(&Map, &Map) -> Result<Map>;
    let table: &[(&str, Operation, &str, &str)] = &[
        ("{ A[i] -> B[i + 1] }", Map::apply_range, "{ B[i] -> C[2i] }", "{ A[i] -> C[2i + 2] }"),
        ("{ A[i] -> B[i + 1] }", Map::apply_domain, "{ A[i] -> C[i - 3] }", "{ C[i] -> B[i + 4] }"),
        ("{ A[i] -> B[i] }", Map::range_product, "{ A[i] -> C[2i] }", "{ A[i] -> [B[i] -> C[2i]] }"),
        ("{ A[i] -> [i] }", Map::flat_range_product, "{ A[i] -> [7] }", "{ A[i] -> [i, 7] }"),
        ("{ A[i] -> B[i] }", Map::domain_product, "{ C[j] -> B[3] }", "{ [A[3] -> C[j]] -> B[3] }"),
        ("{ A[i] -> B[i] }", Map::product, "{ C[j] -> D[j] }", "{ [A[i] -> C[j]] -> [B[i] -> D[j]] }"),
        ("{ [i] -> [j] : i < j }", Map::intersect, "{ [i] -> [j] : j < i + 3 }", "{ [i] -> [j] : i < j < i + 3 }"),
        ("{ [i] -> [j] : i < j }", Map::subtract, "{ [i] -> [i + 1] }", "{ [i] -> [j] : i + 1 < j }"),
    ];
    let ctx = Ctx::new();
    for (a, operation, b, expected) in table {
        assert_map(operation(&map(&ctx, a), &map(&ctx, b)), expected);
    }
}

#[test]
fn operations_on_one_map() {
    type Operation = fn(&Map) -> Result<Map>;
    let table: &[(&str, Operation, &str)] = &[
        ("{ A[i] -> B[2i] }", Map::reverse, "{ B[j] -> A[i] : j = 2i }"),
        ("{ [[A[i] -> B[j]] -> C[]] -> D[i] }", |m| m.range()?.identity(), "{ D[i] -> D[i] }"),
        ("{ [A[i] -> B[j]] -> C[i + j] }", Map::curry, "{ A[i] -> [B[j] -> C[i + j]] }"),
        ("{ A[i] -> [B[j] -> C[i + j]] }", Map::uncurry, "{ [A[i] -> B[j]] -> C[i + j] }"),
        ("{ [A[i] -> B[j]] -> [C[i] -> D[j]] }", Map::zip, "{ [A[i] -> C[i]] -> [B[j] -> D[j]] }"),
        ("{ [A[i] -> B[j]] -> C[i + j] }", Map::domain_factor_domain, "{ A[i] -> C[k] }"),
        ("{ A[i] -> [B[i] -> C[2i]] }", Map::range_factor_range, "{ A[i] -> C[2i] }"),
        ("{ [i] -> [j] : i <= j < i + 4 }", Map::lexmin, "{ [i] -> [i] }"),
        ("{ [i] -> [j] : 0 <= i < j < 9 }", |m| m.fix_si(DimType::In, 0, 6), "{ [6] -> [j] : 6 < j < 9 }"),
        ("{ [i, j] -> [a, b] }", |m| m.order_lt(DimType::In, 0, DimType::Out, 1), "{ [i, j] -> [a, b] : i < b }"),
        ("{ [i, j] -> [k] : k = i }", |m| m.project_out(DimType::In, 1, 1), "{ [i] -> [i] }"),
        ("{ A[i, j] -> A[i + 1, j - 1] }", |m| m.deltas()?.identity(), "{ A[1, -1] -> A[1, -1] }"),
        ("{ [i] -> [i + 1] : 0 <= i < 5 }", |m| Ok(m.transitive_closure()?.0), "{ [i] -> [j] : 0 <= i < j <= 5 }"),
        ("{ A[i] -> B[i] : 0 < i < 3 }", |m| m.intersect_range(&set(m.ctx(), "{ B[2] }")), "{ A[2] -> B[2] }"),
        ("{ A[i] -> B[j] }", |m| m.intersect_domain(&set(m.ctx(), "{ A[2] }")), "{ A[2] -> B[j] }"),
        ("{ A[i] -> B[i] : i > 3 }", |m| m.gist_domain(&set(m.ctx(), "{ A[i] : i > 3 }")), "{ A[i] -> B[i] }"),
        (
            "{ A[i, j] -> B[i] }",
            |m| Map::lex_lt(&m.get_space()?.domain()?.map_from_set()?.domain()?),
            "{ A[i, j] -> A[a, b] : i < a or (i = a and j < b) }",
        ),
        ("{ A[i] -> B[i] }", |m| Map::from_domain_and_range(&m.domain()?, &set(m.ctx(), "{ C[] }")), "{ A[i] -> C[] }"),
    ];
    let ctx = Ctx::new();
    for (input, operation, expected) in table {
        assert_map(operation(&map(&ctx, input)), expected);
    }
}

#[test]
fn questions_about_maps() {
    type Question = fn(&Map) -> Result<bool>;
    let table: &[(&str, Question, bool)] = &[
        ("{ [i] -> [2i] }", Map::is_single_valued, true),
        ("{ [i] -> [2i] }", Map::is_injective, true),
        ("{ [i] -> [j] : 2j <= i < 2j + 2 }", Map::is_single_valued, true),
        ("{ [i] -> [j] : 2j <= i < 2j + 2 }", Map::is_injective, false),
        ("{ [i] -> [i + 1] }", Map::is_bijective, true),
        ("{ [i] -> [i] }", Map::is_identity, true),
        ("{ [i] -> [j] : i < j < i + 1 }", Map::is_empty, true),
    ];
    let ctx = Ctx::new();
    for (input, question, expected) in table {
        assert_eq!(question(&map(&ctx, input)).unwrap(), *expected, "{input}");
    }
}

#[test]
fn unions_of_spaces() {
    type Operation = fn(&UnionMap, &UnionMap) -> Result<UnionMap>;
    let table: &[(&str, Operation, &str, &str)] = &[
        ("{ A[i] -> B[i]; C[i] -> D[i] }", UnionMap::apply_range, "{ B[i] -> E[i + 1] }", "{ A[i] -> E[i + 1] }"),
        (
            "{ A[i] -> [i]; B[i] -> [2i] }",
            UnionMap::lex_lt_union_map,
            "{ C[i] -> [0] }",
            "{ A[i] -> C[j] : i < 0; B[i] -> C[j] : i < 0 }",
        ),
        ("{ A[i] -> B[i] }", UnionMap::union, "{ C[i] -> D[i] }", "{ A[i] -> B[i]; C[i] -> D[i] }"),
        ("{ A[i] -> B[i]; C[i] -> D[i] }", UnionMap::subtract, "{ A[i] -> B[j] }", "{ C[i] -> D[i] }"),
        ("{ A[i] -> B[i] }", UnionMap::range_product, "{ A[i] -> D[i] }", "{ A[i] -> [B[i] -> D[i]] }"),
    ];
    let ctx = Ctx::new();
    for (a, operation, b, expected) in table {
        assert_union_map(operation(&union_map(&ctx, a), &union_map(&ctx, b)), expected);
    }
    let both = union_map(&ctx, "{ A[i] -> B[i]; C[i, j] -> D[i] : i = 0 }");
    assert_eq!(both.maps().unwrap().len(), 2);
    assert_map(both.extract_map(&map(&ctx, "{ A[i] -> B[j] }").get_space().unwrap()), "{ A[i] -> B[i] }");
    assert_map(both.extract_map(&map(&ctx, "{ A[i] -> Z[j] }").get_space().unwrap()), "{ A[i] -> Z[j] : false }");
    assert!(Map::from_union_map(&both).is_err());
    let sets = both.domain().unwrap();
    assert_eq!(sets.sets().unwrap().len(), 2);
    assert!(sets.is_equal(&UnionSet::read_from_str(&ctx, "{ A[i]; C[0, j] }").unwrap()).unwrap());
}

#[test]
fn piecewise_expressions() {
    type Operation = fn(&PwAff, &PwAff) -> Result<PwAff>;
    let table: &[(&str, Operation, &str, &str)] = &[
        ("{ [i] -> [(i)] }", PwAff::add, "{ [i] -> [(2i + 1)] }", "{ [i] -> [(3i + 1)] }"),
        ("{ [i] -> [(i)] }", PwAff::max, "{ [i] -> [(5)] }", "{ [i] -> [(i)] : i > 5; [i] -> [(5)] : i <= 5 }"),
        (
            "{ [i] -> [(i)] : i > 0 }",
            PwAff::union_min,
            "{ [i] -> [(7)] : i < 9 }",
            "{ [i] -> [(i)] : 0 < i < 7 or i > 8; [i] -> [(7)] : i <= 0 or 7 <= i < 9 }",
        ),
        (
            "{ [i] -> [(i)] }",
            PwAff::tdiv_q,
            "{ [i] -> [(4)] }",
            "{ [i] -> [(floor(i/4))] : i >= 0; [i] -> [(-floor((-i)/4))] : i < 0 }",
        ),
        ("{ [i] -> [(i)] }", PwAff::mul, "{ [i] -> [(-3)] }", "{ [i] -> [(-3i)] }"),
    ];
    let ctx = Ctx::new();
    for (a, operation, b, expected) in table {
        assert_pw_aff(operation(&pw_aff(&ctx, a), &pw_aff(&ctx, b)), expected);
    }
    let three = Val::int_from_si(&ctx, 3).unwrap();
    assert_pw_aff(pw_aff(&ctx, "{ [i] -> [(i)] }").mod_val(&three), "{ [i] -> [(i mod 3)] }");
    assert_set(pw_aff(&ctx, "{ [i] -> [(i)] }").ge_set(&pw_aff(&ctx, "{ [i] -> [(4)] }")), "{ [i] : i >= 4 }");
    assert_set(pw_aff(&ctx, "{ [i] -> [(i - 2)] : i < 9 }").nonneg_set(), "{ [i] : 2 <= i < 9 }");
    let pieces = pw_aff(&ctx, "{ [i] -> [(i)] : i > 5; [i] -> [(5)] : i <= 5 }").pieces().unwrap();
    assert_eq!(pieces.len(), 2);
    for (domain, value) in pieces {
        let whole = PwAff::from_aff(&value).unwrap().intersect_domain(&domain).unwrap();
        assert!(Map::from_pw_aff(&whole).unwrap().is_single_valued().unwrap());
    }
    let shift = MultiAff::read_from_str(&ctx, "{ [k] -> [k + 2] }").unwrap();
    assert_pw_aff(pw_aff(&ctx, "{ [i] -> [(i)] : i > 5 }").pullback_multi_aff(&shift), "{ [k] -> [(k + 2)] : k > 3 }");
}

#[test]
fn expressions_are_built_from_coefficients() {
    let ctx = Ctx::new();
    let space = Space::set_alloc(&ctx, 1, 2).unwrap().set_dim_name(DimType::Param, 0, "n").unwrap();
    let space = space.set_tuple_name(DimType::Set, "S").unwrap();
    let domain = LocalSpace::from_space(&space).unwrap();
    let aff = Aff::var_on_domain(&domain, DimType::Set, 0)
        .and_then(|aff| aff.set_coefficient_si(DimType::Param, 0, 4))
        .and_then(|aff| aff.add_constant_si(-1))
        .and_then(|aff| aff.scale_down_val(&Val::int_from_si(&ctx, 2)?))
        .and_then(|aff| aff.floor())
        .unwrap();
    assert_pw_aff(PwAff::from_aff(&aff), "[n] -> { S[i, j] -> [(2n + floor((i - 1)/2))] }");
    assert_eq!(aff.dim(DimType::Div).unwrap(), 1);
    assert_eq!(aff.get_coefficient_val(DimType::Param, 0).unwrap().to_i64(), Some(2));
    assert_eq!(aff.get_div(0).unwrap().get_denominator_val().unwrap().to_i64(), Some(2));
    let both = [aff.clone(), Aff::zero_on_domain(&domain).unwrap()];
    let range = space.map_from_set().unwrap();
    let multi = MultiAff::from_aff_list(&range, &both).unwrap();
    assert_eq!(multi.list().unwrap().len(), 2);
    assert!(multi.get_at(1).unwrap().plain_is_zero().unwrap());
    assert!(MultiAff::from_aff_list(&range, &both[..1]).is_err());
}

#[test]
fn values_become_machine_integers_when_they_fit() {
    let ctx = Ctx::new();
    let table = [
        ("0", Some(0)),
        ("-9223372036854775808", Some(i128::from(i64::MIN))),
        ("9223372036854775807", Some(i128::from(i64::MAX))),
        ("9223372036854775808", Some(1 << 63)),
        ("-170141183460469231731687303715884105728", Some(i128::MIN)),
        ("170141183460469231731687303715884105728", None),
        ("7/2", None),
        ("infty", None),
        ("-infty", None),
        ("NaN", None),
    ];
    for (text, expected) in table {
        let value = Val::from_str(&ctx, text).unwrap();
        assert_eq!(value.to_i128(), expected, "{text}");
        assert_eq!(value.to_i64(), expected.and_then(|value| i64::try_from(value).ok()), "{text}");
        assert_eq!(value.to_string(), text);
    }
    let [two, three] = [2, 3].map(|value| Val::int_from_si(&ctx, value).unwrap());
    assert_eq!(two.cmp(&three).unwrap(), std::cmp::Ordering::Less);
    assert!(two.cmp(&Val::nan(&ctx).unwrap()).is_err());
}

#[test]
fn ids_carry_a_number() {
    let ctx = Ctx::new();
    let id = Id::alloc(&ctx, "S", 42).unwrap();
    let named = set(&ctx, "{ [i] : i > 0 }").set_tuple_id(&id).unwrap();
    assert_eq!(named.get_tuple_id().unwrap().user(), 42);
    assert_eq!(named.get_tuple_name().unwrap(), "S");
    assert!(!named.is_equal(&set(&ctx, "{ S[i] : i > 0 }")).unwrap_or(false));
    assert!(named.reset_user().unwrap().is_equal(&set(&ctx, "{ S[i] : i > 0 }")).unwrap());
    assert!(id.is_equal(&Id::alloc(&ctx, "S", 42).unwrap()));
    assert!(!id.is_equal(&Id::alloc(&ctx, "S", 41).unwrap()));
    let n = Id::alloc(&ctx, "n", 0).unwrap();
    let with_parameter = set(&ctx, "[m, n] -> { [i] : i < n }");
    assert_eq!(with_parameter.find_dim_by_id(DimType::Param, &n).unwrap(), Some(1));
    assert_eq!(with_parameter.find_dim_by_name(DimType::Param, "q").unwrap(), None);
}

#[test]
fn dataflow_finds_the_last_write() {
    let ctx = Ctx::new();
    let flow = UnionAccessInfo::from_sink(&union_map(&ctx, "{ T[i] -> A[i] : 0 <= i < 9 }"))
        .and_then(|info| info.set_must_source(&union_map(&ctx, "{ S[i] -> A[i + 1] : 0 <= i < 9; R[] -> A[0] }")))
        .and_then(|info| info.set_schedule_map(&union_map(&ctx, "{ R[] -> [0, 0]; S[i] -> [i, 1]; T[i] -> [i, 2] }")))
        .and_then(|info| info.compute_flow())
        .unwrap();
    assert_union_map(flow.get_must_dependence(), "{ R[] -> T[0]; S[i] -> T[i + 1] : 0 <= i < 8 }");
    assert_union_map(flow.get_may_no_source(), "{ }");
}

#[test]
fn schedules_are_computed_tiled_and_turned_into_loops() {
    let ctx = Ctx::new();
    ctx.set_tile_scale_tile_loops(false);
    ctx.set_tile_shift_point_loops(false);
    let domain = UnionSet::read_from_str(&ctx, "[n] -> { S[t, i] : 0 <= t < n and 0 < i < n }").unwrap();
    let dependences =
        union_map(&ctx, "{ S[t, i] -> S[t + 1, i - 1]; S[t, i] -> S[t + 1, i]; S[t, i] -> S[t + 1, i + 1] }");
    let schedule = ctx
        .within(Budget::new("schedule", 100_000), || {
            ScheduleConstraints::on_domain(&domain)?
                .set_validity(&dependences)?
                .set_proximity(&dependences)?
                .compute_schedule()
        })
        .unwrap();
    let band = schedule.get_root().unwrap().child(0).unwrap();
    assert_eq!(band.get_type().unwrap(), ScheduleNodeType::Band);
    assert_eq!(band.band_n_member().unwrap(), 2);
    assert!(band.band_get_permutable().unwrap());
    assert_union_map(band.band_get_partial_schedule_union_map(), "[n] -> { S[t, i] -> [t, t + i] }");
    let sizes = MultiVal::read_from_str(&ctx, "{ [32, 32] }").unwrap();
    let tiled = band.band_tile(&sizes).unwrap();
    let marked = tiled.child(0).unwrap().insert_mark(&Id::alloc(&ctx, "points", 0).unwrap()).unwrap();
    assert_eq!(marked.parent().unwrap().band_n_member().unwrap(), 2);
    assert_eq!(marked.mark_get_id().unwrap().get_name().unwrap(), "points");
    assert_eq!(marked.get_schedule_depth().unwrap(), 2);
    let build = AstBuild::from_context(&set(&ctx, "[n] -> { : n > 0 }")).unwrap();
    let node = build.node_from_schedule(&marked.get_schedule().unwrap()).unwrap();
    let mut kinds = Vec::new();
    node.foreach_descendant_top_down::<IslError>(|node| {
        kinds.push(node.get_type()?);
        Ok(true)
    })
    .unwrap();
    use AstNodeType::{For, Mark, User};
    assert_eq!(kinds, [For, For, Mark, For, For, User]);
    let condition = node.for_get_cond().unwrap();
    assert_eq!(condition.get_type().unwrap(), AstExprType::Op);
    assert_eq!(condition.get_op_type().unwrap(), AstExprOpType::Le);
    assert_eq!(condition.op_args().unwrap()[0].get_id().unwrap().get_name().unwrap(), "c0");
}

#[test]
fn trees_are_rewritten_bottom_up() {
    let ctx = Ctx::new();
    let schedule = Schedule::read_from_str(
        &ctx,
        r#"{ domain: "{ S[i]; T[i] }", child: { sequence: [
            { filter: "{ S[i] }", child: { schedule: "[{ S[i] -> [(i)] }]" } },
            { filter: "{ T[i] }", child: { schedule: "[{ T[i] -> [(i)] }]" } } ] } }"#,
    )
    .unwrap();
    let rewritten = schedule
        .map_schedule_node_bottom_up::<IslError>(|node| match node.get_type()? {
            ScheduleNodeType::Band => node.insert_mark(&Id::alloc(node.ctx(), "loop", 0)?),
            _ => Ok(node),
        })
        .unwrap();
    let mut marks = 0;
    rewritten
        .foreach_schedule_node_top_down::<IslError>(|node| {
            marks += usize::from(node.get_type()? == ScheduleNodeType::Mark);
            Ok(true)
        })
        .unwrap();
    assert_eq!(marks, 2);
    assert_eq!(rewritten.get_root().unwrap().child(0).unwrap().children().unwrap().len(), 2);
}

#[test]
fn what_is_printed_is_parsed_again() {
    macro_rules! round_trip {
        ($ctx:ident $($ty:ident $text:literal)*) => {$(
            let object = $ty::read_from_str(&$ctx, $text).unwrap();
            assert_eq!(object.to_string(), $text);
            assert_eq!(format!("{object:?}"), $text);
            assert_eq!(object.clone().to_string(), $text);
        )*};
    }
    let ctx = Ctx::new();
    round_trip! { ctx
        Val "-7/3"
        MultiVal "{ [4, 8] }"
        Id "name"
        Space "[n] -> { S[i, j] -> A[x] }"
        Aff "[n] -> { S[i] -> [(n + 2i)] }"
        PwAff "{ [i] -> [(i)] : i >= 0 }"
        MultiAff "{ S[i] -> A[(i), (3)] }"
        PwMultiAff "{ S[i] -> A[(i)] : i > 0 }"
        UnionPwAff "{ S[i] -> [(i)] }"
        MultiUnionPwAff "[{ S[i] -> [(i)] }]"
        UnionPwMultiAff "{ S[i] -> A[(i)] }"
        BasicSet "{ [i] : i >= 0 }"
        Set "{ [i] : i < 0 or i >= 6 }"
        UnionSet "{ S[i] : i >= 0 }"
        BasicMap "{ A[i] -> B[o0] : o0 > i }"
        Map "{ A[i] -> B[i] }"
        UnionMap "{ A[i] -> B[i] }"
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let ctx = Ctx::new();
    let line = set(&ctx, "{ A[i] }");
    let plane = set(&ctx, "{ B[i, j] }");
    let refusals: [(IslError, &str); 6] = [
        (line.intersect(&plane).unwrap_err(), "isl_set_intersect"),
        (line.gist(&plane).unwrap_err(), "isl_set_gist"),
        (line.fix_si(DimType::Set, 3, 0).unwrap_err(), "isl_set_fix_si"),
        (line.fix_si(DimType::Set, 0, i64::MAX).unwrap_err(), "isl_set_fix_si"),
        (Set::read_from_str(&ctx, "{ [i : }").unwrap_err(), "isl_set_read_from_str"),
        (line.set_tuple_name("a\0b").unwrap_err(), "isl_set_set_tuple_name"),
    ];
    for (refusal, name) in refusals {
        match refusal {
            IslError::Invalid { function, message } => {
                assert_eq!(function, name);
                assert!(!message.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
    let elsewhere = Ctx::new();
    assert!(line.intersect(&set(&elsewhere, "{ A[i] }")).is_err());
    assert!(set(&ctx, "{ [i] }").get_tuple_name().is_err());
}

#[test]
fn objects_keep_their_context_alive() {
    let object = {
        let ctx = Ctx::new();
        set(&ctx, "{ [i] : 0 <= i < 4 }")
    };
    assert_eq!(object.count_val().unwrap().to_i64(), Some(4));
}

/// An assignment S to a cell t and uses T of its value: a use binds the assignments after it unless each value stays in its iteration.
#[test]
fn pairs_bind_where_the_condition_beside_them_is_not_local() {
    let ctx = Ctx::new();
    let in_one_iteration = [
        "{ S[i, j] : 0 <= i, j < 9; T[i, j] : 0 <= i, j < 9 }",
        "{ [S[i, j] -> t[]] -> [T[i, j] -> t[]] }",
        "{ [T[i, j] -> t[]] -> [S[a, b] -> t[]] : a > i or (a = i and b > j) }",
    ];
    let in_one_row = [
        "{ S[i] : 0 <= i < 9; T[i, j] : 0 <= i, j < 9 }",
        "{ [S[i] -> t[]] -> [T[i, j] -> t[]] }",
        "{ [T[i, j] -> t[]] -> [S[a] -> t[]] : a > i }",
    ];
    let members = |[domain, live, order]: [&str; 3], conditional: bool| {
        let (live, order) = (union_map(&ctx, live), union_map(&ctx, order));
        let (flow, later) = (live.factor_domain().unwrap(), order.factor_domain().unwrap());
        let schedule = ScheduleConstraints::on_domain(&UnionSet::read_from_str(&ctx, domain).unwrap())
            .and_then(|c| c.set_proximity(&flow))
            .and_then(|c| match conditional {
                true => c.set_validity(&flow)?.set_conditional_validity(&live, &order),
                false => c.set_validity(&flow.union(&later)?),
            })
            .and_then(|c| c.compute_schedule())
            .unwrap();
        schedule.get_root().unwrap().child(0).unwrap().band_n_member().unwrap()
    };
    assert_eq!([members(in_one_iteration, true), members(in_one_iteration, false)], [2, 1]);
    assert_eq!([members(in_one_row, true), members(in_one_row, false)], [1, 1]);
}
