//! Examples with exact answers. Those with polynomials are the ones of the article "Optimistic Delinearization of Parametrically
//! Sized Arrays" (Grosser et al., 2015).

use super::*;
use crate::polynomial::Var;
use crate::scop::ParamId;

/// "p0*p1*i0 - 2*i1 + 3": sums of products, no parentheses.
pub fn polynomial(text: &str) -> Polynomial {
    let text = text.replace(' ', "").replace('-', "+-");
    let mut sum = Polynomial::zero();
    for term in text.split('+').filter(|t| !t.is_empty()) {
        let (sign, term) = term.strip_prefix('-').map_or((1, term), |rest| (-1, rest));
        let mut product = Polynomial::constant(sign);
        for factor in term.split('*') {
            let factor = match (factor.strip_prefix('p'), factor.strip_prefix('i')) {
                (Some(k), _) => Polynomial::param(ParamId(k.parse().unwrap())),
                (_, Some(d)) => Polynomial::var(Var::Counter(d.parse().unwrap())),
                _ => Polynomial::constant(factor.parse().unwrap()),
            };
            product = product.mul(&factor).unwrap();
        }
        sum = sum.add(&product).unwrap();
    }
    sum
}

/// Accesses to cells of one byte, as (domain, offset); the context; then the inner sizes, the condition and the relations.
struct Case {
    ctx: Ctx,
    accesses: Vec<LinearAccess>,
    shape: Shape,
}

fn recover_from(context: &str, accesses: &[(&str, &str)]) -> Case {
    let ctx = Ctx::new();
    let parse = |(domain, offset): &(&str, &str)| {
        let domain = Set::read_from_str(&ctx, domain).unwrap();
        let everywhere = Set::universe(&domain.get_space().unwrap()).unwrap();
        let offset = PiecewisePolynomial { pieces: vec![(everywhere, polynomial(offset))] };
        LinearAccess { domain, offset: Offset::Polynomial(offset), bytes: 1 }
    };
    let accesses: Vec<LinearAccess> = accesses.iter().map(parse).collect();
    let context = Set::read_from_str(&ctx, context).unwrap();
    let shape = recover_shape(&ctx, &accesses, &context).unwrap();
    Case { ctx, accesses, shape }
}

impl Case {
    fn sizes(&self) -> String {
        self.shape.inner_sizes.iter().map(|s| format!("[{s}]")).collect()
    }
    #[track_caller]
    fn condition_is(&self, expected: &str) {
        let expected = Set::read_from_str(&self.ctx, expected).unwrap();
        assert!(self.shape.condition.is_equal(&expected).unwrap(), "{}", self.shape.condition);
    }
    #[track_caller]
    fn is_proved(&self) {
        assert!(self.shape.condition.plain_is_universe().unwrap(), "{}", self.shape.condition);
    }
    /// The relation is the given one on the whole domain, and has as many pieces.
    #[track_caller]
    fn views_are(&self, expected: &[&str]) {
        assert_eq!(self.shape.relations.len(), expected.len());
        for ((access, relation), expected) in self.accesses.iter().zip(&self.shape.relations).zip(expected) {
            let relation = relation.as_ref().expect("a view");
            let expected = Map::read_from_str(&self.ctx, expected).unwrap();
            let expected = expected.intersect_domain(&access.domain).unwrap();
            assert!(relation.is_equal(&expected).unwrap(), "{relation}");
            assert_eq!(relation.n_basic_map().unwrap(), expected.n_basic_map().unwrap(), "{relation}");
        }
    }
}

const NOTHING: &str = "{ : }";

#[test]
fn listing_4_a_sub_array_at_an_offset() {
    // n1, n2, o0, o1, o2, s0, s1, s2
    let unsigned = "[p0, p1, p2, p3, p4, p5, p6, p7] -> { : p0 >= 0 and p1 >= 0 and p2 >= 0 and p3 >= 0 and p4 >= 0 and p5 >= 0 and p6 >= 0 and p7 >= 0 }";
    let domain = "[p5, p6, p7] -> { [i, j, k] : 0 <= i < p5 and 0 <= j < p6 and 0 <= k < p7 }";
    let case = recover_from(unsigned, &[(domain, "p0*p1*p2 + p1*p3 + p4 + p0*p1*i0 + p1*i1 + i2")]);
    assert_eq!(case.sizes(), "[p0][p1]");
    case.condition_is("[p0, p1, p3, p4, p6, p7] -> { : p3 + p6 <= p0 and p4 + p7 <= p1 }");
    let unsigned = "p0 >= 0 and p1 >= 0 and p2 >= 0 and p3 >= 0 and p4 >= 0";
    case.views_are(&[&format!("[p0, p1, p2, p3, p4] -> {{ [i, j, k] -> [i + p2, j + p3, k + p4] : {unsigned} }}")]);
}

