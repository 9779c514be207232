// Transport on a grid of cells, each a struct of two doubles, a float pair and four shorts.
// Feature: array of structs with fields of three element sizes; strides larger than the element.
#include "../common.h"
#ifndef N
#define N LW_SIZE(50, 600)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(4, 110)
#endif

struct cell { double rho, e; float u, v; int16_t tag[4]; };
static struct cell g[N][N];

static LW_NOINLINE void kernel_aos_cells(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int j = 1; j < N; j++)
      for (int i = 1; i < N; i++) {
        g[i][j].rho = 0.5 * g[i][j].rho + 0.25 * (g[i - 1][j].rho + g[i][j - 1].rho);
        g[i][j].e += 0.125 * g[i][j].rho;
      }
    for (int j = 0; j < N - 1; j++)
      for (int i = 0; i < N - 1; i++) {
        g[i][j].u = 0.5f * (g[i][j].u + g[i + 1][j].v);
        for (int k = 0; k < 4; k++)
          g[i][j].tag[k] = (int16_t)(g[i][j].tag[k] ^ g[i][j + 1].tag[3 - k]);
      }
  }
}

int main(void) {
  double start[N];
  for (int i = 0; i < N; i++) {
    lw_fill_f64(start, sizeof start, 133 + (uint32_t)i);
    for (int j = 0; j < N; j++) {
      g[i][j] = (struct cell){.rho = start[j], .e = 1, .u = (float)i / N, .v = (float)start[j], .tag = {0}};
      lw_fill_i16(g[i][j].tag, sizeof g[i][j].tag, (uint32_t)(i * N + j), -30000, 30000);
    }
  }
  lw_start();
  kernel_aos_cells();
  lw_stop();
  lw_report("aos_cells", lw_hash(LW_HASH_START, g, sizeof g));
}
