// Odd kernels: types by their sizes, and the doors to memory.
#include <complex.h>
#include <errno.h>
#define LW_INLINE static inline __attribute__((always_inline))
#define LW_TYPE(NAME, T, OF) \
  typedef T NAME OF; \
  typedef NAME NAME##_u __attribute__((aligned(1), may_alias)); \
  typedef NAME NAME##_m __attribute__((may_alias)); \
  typedef NAME NAME##_a __attribute__((aligned(16), may_alias)); \
  LW_INLINE NAME lw_get_##NAME(const void *p) { NAME x; memcpy(&x, p, sizeof x); return x; } \
  LW_INLINE void lw_set_##NAME(void *p, NAME x) { memcpy(p, &x, sizeof x); }
#define LW_SCALAR(NAME, T) \
  LW_TYPE(NAME, T, ) \
  LW_INLINE NAME lw_min_##NAME(NAME a, NAME b) { return a < b ? a : b; } \
  LW_INLINE NAME lw_max_##NAME(NAME a, NAME b) { return a > b ? a : b; }
#define LW_VECTOR(NAME, T) LW_TYPE(NAME, T, __attribute__((vector_size(16))))
LW_SCALAR(u8, unsigned char)
LW_SCALAR(s8, signed char)
LW_SCALAR(u16, unsigned short)
LW_SCALAR(s16, short)
LW_SCALAR(u32, unsigned)
LW_SCALAR(s32, int)
LW_SCALAR(u64, unsigned long)
LW_SCALAR(s64, long)
LW_SCALAR(u128, unsigned __int128)
LW_SCALAR(s128, __int128)
LW_SCALAR(b8, _Bool)
LW_SCALAR(f16, _Float16)
LW_SCALAR(f32, float)
LW_SCALAR(f64, double)
LW_SCALAR(f80, long double)
LW_TYPE(c32, _Complex float, )
LW_VECTOR(v16u8, unsigned char)
LW_VECTOR(v8u16, unsigned short)
LW_VECTOR(v4u32, unsigned)
LW_VECTOR(v2u64, unsigned long)
LW_VECTOR(v4f32, float)
typedef struct { unsigned a : 5; int b : 11; unsigned c : 16; unsigned d : 1; int e : 20; unsigned f : 11; } lw_fields;
typedef union __attribute__((packed, may_alias)) {
  u8 u8; s8 s8; u16 u16; s16 s16; u32 u32; s32 s32; u64 u64; s64 s64; f32 f32; f64 f64;
} lw_pun;
LW_INLINE u32 lw_get_three(const void *p) { u32 x = 0; memcpy(&x, p, 3); return x; }
LW_INLINE void lw_set_three(void *p, u32 x) { memcpy(p, &x, 3); }
// What bytes happen to mean as a number, brought to where arithmetic and conversions are defined.
#define LW_TAME(T) \
  LW_INLINE T lw_tame_##T(T x) { return x > (T)-100 && x < (T)100 ? x : (T)3; } \
  LW_INLINE T lw_tame_up_##T(T x) { return x >= (T)0 && x < (T)100 ? x : (T)5; }
LW_TAME(f16)
LW_TAME(f32)
LW_TAME(f64)
LW_TAME(f80)
LW_INLINE v4f32 lw_tame_v4f32(v4f32 x) {
  for (int k = 0; k < 4; k++) x[k] = lw_tame_f32(x[k]);
  return x;
}
#define LW_BITS(A, B) LW_INLINE B lw_bits_##A##_##B(A x) { union { A a; B b; } u; u.a = x; return u.b; }
LW_BITS(f32, u32)
LW_BITS(f32, s32)
LW_BITS(u32, f32)
LW_BITS(s32, f32)
LW_BITS(f64, u64)
LW_BITS(f64, s64)
LW_BITS(u64, f64)
LW_BITS(s64, f64)
__attribute__((noreturn)) void lw_leave(int code);
