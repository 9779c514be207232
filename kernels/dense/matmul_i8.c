// Product of signed bytes accumulated in 32-bit integers, as in quantised networks.
// Feature: mixed element sizes (1 and 4 bytes), memset of each output row inside the nest, reorderable integer reduction.
#include "../common.h"
#include <string.h>
#ifndef N
#define N LW_SIZE(75, 900)
#endif

static int8_t A[N][N], B[N][N];
static int32_t C[N][N];

static LW_NOINLINE void kernel_matmul_i8(void) {
  for (int i = 0; i < N; i++) {
    memset(C[i], 0, sizeof C[i]);
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
  }
}

int main(void) {
  lw_fill_i8(A, sizeof A, 21, -128, 127);
  lw_fill_i8(B, sizeof B, 22, -128, 127);
  lw_fill_i32(C, sizeof C, 23, 1, 9);
  lw_start();
  kernel_matmul_i8();
  lw_stop();
  lw_report("matmul_i8", lw_hash(LW_HASH_START, C, sizeof C));
}
