#include "recall/names.h"

#include <algorithm>
#include <array>

namespace strongroom::recall {

namespace {

using Kind = NamePart::Kind;

// .NET, .gitignore and __init__ begin with their punctuation; where `begin` then is.
std::size_t with_prefix(const Run& run, std::size_t begin) {
  const auto bare = [&](std::size_t i) {
    return i == 0 || (run.kinds[i - 1] & (kJoins | kInWord)) == 0;
  };
  if (begin >= 1 && run.text[begin - 1] == '.' && bare(begin - 1) &&
      (run.kinds[begin] & kLetter) != 0) {
    return begin - 1;
  }
  if (begin >= 2 && run.text.substr(begin - 2, 2) == "__" && bare(begin - 2)) return begin - 2;
  return begin;
}

// C++ and C# end with theirs; where the word from `begin` to `end` then ends.
std::size_t with_suffix(const Run& run, std::size_t begin, std::size_t end) {
  const std::string_view rest = run.text.substr(end);
  if ((run.kinds[end - 1] & (kLetter | kFollows)) == 0) return end;
  if (rest.starts_with("++") && !rest.starts_with("+++")) return end + 2;
  if (rest.starts_with('#') && end - begin == 1) return end + 1;
  return end;
}

// Where the word ends without 's, 'll and the like; `begin` for don't and its kind, which are stop
// words as a whole.
std::size_t without_clitic(std::string_view text, std::size_t begin, std::size_t end) {
  std::array<char, 3> tail{};
  const std::size_t size = std::min(tail.size(), end - begin);
  for (std::size_t i = 0; i < size; ++i) {
    const char c = text[end - size + i];
    tail[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  const std::string_view ending(tail.data(), size);
  if (ending.find('\'') == std::string_view::npos) return end;
  if (ending == "n't") return begin;
  for (const std::string_view clitic : {"'s", "'m", "'d", "'ll", "'re", "'ve"}) {
    if (ending.ends_with(clitic) && end - begin > clitic.size()) return end - clitic.size();
  }
  return end;
}

bool hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Whether a hump of a name like BankStore or ed25519 begins at `at`, a letter or digit; `before` is
// the class of the letter or digit before it, or 0.
bool border(const Run& run, std::size_t at, std::size_t end, CharClass before) {
  const CharClass here = run.kinds[at];
  if (before == 0) return false;
  if ((before & kDigit) != (here & kDigit)) return true;
  if ((here & kUpper) == 0) return false;
  if ((before & kLower) != 0) return true;
  // HTTPServer is HTTP and Server, but URLs is one word.
  std::size_t next = at + 1;
  while (next < end && (run.kinds[next] & kFollows) != 0) ++next;
  if (next >= end || (run.kinds[next] & kLower) == 0 || (before & kUpper) == 0) return false;
  return next + 1 < end && (run.kinds[next + 1] & kInWord) != 0;
}

// What there is to know of a range before it is split.
struct Shape {
  CharClass all = 0;
  std::size_t borders = 0;
  bool hex = true;
};

Shape shape_of(const Run& run, std::size_t begin, std::size_t end) {
  Shape shape;
  CharClass before = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const CharClass kind = run.kinds[i];
    shape.all |= kind;
    shape.hex = shape.hex && hex_digit(run.text[i]);
    if ((kind & kFollows) != 0) continue;
    if ((kind & kAlnum) != 0 && border(run, i, end, before)) ++shape.borders;
    before = kind & kAlnum;
  }
  return shape;
}

class Splitter {
 public:
  Splitter(const Run& run, std::vector<NamePart>& out) : run_(run), out_(out) {}

  // The whole is in `out` already.
  void split(std::size_t begin, std::size_t end) {
    const std::size_t most = kMaxNameParts + 1;
    for (std::size_t at = begin; at < end && out_.size() < most;) {
      std::size_t stop = at;
      while (stop < end && (run_.kinds[stop] & kJoin) == 0) ++stop;
      outer(at, stop, begin, end);
      at = stop + 1;
    }
    if (out_.size() > most) out_.resize(most);
  }

 private:
  bool full() const { return out_.size() > kMaxNameParts; }

  // Between the separators of paths and addresses: names of their own.
  void outer(std::size_t begin, std::size_t end, std::size_t all_begin, std::size_t all_end) {
    const bool alone = begin == all_begin && end == all_end;
    while (begin < end && (run_.kinds[begin] & kAlnum) == 0) ++begin;
    while (begin < end && (run_.kinds[end - 1] & kInWord) == 0) --end;
    const bool several = word_end(begin, end) < end;
    if (several && !alone) out_.push_back({begin, end, Kind::kWhole});
    for (std::size_t at = begin; at < end && !full();) {
      const std::size_t stop = word_end(at, end);
      inner(at, stop, alone && !several, all_end);
      at = stop;
      while (at < end && (run_.kinds[at] & kAlnum) == 0) ++at;
    }
  }

  std::size_t word_end(std::size_t at, std::size_t end) const {
    while (at < end && (run_.kinds[at] & (kInWord | kApostrophe)) != 0) ++at;
    return at;
  }

  // Between all joining punctuation. `alone`: there is nothing else in the name but punctuation.
  void inner(std::size_t begin, std::size_t end, bool alone, std::size_t all_end) {
    const std::size_t suffixed = with_suffix(run_, begin, end);
    if (suffixed != end && suffixed <= all_end && !alone) {
      out_.push_back({begin, suffixed, Kind::kWhole});
    }
    const Shape shape = shape_of(run_, begin, end);
    if (shape.borders == 0) return word(begin, end);
    if (!alone) out_.push_back({begin, end, Kind::kWhole});
    if ((shape.all & kDigit) == 0) out_.push_back({begin, end, Kind::kCamel});
    // The digits and letters of a hash mean nothing apart.
    if (shape.hex && end - begin >= 7 && shape.borders >= 2) return;
    humps(begin, end);
  }

  void humps(std::size_t begin, std::size_t end) {
    CharClass before = 0;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end && !full(); ++i) {
      if ((run_.kinds[i] & kFollows) != 0) continue;
      if ((run_.kinds[i] & kAlnum) != 0 && border(run_, i, end, before)) {
        word(from, i);
        from = i;
      }
      before = run_.kinds[i] & kAlnum;
    }
    if (!full()) word(from, end);
  }

  // A single letter is no part.
  void word(std::size_t begin, std::size_t end) {
    end = without_clitic(run_.text, begin, end);
    if (end == begin) return;
    const bool number = (run_.kinds[begin] & kDigit) != 0;
    std::size_t after = begin + 1;
    while (after < end && (run_.kinds[after] & kFollows) != 0) ++after;
    if (number || after < end) out_.push_back({begin, end, number ? Kind::kNumber : Kind::kWord});
  }

  const Run& run_;
  std::vector<NamePart>& out_;
};

}  // namespace

std::size_t name_end(const Run& run, std::size_t at) {
  const std::size_t size = run.text.size();
  for (;;) {
    while (at < size && (run.kinds[at] & kInWord) != 0) ++at;
    std::size_t next = at;
    CharClass between = 0;
    for (; next < size && (run.kinds[next] & (kJoins | kApostrophe)) != 0; ++next) {
      between |= run.kinds[next];
    }
    if (next == at || next == size || (run.kinds[next] & kAlnum) == 0) return at;
    const bool one = next - at == 1;
    if ((between & kApostrophe) != 0 && !one) return at;
    const bool digits = one && (run.kinds[at - 1] & run.kinds[next] & kDigit) != 0;
    if ((between & kComma) != 0 && !digits) return at;
    at = next;
  }
}

std::size_t split_name(const Run& run, std::size_t begin, std::size_t end,
                       std::vector<NamePart>& parts) {
  parts.clear();
  const std::size_t after = end;
  end = without_clitic(run.text, begin, end);
  if (end == begin) return after;
  const std::size_t first = with_prefix(run, begin);
  std::size_t last = end;
  if (end == after) {
    const bool dunder = begin - first == 2 && run.text.substr(end).starts_with("__");
    last = dunder ? end + 2 : with_suffix(run, begin, end);
  }
  const Shape shape = shape_of(run, begin, end);
  if (first == begin && last == end && shape.borders == 0 && (shape.all & kJoins) == 0) {
    parts.push_back({begin, end, (shape.all & kDigit) != 0 ? Kind::kNumber : Kind::kWord});
    return after;
  }
  parts.push_back({first, last, Kind::kWhole});
  Splitter(run, parts).split(begin, end);
  return std::max(after, last);
}

}  // namespace strongroom::recall
