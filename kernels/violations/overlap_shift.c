// Scaled copy between two matrices that may be one: disjoint, the same, shifted by a few elements either way, by whole rows.
// Breaks: the two pointers do not overlap.
#include "../common.h"
#define N 96

LW_NOINLINE void kernel_overlap_shift(double (*to)[N], double (*from)[N]) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      to[i][j] = 0.5 * from[i][j] + 1;
}

int main(void) {
  static const int shift[] = {N * N, -N * N, 0, 1, -1, 5, -5, N, -N, 3 * N + 2, -3 * N - 2, N * N - 1, 1 - N * N};
  static double pool[3 * N * N];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
    lw_fill_f64(pool, sizeof pool, 1);
    kernel_overlap_shift((double(*)[N])(pool + N * N + shift[s]), (double(*)[N])(pool + N * N));
    h = lw_hash(h, pool, sizeof pool);
  }
  lw_report("overlap_shift", h);
}
