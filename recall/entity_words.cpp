#include "recall/entity_words.h"

#include <algorithm>
#include <array>

#include "recall/entity_shapes.h"

namespace strongroom::recall::entity {
namespace {

constexpr std::size_t kLongest = 20;
constexpr std::size_t kSlots = 8192;
constexpr std::uint16_t kEmpty = 0xFFFF;

constexpr std::size_t slot_of(std::string_view word) {
  std::uint32_t hash = 2166136261;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return (hash ^ (hash >> 15)) % kSlots;
}

// Where words lie when the lists stand one behind the other.
constexpr std::size_t kOpensAt = kNever.size() + 1;
constexpr std::size_t kCommonAt = kOpensAt + kOpens.size() + 1;
static_assert(kCommonAt + kCommon.size() < kEmpty);

constexpr std::string_view rest_at(std::size_t at) {
  if (at >= kCommonAt) return kCommon.substr(at - kCommonAt);
  return at >= kOpensAt ? kOpens.substr(at - kOpensAt) : kNever.substr(at);
}

constexpr void insert(std::array<std::uint16_t, kSlots>& slots, std::size_t base,
                      std::string_view list) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    std::size_t slot = slot_of(list.substr(at, end - at));
    while (slots[slot] != kEmpty) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<std::uint16_t>(base + at);
    at = end + 1;
  }
}

constexpr std::array<std::uint16_t, kSlots> make_slots() {
  std::array<std::uint16_t, kSlots> slots{};
  for (std::uint16_t& slot : slots) slot = kEmpty;
  insert(slots, 0, kNever);
  insert(slots, kOpensAt, kOpens);
  insert(slots, kCommonAt, kCommon);
  return slots;
}
constexpr std::array<std::uint16_t, kSlots> kTable = make_slots();

Word listed(std::string_view word) noexcept {
  for (std::size_t slot = slot_of(word);; slot = (slot + 1) % kSlots) {
    const std::size_t at = kTable[slot];
    if (at == kEmpty) return Word::other;
    const std::string_view rest = rest_at(at);
    if (rest.starts_with(word) && (rest.size() == word.size() || rest[word.size()] == ' ')) {
      return at >= kCommonAt ? Word::common : at >= kOpensAt ? Word::opens : Word::never;
    }
  }
}

// Endings that no name in English has, or hardly one.
constexpr std::string_view kEndings[] = {"ing",   "tion", "tions", "sion", "sions", "ness", "ment",
                                         "ments", "ally", "ely",   "tly",  "dly",   "sly",  "bly",
                                         "ully",  "able", "ible",  "less", "ities"};
struct Change {
  std::string_view ending, base;
};
constexpr Change kChanges[] = {{"s", ""},    {"es", ""},   {"d", ""},   {"ed", ""},
                               {"r", ""},    {"er", ""},   {"ers", ""}, {"ly", ""},
                               {"ies", "y"}, {"ied", "y"}, {"ily", "y"}};

bool has_common_ending(std::string_view word) noexcept {
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view ending) {
    return word.size() >= ending.size() + 3 && word.ends_with(ending);
  });
}

bool is_form_of_common(std::string_view word) noexcept {
  std::array<char, kLongest + 1> buffer{};
  for (const auto& [ending, base] : kChanges) {
    if (!word.ends_with(ending) || word.size() - ending.size() + base.size() < 3) continue;
    const std::size_t stem = word.size() - ending.size();
    std::copy_n(word.begin(), stem, buffer.begin());
    std::copy(base.begin(), base.end(), buffer.begin() + static_cast<std::ptrdiff_t>(stem));
    const Word known = listed({buffer.data(), stem + base.size()});
    if (known == Word::common || (known != Word::other && ending == "s")) return true;
  }
  return false;
}

}  // namespace

Word word_class(std::string_view lower, bool forms) noexcept {
  const Word known = lower.size() > kLongest ? Word::other : listed(lower);
  if (known != Word::other || !forms) return known;
  const bool form =
      has_common_ending(lower) || (lower.size() <= kLongest && is_form_of_common(lower));
  return form ? Word::common : Word::other;
}

Word ascii_word_class(std::string_view word, bool forms) noexcept {
  std::array<char, 2 * kLongest> lower{};
  if (word.size() > lower.size()) return Word::other;
  std::transform(word.begin(), word.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return word_class({lower.data(), word.size()}, forms);
}

}  // namespace strongroom::recall::entity
