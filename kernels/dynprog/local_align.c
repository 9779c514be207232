// Local alignment score of two sequences with affine gaps (three tables).
// Feature: three arrays of short coupled by one nest, score lookup `score[s[i]][t[j]]` with a subscript loaded from memory.
#include "../common.h"
#ifndef N
#define N LW_SIZE(150, 5000)
#endif

static uint8_t s[N + 1], t[N + 1];
static int16_t score[4][4], h[N + 1][N + 1], e[N + 1][N + 1], f[N + 1][N + 1];

static inline int max2(int a, int b) { return a > b ? a : b; }

static LW_NOINLINE void kernel_local_align(void) {
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      e[i][j] = (int16_t)max2(e[i][j - 1] - 1, h[i][j - 1] - 4);
      f[i][j] = (int16_t)max2(f[i - 1][j] - 1, h[i - 1][j] - 4);
      int match = h[i - 1][j - 1] + score[s[i]][t[j]];
      h[i][j] = (int16_t)max2(max2(0, match), max2(e[i][j], f[i][j]));
    }
}

int main(void) {
  lw_fill_u8(s, sizeof s, 81, 0, 3);
  lw_fill_u8(t, sizeof t, 82, 0, 3);
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++)
      score[a][b] = a == b ? 3 : -2;
  lw_start();
  kernel_local_align();
  lw_stop();
  lw_report("local_align", lw_hash(lw_hash(lw_hash(LW_HASH_START, h, sizeof h), e, sizeof e), f, sizeof f));
}
