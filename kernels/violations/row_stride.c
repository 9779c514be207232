// A row update with a run-time leading dimension that may be shorter than the row, zero or negative.
// Breaks: rows do not overlap (`ld >= cols`), the shape recovered from `i * ld + j`.
#include "../common.h"
#define ROWS 50
#define COLS 60

LW_NOINLINE void kernel_row_stride(long rows, long cols, long ld, double *a, const double *b) {
  for (long j = 1; j < cols; j++)
    for (long i = 0; i < rows; i++)
      a[i * ld + j] = 0.5 * a[i * ld + j - 1] + b[i * cols + j];
}

int main(void) {
  static const int ld[] = {COLS, COLS + 8, COLS - 1, COLS / 2, 2, 1, 0, -1, -COLS + 3, -COLS, -COLS - 2};
  static double a[2 * ROWS * (COLS + 8) + COLS], b[ROWS * COLS];
  uint64_t h = LW_HASH_START;
  lw_fill_f64(b, sizeof b, 15);
  for (size_t s = 0; s < sizeof ld / sizeof *ld; s++) {
    lw_fill_f64(a, sizeof a, 16);
    kernel_row_stride(ROWS, COLS, ld[s], a + ROWS * (COLS + 8), b);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("row_stride", h);
}
