// Red-black successive over-relaxation of a Poisson problem.
// Feature: affine condition with a remainder, `(i + j) % 2 == colour`, inside a time loop.
#include "../common.h"
#ifndef N
#define N LW_SIZE(66, 700)
#endif
#ifndef SWEEPS
#define SWEEPS LW_SIZE(6, 320)
#endif

static double u[N][N], f[N][N];

static LW_NOINLINE void kernel_sor_redblack(void) {
  for (int t = 0; t < SWEEPS; t++)
    for (int colour = 0; colour < 2; colour++)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
          if ((i + j) % 2 == colour)
            u[i][j] += 0.375 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j] - f[i][j]);
}

int main(void) {
  lw_fill_f64(u, sizeof u, 41);
  lw_fill_f64(f, sizeof f, 42);
  lw_start();
  kernel_sor_redblack();
  lw_stop();
  lw_report("sor_redblack", lw_hash(LW_HASH_START, u, sizeof u));
}
