// Matrix product on flat one-dimensional arrays with a constant leading dimension larger than the row.
// Feature: subscripts `i * LD + k` in size_t; the two-dimensional shape has to be recovered.
// expect-fast: kernel_flat_product
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 700)
#endif
#define LD (N + 4)

LW_NOINLINE void kernel_flat_product(const double *a, const double *b, double *c) {
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      for (size_t k = 0; k < N; k++)
        c[i * LD + j] += a[i * LD + k] * b[k * LD + j];
}

static double a[N * LD], b[N * LD], c[N * LD];

int main(void) {
  lw_fill_f64(a, sizeof a, 138);
  lw_fill_f64(b, sizeof b, 139);
  lw_start();
  kernel_flat_product(a, b, c);
  lw_stop();
  lw_report("flat_product", lw_hash(LW_HASH_START, c, sizeof c));
}
