// Conway's Game of Life on bytes with a dead border.
// Feature: 8-bit elements, data-dependent choice written as arithmetic on comparisons, copy by memcpy in the time loop.
#include "../common.h"
#include <string.h>
#ifndef N
#define N LW_SIZE(80, 1500)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(12, 100)
#endif

static uint8_t cell[N][N], born[N][N];

static LW_NOINLINE void kernel_life(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        uint8_t n = (uint8_t)(cell[i - 1][j - 1] + cell[i - 1][j] + cell[i - 1][j + 1] + cell[i][j - 1] + cell[i][j + 1] +
                              cell[i + 1][j - 1] + cell[i + 1][j] + cell[i + 1][j + 1]);
        born[i][j] = n == 3 || (n == 2 && cell[i][j]);
      }
    memcpy(cell, born, sizeof cell);
  }
}

int main(void) {
  lw_fill_u8(cell, sizeof cell, 66, 0, 1);
  lw_start();
  kernel_life();
  lw_stop();
  lw_report("life", lw_hash(LW_HASH_START, cell, sizeof cell));
}
