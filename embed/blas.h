// OpenBLAS's matrix product, loaded when it is first asked for: the program starts without it, and
// who has no model in a folder needs none.
#pragma once

#include <cstddef>
#include <span>

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
  /// The first of these libraries that is there, with its cblas_sgemm. It computes in the thread
  /// that calls it, so that sums have one order; any number of threads may call at a time. Throws
  /// Error unsupported naming Debian's package when there is none.
  explicit Blas(std::span<const char* const> libraries);

  /// OpenBLAS, or else another BLAS that has the C interface; one for the whole process.
  static const Blas& instance();

  void multiply(const Product& product) const noexcept;

 private:
  void* sgemm_ = nullptr;
};

}  // namespace strongroom::embed
