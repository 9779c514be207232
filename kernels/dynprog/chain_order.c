// Cheapest order of a chain of matrix products, by growing span.
// Feature: nest over `span`, `i` with `j = i + span`: skewed triangular domain, minimum kept in a local scalar.
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 1200)
#endif

static int64_t cost[N][N];
static int size[N + 1];

static LW_NOINLINE void kernel_chain_order(void) {
  for (int span = 1; span < N; span++)
    for (int i = 0; i + span < N; i++) {
      int j = i + span;
      int64_t best = INT64_MAX;
      for (int k = i; k < j; k++) {
        int64_t c = cost[i][k] + cost[k + 1][j] + (int64_t)size[i] * size[k + 1] * size[j + 1];
        if (c < best)
          best = c;
      }
      cost[i][j] = best;
    }
}

int main(void) {
  lw_fill_i32(size, sizeof size, 78, 1, 500);
  lw_start();
  kernel_chain_order();
  lw_stop();
  lw_report("chain_order", lw_hash(LW_HASH_START, cost, sizeof cost));
}
