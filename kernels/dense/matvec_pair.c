// y = A*x and z = A^T*w in one sweep over A, repeated with the results fed back.
// Feature: two reductions of opposite orientation in one nest, outer time loop, two levels of imperfection.
#include "../common.h"
#ifndef N
#define N LW_SIZE(150, 1700)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(3, 60)
#endif

static double A[N][N], x[N], y[N], w[N], z[N];

static LW_NOINLINE void kernel_matvec_pair(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      z[i] = 0;
    for (int i = 0; i < N; i++) {
      y[i] = 0;
      for (int j = 0; j < N; j++) {
        y[i] += A[i][j] * x[j];
        z[j] += A[i][j] * w[i];
      }
    }
    for (int i = 0; i < N; i++) {
      x[i] = y[i] / N;
      w[i] = z[i] / N;
    }
  }
}

int main(void) {
  lw_fill_f64(A, sizeof A, 8);
  lw_fill_f64(x, sizeof x, 9);
  lw_fill_f64(w, sizeof w, 10);
  for (int i = 0; i < N; i++)
    A[i][i] = N;
  lw_start();
  kernel_matvec_pair();
  lw_stop();
  uint64_t h = lw_hash(LW_HASH_START, y, sizeof y);
  h = lw_hash(h, z, sizeof z);
  h = lw_hash(h, x, sizeof x);
  lw_report("matvec_pair", lw_hash(h, w, sizeof w));
}
