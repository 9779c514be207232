// Product with a transposed left factor, C = alpha * A^T * B, in float.
// Feature: heap arrays with a fixed row type passed as plain pointers (they may alias), column-wise reads.
// expect-fast: kernel_matmul_tn
#include "../common.h"
#ifndef M
#define M LW_SIZE(61, 700)
#endif
#ifndef N
#define N LW_SIZE(53, 900)
#endif
#ifndef K
#define K LW_SIZE(77, 800)
#endif

LW_NOINLINE void kernel_matmul_tn(float alpha, float (*C)[N], float (*A)[M], float (*B)[N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++)
        C[i][j] += alpha * A[k][i] * B[k][j];
    }
}

int main(void) {
  float(*A)[M] = lw_alloc(sizeof(float[K][M]));
  float(*B)[N] = lw_alloc(sizeof(float[K][N]));
  float(*C)[N] = lw_alloc(sizeof(float[M][N]));
  lw_fill_f32(A, sizeof(float[K][M]), 1);
  lw_fill_f32(B, sizeof(float[K][N]), 2);
  lw_start();
  kernel_matmul_tn(1.5f, C, A, B);
  lw_stop();
  lw_report("matmul_tn", lw_hash(LW_HASH_START, C, sizeof(float[M][N])));
  free(A), free(B), free(C);
}
