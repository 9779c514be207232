// C = S * B where only the lower triangle of the symmetric S is stored.
// Feature: affine conditional `k <= i` choosing between two accesses of the same array.
// expect-fast: kernel_sym_product
#include "../common.h"
#ifndef N
#define N LW_SIZE(62, 620)
#endif

static double S[N][N], B[N][N], C[N][N];

static LW_NOINLINE void kernel_sym_product(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) {
        if (k <= i)
          C[i][j] += S[i][k] * B[k][j];
        else
          C[i][j] += S[k][i] * B[k][j];
      }
}

int main(void) {
  lw_fill_f64(S, sizeof S, 6);
  lw_fill_f64(B, sizeof B, 7);
  lw_start();
  kernel_sym_product();
  lw_stop();
  lw_report("sym_product", lw_hash(LW_HASH_START, C, sizeof C));
}
