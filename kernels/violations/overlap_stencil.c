// Two smoothing sweeps between planes that are apart, the same, or offset by rows or by single elements.
// Breaks: producer and consumer of a time-stepped stencil do not share memory (time tiling would be wrong).
#include "../common.h"
#define N 60
#define STEPS 7

LW_NOINLINE void kernel_overlap_stencil(float (*p)[N], float (*q)[N]) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        q[i][j] = 0.25f * (p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        p[i][j] = 0.5f * (p[i][j] + q[i][j]);
  }
}

int main(void) {
  static const int shift[] = {N * N, -N * N, 0, 1, -1, N, -N, N + 1, -2 * N - 3, 30 * N, N * N - N};
  static float pool[3 * N * N];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
    lw_fill_f32(pool, sizeof pool, 4);
    kernel_overlap_stencil((float(*)[N])(pool + N * N), (float(*)[N])(pool + N * N + shift[s]));
    h = lw_hash(h, pool, sizeof pool);
  }
  lw_report("overlap_stencil", h);
}
