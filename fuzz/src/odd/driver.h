#include <setjmp.h>
static jmp_buf lw_back;
// The end of a call, as others see it: what it had written until then, and where it left.
void lw_leave(int code) { lw_mix((uint64_t)code + 1000); longjmp(lw_back, 1); }
#define LW_ODD_FILL(T, EXPR) \
  static void lw_odd_fill_##T(void *q, size_t bytes) { \
    T *p = q; \
    for (size_t i = 0; i < bytes / sizeof(T); i++) { uint64_t r = lw_next() >> 20; p[i] = (T)(EXPR); } \
  }
LW_ODD_FILL(u8, r)
LW_ODD_FILL(u16, r)
LW_ODD_FILL(u32, r)
LW_ODD_FILL(u64, lw_next())
LW_ODD_FILL(u128, ((u128)r << 70) + lw_next())
LW_ODD_FILL(b8, r & 1)
LW_ODD_FILL(f16, (float)((int)(r % 64) * 2 - 63) / 8.0f)
LW_ODD_FILL(f32, (float)((int)(r % 128) * 2 - 127) / 8.0f)
LW_ODD_FILL(f64, (double)((int)(r % 128) * 2 - 127) / 8.0)
LW_ODD_FILL(f80, (long double)((int)(r % 128) * 2 - 127) / 8.0)
// Where a mathematical function has a value, and where it has none.
static void lw_odd_fill_arguments(double *p, size_t bytes) {
  static const double odd[] = {-3.0, 0.0, 1000.0, -1.0, 0.5, 1e300, -0.0, -1e5};
  for (size_t i = 0; i < bytes / 8; i++) { uint64_t r = lw_next() >> 20; p[i] = r % 16 ? (double)(r % 128) / 64.0 + 0.25 : odd[r / 16 % 8]; }
}
#define LW_ODD_MIX(T, AS) \
  static void lw_odd_mix_##T(const void *q, size_t bytes) { \
    const T *p = q; \
    for (size_t i = 0; i < bytes / sizeof(T); i++) { AS x = (AS)p[i]; lw_mix_##AS(&x, 1); } \
  }
LW_ODD_MIX(f16, float)
LW_ODD_MIX(f32, float)
LW_ODD_MIX(f64, double)
LW_ODD_MIX(f80, double)
// Bytes before and behind it stay as they are, or the hash tells.
static char *lw_odd_block(size_t bytes) {
  char *m = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!m) abort();
  memset(m, 0x5a, (bytes + 63) / 64 * 64);
  return m;
}
