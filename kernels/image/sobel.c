// Sobel edges: |horizontal| + |vertical| gradient, clamped to a byte.
// Feature: two temporaries of 16 bits, absolute value and clamp by conditional expressions, three nests.
#include "../common.h"
#ifndef H
#define H LW_SIZE(66, 2000)
#endif
#ifndef W
#define W LW_SIZE(90, 3000)
#endif
#ifndef FRAMES
#define FRAMES LW_SIZE(2, 60)
#endif

static uint8_t in[H][W], edge[H][W];
static int16_t gx[H][W], gy[H][W];

static LW_NOINLINE void kernel_sobel(void) {
  for (int f = 0; f < FRAMES; f++) {
    for (int y = 1; y < H - 1; y++)
      for (int x = 1; x < W - 1; x++)
        gx[y][x] = (int16_t)(in[y - 1][x + 1] - in[y - 1][x - 1] + 2 * (in[y][x + 1] - in[y][x - 1]) + in[y + 1][x + 1] - in[y + 1][x - 1]);
    for (int y = 1; y < H - 1; y++)
      for (int x = 1; x < W - 1; x++)
        gy[y][x] = (int16_t)(in[y + 1][x - 1] - in[y - 1][x - 1] + 2 * (in[y + 1][x] - in[y - 1][x]) + in[y + 1][x + 1] - in[y - 1][x + 1]);
    for (int y = 1; y < H - 1; y++)
      for (int x = 1; x < W - 1; x++) {
        int a = gx[y][x] < 0 ? -gx[y][x] : gx[y][x];
        int b = gy[y][x] < 0 ? -gy[y][x] : gy[y][x];
        edge[y][x] = (uint8_t)(a + b > 255 ? 255 : a + b);
        in[y][x] = (uint8_t)(in[y][x] ^ edge[y][x]);
      }
  }
}

int main(void) {
  lw_fill_u8(in, sizeof in, 93, 0, 255);
  lw_start();
  kernel_sobel();
  lw_stop();
  lw_report("sobel", lw_hash(lw_hash(LW_HASH_START, edge, sizeof edge), in, sizeof in));
}
