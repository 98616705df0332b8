#include "embed/server_words.h"

#include <algorithm>

#include "base/utf8.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxBytes = 200;
constexpr std::size_t kTelling = 4;  // bytes in a row that are no chance
constexpr std::string_view kOmitted = "…";

// Alone or in a row they say nothing that a failure would not say anyway.
constexpr std::string_view kUsual =
    " a an and api array at authentication bad batch be but by cannot content context "
    "could denied disabled does embed embedding embeddings empty endpoint error exceed "
    "exceeded exceeds exist expected failed field first for forbidden found from gateway "
    "has in incorrect input inputs internal invalid is it json key large length limit "
    "load loaded loading long many max maximum memory method missing model models must no "
    "not of on or out overloaded path please process provided pull pulling quota rate "
    "reached request requests required resource runner server service size strings "
    "support supported than that the this to token tokens too try type unauthorized "
    "unavailable unexpected unknown unsupported url valid was with you ";

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

bool usual(std::string_view word) {
  std::string small = " " + std::string(word) + " ";
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return kUsual.find(small) != std::string_view::npos;
}

bool hex_digit(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = lower(text[at]);
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Where the first escape is; the size of the text when there is none.
std::size_t find_escape(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') return i;
    if (text[i] == '%' && hex_digit(text, i + 1) && hex_digit(text, i + 2)) return i;
  }
  return text.size();
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

bool repeats(std::string_view said, std::span<const std::string_view> sent) {
  const std::size_t window = std::min(said.size(), kTelling);
  for (std::size_t at = 0; at + window <= said.size(); ++at) {
    const std::string_view part = said.substr(at, window);
    const bool found = std::any_of(sent.begin(), sent.end(),
                                   [&](std::string_view text) { return holds(text, part); });
    if (found) return true;
  }
  return false;
}

std::string server_words(std::string_view said, std::span<const std::string_view> sent) {
  said = utf8_prefix(said, kMaxBytes);
  const std::size_t plain = find_escape(said);
  const bool escaped = plain < said.size();
  said = said.substr(0, plain);
  std::string out;
  std::string between;  // what stands behind the latest word
  bool omitted = false;
  while (!said.empty()) {
    const std::size_t length = word_length(said);
    const std::string_view part = said.substr(0, std::max<std::size_t>(length, 1));
    said.remove_prefix(part.size());
    if (length == 0) {
      between.append(part);
      continue;
    }
    const bool omit = !usual(part) && repeats(part, sent);
    const bool in_a_row = omit && omitted && between.find_first_not_of(' ') == std::string::npos;
    if (!in_a_row) out.append(between).append(omit ? kOmitted : part);
    between.clear();
    omitted = omit;
  }
  out.append(between);
  if (escaped && !out.ends_with(kOmitted)) out.append(kOmitted);
  return escape_for_display(out);
}

}  // namespace strongroom::embed
