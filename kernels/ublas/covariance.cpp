// Covariance matrix of the columns of a data table, element by element on uBLAS containers.
// Feature: operator() of a matrix whose sizes and storage are loaded from the object; triangular product with a mirrored store.
#include "ublas.h"
#ifndef ROWS
#define ROWS LW_SIZE(60, 900)
#endif
#ifndef COLS
#define COLS LW_SIZE(45, 700)
#endif

LW_NOINLINE void kernel_covariance(Matrix &data, Vector &mean, Matrix &cov) {
  const size_t rows = data.size1(), cols = data.size2();
  for (size_t j = 0; j < cols; j++) {
    mean(j) = 0;
    for (size_t i = 0; i < rows; i++)
      mean(j) += data(i, j);
    mean(j) /= (double)rows;
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      data(i, j) -= mean(j);
  for (size_t i = 0; i < cols; i++)
    for (size_t j = i; j < cols; j++) {
      cov(i, j) = 0;
      for (size_t k = 0; k < rows; k++)
        cov(i, j) += data(k, i) * data(k, j);
      cov(i, j) /= (double)rows - 1;
      cov(j, i) = cov(i, j);
    }
}

int main() {
  Matrix data(ROWS, COLS), cov(COLS, COLS);
  Vector mean(COLS);
  lw_fill(data, 321);
  lw_start();
  kernel_covariance(data, mean, cov);
  lw_stop();
  lw_report("covariance", lw_hash(lw_hash(LW_HASH_START, cov), mean));
}
