// The demonstration: a matrix product over plain pointers. Nobody says that the matrices do not overlap, and their shape is
// only to be guessed from the subscripts, which multiply a loop counter by a size that is known at run time. A second call, with C inside A, shows that overlap is noticed and still right.
#include "../kernels/common.h"

#define N 1024

LW_NOINLINE void product(int n, double *C, double *A, double *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i * n + j] += A[i * n + k] * B[k * n + j];
}

int main(int argc, char **argv) {
  size_t bytes = sizeof(double) * N * N;
  int overlap = argc > 1 && argv[1][0] == 'o';
  double *A = lw_alloc(2 * bytes), *B = lw_alloc(bytes);
  double *C = overlap ? A + N / 2 : lw_alloc(bytes);
  lw_fill_f64(A, 2 * bytes, 1);
  lw_fill_f64(B, bytes, 2);
  lw_start();
  product(N, C, A, B);
  lw_stop();
  lw_report(overlap ? "product, C overlaps A" : "product", lw_hash(LW_HASH_START, C, bytes));
  return 0;
}
