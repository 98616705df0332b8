#include "recall/analyzer.h"

#include <algorithm>
#include <array>
#include <libstemmer.h>
#include <limits>
#include <new>

#include "base/utf8.h"
#include "base/wipe.h"
#include "recall/names.h"
#include "recall/stop_words.h"
#include "recall/word_break.h"
#include "recall/word_table.h"

namespace strongroom::recall {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
// The words of former texts are kept with their stems up to this size.
constexpr std::size_t kKeptWords = 1 << 14;
constexpr std::size_t kKeptBytes = 1 << 19;
constexpr std::size_t kKeptRun = 1 << 16;

// Porter's stemmer. The library's buffer holds the last word: it has its full size from the start,
// so that it never moves, and is overwritten at the end.
class Stemmer {
 public:
  Stemmer() : handle_(sb_stemmer_new("porter", "UTF_8")) {
    if (handle_ == nullptr) throw std::bad_alloc();
    overwrite();
  }
  Stemmer(const Stemmer&) = delete;
  Stemmer& operator=(const Stemmer&) = delete;
  ~Stemmer() {
    overwrite();
    sb_stemmer_delete(handle_);
  }

  // Lives until the next call. Words of other scripts come back as they are.
  std::string_view stem(std::string_view word) {
    // Porter's own program leaves words of one or two letters alone; this library does not.
    if (word.size() <= 2 ||
        (kAsciiClasses[static_cast<unsigned char>(word.back())] & kLower) == 0) {
      return word;
    }
    const auto* const out = sb_stemmer_stem(
        handle_, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
    if (out == nullptr) throw std::bad_alloc();
    return {reinterpret_cast<const char*>(out),
            static_cast<std::size_t>(sb_stemmer_length(handle_))};
  }

 private:
  void overwrite() {
    static const std::array<sb_symbol, kMaxTermBytes + 8> filler = [] {
      std::array<sb_symbol, kMaxTermBytes + 8> out{};
      out.fill('x');
      return out;
    }();
    sb_stemmer_stem(handle_, filler.data(), static_cast<int>(filler.size()));
  }

  sb_stemmer* handle_;
};

}  // namespace

struct Analyzer::Impl {
  // What is known of a folded word, in the order of `words`.
  struct Word {
    std::uint32_t term = kNone;  // its stem; kNone for a stop word
    bool comparable = false;     // of letters alone, at least 4 of them
    std::uint64_t listed = 0;    // the last text that listed it
  };
  // Where a term stands in the result, in the order of `terms`.
  struct Place {
    std::uint64_t text = 0;  // the last text that had it
    std::uint32_t index = 0;
  };
  struct Origin {
    std::uint32_t term;
    std::uint32_t word;  // kNone for a whole
  };

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { wipe(word.data(), word.size()); }

  void begin();
  void finish();
  void scan(std::string_view text);
  std::size_t simple_word(std::string_view text, std::size_t at);
  void mixed_run(std::string_view run);
  void run(const Run& in);
  std::size_t name(const Run& in, std::size_t begin);
  std::string_view fold(std::string_view text);
  std::uint32_t add_word(std::string_view folded, std::uint32_t but = kNone);
  void add_single(std::string_view text);
  std::uint32_t add_whole(std::string_view folded);
  void add_term(std::uint32_t term, std::uint32_t from);
  std::uint32_t know(std::string_view folded);

  Stemmer stemmer;
  Folder folder;
  WordTable words;
  std::vector<Word> known;
  WordTable terms;
  std::vector<Place> places;

  std::uint64_t text_number = 0;
  AnalyzedText result;
  std::vector<Origin> origins;        // as result.terms
  std::vector<std::uint32_t> listed;  // as result.words
  std::vector<NamePart> parts;        // of the name at hand

