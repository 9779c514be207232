// Odd kernels: types by their sizes, and the doors to memory.
#include <complex.h>
#include <errno.h>
#define LW_TYPE(NAME, T, OF) \
  typedef T NAME OF; \
  typedef NAME NAME##_u __attribute__((aligned(1), may_alias)); \
  typedef NAME NAME##_m __attribute__((may_alias)); \
  typedef NAME NAME##_a __attribute__((aligned(16), may_alias));
#define LW_SCALAR(NAME, T) LW_TYPE(NAME, T, )
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
// No functions: where the optimizer comes early, nothing is inlined yet.
#define LW_GET(T, AT, BYTES) ({ T lw_x = {0}; memcpy(&lw_x, AT, BYTES); lw_x; })
#define LW_SET(T, AT, BYTES, X) do { T lw_x = (X); memcpy(AT, &lw_x, BYTES); } while (0)
#define LW_MIN(T, A, B) ({ T lw_a = (A), lw_b = (B); lw_a < lw_b ? lw_a : lw_b; })
#define LW_MAX(T, A, B) ({ T lw_a = (A), lw_b = (B); lw_a > lw_b ? lw_a : lw_b; })
#define LW_BITS(A, B, X) ({ union { A a; B b; } lw_u; lw_u.a = (X); lw_u.b; })
// What bytes happen to mean as a number, brought to where arithmetic and conversions are defined.
#define LW_TAME(T, X) ({ T lw_t = (X); (lw_t > (T)-100) & (lw_t < (T)100) ? lw_t : (T)3; })
#define LW_TAME_UP(T, X) ({ T lw_t = (X); (lw_t >= (T)0) & (lw_t < (T)100) ? lw_t : (T)5; })
#define LW_TAME_LANES(X) \
  ({ v4f32 lw_t = (X); v4u32 lw_m = (v4u32)((lw_t > -100.0f) & (lw_t < 100.0f)); \
     (v4f32)(((v4u32)lw_t & lw_m) | ((v4u32)((v4f32){0} + 3.0f) & ~lw_m)); })
__attribute__((noreturn)) void lw_leave(int code);
