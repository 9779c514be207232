// Loops that end on `!=`: with lower bound below, at and above the upper one, the counter wrapping on its way.
// Breaks: the loop counts from lb up to ub without wrapping (lb <= ub), or the step divides the distance.
#include "../common.h"
#define ROWS 12

LW_NOINLINE void kernel_not_equal_u8(uint8_t lb, uint8_t ub, int32_t (*a)[256]) {
  for (int r = 1; r < ROWS; r++)
    for (uint8_t i = lb; i != ub; i++)
      a[r][i] = 3 * a[r - 1][i] % 1000 + a[r][(uint8_t)(i + 1)];
}

LW_NOINLINE void kernel_not_equal_u16(uint16_t lb, uint16_t ub, uint16_t step, uint32_t *a) {
  for (uint16_t i = lb; i != ub; i = (uint16_t)(i + step))
    a[i] = 2 * a[(uint16_t)(i - step)] + i;
}

LW_NOINLINE void kernel_not_equal_u32(uint32_t lb, uint32_t ub, uint32_t *a) {
  for (uint32_t i = lb; i != ub; i++)
    for (uint32_t j = 0; j < 64; j++)
      a[(i + 100u) * 64 + j] = 7 * a[(i + 99u) * 64 + j] + j;
}

int main(void) {
  static int32_t bytes[ROWS][256];
  static uint32_t words[65536];
  uint64_t h = LW_HASH_START;
  static const uint8_t b8[][2] = {{0, 255}, {10, 200}, {7, 7}, {200, 10}, {255, 0}, {128, 127}, {1, 0}};
  for (size_t s = 0; s < sizeof b8 / sizeof *b8; s++) {
    lw_fill_i32(bytes, sizeof bytes, 21, 0, 999);
    kernel_not_equal_u8(b8[s][0], b8[s][1], bytes);
    h = lw_hash(h, bytes, sizeof bytes);
  }
  static const uint16_t b16[][3] = {{0, 60000, 2}, {5, 65, 3}, {0, 0, 1}, {60000, 100, 1}, {1, 0, 3}, {50, 10, 4}, {9, 9, 5}, {100, 50, 65535}};
  for (size_t s = 0; s < sizeof b16 / sizeof *b16; s++) {
    lw_fill_i32(words, sizeof words, 22, 0, 1000000);
    kernel_not_equal_u16(b16[s][0], b16[s][1], b16[s][2], words);
    h = lw_hash(h, words, sizeof words);
  }
  static const uint32_t b32[][2] = {{0, 500}, {5, 5}, {UINT32_MAX - 50, 40}, {UINT32_MAX - 98, UINT32_MAX}, {UINT32_MAX, 0}};
  for (size_t s = 0; s < sizeof b32 / sizeof *b32; s++) {
    lw_fill_i32(words, sizeof words, 23, 0, 1000000);
    kernel_not_equal_u32(b32[s][0], b32[s][1], words);
    h = lw_hash(h, words, sizeof words);
  }
  lw_report("not_equal_exit", h);
}