  std::array<char, kMaxTermBytes> word{};  // an ASCII word being folded
  SecretBytes folded;                      // another one
  SecretBytes composed;
  std::vector<CharClass> kinds;
};

void Analyzer::Impl::begin() {
  if (words.size() + terms.size() > kKeptWords || words.bytes() + terms.bytes() > kKeptBytes) {
    words.clear();
    terms.clear();
    known = {};
    places = {};
  }
  ++text_number;
  result.terms.clear();
  result.words.clear();
  result.length = 0;
  origins.clear();
  listed.clear();
}

// The views come last: tables move while they grow.
void Analyzer::Impl::finish() {
  for (std::size_t i = 0; i < origins.size(); ++i) {
    result.terms[i].text = terms.view(origins[i].term);
  }
  result.words.reserve(listed.size());
  for (const std::uint32_t number : listed) result.words.push_back(words.view(number));
  // What one huge run needed is not held on to.
  if (kinds.size() > kKeptRun) kinds = {};
  if (composed.size() > kKeptRun) composed = SecretBytes();
}

void Analyzer::Impl::add_term(std::uint32_t term, std::uint32_t from) {
  Place& place = places[term];
  if (place.text == text_number) {
    ++result.terms[place.index].frequency;
    return;
  }
  place = {text_number, static_cast<std::uint32_t>(origins.size())};
  origins.push_back({term, from});
  result.terms.push_back({{}, 1});
}

// The number of a folded word in `words`, with what is known of it.
std::uint32_t Analyzer::Impl::know(std::string_view text) {
  const std::uint32_t number = words.intern(text);
  if (number < known.size()) return number;
  Word fresh;
  if (!is_stop_word(text)) {
    fresh.term = terms.intern(stemmer.stem(text));
    if (fresh.term == places.size()) places.emplace_back();
    const auto points = std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    // By the word alone, so that it does not matter where it was seen first.
    const bool letters = std::all_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x80 || (c >= 'a' && c <= 'z');
    });
    fresh.comparable = letters && points >= 4;
  }
  known.push_back(fresh);
  return number;
}

// Adds a word, but for the term `but`. Returns 1 for a word that counts, 0 for a stop word.
std::uint32_t Analyzer::Impl::add_word(std::string_view text, std::uint32_t but) {
  const std::uint32_t number = know(text);
  Word& entry = known[number];
  if (entry.term == kNone) return 0;
  if (entry.term != but) add_term(entry.term, number);
  if (entry.comparable && entry.listed != text_number) {
    entry.listed = text_number;
    listed.push_back(number);
  }
  return 1;
}

void Analyzer::Impl::add_single(std::string_view text) {
  const std::string_view single = fold(text);
  if (!single.empty()) add_word(single);
}

std::uint32_t Analyzer::Impl::add_whole(std::string_view text) {
  const std::uint32_t term = terms.intern(text);
  if (term == places.size()) places.emplace_back();
  add_term(term, kNone);
  return term;
}

