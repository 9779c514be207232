// D = beta*D + (alpha*A*B)*C with uBLAS matrices and uBLAS's own product.
// Feature: two products in sequence, the second one reading what the first one wrote; sums in registers.
#include "ublas.h"
#ifndef N
#define N LW_SIZE(50, 450)
#endif

LW_NOINLINE void kernel_2mm(double alpha, double beta, const Matrix &a, const Matrix &b, const Matrix &c, Matrix &d, Matrix &t) {
  ublas::noalias(t) = alpha * ublas::prod(a, b);
  d = beta * d + ublas::prod(t, c);
}

int main() {
  Matrix a(N, N + 4), b(N + 4, N + 8), c(N + 8, N + 2), d(N, N + 2), t(N, N + 8);
  lw_fill(a, 311);
  lw_fill(b, 312);
  lw_fill(c, 313);
  lw_fill(d, 314);
  lw_start();
  kernel_2mm(1.5, 0.75, a, b, c, d, t);
  lw_stop();
  lw_report("2mm", lw_hash(lw_hash(LW_HASH_START, d), t));
}
