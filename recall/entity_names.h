// Names: runs of capitalised words. Only entit*.cpp use this.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/wipe.h"
#include "recall/entity_shapes.h"

namespace strongroom::recall::entity {

struct Name {
  std::size_t begin, end;
  std::size_t words;
  bool identifier;  // one word, and an identifier by its form
  bool weak;        // any noun of a German text looks like this
};

class NameReader {
 public:
  void reset(std::string_view text);

  /// Takes a word with a capital at its start. Returns the name that ended before it. `start`: a
  /// sentence begins with the word. `ends` is set when the word ends the name that it is in.
  std::optional<Name> capital(std::size_t begin, std::size_t end, bool start, bool identifier,
                              bool& ends);

  /// Takes a word without one, while open(); true when the name may go on: Bank of America.
  bool link(std::string_view word) noexcept;

  /// Ends the run and returns its name.
  std::optional<Name> close();

  bool open() const noexcept { return run_.words != 0; }
  bool linked() const noexcept { return run_.links != 0; }

 private:
  struct Run {
    std::size_t begin = 0;
    std::size_t second = 0;  // where the second word begins
    std::size_t end = 0;
    std::size_t words = 0;
    std::size_t initials = 0;
    std::size_t acronyms = 0;
    std::size_t commons = 0;
    std::size_t links = 0;  // little words behind `end`
    Word first = Word::other;
    bool at_start = false;  // of a sentence
    bool last_acronym = false;
    bool last_identifier = false;
    bool placed = false;  // behind a preposition that stands before names
    bool article = false;
  };

  Word known(std::string_view word, bool forms);

  std::string_view text_;
  Run run_;
  Folder folder_;
  SecretBytes folded_;
};

/// Whether `word` with a stop behind it does not end a sentence: "Mr", "e.g".
bool abbreviates(std::string_view word) noexcept;

}  // namespace strongroom::recall::entity
