// Ranges that end at or near INT_MAX but touch little memory: late starts, an early second limit, a break on data.
// Breaks: `n + 1`, `n + k` and `n * m` fit an int.
#include "../common.h"
#include <limits.h>
#define N 72

LW_NOINLINE void kernel_late_start(int from, int to, int base, double (*a)[N], double (*b)[N]) {
  for (int i = from; i < to; i++)
    for (int j = from; j < i; j++)
      a[i - base][j - base] += 0.5 * b[j - base][i - base];
}

LW_NOINLINE void kernel_two_limits(int n, int stop, double (*a)[N], double (*b)[N]) {
  for (int i = 0; i < n && i < stop; i++)
    for (int j = 0; j < n && j < stop; j++)
      a[j][i] = 0.5 * b[i][j] - a[j][i];
}

LW_NOINLINE int kernel_sentinel(int n, double *a, double *b) {
  int i = 0;
  for (; i < n; i++) {
    if (a[i] > 1)
      break;
    b[i] = a[i] * 2;
  }
  return i;
}

int main(void) {
  static const int from[] = {0, INT_MAX - N, INT_MAX - 1, INT_MAX - 40, INT_MIN, -N / 2};
  static double a[N][N], b[N][N];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof from / sizeof *from; s++) {
    lw_fill_f64(a, sizeof a, 9);
    lw_fill_f64(b, sizeof b, 10);
    int to = from[s] > INT_MAX - N ? INT_MAX : from[s] + N;
    kernel_late_start(from[s], to, from[s], a, b);
    h = lw_hash(h, a, sizeof a);
  }
  static const int limits[][2] = {{N, N}, {INT_MAX, N}, {N, INT_MAX}, {INT_MAX, 5}, {INT_MAX - 1, 0}, {INT_MIN, INT_MAX}};
  for (size_t s = 0; s < sizeof limits / sizeof *limits; s++) {
    kernel_two_limits(limits[s][0], limits[s][1], a, b);
    h = lw_hash(h, a, sizeof a);
  }
  static double line[N], twice[N];
  static const int ends[] = {N, INT_MAX, INT_MAX - 1, 10, 0, -3};
  for (size_t s = 0; s < sizeof ends / sizeof *ends; s++) {
    lw_fill_f64(line, sizeof line, 11);
    line[N - 1] = 3;
    int end = kernel_sentinel(ends[s], line, twice);
    h = lw_hash(lw_hash(h, twice, sizeof twice), &end, sizeof end);
  }
  lw_report("near_int_max", h);
}
