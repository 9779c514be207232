// Wave equation on a membrane with three time levels: past, now, next, then the levels move on.
// Feature: three arrays rotated by copying loops inside the time loop.
#include "../common.h"
#ifndef N
#define N LW_SIZE(65, 900)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(10, 250)
#endif

static double past[N][N], now[N][N], next[N][N];

static LW_NOINLINE void kernel_wave2d(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = 2 * now[i][j] - past[i][j] + 0.2 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        past[i][j] = now[i][j];
        now[i][j] = next[i][j];
      }
  }
}

int main(void) {
  lw_fill_f64(now, sizeof now, 59);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      past[i][j] = now[i][j];
  lw_start();
  kernel_wave2d();
  lw_stop();
  lw_report("wave2d", lw_hash(lw_hash(lw_hash(LW_HASH_START, past, sizeof past), now, sizeof now), next, sizeof next));
}
