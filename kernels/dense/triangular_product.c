// B = L * B in place, L lower triangular: rows are rewritten from the last to the first.
// Feature: downward outer loop, triangular inner bound, in-place update.
#include "../common.h"
#ifndef N
#define N LW_SIZE(65, 800)
#endif

static double L[N][N], B[N][N];

static LW_NOINLINE void kernel_triangular_product(void) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = 0; j < N; j++) {
      B[i][j] *= L[i][i];
      for (int k = 0; k < i; k++)
        B[i][j] += L[i][k] * B[k][j];
    }
}

int main(void) {
  lw_fill_f64(L, sizeof L, 19);
  lw_fill_f64(B, sizeof B, 20);
  lw_start();
  kernel_triangular_product();
  lw_stop();
  lw_report("triangular_product", lw_hash(LW_HASH_START, B, sizeof B));
}
