// A += u1*v1^T + u2*v2^T, then y += A^T*x and x = A*y: the matrix crosses the cache three times unless the loops are fused.
// Feature: sequence of nests with row-wise and column-wise walks of one matrix.
// expect-fast: kernel_two_updates
#include "../common.h"
#ifndef N
#define N LW_SIZE(140, 2000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(2, 25)
#endif

static double A[N][N], u1[N], v1[N], u2[N], v2[N], x[N], y[N];

static LW_NOINLINE void kernel_two_updates(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        y[i] = y[i] + A[j][i] * x[j] * 0x1p-12;
    for (int i = 0; i < N; i++) {
      x[i] = 0;
      for (int j = 0; j < N; j++)
        x[i] = x[i] + A[i][j] * y[j] * 0x1p-12;
    }
  }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 24);
  lw_fill_f64(u1, sizeof u1, 25);
  lw_fill_f64(v1, sizeof v1, 26);
  lw_fill_f64(u2, sizeof u2, 27);
  lw_fill_f64(v2, sizeof v2, 28);
  lw_fill_f64(x, sizeof x, 29);
  lw_start();
  kernel_two_updates();
  lw_stop();
  lw_report("two_updates", lw_hash(lw_hash(lw_hash(LW_HASH_START, A, sizeof A), x, sizeof x), y, sizeof y));
}
