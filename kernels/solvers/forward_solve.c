// Solves L*X = B for many right-hand sides at once, X overwriting B.
// Feature: triangular loop, division closing each row, in-place recurrence along the outer loop.
#include "../common.h"
#ifndef N
#define N LW_SIZE(67, 900)
#endif
#ifndef RHS
#define RHS LW_SIZE(41, 600)
#endif

static double L[N][N], X[N][RHS];

static LW_NOINLINE void kernel_forward_solve(void) {
  for (int r = 0; r < RHS; r++)
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < i; j++)
        X[i][r] -= L[i][j] * X[j][r];
      X[i][r] /= L[i][i];
    }
}

int main(void) {
  lw_fill_f64(L, sizeof L, 31);
  lw_fill_f64(X, sizeof X, 32);
  for (int i = 0; i < N; i++)
    L[i][i] = N + L[i][i];
  lw_start();
  kernel_forward_solve();
  lw_stop();
  lw_report("forward_solve", lw_hash(LW_HASH_START, X, sizeof X));
}
