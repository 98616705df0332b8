#include "embed/server_words.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxBytes = 200;
constexpr std::size_t kTelling = 6;  // bytes in a row that are no chance
constexpr std::string_view kOmitted = "…";

// Sorted. Alone or in a row they say nothing that a failure would not say anyway.
constexpr std::array kUsual = std::to_array<std::string_view>({"a",
                                                               "an",
                                                               "and",
                                                               "api",
                                                               "array",
                                                               "at",
                                                               "authentication",
                                                               "bad",
                                                               "batch",
                                                               "be",
                                                               "but",
                                                               "by",
                                                               "cannot",
                                                               "content",
                                                               "context",
                                                               "could",
                                                               "denied",
                                                               "disabled",
                                                               "does",
                                                               "embed",
                                                               "embedding",
                                                               "embeddings",
                                                               "empty",
                                                               "endpoint",
                                                               "error",
                                                               "exceed",
                                                               "exceeded",
                                                               "exceeds",
                                                               "exist",
                                                               "expected",
                                                               "failed",
                                                               "field",
                                                               "first",
                                                               "for",
                                                               "forbidden",
                                                               "found",
                                                               "from",
                                                               "gateway",
                                                               "has",
                                                               "in",
                                                               "incorrect",
                                                               "input",
                                                               "inputs",
                                                               "internal",
                                                               "invalid",
                                                               "is",
                                                               "it",
                                                               "json",
                                                               "key",
                                                               "large",
                                                               "length",
                                                               "limit",
                                                               "load",
                                                               "loaded",
                                                               "loading",
                                                               "long",
                                                               "many",
                                                               "max",
                                                               "maximum",
                                                               "memory",
                                                               "method",
                                                               "missing",
                                                               "model",
                                                               "models",
                                                               "must",
                                                               "no",
                                                               "not",
                                                               "of",
                                                               "on",
                                                               "or",
                                                               "out",
                                                               "overloaded",
                                                               "path",
                                                               "please",
                                                               "process",
                                                               "provided",
                                                               "pull",
                                                               "pulling",
                                                               "quota",
                                                               "rate",
                                                               "reached",
                                                               "request",
                                                               "requests",
                                                               "required",
                                                               "resource",
                                                               "runner",
                                                               "server",
                                                               "service",
                                                               "size",
                                                               "strings",
                                                               "support",
                                                               "supported",
                                                               "than",
                                                               "that",
                                                               "the",
                                                               "this",
                                                               "to",
                                                               "token",
                                                               "tokens",
                                                               "too",
                                                               "try",
                                                               "type",
                                                               "unauthorized",
                                                               "unavailable",
                                                               "unexpected",
                                                               "unknown",
                                                               "unsupported",
                                                               "url",
                                                               "valid",
                                                               "was",
                                                               "with",
                                                               "you"});

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ascii_word(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

bool holds(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool was_sent(std::string_view word, std::span<const std::string_view> sent) {
  const std::size_t window = std::min(word.size(), kTelling);
  for (std::size_t at = 0; at + window <= word.size(); ++at) {
    const std::string_view part = word.substr(at, window);
    const bool found = std::any_of(sent.begin(), sent.end(),
                                   [&](std::string_view text) { return holds(text, part); });
    if (found) return true;
  }
  return false;
}

bool usual(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return std::binary_search(kUsual.begin(), kUsual.end(), small);
}

// The length of the word at the start; 0 at what stands between words.
std::size_t word_length(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) >= 0x80) {
    return std::max<std::size_t>(utf8_sequence(text), 1);
  }
  std::size_t length = 0;
  while (length < text.size() && ascii_word(text[length])) ++length;
  return length;
}

}  // namespace

std::string server_words(std::string_view said, std::span<const std::string_view> sent) {
  static_assert(std::is_sorted(kUsual.begin(), kUsual.end()));
  said = utf8_prefix(said, kMaxBytes);
  std::string out;
  while (!said.empty()) {
    const std::size_t length = word_length(said);
    const std::string_view part = said.substr(0, std::max<std::size_t>(length, 1));
    said.remove_prefix(part.size());
    if (length == 0 || usual(part) || !was_sent(part, sent)) {
      out.append(part);
    } else if (!out.ends_with(kOmitted) && !out.ends_with(std::string(kOmitted) + " ")) {
      out.append(kOmitted);
    }
  }
  return escape_for_display(out);
}

}  // namespace strongroom::embed
