// Cutting long texts: documents into chunks that become memories, memories into passages that
// become rows of the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall {

inline constexpr std::uint64_t kMaxMemoryTokens = 2000;  // longer content is a document
inline constexpr std::uint64_t kChunkTokens = 256;       // of a document's chunk, at most
inline constexpr std::uint64_t kPassageTokens = 256;     // of an index row, at most

/// A part of a text, in bytes. Cuts are never inside a code point.
struct Span {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t end() const { return offset + size; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// Cuts a document on structure: before Markdown headings, between paragraphs, list items, lines,
/// sentences, words, in that order of preference; fenced code blocks stay whole where they fit; a
/// run without any of these is cut between code points. Chunks do not overlap, ascend, and only
/// white space lies between, before and after them, so that the document is its chunks and the
/// gaps. A chunk has at most `max_tokens`; small neighbours are joined while they fit, but a
/// heading begins a new chunk unless the one before has less than a quarter of `max_tokens`. A gap
/// is at most 64 bytes; longer runs of white space are part of a chunk. Empty for a text of white
/// space alone. White space is ASCII's. Linear time: texts are up to 16 MiB.
std::vector<Span> split_document(std::string_view text, std::uint64_t max_tokens = kChunkTokens);

/// Cuts a memory into passages of at most `max_tokens` that overlap by about an eighth, on sentence
/// or word boundaries; one span of the whole text when it fits. They cover the text.
std::vector<Span> split_passages(std::string_view text, std::uint64_t max_tokens = kPassageTokens);

}  // namespace strongroom::recall
