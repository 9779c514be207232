// Tensor contraction T[a][b][c] = sum over p, q of X[a][p][q] * Y[q][b][p] * d[c][p].
// Feature: nest of depth five, permuted subscripts, accumulation in memory.
#include "../common.h"
#ifndef N
#define N LW_SIZE(13, 56)
#endif

static double X[N][N][N], Y[N][N][N], d[N][N], T[N][N][N];

static LW_NOINLINE void kernel_contract(void) {
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++)
      for (int c = 0; c < N; c++)
        for (int p = 0; p < N; p++)
          for (int q = 0; q < N; q++)
            T[a][b][c] += X[a][p][q] * Y[q][b][p] * d[c][p];
}

int main(void) {
  lw_fill_f64(X, sizeof X, 16);
  lw_fill_f64(Y, sizeof Y, 17);
  lw_fill_f64(d, sizeof d, 18);
  lw_start();
  kernel_contract();
  lw_stop();
  lw_report("contract", lw_hash(LW_HASH_START, T, sizeof T));
}
