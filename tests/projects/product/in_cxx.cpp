#include <vector>

void product_cxx(int n, const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}
