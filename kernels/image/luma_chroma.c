// Colour conversion of packed RGB bytes into one luma and two half-width chroma planes.
// Feature: array of structs with three 1-byte fields (stride 3), fixed-point arithmetic with shifts, strided loop x += 2.
#include "../common.h"
#ifndef H
#define H LW_SIZE(50, 1500)
#endif
#ifndef W
#define W LW_SIZE(64, 2000)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(1, 80)
#endif

struct rgb { uint8_t r, g, b; };
static struct rgb in[H][W];
static uint8_t luma[H][W], cb[H][W / 2], cr[H][W / 2];

static LW_NOINLINE void kernel_luma_chroma(void) {
  for (int f = 0; f < FRAMES; f++)
    for (int y = 0; y < H; y++) {
      for (int x = 0; x < W; x++)
        luma[y][x] = (uint8_t)((77 * in[y][x].r + 150 * in[y][x].g + 29 * in[y][x].b + luma[y][x]) >> 8);
      for (int x = 0; x < W; x += 2) {
        int r = in[y][x].r + in[y][x + 1].r, g = in[y][x].g + in[y][x + 1].g, b = in[y][x].b + in[y][x + 1].b;
        cb[y][x / 2] = (uint8_t)(((-43 * r - 84 * g + 127 * b) >> 9) + 128);
        cr[y][x / 2] = (uint8_t)(((127 * r - 106 * g - 21 * b) >> 9) + 128);
      }
    }
}

int main(void) {
  lw_fill_u8(in, sizeof in, 99, 0, 255);
  lw_start();
  kernel_luma_chroma();
  lw_stop();
  lw_report("luma_chroma", lw_hash(lw_hash(lw_hash(LW_HASH_START, luma, sizeof luma), cb, sizeof cb), cr, sizeof cr));
}
