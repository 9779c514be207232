// Correlation matrix of the columns of a data table, element by element on uBLAS containers.
// Feature: deviations with a root and a choice between the nests, a triangle below a diagonal of ones.
#include "ublas.h"
#include <cmath>
#ifndef ROWS
#define ROWS LW_SIZE(60, 900)
#endif
#ifndef COLS
#define COLS LW_SIZE(45, 700)
#endif

LW_NOINLINE void kernel_correlation(Matrix &data, Vector &mean, Vector &deviation, Matrix &corr) {
  const size_t rows = data.size1(), cols = data.size2();
  const double count = (double)rows, root = std::sqrt(count);
  for (size_t j = 0; j < cols; j++) {
    mean(j) = 0;
    for (size_t i = 0; i < rows; i++)
      mean(j) += data(i, j);
    mean(j) /= count;
  }
  for (size_t j = 0; j < cols; j++) {
    deviation(j) = 0;
    for (size_t i = 0; i < rows; i++)
      deviation(j) += (data(i, j) - mean(j)) * (data(i, j) - mean(j));
    deviation(j) = std::sqrt(deviation(j) / count);
    // A column that hardly varies is left as it is.
    deviation(j) = deviation(j) <= 0.1 ? 1.0 : deviation(j);
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      data(i, j) -= mean(j);
      data(i, j) /= root * deviation(j);
    }
  for (size_t i = 0; i + 1 < cols; i++) {
    corr(i, i) = 1;
    for (size_t j = i + 1; j < cols; j++) {
      corr(i, j) = 0;
      for (size_t k = 0; k < rows; k++)
        corr(i, j) += data(k, i) * data(k, j);
      corr(j, i) = corr(i, j);
    }
  }
  corr(cols - 1, cols - 1) = 1;
}

int main() {
  Matrix data(ROWS, COLS), corr(COLS, COLS);
  Vector mean(COLS), deviation(COLS);
  lw_fill(data, 331);
  lw_start();
  kernel_correlation(data, mean, deviation, corr);
  lw_stop();
  lw_report("correlation", lw_hash(lw_hash(lw_hash(LW_HASH_START, corr), mean), deviation));
}
