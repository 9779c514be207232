// Solves U*x = b backwards for a batch of systems that share U.
// Feature: downward outer loop, lower bound depending on it, local scalar reduction.
#include "../common.h"
#ifndef N
#define N LW_SIZE(90, 1000)
#endif
#ifndef BATCH
#define BATCH LW_SIZE(9, 700)
#endif

LW_NOINLINE void kernel_back_solve(double (*U)[N], double (*b)[N], double (*x)[N]) {
  for (int s = 0; s < BATCH; s++)
    for (int i = N - 1; i >= 0; i--) {
      double rest = b[s][i];
      for (int j = i + 1; j < N; j++)
        rest -= U[i][j] * x[s][j];
      x[s][i] = rest / U[i][i];
    }
}

static double U[N][N], b[BATCH][N], x[BATCH][N];

int main(void) {
  lw_fill_f64(U, sizeof U, 33);
  lw_fill_f64(b, sizeof b, 34);
  for (int i = 0; i < N; i++)
    U[i][i] = 2 * N;
  lw_start();
  kernel_back_solve(U, b, x);
  lw_stop();
  lw_report("back_solve", lw_hash(LW_HASH_START, x, sizeof x));
}
