// Mean over a 5x5 window of a grey byte image.
// Feature: 8-bit pixels widened to unsigned, window loops with constant bounds around the pixel, division by a constant.
#include "../common.h"
#ifndef H
#define H LW_SIZE(60, 2000)
#endif
#ifndef W
#define W LW_SIZE(83, 3000)
#endif
#define R 2

static uint8_t in[H][W], out[H][W];

static LW_NOINLINE void kernel_box_blur(void) {
  for (int y = R; y < H - R; y++)
    for (int x = R; x < W - R; x++) {
      unsigned sum = 0;
      for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++)
          sum += in[y + dy][x + dx];
      out[y][x] = (uint8_t)(sum / ((2 * R + 1) * (2 * R + 1)));
    }
}

int main(void) {
  lw_fill_u8(in, sizeof in, 91, 0, 255);
  lw_start();
  for (int rep = 0; rep < LW_SIZE(1, 80); rep++)
    kernel_box_blur();
  lw_stop();
  lw_report("box_blur", lw_hash(LW_HASH_START, out, sizeof out));
}
