// What every kernel program shares: sizes, deterministic input, a hash of the output, a timer.
#ifndef LW_COMMON_H
#define LW_COMMON_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// A size: `small` for tests (milliseconds), `bench` with -DBENCH (0.2 to 2 s of kernel time).
#ifdef BENCH
#define LW_SIZE(small, bench) (bench)
#else
#define LW_SIZE(small, bench) (small)
#endif

#define LW_NOINLINE __attribute__((noinline))

// Thirty-one bits of a 64-bit linear congruential generator.
static inline uint32_t lw_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static inline uint64_t lw_seed(uint32_t seed) {
  uint64_t state = seed * 2654435761u + 1u;
  lw_next(&state);
  return state;
}

// Multiples of 1/1024 in [-1, 1): exact in float and double.
static inline void lw_fill_f64(void *to, size_t bytes, uint32_t seed) {
  double *p = (double *)to;
  uint64_t state = lw_seed(seed);
  for (size_t i = 0; i < bytes / sizeof *p; i++)
    p[i] = ((int32_t)(lw_next(&state) % 2048u) - 1024) / 1024.0;
}

static inline void lw_fill_f32(void *to, size_t bytes, uint32_t seed) {
  float *p = (float *)to;
  uint64_t state = lw_seed(seed);
  for (size_t i = 0; i < bytes / sizeof *p; i++)
    p[i] = (float)((int32_t)(lw_next(&state) % 2048u) - 1024) / 1024.0f;
}

// Integers in [lo, hi], which must fit the element type.
#define LW_DEFINE_FILL(name, type)                                                        \
  static inline void name(void *to, size_t bytes, uint32_t seed, int32_t lo, int32_t hi) { \
    type *p = (type *)to;                                                                  \
    uint64_t state = lw_seed(seed);                                                        \
    for (size_t i = 0; i < bytes / sizeof *p; i++)                                         \
      p[i] = (type)(lo + (int32_t)(lw_next(&state) % (uint32_t)(hi - lo + 1)));            \
  }
LW_DEFINE_FILL(lw_fill_i32, int32_t)
LW_DEFINE_FILL(lw_fill_i16, int16_t)
LW_DEFINE_FILL(lw_fill_i8, int8_t)
LW_DEFINE_FILL(lw_fill_u8, uint8_t)

// FNV-1a, 64 bits; start with LW_HASH_START and chain the calls over all outputs.
#define LW_HASH_START 0xcbf29ce484222325u
static inline uint64_t lw_hash(uint64_t hash, const void *from, size_t bytes) {
  const unsigned char *p = (const unsigned char *)from;
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

static inline void lw_report(const char *name, uint64_t hash) {
  printf("%s %016llx\n", name, (unsigned long long)hash);
}

// Seconds between lw_start and lw_stop, on stderr, if the environment has LW_TIME.
static struct timespec lw_started;
static inline void lw_start(void) { timespec_get(&lw_started, TIME_UTC); }
static inline void lw_stop(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  if (getenv("LW_TIME"))
    fprintf(stderr, "%.6f\n", (double)(now.tv_sec - lw_started.tv_sec) + 1e-9 * (double)(now.tv_nsec - lw_started.tv_nsec));
}

// Heap memory or a clear end.
static inline void *lw_alloc(size_t bytes) {
  void *p = calloc(1, bytes);
  if (!p) {
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    exit(3);
  }
  return p;
}
#endif
