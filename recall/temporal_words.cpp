#include "recall/temporal_words.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace strongroom::recall::temporal {
namespace {

constexpr std::int8_t v(Unit unit) {
  return static_cast<std::int8_t>(unit);
}
constexpr std::int8_t v(Part part) {
  return static_cast<std::int8_t>(part);
}
constexpr std::int8_t v(Holiday day) {
  return static_cast<std::int8_t>(day);
}
constexpr std::int8_t v(Preposition word) {
  return static_cast<std::int8_t>(word);
}

constexpr std::uint8_t kT = kTrigger;
constexpr std::uint8_t kTS = kTrigger | kShort;
constexpr std::uint8_t kTP = kTrigger | kPlural;
using P = Preposition;

// clang-format off
constexpr Word kWords[] = {
    {"january", Kind::month, 1, kT}, {"february", Kind::month, 2, kT},
    {"march", Kind::month, 3, kT | kVerb}, {"april", Kind::month, 4, kT | kName},
    {"may", Kind::month, 5, kT | kVerb}, {"june", Kind::month, 6, kT | kName},
    {"july", Kind::month, 7, kT}, {"august", Kind::month, 8, kT | kName},
    {"september", Kind::month, 9, kT}, {"october", Kind::month, 10, kT},
    {"november", Kind::month, 11, kT}, {"december", Kind::month, 12, kT},
    {"jan", Kind::month, 1, kTS}, {"feb", Kind::month, 2, kTS}, {"mar", Kind::month, 3, kTS},
    {"apr", Kind::month, 4, kTS}, {"jun", Kind::month, 6, kTS}, {"jul", Kind::month, 7, kTS},
    {"aug", Kind::month, 8, kTS}, {"sep", Kind::month, 9, kTS}, {"sept", Kind::month, 9, kTS},
    {"oct", Kind::month, 10, kTS}, {"nov", Kind::month, 11, kTS}, {"dec", Kind::month, 12, kTS},
    {"monday", Kind::weekday, 0, kT}, {"tuesday", Kind::weekday, 1, kT},
    {"wednesday", Kind::weekday, 2, kT}, {"thursday", Kind::weekday, 3, kT},
    {"friday", Kind::weekday, 4, kT}, {"saturday", Kind::weekday, 5, kT},
    {"sunday", Kind::weekday, 6, kT},
    {"mon", Kind::weekday, 0, kTS}, {"tue", Kind::weekday, 1, kTS}, {"tues", Kind::weekday, 1, kTS},
    {"wed", Kind::weekday, 2, kTS}, {"thu", Kind::weekday, 3, kTS}, {"thur", Kind::weekday, 3, kTS},
    {"thurs", Kind::weekday, 3, kTS}, {"fri", Kind::weekday, 4, kTS},
    {"sat", Kind::weekday, 5, kTS}, {"sun", Kind::weekday, 6, kTS},
    {"spring", Kind::season, 3, kT | kVerb}, {"summer", Kind::season, 6, kT},
    {"autumn", Kind::season, 9, kT}, {"fall", Kind::season, 9, kT | kVerb},
    {"winter", Kind::season, 12, kT},
    {"christmas", Kind::holiday, v(Holiday::christmas), kT},
    {"xmas", Kind::holiday, v(Holiday::christmas), kT},
    {"easter", Kind::holiday, v(Holiday::easter), kT},
    {"thanksgiving", Kind::holiday, v(Holiday::thanksgiving), kT},
    {"halloween", Kind::holiday, v(Holiday::halloween), kT},
    {"valentine", Kind::holiday, v(Holiday::valentine), kT},
    {"minute", Kind::unit, v(Unit::minute), kT}, {"minutes", Kind::unit, v(Unit::minute), kTP},
    {"hour", Kind::unit, v(Unit::hour), kT}, {"hours", Kind::unit, v(Unit::hour), kTP},
    {"day", Kind::unit, v(Unit::day), kT}, {"days", Kind::unit, v(Unit::day), kTP},
    {"weekend", Kind::unit, v(Unit::weekend), kT}, {"weekends", Kind::unit, v(Unit::weekend), kTP},
    {"week", Kind::unit, v(Unit::week), kT}, {"weeks", Kind::unit, v(Unit::week), kTP},
    {"month", Kind::unit, v(Unit::month), kT}, {"months", Kind::unit, v(Unit::month), kTP},
    {"quarter", Kind::unit, v(Unit::quarter), kT}, {"quarters", Kind::unit, v(Unit::quarter), kTP},
    {"year", Kind::unit, v(Unit::year), kT}, {"years", Kind::unit, v(Unit::year), kTP},
    {"decade", Kind::unit, v(Unit::decade), kT}, {"decades", Kind::unit, v(Unit::decade), kTP},
    {"morning", Kind::part, v(Part::morning), kT}, {"afternoon", Kind::part, v(Part::afternoon), kT},
    {"evening", Kind::part, v(Part::evening), kT}, {"night", Kind::part, v(Part::night), kT},
    {"noon", Kind::part, v(Part::noon), 0},
    {"yesterday", Kind::relative_day, -1, kT}, {"today", Kind::relative_day, 0, kT},
    {"tomorrow", Kind::relative_day, 1, kT}, {"tonight", Kind::tonight, 0, kT},
    {"recently", Kind::recent, 0, kT}, {"lately", Kind::recent, 0, kT}, {"ago", Kind::ago, 0, 0},
    {"last", Kind::shift, -1, 0}, {"previous", Kind::shift, -1, kName}, {"this", Kind::shift, 0, 0},
    {"current", Kind::shift, 0, 0}, {"next", Kind::shift, 1, 0},
    {"past", Kind::rolling, -1, 0}, {"coming", Kind::rolling, 1, 0},
    {"upcoming", Kind::rolling, 1, 0},
    {"earlier", Kind::narrowing, -1, 0}, {"later", Kind::narrowing, 1, 0},
    {"early", Kind::edge, 0, 0}, {"mid", Kind::edge, 1, 0}, {"late", Kind::edge, 2, 0},
    {"beginning", Kind::edge_of, 0, 0}, {"start", Kind::edge_of, 0, 0},
    {"middle", Kind::edge_of, 1, 0}, {"end", Kind::edge_of, 2, 0},
    {"first", Kind::nth, 1, 0}, {"second", Kind::nth, 2, 0}, {"third", Kind::nth, 3, 0},
    {"fourth", Kind::nth, 4, 0}, {"fifth", Kind::nth, 5, 0}, {"half", Kind::half, 0, 0},
    {"one", Kind::count, 1, 0}, {"two", Kind::count, 2, 0}, {"three", Kind::count, 3, 0},
    {"four", Kind::count, 4, 0}, {"five", Kind::count, 5, 0}, {"six", Kind::count, 6, 0},
    {"seven", Kind::count, 7, 0}, {"eight", Kind::count, 8, 0}, {"nine", Kind::count, 9, 0},
    {"ten", Kind::count, 10, 0}, {"eleven", Kind::count, 11, 0}, {"twelve", Kind::count, 12, 0},
    {"a", Kind::article, 1, 0}, {"an", Kind::article, 1, 0}, {"couple", Kind::couple, 2, 0},
    {"few", Kind::few, 0, 0}, {"several", Kind::several, 0, 0},
    {"in", Kind::preposition, v(P::in), 0}, {"within", Kind::preposition, v(P::in), 0},
    {"on", Kind::preposition, v(P::on), 0}, {"at", Kind::preposition, v(P::at), 0},
    {"during", Kind::preposition, v(P::during), 0}, {"over", Kind::preposition, v(P::during), 0},
    {"throughout", Kind::preposition, v(P::during), 0},
    {"around", Kind::preposition, v(P::during), 0}, {"for", Kind::preposition, v(P::for_), 0},
    {"from", Kind::preposition, v(P::from), 0}, {"between", Kind::preposition, v(P::between), 0},
    {"since", Kind::preposition, v(P::since), 0}, {"after", Kind::preposition, v(P::after), 0},
    {"before", Kind::preposition, v(P::before), 0}, {"until", Kind::preposition, v(P::until), 0},
    {"till", Kind::preposition, v(P::until), 0}, {"through", Kind::preposition, v(P::through), 0},
    {"by", Kind::preposition, v(P::by), 0},
    {"the", Kind::the, 0, 0}, {"of", Kind::of, 0, 0}, {"as", Kind::as, 0, 0},
    {"to", Kind::to, 0, 0}, {"and", Kind::and_, 0, 0}, {"prior", Kind::prior, 0, 0},
    {"now", Kind::now, 0, 0}, {"other", Kind::other, 0, 0}, {"new", Kind::new_, 0, 0},
    {"eve", Kind::eve, 0, 0}, {"am", Kind::meridiem, 0, 0}, {"pm", Kind::meridiem, 12, 0},
    {"will", Kind::future, 0, 0}, {"shall", Kind::future, 0, 0}, {"gonna", Kind::future, 0, 0},
    {"going", Kind::future, 0, 0}, {"plan", Kind::future, 0, 0}, {"plans", Kind::future, 0, 0},
    {"planned", Kind::future, 0, 0}, {"planning", Kind::future, 0, 0},
    {"scheduled", Kind::future, 0, 0}, {"due", Kind::future, 0, 0},
    {"deadline", Kind::future, 0, 0}, {"heading", Kind::future, 0, 0},
    {"expires", Kind::future, 0, 0}, {"ll", Kind::future, 0, 0}, {"let", Kind::future, 0, 0},
    {"every", Kind::habit, 1, 0}, {"each", Kind::habit, 1, 0}, {"always", Kind::habit, 1, 0},
    {"never", Kind::habit, 1, 0}, {"usually", Kind::habit, 1, 0}, {"allowed", Kind::habit, 1, 0}, {"weekly", Kind::habit, 0, 0},
    {"daily", Kind::habit, 0, 0}, {"nightly", Kind::habit, 0, 0}, {"monthly", Kind::habit, 0, 0},
    {"annual", Kind::habit, 0, 0}, {"yearly", Kind::habit, 0, 0},
};
// clang-format on

constexpr std::size_t kLongest = 12;  // thanksgiving
constexpr std::size_t kSlots = 1024;
static_assert(std::size(kWords) < 255);

constexpr std::size_t slot_of(std::string_view word) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(word[i] | 0x20); };
  return (at(0) * 37 + at(word.size() / 2) * 101 + at(word.size() - 1) * 7 + word.size() * 59) %
         kSlots;
}

