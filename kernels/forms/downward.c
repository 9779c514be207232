// Polynomial evaluation and suffix products, every loop counting down.
// Feature: downward loops at all three depths, exit tests `>= 0`, `> 0` and `i-- > 0`.
#include "../common.h"
#ifndef N
#define N LW_SIZE(100, 1500)
#endif
#ifndef DEGREE
#define DEGREE LW_SIZE(12, 180)
#endif

static double x[N][N], c[DEGREE + 1], y[N][N];

static LW_NOINLINE void kernel_downward(void) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = N; j > 0; j--) {
      double v = c[DEGREE];
      for (int k = DEGREE; k-- > 0;)
        v = v * x[j - 1][i] + c[k];
      y[j - 1][i] = v;
    }
  for (unsigned i = N - 1; i-- > 0;)
    for (unsigned j = N; j-- > 0;)
      y[i][j] += 0.5 * y[i + 1][j];
}

int main(void) {
  lw_fill_f64(x, sizeof x, 121);
  lw_fill_f64(c, sizeof c, 122);
  lw_start();
  kernel_downward();
  lw_stop();
  lw_report("downward", lw_hash(LW_HASH_START, y, sizeof y));
}
