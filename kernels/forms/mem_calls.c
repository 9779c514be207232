// Sliding window over frames: rows are cleared, accumulated, copied on and shifted by library calls.
// Feature: memset, memcpy and memmove inside the nest, next to ordinary accesses of the same arrays.
#include "../common.h"
#include <string.h>
#ifndef H
#define H LW_SIZE(40, 800)
#endif
#ifndef W
#define W LW_SIZE(64, 1024)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(3, 350)
#endif

static float in[H][W], acc[H][W], last[H][W];

static LW_NOINLINE void kernel_mem_calls(void) {
  for (int t = 0; t < STEPS; t++)
    for (int i = 0; i < H; i++) {
      memset(acc[i], 0, sizeof acc[i]);
      for (int d = 0; d < 4; d++)
        for (int j = 0; j < W - 4; j++)
          acc[i][j] += 0.25f * in[i][j + d];
      memcpy(last[H - 1 - i], acc[i], sizeof last[i]);
      memmove(&in[i][0], &in[i][1], (W - 1) * sizeof in[i][0]);
      in[i][W - 1] = last[i][0];
    }
}

int main(void) {
  lw_fill_f32(in, sizeof in, 143);
  lw_start();
  kernel_mem_calls();
  lw_stop();
  lw_report("mem_calls", lw_hash(lw_hash(lw_hash(LW_HASH_START, in, sizeof in), acc, sizeof acc), last, sizeof last));
}
