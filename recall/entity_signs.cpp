#include "recall/entity_signs.h"

namespace strongroom::recall::entity {

WideSign wide_sign(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0), second = byte(1), third = byte(2);
  if (first == 0xC2) {
    if (second == 0xA0) return {Wide::blank, 2};
    if (second == 0xAB) return {Wide::quote, 2, "\xC2\xBB"};
    return second == 0xBB || second == 0xA1 || second == 0xBF ? WideSign{Wide::stop, 2}
                                                              : WideSign{};
  }
  if (first == 0xE2 && second == 0x80) {
    if (third == 0x99) return {Wide::apostrophe, 3};
    if (third == 0x9C) return {Wide::quote, 3, "\xE2\x80\x9D"};
    if (third == 0x9E) return {Wide::quote, 3, "\xE2\x80\x9C"};
    return {third == 0xA6 ? Wide::stop : third <= 0x8F ? Wide::blank : Wide::other, 3};
  }
  if (first == 0xE3 && second == 0x80) {
    switch (third) {
      case 0x80: return {Wide::blank, 3};
      case 0x82: return {Wide::stop, 3};
      case 0x8A: return {Wide::quote, 3, "\xE3\x80\x8B"};
      case 0x8C: return {Wide::quote, 3, "\xE3\x80\x8D"};
      case 0x8E: return {Wide::quote, 3, "\xE3\x80\x8F"};
      default: return third <= 0x9F && third > 0x87 ? WideSign{Wide::other, 3} : WideSign{};
    }
  }
  if (first == 0xEF && second == 0xBC && (third <= 0x8F || (third >= 0x9A && third <= 0xA0))) {
    return {third == 0x81 || third == 0x9A || third == 0x9F ? Wide::stop : Wide::other, 3};
  }
  return {};
}

}  // namespace strongroom::recall::entity
