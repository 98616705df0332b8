// Entities that their characters give away, whatever stands around them; and the canonical form.
// Only entit*.cpp use this.
#pragma once

#include <optional>
#include <string_view>

#include "base/wipe.h"
#include "recall/entities.h"
#include "recall/word_break.h"

namespace strongroom::recall::entity {

/// What the list of words knows of one.
enum class Word : std::uint8_t {
  other,   // perhaps a name
  common,  // not at the start of a sentence
  opens,   // the same, but "New York", "San Diego" begin with it
  never,   // no part of a name: "the", "Monday", "Thanks"
};

/// `lower` is folded. Without `forms`, "walks" is not known because "walk" is.
Word word_class(std::string_view lower, bool forms = true) noexcept;

/// The same of an ASCII word in any case.
Word ascii_word_class(std::string_view word, bool forms = true) noexcept;

struct Shape {
  EntityKind kind;
  std::size_t begin, end;  // of the token
};

/// What a run of letters, digits and the signs _ - . / \ : @ # ~ + % $ & is by its form, without
/// sentence punctuation around it. None for what may be a word, and for numbers. `called`: "()"
/// follows. Tokens longer than kMaxEntityBytes have no shape.
std::optional<Shape> shape_of(std::string_view token, bool called);

/// Whether a token is a version, as it stands behind a name: 15.6, v2, 3.12.0-rc1.
bool is_version(std::string_view token) noexcept;

/// Writes canonical forms, with buffers that are reused.
class Canonical {
 public:
  /// Lives until the next call.
  std::string_view of(std::string_view text);

 private:
  Folder folder_;
  SecretBytes folded_, out_;
};

}  // namespace strongroom::recall::entity
