// A restrict function inlined into loops whose iterations feed each other: b = a - 1 makes it a recurrence.
// Breaks: "noalias" learnt from an inlined call holds for that call only, not across iterations.
#include "../common.h"
#define N 80

static inline void step(double *restrict p, const double *restrict q) { *p = *q + 1; }

LW_NOINLINE void kernel_inlined_restrict(int rows, int cols, double *a, double *b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      step(a + i * N + j, b + i * N + j);
}

static inline void blend(double *restrict p, const double *restrict q, const double *restrict r) { *p = 0.5 * *q + 0.25 * *r; }

LW_NOINLINE void kernel_inlined_blend(double *a, double *b, double *c) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      blend(a + i * N + j, b + i * N + j, c + i * N + j);
}

int main(void) {
  static double pool[4 * N * N];
  static const int from[] = {2 * N * N, -1, 1, -N, N, N - 1, 1 - N};
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof from / sizeof *from; s++) {
    double *a = pool + N * N;
    lw_fill_f64(pool, sizeof pool, 5);
    kernel_inlined_restrict(N, N, a, a + from[s]);
    h = lw_hash(h, pool, sizeof pool);
    lw_fill_f64(pool, sizeof pool, 6);
    kernel_inlined_blend(a, a + from[s], a - N * N + 1);
    h = lw_hash(h, pool, sizeof pool);
  }
  lw_report("inlined_restrict", h);
}