#[test]
fn listing_3_odd_rows_to_even_rows() {
    let domain = "[p0] -> { [i, j] : 0 <= i < p0 and 0 <= j < p0 }";
    let case = recover_from(NOTHING, &[(domain, "2*p0*i1 + p0 + i0"), (domain, "2*p0*i1 + i0")]);
    assert_eq!(case.sizes(), "[p0]");
    case.is_proved();
    case.views_are(&["{ [i, j] -> [2j + 1, i] }", "{ [i, j] -> [2j, i] }"]);
}

#[test]
fn listing_5_sizes_in_subscripts() {
    // N, M, the number of planes
    let some = "[p0, p1] -> { : p0 >= 2 and p1 >= 2 }";
    let once = "[p0, p1] -> { [] : p0 >= 2 and p1 >= 2 }";
    let case = recover_from(
        some,
        &[
            (
                "[p0, p1, p2] -> { [i, j, k] : 0 <= i < p2 and 0 <= j < p0 and 0 <= k < p1 and p0 >= 2 and p1 >= 2 }",
                "p0*p1*i0 + p1*i1 + i2",
            ),
            (once, "p0*p1 + p1 + 1"),
            (once, "p1 - 1"),
            (once, "p0*p1 - p1"),
            (once, "p0*p1 - 1"),
        ],
    );
    assert_eq!(case.sizes(), "[p0][p1]");
    case.is_proved();
    case.views_are(&[
        "{ [i, j, k] -> [i, j, k] }",
        "{ [] -> [1, 1, 1] }",
        "[p1] -> { [] -> [0, 0, p1 - 1] }",
        "[p0] -> { [] -> [0, p0 - 1, 0] }",
        "[p0, p1] -> { [] -> [0, p0 - 1, p1 - 1] }",
    ]);
}

#[test]
fn listing_5_without_knowing_that_the_array_has_cells() {
    let once = "{ [] }";
    let case = recover_from(
        NOTHING,
        &[
            ("[p0, p1, p2] -> { [i, j, k] : 0 <= i < p2 and 0 <= j < p0 and 0 <= k < p1 }", "p0*p1*i0 + p1*i1 + i2"),
            (once, "p0*p1 + p1 + 1"),
            (once, "p1 - 1"),
            (once, "p0*p1 - p1"),
            (once, "p0*p1 - 1"),
        ],
    );
    assert_eq!(case.sizes(), "[p0][p1]");
    case.condition_is("[p0, p1] -> { : p0 >= 2 and p1 >= 2 }");
}

#[test]
fn a_row_that_only_the_parameters_know_has_two_versions() {
    let domain = "[p2] -> { [i] : 0 <= i < p2 }";
    let case = recover_from(NOTHING, &[(domain, "p0*i0 + p0 + p1")]);
    assert_eq!(case.sizes(), "[p0]");
    case.condition_is("[p0, p1] -> { : -p0 <= p1 < p0 }");
    case.views_are(&["[p0, p1] -> { [i] -> [i + 1, p1] : p1 >= 0; [i] -> [i, p0 + p1] : p1 < 0 }"]);
}

#[test]
fn a_column_in_two_rows_has_two_pieces() {
    let domain = "[p0, p1] -> { [i, j] : 0 <= i < p1 and -10 <= j < p0 - 10 and p0 >= 20 }";
    let case = recover_from(NOTHING, &[(domain, "p0*i0 + p0 + i1")]);
    assert_eq!(case.sizes(), "[p0]");
    case.is_proved();
    case.views_are(&["[p0] -> { [i, j] -> [i + 1, j] : j >= 0; [i, j] -> [i, p0 + j] : j < 0 }"]);
}