struct Index {
  std::array<std::uint8_t, kSlots> slots{};  // index + 1; taken slots go on to the next
  std::array<std::uint16_t, 26> lengths{};   // by first letter, a bit each length of any word
  std::array<std::uint16_t, 26> triggers{};  // of a word with kTrigger
};

constexpr Index make_index() {
  Index out;
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    const std::string_view word = kWords[i].text;
    std::size_t slot = slot_of(word);
    while (out.slots[slot] != 0) slot = (slot + 1) % kSlots;
    out.slots[slot] = static_cast<std::uint8_t>(i + 1);
    const auto first = static_cast<std::size_t>(word[0] - 'a');
    const auto bit = static_cast<std::uint16_t>(1U << word.size());
    out.lengths[first] = static_cast<std::uint16_t>(out.lengths[first] | bit);
    if ((kWords[i].flags & kTrigger) == 0) continue;
    out.triggers[first] = static_cast<std::uint16_t>(out.triggers[first] | bit);
  }
  return out;
}
constexpr Index kIndex = make_index();

bool same_word(std::string_view text, std::string_view word) noexcept {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char c, char w) { return (c | 0x20) == w; });
}

const Word* find_in(std::string_view text, const std::array<std::uint16_t, 26>& lengths) noexcept {
  if (text.size() > kLongest) return nullptr;
  const auto first = static_cast<std::size_t>((text[0] | 0x20) - 'a');
  if ((static_cast<unsigned>(lengths[first]) >> text.size() & 1U) == 0) return nullptr;
  for (std::size_t slot = slot_of(text); kIndex.slots[slot] != 0; slot = (slot + 1) % kSlots) {
    const Word& word = kWords[kIndex.slots[slot] - 1U];
    if (same_word(text, word.text)) return &word;
  }
  return nullptr;
}

