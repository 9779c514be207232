// Erosion by a 3x3 square, then dilation (an opening), the window clipped at the image border.
// Feature: window loops with min/max bounds that depend on the pixel, min/max reductions on bytes.
#include "../common.h"
#ifndef H
#define H LW_SIZE(50, 1000)
#endif
#ifndef W
#define W LW_SIZE(63, 1200)
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static uint8_t in[H][W], low[H][W], out[H][W];

static LW_NOINLINE void kernel_erode(void) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      uint8_t m = 255;
      for (int v = MAX(y - 1, 0); v <= MIN(y + 1, H - 1); v++)
        for (int u = MAX(x - 1, 0); u <= MIN(x + 1, W - 1); u++)
          m = MIN(m, in[v][u]);
      low[y][x] = m;
    }
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      uint8_t m = 0;
      for (int v = MAX(y - 1, 0); v <= MIN(y + 1, H - 1); v++)
        for (int u = MAX(x - 1, 0); u <= MIN(x + 1, W - 1); u++)
          m = MAX(m, low[v][u]);
      out[y][x] = m;
    }
}

int main(void) {
  lw_fill_u8(in, sizeof in, 100, 0, 255);
  lw_start();
  for (int rep = 0; rep < LW_SIZE(1, 10); rep++)
    kernel_erode();
  lw_stop();
  lw_report("erode", lw_hash(lw_hash(LW_HASH_START, low, sizeof low), out, sizeof out));
}