#[test]
fn listing_7_a_border_of_one_on_each_side() {
    // R, S, Q
    let domain = "[p0, p1, p2] -> { [i, j, k] : 1 <= i <= p2 and 1 <= j <= p0 and 1 <= k <= p1 }";
    let out = recover_from(NOTHING, &[(domain, "p0*p1*i0 + 2*p0*i0 + 2*p1*i0 + 4*i0 + p1*i1 + 2*i1 + i2")]);
    assert_eq!(out.sizes(), "[p0 + 2][p1 + 2]");
    out.is_proved();
    out.views_are(&["{ [i, j, k] -> [i, j, k] }"]);
    let centre = "p0*p1*i0 + 2*p0*i0 + 2*p1*i0 + 4*i0 + p1*i1 + 2*i1 + i2";
    // One plane, one row and one cell.
    let step = "p0*p1 + 2*p0 + 2*p1 + 4 + p1 + 2 + 1";
    let minus = format!("{centre} - p0*p1 - 2*p0 - 2*p1 - 4 - p1 - 2 - 1");
    let case = recover_from(NOTHING, &[(domain, &minus), (domain, centre), (domain, &format!("{centre} + {step}"))]);
    assert_eq!(case.sizes(), "[p0 + 2][p1 + 2]");
    case.is_proved();
    case.views_are(&[
        "{ [i, j, k] -> [i - 1, j - 1, k - 1] }",
        "{ [i, j, k] -> [i, j, k] }",
        "{ [i, j, k] -> [i + 1, j + 1, k + 1] }",
    ]);
}

#[test]
fn listing_8_the_last_of_no_elements() {
    // maxgrid, length
    let diff = "[p0, p1] -> { [j, i, c] : 0 <= j < p0 and j <= i < p0 and 0 <= c < p1 }";
    let mean = "[p0] -> { [j, i] : 0 <= j < p0 and j <= i < p0 }";
    let case = recover_from(NOTHING, &[(diff, "p0*p1*i0 + p1*i1 + i2"), (mean, "p0*p1*i0 + p1*i1 + p1 - 1")]);
    assert_eq!(case.sizes(), "[p0][p1]");
    case.condition_is("[p1] -> { : p1 > 0 }");
    case.views_are(&["{ [j, i, c] -> [j, i, c] }", "[p1] -> { [j, i] -> [j, i, p1 - 1] }"]);
}

#[test]
fn listing_9_edge_detection() {
    // NN, KK, dead_rows, dead_cols
    let outer = "[p0, p1] -> { [r, c] : 0 <= r <= p0 - p1 and 0 <= c <= p0 - p1 }";
    let inner =
        "[p0, p1] -> { [r, c, i, j] : 0 <= r <= p0 - p1 and 0 <= c <= p0 - p1 and 0 <= i < p1 and 0 <= j < p1 }";
    let written = "p0*i0 + p0*p2 + i1 + p3";
    let output = recover_from(NOTHING, &[(outer, written), (inner, written), (outer, written)]);
    assert_eq!(output.sizes(), "[p0]");
    let view = "[p2, p3] -> { [r, c] -> [r + p2, c + p3] }";
    output.views_are(&[view, "[p2, p3] -> { [r, c, i, j] -> [r + p2, c + p3] }", view]);
    let paper = "[p0, p1, p3] -> { : p1 >= p0 + 1 or (p0 >= p1 and p1 >= p3 + 1 and p3 >= 0) }";
    let paper = Set::read_from_str(&output.ctx, paper).unwrap();
    // Anything is accessed only if KK <= NN; what a condition says elsewhere does not matter.
    let paper = paper.intersect(&Set::read_from_str(&output.ctx, "[p0, p1] -> { : p1 <= p0 }").unwrap()).unwrap();
    assert!(paper.is_subset(&output.shape.condition).unwrap(), "{}", output.shape.condition);
    let input = recover_from(NOTHING, &[(inner, "p0*i0 + p0*i2 + i1 + i3")]);
    assert_eq!(input.sizes(), "[p0]");
    input.is_proved();
    input.views_are(&["{ [r, c, i, j] -> [r + i, c + j] }"]);
    let kernel = recover_from(NOTHING, &[(inner, "p1*i2 + i3")]);
    assert_eq!(kernel.sizes(), "[p1]");
    kernel.is_proved();
    kernel.views_are(&["{ [r, c, i, j] -> [i, j] }"]);
}

