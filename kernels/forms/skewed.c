// Anti-diagonal sweep of a path-counting recurrence written directly over the skewed space.
// Feature: bounds with min/max of skewed counters, subscripts `d - i`, unsigned arithmetic modulo 2^32.
#include "../common.h"
#ifndef N
#define N LW_SIZE(120, 3000)
#endif
#ifndef M
#define M LW_SIZE(90, 2500)
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static uint32_t ways[N][M];

static LW_NOINLINE void kernel_skewed(void) {
  for (int d = 2; d <= N + M - 2; d++)
    for (int i = MAX(1, d - M + 1); i <= MIN(N - 1, d - 1); i++)
      ways[i][d - i] = 3 * ways[i - 1][d - i] + ways[i][d - i - 1] + 7 * ways[i - 1][d - i - 1];
}

int main(void) {
  for (int i = 0; i < N; i++)
    ways[i][0] = 1;
  for (int j = 0; j < M; j++)
    ways[0][j] = 1;
  lw_start();
  for (int rep = 0; rep < LW_SIZE(1, 8); rep++)
    kernel_skewed();
  lw_stop();
  lw_report("skewed", lw_hash(LW_HASH_START, ways, sizeof ways));
}
