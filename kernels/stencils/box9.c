// Nine-point weighted stencil in float; the two time levels are the leading dimension of one array.
// Feature: subscripts `t % 2` and `(t + 1) % 2` (quasi-affine accesses).
#include "../common.h"
#ifndef N
#define N LW_SIZE(70, 1500)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(9, 250)
#endif

static float g[2][N][N];

static LW_NOINLINE void kernel_box9(void) {
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        g[(t + 1) % 2][i][j] =
            0.25f * g[t % 2][i][j] +
            0.125f * (g[t % 2][i - 1][j] + g[t % 2][i + 1][j] + g[t % 2][i][j - 1] + g[t % 2][i][j + 1]) +
            0.0625f * (g[t % 2][i - 1][j - 1] + g[t % 2][i - 1][j + 1] + g[t % 2][i + 1][j - 1] + g[t % 2][i + 1][j + 1]);
}

int main(void) {
  lw_fill_f32(g, sizeof g, 54);
  lw_start();
  kernel_box9();
  lw_stop();
  lw_report("box9", lw_hash(LW_HASH_START, g, sizeof g));
}
