// The loop bounds are read through pointers in every iteration, and may live inside the array that the loop writes.
// Breaks: bounds and offsets loaded in the loop stay the same while it runs.
#include "../common.h"
#define N 70

LW_NOINLINE void kernel_bound_in_array(const int32_t *rows, const int32_t *cols, const int32_t *offset, int32_t *a) {
  for (int i = 0; i < *rows; i++)
    for (int j = 0; j < *cols; j++)
      a[i * N + j + *offset] = (a[i * N + j] + i + j) % 40;
}

int main(void) {
  static int32_t a[(N + 1) * N];
  int32_t rows = 60, cols = 65, offset = 3, none = 0, negative = -2;
  // The bounds, each either apart or at a cell of `a`; a cell always holds a value below 40 or one of the sizes.
  const int32_t *use[][3] = {{&rows, &cols, &offset}, {&rows, &cols, &none},      {&none, &cols, &offset},  {&rows, &none, &offset},
                             {&rows, &negative, &none}, {&rows, &a[5], &none},    {&a[3 * N + 4], &cols, &none}, {&rows, &cols, &a[N + 7]},
                             {&a[0], &a[1], &a[2]},   {&a[N * N - 1], &a[2 * N], &none}};
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof use / sizeof *use; s++) {
    lw_fill_i32(a, sizeof a, 24, 0, 39);
    kernel_bound_in_array(use[s][0], use[s][1], use[s][2], a);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("bound_in_array", h);
}
