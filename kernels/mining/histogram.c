// Histogram of each column of a byte table, followed by its running sum.
// Feature: subscript loaded from memory (non-affine, a may-access) in the middle of otherwise affine nests.
#include "../common.h"
#ifndef ROWS
#define ROWS LW_SIZE(100, 3000)
#endif
#ifndef COLS
#define COLS LW_SIZE(60, 2000)
#endif
#ifndef ROUNDS
#define ROUNDS LW_SIZE(2, 50)
#endif
#define BINS 64

static uint8_t data[ROWS][COLS];
static int count[COLS][BINS];

static LW_NOINLINE void kernel_histogram(void) {
  for (int t = 0; t < ROUNDS; t++) {
    for (int j = 0; j < COLS; j++)
      for (int b = 0; b < BINS; b++)
        count[j][b] = t;
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLS; j++)
        count[j][data[i][j] % BINS]++;
    for (int j = 0; j < COLS; j++)
      for (int b = 1; b < BINS; b++)
        count[j][b] += count[j][b - 1];
  }
}

int main(void) {
  lw_fill_u8(data, sizeof data, 115, 0, 255);
  lw_start();
  kernel_histogram();
  lw_stop();
  lw_report("histogram", lw_hash(LW_HASH_START, count, sizeof count));
}