#[test]
fn the_same_border_in_two_dimensions() {
    // [][N + 1][N + 1]
    let domain = "[p0, p1] -> { [i, j, k] : 0 <= i < p1 and 0 <= j <= p0 and 0 <= k <= p0 }";
    let case = recover_from(NOTHING, &[(domain, "p0*p0*i0 + 2*p0*i0 + i0 + p0*i1 + i1 + i2")]);
    assert_eq!(case.sizes(), "[p0 + 1][p0 + 1]");
    case.is_proved();
    case.views_are(&["{ [i, j, k] -> [i, j, k] }"]);
}

#[test]
fn a_row_of_twice_the_parameter_is_taken_where_it_is_needed() {
    let domain = "[p0, p1] -> { [i, j] : 0 <= i < p1 and 0 <= j < 2p0 }";
    let case = recover_from(NOTHING, &[(domain, "2*p0*i0 + i1")]);
    assert_eq!(case.sizes(), "[2*p0]");
    case.is_proved();
    case.views_are(&["{ [i, j] -> [i, j] }"]);
}

#[test]
fn a_dimension_without_a_counter_is_found_between_others() {
    // A[i][0][k] in [][N][M]: only the domain tells which of the two sizes is the inner one.
    let domain = "[p0, p1, p2] -> { [i, k] : 0 <= i < p2 and 0 <= k < p1 and p0 >= 1 }";
    let case = recover_from(NOTHING, &[(domain, "p0*p1*i0 + i1")]);
    assert_eq!(case.sizes(), "[p0][p1]");
    case.is_proved();
    case.views_are(&["{ [i, k] -> [i, 0, k] }"]);
}

#[test]
fn a_sum_of_counters_hides_the_border() {
    // A[i][i + j] in [][N + 2], where j may be negative: the stride of i is N + 3.
    let domain = "[p0] -> { [i, j] : 0 <= i < p0 and -i <= j < p0 + 2 - i }";
    let case = recover_from(NOTHING, &[(domain, "p0*i0 + 3*i0 + i1")]);
    assert_eq!(case.sizes(), "[p0 + 2]");
    case.is_proved();
    case.views_are(&["{ [i, j] -> [i, i + j] }"]);
}

#[test]
fn the_diagonal_shares_the_shape_of_the_matrix() {
    let square = "[p0] -> { [i, j] : 0 <= i < p0 and 0 <= j < p0 }";
    let line = "[p0] -> { [i] : 0 <= i < p0 }";
    let case = recover_from(
        NOTHING,
        &[(line, "p0*i0 + i0"), (square, "p0*i0 + i1"), (square, "p0*i1 + i0"), (line, "p0*i0 + p0 - 1 - i0")],
    );
    assert_eq!(case.sizes(), "[p0]");
    case.is_proved();
    case.views_are(&[
        "{ [i] -> [i, i] }",
        "{ [i, j] -> [i, j] }",
        "{ [i, j] -> [j, i] }",
        "[p0] -> { [i] -> [i, p0 - 1 - i] }",
    ]);
}

#[test]
fn four_dimensions_and_a_sum_of_parameters() {
    let domain =
        "[p0, p1, p2, p3] -> { [i, j, k, l] : 0 <= i < p3 and 0 <= j < p0 and 0 <= k < p1 + p2 and 0 <= l < p0 }";
    let offset = "p0*p1*p0*i0 + p0*p2*p0*i0 + p1*p0*i1 + p2*p0*i1 + p0*i2 + i3";
    let case = recover_from(NOTHING, &[(domain, offset)]);
    assert_eq!(case.sizes(), "[p0][p1 + p2][p0]");
    case.is_proved();
    case.views_are(&["{ [i, j, k, l] -> [i, j, k, l] }"]);
}

#[test]
fn an_access_that_defeats_every_shape_is_left_out() {
    let square = "[p0] -> { [i, j] : 0 <= i < p0 and 0 <= j < p0 }";
    let case = recover_from(NOTHING, &[(square, "p0*i0 + i1"), (square, "i0*i1"), (square, "p0*i1 + i0")]);
    assert_eq!(case.sizes(), "[p0]");
    case.is_proved();
    assert!(case.shape.relations[0].is_some() && case.shape.relations[2].is_some());
    assert!(case.shape.relations[1].is_none());
    assert_eq!(case.shape.refusal.as_deref(), Some("its offset multiplies loop counters with each other"));
}

