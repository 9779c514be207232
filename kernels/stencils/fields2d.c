// Two coupled fields on a staggered grid: e is advanced from both components of h, then h from e, with a driven edge.
// Feature: four nests of different extents in one time step (fusion needs shifting), one of them one-dimensional.
#include "../common.h"
#ifndef NX
#define NX LW_SIZE(60, 900)
#endif
#ifndef NY
#define NY LW_SIZE(52, 1000)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(10, 150)
#endif

static double e[NX][NY], hx[NX][NY], hy[NX][NY], pulse[STEPS];

static LW_NOINLINE void kernel_fields2d(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < NY; j++)
      e[0][j] = pulse[t];
    for (int i = 1; i < NX; i++)
      for (int j = 1; j < NY; j++)
        e[i][j] += 0.5 * (hy[i][j] - hy[i - 1][j] - hx[i][j] + hx[i][j - 1]);
    for (int i = 0; i < NX; i++)
      for (int j = 0; j < NY - 1; j++)
        hx[i][j] -= 0.4 * (e[i][j + 1] - e[i][j]);
    for (int i = 0; i < NX - 1; i++)
      for (int j = 0; j < NY; j++)
        hy[i][j] += 0.4 * (e[i + 1][j] - e[i][j]);
  }
}

int main(void) {
  lw_fill_f64(pulse, sizeof pulse, 60);
  lw_fill_f64(e, sizeof e, 61);
  lw_fill_f64(hx, sizeof hx, 62);
  lw_fill_f64(hy, sizeof hy, 63);
  lw_start();
  kernel_fields2d();
  lw_stop();
  lw_report("fields2d", lw_hash(lw_hash(lw_hash(LW_HASH_START, e, sizeof e), hx, sizeof hx), hy, sizeof hy));
}