// Digits that can begin a date: 2023, 1234-05-06, 5/8, 8th.
bool date_digits(std::string_view digits, std::string_view rest) noexcept {
  if (digits.size() == 4) {
    const bool year = digits.starts_with("19") || digits.starts_with("20");
    return year || (!rest.empty() && (rest[0] == '-' || rest[0] == '/'));
  }
  if (digits.size() > 2 || rest.empty()) return false;
  return rest[0] == '/' || is_letter(rest[0]);
}

}  // namespace

const Word* find_word(std::string_view text) noexcept {
  return find_in(text, kIndex.lengths);
}

bool may_hold_time(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t begin = i;
    if (is_letter(text[i])) {
      while (i < text.size() && is_letter(text[i])) ++i;
      const std::string_view run = text.substr(begin, i - begin);
      const Word* word = find_in(run, kIndex.triggers);
      if (word != nullptr && (word->flags & kTrigger) != 0) return true;
      if (run.size() == 1 && (run[0] | 0x20) == 'q' && i < text.size() && is_digit(text[i])) {
        return true;
      }
    } else if (is_digit(text[i])) {
      while (i < text.size() && is_digit(text[i])) ++i;
      if (date_digits(text.substr(begin, i - begin), text.substr(i))) return true;
    } else {
      ++i;
    }
  }
  return false;
}

