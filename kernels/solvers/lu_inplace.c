// LU factorisation without pivoting, both factors overwriting A (right-looking).
// Feature: shrinking triangular domains, imperfect nest, an array that is read and written in every row.
#include "../common.h"
#ifndef N
#define N LW_SIZE(68, 1200)
#endif

static double A[N][N];

static LW_NOINLINE void kernel_lu_inplace(void) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < N; j++)
        A[i][j] -= A[i][k] * A[k][j];
    }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 35);
  for (int i = 0; i < N; i++)
    A[i][i] += N;
  lw_start();
  kernel_lu_inplace();
  lw_stop();
  lw_report("lu_inplace", lw_hash(LW_HASH_START, A, sizeof A));
}
