// Integral image (two-dimensional prefix sums) and box sums read off it.
// Feature: recurrence in both dimensions with unsigned wrap-around arithmetic, unsigned counters.
#include "../common.h"
#ifndef H
#define H LW_SIZE(70, 2000)
#endif
#ifndef W
#define W LW_SIZE(90, 2500)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(2, 25)
#endif
#define R 8u

static uint8_t in[H][W];
static uint32_t sum[H + 1][W + 1], box[H][W];

static LW_NOINLINE void kernel_integral(void) {
  for (unsigned f = 0; f < FRAMES; f++) {
    for (unsigned y = 0; y < H; y++)
      for (unsigned x = 0; x < W; x++)
        sum[y + 1][x + 1] = in[y][x] + sum[y][x + 1] + sum[y + 1][x] - sum[y][x];
    for (unsigned y = R; y < H - R; y++)
      for (unsigned x = R; x < W - R; x++)
        box[y][x] += sum[y + R][x + R] - sum[y - R][x + R] - sum[y + R][x - R] + sum[y - R][x - R];
  }
}

int main(void) {
  lw_fill_u8(in, sizeof in, 96, 0, 255);
  lw_start();
  kernel_integral();
  lw_stop();
  lw_report("integral", lw_hash(lw_hash(LW_HASH_START, sum, sizeof sum), box, sizeof box));
}
