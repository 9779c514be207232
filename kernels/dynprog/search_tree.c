// Cost of the optimal binary search tree for given key frequencies.
// Feature: downward outer loop over the left end, prefix sums as weights, borders that are read one past the diagonal.
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 1200)
#endif

static int freq[N], upto[N + 1], cost[N + 1][N + 1];

static LW_NOINLINE void kernel_search_tree(void) {
  for (int i = 0; i < N; i++)
    upto[i + 1] = upto[i] + freq[i];
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j <= N; j++) {
      int best = cost[i][i] + cost[i + 1][j];
      for (int root = i + 1; root < j; root++) {
        int c = cost[i][root] + cost[root + 1][j];
        best = c < best ? c : best;
      }
      cost[i][j] = best + upto[j] - upto[i];
    }
}

int main(void) {
  lw_fill_i32(freq, sizeof freq, 79, 1, 60);
  lw_start();
  kernel_search_tree();
  lw_stop();
  lw_report("search_tree", lw_hash(LW_HASH_START, cost, sizeof cost));
}
