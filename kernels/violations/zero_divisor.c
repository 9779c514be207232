// Blocked sums whose block size divides counters; where no loop runs, the block size may be zero, and tables may be null.
// Breaks: what the loop body evaluates (division, loads) can be evaluated ahead of it without asking whether it runs.
#include "../common.h"
#define N 90

LW_NOINLINE void kernel_zero_divisor(int n, int m, int block, const int *limit, double *sum, double (*a)[N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (j < *limit) {
        sum[i / block] += a[i][j];
        if (j % block == 0)
          a[i][j] = 0.5 * sum[i / block];
      }
}

int main(void) {
  static double a[N][N], sum[N];
  int all = N, few = 7, none = 0;
  const struct { int n, m, block; const int *limit; double *sum; } call[] = {
      {N, N, 8, &all, sum}, {N, N, 1, &few, sum}, {N, N, -1, &none, sum}, {N, N, 0, &none, sum},  {0, N, 0, NULL, NULL},
      {N, 0, 0, NULL, NULL}, {-4, N, 0, NULL, sum}, {1, N, -3, &all, sum}, {N, N, 200, &all, sum}, {N, N, 0, &none, NULL}};
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof call / sizeof *call; s++) {
    lw_fill_f64(a, sizeof a, 27);
    lw_fill_f64(sum, sizeof sum, 28);
    kernel_zero_divisor(call[s].n, call[s].m, call[s].block, call[s].limit, call[s].sum, a);
    h = lw_hash(lw_hash(h, a, sizeof a), sum, sizeof sum);
  }
  lw_report("zero_divisor", h);
}
