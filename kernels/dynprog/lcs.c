// Length of the longest common subsequence of every prefix pair of two strings.
// Feature: 16-bit table, diagonal dependences, a choice between two values by comparing characters.
#include "../common.h"
#ifndef N
#define N LW_SIZE(200, 8000)
#endif
#ifndef M
#define M LW_SIZE(170, 7000)
#endif

static uint8_t s[N], t[M];
static uint16_t len[N + 1][M + 1];

static LW_NOINLINE void kernel_lcs(void) {
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++) {
      uint16_t best = len[i - 1][j] > len[i][j - 1] ? len[i - 1][j] : len[i][j - 1];
      uint16_t diagonal = (uint16_t)(len[i - 1][j - 1] + (s[i - 1] == t[j - 1]));
      len[i][j] = best > diagonal ? best : diagonal;
    }
}

int main(void) {
  lw_fill_u8(s, sizeof s, 71, 'a', 'd');
  lw_fill_u8(t, sizeof t, 72, 'a', 'd');
  lw_start();
  kernel_lcs();
  lw_stop();
  lw_report("lcs", lw_hash(LW_HASH_START, len, sizeof len));
}
