// Covariance matrix of the columns of a data table: centre the columns, then half of the products, mirrored.
// Feature: sequence of nests, triangular product with a symmetric second store.
// expect-fast: kernel_covariance
#include "../common.h"
#ifndef ROWS
#define ROWS LW_SIZE(80, 900)
#endif
#ifndef COLS
#define COLS LW_SIZE(50, 700)
#endif

static double data[ROWS][COLS], mean[COLS], cov[COLS][COLS];

static LW_NOINLINE void kernel_covariance(void) {
  for (int j = 0; j < COLS; j++) {
    mean[j] = 0;
    for (int i = 0; i < ROWS; i++)
      mean[j] += data[i][j];
    mean[j] /= ROWS;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++)
      data[i][j] -= mean[j];
  for (int a = 0; a < COLS; a++)
    for (int b = a; b < COLS; b++) {
      cov[a][b] = 0;
      for (int i = 0; i < ROWS; i++)
        cov[a][b] += data[i][a] * data[i][b];
      cov[a][b] /= ROWS - 1;
      cov[b][a] = cov[a][b];
    }
}

int main(void) {
  lw_fill_f64(data, sizeof data, 111);
  lw_start();
  kernel_covariance();
  lw_stop();
  lw_report("covariance", lw_hash(lw_hash(LW_HASH_START, cov, sizeof cov), mean, sizeof mean));
}