#[test]
fn strides_that_do_not_divide_each_other_have_no_shape() {
    let domain = "[p0, p1] -> { [i, j, k] : 0 <= i < 10 and 0 <= j < 10 and 0 <= k < 2 }";
    let case = recover_from(NOTHING, &[(domain, "p0*p0*i0 + p1*p1*i1 + i2")]);
    assert!(case.shape.inner_sizes.is_empty());
    assert!(case.shape.relations[0].is_none());
    assert_eq!(case.shape.refusal.as_deref(), Some(NO_SHAPE));
}

#[test]
fn a_wide_access_covers_cells_of_one_row() {
    let ctx = Ctx::new();
    let access = |domain: &str, offset: &str, bytes| {
        let domain = Set::read_from_str(&ctx, domain).unwrap();
        let everywhere = Set::universe(&domain.get_space().unwrap()).unwrap();
        let offset = Offset::Polynomial(PiecewisePolynomial { pieces: vec![(everywhere, polynomial(offset))] });
        LinearAccess { domain, offset, bytes }
    };
    let accesses = [
        access("[p0] -> { [i, j] : 0 <= i < 10 and 0 <= j < p0 }", "8*p0*i0 + 8*i1", 8),
        access("[p0] -> { [i, j] : 0 <= i < 10 and 0 <= j < p0 }", "8*p0*i0 + 8*i1 + 4", 4),
    ];
    let shape = recover_shape(&ctx, &accesses, &everywhere(&ctx).unwrap()).unwrap();
    assert_eq!((shape.cell_bytes, shape.inner_sizes), (4, vec![polynomial("2*p0")]));
    assert!(shape.condition.plain_is_universe().unwrap());
    let wide = "[p0] -> { [i, j] -> [i, e] : 0 <= i < 10 and 0 <= j < p0 and 2j <= e <= 2j + 1 }";
    let wide = Map::read_from_str(&ctx, wide).unwrap();
    assert!(shape.relations[0].as_ref().unwrap().is_equal(&wide).unwrap());
}

#[test]
fn a_size_that_is_too_small_for_an_access_is_a_condition() {
    let domain = "[p0, p1] -> { [i, j] : 0 <= i < 10 and 0 <= j < p1 }";
    let case = recover_from(NOTHING, &[(domain, "p0*i0 + i1")]);
    assert_eq!(case.sizes(), "[p0]");
    case.condition_is("[p0, p1] -> { : p1 <= p0 }");
}

/// Each access as "domain | offset in bytes | bytes".
fn flat_access(ctx: &Ctx, text: &str) -> LinearAccess {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    let domain = Set::read_from_str(ctx, parts[0]).unwrap();
    let offset = PwAff::read_from_str(ctx, parts[1]).unwrap();
    LinearAccess { domain, offset: Offset::Affine(offset), bytes: parts[2].parse().unwrap() }
}

fn constant_condition(access: &str) -> String {
    let ctx = Ctx::new();
    recover_shape(&ctx, &[flat_access(&ctx, access)], &everywhere(&ctx).unwrap()).unwrap().condition.to_string()
}

fn constant_shape(accesses: &[&str]) -> (Vec<i64>, u64, Vec<String>) {
    let ctx = Ctx::new();
    let flat: Vec<LinearAccess> = accesses.iter().map(|text| flat_access(&ctx, text)).collect();
    let shape = recover_shape(&ctx, &flat, &everywhere(&ctx).unwrap()).unwrap();
    check_against_flat(&ctx, &flat, &shape);
    let sizes = shape.inner_sizes.iter().map(|size| size.as_constant().unwrap() as i64).collect();
    (sizes, shape.cell_bytes, shape.relations.iter().map(|r| r.as_ref().unwrap().to_string()).collect())
}

