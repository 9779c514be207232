// Three-point smoothing of a line, two buffers, copied back in every step.
// Feature: time loop over two one-dimensional nests (time skewing pays once the line leaves the cache).
#include "../common.h"
#ifndef N
#define N LW_SIZE(500, 400000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(20, 1600)
#endif

static double a[N], b[N];

static LW_NOINLINE void kernel_smooth1d(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
    for (int i = 1; i < N - 1; i++)
      a[i] = b[i];
  }
}

int main(void) {
  lw_fill_f64(a, sizeof a, 51);
  lw_start();
  kernel_smooth1d();
  lw_stop();
  lw_report("smooth1d", lw_hash(lw_hash(LW_HASH_START, a, sizeof a), b, sizeof b));
}
