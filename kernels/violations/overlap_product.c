// Matrix product C += A*B where C is apart from, equal to, or a few elements away from A or B.
// Breaks: the output is not an input, although the inputs may be each other.
// expect-both: kernel_overlap_product
#include "../common.h"
#define N 64

LW_NOINLINE void kernel_overlap_product(const double *A, const double *B, double *C) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i * N + j] += 0.125 * A[i * N + k] * B[k * N + j];
}

int main(void) {
  static const int at[][3] = {{0, N * N, 2 * N * N}, {0, 0, 2 * N * N}, {0, N * N, 0},      {0, N * N, N * N},    {N, N, N},
                              {0, N * N, 3},         {3, N * N, 0},     {0, N * N, N * N - 4}, {0, N * N + 7, 2 * N * N}, {N * N, 2 * N * N, N * N - N}};
  static double pool[4 * N * N];
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof at / sizeof *at; s++) {
    lw_fill_f64(pool, sizeof pool, 2);
    for (int i = 0; i < 4 * N * N; i++)
      pool[i] *= 0x1p-6;
    kernel_overlap_product(pool + at[s][0], pool + at[s][1], pool + at[s][2]);
    h = lw_hash(h, pool, sizeof pool);
  }
  lw_report("overlap_product", h);
}
