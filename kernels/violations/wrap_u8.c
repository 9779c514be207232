// Eight-bit counters and subscripts that wrap: `(uint8_t)(2 * i)` and `(uint8_t)(i + off)`, beside a mix of sign and zero extension.
// Breaks: arithmetic as in the integers; wrapped subscripts meet cells written before.
// expect-original: kernel_wrap_offset
// expect-original late: kernel_wrap_offset
#include "../common.h"
#define ROWS 40

LW_NOINLINE void kernel_wrap_double(uint8_t n, double (*a)[256], double (*b)[256]) {
  for (int r = 0; r < ROWS; r++)
    for (uint8_t i = 0; i < n; i++)
      a[r][(uint8_t)(2 * i)] = 0.5 * a[r][i] + b[r][i];
}

LW_NOINLINE void kernel_wrap_offset(uint8_t n, uint8_t off, double (*a)[256], double (*b)[256]) {
  for (uint8_t i = 0; i < n; i++)
    for (int r = 0; r < ROWS; r++)
      a[r][(uint8_t)(i + off)] = 0.5 * a[r][i] - b[r][(uint8_t)(i - off)];
}

LW_NOINLINE void kernel_sign_mix(int8_t k, double (*a)[256], double (*b)[256]) {
  for (int i = 0; i < 100; i++)
    for (int r = 1; r < ROWS; r++)
      a[r][(i + (uint8_t)k) % 256] += 0.5 * a[r - 1][(i + k + 256) % 256] + b[r][i];
}

int main(void) {
  static const uint8_t arg[][2] = {{60, 60}, {128, 128}, {129, 100}, {255, 1}, {200, 255}, {255, 255}, {1, 0}, {0, 7}, {100, 150}, {100, 200}};
  static double a[ROWS][256], b[ROWS][256];
  uint64_t h = LW_HASH_START;
  lw_fill_f64(b, sizeof b, 17);
  for (size_t s = 0; s < sizeof arg / sizeof *arg; s++) {
    lw_fill_f64(a, sizeof a, 18);
    kernel_wrap_double(arg[s][0], a, b);
    h = lw_hash(h, a, sizeof a);
    kernel_wrap_offset(arg[s][0], arg[s][1], a, b);
    h = lw_hash(h, a, sizeof a);
    kernel_sign_mix((int8_t)(arg[s][1] - 128), a, b);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("wrap_u8", h);
}
