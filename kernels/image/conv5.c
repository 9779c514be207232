// Convolution layer: several 5x5 filters over several input planes.
// Feature: nest of depth six with accumulation in memory and coupled subscripts `y + ky`.
#include "../common.h"
#ifndef S
#define S LW_SIZE(20, 230)
#endif
#ifndef CIN
#define CIN LW_SIZE(3, 12)
#endif
#ifndef COUT
#define COUT LW_SIZE(4, 16)
#endif
#define K 5

static float in[CIN][S + K - 1][S + K - 1], w[COUT][CIN][K][K], out[COUT][S][S];

static LW_NOINLINE void kernel_conv5(void) {
  for (int o = 0; o < COUT; o++)
    for (int y = 0; y < S; y++)
      for (int x = 0; x < S; x++)
        for (int c = 0; c < CIN; c++)
          for (int ky = 0; ky < K; ky++)
            for (int kx = 0; kx < K; kx++)
              out[o][y][x] += w[o][c][ky][kx] * in[c][y + ky][x + kx];
}

int main(void) {
  lw_fill_f32(in, sizeof in, 97);
  lw_fill_f32(w, sizeof w, 98);
  lw_start();
  kernel_conv5();
  lw_stop();
  lw_report("conv5", lw_hash(LW_HASH_START, out, sizeof out));
}
