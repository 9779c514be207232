// One product in three languages: equal to the last bit, however each was compiled.
#include <cstdio>
#include <vector>

extern "C" void product_c(int n, const double *a, const double *b, double *c);
void product_cxx(int n, const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &c);
#ifdef WITHOUT_FORTRAN
#define product_fortran product_c
#else
extern "C" void product_fortran(int n, const double *a, const double *b, double *c);
#endif

int main() {
  const int n = 100;
  std::vector<double> a(n * n), b(n * n), c(n * n), cxx(n * n), fortran(n * n);
  for (int i = 0; i < n * n; i++) {
    a[i] = (i * 7 % 13) / 4.0;
    b[i] = (i * 5 % 17) / 8.0;
  }
  product_c(n, a.data(), b.data(), c.data());
  product_cxx(n, a, b, cxx);
  product_fortran(n, a.data(), b.data(), fortran.data());
  std::printf("%s\n", c == cxx && c == fortran ? "equal" : "different");
}
