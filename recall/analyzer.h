// Text to terms, for documents and queries alike.
//
// A text is folded (Unicode NFKC with case folding) and cut into words: runs of letters, marks and
// digits. Scripts without spaces (Han, Hiragana, Katakana, Thai, ...) give one term a character and
// one a pair of neighbours. Words of letters are stemmed by Porter's algorithm (M. F. Porter, "An
// algorithm for suffix stripping", 1980; libstemmer's "porter"); stop words are dropped. What an
// engineer would search for whole is kept whole and is split as well: identifiers (snake_case,
// kebab-case, CamelCase, dotted.names), paths, URLs, versions, hashes, error codes.
//
// Deterministic: the same text gives the same terms in the same order on every machine. An Analyzer
// reuses its buffers, holds decrypted text and wipes it; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::recall {

/// A term longer than this (bytes after folding) is cut to it; "one word" of a megabyte is one
/// term.
inline constexpr std::size_t kMaxTermBytes = 128;

struct AnalyzedText {
  struct Term {
    std::string_view text;    // stem, or the whole identifier
    std::uint32_t frequency;  // >= 1
  };
  std::vector<Term> terms;              // distinct, in order of first occurrence
  std::vector<std::string_view> words;  // distinct folded words of letters alone, >= 4 code points,
                                        // unstemmed: what a mistyped query word is compared with
  std::uint32_t length = 0;             // words counted, without stop words and without the parts
                                        // and pairs that stand beside a whole
};

struct QueryTerm {
  std::string text;             // as AnalyzedText::Term::text
  std::string word;             // the folded word before stemming; empty for whole identifiers
  std::uint32_t frequency = 1;  // in the query
  bool whole = false;           // an identifier, path, hash kept whole
};

class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  /// The terms of a stored text. Views live until the next call of analyze() or query(). `text` is
  /// valid UTF-8 of any length.
  const AnalyzedText& analyze(std::string_view text);

  /// The distinct terms of a query, in order of first occurrence; empty when it has stop words
  /// alone.
  std::vector<QueryTerm> query(std::string_view text);

  /// The stem of one folded word, as analyze() makes it.
  std::string stem(std::string_view word);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What two texts have in common when they say the same: folded, white space runs as one blank,
/// ends trimmed; and what recall puts around a text in its answers removed: a leading "- " bullet
/// and the trailing " [type]", " (time)", " (id: ...)" of a bullet. Used for recognising exact
/// repeats.
std::string normalized(std::string_view text);

/// True when `text` is the text form of a whole recall answer ("Found 3 relevant memories (as of
/// ...):", an empty line, bullets); `bullets` then holds each bullet's line(s), unchanged.
bool is_recall_output(std::string_view text, std::vector<std::string_view>* bullets = nullptr);

/// Damerau-Levenshtein distance by code points (optimal string alignment), at most `limit` + 1.
unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit);

}  // namespace strongroom::recall
