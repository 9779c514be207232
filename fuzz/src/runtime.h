// Compiled whole, this file is one program; LW_KERNELS and LW_DRIVER select one half of it.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The pointers are restrict for the length of one call: after inlining, that says nothing about other iterations.
#define LW_NUDGE(NAME, T, EXPR) \
  static inline __attribute__((always_inline)) void nudge_##NAME(T *restrict p, const T *restrict q) { *p = (T)(EXPR); }
LW_NUDGE(double, double, *p * 0.5 + *q * 0.25)
LW_NUDGE(float, float, *p * 0.5f + *q * 0.25f)
LW_NUDGE(int, int, (unsigned)*p + 3u * (unsigned)*q)
LW_NUDGE(short, short, (unsigned)*p + 3u * (unsigned)*q)
LW_NUDGE(uchar, unsigned char, (unsigned)*p + 3u * (unsigned)*q)
LW_NUDGE(long, long, (unsigned long)*p + 3ul * (unsigned long)*q)
