// Text to the tokens of a language model: BERT's tokeniser, as its models were trained with.
//
// Control characters are dropped, white space separates, ideographs and punctuation are words of
// their own; accents and case go, if the model wants that. Each word is cut from the left into the
// longest pieces that the vocabulary has; a word that cannot be cut so is unknown. The tokens are
// those of the implementation that models are trained with (Hugging Face's tokenizers), except for
// names of special tokens, which are text like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall {

/// Tokens by number. A view: the bytes live as long as what was made from it.
struct Vocabulary {
  std::string_view offsets;      // little-endian u32, ascending, one more than there are tokens
  std::string_view text;         // of all tokens; a piece that continues a word starts with "##"
  std::string_view lookup = {};  // what WordPiece::lookup() once was for these tokens; or empty
};

struct WordPieceOptions {
  bool lower_case = true;
  bool strip_accents = true;
  std::uint32_t unknown;          // what stands for an unknown word, or kNoToken
  std::size_t most_pieces = 100;  // a word of more is unknown
};

inline constexpr std::uint32_t kNoToken = 0xFFFFFFFF;
inline constexpr std::size_t kMaxVocabulary = (1u << 20) - 2;

/// Holds nothing of the texts; any number of threads at a time.
class WordPiece {
 public:
  /// Takes well under a millisecond for 30,000 tokens, and next to nothing with their lookup, which
  /// is believed: a wrong one makes other tokens, and nothing worse. Throws Error invalid when the
  /// vocabulary is malformed, too large, or has an empty token or, without lookup, one twice.
  WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options);
  WordPiece(const WordPiece&) = delete;
  WordPiece& operator=(const WordPiece&) = delete;
  WordPiece(WordPiece&&) = default;
  WordPiece& operator=(WordPiece&&) = default;
  ~WordPiece() = default;

  /// Replaces `ids` by the first `max_tokens` of `text`. Unknown words count, unless there is no
  /// token for them. What is no UTF-8 is dropped. `ids` grows to at most `max_tokens` +
  /// kMostPieces, so a caller that wipes it can reserve that.
  void tokenize(std::string_view text, std::size_t max_tokens,
                std::vector<std::uint32_t>& ids) const;

  static constexpr std::size_t kMostPieces = 100;  // of a word

  std::size_t size() const noexcept { return size_; }

  /// The text of a token that exists.
  std::string_view token(std::uint32_t id) const noexcept;

  /// The tables by which tokens are found, to be kept with the vocabulary; as long as this lives.
  std::string_view lookup() const noexcept { return lookup_; }
  static std::size_t lookup_bytes(std::size_t tokens) noexcept;

 private:
  struct Word;
  struct Piece {
    std::uint32_t id;
    std::size_t size;  // 0: there is none
  };
  struct Key;

  void check_offsets() const;
  void make_lookup();
  void insert(std::uint32_t id);
  std::uint32_t slot(std::size_t at) const noexcept;
  std::uint32_t lengths(std::uint64_t prefix_hash) const noexcept;
  bool is_token(std::uint32_t slot, const Key& key) const noexcept;
  std::uint32_t find(const Key& key) const noexcept;
  Piece longest_piece(Word& word, std::size_t start) const noexcept;
  void append_pieces(Word& word, std::vector<std::uint32_t>& ids) const;
  std::size_t take_ascii(std::string_view text, Word& word, std::vector<std::uint32_t>& ids) const;
  std::size_t take_character(std::string_view text, Word& word,
                             std::vector<std::uint32_t>& ids) const;
  void take_point(std::int32_t point, Word& word, std::vector<std::uint32_t>& ids) const;
  void take_folded(std::int32_t point, Word& word, std::vector<std::uint32_t>& ids) const;

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  std::size_t size_;
  std::size_t slots_;  // a power of two
  unsigned shift_;     // what is left of a hash is the number of a slot
  // Little-endian u32. First the slots, by open addressing: the upper 12 bits of the lower half of
  // a token's hash, and its number + 1; 0 is free. Then an eighth as many sets of lengths, by a
  // hash of the first kPrefix bytes: bit n, there may be a token of n bytes that starts so; bit 31,
  // of 31 or more; bit 0 unused. Most lengths are ruled out without a look at the slots.
  std::string_view lookup_;
  std::vector<char> made_;  // lookup_, unless it was given
};

}  // namespace strongroom::recall
