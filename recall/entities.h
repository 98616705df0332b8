// What a text is about: names, identifiers, paths, addresses, found by their form alone.
//
// No model and no dictionary of names: a name is a run of capitalised words that a sentence does
// not explain. What is found:
//   - names: "Caroline Smith", "Bank of America", "O'Brien", "NASA", "New York". The first word of
//   a
//     sentence counts when it is no common English word, or begins a name like "New" or "San";
//   - @mentions, #hashtags, e-mail addresses, URLs and domains, IP addresses, host:port;
//   - identifiers: CamelCase, snake_case, dotted.names, std::names, calls(), kebab-case of three
//     parts or with a digit, names with a version ("Python 3.11": "python" and "python 3.11");
//   - file paths, keys of tickets (ABC-123, #482), hashes;
//   - quoted terms of one to five words, in any kind of double quotes or `code spans`.
// Dates, months, weekdays, holidays, pronouns, kinship, greetings and numbers are none. A text that
// reads like German, where every noun has a capital, keeps a single word only after a preposition
// that stands before names. Words of scripts without capitals are found in quotes.
//
// Deterministic, linear in the text, no locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::recall {

/// At most so many are found in a text; given ones come on top. Of more the most specific stay:
/// paths, URLs, hashes, keys, addresses; then identifiers; mentions, tags; names of several words
/// and quoted terms; names of one word. Among equals the first in the text.
inline constexpr std::size_t kEntities = 32;

/// What is longer than this (bytes, in canonical form; or four times that in the text) is no entity
/// of a text.
inline constexpr std::size_t kMaxEntityBytes = 256;

enum class EntityKind : std::uint8_t {
  name,
  mention,
  tag,
  identifier,
  path,
  url,
  email,
  ticket,
  hash,
  quoted,
  address,
  given,
};

struct Entity {
  std::size_t begin;  // where it is first, in bytes of the text: what to show. Both 0 for one that
  std::size_t end;    // was given and is not in the text
  EntityKind kind;
  std::string_view canonical;  // canonical_entity() of these bytes
};

/// Reuses its buffers, holds decrypted text and wipes it; one thread at a time.
class EntityFinder {
 public:
  EntityFinder();
  ~EntityFinder();
  EntityFinder(EntityFinder&&) noexcept;
  EntityFinder& operator=(EntityFinder&&) noexcept;

  /// The distinct entities of `text`, valid UTF-8 of any length, by where they begin; one may lie
  /// inside another. The answer lives until the next call.
  const std::vector<Entity>& find(std::string_view text);

  /// Adds a name that was given with the text of the latest find(): an entity, its speaker. One
  /// that the text has becomes EntityKind::given; an empty one is left out.
  const std::vector<Entity>& add_given(std::string_view name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What two names have in common when they mean the same: folded (NFKC, case), white space as one
/// blank, without punctuation around it, "https://" and the like, and a possessive 's. "C++", "C#"
/// and ".net" keep theirs. Idempotent. Empty when nothing is left.
std::string canonical_entity(std::string_view name);

/// "name", "mention", "tag", ...
std::string_view entity_kind_name(EntityKind kind) noexcept;

}  // namespace strongroom::recall
