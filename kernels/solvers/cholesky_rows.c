// Cholesky factorisation of a symmetric positive matrix, row by row in the lower triangle.
// Feature: triangular nest of depth three with sqrt; reductions along two rows of the same array.
// expect-fast: kernel_cholesky_rows
#include "../common.h"
#include <math.h>
#ifndef N
#define N LW_SIZE(72, 1100)
#endif

static double A[N][N];

static LW_NOINLINE void kernel_cholesky_rows(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 36);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++)
      A[j][i] = A[i][j];
    A[i][i] = 2 * N;
  }
  lw_start();
  kernel_cholesky_rows();
  lw_stop();
  lw_report("cholesky_rows", lw_hash(LW_HASH_START, A, sizeof A));
}
