// L*D*L^T factorisation: unit lower triangle in A, the pivots in d, scaled columns in a work row.
// Feature: imperfect nest with a one-dimensional work array rewritten in every outer iteration (privatisable).
#include "../common.h"
#ifndef N
#define N LW_SIZE(64, 1250)
#endif

static double A[N][N], d[N], work[N];

static LW_NOINLINE void kernel_ldlt(void) {
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < j; k++)
      work[k] = A[j][k] * d[k];
    double pivot = A[j][j];
    for (int k = 0; k < j; k++)
      pivot -= A[j][k] * work[k];
    d[j] = pivot;
    for (int i = j + 1; i < N; i++) {
      double s = A[i][j];
      for (int k = 0; k < j; k++)
        s -= A[i][k] * work[k];
      A[i][j] = s / pivot;
    }
  }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 37);
  for (int i = 0; i < N; i++)
    A[i][i] = 3 * N;
  lw_start();
  kernel_ldlt();
  lw_stop();
  lw_report("ldlt", lw_hash(lw_hash(LW_HASH_START, A, sizeof A), d, sizeof d));
}