// Case folded, without apostrophes, cut to the longest term. Lives until the next call.
std::string_view Analyzer::Impl::fold(std::string_view text) {
  // Folding may drop bytes, so that a few more than a term's are looked at.
  text = utf8_prefix(text, kMaxTermBytes * 2);
  const bool ascii = is_ascii(text);
  if (!ascii) {
    folder.fold(text, folded);
    text = folded.view();
  }
  std::size_t size = 0;
  text = utf8_prefix(text, kMaxTermBytes);
  for (const char c : text) {
    if (c == '\'') continue;
    word[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  return {word.data(), size};
}

void Analyzer::Impl::scan(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (ascii_space(text[at])) {
      ++at;
      continue;
    }
    const std::size_t after = simple_word(text, at);
    if (after != at) {
      at = after;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !ascii_space(text[end])) ++end;
    mixed_run(text.substr(at, end - at));
    at = end;
  }
}

// Takes a run that is an ordinary ASCII word between ordinary punctuation, which most are, and
// returns its end; returns `at` for any other run.
std::size_t Analyzer::Impl::simple_word(std::string_view text, std::size_t at) {
  const auto kind = [&](std::size_t i) {
    return i < text.size() ? kAsciiClasses[static_cast<unsigned char>(text[i])] : CharClass{0};
  };
  const auto any_of = [&](std::size_t i, std::string_view some) {
    return i < text.size() && some.find(text[i]) != std::string_view::npos;
  };
  std::size_t i = at;
  while (any_of(i, "(\"[")) ++i;
  std::size_t size = 0;
  CharClass later = 0;  // classes after the first letter
  for (CharClass k = kind(i); (k & (kUpper | kLower)) != 0; k = kind(i)) {
    if (size == word.size()) return at;
    if (size != 0) later |= k;
    word[size++] = static_cast<char>(text[i++] | 0x20);
  }
  if (size == 0 || (later & kUpper) != 0) return at;
  while (any_of(i, ".,;:!?)\"]")) ++i;
  if (i < text.size() && !ascii_space(text[i])) return at;
  result.length += add_word({word.data(), size});
  return i;
}

void Analyzer::Impl::mixed_run(std::string_view text) {
  if (!is_ascii(text)) {
    folder.compose(text, composed);
    text = composed.view();
  }
  classify(text, kinds);
  run({text, kinds.data()});
}

void Analyzer::Impl::run(const Run& in) {
  std::size_t neighbour = kNowhere;  // the ideograph just before
  for (std::size_t at = 0; at < in.text.size();) {
    const CharClass kind = in.kinds[at];
    const std::size_t begin = at++;
    if ((kind & kAlnum) != 0) {
      at = name(in, begin);
      neighbour = kNowhere;
    } else if ((kind & (kIdeograph | kSymbol)) != 0) {
      const auto follows = [&](std::size_t i) {
        return (in.kinds[i] & kFollows) != 0 ||
               (static_cast<unsigned char>(in.text[i]) & 0xC0) == 0x80;
      };
      while (at < in.text.size() && follows(at)) ++at;
      add_single(in.text.substr(begin, at - begin));
      ++result.length;
      const bool pairs = (kind & kIdeograph) != 0;
      if (pairs && neighbour != kNowhere) add_single(in.text.substr(neighbour, at - neighbour));
      neighbour = pairs ? begin : kNowhere;
    } else {
      neighbour = kNowhere;
    }
  }
}

// A word, a number, or what an engineer would search for whole, with its parts.
std::size_t Analyzer::Impl::name(const Run& in, std::size_t begin) {
  const std::size_t end = split_name(in, begin, name_end(in, begin), parts);
  std::uint32_t counts = 0;
  std::uint32_t whole = kNone;
  for (const NamePart& part : parts) {
    const std::string_view text = fold(in.text.substr(part.begin, part.end - part.begin));
    if (text.empty()) continue;
    const bool first = &part == &parts.front();
    if (part.kind == NamePart::Kind::kWhole) {
      whole = add_whole(text);
      counts |= first ? 1 : 0;
    } else {
      const std::uint32_t but = part.kind == NamePart::Kind::kCamel ? whole : kNone;
      const std::uint32_t counted = add_word(text, but);
      counts |= first ? counted : 0;
    }
  }
  result.length += counts;
  return end;
}

Analyzer::Analyzer() : impl_(std::make_unique<Impl>()) {}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

const AnalyzedText& Analyzer::analyze(std::string_view text) {
  impl_->begin();
  impl_->scan(text);
  impl_->finish();
  return impl_->result;
}

std::vector<QueryTerm> Analyzer::query(std::string_view text) {
  const AnalyzedText& analyzed = analyze(text);
  std::vector<QueryTerm> out;
  out.reserve(analyzed.terms.size());
  for (std::size_t i = 0; i < analyzed.terms.size(); ++i) {
    const std::uint32_t word = impl_->origins[i].word;
    QueryTerm& term = out.emplace_back();
    term.text = analyzed.terms[i].text;
    if (word != kNone) term.word = impl_->words.view(word);
    term.frequency = analyzed.terms[i].frequency;
    term.whole = word == kNone;
  }
  return out;
}

std::string Analyzer::stem(std::string_view word) {
  return std::string(impl_->stemmer.stem(utf8_prefix(word, kMaxTermBytes)));
}

}  // namespace strongroom::recall
