#include "service/reflect_claims.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/wipe.h"
#include "recall/word_break.h"

namespace strongroom::service {

namespace {

using namespace std::string_view_literals;
using recall::CharClass;
using Words = std::vector<std::string_view>;

// Compared by stem, so that one form stands for all that it is the stem of.
constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
    {"enable", "disable"},    {"on", "off"},          {"true", "false"},    {"allow", "deny"},
    {"allowed", "forbidden"}, {"start", "stop"},      {"open", "closed"},   {"accept", "reject"},
    {"required", "optional"}, {"public", "private"},  {"always", "never"},  {"with", "without"},
    {"before", "after"},      {"active", "inactive"}, {"valid", "invalid"}, {"include", "exclude"},
    {"increase", "decrease"}, {"pass", "fail"},       {"like", "dislike"},  {"add", "remove"},
};
static_assert(std::size(kOpposites) <= 32);

constexpr std::array kNegations = {"not"sv,   "no"sv,    "never"sv,  "cannot"sv, "cant"sv,
                                   "dont"sv,  "isnt"sv,  "wont"sv,   "doesnt"sv, "didnt"sv,
                                   "arent"sv, "wasnt"sv, "nobody"sv, "nothing"sv};

constexpr std::array kMonths = {"jan"sv, "feb"sv, "mar"sv, "apr"sv, "may"sv, "jun"sv,
                                "jul"sv, "aug"sv, "sep"sv, "oct"sv, "nov"sv, "dec"sv};
constexpr std::array kMonthNames = {"january"sv,   "february"sv, "march"sv,    "april"sv,
                                    "may"sv,       "june"sv,     "july"sv,     "august"sv,
                                    "september"sv, "october"sv,  "november"sv, "december"sv};
constexpr std::array kWeekdays = {"monday"sv, "tuesday"sv,  "wednesday"sv, "thursday"sv,
                                  "friday"sv, "saturday"sv, "sunday"sv};
// "One" is too often no number.
constexpr std::pair<std::string_view, std::string_view> kNumberWords[] = {
    {"zero", "0"},    {"two", "2"},      {"three", "3"},   {"four", "4"},    {"five", "5"},
    {"six", "6"},     {"seven", "7"},    {"eight", "8"},   {"nine", "9"},    {"ten", "10"},
    {"eleven", "11"}, {"twelve", "12"},  {"twenty", "20"}, {"thirty", "30"}, {"forty", "40"},
    {"fifty", "50"},  {"hundred", "100"}};

template <class Range>
bool contains(const Range& range, std::string_view word) {
  return std::find(std::begin(range), std::end(range), word) != std::end(range);
}

// Words of folded text. '=' parts them: "port=5433" is a word and a number.
Words words_of(std::string_view folded) {
  std::vector<CharClass> kinds;
  recall::classify(folded, kinds);
  constexpr CharClass kHold = recall::kInWord | recall::kJoins | recall::kApostrophe;
  Words words;
  for (std::size_t at = 0; at < folded.size();) {
    const bool ideograph = (kinds[at] & recall::kIdeograph) != 0;
    std::size_t end = at;
    while (end < folded.size() && folded[end] != '=' &&
           (ideograph ? (kinds[end] & (recall::kIdeograph | recall::kFollows)) != 0
                      : (kinds[end] & kHold) != 0)) {
      ++end;
    }
    std::size_t begin = at, last = end;
    while (begin < last && (kinds[begin] & (recall::kJoins | recall::kApostrophe)) != 0) ++begin;
    while (last > begin && (kinds[last - 1] & (recall::kJoins | recall::kApostrophe)) != 0) --last;
    if (last > begin) words.push_back(folded.substr(begin, last - begin));
    at = std::max(end, at + 1);
    // The other bytes of a character that is no word.
    while (end == begin && at < folded.size() && (kinds[at] & recall::kFollows) != 0) ++at;
  }
  return words;
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// "30s", "v2", "1,000": what begins with a digit. A digit further on belongs to a name ("db2").
bool is_figure(std::string_view word) {
  if (word.size() > 1 && word[0] == 'v') word.remove_prefix(1);
  return digit(word[0]);
}

std::string figure_of(std::string_view word) {
  std::string figure;
  std::copy_if(word.begin(), word.end(), std::back_inserter(figure),
               [](char c) { return c != ','; });
  return figure;
}

// "2026-05-03", "3/5/2026": three runs of digits between dashes or slashes.
bool is_date(std::string_view word) {
  const auto separators =
      std::count_if(word.begin(), word.end(), [](char c) { return c == '-' || c == '/'; });
  const std::size_t days = word.find('t');  // a time behind it belongs to it
  return separators >= 2 &&
         std::all_of(word.begin(),
                     word.begin() + static_cast<std::ptrdiff_t>(std::min(days, word.size())),
                     [](char c) { return digit(c) || c == '-' || c == '/'; });
}

bool is_version(std::string_view word) {
  return word[0] == 'v' || std::count(word.begin(), word.end(), '.') >= 2;
}

// "may" to "dec" by three letters; empty when it is no month.
std::string_view month_of(std::string_view word) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i] || word == kMonthNames[i]) return kMonths[i];
  }
  return word == "sept" ? "sep"sv : std::string_view();
}

