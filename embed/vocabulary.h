// The vocabulary of a BERT: vocab.txt, a token a line, or the WordPiece part of tokenizer.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recall/wordpiece.h"

namespace strongroom::embed {

struct BertVocabulary {
  std::string offsets, text;                      // as recall::Vocabulary wants them
  std::uint32_t unknown = 0, start = 0, end = 0;  // [UNK], [CLS], [SEP]
  std::size_t size = 0;
  std::optional<bool> lower_case;  // tokenizer.json says it

  recall::Vocabulary view() const noexcept { return {offsets, text}; }
};

/// Both throw Error naming `file`: invalid when it is malformed, has a token twice or an empty one,
/// or lacks a special token; unsupported for tokenisers of another kind.
BertVocabulary read_vocab_txt(std::string_view bytes, std::string_view file);
BertVocabulary read_tokenizer_json(std::string_view bytes, std::string_view file);

}  // namespace strongroom::embed
