// Block updates with run-time extents, many of which are empty, inside fixed-size rows.
// Feature: loops that may run zero times (lo > hi, negative counts); parametric bounds with a constant leading dimension.
#include "../common.h"
#ifndef N
#define N LW_SIZE(80, 900)
#endif
#ifndef CALLS
#define CALLS LW_SIZE(40, 2400)
#endif

LW_NOINLINE void kernel_zero_trip(int rows, int from, int to, double (*a)[N], double (*b)[N]) {
  for (int i = 1; i < rows; i++) {
    a[i][0] += 0.25;
    for (int j = from; j < to; j++)
      a[i][j] = 0.5 * a[i - 1][j] + b[i][j];
    for (int j = to; j < from; j++)
      b[i][j] = 0.5 * b[i][j] - 0.25 * a[i][j];
  }
}

static double a[N][N], b[N][N];

int main(void) {
  int range[CALLS][3];
  lw_fill_f64(a, sizeof a, 126);
  lw_fill_f64(b, sizeof b, 127);
  lw_fill_i32(range, sizeof range, 128, 0, N);
  lw_start();
  for (int c = 0; c < CALLS; c++)
    kernel_zero_trip(c % 5 == 4 ? -range[c][0] : N, range[c][1], c % 7 == 6 ? range[c][1] : range[c][2], a, b);
  lw_stop();
  lw_report("zero_trip", lw_hash(lw_hash(LW_HASH_START, a, sizeof a), b, sizeof b));
}
