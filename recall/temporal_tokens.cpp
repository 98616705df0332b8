// Text to tokens. Other words leave no token; they show as the gap before the next one.
#include <algorithm>

#include "recall/temporal_words.h"

namespace strongroom::recall::temporal {
namespace {

constexpr std::string_view kDashStart = "\xE2\x80";  // of U+2010 to U+2015, of quotes and others

bool is_alnum(char c) {
  return is_letter(c) || is_digit(c);
}

// The length of a dash, a blank or an apostrophe beyond ASCII at the start of `text`, and as which
// ASCII character it counts; 0 for anything else.
std::size_t wide_sign(std::string_view text, char& as) {
  if (text.starts_with("\xC2\xA0")) {
    as = ' ';
    return 2;
  }
  if (text.size() < 3 || !text.starts_with(kDashStart)) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  as = last >= 0x90 && last <= 0x95 ? '-' : last == 0x99 ? '\'' : '"';
  return 3;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) { out_.sentences.emplace_back(); }

  Tokens run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_letter(c) || c == '_') {
        word();
      } else if (is_digit(c)) {
        number();
      } else {
        sign();
      }
    }
    return std::move(out_);
  }

 private:
  void sign() {
    char c = text_[at_];
    std::size_t size = 1;
    if (static_cast<unsigned char>(c) >= 0x80) {
      size = wide_sign(text_.substr(at_), c);
      if (size == 0) {
        // A letter of another script, as far as times go; its later bytes come here too.
        size = 1;
        c = '\0';
      }
    }
    widen(c);
    at_ += size;
    const bool stop = c == '.' || c == '!' || c == '?';
    if (c == '\n' || (stop && (at_ == text_.size() || is_blank(text_[at_])) && !abbreviated_)) {
      if (out_.tokens.size() > sentence_start_ || cue_) out_.sentences.emplace_back();
      sentence_start_ = out_.tokens.size();
      cue_ = false;
    }
  }

  // What the gap before the next token is, now that `c` is in it.
  void widen(char c) {
    const bool first = gap_ == Gap::none || gap_ == Gap::blank;
    const bool after_short = abbreviated_ && gap_ == Gap::none && c == '.';
    if (is_blank(c)) {
      if (gap_ == Gap::none) gap_ = Gap::blank;
    } else if (c == ',' && first) {
      gap_ = Gap::comma;
    } else if (c == '-' && first) {
      gap_ = Gap::dash;
    } else if (!after_short) {
      gap_ = Gap::other;
    }
    if (!after_short) abbreviated_ = false;
  }

  char before() const { return at_ == 0 ? ' ' : text_[at_ - 1]; }

  // A run of letters, digits, low lines and bytes of other scripts.
  void word() {
    const std::size_t begin = at_;
    const char prior = before();
    bool plain = static_cast<unsigned char>(prior) >= 0x80 && !after_wide_sign(begin);
    bool letters = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      char as = 0;
      const bool wide = static_cast<unsigned char>(c) >= 0x80;
      if (wide && wide_sign(text_.substr(at_), as) != 0) break;
      if (!wide && !is_alnum(c) && c != '_') break;
      plain = plain || wide;
      letters = letters && is_letter(c);
      ++at_;
    }
    const std::string_view run = text_.substr(begin, at_ - begin);
    if (plain) return skip();
    if (letters) return add_word(run, begin);
    if (joined(begin, at_)) return skip();
    if (run.size() == 2 && (run[0] | 0x20) == 'q' && run[1] >= '1' && run[1] <= '4') {
      return add({begin, at_, run[1] - '0', 0, Kind::quarter, kTrigger, gap_});
    }
    skip();
  }

  bool after_wide_sign(std::size_t begin) const {
    char as = 0;
    return (begin >= 3 && wide_sign(text_.substr(begin - 3, 3), as) == 3) ||
           (begin >= 2 && wide_sign(text_.substr(begin - 2, 2), as) == 2);
  }

  // True when a word is part of a path, a name with dots, a call: may.cpp, #fall, today().
  bool joined(std::size_t begin, std::size_t end) const {
    constexpr std::string_view kBefore = "./\\@#$";
    constexpr std::string_view kAfter = "./\\@:";
    if (begin > 0 && kBefore.find(text_[begin - 1]) != std::string_view::npos) return true;
    if (end == text_.size()) return false;
    if (text_[end] == '(') return true;
    return kAfter.find(text_[end]) != std::string_view::npos && end + 1 < text_.size() &&
           is_alnum(text_[end + 1]);
  }

  void add_word(std::string_view run, std::size_t begin) {
    const Word* word = find_word(run);
    if (word == nullptr || joined(begin, at_)) return skip();
    if (word->kind == Kind::future || word->kind == Kind::habit) {
      Sentence& sentence = out_.sentences.back();
      (word->kind == Kind::future ? sentence.future : sentence.habit) = true;
      sentence.always = sentence.always || (word->kind == Kind::habit && word->value == 1);
      cue_ = true;
      return skip();
    }
    const bool capital = run[0] < 'a';
    const auto flags = static_cast<std::uint8_t>(word->flags | (capital ? kCapital : 0));
    add({begin, at_, word->value, 0, word->kind, flags, gap_});
    abbreviated_ = (word->flags & kShort) != 0;
    possessive();
  }

  // "last year's": the token ends before the apostrophe and the gap begins after the s.
  void possessive() {
    const std::string_view rest = text_.substr(at_, 5);
    const std::size_t size = rest.starts_with("\xE2\x80\x99") ? 3 : rest.starts_with('\'') ? 1 : 0;
    if (size == 0 || rest.size() <= size || rest[size] != 's') return;
    if (at_ + size + 1 < text_.size() && is_alnum(text_[at_ + size + 1])) return;
    at_ += size + 1;
  }

  void number() {
    const std::size_t begin = at_;
    const char prior = before();
    constexpr std::string_view kSigns = "_-./\\$#@+~^%&*";
    const bool behind_token = gap_ == Gap::dash && !out_.tokens.empty();
    const bool part = !behind_token && (kSigns.find(prior) != std::string_view::npos);
    constexpr std::string_view kJoins = "_.:/-+";
    while (at_ < text_.size() &&
           (is_alnum(text_[at_]) || kJoins.find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    std::size_t end = at_;
    while (!is_alnum(text_[end - 1])) --end;
    const bool grouped = take_groups(end);
    if (part || grouped || end - begin > 64) return skip();
    const std::size_t known = out_.tokens.size();
    append_number(text_.substr(begin, end - begin), {begin, end, 0, 0, Kind::number, 0, gap_},
                  out_.tokens);
    if (out_.tokens.size() == known) return skip();
    for (std::size_t i = known; i < out_.tokens.size(); ++i) {
      out_.tokens[i].sentence = static_cast<std::uint32_t>(out_.sentences.size() - 1);
    }
    gap_ = Gap::none;
    abbreviated_ = false;
    at_ = end;
  }

  // 2,023 is no year: takes the rest of a number with commas, which begins at `end`.
  bool take_groups(std::size_t end) {
    bool any = false;
    while (at_ == end && end + 1 < text_.size() && text_[end] == ',' && is_digit(text_[end + 1])) {
      ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
      at_ = end;
      any = true;
    }
    const bool sign = end < text_.size() && (text_[end] == '%' || text_[end] == '$');
    return any || sign;
  }

  void add(Token token) {
    token.sentence = static_cast<std::uint32_t>(out_.sentences.size() - 1);
    out_.tokens.push_back(token);
    gap_ = Gap::none;
    abbreviated_ = false;
  }

  void skip() {
    gap_ = Gap::other;
    abbreviated_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t sentence_start_ = 0;  // its first token
  bool cue_ = false;                // the sentence has one
  bool abbreviated_ = false;        // the next dot may belong to the last token
  Gap gap_ = Gap::other;
  Tokens out_;
};

}  // namespace

Tokens tokenize(std::string_view text) {
  return Tokenizer(text).run();
}

}  // namespace strongroom::recall::temporal
