#include "recall/temporal.h"

#include <algorithm>
#include <array>

#include "recall/civil_time.h"
#include "recall/temporal_grammar.h"
#include "recall/temporal_words.h"

namespace strongroom::recall {

static_assert(kOpenStart == kFirstTime && kOpenUntil == kPastLastTime);

namespace temporal {
namespace {

using P = Preposition;

class Finder {
 public:
  Finder(std::string_view text, TimeMs reference, Reading reading)
      : text_(text),
        now_(std::clamp(reference, kFirstTime, kPastLastTime - 1)),
        reading_(reading),
        read_(tokenize(text)),
        grammar_(text, read_.tokens) {}

  std::vector<TimeExpression> run() {
    std::size_t at = 0;
    while (at < read_.tokens.size()) {
      const std::size_t next = take(at);
      at = next == 0 ? at + 1 : next;
    }
    return std::move(out_);
  }

 private:
  Frame frame(std::size_t at, P behind) const {
    const Sentence& sentence = read_.sentences[read_.tokens[at].sentence];
    Frame out{now_};
    out.future = reading_ == Reading::text && sentence.future;
    out.habit = sentence.always || (reading_ == Reading::text && sentence.habit);
    out.reading = reading_;
    out.behind = behind;
    return out;
  }

  // Takes the time whose first token is `at`, with the word before it that says how it is meant.
  // The token after it, or 0 when there is none.
  std::size_t take(std::size_t at) {
    P word = P::none;
    std::size_t first = at;
    const Token& token = read_.tokens[at];
    if (token.kind == Kind::preposition) {
      word = static_cast<P>(token.value);
      ++first;
    } else if (token.kind == Kind::as && grammar_.next(at + 1, Kind::of)) {
      word = P::until;  // "as of March 2023"
      first += 2;
    } else if (token.kind == Kind::prior && grammar_.next(at + 1, Kind::to)) {
      word = P::before;
      first += 2;
    }
    const Token* start = grammar_.get(first);
    if (!start || (word != P::none && start->gap != Gap::blank)) return 0;
    if (idle(first)) return 0;
    const Frame in = frame(at, word);
    const Found period = grammar_.period(first, in);
    if ((period && joint(period->next, word) != 0) || joint(first + 1, word) != 0) {
      if (const Found range = range_of(first, in)) return add(first, at, word, *range);
    }
    return period && word != P::between ? add(first, at, word, *period) : 0;
  }

  // True for a word that is no time by itself and that nothing follows: most of "the", "in", "two".
  bool idle(std::size_t at) const {
    const Token& token = read_.tokens[at];
    const Token* after = grammar_.get(at + 1);
    return (token.flags & kTrigger) == 0 && token.kind < Kind::number &&
           (!after || after->gap == Gap::other);
  }

  // The token behind the word between two ends of a range, or 0.
  std::size_t joint(std::size_t at, P word) const {
    const Token* token = grammar_.get(at);
    if (!token) return 0;
    if (token->gap == Gap::dash) return word == P::between ? 0 : at;
    if (token->gap != Gap::blank) return 0;
    const bool through =
        token->kind == Kind::preposition && (token->value == static_cast<int>(P::until) ||
                                             token->value == static_cast<int>(P::through));
    const bool to = token->kind == Kind::to || (through && word == P::from);
    if (word == P::between ? token->kind != Kind::and_ : !to) return 0;
    const Token* after = grammar_.get(at + 1);
    return after && after->gap == Gap::blank ? at + 1 : 0;
  }

  // "between June and August 2024", "from 5 to 8 May", "June-August 2024", "2019-2021".
  Found range_of(std::size_t at, Frame in) const {
    const P word = in.behind;
    const bool announced = word != P::none;
    in.behind = P::during;
    const Token& token = read_.tokens[at];
    const bool number = token.kind == Kind::number || token.kind == Kind::ordinal;
    Found first = range_end(at, in);
    const bool bare = !first && number && (word == P::between || word == P::from);
    if (!first && !bare) return std::nullopt;
    const std::size_t second_at = joint(first ? first->next : at + 1, word);
    if (second_at == 0) return std::nullopt;
    Found second = range_end(second_at, in);
    if (!second || (!announced && second->certainty != Certainty::explicit_date)) {
      return std::nullopt;
    }
    if (bare) return same_month(token.value, *second);
    if (first->floating && !second->floating) {
      first = range_end(at, at_time(in, second->start, false));
      if (first) first->certainty = second->certainty;
    } else if (second->floating) {
      second = range_end(second_at, at_time(in, first->start, true));
    }
    if (!first || !second || second->until <= first->start) return std::nullopt;
    // 1950-2000 alone may be a range of anything.
    if (!announced && number && second->granularity == Granularity::year) return std::nullopt;
    second->start = first->start;
    second->granularity = std::max(first->granularity, second->granularity);
    second->certainty = std::max(first->certainty, second->certainty);
    return second;
  }

