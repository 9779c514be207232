// Assigns a box inside a flat three-dimensional array of run-time shape; the box may stick out of an inner dimension.
// Breaks: in-bounds conditions of the recovered shape [][n1][n2]; boxes that stick out write some cells twice.
#include "../common.h"
#define CELLS 40000

LW_NOINLINE void kernel_subarray_overrun(unsigned n1, unsigned n2, const unsigned o[3], const unsigned s[3], int32_t *a) {
  for (unsigned i = 0; i < s[0]; i++)
    for (unsigned j = 0; j < s[1]; j++)
      for (unsigned k = 0; k < s[2]; k++)
        a[(size_t)n2 * ((size_t)n1 * (i + o[0]) + (j + o[1])) + (k + o[2])] = (int32_t)(i * 10000 + j * 100 + k);
}

int main(void) {
  static const struct { unsigned n1, n2, o[3], s[3]; } box[] = {
      {20, 30, {0, 0, 0}, {10, 20, 30}}, {20, 30, {2, 3, 4}, {5, 10, 20}},  {20, 30, {2, 3, 20}, {5, 10, 20}}, {20, 30, {2, 15, 0}, {5, 10, 30}},
      {20, 30, {1, 10, 10}, {6, 15, 25}}, {20, 30, {0, 0, 0}, {0, 99, 99}}, {1, 30, {0, 0, 0}, {10, 10, 30}},  {20, 0, {0, 0, 0}, {10, 20, 30}},
      {0, 7, {5, 6, 7}, {8, 9, 10}},      {20, 30, {4294967295u, 0, 0}, {0, 1, 1}}};
  static int32_t a[CELLS];
  uint64_t h = LW_HASH_START;
  for (size_t b = 0; b < sizeof box / sizeof *box; b++) {
    lw_fill_i32(a, sizeof a, 14, -9, -1);
    kernel_subarray_overrun(box[b].n1, box[b].n2, box[b].o, box[b].s, a);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("subarray_overrun", h);
}
