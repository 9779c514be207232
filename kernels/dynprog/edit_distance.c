// Edit distance of two strings with weights 1 for gaps and 2 for substitutions, full table kept.
// Feature: borders written by separate loops before the nest, minimum of three neighbours in int.
#include "../common.h"
#ifndef N
#define N LW_SIZE(180, 6000)
#endif

static int8_t s[N], t[N];
static int d[N + 1][N + 1];

static inline int min2(int a, int b) { return a < b ? a : b; }

static LW_NOINLINE void kernel_edit_distance(void) {
  for (int i = 0; i <= N; i++)
    d[i][0] = i;
  for (int j = 1; j <= N; j++)
    d[0][j] = j;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      d[i][j] = min2(min2(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + 2 * (s[i - 1] != t[j - 1]));
}

int main(void) {
  lw_fill_i8(s, sizeof s, 73, -3, 3);
  lw_fill_i8(t, sizeof t, 74, -3, 3);
  lw_start();
  kernel_edit_distance();
  lw_stop();
  lw_report("edit_distance", lw_hash(LW_HASH_START, d, sizeof d));
}
