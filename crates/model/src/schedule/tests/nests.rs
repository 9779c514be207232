//! Which order is chosen for a nest, and which loops are tiled, distributed or marked for vectors.

use super::*;

#[test]
fn a_dot_product_form_of_matmul_is_interchanged_and_tiled() {
    check(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             write A0[i, j]
             for k : 0 <= k < 1000
               read A0[i, j]; read A1[i, k]; read A2[k, j]; write A0[i, j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; values kept in registers and vectors along consecutive elements and fewer cache misses (estimated 21.4 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 999; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= 31; ++c3) {
                for (int c4 = 0; c4 <= 3; ++c4) {
                  for (int c5 = 0; c5 <= min(7, (-8) * c2 + 249); ++c5) {
                    for (int c6 = 0; c6 <= min(7, (-8) * c3 + 249); ++c6) {
                      // vector
                      for (int c7 = 0; c7 <= min(255, (-256) * c4 + 999); ++c7) {
                        for (int c8 = 0; c8 <= 3; ++c8) {
                          for (int c9 = 0; c9 <= 3; ++c9) {
                            S1(32 * c2 + 4 * c5 + c8, 256 * c4 + c7, 32 * c3 + 4 * c6 + c9);
                          }
                        }
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
            tiled: true, parallel: false, vectorized: true; values kept in registers and fewer cache misses (estimated 4.4 times faster)
            if (p1 >= 1) {
              for (int c0 = 0; c0 <= p0 - 1; ++c0) {
                // vector
                for (int c1 = 0; c1 <= p1 - 1; ++c1) {
                  S0(c0, c1);
                }
              }
            }
            if (p1 >= 1 && p2 >= 1) {
              for (int c2 = 0; c2 <= (p0 - 1) / 32; ++c2) {
                for (int c3 = 0; c3 <= (p2 - 1) / 32; ++c3) {
                  for (int c4 = 0; c4 <= (p1 - 1) / 256; ++c4) {
                    for (int c5 = 0; c5 <= min(7, (p0 - 32 * c2 - 1) / 4); ++c5) {
                      for (int c6 = 0; c6 <= min(7, (p2 - 32 * c3 - 1) / 4); ++c6) {
                        // vector
                        for (int c7 = 0; c7 <= min(255, p1 - 256 * c4 - 1); ++c7) {
                          for (int c8 = 0; c8 <= min(3, p0 - 32 * c2 - 4 * c5 - 1); ++c8) {
                            for (int c9 = 0; c9 <= min(3, p2 - 32 * c3 - 4 * c6 - 1); ++c9) {
                              S1(32 * c2 + 4 * c5 + c8, 32 * c3 + 4 * c6 + c9, 256 * c4 + c7);
                            }
                          }
                        }
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
            tiled: true, parallel: false, vectorized: true; values kept in registers and fewer cache misses (estimated 8.1 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = 0; c1 <= c0; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= c2; ++c3) {
                for (int c4 = 0; c4 <= 15; ++c4) {
                  for (int c5 = 0; c5 <= min(7, (-8) * c2 + 249); ++c5) {
                    for (int c6 = 0; c6 <= min(7, 8 * c2 - 8 * c3 + c5); ++c6) {
                      for (int c7 = 0; c7 <= min(63, (-64) * c4 + 999); ++c7) {
                        for (int c8 = 0; c8 <= 3; ++c8) {
                          for (int c9 = 0; c9 <= min(3, 32 * c2 - 32 * c3 + 4 * c5 - 4 * c6 + c8); ++c9) {
                            S1(32 * c2 + 4 * c5 + c8, 64 * c4 + c7, 32 * c3 + 4 * c6 + c9);
                          }
                        }
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
            tiled: true, parallel: false, vectorized: false; values kept in registers and fewer cache misses (estimated 5.5 times faster)
            for (int c0 = 0; c0 <= 31; ++c0) {
              for (int c1 = 0; c1 <= c0; ++c1) {
                for (int c2 = 0; c2 <= 1; ++c2) {
                  for (int c3 = 0; c3 <= min(7, (-8) * c0 + 249); ++c3) {
                    for (int c4 = 0; c4 <= min(7, 8 * c0 - 8 * c1 + c3); ++c4) {
                      for (int c5 = 0; c5 <= min(511, (-512) * c2 + 999); ++c5) {
                        for (int c6 = 0; c6 <= 3; ++c6) {
                          for (int c7 = 0; c7 <= min(3, 32 * c0 - 32 * c1 + 4 * c3 - 4 * c4 + c6); ++c7) {
                            S0(32 * c0 + 4 * c3 + c6, 32 * c1 + 4 * c4 + c7, 512 * c2 + c5);
                          }
                        }
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
            tiled: true, parallel: false, vectorized: true; values kept in registers and vectors along consecutive elements and fewer cache misses (estimated 19.9 times faster)
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
                  for (int c7 = 0; c7 <= 15; ++c7) {
                    for (int c8 = 0; c8 <= min(7, (-8) * c5 + 249); ++c8) {
                      // vector
                      for (int c9 = 0; c9 <= min(63, (-64) * c6 + 899); ++c9) {
                        for (int c10 = 0; c10 <= 1; ++c10) {
                          for (int c11 = 0; c11 <= 3; ++c11) {
                            S1(32 * c4 + 2 * c7 + c10, 64 * c6 + c9, 32 * c5 + 4 * c8 + c11);
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
            for (int c12 = 0; c12 <= 24; ++c12) {
              for (int c13 = 0; c13 <= 28; ++c13) {
                for (int c14 = 0; c14 <= 3; ++c14) {
                  for (int c15 = 0; c15 <= 7; ++c15) {
                    for (int c16 = 0; c16 <= min(7, (-8) * c13 + 224); ++c16) {
                      // vector
                      for (int c17 = 0; c17 <= min(255, (-256) * c14 + 949); ++c17) {
                        for (int c18 = 0; c18 <= 3; ++c18) {
                          for (int c19 = 0; c19 <= 3; ++c19) {
                            S3(32 * c12 + 4 * c15 + c18, 256 * c14 + c17, 32 * c13 + 4 * c16 + c19);
                          }
                        }
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
            tiled: true, parallel: false, vectorized: true; values kept in registers and vectors along consecutive elements and fewer cache misses (estimated 23.8 times faster)
            for (int c0 = 0; c0 <= 999; ++c0) {
              // vector
              for (int c1 = c0; c1 <= 999; ++c1) {
                S0(c0, c1);
              }
            }
            for (int c2 = 0; c2 <= 31; ++c2) {
              for (int c3 = 0; c3 <= 31; ++c3) {
                for (int c4 = c2 / 8; c4 <= 3; ++c4) {
                  for (int c5 = 0; c5 <= min(7, (-8) * c2 + 249); ++c5) {
                    for (int c6 = 0; c6 <= min(7, (-8) * c3 + 249); ++c6) {
                      // vector
                      for (int c7 = max(0, 32 * c2 - 256 * c4 + 4 * c5); c7 <= min(255, (-256) * c4 + 999); ++c7) {
                        for (int c8 = 0; c8 <= min(3, (-32) * c2 + 256 * c4 - 4 * c5 + c7); ++c8) {
                          for (int c9 = 0; c9 <= 3; ++c9) {
                            S1(32 * c2 + 4 * c5 + c8, 256 * c4 + c7, 32 * c3 + 4 * c6 + c9);
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
            for (int c10 = 0; c10 <= 999; ++c10) {
              // vector
              for (int c11 = c10; c11 <= 999; ++c11) {
                S2(c10, c11);
              }
            }
            for (int c12 = 0; c12 <= 999; ++c12) {
              for (int c13 = c12; c13 <= 999; ++c13) {
                S3(c12, c13);
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
            tiled: false, parallel: false, vectorized: true; vectors along consecutive elements and fewer cache misses (estimated 3.8 times faster)
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
    check_square_tiles(
        "for i : 0 <= i < 1000
           for j : 0 <= j < 1000
             read A0[j, i]; write A1[i, j]",
        "fewer cache misses (estimated 1.5 times faster)",
        &["S0(32 * c0 + c2, 32 * c1 + c3)"],
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
            tiled: true, parallel: false, vectorized: false; values kept in registers (estimated 1.0 times faster)
            for (int c0 = 0; c0 <= 9; ++c0) {
              for (int c1 = 0; c1 <= 9; ++c1) {
                A2[10 * c0 + c1] = A0[c0, c1];
              }
            }
            for (int c2 = 0; c2 <= 2; ++c2) {
              for (int c3 = -3; c3 <= 0; ++c3) {
                for (int c4 = max(0, (-4) * c3 - 9); c4 <= min(3, (-4) * c3); ++c4) {
                  for (int c5 = 0; c5 <= min(3, (-4) * c2 + 9); ++c5) {
                    S0((-4) * c3 - c4, 4 * c2 + c5, A2[4 * c2 - 40 * c3 - 10 * c4 + c5]);
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
            tiled: false, parallel: false, vectorized: true; values kept in registers (estimated 1.1 times faster)
            for (int c0 = 0; c0 <= 4; ++c0) {
              // vector
              for (int c1 = 0; c1 <= 9; ++c1) {
                for (int c2 = 0; c2 <= 1; ++c2) {
                  S0(2 * c0 + c2, c1);
                }
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
            tiled: true, parallel: true, vectorized: true; values kept in registers and vectors along consecutive elements and fewer cache misses (estimated 15.7 times faster)
            // parallel
            for (int c0 = 0; c0 <= (p0 - 1) / 32; ++c0) {
              for (int c1 = 0; c1 <= (p0 - 1) / 32; ++c1) {
                for (int c2 = 0; c2 <= (p0 - 1) / 256; ++c2) {
                  for (int c3 = 0; c3 <= min(7, (p0 - 32 * c0 - 1) / 4); ++c3) {
                    for (int c4 = 0; c4 <= min(7, (p0 - 32 * c1 - 1) / 4); ++c4) {
                      // vector
                      for (int c5 = 0; c5 <= min(255, p0 - 256 * c2 - 1); ++c5) {
                        for (int c6 = 0; c6 <= min(3, p0 - 32 * c0 - 4 * c3 - 1); ++c6) {
                          for (int c7 = 0; c7 <= min(3, p0 - 32 * c1 - 4 * c4 - 1); ++c7) {
                            S0(32 * c0 + 4 * c3 + c6, 256 * c2 + c5, 32 * c1 + 4 * c4 + c7);
                          }
                        }
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
            tiled: false, parallel: false, vectorized: true; values kept in registers and vectors along consecutive elements and fewer cache misses (estimated 13.5 times faster)
            for (int c0 = 0; c0 <= (p0 - 1) / 4; ++c0) {
              for (int c1 = 0; c1 <= (p0 - 1) / 4; ++c1) {
                // vector
                for (int c2 = 0; c2 <= p0 - 1; ++c2) {
                  for (int c3 = 0; c3 <= min(3, p0 - 4 * c0 - 1); ++c3) {
                    for (int c4 = 0; c4 <= min(3, p0 - 4 * c1 - 1); ++c4) {
                      S0(4 * c0 + c3, c2, 4 * c1 + c4);
                    }
                  }
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
            left alone: the best order found takes about 72 % of the original's time
        "#]],
    );
}

/// `A[lda * i + j] += X[ix + incx * i] * Y[iy + incy * j]`: in steps of 1 there is nothing to gain. If p4 were a row of many elements,
/// there would be.
#[test]
fn a_factor_of_all_counters_of_an_array_is_a_step_of_one() {
    let update = |first: &str, second: &str| {
        format!(
            "array A0 8 p2
             array A1 8 p3
             array A2 8 p4
             context 1 <= p0 and 1 <= p1 <= p2 and 0 <= p5 < p3 and 0 <= p6 < p4
             for i : 0 <= i < p0
               for j : 0 <= j < p1
                 read A0[i, j]; read A1[{first}]; read A2[{second}]; write A0[i, j]"
        )
    };
    check(
        &update("i, p5", "j, p6"),
        expect![[r#"
            left alone: the best order found takes about 100 % of the original's time, with what is unknown assumed 1024
        "#]],
    );
    assert!(chosen(&update("i, p5", "j, i"), &ScheduleOptions::default()).starts_with("tiled: true"));
}

/// Rows of 4096 bytes share their places in the cache, so that few of them stay there; rows of 4160 do not.
#[test]
fn columns_of_rows_that_share_their_places_are_not_walked() {
    let recurrences = |row: &str| {
        format!(
            "array A0 4 {row}
             array A1 4 {row}
             for j : 1 <= j < 1024
               for i : 1 <= i <= j
                 read A0[j, i - 1]; read A1[j, i]; write A0[j, i]"
        )
    };
    check(
        &recurrences("1024"),
        expect![[r#"
            tiled: false, parallel: false, vectorized: false; values kept in registers (estimated 1.5 times faster)
            for (int c0 = 0; c0 <= 511; ++c0) {
              for (int c1 = 1; c1 <= 2 * c0 + 1; ++c1) {
                for (int c2 = max(0, (-2) * c0 + c1); c2 <= 1; ++c2) {
                  S0(2 * c0 + c2, c1);
                }
              }
            }
        "#]],
    );
    check(
        &recurrences("1040"),
        expect![[r#"
            tiled: false, parallel: false, vectorized: false; values kept in registers (estimated 1.5 times faster)
            for (int c0 = 0; c0 <= 511; ++c0) {
              for (int c1 = 1; c1 <= 2 * c0 + 1; ++c1) {
                for (int c2 = max(0, (-2) * c0 + c1); c2 <= 1; ++c2) {
                  S0(2 * c0 + c2, c1);
                }
              }
            }
        "#]],
    );
}

/// A row of a dynamic program. Where the part that can use vectors is small, it runs beside the chain as fast.
#[test]
fn one_loop_is_split_if_the_chain_hides_less_than_vectors_gain() {
    let row = |first: &str| {
        let arrays: String = (0..15).map(|k| format!("             array A{k} 4\n")).collect();
        format!(
            "{arrays}
             context 1 <= p0
             for k : 1 <= k < p0
               {first}; write A0[k]
               read A1[k - 1]; read A0[k - 1]; read A2[k]; write A1[k]"
        )
    };
    check(
        &row(&(3..15).map(|k| format!("read A{k}[k]")).collect::<Vec<_>>().join("; ")),
        expect![[r#"
            tiled: false, parallel: false, vectorized: true; vectors along consecutive elements (estimated 1.2 times faster)
            // vector
            for (int c0 = 1; c0 <= p0 - 1; ++c0) {
              S0(c0);
            }
            for (int c1 = 1; c1 <= p0 - 1; ++c1) {
              S1(c1);
            }
        "#]],
    );
    check(
        &row("read A3[k]"),
        expect![[r#"
            left alone: the best order found takes about 103 % of the original's time, with what is unknown assumed 1024
        "#]],
    );
}

/// The loops of the original order with iterations of its outermost loop side by side.
fn side_by_side(sketch: &str, by: i64) -> String {
    let scop = test_scop(sketch);
    let step = Step::Jam { band: BandId { number: 0, level: 0 }, member: 0, by };
    let tree = step.apply(&labelled(&scop.schedule).unwrap().into(), &scop).unwrap();
    let tree = legal(tree, &scop, &dependences(&scop).unwrap());
    let node = loops(&tree, &scop).unwrap();
    for params in [[0], [1], [7], [9]] {
        assert!(!matches!(verify(&scop, &computed(&scop), &node, &params).unwrap(), Verdict::Different { .. }));
    }
    node.text(&scop)
}

#[test]
fn groups_are_written_out_where_they_are_whole_and_the_edge_of_a_triangle_stays_a_loop() {
    expect![[r#"
        if (p0 >= 1) {
          for (int c0 = 0; c0 <= (p0 - 1) / 2; ++c0) {
            for (int c1 = 0; c1 <= 2 + 2 * c0 - p0 <= 0 ? min(min(p0 - 1, 2 * c0 + 1), 2 * c0) : -1; ++c1) {
              S0(2 * c0, c1);
              S0(2 * c0 + 1, c1);
            }
            for (int c3 = 2 + 2 * c0 - p0 <= 0 ? max(0, 1 + 2 * c0) : 0; c3 <= min(p0 - 1, 2 * c0 + 1); ++c3) {
              for (int c4 = max(0, (-2) * c0 + c3); c4 <= min(1, p0 - 2 * c0 - 1); ++c4) {
                S0(2 * c0 + c4, c3);
              }
            }
          }
        }
    "#]]
    .assert_eq(&side_by_side(
        "for i : 0 <= i < p0
           for k : 0 <= k <= i
             read A0[i, k]; read A1[k]; update A2[i]",
        2,
    ));
}

#[test]
fn a_scalar_is_one_for_each_of_a_group() {
    expect![[r#"
        if (p0 >= 1) {
          for (int c0 = 0; c0 <= (p0 - 1) / 2; ++c0) {
            if (2 + 2 * c0 - p0 <= 0) {
              S0(2 * c0);
              S0(2 * c0 + 1);
            } else {
              for (int c1 = 0; c1 <= min(1, p0 - 2 * c0 - 1); ++c1) {
                S0(2 * c0 + c1);
              }
            }
            if (2 + 2 * c0 - p0 <= 0) {
              for (int c2 = 0; c2 <= 9; ++c2) {
                S1(2 * c0, c2);
                S1(2 * c0 + 1, c2);
              }
            } else {
              for (int c5 = 0; c5 <= 9; ++c5) {
                for (int c6 = 0; c6 <= min(1, p0 - 2 * c0 - 1); ++c6) {
                  S1(2 * c0 + c6, c5);
                }
              }
            }
            if (2 + 2 * c0 - p0 <= 0) {
              S2(2 * c0);
              S2(2 * c0 + 1);
            } else {
              for (int c4 = 0; c4 <= min(1, p0 - 2 * c0 - 1); ++c4) {
                S2(2 * c0 + c4);
              }
            }
          }
        }
    "#]]
    .assert_eq(&side_by_side(
        "for i : 0 <= i < p0
           write A2[]
           for k : 0 <= k < 10
             read A2[]; read A0[i, k]; write A2[]
           read A2[]; write A1[i]",
        2,
    ));
}

/// `for j: for l: for i = j..n: C[j][i] += B[j][l] * A[l][i]`, with counters that start at 0. Rows of C side by side need the same elements
/// of A only where `i` is what it was.
#[test]
fn a_triangle_that_counts_from_its_corner_is_straightened() {
    check(
        "array A0 8 p1
         array A1 8 p1
         array A2 8 p1
         context 1 <= p0 <= p1
         for j : 0 <= j < p0
           for l : 0 <= l < p0
             for i : 0 <= i < p0 - j
               read A0[j, i + j]; read A1[j, l]; read A2[l, i + j]; write A0[j, i + j]",
        expect![[r#"
            tiled: true, parallel: false, vectorized: true; values kept in registers and fewer cache misses (estimated 5.4 times faster)
            for (int c0 = 0; c0 <= (p0 - 1) / 32; ++c0) {
              for (int c1 = 0; c1 <= (p0 - 1) / 32; ++c1) {
                for (int c2 = c0 / 8; c2 <= (p0 - 1) / 256; ++c2) {
                  for (int c3 = 0; c3 <= min(7, (p0 - 32 * c0 - 1) / 4); ++c3) {
                    for (int c4 = 0; c4 <= min(7, (p0 - 32 * c1 - 1) / 4); ++c4) {
                      // vector
                      for (int c5 = max(0, 32 * c0 - 256 * c2 + 4 * c3); c5 <= min(255, p0 - 256 * c2 - 1); ++c5) {
                        for (int c6 = 0; c6 <= min(3, (-32) * c0 + 256 * c2 - 4 * c3 + c5); ++c6) {
                          for (int c7 = 0; c7 <= min(3, p0 - 32 * c1 - 4 * c4 - 1); ++c7) {
                            S0(32 * c0 + 4 * c3 + c6, 32 * c1 + 4 * c4 + c7, (-32) * c0 + 256 * c2 - 4 * c3 + c5 - c6);
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

/// Of all j only `j = k` hands on something: vectors are out of the question, but nobody waits.
#[test]
fn one_iteration_that_hands_on_makes_no_chain() {
    check(
        "for k : 0 <= k < 1000
           for i : 0 <= i < 1000
             for j : 0 <= j < 1000
               read A0[i, j]; read A0[i, k]; read A0[k, j]; write A0[i, j]",
        expect![[r#"
            left alone: every better order loses vector instructions
        "#]],
    );
}
