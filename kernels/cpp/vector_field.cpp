// Advects a field stored in std::vector, with sizes kept in the object and rows found by multiplication.
// Feature: base pointer and extents loaded from memory in every iteration (invariant loads), member function kernel.
#include "../common.h"
#include <vector>
#ifndef N
#define N LW_SIZE(60, 900)
#endif
#ifndef STEPS
#define STEPS LW_SIZE(5, 500)
#endif

class Field {
public:
  Field(int rows, int cols) : rows(rows), cols(cols), cells(static_cast<std::size_t>(rows) * cols) {}
  double &at(int i, int j) { return cells[static_cast<std::size_t>(i) * cols + j]; }
  double at(int i, int j) const { return cells[static_cast<std::size_t>(i) * cols + j]; }
  std::size_t bytes() const { return cells.size() * sizeof(double); }
  double *data() { return cells.data(); }
  LW_NOINLINE void kernel_vector_field(Field &next, int steps);

private:
  int rows, cols;
  std::vector<double> cells;
};

void Field::kernel_vector_field(Field &next, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < rows - 1; i++)
      for (int j = 1; j < cols - 1; j++)
        next.at(i, j) = 0.5 * at(i, j) + 0.25 * (at(i - 1, j) + at(i, j - 1));
    for (int i = 1; i < rows - 1; i++)
      for (int j = 1; j < cols - 1; j++)
        at(i, j) = next.at(i, j);
  }
}

int main() {
  Field now(N, N + 3), next(N, N + 3);
  lw_fill_f64(now.data(), now.bytes(), 154);
  lw_start();
  now.kernel_vector_field(next, STEPS);
  lw_stop();
  lw_report("vector_field", lw_hash(LW_HASH_START, now.data(), now.bytes()));
}
