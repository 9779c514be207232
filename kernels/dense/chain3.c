// Chained products F = (A*B) * (C*D) through two temporaries.
// Feature: three nests in sequence that depend on each other; temporaries stay local to the kernel's data flow.
// expect-fast: kernel_chain3
#include "../common.h"
#ifndef N
#define N LW_SIZE(49, 520)
#endif

LW_NOINLINE void kernel_chain3(double A[N][N], double B[N][N], double C[N][N], double D[N][N], double AB[N][N], double CD[N][N],
                               double F[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      AB[i][j] = 0;
      for (int k = 0; k < N; k++)
        AB[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      CD[i][j] = 0;
      for (int k = 0; k < N; k++)
        CD[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      F[i][j] = 0;
      for (int k = 0; k < N; k++)
        F[i][j] += AB[i][k] * CD[k][j];
    }
}

static double A[N][N], B[N][N], C[N][N], D[N][N], AB[N][N], CD[N][N], F[N][N];

int main(void) {
  lw_fill_f64(A, sizeof A, 12);
  lw_fill_f64(B, sizeof B, 13);
  lw_fill_f64(C, sizeof C, 14);
  lw_fill_f64(D, sizeof D, 15);
  lw_start();
  kernel_chain3(A, B, C, D, AB, CD, F);
  lw_stop();
  lw_report("chain3", lw_hash(lw_hash(lw_hash(LW_HASH_START, AB, sizeof AB), CD, sizeof CD), F, sizeof F));
}