/// The subscripts, flattened again, are the cells of the offset, and inner subscripts are in range: exactness, by isl.
fn check_against_flat(ctx: &Ctx, flat: &[LinearAccess], shape: &Shape) {
    let names: Vec<String> = (0..=shape.inner_sizes.len()).map(|k| format!("s{k}")).collect();
    let mut expression = names[0].clone();
    let mut ranges = Vec::new();
    for (name, size) in names[1..].iter().zip(&shape.inner_sizes) {
        expression = format!("{size}*({expression}) + {name}");
        ranges.push(format!("0 <= {name} < {size}"));
    }
    let flatten = Map::read_from_str(ctx, &format!("{{ [{}] -> [{expression}] }}", names.join(", "))).unwrap();
    let range = if ranges.is_empty() { "true".into() } else { ranges.join(" and ") };
    let inside = Set::read_from_str(ctx, &format!("{{ [{}] : {range} }}", names.join(", "))).unwrap();
    for (access, relation) in flat.iter().zip(&shape.relations) {
        let relation = relation.as_ref().unwrap().intersect_params(&shape.condition).unwrap();
        assert!(relation.range().unwrap().is_subset(&inside).unwrap(), "{relation}");
        let domain = access.domain.intersect_params(&shape.condition).unwrap();
        let bytes = Map::from_pw_aff(access.offset.as_affine().unwrap()).unwrap().intersect_domain(&domain).unwrap();
        let cell = shape.cell_bytes;
        let cells = Map::read_from_str(
            ctx,
            &format!("{{ [o] -> [c] : o <= {cell}*c and {cell}*c + {cell} <= o + {} }}", access.bytes),
        );
        let expected = bytes.apply_range(&cells.unwrap()).unwrap();
        assert!(relation.apply_range(&flatten).unwrap().is_equal(&expected).unwrap(), "{relation} for {expected}");
    }
}

const SQUARE: &str = "{ [i, j] : 0 <= i < 1000 and 0 <= j < 1200 }";

#[test]
fn rows_come_from_the_stride() {
    let (sizes, cell, relations) = constant_shape(&[&format!("{SQUARE} | {{ [i, j] -> [9600i + 8j] }} | 8")]);
    assert_eq!((sizes, cell), (vec![1200], 8));
    assert_eq!(relations, ["{ [i, j] -> [i, j] : 0 <= i <= 999 and 0 <= j <= 1199 }"]);
}

#[test]
fn a_constant_larger_than_a_row_is_split_so_that_the_column_is_in_range() {
    let inner = "{ [i, j] : 1 <= i < 999 and 1 <= j < 1199 }";
    let (sizes, _, relations) = constant_shape(&[
        &format!("{inner} | {{ [i, j] -> [9600i + 8j + 9592] }} | 8"),
        &format!("{inner} | {{ [i, j] -> [9600i + 8j - 9592] }} | 8"),
    ]);
    assert_eq!(sizes, [1200]);
    assert_eq!(
        relations,
        [
            "{ [i, j] -> [1 + i, -1 + j] : 0 < i <= 998 and 0 < j <= 1198 }",
            "{ [i, j] -> [-1 + i, 1 + j] : 0 < i <= 998 and 0 < j <= 1198 }"
        ]
    );
}

#[test]
fn three_dimensions() {
    let domain = "{ [i, j, k] : 0 <= i < 10 and 1 <= j < 20 and 0 <= k < 29 }";
    let (sizes, _, relations) =
        constant_shape(&[&format!("{domain} | {{ [i, j, k] -> [4*(600i + 30j + k - 29)] }} | 4")]);
    assert_eq!(sizes, [20, 30]);
    assert_eq!(relations[0], "{ [i, j, k] -> [i, -1 + j, 1 + k] : 0 <= i <= 9 and 0 < j <= 19 and 0 <= k <= 28 }");
}

#[test]
fn a_column_out_of_its_row_stays_flat() {
    let wide = "{ [i, j] : 0 <= i < 1000 and 0 <= j < 1300 }";
    let (sizes, _, _) = constant_shape(&[&format!("{wide} | {{ [i, j] -> [9600i + 8j] }} | 8")]);
    assert!(sizes.is_empty());
}

