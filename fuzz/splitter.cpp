// Documents into chunks and memories into passages; the first byte chooses the longest.
#include "recall/splitter.h"

#include <algorithm>
#include <string>

#include "fuzz/fuzz.h"
#include "recall/tokens.h"

using namespace strongroom;
using recall::Span;

namespace {

constexpr std::size_t kLongestGap = 64;
constexpr std::uint64_t kLimits[] = {1, 2, 3, 7, 16, 40, 256, 2000};

bool space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), space);
}

void check_part(std::string_view text, const Span& span, std::uint64_t most) {
  fuzz::require(span.offset <= text.size() && span.size <= text.size() - span.offset,
                "a part is inside the text");
  const std::string_view part = text.substr(span.offset, span.size);
  fuzz::require(valid_utf8(part), "no cut is inside a code point");
  fuzz::require(recall::count_tokens(part) <= most, "a part has its size");
}

void check_chunks(std::string_view text, std::uint64_t most) {
  const auto spans = recall::split_document(text, most);
  if (blank(text)) {
    fuzz::require(spans.empty(), "white space alone is no chunk");
    return;
  }
  std::size_t at = 0;
  const auto check_gap = [&](std::size_t end) {
    fuzz::require(end >= at && end - at <= kLongestGap && blank(text.substr(at, end - at)),
                  "a gap is short white space");
  };
  for (const Span& span : spans) {
    check_part(text, span, most);
    fuzz::require(span.size > 0, "a chunk has text");
    check_gap(span.offset);
    at = span.end();
  }
  check_gap(text.size());
}

void check_passages(std::string_view text, std::uint64_t most) {
  const auto spans = recall::split_passages(text, most);
  fuzz::require(!spans.empty(), "a text has a passage");
  if (recall::count_tokens(text) <= most) fuzz::require(spans.size() == 1, "what fits is whole");
  for (std::size_t i = 0; i < spans.size(); ++i) {
    check_part(text, spans[i], most);
    if (i == 0) continue;
    fuzz::require(spans[i].offset > spans[i - 1].offset && spans[i].offset <= spans[i - 1].end() &&
                      spans[i].end() > spans[i - 1].end(),
                  "passages go on and leave nothing out");
  }
  fuzz::require(spans.front().offset == 0 && spans.back().end() == text.size(),
                "passages cover the text");
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const std::uint64_t most = kLimits[static_cast<unsigned char>(input.front()) % 8];
  input.remove_prefix(1);
  const std::string text = fuzz::valid_text(input);
  check_chunks(text, most);
  check_passages(text, most);
}
