// Per-class sums and squared sums of features (training of naive Bayes), classes in blocks of equal size, then log-free scores.
// Feature: subscript `i / BLOCK` (integer division), reductions into rows chosen by it, a matrix of scores afterwards.
// expect-fast: kernel_class_sums
#include "../common.h"
#ifndef CLASSES
#define CLASSES LW_SIZE(6, 40)
#endif
#ifndef BLOCK
#define BLOCK LW_SIZE(20, 200)
#endif
#ifndef DIM
#define DIM LW_SIZE(31, 500)
#endif
#define N (CLASSES * BLOCK)

static double x[N][DIM], sum[CLASSES][DIM], sq[CLASSES][DIM], score[N][CLASSES];

static LW_NOINLINE void kernel_class_sums(void) {
  for (int f = 0; f < DIM; f++)
    for (int i = 0; i < N; i++) {
      sum[i / BLOCK][f] += x[i][f];
      sq[i / BLOCK][f] += x[i][f] * x[i][f];
    }
  for (int c = 0; c < CLASSES; c++)
    for (int f = 0; f < DIM; f++) {
      sum[c][f] /= BLOCK;
      sq[c][f] = sq[c][f] / BLOCK - sum[c][f] * sum[c][f] + 0.125;
    }
  for (int i = 0; i < N; i++)
    for (int c = 0; c < CLASSES; c++) {
      score[i][c] = 0;
      for (int f = 0; f < DIM; f++)
        score[i][c] -= (x[i][f] - sum[c][f]) * (x[i][f] - sum[c][f]) / sq[c][f];
    }
}

int main(void) {
  lw_fill_f64(x, sizeof x, 117);
  lw_start();
  kernel_class_sums();
  lw_stop();
  uint64_t h = lw_hash(LW_HASH_START, sum, sizeof sum);
  lw_report("class_sums", lw_hash(lw_hash(h, sq, sizeof sq), score, sizeof score));
}
