#include "recall/entity_names.h"

#include <algorithm>
#include <initializer_list>

#include "recall/entity_signs.h"

namespace strongroom::recall::entity {
namespace {

constexpr std::size_t kMaxWords = 6;  // more are a heading
constexpr std::size_t kMaxLinks = 2;  // "of the"

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Without 's and the like; `cut` when there was one. Nothing for "Don't".
std::string_view without_clitic(std::string_view word, bool& cut) {
  constexpr std::string_view kWide = "\xE2\x80\x99";
  std::size_t sign = word.rfind('\'');
  std::size_t size = 1;
  if (sign == std::string_view::npos) {
    sign = word.rfind(kWide);
    size = kWide.size();
    if (sign == std::string_view::npos) return word;
  }
  const std::string_view tail = word.substr(sign + size);
  if (is_one_of(tail, {"t", "T"}) && (word[sign - 1] | 0x20) == 'n') return {};
  cut = is_one_of(tail, {"s", "S", "m", "d", "ll", "re", "ve", ""});
  if (cut) return word.substr(0, sign);
  // L'équipe is an article and a word, O'Brien is a name.
  const bool accent =
      tail.size() > 1 && tail[0] == '\xC3' && static_cast<unsigned char>(tail[1]) >= 0xA0;
  const bool capital = !accent && (byte_at(tail, 0) & kLow) == 0;
  return capital ? word : std::string_view{};
}

// What an acronym is without the s of its plural; the same for other words.
struct Capitals {
  std::string_view word;
  bool acronym;
};
Capitals capitals(std::string_view word) {
  std::size_t upper = 0;
  std::size_t at = 0;
  for (; at < word.size() && (byte_at(word, at) & (kLow | kHigh)) == 0; ++at) {
    upper += (byte_at(word, at) & kUp) != 0;
  }
  if (upper < 2) return {word, false};
  if (at == word.size()) return {word, true};
  if (at + 1 == word.size() && word.back() == 's') return {word.substr(0, at), true};
  return {word, false};
}

// The word before `begin`, if a blank is between them and it is of small letters.
std::string_view word_before(std::string_view text, std::size_t begin) {
  if (begin < 3 || text[begin - 1] != ' ') return {};
  std::size_t from = begin - 1;
  while (from > 0 && begin - from < 8 && (byte_at(text, from - 1) & kLow) != 0) --from;
  return text.substr(from, begin - 1 - from);
}

// Q3, V2
bool is_numbered(std::string_view word) {
  return word.size() > 1 &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "Sooo", "Mmm": no name has a letter three times in a row.
bool is_drawn_out(std::string_view word) {
  for (std::size_t i = 2; i < word.size(); ++i) {
    const int letter = word[i] | 0x20;
    if (letter == (word[i - 1] | 0x20) && letter == (word[i - 2] | 0x20)) return true;
  }
  return false;
}

}  // namespace

bool abbreviates(std::string_view word) noexcept {
  return is_one_of(word, {"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "approx", "e.g",
                          "i.e", "Inc", "Ltd", "ca"});
}

void NameReader::reset(std::string_view text) {
  text_ = text;
  run_ = {};
}

// `forms`: of common words too.
Word NameReader::known(std::string_view word, bool forms) {
  if (is_drawn_out(word)) return Word::never;
  if (is_ascii(word)) return ascii_word_class(word, forms);
  if (word.size() > 64) return Word::other;
  folder_.fold(word, folded_);
  const Word found = word_class(folded_.view(), forms);
  // No list tells words of other scripts from names: Ж is D0 96, Greek begins with CE.
  const bool latin = static_cast<unsigned char>(word[0]) < 0xC9;
  return found == Word::other && !latin ? Word::common : found;
}

std::optional<Name> NameReader::capital(std::size_t begin, std::size_t end, bool start,
                                        bool identifier, bool& ends) {
  ends = false;
  std::string_view word = without_clitic(text_.substr(begin, end - begin), ends);
  const auto [bare, acronym] = capitals(word);
  ends = ends || bare.size() != word.size();
  word = bare;
  if (word.empty()) return close();
  const bool letter = word.size() == 1;
  const bool forms = open() ? run_.at_start : start || acronym;
  const Word what = identifier || word == "US" || word == "MIT" ? Word::other
                    : is_numbered(word)                         ? Word::never
                                                                : known(word, forms);
  if (what == Word::never && !(letter && open() && text_.substr(begin + 1, 1) == ".")) {
    return close();
  }
  std::optional<Name> before;
  if (!open()) {
    run_ = {};
    run_.begin = begin;
    run_.first = what;
    run_.at_start = start;
    const std::string_view prior = word_before(text_, begin);
    // In German these stand before names without an article; those are articles.
    run_.placed = is_one_of(prior, {"in", "nach", "aus", "bei", "mit", "von", "an", "und"});
    run_.article = is_one_of(prior, {"der", "die", "das", "den", "dem", "des", "ein", "eine"});
  } else if (run_.words == 1) {
    run_.second = begin;
  }
  run_.end = begin + word.size();
  ++run_.words;
  run_.initials += letter;
  run_.acronyms += acronym;
  run_.commons += what == Word::common;
  run_.links = 0;
  run_.last_acronym = acronym;
  run_.last_identifier = identifier;
  return before;
}

bool NameReader::link(std::string_view word) noexcept {
  if (run_.links == kMaxLinks || word.size() > 3) return false;
  // "CEO of Google" are two, as are "dem Rechner von Anna".
  const bool of = word == "of";
  if (of ? run_.last_acronym : run_.article && word == "von") return false;
  const bool links = of ||
                     is_one_of(word, {"de", "la", "van", "von", "der", "den", "du", "da", "del",
                                      "di", "al", "bin", "ibn", "zu"}) ||
                     (word == "the" && run_.links == 1);
  run_.links += links;
  return links;
}

std::optional<Name> NameReader::close() {
  if (!open()) return std::nullopt;
  const Run run = run_;
  run_ = {};
  if (run.initials == run.words || run.words > kMaxWords) return std::nullopt;
  if (run.acronyms >= 3 && run.acronyms == run.words) return std::nullopt;  // shouted
  Name name{run.begin, run.end, run.words, false, false};
  const bool known = run.first == Word::common || (run.first == Word::opens && run.words == 1);
  if (known && run.at_start) {
    if (run.words == 1) return std::nullopt;
    name.begin = run.second;
    --name.words;
    const std::size_t commons = run.commons - (run.first == Word::common);
    if (commons == name.words) return std::nullopt;  // a heading
    if (name.words == 1 && run.initials != 0) return std::nullopt;
  } else if (run.words == 1 && known && run.last_acronym) {
    return std::nullopt;
  }
  name.identifier = name.words == 1 && run.last_identifier;
  name.weak = name.words == 1 && !run.last_acronym && !name.identifier && !run.placed;
  return name;
}

}  // namespace strongroom::recall::entity