bool stands_free(std::string_view text, std::size_t end) noexcept {
  // Words that carry a clause on, in order. After a year or a day one of them says that nothing is
  // counted ("in 2022 we moved"), any other word may be what is ("in 2022 rows").
  static constexpr std::string_view kCarryOn[] = {
      "a",        "about",      "after", "all",     "already", "also",   "an",    "and",
      "any",      "are",        "as",    "at",      "because", "before", "both",  "but",
      "by",       "can",        "could", "did",     "do",      "does",   "each",  "every",
      "everyone", "everything", "for",   "from",    "had",     "has",    "have",  "he",
      "her",      "his",        "how",   "however", "i",       "if",     "in",    "is",
      "it",       "its",        "just",  "me",      "most",    "my",     "no",    "nobody",
      "not",      "now",        "of",    "on",      "only",    "or",     "our",   "she",
      "should",   "since",      "so",    "some",    "still",   "than",   "that",  "the",
      "their",    "then",       "there", "these",   "they",    "this",   "those", "to",
      "until",    "us",         "was",   "we",      "were",    "what",   "when",  "where",
      "which",    "while",      "who",   "why",     "will",    "with",   "would", "you",
      "your"};
  if (end < text.size() && !is_blank(text[end])) {
    constexpr std::string_view kClosing = ".,;:!?)]}\"'`-";
    const bool dash_or_quote = text.substr(end).starts_with("\xE2\x80");
    return kClosing.find(text[end]) != std::string_view::npos || dash_or_quote;
  }
  while (end < text.size() && is_blank(text[end]) && text[end] != '\n') ++end;
  if (end == text.size() || text[end] == '\n') return true;
  if (!is_letter(text[end])) return !is_digit(text[end]) && text[end] != '%' && text[end] != '$';
  if (text[end] < 'a') return true;  // a name
  const std::size_t begin = end;
  while (end < text.size() && end - begin <= kLongest && is_letter(text[end])) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  return std::binary_search(std::begin(kCarryOn), std::end(kCarryOn), word);
}

}  // namespace strongroom::recall::temporal
