// Correlation matrix of float columns: means and deviations in one pass, normalise, then products.
// Feature: two column reductions side by side, a deviation near zero replaced by one (conditional store), unit diagonal.
#include "../common.h"
#include <math.h>
#ifndef ROWS
#define ROWS LW_SIZE(70, 1000)
#endif
#ifndef COLS
#define COLS LW_SIZE(44, 800)
#endif

static float data[ROWS][COLS], mean[COLS], dev[COLS], corr[COLS][COLS];

static LW_NOINLINE void kernel_correlation(void) {
  for (int j = 0; j < COLS; j++) {
    float s = 0, q = 0;
    for (int i = 0; i < ROWS; i++) {
      s += data[i][j];
      q += data[i][j] * data[i][j];
    }
    mean[j] = s / ROWS;
    dev[j] = sqrtf(q / ROWS - mean[j] * mean[j] + 0.0001f);
    if (dev[j] < 0.1f)
      dev[j] = 1;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++)
      data[i][j] = (data[i][j] - mean[j]) / dev[j];
  for (int a = 0; a < COLS; a++) {
    corr[a][a] = 1;
    for (int b = a + 1; b < COLS; b++) {
      float s = 0;
      for (int i = 0; i < ROWS; i++)
        s += data[i][a] * data[i][b];
      corr[a][b] = corr[b][a] = s / ROWS;
    }
  }
}

int main(void) {
  lw_fill_f32(data, sizeof data, 112);
  lw_start();
  kernel_correlation();
  lw_stop();
  uint64_t h = lw_hash(LW_HASH_START, corr, sizeof corr);
  lw_report("correlation", lw_hash(lw_hash(h, mean, sizeof mean), dev, sizeof dev));
}