#[test]
fn parameters_the_domain_does_not_bound_become_a_condition() {
    let unknown = "[p0] -> { [i, j] : 0 <= i < p0 and 0 <= j < p0 }";
    let bounded = "[p0] -> { [i, j] : 0 <= i < p0 and 0 <= j < p0 and p0 <= 1200 }";
    let offset = "[p0] -> { [i, j] -> [9600i + 8j] }";
    assert_eq!(constant_shape(&[&format!("{unknown} | {offset} | 8")]).0, [1200]);
    assert_eq!(constant_condition(&format!("{unknown} | {offset} | 8")), "[p0] -> {  : p0 <= 1200 }");
    assert_eq!(constant_condition(&format!("{bounded} | {offset} | 8")), "{  :  }");
    assert_eq!(constant_shape(&[&format!("{bounded} | {offset} | 8")]).0, [1200]);
}

/// A part of a square that begins at p0 and is p1 wide: the row is the one that `start` suggests, not the one that holds the least int.
#[test]
fn a_parameter_in_the_column_is_taken_for_small() {
    let range = "-2147483648 <= p0 <= 2147483647";
    let part = format!("[p0, p1] -> {{ [i, j] : 0 <= i < p1 and 0 <= j < p1 and {range} }}");
    let offset = "[p0, p1] -> { [i, j] -> [8*(1024*(p0 + i) + p0 + j)] }";
    let access = format!("{part} | {offset} | 8");
    assert_eq!(constant_shape(&[&access]).0, [1024]);
    assert_eq!(constant_condition(&access), "[p0, p1] -> {  : p0 >= 0 and p1 <= 1024 - p0 }");
    let known = "[p0, p1] -> { [i, j] : 0 <= i < p1 and 0 <= j < p1 and 2048 <= p0 <= 2147483647 }";
    let condition = constant_condition(&format!("{known} | {offset} | 8"));
    assert_eq!(condition, "[p0, p1] -> {  : p1 <= 3072 - p0 }");
}

#[test]
fn a_proved_row_does_not_hide_one_that_needs_a_condition() {
    let cells = "[p0] -> { [j, i, m] : 0 <= j < p0 and 0 <= i < p0 and 0 <= m < 5 }";
    let access = format!("{cells} | [p0] -> {{ [j, i, m] -> [8*(320j + 5i + m)] }} | 8");
    assert_eq!(constant_shape(&[&access]).0, [64, 5]);
    assert_eq!(constant_condition(&access), "[p0] -> {  : p0 <= 64 }");
    // Two cells are a step.
    let steps = "[p0] -> { [i, k, j] : 0 <= i < 50 and 0 <= k < p0 and 0 <= j < 100 }";
    let access = format!("{steps} | [p0] -> {{ [i, k, j] -> [8*(200i + 100k + j)] }} | 8");
    assert_eq!(constant_shape(&[&access]).0, [100]);
    assert_eq!(constant_condition(&access), "{  :  }");
}

#[test]
fn the_diagonal_and_the_transpose_share_a_shape() {
    let (sizes, _, relations) = constant_shape(&[
        "{ [i, j] : 0 <= i < 100 and 0 <= j < 100 } | { [i, j] -> [8*(100i + j)] } | 8",
        "{ [i] : 0 <= i < 100 } | { [i] -> [8*101i] } | 8",
        "{ [i, j] : 0 <= i < 100 and 0 <= j < 100 } | { [i, j] -> [8*(100j + i)] } | 8",
        "{ [i] : 0 <= i < 100 } | { [i] -> [8*(99i + 99)] } | 8",
    ]);
    assert_eq!(sizes, [100]);
    assert_eq!(relations[1], "{ [i] -> [i, i] : 0 <= i <= 99 }");
    assert_eq!(relations[3], "{ [i] -> [i, 99 - i] : 0 <= i <= 99 }");
}

#[test]
fn accesses_of_two_sizes_share_the_smaller_cell() {
    let (sizes, cell, relations) = constant_shape(&[
        "{ [i] : 0 <= i < 10 } | { [i] -> [8i] } | 8",
        "{ [i] : 0 <= i < 10 } | { [i] -> [8i + 4] } | 4",
    ]);
    assert_eq!((sizes, cell), (vec![2], 4));
    assert_eq!(relations[0], "{ [i] -> [i, f] : 0 <= i <= 9 and 0 <= f <= 1 }");
    assert_eq!(relations[1], "{ [i] -> [i, 1] : 0 <= i <= 9 }");
}

