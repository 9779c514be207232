// Largest number of nested base pairs in an RNA strand (a folding recurrence).
// Feature: guards `j > i + 1` and a bifurcation loop in an imperfect triangular nest, all maxima in memory.
#include "../common.h"
#ifndef N
#define N LW_SIZE(70, 1000)
#endif

static uint8_t base[N];
static int pairs[N][N];

static inline int max2(int a, int b) { return a > b ? a : b; }

static LW_NOINLINE void kernel_folding(void) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      pairs[i][j] = max2(pairs[i][j], pairs[i][j - 1]);
      pairs[i][j] = max2(pairs[i][j], pairs[i + 1][j]);
      if (j > i + 1)
        pairs[i][j] = max2(pairs[i][j], pairs[i + 1][j - 1] + (base[i] + base[j] == 3));
      for (int k = i + 1; k < j; k++)
        pairs[i][j] = max2(pairs[i][j], pairs[i][k] + pairs[k + 1][j]);
    }
}

int main(void) {
  lw_fill_u8(base, sizeof base, 80, 0, 3);
  lw_start();
  kernel_folding();
  lw_stop();
  lw_report("folding", lw_hash(LW_HASH_START, pairs, sizeof pairs));
}
