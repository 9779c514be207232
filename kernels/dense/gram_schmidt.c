// Orthonormalises the columns of V (modified Gram-Schmidt) and keeps the factors in R.
// Feature: reductions down columns, sqrt and division between nests, triangular outer structure.
// expect-fast: kernel_gram_schmidt
#include "../common.h"
#include <math.h>
#ifndef M
#define M LW_SIZE(60, 640)
#endif
#ifndef N
#define N LW_SIZE(40, 560)
#endif

static double V[M][N], R[N][N];

static LW_NOINLINE void kernel_gram_schmidt(void) {
  for (int c = 0; c < N; c++) {
    double norm = 0;
    for (int i = 0; i < M; i++)
      norm += V[i][c] * V[i][c];
    R[c][c] = sqrt(norm);
    for (int i = 0; i < M; i++)
      V[i][c] = V[i][c] / R[c][c];
    for (int d = c + 1; d < N; d++) {
      R[c][d] = 0;
      for (int i = 0; i < M; i++)
        R[c][d] += V[i][c] * V[i][d];
      for (int i = 0; i < M; i++)
        V[i][d] -= V[i][c] * R[c][d];
    }
  }
}

int main(void) {
  lw_fill_f64(V, sizeof V, 11);
  lw_start();
  kernel_gram_schmidt();
  lw_stop();
  lw_report("gram_schmidt", lw_hash(lw_hash(LW_HASH_START, V, sizeof V), R, sizeof R));
}
