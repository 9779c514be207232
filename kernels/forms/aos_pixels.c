// Alpha blending and premultiplication of 4-channel byte pixels, then column means of one channel in 32 bits.
// Feature: array of 4-byte structs, column-wise walk over rows, channel loop over an array member.
#include "../common.h"
#ifndef H
#define H LW_SIZE(40, 1200)
#endif
#ifndef W
#define W LW_SIZE(56, 1600)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(2, 12)
#endif

struct pixel { uint8_t c[3], alpha; };
static struct pixel top[H][W], under[H][W];
static uint32_t green[W];

static LW_NOINLINE void kernel_aos_pixels(void) {
  for (int f = 0; f < FRAMES; f++)
    for (int x = 0; x < W; x++) {
      green[x] = 0;
      for (int y = 0; y < H; y++) {
        for (int k = 0; k < 3; k++)
          under[y][x].c[k] = (uint8_t)((top[y][x].c[k] * top[y][x].alpha + under[y][x].c[k] * (255 - top[y][x].alpha)) / 255);
        green[x] += under[y][x].c[1];
      }
    }
}

int main(void) {
  lw_fill_u8(top, sizeof top, 134, 0, 255);
  lw_fill_u8(under, sizeof under, 135, 0, 255);
  lw_start();
  kernel_aos_pixels();
  lw_stop();
  lw_report("aos_pixels", lw_hash(lw_hash(LW_HASH_START, under, sizeof under), green, sizeof green));
}
