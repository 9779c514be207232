use super::*;
use crate::dependence::dependences;
use crate::fixture::{Dice, test_scop};
use crate::loop_ast::{AstOptions, generate};
use crate::verify::{Verdict, sample_params, verify};
use expect_test::{Expect, expect};

/// The loops that were chosen, or why none were; in either case every order is replayed at a small size if there is one.
fn check_with(sketch: &str, options: &ScheduleOptions, expected: Expect) {
    let scop = test_scop(sketch);
    let deps = dependences(&scop).unwrap();
    let text = match choose(&scop, &deps, &Machine::default(), options).unwrap() {
        Decision::Leave { reason, .. } => format!("left alone: {reason}\n"),
        Decision::Transform { schedule, tiled, parallel, vectorized, reason } => {
            let node = generate(&schedule, &scop.context, &AstOptions::default()).unwrap();
            if let Some(params) = sample_params(&scop, &scop.context, 5).unwrap() {
                let verdict = verify(&scop, &node, &params).unwrap();
                assert!(!matches!(verdict, Verdict::Different { .. }), "{verdict:?}\n{}", node.text(&scop));
            }
            format!("tiled: {tiled}, parallel: {parallel}, vectorized: {vectorized}; {reason}\n{}", node.text(&scop))
        }
    };
    expected.assert_eq(&text);
}

fn check(sketch: &str, expected: Expect) {
    check_with(sketch, &ScheduleOptions::default(), expected);
}

