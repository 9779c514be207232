// Product with a transposed right factor, C = beta*C + A * B^T.
// Feature: local scalar reduction written back once per element.
#include "../common.h"
#ifndef N
#define N LW_SIZE(66, 850)
#endif

static double A[N][N], B[N][N], C[N][N];

static LW_NOINLINE void kernel_matmul_nt(double beta) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++)
        s += A[i][k] * B[j][k];
      C[i][j] = beta * C[i][j] + s;
    }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 1);
  lw_fill_f64(B, sizeof B, 2);
  lw_fill_f64(C, sizeof C, 3);
  lw_start();
  kernel_matmul_nt(0.75);
  lw_stop();
  lw_report("matmul_nt", lw_hash(LW_HASH_START, C, sizeof C));
}
