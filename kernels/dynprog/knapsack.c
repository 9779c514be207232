// 0/1 knapsack over one row of values: each item may be packed once.
// Feature: downward inner loop that is what keeps the update correct; its lower bound is loaded from memory per item.
#include "../common.h"
#ifndef ITEMS
#define ITEMS LW_SIZE(40, 2000)
#endif
#ifndef CAPACITY
#define CAPACITY LW_SIZE(1500, 300000)
#endif

static int weight[ITEMS], value[ITEMS], best[CAPACITY + 1];

static LW_NOINLINE void kernel_knapsack(void) {
  for (int k = 0; k < ITEMS; k++)
    for (int c = CAPACITY; c >= weight[k]; c--) {
      int with = best[c - weight[k]] + value[k];
      if (with > best[c])
        best[c] = with;
    }
}

int main(void) {
  lw_fill_i32(weight, sizeof weight, 75, 1, 400);
  lw_fill_i32(value, sizeof value, 76, 1, 1000);
  lw_start();
  kernel_knapsack();
  lw_stop();
  lw_report("knapsack", lw_hash(LW_HASH_START, best, sizeof best));
}