#[test]
fn records_become_an_inner_dimension() {
    let (sizes, cell, relations) = constant_shape(&[
        "{ [i] : 0 <= i < 10 } | { [i] -> [16i] } | 8",
        "{ [i] : 0 <= i < 10 } | { [i] -> [16i + 8] } | 8",
    ]);
    assert_eq!((sizes, cell), (vec![2], 8));
    assert_eq!(relations, ["{ [i] -> [i, 0] : 0 <= i <= 9 }", "{ [i] -> [i, 1] : 0 <= i <= 9 }"]);
}

#[test]
fn loops_of_steps_two_and_three_reveal_the_row() {
    let (sizes, _, _) = constant_shape(&[
        "{ [i, j] : 0 <= i < 10 and 0 <= j < 100 } | { [i, j] -> [8*(200i + j)] } | 8",
        "{ [i, j] : 0 <= i < 10 and 0 <= j < 100 } | { [i, j] -> [8*(300i + j)] } | 8",
    ]);
    assert_eq!(sizes, [100]);
}

#[test]
fn backwards_loops_have_negative_strides() {
    let (sizes, _, relations) =
        constant_shape(&["{ [i, j] : 0 <= i < 10 and 0 <= j < 100 } | { [i, j] -> [8*(999 - 100i - j)] } | 8"]);
    assert_eq!(sizes, [100]);
    assert_eq!(relations[0], "{ [i, j] -> [9 - i, 99 - j] : 0 <= i <= 9 and 0 <= j <= 99 }");
}

/// Differences of fluxes in a grid of cells with five components: more ways to leave a row than are told apart exactly.
#[test]
fn many_accesses_have_one_simple_condition() {
    let ctx = Ctx::new();
    let domains = [
        "0 <= k < p0 and 0 <= j < p1 and 0 <= i < p2",
        "1 <= k < p0 - 1 and p3 <= j < p4 and 0 <= i < p2",
        "1 <= k < p0 - 1 and p3 <= j < p4 and p5 <= i < p6",
        "1 <= k < p0 - 1 and p5 <= j < p6 and p3 <= i < p4",
        "3 <= k < p0 - 3 and p3 <= j < p4 and p5 <= i < p6",
    ];
    let mut accesses = Vec::new();
    for (at, domain) in domains.iter().enumerate() {
        let neighbours: &[i32] = if at < 2 { &[0] } else { &[-2, -1, 0, 1, 2] };
        for neighbour in neighbours {
            for component in 0..5 {
                let offset = format!("8*(5*(33*(33*k + j) + i + {neighbour}) + {component})");
                let text = format!(
                    "[p0, p1, p2, p3, p4, p5, p6] -> {{ [k, j, i] : {domain} }} | {{ [k, j, i] -> [{offset}] }} | 8"
                );
                accesses.push(flat_access(&ctx, &text));
            }
        }
    }
    let shape = recover_shape(&ctx, &accesses, &everywhere(&ctx).unwrap()).unwrap();
    check_against_flat(&ctx, &accesses, &shape);
    let sizes: Vec<i128> = shape.inner_sizes.iter().map(|size| size.as_constant().unwrap()).collect();
    assert_eq!((sizes, shape.condition.n_basic_set().unwrap()), (vec![33, 33, 5], 1));
    let expected = "p1 <= 33 and p2 <= 33 and p3 >= 2 and p4 <= 31 and p5 >= 2 and p6 <= 31";
    let expected = Set::read_from_str(&ctx, &format!("[p0, p1, p2, p3, p4, p5, p6] -> {{ : {expected} }}")).unwrap();
    assert!(shape.condition.is_equal(&expected).unwrap(), "{}", shape.condition);
}

#[test]
fn a_difference_of_sizes_has_the_sign_that_is_positive_where_anything_happens() {
    // The results of a convolution without its borders, a column of p1 - p0 + 1 after the other.
    let domain = "[p0, p1] -> { [i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= p1 - p0 }";
    let case = recover_from(NOTHING, &[(domain, "p1*i0 - p0*i0 + i0 + i1")]);
    assert_eq!(case.sizes(), "[-p0 + p1 + 1]");
    case.is_proved();
    // The other way round, and backwards.
    let domain = "[p0, p1] -> { [i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= p0 - p1 }";
    let case = recover_from(NOTHING, &[(domain, "p1*i0 - p0*i0 - i0 + i1")]);
    assert_eq!(case.sizes(), "[p0 - p1 + 1]");
    case.is_proved();
}
