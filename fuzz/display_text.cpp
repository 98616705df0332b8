// Everything that shows text of unknown origin: quoting, escaping, cutting.
#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  const std::string quoted = json_quoted(input);
  const Json json = Json::parse(quoted);
  fuzz::require(json.is_string(), "a quoted text is a JSON string");
  if (valid_utf8(input)) fuzz::require(json.as_string() == input, "quoting keeps the text");
  const std::string shown = escape_for_display(input);
  fuzz::require(valid_utf8(shown), "shown text is UTF-8");
  fuzz::require(escape_for_display(shown) == shown, "nothing is left to escape");
  fuzz::require(std::none_of(shown.begin(), shown.end(),
                             [](char c) { return static_cast<unsigned char>(c) < 0x20; }),
                "shown text has no control character");
  for (std::size_t limit = 0; limit <= std::min<std::size_t>(input.size() + 1, 8); ++limit) {
    const std::string_view prefix = utf8_prefix(input, limit);
    fuzz::require(prefix.size() <= limit, "a prefix keeps its limit");
    if (valid_utf8(input)) fuzz::require(valid_utf8(prefix), "a prefix cuts no sequence");
  }
  fuzz::require(utf8_whole_length(input) <= input.size(), "the whole part is a part");
}
