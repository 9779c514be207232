// Transposes a matrix of 16-bit values into another, and a square one in place.
// Feature: no reuse at all, only stride conflicts: tiling is the whole gain; swap through a scalar in a triangle.
// flags: -DN=700
// expect-fast: kernel_transpose
#include "../common.h"
#ifndef N
#define N LW_SIZE(100, 2800)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(2, 6)
#endif

static int16_t a[N][N], b[N][N];

static LW_NOINLINE void kernel_transpose(void) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        b[j][i] = (int16_t)(a[i][j] ^ t);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < i; j++) {
        int16_t keep = b[i][j];
        b[i][j] = b[j][i];
        b[j][i] = keep;
      }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        a[i][j] = (int16_t)(b[N - 1 - j][i] ^ 1);
  }
}

int main(void) {
  lw_fill_i16(a, sizeof a, 144, -32768, 32767);
  lw_start();
  kernel_transpose();
  lw_stop();
  lw_report("transpose", lw_hash(lw_hash(LW_HASH_START, a, sizeof a), b, sizeof b));
}
