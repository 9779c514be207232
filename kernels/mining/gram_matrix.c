// Gram matrix of samples under a quadratic kernel, G = (X*X^T + 1)^2, in 64-bit integers.
// Feature: triangular nest with int16 inputs and int64 sums, mirrored store guarded by `i != j`.
#include "../common.h"
#ifndef N
#define N LW_SIZE(60, 1800)
#endif
#ifndef DIM
#define DIM LW_SIZE(33, 1200)
#endif

static int16_t x[N][DIM];
static int64_t gram[N][N];

static LW_NOINLINE void kernel_gram_matrix(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      int64_t s = 1;
      for (int k = 0; k < DIM; k++)
        s += (int64_t)x[i][k] * x[j][k];
      gram[i][j] = s * s;
      if (i != j)
        gram[j][i] = s * s;
    }
}

int main(void) {
  lw_fill_i16(x, sizeof x, 116, -1000, 1000);
  lw_start();
  kernel_gram_matrix();
  lw_stop();
  lw_report("gram_matrix", lw_hash(LW_HASH_START, gram, sizeof gram));
}
