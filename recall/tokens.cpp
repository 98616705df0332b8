#include "recall/tokens.h"

namespace strongroom::recall {

std::uint64_t count_tokens(std::string_view text) noexcept {
  std::uint64_t ascii = 0;
  std::uint64_t others = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ascii += byte < 0x80 ? 1 : 0;
    others += byte >= 0xC0 ? 1 : 0;  // the first byte of a longer sequence
  }
  return (ascii + 3) / 4 + others;
}

}  // namespace strongroom::recall
