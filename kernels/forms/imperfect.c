// Row scaling, partial sums and a correction at every level of one nest.
// Feature: statements before, between and after the loops of each depth (imperfect nest of depth three).
#include "../common.h"
#ifndef N
#define N LW_SIZE(40, 200)
#endif

static double a[N][N][N], row[N][N], plane[N];

static LW_NOINLINE void kernel_imperfect(double total[1]) {
  total[0] = 0;
  for (int i = 0; i < N; i++) {
    plane[i] = 1;
    for (int j = 0; j < N; j++) {
      row[i][j] = 0.5 * plane[i];
      for (int k = 0; k < N; k++) {
        a[i][j][k] = 0.5 * a[i][j][k] + row[i][j];
        row[i][j] += 0x1p-10 * a[i][j][k];
      }
      row[i][j] *= 0.5;
      for (int k = j; k < N; k++)
        a[i][j][k] -= row[i][j];
      plane[i] = 0.5 * plane[i] + row[i][j];
    }
    total[0] += plane[i];
  }
}

int main(void) {
  double total[1];
  lw_fill_f64(a, sizeof a, 129);
  lw_start();
  for (int rep = 0; rep < LW_SIZE(1, 12); rep++)
    kernel_imperfect(total);
  lw_stop();
  uint64_t h = lw_hash(lw_hash(LW_HASH_START, a, sizeof a), row, sizeof row);
  lw_report("imperfect", lw_hash(lw_hash(h, plane, sizeof plane), total, sizeof total));
}
