// C = beta*C + alpha*A*B with uBLAS matrices and uBLAS's own product.
// Feature: expression templates; every element is a sum in a register inside of three levels of inlined functions.
#include "ublas.h"
#ifndef N
#define N LW_SIZE(60, 600)
#endif

LW_NOINLINE void kernel_gemm(double alpha, double beta, const Matrix &a, const Matrix &b, Matrix &c) {
  c = beta * c + alpha * ublas::prod(a, b);
}

int main() {
  Matrix a(N, N + 5), b(N + 5, N + 10), c(N, N + 10);
  lw_fill(a, 301);
  lw_fill(b, 302);
  lw_fill(c, 303);
  lw_start();
  kernel_gemm(1.5, 0.75, a, b, c);
  lw_stop();
  lw_report("gemm", lw_hash(LW_HASH_START, c));
}
