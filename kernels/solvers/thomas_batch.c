// Thomas algorithm on a batch of tridiagonal systems, the systems side by side in memory.
// Feature: forward and backward recurrences; the parallel loop is outermost but the contiguous one (interchange pays).
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 800)
#endif
#ifndef BATCH
#define BATCH LW_SIZE(48, 1000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(2, 15)
#endif

static double lower[N][BATCH], diag[N][BATCH], upper[N][BATCH], rhs[N][BATCH], c[N][BATCH];

static LW_NOINLINE void kernel_thomas_batch(void) {
  for (int t = 0; t < STEPS; t++)
    for (int s = 0; s < BATCH; s++) {
      c[0][s] = upper[0][s] / diag[0][s];
      rhs[0][s] = rhs[0][s] / diag[0][s];
      for (int i = 1; i < N; i++) {
        double m = diag[i][s] - lower[i][s] * c[i - 1][s];
        c[i][s] = upper[i][s] / m;
        rhs[i][s] = (rhs[i][s] - lower[i][s] * rhs[i - 1][s]) / m;
      }
      for (int i = N - 2; i >= 0; i--)
        rhs[i][s] -= c[i][s] * rhs[i + 1][s];
    }
}

int main(void) {
  lw_fill_f64(lower, sizeof lower, 38);
  lw_fill_f64(upper, sizeof upper, 39);
  lw_fill_f64(rhs, sizeof rhs, 40);
  for (int i = 0; i < N; i++)
    for (int s = 0; s < BATCH; s++)
      diag[i][s] = 4 + (i + s) % 3;
  lw_start();
  kernel_thomas_batch();
  lw_stop();
  lw_report("thomas_batch", lw_hash(lw_hash(LW_HASH_START, rhs, sizeof rhs), c, sizeof c));
}
