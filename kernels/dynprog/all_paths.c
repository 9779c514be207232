// Shortest path lengths between all pairs of nodes, relaxed over each intermediate node in place.
// Feature: in-place min-plus nest where the outer loop cannot be moved inwards; conditional store as a select.
#include "../common.h"
#ifndef N
#define N LW_SIZE(70, 850)
#endif

static int dist[N][N];

static LW_NOINLINE void kernel_all_paths(void) {
  for (int via = 0; via < N; via++)
    for (int from = 0; from < N; from++)
      for (int to = 0; to < N; to++) {
        int detour = dist[from][via] + dist[via][to];
        dist[from][to] = detour < dist[from][to] ? detour : dist[from][to];
      }
}

int main(void) {
  lw_fill_i32(dist, sizeof dist, 77, 1, 100000);
  for (int i = 0; i < N; i++)
    dist[i][i] = 0;
  lw_start();
  kernel_all_paths();
  lw_stop();
  lw_report("all_paths", lw_hash(LW_HASH_START, dist, sizeof dist));
}
