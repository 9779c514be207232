// Separable Gaussian blur with seven taps: rows into a temporary, then columns.
// Feature: producer and consumer nest with a halo of three rows (fusion needs a shift), weights in a constant table.
#include "../common.h"
#ifndef H
#define H LW_SIZE(64, 1600)
#endif
#ifndef W
#define W LW_SIZE(71, 2000)
#endif
#ifndef PASSES
#define PASSES LW_SIZE(1, 70)
#endif

static const float tap[7] = {0.015625f, 0.09375f, 0.234375f, 0.3125f, 0.234375f, 0.09375f, 0.015625f};
static float img[H][W], row[H][W];

static LW_NOINLINE void kernel_gauss_sep(void) {
  for (int pass = 0; pass < PASSES; pass++) {
    for (int y = 0; y < H; y++)
      for (int x = 3; x < W - 3; x++) {
        float s = 0;
        for (int k = 0; k < 7; k++)
          s += tap[k] * img[y][x + k - 3];
        row[y][x] = s;
      }
    for (int y = 3; y < H - 3; y++)
      for (int x = 3; x < W - 3; x++) {
        float s = 0;
        for (int k = 0; k < 7; k++)
          s += tap[k] * row[y + k - 3][x];
        img[y][x] = s;
      }
  }
}

int main(void) {
  lw_fill_f32(img, sizeof img, 92);
  lw_start();
  kernel_gauss_sep();
  lw_stop();
  lw_report("gauss_sep", lw_hash(LW_HASH_START, img, sizeof img));
}
