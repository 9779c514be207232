// Arguments pass through here, so that no call is specialised.
static volatile long lw_zero;
#define V(x) ((x) + lw_zero)
// Long and run once: optimizing them would take longer than all the rest.
#define LW_CALLS static __attribute__((noinline, optnone))

static uint64_t lw_state;
static uint64_t lw_next(void) {
  uint64_t z = lw_state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
#define LW_FILL(NAME, T, EXPR) \
  static void lw_fill_##NAME(T *p, size_t n) { \
    for (size_t i = 0; i < n; i++) { uint64_t r = lw_next() >> 20; p[i] = (T)(EXPR); } \
  } \
  static T *lw_new_##NAME(size_t n) { \
    T *p = malloc(n * sizeof *p); \
    if (!p) abort(); \
    lw_fill_##NAME(p, n); \
    return p; \
  }
LW_FILL(double, double, (double)(r % 257) / 128.0 - 1.0)
LW_FILL(float, float, (float)(r % 257) / 128.0f - 1.0f)
LW_FILL(int, int, (int)(r % 2001) - 1000)
LW_FILL(short, short, (int)(r % 2001) - 1000)
LW_FILL(uchar, unsigned char, r)
LW_FILL(long, long, (long)(r % 2001) - 1000)
static int *lw_new_table(size_t n, int limit) {
  int *p = malloc(n * sizeof *p);
  if (!p) abort();
  for (size_t i = 0; i < n; i++) p[i] = (int)(lw_next() % ((unsigned)limit + 1));
  return p;
}

static uint64_t lw_hash;
static void lw_mix(uint64_t x) { lw_hash = (lw_hash ^ x) * 0x9e3779b97f4a7c15u; lw_hash ^= lw_hash >> 29; }
static void lw_mix_bytes(const void *p, size_t n) {
  const unsigned char *q = p;
  uint64_t x = 0;
  for (; n >= 8; n -= 8, q += 8) { memcpy(&x, q, 8); lw_mix(x); }
  x = 0;
  memcpy(&x, q, n);
  lw_mix(x);
}
// Sign and payload of a NaN depend on the order of the operands, which a compiler may choose.
static void lw_mix_double(const double *p, size_t n) {
  for (size_t i = 0; i < n; i++) { uint64_t x; memcpy(&x, p + i, 8); lw_mix(p[i] == p[i] ? x : 77); }
}
static void lw_mix_float(const float *p, size_t n) {
  for (size_t i = 0; i < n; i++) { uint32_t x; memcpy(&x, p + i, 4); lw_mix(p[i] == p[i] ? x : 77); }
}
#define lw_mix_int(p, n) lw_mix_bytes(p, (n) * sizeof(int))
#define lw_mix_short(p, n) lw_mix_bytes(p, (n) * sizeof(short))
#define lw_mix_uchar(p, n) lw_mix_bytes(p, n)
#define lw_mix_long(p, n) lw_mix_bytes(p, (n) * sizeof(long))
static void lw_start(uint64_t seed) { lw_state = seed; lw_hash = 14695981039346656037u; }
// Flushed at once: after a crash, the last line tells which call it was.
static void lw_report(int kernel, int set) {
  printf("k%d set %d: %016llx\n", kernel, set, (unsigned long long)lw_hash);
  fflush(stdout);
}
// All memory of one call, and what its cells contain at the start.
static char *lw_new_arena(size_t n) {
  char *m = calloc(n, 1);
  if (!m) abort();
  return m;
}
#define LW_RAMP(T, AT, N, EACH) \
  for (long i = 0; i < (N); i++) ((T *)(AT))[i] = (T)(((i * 37 + 11) % 101 - 20) * (EACH))
