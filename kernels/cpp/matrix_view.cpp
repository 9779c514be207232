// Blocked scaling and product through a small matrix view class with operator() and a functor per element.
// Feature: C++ abstractions (templates, references, lambdas) that inline to an affine nest.
#include "../common.h"
#include <array>
#include <memory>
#ifndef N
#define N LW_SIZE(60, 700)
#endif

template <typename T, std::size_t Rows, std::size_t Cols> class Matrix {
public:
  Matrix() : cells(new std::array<T, Rows * Cols>{}) {}
  T &operator()(std::size_t i, std::size_t j) { return (*cells)[i * Cols + j]; }
  const T &operator()(std::size_t i, std::size_t j) const { return (*cells)[i * Cols + j]; }
  T *data() { return cells->data(); }
  static constexpr std::size_t bytes = Rows * Cols * sizeof(T);

  template <typename F> void each(F f) {
    for (std::size_t i = 0; i < Rows; i++)
      for (std::size_t j = 0; j < Cols; j++)
        f(i, j, (*this)(i, j));
  }

private:
  std::unique_ptr<std::array<T, Rows * Cols>> cells;
};

using Square = Matrix<double, N, N>;

LW_NOINLINE void kernel_matrix_view(const Square &a, const Square &b, Square &c) {
  c.each([&](std::size_t i, std::size_t j, double &out) {
    out *= 0.5;
    for (std::size_t k = 0; k < N; k++)
      out += a(i, k) * b(k, j);
  });
}

int main() {
  Square a, b, c;
  lw_fill_f64(a.data(), Square::bytes, 151);
  lw_fill_f64(b.data(), Square::bytes, 152);
  lw_fill_f64(c.data(), Square::bytes, 153);
  lw_start();
  kernel_matrix_view(a, b, c);
  lw_stop();
  lw_report("matrix_view", lw_hash(LW_HASH_START, c.data(), Square::bytes));
}
