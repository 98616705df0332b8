#include "crypto/process.h"

#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/error.h"

namespace strongroom::crypto {

void initialise() {
  static const int result = sodium_init();
  if (result < 0) throw Error(Code::internal, "The crypto library could not start.");
}

void harden_process() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::umask(077);
  // A file that reaches its largest size is a failed write, not the end of the process.
  ::signal(SIGXFSZ, SIG_IGN);
}

void random_bytes(void* out, std::size_t size) {
  initialise();
  randombytes_buf(out, size);
}

std::string random_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  random_bytes(bytes.data(), size);
  return bytes;
}

bool equal(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace strongroom::crypto
