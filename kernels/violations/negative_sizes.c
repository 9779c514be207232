// Matrix update whose extents are positive, zero, negative and extreme, where the loops simply do not run.
// Breaks: sizes are positive; `n - 1` and `n * m` evaluated in a check must not trap or wrap into nonsense.
#include "../common.h"
#include <limits.h>
#define N 64

LW_NOINLINE void kernel_negative_sizes(int n, int m, double *a, double *row) {
  for (int i = 0; i < n; i++) {
    row[i] = 0;
    for (int j = 0; j < m; j++)
      row[i] += a[(long)i * m + j];
    for (int j = m; j > 0; j--)
      a[(long)i * m + j - 1] -= row[i] / N;
  }
}

int main(void) {
  static const int size[][2] = {{N, N}, {N, 0}, {0, N}, {0, 0}, {-1, N}, {N, -1}, {-5, -7}, {INT_MIN, N}, {N, INT_MIN},
                                {INT_MIN, INT_MIN}, {0, INT_MAX}, {INT_MIN, INT_MAX}, {-1, INT_MAX}, {1, N * N}, {N, 1}};
  static double a[N * N], row[N];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
    lw_fill_f64(a, sizeof a, 7);
    lw_fill_f64(row, sizeof row, 8);
    kernel_negative_sizes(size[s][0], size[s][1], a, row);
    h = lw_hash(lw_hash(h, a, sizeof a), row, sizeof row);
  }
  lw_report("negative_sizes", h);
}
