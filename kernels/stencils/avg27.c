// Mean over the 27 neighbours in a cube, weights from a small table.
// Feature: nest of depth six whose three inner loops have constant trip count 3; scalar reduction across them.
#include "../common.h"
#ifndef N
#define N LW_SIZE(22, 180)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(2, 20)
#endif

static float u[N][N][N], v[N][N][N], w[3][3][3];

static LW_NOINLINE void kernel_avg27(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int z = 1; z < N - 1; z++)
      for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
          float s = 0;
          for (int dz = 0; dz < 3; dz++)
            for (int dy = 0; dy < 3; dy++)
              for (int dx = 0; dx < 3; dx++)
                s += w[dz][dy][dx] * u[z + dz - 1][y + dy - 1][x + dx - 1];
          v[z][y][x] = s;
        }
    for (int z = 1; z < N - 1; z++)
      for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++)
          u[z][y][x] = 0.5f * (u[z][y][x] + v[z][y][x]);
  }
}

int main(void) {
  lw_fill_f32(u, sizeof u, 57);
  lw_fill_f32(w, sizeof w, 58);
  for (int k = 0; k < 27; k++)
    w[k / 9][k / 3 % 3][k % 3] /= 27;
  lw_start();
  kernel_avg27();
  lw_stop();
  lw_report("avg27", lw_hash(lw_hash(LW_HASH_START, u, sizeof u), v, sizeof v));
}
