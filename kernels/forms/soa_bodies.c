// Pairwise attraction of bodies stored as a struct of arrays.
// Feature: one pointer to a struct holding several arrays at constant offsets; reductions over the pairs `i != j`.
#include "../common.h"
#include <math.h>
#ifndef N
#define N LW_SIZE(90, 4000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(2, 5)
#endif

struct bodies { double x[N], y[N], z[N], mass[N], fx[N], fy[N], fz[N]; };

LW_NOINLINE void kernel_soa_bodies(struct bodies *s) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (i != j) {
          double dx = s->x[j] - s->x[i], dy = s->y[j] - s->y[i], dz = s->z[j] - s->z[i];
          double r2 = dx * dx + dy * dy + dz * dz + 0.01, f = s->mass[j] / (r2 * sqrt(r2));
          s->fx[i] += f * dx;
          s->fy[i] += f * dy;
          s->fz[i] += f * dz;
        }
    for (int i = 0; i < N; i++) {
      s->x[i] += 1e-6 * s->fx[i];
      s->y[i] += 1e-6 * s->fy[i];
      s->z[i] += 1e-6 * s->fz[i];
    }
  }
}

int main(void) {
  static struct bodies s;
  lw_fill_f64(&s, offsetof(struct bodies, fx), 132);
  for (int i = 0; i < N; i++)
    s.mass[i] += 2;
  lw_start();
  kernel_soa_bodies(&s);
  lw_stop();
  lw_report("soa_bodies", lw_hash(LW_HASH_START, &s, sizeof s));
}
