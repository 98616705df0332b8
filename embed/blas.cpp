#include "embed/blas.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <string>

#include "base/error.h"

namespace strongroom::embed {

namespace {

// The numbers of the C interface (netlib.org/blas/cblas.h).
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                       float* c, int ldc);

constexpr std::array kLibraries = {"libopenblas.so.0", "libblas.so.3"};

// OpenBLAS starts a thread for every core when it is loaded, unless its environment says otherwise;
// there is no other way to tell it. The environment is as it was once the library is loaded.
class OneThread {
 public:
  OneThread() {
    if (const char* const before = std::getenv(kName)) before_ = before;
    ::setenv(kName, "1", 1);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    if (before_) {
      ::setenv(kName, before_->c_str(), 1);
    } else {
      ::unsetenv(kName);
    }
  }

 private:
  static constexpr const char* kName = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> before_;
};

// The function cblas_sgemm, or nullptr. A library that has it stays loaded.
void* find_sgemm(const char* library) {
  const OneThread environment;
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  void* const sgemm = ::dlsym(handle, "cblas_sgemm");
  if (sgemm == nullptr) {
    ::dlclose(handle);
    return nullptr;
  }
  // Another part of the process may have loaded it before, with more threads.
  if (void* const set_threads = ::dlsym(handle, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(set_threads)(1);
  }
  return sgemm;
}

}  // namespace

Blas::Blas(std::span<const char* const> libraries) {
  for (const char* const library : libraries) {
    if (sgemm_ == nullptr) sgemm_ = find_sgemm(library);
  }
  if (sgemm_ != nullptr) return;
  throw Error(Code::unsupported,
              "A model in a folder needs OpenBLAS, which is not installed; Debian's package is "
              "libopenblas0.");
}

const Blas& Blas::instance() {
  static const Blas blas(kLibraries);
  return blas;
}

void Blas::multiply(const Product& p) const noexcept {
  const auto number = [](std::size_t n) { return static_cast<int>(n); };
  reinterpret_cast<Sgemm>(sgemm_)(kRowMajor, kNoTranspose, p.transposed ? kTranspose : kNoTranspose,
                                  number(p.m), number(p.n), number(p.k), 1, p.a, number(p.lda), p.b,
                                  number(p.ldb), p.beta, p.c, number(p.ldc));
}

}  // namespace strongroom::embed
