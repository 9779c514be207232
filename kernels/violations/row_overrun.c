// A flat array read as rows of 1024 with a column window that may run past the row end, still inside the allocation.
// Breaks: `0 <= j < 1024` in the recovered view a[i][j]; the overrun cell belongs to the next row.
#include "../common.h"
#define COLS 1024
#define ROWS 40

LW_NOINLINE void kernel_row_overrun(int start, int num, int off, double *a, double *b) {
  for (int j = start; j < start + num; j++)
    for (int i = 0; i < ROWS - 1; i++)
      a[i * COLS + j] = 0.5 * a[(i + 1) * COLS + j + off] + b[i * COLS + j];
}

int main(void) {
  static const int window[][3] = {{0, COLS, 0}, {0, 100, 0},     {100, 500, 0}, {900, 300, 0},      {1000, 100, 0},        {1024, 64, 0},
                                  {0, 200, 900}, {500, 600, -600}, {3, 0, 0},     {COLS - 1, 2, 0}, {0, COLS, 1 - COLS}, {10, COLS, -COLS}};
  static double a[(ROWS + 3) * COLS], b[(ROWS + 3) * COLS];
  uint64_t h = LW_HASH_START;
  lw_fill_f64(b, sizeof b, 12);
  for (size_t s = 0; s < sizeof window / sizeof *window; s++) {
    lw_fill_f64(a, sizeof a, 13);
    kernel_row_overrun(window[s][0], window[s][1], window[s][2], a, b);
    h = lw_hash(h, a, sizeof a);
  }
  lw_report("row_overrun", h);
}