  static Frame at_time(Frame frame, TimeMs now, bool future) {
    frame.now = std::clamp(now, kFirstTime, kPastLastTime - 1);
    frame.future = future;
    return frame;
  }

  // An end of a range; "recently" and its kind end none.
  Found range_end(std::size_t at, const Frame& frame) const {
    const Found out = grammar_.period(at, frame);
    return out && out->certainty == Certainty::vague ? std::nullopt : out;
  }

  // "5" of "from 5 to 8 May".
  static Found same_month(std::int64_t number, Period last) {
    const Date date = date_of(day_at(std::clamp(last.start, kFirstTime, kPastLastTime - 1)));
    if (last.granularity != Granularity::day || number < 1 || number >= date.day) {
      return std::nullopt;
    }
    last.start = midnight(day_of(date.year, date.month, static_cast<int>(number)));
    last.granularity = Granularity::week;
    return last;
  }

  std::size_t add(std::size_t first, std::size_t at, P word, const Period& period) {
    TimeExpression out{read_.tokens[first].begin,
                       read_.tokens[period.next - 1].end,
                       period.start,
                       period.until,
                       period.granularity,
                       period.certainty,
                       Relation::in};
    relate(out, word);
    if (out.relation != Relation::in || word == P::between) out.begin = read_.tokens[at].begin;
    const bool inside = period.start >= kFirstTime && period.until <= kPastLastTime;
    const bool soft = out.relation != Relation::in && period.granularity == Granularity::vague;
    if (inside && out.start < out.until && !joined(out) && !soft) out_.push_back(out);
    return period.next;
  }

  static void relate(TimeExpression& out, P word) {
    switch (word) {
      case P::before:
        out.until = out.start;
        out.start = kOpenStart;
        out.relation = Relation::before;
        break;
      case P::until:
      case P::by:
        out.start = kOpenStart;
        out.relation = Relation::before;
        break;
      case P::since:
        out.until = kOpenUntil;
        out.relation = Relation::after;
        break;
      case P::after:
        out.start = out.until;
        out.until = kOpenUntil;
        out.relation = Relation::after;
        break;
      default: break;
    }
  }

  // True when the words go on without a gap: "post-May", "yesterday-ish", "2023%".
  bool joined(const TimeExpression& out) const {
    constexpr std::string_view kAfter = "_/\\%$@#=&";
    const auto letter = [&](std::size_t at) { return at < text_.size() && is_letter(text_[at]); };
    if (out.begin > 1 && text_[out.begin - 1] == '-' && letter(out.begin - 2)) return true;
    if (out.end >= text_.size()) return false;
    const char after = text_[out.end];
    if (after == '-') return letter(out.end + 1);
    return kAfter.find(after) != std::string_view::npos;
  }

