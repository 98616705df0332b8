#include "recall/splitter.h"

#include <algorithm>
#include <array>

#include "recall/fences.h"
#include "recall/tokens.h"
#include "recall/word_break.h"

namespace strongroom::recall {

namespace {

constexpr std::size_t kLongestGap = 64;

// Tokens, counted as a text grows.
class Counter {
 public:
  void add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    ascii_ += byte < 0x80 ? 1 : 0;
    others_ += byte >= 0xC0 ? 1 : 0;
  }
  std::uint64_t tokens() const { return (ascii_ + 3) / 4 + others_; }

 private:
  std::uint64_t ascii_ = 0;
  std::uint64_t others_ = 0;
};

bool continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The end of the code point at `at`.
std::size_t next_point(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && continuation(text[at])) ++at;
  return at;
}

// The end of the longest text from `begin` on that has at most `max_tokens`; one code point at
// least, so that there is progress.
std::size_t window_end(std::string_view text, std::size_t begin, std::uint64_t max_tokens) {
  Counter counter;
  std::size_t at = begin;
  while (at < text.size()) {
    counter.add(text[at]);
    if (counter.tokens() > max_tokens && at != begin) break;
    at = next_point(text, at);
  }
  return at;
}

// The size of the white space from `at` on, at most one more than a gap may have.
std::size_t space_at(std::string_view text, std::size_t at) {
  std::size_t size = 0;
  while (size <= kLongestGap && at + size < text.size() && ascii_space(text[at + size])) ++size;
  return size;
}

// Where the text that begins at `at` or after a gap there really begins.
std::size_t skip_gap(std::string_view text, std::size_t at) {
  const std::size_t size = space_at(text, at);
  return size <= kLongestGap ? at + size : at;
}

bool ends_sentence(std::string_view text) {
  while (!text.empty() && std::string_view("\"')]*_").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  if (text.empty()) return false;
  if (std::string_view(".!?").find(text.back()) != std::string_view::npos) return true;
  // Ideographic full stop, full-width marks, ellipsis, danda.
  constexpr std::array<std::string_view, 5> kMarks = {"\u3002", "\uFF01", "\uFF1F", "\u2026",
                                                      "\u0964"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](auto mark) { return text.ends_with(mark); });
}

std::string_view line_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLooked = 128;  // enough to know a heading
  const std::string_view start = text.substr(at, kLooked);
  return start.substr(0, start.find('\n'));
}

bool markdown_heading(std::string_view line) {
  const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
  return marks >= 1 && marks <= 6 && (marks == line.size() || ascii_space(line[marks]));
}

// A line of capitals above indented text: how manual pages name their sections.
bool manual_heading(std::string_view text, std::size_t at) {
  const std::string_view line = line_at(text, at);
  constexpr std::size_t kLongest = 60;
  const auto other = [](char c) { return !((c >= 'A' && c <= 'Z') || c == ' ' || c == '-'); };
  if (line.size() < 2 || line.size() > kLongest || std::any_of(line.begin(), line.end(), other)) {
    return false;
  }
  const std::string_view below = text.substr(at + line.size(), 3);
  return line.front() != ' ' && line.front() != '-' && below.size() == 3 &&
         (below[1] == ' ' || below[1] == '\t');
}

