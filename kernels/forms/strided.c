// Butterfly-like passes over rows and columns with constant strides 2, 3 and 5.
// Feature: loops with step > 1 whose remainders differ, so written and read cells interleave without meeting.
#include "../common.h"
#ifndef N
#define N LW_SIZE(96, 1500)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(4, 80)
#endif

static double a[N][N];

static LW_NOINLINE void kernel_strided(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < N - 1; j += 2)
      for (int i = 0; i < N; i++)
        a[i][j] = 0.5 * (a[i][j] + a[i][j + 1]);
    for (int i = 1; i < N - 3; i += 3)
      for (int j = 0; j < N; j += 5)
        a[i][j] -= 0.25 * (a[i + 1][j] + a[i + 2][j]);
    for (int j = 2; j < N; j += 3)
      for (int i = 1; i < N; i += 2)
        a[i][j] = 0.5 * (a[i][j] - a[i - 1][j]);
  }
}

int main(void) {
  lw_fill_f64(a, sizeof a, 123);
  lw_start();
  kernel_strided();
  lw_stop();
  lw_report("strided", lw_hash(LW_HASH_START, a, sizeof a));
}
