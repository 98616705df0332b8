// Cells of the index's columns, which hold anything, and the classes of lengths.
#include "recall/columns.h"

#include <string>

#include "fuzz/fuzz.h"
#include "vault/format.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  if (input.size() >= recall::kAttributeBytes) {
    char once[recall::kAttributeBytes], twice[recall::kAttributeBytes];
    recall::encode_attributes(recall::decode_attributes(input.data()), once);
    recall::encode_attributes(recall::decode_attributes(once), twice);
    fuzz::require(std::string_view(once, sizeof once) == std::string_view(twice, sizeof twice),
                  "attributes are written the same");
  }
  if (input.size() >= recall::kTimeBytes) {
    char once[recall::kTimeBytes];
    recall::encode_times(recall::decode_times(input.data()), once);
    fuzz::require(std::string_view(once, 48) == input.substr(0, 48), "times are written the same");
  }
  if (input.size() < 4) return;
  const auto words = vault::load_le<std::uint32_t>(input);
  const unsigned length_class = recall::length_class_of(words);
  fuzz::require(length_class < 32, "there are 32 classes");
  const auto off = [&](unsigned c) {
    const std::uint32_t stands_for = recall::class_words(c);
    return stands_for > words ? stands_for - words : words - stands_for;
  };
  for (unsigned other = 0; other < 32; ++other) {
    fuzz::require(off(length_class) <= off(other), "no class is nearer");
  }
}
