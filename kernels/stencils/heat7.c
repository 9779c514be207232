// Heat conduction in a cube, seven points, ping-pong between two grids.
// Feature: four-dimensional iteration space including time.
#include "../common.h"
#ifndef N
#define N LW_SIZE(20, 130)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(5, 100)
#endif

static double u[N][N][N], v[N][N][N];

static LW_NOINLINE void kernel_heat7(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          v[i][j][k] = 0.4 * u[i][j][k] + 0.1 * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                                                 u[i][j][k - 1] + u[i][j][k + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          u[i][j][k] = 0.4 * v[i][j][k] + 0.1 * (v[i - 1][j][k] + v[i + 1][j][k] + v[i][j - 1][k] + v[i][j + 1][k] +
                                                 v[i][j][k - 1] + v[i][j][k + 1]);
  }
}

int main(void) {
  lw_fill_f64(u, sizeof u, 55);
  lw_fill_f64(v, sizeof v, 56);
  lw_start();
  kernel_heat7();
  lw_stop();
  lw_report("heat7", lw_hash(lw_hash(LW_HASH_START, u, sizeof u), v, sizeof v));
}
