// OpenBLAS's matrix product, loaded when it is first asked for: the program starts without it, and
// who has no model in a folder needs none.
#pragma once

#include <cstddef>

namespace strongroom::embed {

/// C = A B + beta C, row-major, `lda`, `ldb`, `ldc` floats from row to row: A is m x k, B is k x n,
/// or n x k when it is `transposed`.
struct Product {
  std::size_t m, n, k;
  const float* a;
  std::size_t lda;
  const float* b;
  std::size_t ldb;
  float* c;
  std::size_t ldc;
  bool transposed = false;
  float beta = 0;
};

class Blas {
 public:
  /// The library, the same one for the whole process. It computes in the thread that calls it, so
  /// that sums have one order; any number of threads may call at a time. Throws Error unsupported
  /// naming Debian's package when it is not installed.
  static const Blas& instance();

  void multiply(const Product& product) const noexcept;

 private:
  Blas();
  void* sgemm_;
};

/// The libraries that are tried, in this order; for tests of what happens without them. Must be set
/// before the first instance() that succeeds. nullptr stands for the usual ones.
void set_blas_libraries(const char* const* names, std::size_t count) noexcept;

}  // namespace strongroom::embed
