// Distances of words against a plain table: limit, word NUL word.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "recall/analyzer.h"

using namespace strongroom;

namespace {

std::vector<std::string_view> points(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    out.push_back(text.substr(0, utf8_sequence(text)));
    text.remove_prefix(out.back().size());
  }
  return out;
}

unsigned slow_distance(std::string_view left, std::string_view right) {
  const auto a = points(left), b = points(right);
  std::vector<std::vector<unsigned>> d(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<unsigned>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const unsigned changed = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty() || input.size() > 300) return;
  const unsigned limit = static_cast<unsigned char>(input.front()) % 5;
  input.remove_prefix(1);
  const std::string left = fuzz::valid_text(fuzz::take_part(input));
  const std::string right = fuzz::valid_text(input);
  const unsigned expected = std::min(slow_distance(left, right), limit + 1);
  fuzz::require(recall::edit_distance(left, right, limit) == expected, "a distance is the table's");
  fuzz::require(recall::edit_distance(right, left, limit) == expected, "a distance has two sides");
}
