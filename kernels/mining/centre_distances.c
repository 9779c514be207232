// Squared distances of points to cluster centres and the nearest centre of each point (one k-means assignment).
// Feature: reduction into a matrix, then an argmin with a data-dependent conditional carried in two scalars.
// expect-fast: kernel_centre_distances
#include "../common.h"
#ifndef POINTS
#define POINTS LW_SIZE(300, 40000)
#endif
#ifndef CENTRES
#define CENTRES LW_SIZE(12, 100)
#endif
#ifndef DIM
#define DIM LW_SIZE(9, 64)
#endif

static double p[POINTS][DIM], c[CENTRES][DIM], d[POINTS][CENTRES];
static int nearest[POINTS];

static LW_NOINLINE void kernel_centre_distances(void) {
  for (int i = 0; i < POINTS; i++)
    for (int k = 0; k < CENTRES; k++) {
      d[i][k] = 0;
      for (int f = 0; f < DIM; f++)
        d[i][k] += (p[i][f] - c[k][f]) * (p[i][f] - c[k][f]);
    }
  for (int i = 0; i < POINTS; i++) {
    double best = d[i][0];
    int arg = 0;
    for (int k = 1; k < CENTRES; k++)
      if (d[i][k] < best) {
        best = d[i][k];
        arg = k;
      }
    nearest[i] = arg;
  }
}

int main(void) {
  lw_fill_f64(p, sizeof p, 113);
  lw_fill_f64(c, sizeof c, 114);
  lw_start();
  kernel_centre_distances();
  lw_stop();
  lw_report("centre_distances", lw_hash(lw_hash(LW_HASH_START, d, sizeof d), nearest, sizeof nearest));
}
