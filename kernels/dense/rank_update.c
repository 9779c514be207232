// Rank-k update of the lower triangle, C -= A * A^T.
// Feature: triangular domain, one array read through two different rows.
// flags: -DN=200 -DK=150
// expect-fast: kernel_rank_update
#include "../common.h"
#ifndef N
#define N LW_SIZE(71, 1000)
#endif
#ifndef K
#define K LW_SIZE(45, 700)
#endif

static double A[N][K], C[N][N];

static LW_NOINLINE void kernel_rank_update(void) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < K; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] -= A[i][k] * A[j][k];
}

int main(void) {
  lw_fill_f64(A, sizeof A, 4);
  lw_fill_f64(C, sizeof C, 5);
  lw_start();
  kernel_rank_update();
  lw_stop();
  lw_report("rank_update", lw_hash(LW_HASH_START, C, sizeof C));
}
