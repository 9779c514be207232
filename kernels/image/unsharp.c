// Unsharp mask on planes of an image: blur in x, blur in y, then sharpen where the difference passes a threshold.
// Feature: pipeline of three nests over a leading plane dimension; a data-dependent conditional in the last.
#include "../common.h"
#ifndef H
#define H LW_SIZE(48, 1100)
#endif
#ifndef W
#define W LW_SIZE(57, 1300)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(1, 40)
#endif

static float img[3][H][W], bx[3][H][W], by[3][H][W];

static LW_NOINLINE void kernel_unsharp(float weight, float threshold) {
  for (int t = 0; t < FRAMES; t++) {
    for (int c = 0; c < 3; c++)
      for (int y = 0; y < H; y++)
        for (int x = 2; x < W - 2; x++)
          bx[c][y][x] = 0.0625f * img[c][y][x - 2] + 0.25f * img[c][y][x - 1] + 0.375f * img[c][y][x] + 0.25f * img[c][y][x + 1] +
                        0.0625f * img[c][y][x + 2];
    for (int c = 0; c < 3; c++)
      for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++)
          by[c][y][x] = 0.0625f * bx[c][y - 2][x] + 0.25f * bx[c][y - 1][x] + 0.375f * bx[c][y][x] + 0.25f * bx[c][y + 1][x] +
                        0.0625f * bx[c][y + 2][x];
    for (int c = 0; c < 3; c++)
      for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++) {
          float d = img[c][y][x] - by[c][y][x];
          img[c][y][x] = d > threshold || d < -threshold ? 0.5f * img[c][y][x] + weight * d : by[c][y][x];
        }
  }
}

int main(void) {
  lw_fill_f32(img, sizeof img, 94);
  lw_start();
  kernel_unsharp(0.75f, 0.0625f);
  lw_stop();
  lw_report("unsharp", lw_hash(lw_hash(LW_HASH_START, img, sizeof img), by, sizeof by));
}