bool list_item(std::string_view line) {
  if (line.size() < 2) return false;
  const char first = line[0];
  if (first == '-' || first == '*' || first == '+') return line[1] == ' ';
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits >= 1 && digits <= 9 && digits + 1 < line.size() &&
         (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
}

// Where a text may be cut, best first.
enum Level : std::size_t { kHeading, kParagraph, kItem, kLine, kSentence, kWord, kLevels };

// The level of the white space between `end` and `next`.
Level level_of(std::string_view text, std::size_t end, std::size_t next) {
  const auto gap = text.substr(end, next - end);
  const auto lines = std::count(gap.begin(), gap.end(), '\n');
  if (lines == 0) return ends_sentence(text.substr(0, end)) ? kSentence : kWord;
  const std::string_view line = line_at(text, next);
  const bool indented = gap.back() == ' ' || gap.back() == '\t';
  if (markdown_heading(line) || (!indented && manual_heading(text, next))) return kHeading;
  if (lines > 1) return kParagraph;
  return list_item(line) ? kItem : kLine;
}

struct Cut {
  std::size_t end = 0;   // of what is before
  std::size_t next = 0;  // where what is after begins
  std::uint64_t tokens = 0;
  bool found() const { return end != 0; }
};

class DocumentSplitter {
 public:
  DocumentSplitter(std::string_view text, std::uint64_t max_tokens)
      : text_(text), max_(std::max<std::uint64_t>(max_tokens, 1)), fences_(find_fences(text)) {}

  std::vector<Span> split() {
    std::vector<Span> out;
    std::size_t begin = skip_gap(text_, 0);
    while (begin < text_.size()) {
      const Cut cut = cut_after(begin);
      out.push_back({begin, cut.end - begin});
      begin = cut.next;
    }
    return out;
  }

 private:
  Cut cut_after(std::size_t begin);
  void scan(std::size_t begin, std::size_t end);
  bool offer(std::size_t end, std::size_t next, std::uint64_t tokens);
  Cut best(std::size_t begin, std::size_t end);
  const Fence* fence_around(std::size_t at);

  std::string_view text_;
  std::uint64_t max_;
  std::vector<Fence> fences_;
  std::size_t fence_ = 0;             // the first that may end after where we are
  std::array<Cut, kLevels> last_{};   // in this window, of each level
  std::array<Cut, kLevels> roomy_{};  // the same, with enough before it
  Cut heading_;                       // begins a new chunk
};

// The fence that `at` is inside of. Positions ascend, but for those of one window.
const Fence* DocumentSplitter::fence_around(std::size_t at) {
  const auto after = std::upper_bound(
      fences_.begin() + static_cast<std::ptrdiff_t>(fence_), fences_.end(), at,
      [](std::size_t position, const Fence& fence) { return position < fence.end; });
  return after != fences_.end() && after->begin < at ? &*after : nullptr;
}

// Takes note of a place for a cut; true when it is a heading that begins a new chunk.
bool DocumentSplitter::offer(std::size_t end, std::size_t next, std::uint64_t tokens) {
  Level level = next == end ? kWord : level_of(text_, end, next);
  if (const Fence* const fence = fence_around(next)) {
    if (fence->tokens <= max_) return false;
    level = level == kWord || level == kSentence ? kWord : kLine;
  }
  const Cut cut{end, next, tokens};
  if (level == kHeading && tokens >= (max_ + 3) / 4) {
    heading_ = cut;
    return true;
  }
  if (level == kHeading) level = kParagraph;
  last_[level] = cut;
  if (tokens >= max_ / 8) roomy_[level] = cut;
  return false;
}

void DocumentSplitter::scan(std::size_t begin, std::size_t end) {
  Counter counter;
  for (std::size_t at = begin; at < end;) {
    if (!ascii_space(text_[at])) {
      counter.add(text_[at]);
      ++at;
      if (at < text_.size() && !ascii_space(text_[at])) continue;
    }
    if (at >= text_.size()) return;
    const std::size_t size = space_at(text_, at);
    const bool gap = size <= kLongestGap;
    if (at > begin && offer(at, gap ? at + size : at, counter.tokens())) return;
    const std::size_t stop = gap ? std::min(at + size, end) : end;
    for (; at < stop && ascii_space(text_[at]); ++at) counter.add(text_[at]);
    if (!gap && at < end && offer(at, at, counter.tokens())) return;
  }
}

// The best of the places seen. A cut that leaves little before it is taken only where there is no
// other, so that a heading stays with what is below it.
Cut DocumentSplitter::best(std::size_t begin, std::size_t end) {
  // A code block that fits into a chunk is not begun in one where it does not end.
  const Fence* const fence = end < text_.size() ? fence_around(end) : nullptr;
  if (fence != nullptr && fence->begin > begin && fence->tokens <= max_) {
    std::size_t stop = fence->begin;
    while (stop > begin && ascii_space(text_[stop - 1]) && fence->begin - stop < kLongestGap)
      --stop;
    if (stop > begin) return {stop, fence->begin, 0};
  }
  for (const auto& cuts : {roomy_, last_}) {
    for (const Cut& cut : cuts) {
      if (cut.found()) return cut;
    }
  }
  return {end, skip_gap(text_, end), 0};
}

Cut DocumentSplitter::cut_after(std::size_t begin) {
  while (fence_ < fences_.size() && fences_[fence_].end <= begin) ++fence_;
  last_ = {};
  roomy_ = {};
  heading_ = {};
  const std::size_t end = window_end(text_, begin, max_);
  scan(begin, end);
  if (heading_.found()) return heading_;
  if (skip_gap(text_, end) < text_.size()) return best(begin, end);
  // The rest fits; what white space it ends with is a gap where that is short enough.
  std::size_t stop = end;
  while (stop > begin && end - stop <= kLongestGap && ascii_space(text_[stop - 1])) --stop;
  if (stop == begin || text_.size() - stop > kLongestGap) stop = end;
  return {stop, text_.size(), 0};
}

bool blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), ascii_space);
}

}  // namespace