#[test]
fn a_dot_product_form_of_matmul_is_interchanged_and_tiled() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             write A0[i, j]
             for k : 0 <= k < 1000
               read A0[i, j]; read A1[i, k]; read A2[k, j]; write A0[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 11.4 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 999; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= 31; ++c3) {
                for (int c4 = 0; c4 <= 15; ++c4) {
                  for (int c5 = 0; c5 <= min(31, (-32) * c2 + 999); ++c5) {
                    for (int c6 = 0; c6 <= min(31, (-32) * c3 + 999); ++c6) {
                      // vector
                      for (int c7 = 0; c7 <= min(63, (-64) * c4 + 999); ++c7) {
                        S1(32 * c2 + c5, 64 * c4 + c7, 32 * c3 + c6);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_parametric_matmul_with_rows_inside_is_tiled() {
    check(
        "array A0 8 p1
         array A1 8 p2
         array A2 8 p1
         context 1 <= p0
         for i : 0 <= i < p0
           for j : 0 <= j < p1
             read A0[i, j]; write A0[i, j]
           for k : 0 <= k < p2
             for j : 0 <= j < p1
               read A0[i, j]; read A1[i, k]; read A2[k, j]; write A0[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; fewer cache misses (estimated 2.3 times faster)
            for (int c0 = 0; c0 <= p0 - 1; ++c0) {
              // vector
              for (int c1 = 0; c1 <= p1 - 1; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= (p0 - 1) / 32; ++c2) {
              for (int c3 = 0; c3 <= floord(p2 - 1, 32); ++c3) {
                for (int c4 = 0; c4 <= floord(p1 - 1, 64); ++c4) {
                  for (int c5 = 0; c5 <= min(31, p0 - 32 * c2 - 1); ++c5) {
                    for (int c6 = 0; c6 <= min(31, p2 - 32 * c3 - 1); ++c6) {
                      // vector
                      for (int c7 = 0; c7 <= min(63, p1 - 64 * c4 - 1); ++c7) {
                        S1(32 * c2 + c5, 32 * c3 + c6, 64 * c4 + c7);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_symmetric_rank_update() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j <= i
             read A0[i, j]; write A0[i, j]
           for k : 0 <= k < 1000
             for j : 0 <= j <= i
               read A0[i, j]; read A1[i, k]; read A1[j, k]; write A0[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; fewer cache misses (estimated 3.9 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= c0; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= 31; ++c3) {
                for (int c4 = 0; c4 <= c2 / 2; ++c4) {
                  for (int c5 = 0; c5 <= min(31, (-32) * c2 + 999); ++c5) {
                    for (int c6 = 0; c6 <= min(31, (-32) * c3 + 999); ++c6) {
                      for (int c7 = 0; c7 <= min(63, 32 * c2 - 64 * c4 + c5); ++c7) {
                        S1(32 * c2 + c5, 32 * c3 + c6, 64 * c4 + c7);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_rank_update_by_dot_products() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j <= i
             for k : 0 <= k < 1000
               read A0[i, j]; read A1[j, k]; read A2[i, k]; read A2[j, k]; read A1[i, k]; write A0[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: false; fewer cache misses (estimated 2.4 times faster)
            for (int c0 = 0; c0 <= 31; ++c0) {
              for (int c1 = 0; c1 <= 31; ++c1) {
                for (int c2 = 0; c2 <= c0; ++c2) {
                  for (int c3 = 0; c3 <= min(31, (-32) * c0 + 999); ++c3) {
                    for (int c4 = 0; c4 <= min(31, (-32) * c1 + 999); ++c4) {
                      for (int c5 = 0; c5 <= min(31, 32 * c0 - 32 * c2 + c3); ++c5) {
                        S0(32 * c0 + c3, 32 * c2 + c5, 32 * c1 + c4);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn two_matmuls_in_a_row() {
    check(
        "
         for i : 0 <= i < 800
           for j : 0 <= j < 900
             write A0[i, j]
             for k : 0 <= k < 1000
               read A0[i, j]; read A1[i, k]; read A2[k, j]; write A0[i, j]
         for i : 0 <= i < 800
           for j : 0 <= j < 950
             read A3[i, j]; write A3[i, j]
             for k : 0 <= k < 900
               read A3[i, j]; read A0[i, k]; read A4[k, j]; write A3[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 11.4 times faster)
            for (int c0 = 0; c0 <= 799; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 949; ++c1) {
                S2(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 799; ++c2) {
              // vector
              for (int c3 = 0; c3 <= 899; ++c3) {
                S0(c2, c3);
              }
            }
            for (int c4 = 0; c4 <= 24; ++c4) {
              for (int c5 = 0; c5 <= 31; ++c5) {
                for (int c6 = 0; c6 <= 14; ++c6) {
                  for (int c7 = 0; c7 <= 31; ++c7) {
                    for (int c8 = 0; c8 <= min(31, (-32) * c5 + 999); ++c8) {
                      // vector
                      for (int c9 = 0; c9 <= min(63, (-64) * c6 + 899); ++c9) {
                        S1(32 * c4 + c7, 64 * c6 + c9, 32 * c5 + c8);
                      }
                    }
                  }
                }
              }
            }
            for (int c10 = 0; c10 <= 24; ++c10) {
              for (int c11 = 0; c11 <= 28; ++c11) {
                for (int c12 = 0; c12 <= 14; ++c12) {
                  for (int c13 = 0; c13 <= 31; ++c13) {
                    for (int c14 = 0; c14 <= min(31, (-32) * c11 + 899); ++c14) {
                      // vector
                      for (int c15 = 0; c15 <= min(63, (-64) * c12 + 949); ++c15) {
                        S3(32 * c10 + c13, 64 * c12 + c15, 32 * c11 + c14);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn covariance() {
    check(
        "for i : 0 <= i < 1000
           for j : i <= j < 1000
             write A0[i, j]
             for k : 0 <= k < 1000
               read A0[i, j]; read A1[k, i]; read A1[k, j]; write A0[i, j]
             read A0[i, j]; write A0[i, j]
             read A0[i, j]; write A0[j, i]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 11.4 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = c0; c1 <= 999; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= 31; ++c3) {
                for (int c4 = c2 / 2; c4 <= 15; ++c4) {
                  for (int c5 = 0; c5 <= min(31, (-32) * c2 + 999); ++c5) {
                    for (int c6 = 0; c6 <= min(31, (-32) * c3 + 999); ++c6) {
                      // vector
                      for (int c7 = max(0, 32 * c2 - 64 * c4 + c5); c7 <= min(63, (-64) * c4 + 999); ++c7) {
                        S1(32 * c2 + c5, 64 * c4 + c7, 32 * c3 + c6);
                      }
                    }
                  }
                }
              }
            }
            for (int c8 = 0; c8 <= 999; ++c8) {
              // vector
              for (int c9 = c8; c9 <= 999; ++c9) {
                S2(c8, c9);
              }
            }
            for (int c10 = 0; c10 <= 999; ++c10) {
              for (int c11 = c10; c11 <= 999; ++c11) {
                S3(c10, c11);
              }
            }
        "#]],
    );
}

#[test]
fn adding_arrays_is_left_alone() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             read A0[i, j]; read A1[i, j]; write A2[i, j]",
        expect![[r#"
            left alone: the best order found takes about 100 % of the original's time
        "#]],
    );
}

#[test]
fn column_order_is_interchanged() {
    check(
        "for j : 0 <= j < 1000
           for i : 0 <= i < 1000
             read A0[i, j]; write A1[i, j]",
        expect![[r#"
            tiled: false, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 3.6 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 999; ++c1) {
                S0(c1, c0);
              }
            }
        "#]],
    );
}

#[test]
fn a_transposition_is_tiled() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             read A0[j, i]; write A1[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: false; fewer cache misses (estimated 1.5 times faster)
            for (int c0 = 0; c0 <= 31; ++c0) {
              for (int c1 = 0; c1 <= 31; ++c1) {
                for (int c2 = 0; c2 <= min(31, (-32) * c0 + 999); ++c2) {
                  for (int c3 = 0; c3 <= min(31, (-32) * c1 + 999); ++c3) {
                    S0(32 * c0 + c2, 32 * c1 + c3);
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_matrix_vector_product_by_columns_is_interchanged_or_left() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             read A1[i]; read A0[j, i]; read A2[j]; write A1[i]",
        expect![[r#"
            tiled: false, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 4.9 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 999; ++c1) {
                S0(c1, c0);
              }
            }
        "#]],
    );
}

#[test]
fn a_stencil_in_time_keeps_its_vectors() {
    check(
        "for t : 0 <= t < 500
           for i : 1 <= i < 999
             for j : 1 <= j < 999
               read A0[i, j]; read A0[i, j - 1]; read A0[i, j + 1]; read A0[i - 1, j]; read A0[i + 1, j]; write A1[i, j]
           for i : 1 <= i < 999
             for j : 1 <= j < 999
               read A1[i, j]; read A1[i, j - 1]; read A1[i, j + 1]; read A1[i - 1, j]; read A1[i + 1, j]; write A0[i, j]",
        expect![[r#"
            left alone: every better order loses vector instructions
        "#]],
    );
}

#[test]
fn small_nests_are_left_alone() {
    check(
        "for j : 0 <= j < 10
           for i : 0 <= i < 10
             read A0[i, j]; write A1[i, j]",
        expect![[r#"
            left alone: only about 100 statement instances
        "#]],
    );
}

#[test]
fn parameters_known_to_be_huge_are_taken_so() {
    check(
        "context 5000000000 <= p0 <= 9000000000000000000
         context 1 <= p1
         for i : 0 <= i < p1
           for j : p0 <= j < 5 + p0
             read A0[i, j]; write A1[i, j]",
        expect![[r#"
            left alone: only about 0 statement instances
        "#]],
    );
}

#[test]
fn any_legal_order_can_be_drawn() {
    let options = |number| ScheduleOptions {
        worthwhile: f64::INFINITY,
        worthwhile_skewed: f64::INFINITY,
        min_instances: 0.0,
        tile: 4,
        inner_tiles: vec![4],
        draw: Some(number),
        ..ScheduleOptions::default()
    };
    let sketch = "for i : 0 <= i < 10
                    for j : 0 <= j < 10
                      read A0[i, j]; write A1[i, j]";
    check_with(
        sketch,
        &options(2),
        expect![[r#"
            tiled: true, parallel: false, vectorized: false; less loop overhead (estimated 0.9 times faster)
            for (int c0 = 0; c0 <= 2; ++c0) {
              for (int c1 = 0; c1 <= 2; ++c1) {
                for (int c2 = 0; c2 <= min(3, (-4) * c0 + 9); ++c2) {
                  for (int c3 = 0; c3 <= min(3, (-4) * c1 + 9); ++c3) {
                    S0(4 * c1 + c3, 4 * c0 + c2);
                  }
                }
              }
            }
        "#]],
    );
    check_with(
        sketch,
        &options(4),
        expect![[r#"
            tiled: false, parallel: false, vectorized: true; less loop overhead (estimated 1.0 times faster)
            for (int c0 = 0; c0 <= 9; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 9; ++c1) {
                S0(c0, c1);
              }
            }
        "#]],
    );
}

#[test]
fn independent_iterations_are_distributed_when_asked() {
    let options = ScheduleOptions { parallel: true, ..ScheduleOptions::default() };
    check_with(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             read A0[i, j]; read A1[i, j]; write A2[i, j]",
        &options,
        expect![[r#"
            tiled: false, parallel: true, vectorized: true; independent iterations
            // parallel
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 999; ++c1) {
                S0(c0, c1);
              }
            }
        "#]],
    );
}

#[test]
fn a_parallel_matmul() {
    let options = ScheduleOptions { parallel: true, ..ScheduleOptions::default() };
    check_with(
        "context 1 <= p0
         for i : 0 <= i < p0
           for j : 0 <= j < p0
             for k : 0 <= k < p0
               update A0[i, j] +; read A1[i, k]; read A2[k, j]",
        &options,
        expect![[r#"
            tiled: true, parallel: true, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 11.4 times faster)
            // parallel
            for (int c0 = 0; c0 <= (p0 - 1) / 32; ++c0) {
              for (int c1 = 0; c1 <= (p0 - 1) / 32; ++c1) {
                for (int c2 = 0; c2 <= (p0 - 1) / 64; ++c2) {
                  for (int c3 = 0; c3 <= min(31, p0 - 32 * c0 - 1); ++c3) {
                    for (int c4 = 0; c4 <= min(31, p0 - 32 * c1 - 1); ++c4) {
                      // vector
                      for (int c5 = 0; c5 <= min(63, p0 - 64 * c2 - 1); ++c5) {
                        S0(32 * c0 + c3, 64 * c2 + c5, 32 * c1 + c4);
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn without_tiling_only_the_order_changes() {
    let options = ScheduleOptions { tile: 0, ..ScheduleOptions::default() };
    check_with(
        "context 1 <= p0
         for i : 0 <= i < p0
           for j : 0 <= j < p0
             for k : 0 <= k < p0
               read A0[i, j]; read A1[i, k]; read A2[k, j]; write A0[i, j]",
        &options,
        expect![[r#"
            tiled: false, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 5.0 times faster)
            for (int c0 = 0; c0 <= p0 - 1; ++c0) {
              for (int c1 = 0; c1 <= p0 - 1; ++c1) {
                // vector
                for (int c2 = 0; c2 <= p0 - 1; ++c2) {
                  S0(c0, c2, c1);
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_stencil_of_three_dimensions_ends_within_its_budget() {
    check(
        "array A0 8 120 120
         array A1 8 120 120
         for t : 0 <= t < 500
           for i : 1 <= i < 119
             for j : 1 <= j < 119
               for k : 1 <= k < 119
                 read A0[i+1,j,k]; read A0[i,j,k]; read A0[i-1,j,k]; read A0[i,j+1,k]; read A0[i,j-1,k]; read A0[i,j,k+1]; read A0[i,j,k-1]; write A1[i, j, k]
           for i : 1 <= i < 119
             for j : 1 <= j < 119
               for k : 1 <= k < 119
                 read A1[i+1,j,k]; read A1[i,j,k]; read A1[i-1,j,k]; read A1[i,j+1,k]; read A1[i,j-1,k]; read A1[i,j,k+1]; read A1[i,j,k-1]; write A0[i, j, k]",
        expect![[r#"
            left alone: the best order found takes about 73 % of the original's time
        "#]],
    );
}

const COPY: &str = "for i : 0 <= i < 1000
                      for j : 0 <= j < 1000
                        read A0[i, j]; write A2[]
                        read A2[]; write A1[j, i]";

#[test]
fn a_scalar_that_lives_inside_of_an_iteration_does_not_prevent_tiling() {
    check(
        COPY,
        expect![[r#"
        tiled: true, parallel: false, vectorized: false; fewer cache misses (estimated 2.0 times faster)
        for (int c0 = 0; c0 <= 31; ++c0) {
          for (int c1 = 0; c1 <= 31; ++c1) {
            for (int c2 = 0; c2 <= min(31, (-32) * c0 + 999); ++c2) {
              for (int c3 = 0; c3 <= min(31, (-32) * c1 + 999); ++c3) {
                S0(32 * c1 + c3, 32 * c0 + c2);
                S1(32 * c1 + c3, 32 * c0 + c2);
              }
            }
          }
        }
    "#]],
    );
}

#[test]
fn what_a_scalar_carries_from_iteration_to_iteration_stays_in_order() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             write A2[]
             for k : 0 <= k < 1000
               read A2[]; read A0[k, i]; write A2[]
             read A2[]; write A1[j, i]",
        expect![[r#"
            left alone: the best order found takes about 100 % of the original's time
        "#]],
    );
}

#[test]
fn a_scalar_that_crosses_a_loop_keeps_that_loop_inside() {
    check(
        "for i : 0 <= i < 100
           for j : 0 <= j < 100
             read A0[j, i]; write A2[]
             for k : 0 <= k < 10
               read A2[]; write A1[k, j, i]",
        expect![[r#"
            tiled: false, parallel: false, vectorized: false; fewer cache misses (estimated 2.6 times faster)
            for (int c0 = 0; c0 <= 99; ++c0) {
              for (int c1 = 0; c1 <= 99; ++c1) {
                S0(c1, c0);
                for (int c2 = 0; c2 <= 9; ++c2) {
                  S1(c1, c0, c2);
                }
              }
            }
        "#]],
    );
}

#[test]
fn a_scalar_makes_no_loop_parallel() {
    let options = ScheduleOptions { parallel: true, ..ScheduleOptions::default() };
    check_with(
        COPY,
        &options,
        expect![[r#"
        tiled: true, parallel: false, vectorized: false; fewer cache misses (estimated 2.0 times faster)
        for (int c0 = 0; c0 <= 31; ++c0) {
          for (int c1 = 0; c1 <= 31; ++c1) {
            for (int c2 = 0; c2 <= min(31, (-32) * c0 + 999); ++c2) {
              for (int c3 = 0; c3 <= min(31, (-32) * c1 + 999); ++c3) {
                S0(32 * c1 + c3, 32 * c0 + c2);
                S1(32 * c1 + c3, 32 * c0 + c2);
              }
            }
          }
        }
    "#]],
    );
}

/// Whether the live ranges are apart in a tree, given as bands `[rows of S0; rows of S1]`; what the replay says must agree.
fn check_apart(sketch: &str, trees: &[(&str, bool)]) {
    let scop = test_scop(sketch);
    let deps = dependences(&scop).unwrap();
    let ranges = deps.ranges.as_ref().expect("a scalar with live ranges");
    let domain = scop.schedule.get_domain().unwrap();
    for (tree, expected) in trees {
        let schedule =
            isl::Schedule::read_from_str(&scop.ctx, &format!("{{ domain: \"{domain}\", child: {{ {tree} }} }}"))
                .unwrap();
        assert_eq!(apart::are_apart(&schedule, &ranges.scalars).unwrap(), *expected, "{tree}");
        let node = generate(&schedule, &scop.context, &AstOptions::default()).unwrap();
        let same = matches!(verify(&scop, &node, &[]).unwrap(), Verdict::Same { .. });
        assert_eq!(same, *expected, "{tree}\n{}", node.text(&scop));
    }
}

const FIRST: &str = "sequence: [ { filter: \"{ S0[i, j] }\" }, { filter: \"{ S1[i, j] }\" } ]";

#[test]
fn live_ranges_are_apart_if_they_change_places_as_wholes() {
    let copy = "for i : 0 <= i < 7
                  for j : 0 <= j < 6
                    read A0[i, j]; write A2[]
                    read A2[]; write A1[j, i]";
    let rows = |permutable: u8, rows: &[(&str, &str)]| {
        let rows: Vec<_> =
            rows.iter().map(|(a, b)| format!("{{ S0[i, j] -> [({a})]; S1[i, j] -> [({b})] }}")).collect();
        format!("schedule: \"[{}]\", permutable: {permutable}", rows.join(", "))
    };
    let together = |permutable: u8, of: &[(&str, &str)]| format!("{}, child: {{ {FIRST} }}", rows(permutable, of));
    check_apart(
        copy,
        &[
            (&together(1, &[("i", "i"), ("j", "j")]), true),
            (&together(1, &[("j", "j"), ("i", "i")]), true),
            (&together(1, &[("-j", "-j"), ("i", "i")]), true),
            (&together(0, &[("i + j", "i + j"), ("i", "i")]), true),
            (&together(1, &[("floor(i/2)", "floor(i/2)"), ("floor(j/3)", "floor(j/3)"), ("i", "i"), ("j", "j")]), true),
            // The use comes an iteration later.
            (&together(1, &[("i", "i"), ("j", "j + 1")]), false),
            (&together(0, &[("i", "i + 1"), ("j", "j")]), false),
            (&together(0, &[("j", "j"), ("i", "i + 1")]), false),
            // All assignments of a row before its uses, all assignments before all uses.
            (
                &format!(
                    "{}, child: {{ sequence: [ {{ filter: \"{{ S0[i, j] }}\", child: {{ {} }} }}, \
               {{ filter: \"{{ S1[i, j] }}\", child: {{ {} }} }} ] }}",
                    rows(1, &[("i", "i")]),
                    "schedule: \"[{ S0[i, j] -> [(j)] }]\"",
                    "schedule: \"[{ S1[i, j] -> [(j)] }]\""
                ),
                false,
            ),
            (
                "sequence: [ { filter: \"{ S0[i, j] }\", child: { schedule: \"[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]\" } }, \
               { filter: \"{ S1[i, j] }\", child: { schedule: \"[{ S1[i, j] -> [(i)] }, { S1[i, j] -> [(j)] }]\" } } ]",
                false,
            ),
        ],
    );
}

#[test]
fn a_live_range_that_leaves_an_iteration_keeps_its_neighbours_in_order() {
    let spread = "for i : 0 <= i < 5
                    for j : 0 <= j < 4
                      write A2[]
                      for k : 0 <= k < 3
                        read A2[]; write A1[i, j, k]";
    let first = "sequence: [ { filter: \"{ S0[i, j] }\" }, { filter: \"{ S1[i, j, k] }\" } ]";
    let tree = |permutable: u8, of: &[(&str, &str)]| {
        let rows: Vec<_> =
            of.iter().map(|(a, b)| format!("{{ S0[i, j] -> [({a})]; S1[i, j, k] -> [({b})] }}")).collect();
        format!("schedule: \"[{}]\", permutable: {permutable}, child: {{ {first} }}", rows.join(", "))
    };
    check_apart(
        spread,
        &[
            (&tree(0, &[("i", "i"), ("j", "j"), ("0", "k")]), true),
            (&tree(0, &[("j", "j"), ("-i", "-i"), ("0", "k")]), true),
            // The uses of one value are spread over the outermost loop.
            (&tree(0, &[("0", "k"), ("i", "i"), ("j", "j")]), false),
            (&tree(0, &[("j", "j"), ("0", "k"), ("i", "i")]), false),
        ],
    );
}

#[test]
fn a_dead_write_stays_out_of_other_live_ranges() {
    // S0 is dead wherever S1 follows.
    let dead = "for i : 0 <= i < 4
                  for j : 0 <= j < 4
                    write A2[]
                    write A2[]
                    read A2[]; write A1[i, j]";
    let tree = |order: [usize; 3]| {
        let rows = |row: &str| {
            let parts: Vec<_> = (0..3).map(|s| format!("S{s}[i, j] -> [({row})]")).collect();
            format!("{{ {} }}", parts.join("; "))
        };
        let filters: Vec<_> = order.iter().map(|s| format!("{{ filter: \"{{ S{s}[i, j] }}\" }}")).collect();
        format!(
            "schedule: \"[{}, {}]\", permutable: 1, child: {{ sequence: [ {} ] }}",
            rows("j"),
            rows("i"),
            filters.join(", ")
        )
    };
    check_apart(dead, &[(&tree([0, 1, 2]), true), (&tree([1, 0, 2]), false)]);
}

/// Nests of two or three loops whose statements hand values on in scalars.
fn random_sketch_with_scalars(dice: &mut Dice) -> String {
    let mut sketch = String::from("context 1 <= p0 <= 6\ncontext 1 <= p1 <= 6\n");
    let subscripts = ["i, j", "j, i", "i, j - 1", "i - 1, j", "j, i + 1", "0, j", "i, 0"];
    sketch += "for i : 0 <= i < p0\n";
    sketch += dice.one_of(&[" for j : 0 <= j < p1\n", " for j : 0 <= j <= i\n", " for j : i <= j < p1 + 2\n"]);
    for _ in 0..1 + dice.roll(2) {
        let scalar = 2 + dice.roll(2);
        sketch += &format!("  read A{}[{}]; write A{scalar}[]\n", dice.roll(2), dice.one_of(&subscripts));
        if dice.roll(3) == 0 {
            sketch += &format!("  read A{scalar}[]; write A{}[]\n", 2 + dice.roll(2));
        }
        if dice.roll(3) == 0 {
            sketch += &format!("  for k : 0 <= k < 3\n   read A{scalar}[]; read A1[k, j]; write A{scalar}[]\n");
        }
        if dice.roll(3) > 0 {
            sketch += &format!("  read A{scalar}[]; write A{}[{}]\n", dice.roll(2), dice.one_of(&subscripts));
        }
    }
    sketch
}

/// Whether every source runs before its sink.
fn respects(schedule: &Schedule, pairs: &isl::UnionMap) -> bool {
    let times = schedule.get_map().unwrap();
    pairs.is_subset(&times.lex_lt_union_map(&times).unwrap()).unwrap()
}

fn random_choices(dice: &mut Dice, scop: &Scop, deps: &Dependences, schedule: &Schedule) -> shape::Choices {
    let tree = shape::Tree::of(&shape::Region::of(scop, deps).unwrap(), schedule).unwrap();
    let mut choices = shape::Choices::new();
    for (index, members, permutable) in search::bands(&tree.shape) {
        if permutable && members > 1 {
            let mut order: Vec<usize> = (0..members).collect();
            order.rotate_left(dice.roll(members as u64) as usize);
            let tiles = (dice.roll(3) > 0).then(|| (0..members).map(|_| 2 + dice.roll(2) as i64).collect());
            choices.insert(index, shape::Choice { order, tiles });
        }
    }
    choices
}

#[test]
fn random_nests_with_reordered_live_ranges_compute_the_same() {
    let mut dice = Dice(0xD6E8_FEB8_6659_FD93);
    let (mut replayed, mut reordered) = (0, 0);
    for _ in 0..24 {
        let sketch = random_sketch_with_scalars(&mut dice);
        let scop = test_scop(&sketch);
        let deps = dependences(&scop).unwrap();
        if deps.ranges.is_none() {
            continue;
        }
        let fusion = if dice.roll(2) == 0 { Fusion::Min } else { Fusion::Max };
        let mut orders = Orders::of(&scop, &deps, false, Scalars::Reordered).unwrap();
        let Some(schedule) = orders.find(fusion).unwrap() else { panic!("not apart: {sketch}") };
        let choices = random_choices(&mut dice, &scop, &deps, &schedule);
        let schedule = flag_coincident(&apply::apply(&schedule, &choices).unwrap(), &deps).unwrap();
        reordered += usize::from(!respects(&schedule, &deps.validity().unwrap()));
        let node = generate(&schedule, &scop.context, &AstOptions { max_nodes: 2000 }).unwrap();
        for params in [[5, 4], [3, 6], [1, 1]] {
            match verify(&scop, &node, &params).unwrap() {
                Verdict::Same { instances } => replayed += instances,
                verdict => panic!("{verdict:?} at {params:?}\n{sketch}\n{schedule}\n{}", node.text(&scop)),
            }
        }
    }
    assert!(replayed > 500 && reordered > 5, "{replayed} instances, {reordered} orders");
}

/// Trees of any kind, most of them wrong: those that respect the rest and are said to keep live ranges apart compute the same.
#[test]
fn live_ranges_said_to_be_apart_are() {
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    let (mut apart_and_reordered, mut not_apart) = (0, 0);
    for _ in 0..120 {
        let sketch = random_sketch_with_scalars(&mut dice).replace("p0", "5").replace("p1", "4");
        let sketch: String = sketch.lines().filter(|l| !l.starts_with("context")).map(|l| format!("{l}\n")).collect();
        let scop = test_scop(&sketch);
        let deps = dependences(&scop).unwrap();
        let Some(ranges) = &deps.ranges else { continue };
        let schedule = random_tree(&mut dice, &scop);
        if !respects(&schedule, &deps.firm_validity().unwrap()) {
            continue;
        }
        if !apart::are_apart(&schedule, &ranges.scalars).unwrap() {
            not_apart += 1;
            continue;
        }
        apart_and_reordered += usize::from(!respects(&schedule, &deps.validity().unwrap()));
        let schedule = flag_coincident(&schedule, &deps).unwrap();
        let node = generate(&schedule, &scop.context, &AstOptions { max_nodes: 2000 }).unwrap();
        let verdict = verify(&scop, &node, &[]).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}\n{sketch}\n{schedule}\n{}", node.text(&scop));
    }
    assert!(apart_and_reordered > 5 && not_apart > 5, "{apart_and_reordered} apart, {not_apart} not");
}

/// A band of two loops around all statements in one of a few orders, statements shifted by a step at times, some of them
/// in a loop nest of their own, their order inside as it was; a third loop innermost.
fn random_tree(dice: &mut Dice, scop: &Scop) -> Schedule {
    let statements: Vec<(usize, usize)> =
        scop.statements.iter().map(|(id, s)| (id.index(), s.domain.dim(isl::DimType::Set).unwrap())).collect();
    let instance = |(s, dims): &(usize, usize)| format!("S{s}[{}]", if *dims == 3 { "i, j, k" } else { "i, j" });
    let rows = [("i", "j"), ("j", "i"), ("-i", "j"), ("j", "-i"), ("i + j", "j"), ("-j", "-i")];
    let (first, second) = rows[dice.roll(rows.len() as u64) as usize];
    let shifts: Vec<u64> = statements.iter().map(|_| if dice.roll(4) == 0 { 1 } else { 0 }).collect();
    let cut = if dice.roll(4) == 0 { 1 + dice.roll(statements.len() as u64) as usize } else { statements.len() };
    let mut groups: Vec<&[(usize, usize)]> = vec![&statements[..cut.min(statements.len())]];
    if cut < statements.len() {
        groups.push(&statements[cut..]);
    }
    let nest = |group: &[(usize, usize)]| {
        let row = |row: &str, shifted: bool| {
            let parts: Vec<_> = group
                .iter()
                .map(|s| format!("{} -> [({row} + {})]", instance(s), if shifted { shifts[s.0] } else { 0 }))
                .collect();
            format!("{{ {} }}", parts.join("; "))
        };
        let inner: Vec<_> = group
            .iter()
            .map(|s| {
                let filter = format!("filter: \"{{ {} }}\"", instance(s));
                let last = format!("child: {{ schedule: \"[{{ {} -> [(k)] }}]\" }}", instance(s));
                if s.1 == 3 { format!("{{ {filter}, {last} }}") } else { format!("{{ {filter} }}") }
            })
            .collect();
        let inner = format!("child: {{ sequence: [ {} ] }}", inner.join(", "));
        format!("schedule: \"[{}, {}]\", {inner}", row(first, false), row(second, true))
    };
    let parts: Vec<_> = groups
        .iter()
        .map(|g| {
            let filter = g.iter().map(instance).collect::<Vec<_>>().join("; ");
            format!("{{ filter: \"{{ {filter} }}\", child: {{ {} }} }}", nest(g))
        })
        .collect();
    let domain = scop.schedule.get_domain().unwrap();
    let tree = format!("{{ domain: \"{domain}\", child: {{ sequence: [ {} ] }} }}", parts.join(", "));
    Schedule::read_from_str(&scop.ctx, &tree).unwrap_or_else(|e| panic!("{e}: {tree}"))
}

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
        let choices = random_choices(&mut dice, &scop, &deps, &schedule);
        let schedule = flag_coincident(&apply::apply(&schedule, &choices).unwrap(), &deps).unwrap();
        let options = AstOptions { max_nodes: 2000 };
        let node = generate(&schedule, &scop.context, &options).unwrap();
        for params in [[5, 4], [3, 6], [1, 1]] {
            match verify(&scop, &node, &params).unwrap() {
                Verdict::Same { instances } => replayed += instances,
                verdict => panic!("{verdict:?} at {params:?}\n{sketch}\n{schedule}\n{}", node.text(&scop)),
            }
        }
    }
    assert!(replayed > 1000, "{replayed}");
}
