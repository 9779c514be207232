// Sums accumulated through pointers that may point into the summed matrix, and coefficients that the loop may overwrite.
// Breaks: a scalar behind a pointer can stay in a register for the whole nest.
#include "../common.h"
#define N 64

LW_NOINLINE void kernel_scalar_inside(double *sum, const double *factor, double (*a)[N]) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      a[i][j] = 0.5 * a[i][j] + *factor;
      *sum += 0x1p-8 * a[i][j];
    }
}

int main(void) {
  static double a[N][N];
  double apart = 1, other = 0.25;
  double *sum[] = {&apart, &a[0][0], &a[5][9], &a[N - 1][N - 1], &apart, &a[3][3], &other};
  double *factor[] = {&other, &other, &other, &other, &a[20][30], &a[40][3], &other};
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof sum / sizeof *sum; s++) {
    lw_fill_f64(a, sizeof a, 25);
    apart = 1, other = 0.25;
    kernel_scalar_inside(sum[s], factor[s], a);
    h = lw_hash(lw_hash(lw_hash(h, a, sizeof a), &apart, sizeof apart), &other, sizeof other);
  }
  lw_report("scalar_inside", h);
}
