// Image pyramid step: each 2x2 block of bytes becomes one pixel, rounded; then the half image is stretched back.
// Feature: subscripts `2*i + 1` and `i / 2`, size_t counters.
#include "../common.h"
#ifndef H
#define H LW_SIZE(40, 1200)
#endif
#ifndef W
#define W LW_SIZE(51, 1500)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(2, 60)
#endif

static uint8_t full[2 * H][2 * W], half[H][W];

static LW_NOINLINE void kernel_halve(void) {
  for (size_t f = 0; f < FRAMES; f++) {
    for (size_t y = 0; y < H; y++)
      for (size_t x = 0; x < W; x++)
        half[y][x] = (uint8_t)((full[2 * y][2 * x] + full[2 * y][2 * x + 1] + full[2 * y + 1][2 * x] + full[2 * y + 1][2 * x + 1] + 2) / 4);
    for (size_t y = 0; y < 2 * H; y++)
      for (size_t x = 0; x < 2 * W; x++)
        full[y][x] = (uint8_t)(full[y][x] + half[y / 2][x / 2]);
  }
}

int main(void) {
  lw_fill_u8(full, sizeof full, 95, 0, 255);
  lw_start();
  kernel_halve();
  lw_stop();
  lw_report("halve", lw_hash(lw_hash(LW_HASH_START, full, sizeof full), half, sizeof half));
}
