// Matrix product C += A*B in the textbook i-j-k order.
// Feature: perfect nest of depth three over global arrays, accumulation in memory.
// expect-fast: kernel_matmul
#include "../common.h"
#ifndef N
#define N LW_SIZE(70, 800)
#endif

static double A[N][N], B[N][N], C[N][N];

static LW_NOINLINE void kernel_matmul(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}

int main(void) {
  lw_fill_f64(A, sizeof A, 1);
  lw_fill_f64(B, sizeof B, 2);
  lw_fill_f64(C, sizeof C, 3);
  lw_start();
  kernel_matmul();
  lw_stop();
  lw_report("matmul", lw_hash(LW_HASH_START, C, sizeof C));
}
