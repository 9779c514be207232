// Rows copied in reversed order, elements too: apart, in place (so that the second half reads new values), half overlapping.
// Breaks: no overlap, with a dependence distance that changes its sign in the middle.
#include "../common.h"
#define ROWS 50
#define COLS 70

LW_NOINLINE void kernel_overlap_reversed(int32_t (*to)[COLS], int32_t (*from)[COLS]) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++)
      to[i][j] = 3 * from[ROWS - 1 - i][COLS - 1 - j] - i;
}

int main(void) {
  static const int shift[] = {ROWS * COLS, 0, COLS, -COLS, 25 * COLS, 1, -1, ROWS * COLS - 3, 2 - ROWS * COLS};
  static int32_t pool[3 * ROWS * COLS];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
    lw_fill_i32(pool, sizeof pool, 3, -1000000, 1000000);
    kernel_overlap_reversed((int32_t(*)[COLS])(pool + ROWS * COLS + shift[s]), (int32_t(*)[COLS])(pool + ROWS * COLS));
    h = lw_hash(h, pool, sizeof pool);
  }
  lw_report("overlap_reversed", h);
}
