// Gauss-Seidel sweeps with nine points, updated in place.
// Feature: dependences in every direction; only skewing uncovers parallelism.
#include "../common.h"
#ifndef N
#define N LW_SIZE(62, 1000)
#endif
#ifndef SWEEPS
#define SWEEPS LW_SIZE(5, 40)
#endif

static double u[N][N];

static LW_NOINLINE void kernel_seidel9(void) {
  for (int t = 0; t < SWEEPS; t++)
    for (int i = 1; i <= N - 2; i++)
      for (int j = 1; j <= N - 2; j++)
        u[i][j] = (u[i - 1][j - 1] + u[i - 1][j] + u[i - 1][j + 1] + u[i][j - 1] + u[i][j] + u[i][j + 1] + u[i + 1][j - 1] +
                   u[i + 1][j] + u[i + 1][j + 1]) / 9;
}

int main(void) {
  lw_fill_f64(u, sizeof u, 64);
  lw_start();
  kernel_seidel9();
  lw_stop();
  lw_report("seidel9", lw_hash(LW_HASH_START, u, sizeof u));
}
