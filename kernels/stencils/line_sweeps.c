// Alternating direction sweeps: implicit-like recurrences along rows, then along columns, forth and back.
// Feature: four nests per step, upward and downward, whose parallel dimension alternates.
// expect-fast: kernel_line_sweeps
#include "../common.h"
#ifndef N
#define N LW_SIZE(64, 800)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(5, 40)
#endif

static double u[N][N], k[N][N];

static LW_NOINLINE void kernel_line_sweeps(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++)
        u[i][j] = 0.75 * u[i][j] + k[i][j] * u[i][j - 1];
    for (int i = 0; i < N; i++)
      for (int j = N - 2; j >= 0; j--)
        u[i][j] = 0.75 * u[i][j] + k[i][j] * u[i][j + 1];
    for (int j = 0; j < N; j++)
      for (int i = 1; i < N; i++)
        u[i][j] = 0.75 * u[i][j] + k[i][j] * u[i - 1][j];
    for (int j = 0; j < N; j++)
      for (int i = N - 2; i >= 0; i--)
        u[i][j] = 0.75 * u[i][j] + k[i][j] * u[i + 1][j];
  }
}

int main(void) {
  lw_fill_f64(u, sizeof u, 68);
  lw_fill_f64(k, sizeof k, 69);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      k[i][j] = 0.25 + k[i][j] / 64;
  lw_start();
  kernel_line_sweeps();
  lw_stop();
  lw_report("line_sweeps", lw_hash(LW_HASH_START, u, sizeof u));
}
