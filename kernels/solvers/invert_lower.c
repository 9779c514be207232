// Inverse of a lower triangular matrix, column by column.
// Feature: nest whose innermost bounds `j <= k < i` depend on both outer loops.
#include "../common.h"
#ifndef N
#define N LW_SIZE(63, 1200)
#endif

static double L[N][N], V[N][N];

static LW_NOINLINE void kernel_invert_lower(void) {
  for (int j = 0; j < N; j++) {
    V[j][j] = 1 / L[j][j];
    for (int i = j + 1; i < N; i++) {
      double s = 0;
      for (int k = j; k < i; k++)
        s += L[i][k] * V[k][j];
      V[i][j] = -s / L[i][i];
    }
  }
}

int main(void) {
  lw_fill_f64(L, sizeof L, 43);
  for (int i = 0; i < N; i++)
    L[i][i] = 16;
  lw_start();
  kernel_invert_lower();
  lw_stop();
  lw_report("invert_lower", lw_hash(LW_HASH_START, V, sizeof V));
}