  std::string_view text_;
  TimeMs now_;
  Reading reading_;
  Tokens read_;
  Grammar grammar_;
  std::vector<TimeExpression> out_;
};

// The next word of `text` from `at` on, in lower case, of at most eight letters; moves `at`.
struct ShortWord {
  std::array<char, 8> letters{};
  std::size_t size = 0;
  std::string_view view() const { return {letters.data(), size}; }
};

ShortWord take_word(std::string_view text, std::size_t& at) {
  ShortWord out;
  while (at < text.size() && !is_letter(text[at])) ++at;
  for (; at < text.size() && is_letter(text[at]); ++at) {
    if (out.size < out.letters.size()) out.letters[out.size++] = static_cast<char>(text[at] | 0x20);
  }
  return out;
}

template <std::size_t kSize>
bool one_of(const ShortWord& word, const std::array<std::string_view, kSize>& words) {
  return std::find(words.begin(), words.end(), word.view()) != words.end();
}

bool asks_when(std::string_view query) {
  static constexpr std::array<std::string_view, 8> kBefore = {"in", "on",    "at",    "by",
                                                              "so", "since", "until", "and"};
  static constexpr std::array<std::string_view, 17> kVerbs = {
      "did", "do",  "does", "was", "were",   "is",    "are",   "will", "has",
      "had", "can", "have", "am",  "should", "would", "could", "s"};
  static constexpr std::array<std::string_view, 9> kTimes = {
      "date", "day", "time", "year", "month", "week", "season", "decade", "weekend"};
  std::size_t at = 0;
  ShortWord word = take_word(query, at);
  if (one_of(word, kBefore)) word = take_word(query, at);
  const ShortWord second = take_word(query, at);
  if (word.view() == "when") return second.size == 0 || one_of(second, kVerbs);
  const ShortWord third = take_word(query, at);
  if (word.view() == "how" && second.view() == "long") return third.view() == "ago";
  if (word.view() != "what" && word.view() != "which") return false;
  return one_of(second, kTimes) &&
         (third.size == 0 || third.view() == "of" || one_of(third, kVerbs));
}

// The rank of occurred_time(), from 1; 0 for what does not count.
int rank(const TimeExpression& time) {
  if (time.relation != Relation::in || time.certainty == Certainty::vague ||
      time.granularity >= Granularity::decade) {
    return 0;
  }
  return 1 + (time.granularity > Granularity::day ? 2 : 0) +
         (time.certainty == Certainty::relative ? 1 : 0);
}

}  // namespace
}  // namespace temporal

std::vector<TimeExpression> find_times(std::string_view text, TimeMs reference, Reading reading) {
  if (!temporal::may_hold_time(text)) return {};
  return temporal::Finder(text, reference, reading).run();
}

QueryTimes query_times(std::string_view query, TimeMs reference) {
  QueryTimes out{find_times(query, reference, Reading::query), temporal::asks_when(query)};
  const auto dated = [](const TimeExpression& time) {
    return time.certainty == Certainty::explicit_date;
  };
  // "which lamp did Jo order recently, on 12 June 2022": recently from then.
  if (std::any_of(out.spans.begin(), out.spans.end(), dated)) {
    std::erase_if(out.spans, [](const TimeExpression& time) {
      return time.granularity == Granularity::vague;
    });
  }
  return out;
}

std::optional<TimeExpression> occurred_time(const std::vector<TimeExpression>& times) {
  constexpr int kMostOthers = 3;
  const TimeExpression* best = nullptr;
  for (const TimeExpression& time : times) {
    const int rank = temporal::rank(time);
    if (rank != 0 && (best == nullptr || rank < temporal::rank(*best))) best = &time;
  }
  if (best == nullptr) return std::nullopt;
  const auto others = std::count_if(times.begin(), times.end(), [&](const TimeExpression& time) {
    return temporal::rank(time) != 0 && (time.until <= best->start || time.start >= best->until);
  });
  if (others > kMostOthers) return std::nullopt;
  return *best;
}

std::string describe(const TimeExpression& time) {
  const auto date = [](TimeMs at) { return format_time(at).substr(0, 10); };
  const auto minute = [](TimeMs at) { return format_time(at).substr(0, 16) + "Z"; };
  const bool days = time.start % kDayMs == 0 && time.until % kDayMs == 0;
  if (days && time.until - time.start == kDayMs) return date(time.start);
  const std::string from = time.start == kOpenStart ? ".."
                           : days                   ? date(time.start)
                                                    : minute(time.start);
  const std::string to = time.until == kOpenUntil ? ".."
                         : days                   ? date(time.until - 1)
                                                  : minute(time.until);
  return from + "/" + to;
}

std::string_view granularity_name(Granularity granularity) noexcept {
  constexpr std::array<std::string_view, 10> kNames = {"hour",   "part_of_day", "day",     "week",
                                                       "month",  "season",      "quarter", "year",
                                                       "decade", "vague"};
  return kNames[static_cast<std::size_t>(granularity)];
}

}  // namespace strongroom::recall
