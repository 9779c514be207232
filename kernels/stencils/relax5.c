// Five-point relaxation in the plane, ping-pong between two grids.
// Feature: time loop with two two-dimensional nests writing each other's input; arrays as may-alias pointers.
#include "../common.h"
#ifndef N
#define N LW_SIZE(72, 1300)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(8, 120)
#endif

LW_NOINLINE void kernel_relax5(double (*p)[N], double (*q)[N]) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        q[i][j] = 0.2 * (p[i][j] + p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        p[i][j] = 0.2 * (q[i][j] + q[i - 1][j] + q[i + 1][j] + q[i][j - 1] + q[i][j + 1]);
  }
}

int main(void) {
  size_t bytes = sizeof(double[N][N]);
  double(*p)[N] = lw_alloc(bytes), (*q)[N] = lw_alloc(bytes);
  lw_fill_f64(p, bytes, 52);
  lw_fill_f64(q, bytes, 53);
  lw_start();
  kernel_relax5(p, q);
  lw_stop();
  lw_report("relax5", lw_hash(lw_hash(LW_HASH_START, p, bytes), q, bytes));
  free(p), free(q);
}
