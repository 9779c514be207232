// Product of two band matrices stored in full, the loops clipped to the band.
// Feature: bounds that are the maximum or minimum of affine expressions of outer counters.
#include "../common.h"
#ifndef N
#define N LW_SIZE(90, 2000)
#endif
#ifndef BAND
#define BAND LW_SIZE(11, 150)
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static double A[N][N], B[N][N], C[N][N];

static LW_NOINLINE void kernel_banded(void) {
  for (int i = 0; i < N; i++)
    for (int j = MAX(0, i - 2 * BAND); j < MIN(N, i + 2 * BAND + 1); j++)
      for (int k = MAX(MAX(0, i - BAND), j - BAND); k <= MIN(MIN(N - 1, i + BAND), j + BAND); k++)
        C[i][j] += A[i][k] * B[k][j];
}

int main(void) {
  lw_fill_f64(A, sizeof A, 124);
  lw_fill_f64(B, sizeof B, 125);
  lw_start();
  kernel_banded();
  lw_stop();
  lw_report("banded", lw_hash(LW_HASH_START, C, sizeof C));
}
