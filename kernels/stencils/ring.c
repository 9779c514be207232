// Diffusion on a torus: the neighbours wrap around.
// Feature: remainders in subscripts, `(i + 1) % N` and `(i + N - 1) % N`, i.e. piecewise affine accesses.
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 700)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(6, 800)
#endif

static double a[N][N], b[N][N];

static LW_NOINLINE void kernel_ring(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        b[i][j] = 0.5 * a[i][j] + 0.125 * (a[(i + 1) % N][j] + a[(i + N - 1) % N][j] + a[i][(j + 1) % N] + a[i][(j + N - 1) % N]);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        a[i][j] = b[i][j];
  }
}

int main(void) {
  lw_fill_f64(a, sizeof a, 67);
  lw_start();
  kernel_ring();
  lw_stop();
  lw_report("ring", lw_hash(LW_HASH_START, a, sizeof a));
}