std::vector<Span> split_document(std::string_view text, std::uint64_t max_tokens) {
  if (blank(text)) return {};
  return DocumentSplitter(text, max_tokens).split();
}

namespace {

// A place between words: 2 after a sentence or a line, 1 after other white space, 0 for none.
int passage_break(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size() || !ascii_space(text[at - 1]) || ascii_space(text[at])) return 0;
  std::size_t stop = at;
  while (stop > 0 && at - stop <= kLongestGap && ascii_space(text[stop - 1])) --stop;
  const auto gap = text.substr(stop, at - stop);
  return gap.find('\n') != std::string_view::npos || ends_sentence(text.substr(0, stop)) ? 2 : 1;
}

// The last break of a good kind between `from` and `to`, else the last of any, else `otherwise`.
std::size_t last_break(std::string_view text, std::size_t from, std::size_t to,
                       std::size_t otherwise) {
  std::size_t word = otherwise;
  for (std::size_t at = to; at > from; --at) {
    const int kind = passage_break(text, at);
    if (kind == 2) return at;
    if (kind == 1 && word == otherwise) word = at;
  }
  return word;
}

// The position that has `tokens` between it and `end`, not before `begin`.
std::size_t back(std::string_view text, std::size_t begin, std::size_t end, std::uint64_t tokens) {
  Counter counter;
  std::size_t at = end;
  for (std::size_t i = end; i > begin; --i) {
    counter.add(text[i - 1]);
    if (counter.tokens() > tokens) break;
    if (!continuation(text[i - 1])) at = i - 1;
  }
  return at;
}

}  // namespace

std::vector<Span> split_passages(std::string_view text, std::uint64_t max_tokens) {
  const std::uint64_t most = std::max<std::uint64_t>(max_tokens, 1);
  std::vector<Span> out;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t limit = window_end(text, begin, most);
    if (limit == text.size()) break;
    const std::size_t middle = back(text, begin, limit, most / 2);
    const std::size_t end = last_break(text, middle, limit, limit);
    out.push_back({begin, end - begin});
    // The next one repeats an eighth, from the start of a sentence or word near there.
    const std::size_t near = back(text, begin, end, most / 8);
    const std::size_t far = back(text, begin, near, most / 8);
    const std::size_t next = last_break(text, far, near, near);
    begin = next > begin ? next : end;
  }
  out.push_back({begin, text.size() - begin});
  return out;
}

}  // namespace strongroom::recall
