// Matrix times vector plus an axpy, written with walking pointers instead of subscripts.
// Feature: `*p++` loops with end pointers; addresses are recurrences that the model must turn back into subscripts.
#include "../common.h"
#ifndef N
#define N LW_SIZE(110, 1500)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(3, 120)
#endif

LW_NOINLINE void kernel_pointer_walk(const double *a, double *x, double *y) {
  for (int t = 0; t < STEPS; t++) {
    const double *p = a;
    for (double *out = y; out != y + N; out++) {
      double s = 0;
      for (const double *in = x, *end = x + N; in < end;)
        s += *p++ * *in++;
      *out = s;
    }
    double *to = x;
    const double *from = y;
    while (to < x + N)
      *to++ += 0x1p-12 * *from++;
  }
}

static double a[N * N], x[N], y[N];

int main(void) {
  lw_fill_f64(a, sizeof a, 136);
  lw_fill_f64(x, sizeof x, 137);
  lw_start();
  kernel_pointer_walk(a, x, y);
  lw_stop();
  lw_report("pointer_walk", lw_hash(lw_hash(LW_HASH_START, x, sizeof x), y, sizeof y));
}
