// A nest whose statements are chosen by affine tests on the counters.
// Feature: `>`, `&&`, `||`, `!=`, `% 2 == 0`, nested else branches and a switch on `i % 3`.
#include "../common.h"
#ifndef N
#define N LW_SIZE(84, 1400)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(3, 30)
#endif

static double a[N][N], b[N][N];

static LW_NOINLINE void kernel_guards(void) {
  for (int t = 0; t < STEPS; t++)
    for (int j = 1; j < N - 1; j++)
      for (int i = 1; i < N - 1; i++) {
        if (i > j)
          a[i][j] = 0.5 * (b[i][j] + b[i - 1][j]);
        else if (i != j && j % 2 == 0)
          a[i][j] = b[i][j - 1] - 0.5 * a[i][j];
        if (i < N / 4 || j > N / 2)
          b[i][j] = 0.5 * b[i][j] + 0.25;
        switch (i % 3) {
        case 0:
          b[i][j] -= 0.125 * a[i][j];
          break;
        case 1:
          b[i][j] += 0.0625;
          break;
        default:
          break;
        }
      }
}

int main(void) {
  lw_fill_f64(a, sizeof a, 130);
  lw_fill_f64(b, sizeof b, 131);
  lw_start();
  kernel_guards();
  lw_stop();
  lw_report("guards", lw_hash(lw_hash(LW_HASH_START, a, sizeof a), b, sizeof b));
}
