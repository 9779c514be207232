// Heat in a rod, updated in place: the old left neighbour is carried in a scalar.
// Feature: scalar recurrence across iterations (a phi node) that must be modelled or expanded.
#include "../common.h"
#ifndef N
#define N LW_SIZE(400, 20000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(25, 60000)
#endif

static double u[N];

static LW_NOINLINE void kernel_heat_inplace(void) {
  for (int t = 0; t < STEPS; t++) {
    double left = u[0];
    for (int i = 1; i < N - 1; i++) {
      double here = u[i];
      u[i] = 0.5 * here + 0.25 * (left + u[i + 1]);
      left = here;
    }
  }
}

int main(void) {
  lw_fill_f64(u, sizeof u, 65);
  lw_start();
  kernel_heat_inplace();
  lw_stop();
  lw_report("heat_inplace", lw_hash(LW_HASH_START, u, sizeof u));
}
