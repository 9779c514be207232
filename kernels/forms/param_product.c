// Matrix product on flat arrays whose extents are run-time arguments.
// Feature: polynomial subscripts `i * n + j` with parametric size (delinearisation), long counters, may-alias pointers.
#include "../common.h"
#ifndef N
#define N LW_SIZE(58, 720)
#endif

LW_NOINLINE void kernel_param_product(long n, long m, long k, const double *a, const double *b, double *c) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long l = 0; l < k; l++)
        c[i * m + j] += a[i * k + l] * b[l * m + j];
}

int main(void) {
  static double a[N * (N - 3)], b[(N - 3) * (N + 5)], c[N * (N + 5)];
  lw_fill_f64(a, sizeof a, 140);
  lw_fill_f64(b, sizeof b, 141);
  lw_start();
  kernel_param_product(N, N + 5, N - 3, a, b, c);
  lw_stop();
  lw_report("param_product", lw_hash(LW_HASH_START, c, sizeof c));
}
