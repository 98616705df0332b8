#include "recall/fences.h"

#include <algorithm>

#include "recall/tokens.h"

namespace strongroom::recall {

namespace {

struct Marks {
  char mark = 0;
  std::size_t count = 0;
  bool closing = false;  // nothing follows them
};

Marks marks_of(std::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const std::size_t count = std::min(line.find_first_not_of(line[0]), line.size());
  if (count < 3) return {};
  const std::string_view rest = line.substr(count);
  // `code` on one line is no block.
  if (line[0] == '`' && rest.find('`') != std::string_view::npos) return {};
  return {line[0], count, rest.find_first_not_of(" \t\r") == std::string_view::npos};
}

}  // namespace

std::vector<Fence> find_fences(std::string_view text) {
  std::vector<Fence> out;
  Marks open;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::size_t start = std::min(text.find_first_not_of(" \t", at), stop);
    const Marks marks = marks_of(text.substr(start, stop - start));
    if (marks.count != 0 && open.count == 0) {
      open = marks;
      begin = start;
    } else if (open.count != 0 && marks.mark == open.mark && marks.closing &&
               marks.count >= open.count) {
      out.push_back({begin, stop, count_tokens(text.substr(begin, stop - begin))});
      open = {};
    }
    at = stop + 1;
  }
  if (open.count != 0) out.push_back({begin, text.size(), count_tokens(text.substr(begin))});
  return out;
}

}  // namespace strongroom::recall