bool negates(std::string_view word) {
  return contains(kNegations, word) || (word.size() > 3 && word.substr(word.size() - 3) == "n't");
}

void make_set(std::vector<std::string>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

// Takes dates, versions and numbers out of the words.
class Figures {
 public:
  Figures(const Words& words, Claim& claim) : words_(words), claim_(claim) {}

  // How many words from `at` on are a figure.
  std::size_t take(std::size_t at) {
    const std::string_view word = words_[at];
    if (contains(kWeekdays, word)) return add(claim_.dates, std::string(word));
    if (const std::size_t size = take_month(at)) return size;
    for (const auto& [name, number] : kNumberWords) {
      if (word == name) return add(claim_.numbers, std::string(number));
    }
    if (!is_figure(word)) return 0;
    if (is_date(word)) return add(claim_.dates, std::string(word));
    return add(is_version(word) ? claim_.versions : claim_.numbers, figure_of(word));
  }

 private:
  static std::size_t add(std::vector<std::string>& to, std::string figure) {
    to.push_back(std::move(figure));
    return 1;
  }

  bool figure_at(std::size_t at) const { return at < words_.size() && is_figure(words_[at]); }

  // "3 May 2026", "May 3", "in October". A month that is also another word needs a number.
  std::size_t take_month(std::size_t at) {
    std::size_t end = at;
    std::vector<std::string> numbers;
    if (figure_at(end)) numbers.push_back(day_of(words_[end++]));
    const std::string_view month = end < words_.size() ? month_of(words_[end]) : ""sv;
    if (month.empty()) return 0;
    const std::string_view name = words_[end];
    for (++end; figure_at(end) && end - at < 3; ++end) numbers.push_back(day_of(words_[end]));
    const bool alone = end - at == 1;
    if (alone && (name.size() <= 4 || name == "march")) return 0;
    // "3 May" and "May 3rd" are one.
    std::sort(numbers.begin(), numbers.end());
    std::string date(month);
    for (const std::string& number : numbers) date += " " + number;
    claim_.dates.push_back(std::move(date));
    return end - at;
  }

  // "3rd" is 3.
  static std::string day_of(std::string_view word) {
    const auto end = std::find_if_not(word.begin(), word.end(), digit);
    return {word.begin(), end == word.begin() ? word.end() : end};
  }

  const Words& words_;
  Claim& claim_;
};

// Each has one that the other lacks: a text that only says more does not disagree.
bool differ(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return !std::includes(a.begin(), a.end(), b.begin(), b.end()) &&
         !std::includes(b.begin(), b.end(), a.begin(), a.end());
}

bool opposed(const Claim& a, const Claim& b) {
  const auto only = [](const Claim& claim, int side) {
    return claim.opposites[side] & ~claim.opposites[1 - side];
  };
  return (only(a, 0) & only(b, 1)) != 0 || (only(a, 1) & only(b, 0)) != 0;
}

bool alike(const Claim& a, const Claim& b) {
  std::size_t both = 0;
  for (auto x = a.rest.begin(), y = b.rest.begin(); x != a.rest.end() && y != b.rest.end();) {
    const int order = x->compare(*y);
    both += order == 0 ? 1 : 0;
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  const std::size_t either = a.rest.size() + b.rest.size() - both;
  return both >= 2 && 5 * both >= 3 * either;
}

}  // namespace

ClaimReader::ClaimReader(recall::Analyzer& analyzer) : analyzer_(analyzer) {
  for (const auto& [one, other] : kOpposites) {
    opposites_[0].push_back(analyzer.stem(one));
    opposites_[1].push_back(analyzer.stem(other));
  }
}

Claim ClaimReader::read(std::string_view text) {
  Claim claim;
  SecretBytes folded, rest;
  recall::Folder().fold(text, folded);
  const Words words = words_of(folded.view());
  Figures figures(words, claim);
  for (std::size_t at = 0; at < words.size();) {
    const std::string_view word = words[at];
    if (const std::size_t size = figures.take(at)) {
      at += size;
      continue;
    }
    bool plain = true;
    const std::string stem = analyzer_.stem(word);
    for (const int side : {0, 1}) {
      for (std::size_t i = 0; i < opposites_[side].size(); ++i) {
        if (stem != opposites_[side][i]) continue;
        claim.opposites[side] |= 1u << i;
        plain = false;
      }
    }
    if (negates(word)) {
      claim.negated = true;
      plain = false;
      if (word == "no" && at + 1 < words.size() && words[at + 1] == "longer") ++at;
    }
    if (plain) {
      rest.append(word);
      rest.append(" ");
    }
    ++at;
  }
  for (const auto& term : analyzer_.analyze(rest.view()).terms) claim.rest.emplace_back(term.text);
  for (auto* all : {&claim.rest, &claim.numbers, &claim.versions, &claim.dates}) make_set(*all);
  return claim;
}

std::string_view disagreement(const Claim& a, const Claim& b) {
  const bool negation = a.negated != b.negated, opposite = opposed(a, b),
             date = differ(a.dates, b.dates), version = differ(a.versions, b.versions),
             number = differ(a.numbers, b.numbers);
  if (!(negation || opposite || date || version || number) || !alike(a, b)) return {};
  if (negation) return "negation";
  if (opposite) return "opposite";
  if (date) return "date";
  return version ? "version" : "number";
}

}  // namespace strongroom::service
