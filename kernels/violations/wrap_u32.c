// 32-bit unsigned offsets and bounds that wrap past 2^32 and come back into the array.
// Breaks: `p + 1` and `i + off` do not wrap; the same set of cells is reached in another order, or no cell at all.
#include "../common.h"
#define N 100

LW_NOINLINE void kernel_wrap_bound(uint32_t p, uint32_t *a) {
  for (uint32_t i = p + 1; i < N; i++)
    for (uint32_t j = 1; j < N; j++)
      a[(i - 1) % N * N + j] = 3 * a[(i - 1) % N * N + j - 1] + i;
}

LW_NOINLINE void kernel_wrap_add(uint32_t from, uint32_t to, uint32_t off, uint32_t *a, const uint32_t *b) {
  for (uint32_t j = 0; j < N; j++)
    for (uint32_t i = from; i < to; i++)
      a[(i + off) * N + j] += 5 * a[i * N + j] + b[j * N + (i + off)];
}

int main(void) {
  static uint32_t a[2 * N * N], b[2 * N * N];
  uint64_t h = LW_HASH_START;
  lw_fill_i32(b, sizeof b, 19, 0, 2000000000);
  static const uint32_t p[] = {0, 50, N - 1, N, UINT32_MAX, UINT32_MAX - 1, 1u << 31};
  for (size_t s = 0; s < sizeof p / sizeof *p; s++) {
    lw_fill_i32(a, sizeof a, 20, 0, 2000000000);
    kernel_wrap_bound(p[s], a);
    h = lw_hash(h, a, sizeof a);
  }
  // The last five wrap: i + off is i - 3, i - 40, ... and lands on a row that was, or will be, read.
  static const uint32_t arg[][3] = {{0, 90, 0}, {0, 90, 10}, {0, 90, N}, {20, 50, 50}, {7, 7, UINT32_MAX}, {9, 2, 1u << 31},
                                    {3, 90, UINT32_MAX - 2}, {40, 95, UINT32_MAX - 39}, {1, N, UINT32_MAX}, {90, 180, UINT32_MAX - 89}, {50, 51, UINT32_MAX - 7}};
  for (size_t s = 0; s < sizeof arg / sizeof *arg; s++) {
    kernel_wrap_add(arg[s][0], arg[s][1], arg[s][2], a, b);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("wrap_u32", h);
}
