// Nine-point diffusion with run-time extents through C99 variable-length array types.
// Feature: shape from parameters (`double p[rows][cols]`), time loop count from a parameter.
#include "../common.h"
#ifndef N
#define N LW_SIZE(55, 1100)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(6, 150)
#endif

LW_NOINLINE void kernel_param_stencil(int steps, int rows, int cols, double p[rows][cols], double q[rows][cols]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < rows - 1; i++)
      for (int j = 1; j < cols - 1; j++)
        q[i][j] = 0.5 * p[i][j] + 0.0625 * (p[i - 1][j - 1] + p[i - 1][j] + p[i - 1][j + 1] + p[i][j - 1] + p[i][j + 1] +
                                            p[i + 1][j - 1] + p[i + 1][j] + p[i + 1][j + 1]);
    for (int i = 1; i < rows - 1; i++)
      for (int j = 1; j < cols - 1; j++)
        p[i][j] = q[i][j];
  }
}

int main(void) {
  static double p[N][N + 7], q[N][N + 7];
  lw_fill_f64(p, sizeof p, 142);
  lw_start();
  kernel_param_stencil(STEPS, N, N + 7, p, q);
  lw_stop();
  lw_report("param_stencil", lw_hash(lw_hash(LW_HASH_START, p, sizeof p), q, sizeof q));
}
