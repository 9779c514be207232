// uBLAS without its checks, and how the programs of this folder fill and hash its containers.
#ifndef LW_UBLAS_H
#define LW_UBLAS_H
#ifndef NDEBUG
#define NDEBUG
#endif
#define BOOST_UBLAS_NDEBUG
#include "../common.h"
// Its iterators derive from std::iterator, which C++17 deprecates.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/vector.hpp>
#pragma GCC diagnostic pop

namespace ublas = boost::numeric::ublas;
using Matrix = ublas::matrix<double>;
using Vector = ublas::vector<double>;

// A matrix or a vector: both keep their elements in one row.
template <typename C> size_t lw_bytes(const C &c) { return c.data().size() * sizeof(double); }
template <typename C> void lw_fill(C &c, uint32_t seed) { lw_fill_f64(&c.data()[0], lw_bytes(c), seed); }
template <typename C> uint64_t lw_hash(uint64_t hash, const C &c) { return lw_hash(hash, &c.data()[0], lw_bytes(c)); }
#endif
