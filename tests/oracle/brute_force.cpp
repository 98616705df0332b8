#include "brute_force.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "recall/columns.h"
#include "recall/ranking.h"

namespace strongroom::oracle {

using recall::Analyzer;
using recall::QueryTerm;
using recall::RowTimes;
using recall::SearchFilter;
using recall::SearchQuery;
namespace ranking = recall::ranking;

void Row::set_text(const recall::AnalyzedText& text) {
  terms.clear();
  words.clear();
  for (const auto& term : text.terms) terms[std::string(term.text)] = term.frequency;
  for (const auto word : text.words) words.emplace_back(word);
  length_class = recall::length_class_of(text.length);
}

void Row::set_vector(const recall::Embedding& embedding) {
  vector.assign(embedding.values().begin(), embedding.values().end());
  scale = embedding.scale;
}

std::uint32_t Rows::add(Row row, std::uint32_t previous) {
  const auto number = static_cast<std::uint32_t>(all.size());
  row.previous = previous;
  row.next = 0;
  row.closed = row.dead = false;
  all.push_back(std::move(row));
  if (previous != 0 && !all[previous].dead) all[previous].next = number;
  return number;
}

void Rows::take_place(std::uint32_t old_first, std::uint32_t old_last, std::uint32_t fresh_first,
                      std::uint32_t fresh_last) {
  const std::uint32_t before = all[old_first].previous, after = all[old_last].next;
  all[fresh_first].previous = before;
  all[fresh_last].next = after;
  if (before != 0 && !all[before].dead) all[before].next = fresh_first;
  if (after != 0 && !all[after].dead) all[after].previous = fresh_last;
}

void Rows::close(std::uint32_t row, TimeMs until) {
  if (!all[row].current()) return;
  all[row].closed = true;
  all[row].times.believed_until = until;
}

void Rows::forget(std::uint32_t number) {
  Row& row = all[number];
  if (row.dead) return;
  if (row.previous != 0 && all[row.previous].next == number) all[row.previous].next = row.next;
  if (row.next != 0 && all[row.next].previous == number) all[row.next].previous = row.previous;
  row = Row();
  row.dead = true;
}

// ---- who may be found

namespace {

bool type_passes(const Row& row, const SearchFilter& filter) {
  if ((filter.types >> static_cast<unsigned>(row.type) & 1) != 0) return true;
  return filter.permanent && row.importance == 255;
}

bool belief_passes(const Row& row, const SearchFilter& filter) {
  const RowTimes& t = row.times;
  if (filter.as_of) {
    return t.believed_from <= *filter.as_of && *filter.as_of < t.believed_until &&
           *filter.as_of < t.expires;
  }
  if (filter.include_invalid) return true;
  return !row.closed && t.expires > filter.now;
}

bool window_passes(const Row& row, const SearchFilter& filter) {
  if (!filter.window) return true;
  const RowTimes& t = row.times;
  TimeMs start = t.mentioned, end = t.mentioned;
  if (row.dated) {
    start = t.occurred_start == RowTimes::kNever ? t.occurred_end : t.occurred_start;
    end = t.occurred_end == RowTimes::kNever ? t.occurred_start : t.occurred_end;
  }
  return start <= filter.window->end && end >= filter.window->start;
}

}  // namespace

bool visible(const Row& row, const SearchFilter& filter) {
  return !row.dead && type_passes(row, filter) && (!filter.tags || filter.tags(row.tags)) &&
         belief_passes(row, filter) && window_passes(row, filter);
}

// ---- ranking

namespace {

struct Term {
  std::vector<float> worth;  // by row; 0 where it does not occur
  double attainable = 0;
  bool rare = false, whole = false;
  bool tells_time = false;
};

class Ranking {
 public:
  Ranking(const Rows& rows, Analyzer& analyzer, const SearchQuery& query)
      : rows_(rows), analyzer_(analyzer), query_(query) {
    std::uint64_t length = 0;
    for (std::uint32_t r = 1; r < end(); ++r) {
      if (!row(r).current()) continue;
      ++live_;
      length += static_cast<std::uint64_t>(recall::IndexView::class_length(row(r).length_class));
    }
    if (live_ != 0) average_ = static_cast<double>(length) / static_cast<double>(live_);
    for (std::uint32_t r = 0; r < end(); ++r) {
      seen_.push_back(r != 0 && visible(row(r), query.filter));
    }
  }

  std::vector<Hit> run() {
    find_terms();
    names_only_ = asks_for_names();
    score_words();
    score_meaning();
    score_times();
    find_candidates();
    if (query_.structure) {
      add_neighbours();
      find_sessions();
      find_speaker();
    }
    for (const std::uint32_t r : candidates_) best_own_ = std::max(best_own_, own(r));
    make_hits();
    sort_hits();
    if (query_.depth.look_again) look_again();
    set_copies_apart();
    scale();
    std::stable_sort(hits_.begin(), hits_.end(),
                     [](const Hit& a, const Hit& b) { return a.final > b.final; });
    promote(&Hit::whole);
    promote(&Hit::guaranteed);
    return hits_;
  }

 private:
  std::uint32_t end() const { return static_cast<std::uint32_t>(rows_.all.size()); }
  const Row& row(std::uint32_t number) const { return rows_.all[number]; }

  // ---- terms
  std::vector<std::uint32_t> rows_with(const std::string& term) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t r = 1; r < end(); ++r) {
      if (!row(r).dead && row(r).terms.count(term) != 0) found.push_back(r);
    }
    return found;
  }
  std::uint64_t live_of(const std::vector<std::uint32_t>& found) const {
    std::uint64_t live = 0;
    for (const std::uint32_t r : found) live += row(r).closed ? 0u : 1u;
    return live;
  }

  void find_terms() {
    std::set<std::string> of_times;
    for (const recall::TimeExpression& time : query_.times) {
      const std::string words(query_.text.substr(time.begin, time.end - time.begin));
      for (const QueryTerm& term : analyzer_.query(words)) of_times.insert(term.text);
    }
    for (const QueryTerm& asked : analyzer_.query(query_.text)) {
      if (rows_with(asked.text).empty() && !asked.word.empty() && correct(asked.word)) continue;
      add_term(asked.text, 1.0, asked.whole);
      terms_.back().tells_time = of_times.count(asked.text) != 0;
    }
  }

  void add_term(const std::string& text, double weight, bool whole) {
    const std::vector<std::uint32_t> found = rows_with(text);
    const auto n = static_cast<double>(live_), df = static_cast<double>(live_of(found));
    const double idf = std::log(1.0 + std::max(n - df + 0.5, 0.5) / (df + 0.5));
    Term term;
    term.whole = whole;
    term.attainable = idf * weight;
    term.worth.resize(end());
    std::set<std::uint64_t> records;
    for (const std::uint32_t r : found) {
      const double tf = std::min(row(r).terms.at(text), 8u);
      const double length = recall::IndexView::class_length(row(r).length_class);
      const double norm = ranking::kK1 * (1 - ranking::kB + ranking::kB * length / average_);
      term.worth[r] = static_cast<float>(term.attainable * tf * (ranking::kK1 + 1) / (tf + norm));
      if (!row(r).closed) records.insert(row(r).record);
    }
    term.rare = !records.empty() && records.size() <= ranking::kRareMemories &&
                live_of(found) <= ranking::kRareRows;
    attainable_ += term.attainable;
    terms_.push_back(std::move(term));
  }

  // The nearest words that are known stand in for an unknown one: one edit away, or two where it
  // has eight letters; the same first two letters; at most three stems, all at one distance.
  bool correct(const std::string& word) {
    const auto letters =
        static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        }));
    if (letters < 4) return false;
    const unsigned limit = letters >= ranking::kTwoEditLetters ? 2 : 1;
    std::set<std::pair<unsigned, std::string>> near;
    for (std::uint32_t r = 1; r < end(); ++r) {
      for (const std::string& known : row(r).words) {
        if (known == word || first_two(known) != first_two(word)) continue;
        const unsigned distance = recall::edit_distance(word, known, limit);
        if (distance <= limit) near.insert({distance, known});
      }
    }
    std::vector<std::string> stems;
    unsigned nearest = 0;
    for (const auto& [distance, known] : near) {
      if (nearest != 0 && distance > nearest) break;
      if (stems.size() == ranking::kCorrections) break;
      const std::string stem = analyzer_.stem(known);
      if (std::find(stems.begin(), stems.end(), stem) != stems.end()) continue;
      if (live_of(rows_with(stem)) == 0) continue;
      nearest = distance;
      stems.push_back(stem);
    }
    const double weight = nearest == 1 ? ranking::kOneEdit : ranking::kTwoEdits;
    for (const std::string& stem : stems) {
      add_term(stem, weight / static_cast<double>(stems.size()), false);
    }
    return !stems.empty();
  }

  static std::string first_two(const std::string& word) {
    std::size_t at = 0;
    for (int i = 0; i < 2 && at < word.size(); ++i) {
      do {
        ++at;
      } while (at < word.size() && (static_cast<unsigned char>(word[at]) & 0xC0) == 0x80);
    }
    return word.substr(0, at);
  }

  // ---- scores
  void score_words() {
    lexical_.resize(end());
    for (const Term& term : terms_) {
      for (std::uint32_t r = 1; r < end(); ++r) {
        if (seen_[r]) lexical_[r] += term.worth[r];
      }
    }
  }

  void score_meaning() {
    cosine_.resize(end());
    meaning_ = query_.vector && query_.vector->model == rows_.model;
    if (!meaning_) return;
    const recall::Embedding& asked = *query_.vector->embedding;
    for (std::uint32_t r = 1; r < end(); ++r) {
      const std::vector<std::int8_t>& vector = row(r).vector;
      std::int32_t dot = 0;
      for (std::size_t d = 0; d < vector.size(); ++d) dot += vector[d] * asked.values()[d];
      cosine_[r] = static_cast<float>(dot) * row(r).scale * asked.scale;
    }
  }

  // What of a row's cosine is evidence.
  double evidence(double cosine) const {
    const double low{query_.vector->curve.c0}, high{query_.vector->curve.c1};
    return std::min(std::max((cosine - low) / (high - low), 0.0), 1.0);
  }

  // When it happened fits best, then when it was said; where both are known, half as much.
  void score_times() {
    temporal_.resize(end());
    if (!query_.temporal) return;
    for (std::uint32_t r = 1; r < end(); ++r) {
      const RowTimes& t = row(r).times;
      for (const recall::TimeExpression& asked : query_.times) {
        double fits = 0;
        if (t.mentioned >= asked.start && t.mentioned < asked.until) {
          fits = row(r).dated ? ranking::kMentionedTime : 1;
        }
        if (row(r).dated && t.occurred_start < asked.until && t.occurred_end >= asked.start) {
          fits = 1;
        }
        if (asked.certainty == recall::Certainty::vague) fits *= ranking::kVagueTime;
        temporal_[r] = std::max(temporal_[r], fits);
      }
    }
  }

  // Every word of the query that is looked for is an identifier.
  bool asks_for_names() {
    std::istringstream in{std::string(query_.text)};
    bool any = false;
    for (std::string word; in >> word;) {
      const auto terms = analyzer_.query(word);
      bool whole = false;
      for (const auto& term : terms) whole = whole || term.whole;
      if (!terms.empty() && !whole) return false;
      any = any || whole;
    }
    return any;
  }

  // Words, meaning and time. The latter two in units of the best by words.
  double own(std::uint32_t r) const {
    double weight = row(r).speaker.empty() ? ranking::kMeaningOfText : ranking::kMeaningOfSpeech;
    if (names_only_) weight = ranking::kMeaningOfNames;
    double score = query_.lexical ? double{lexical_[r]} : 0;
    const auto rare = guaranteed_.find(r);
    const bool named = rare != guaranteed_.end() && rare->second;
    if (meaning_) score += unit_ * weight * (named ? 1.0 : evidence(cosine_[r]));
    return score + unit_ * ranking::kTemporal * temporal_[r];
  }

  // ---- candidates
  // The best rows by words, the nearest, the newest of the time; those with a rare term.
  void find_candidates() {
    for (std::uint32_t r = 1; r < end(); ++r) {
      if (lexical_[r] > 0) best_.push_back(r);
    }
    best_ = first_by(lexical_, best_);
    candidates_.insert(best_.begin(), best_.end());
    unit_ = std::max(best_.empty() ? 0.0 : double{lexical_[best_.front()]},
                     ranking::kLeastUnit * attainable_);
    if (unit_ <= 0) unit_ = 1;

    std::vector<std::uint32_t> near;
    for (std::uint32_t r = 1; r < end(); ++r) {
      if (seen_[r] && cosine_[r] > 0) near.push_back(r);
    }
    near = first_by(cosine_, near);
    if (!near.empty()) top_cosine_ = cosine_[near.front()];
    for (const std::uint32_t r : near) {
      if (evidence(cosine_[r]) > 0) candidates_.insert(r);
    }

    std::size_t in_time = 0;
    for (std::uint32_t r = end(); r-- > 1 && end() - r <= ranking::kTemporalRows;) {
      if (!seen_[r] || temporal_[r] <= 0 || in_time == query_.candidates) continue;
      ++in_time;
      candidates_.insert(r);
    }

    for (const Term& term : terms_) {
      for (std::uint32_t r = 1; term.rare && r < end(); ++r) {
        if (term.worth[r] == 0 || !seen_[r]) continue;
        candidates_.insert(r);
        guaranteed_[r] = guaranteed_[r] || term.whole;
      }
    }
  }

  std::vector<std::uint32_t> first_by(const std::vector<float>& scores,
                                      std::vector<std::uint32_t> found) const {
    std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    if (found.size() > query_.candidates) found.resize(query_.candidates);
    return found;
  }

  void add_neighbours() {
    const std::set<std::uint32_t> seeds = candidates_;
    for (const std::uint32_t r : seeds) {
      if (lexical_[r] <= 0) continue;
      for (const std::uint32_t beside : {row(r).previous, row(r).next}) {
        if (beside != 0 && seen_[beside]) candidates_.insert(beside);
      }
    }
  }

  // The mean of a document's three best rows.
  void find_sessions() {
    std::map<std::uint32_t, std::vector<double>> of;
    for (const std::uint32_t r : best_) {
      if (row(r).document != 0) of[row(r).document].push_back(double{lexical_[r]});
    }
    for (auto& [document, scores] : of) {
      scores.resize(3);
      sessions_[document] = (scores[0] + scores[1] + scores[2]) / 3;
    }
  }

  void find_speaker() {
    std::set<std::string> words;
    for (const QueryTerm& term : analyzer_.query(query_.text)) words.insert(term.text);
    std::set<std::string> present;
    for (const std::uint32_t r : candidates_) present.insert(row(r).speaker);
    present.erase("");
    for (const std::string& name : present) {
      const std::vector<QueryTerm> parts = analyzer_.query(name);
      const bool named = !parts.empty() &&
                         std::all_of(parts.begin(), parts.end(),
                                     [&](const QueryTerm& t) { return words.count(t.text) != 0; });
      if (!named) continue;
      ++named_;
      speaker_ = name;
    }
    if (named_ != 1) speaker_.clear();
  }

  double lent_by(std::uint32_t r) const { return r != 0 && seen_[r] ? double{lexical_[r]} : 0; }

  std::uint32_t previous_of(std::uint32_t r) const { return r == 0 ? 0 : row(r).previous; }
  std::uint32_t next_of(std::uint32_t r) const { return r == 0 ? 0 : row(r).next; }

  double lent_to(std::uint32_t r) const {
    if (!query_.structure) return 0;
    const Row& at = row(r);
    const ranking::Lending& lending = at.speaker.empty() ? ranking::kText : ranking::kConversation;
    double lent = lending.previous * lent_by(at.previous) + lending.next * lent_by(at.next);
    if (lending.second > 0) {
      const std::uint32_t before2 = previous_of(at.previous), behind2 = next_of(at.next);
      const std::uint32_t before3 = previous_of(before2), behind3 = next_of(behind2);
      lent += lending.second * (lent_by(before2) + lent_by(behind2)) +
              lending.third * (lent_by(before3) + lent_by(behind3));
    }
    const auto session = sessions_.find(at.document);
    if (session != sessions_.end()) lent += lending.session * session->second;
    if (!speaker_.empty() && at.speaker == speaker_ && own(r) + lent > 0) {
      lent += ranking::kSpeaker * best_own_;
    }
    return lent;
  }

  static double score_of(double evidence) { return 1 - std::exp(-ranking::kSlope * evidence); }

  // A memory counts as its best passage; of equal ones as the first.
  void make_hits() {
    std::map<std::uint64_t, Hit> by_record;
    for (const std::uint32_t r : candidates_) {
      Hit hit;
      hit.row = r;
      hit.record = row(r).record;
      // Without the lexical arm words count for what they lend alone.
      const double by_words = query_.lexical ? double{lexical_[r]} : 0, lent = lent_to(r);
      const double score = own(r) + lent;
      if (score <= 0) continue;
      const double attainable = attainable_ > 0 ? attainable_ : unit_;
      hit.keyword = score_of(std::min(by_words / attainable, 1.0));
      hit.semantic = meaning_ ? evidence(cosine_[r]) : 0;
      hit.temporal = temporal_[r];
      hit.graph = score_of(std::min(lent / attainable, 1.0));
      hit.guaranteed = guaranteed_.count(r) != 0;
      hit.whole = hit.guaranteed && guaranteed_.at(r);
      hit.prior = prior_of(row(r));
      hit.similarity = score;
      hit.final = hit.similarity * hit.prior.product();
      const auto [at, fresh] = by_record.try_emplace(hit.record, hit);
      if (fresh) continue;
      const bool sure = at->second.guaranteed || hit.guaranteed;
      const bool whole = at->second.whole || hit.whole;
      if (hit.final > at->second.final) at->second = hit;
      at->second.guaranteed = sure;
      at->second.whole = whole;
    }
    for (const auto& [record, hit] : by_record) hits_.push_back(hit);
  }

  void sort_hits() {
    std::sort(hits_.begin(), hits_.end(), [](const Hit& a, const Hit& b) {
      return a.final != b.final ? a.final > b.final : a.record < b.record;
    });
  }

  recall::Prior prior_of(const Row& at) const {
    const double hours = static_cast<double>(query_.query_time) / 3'600'000.0 - at.created_hours;
    const double days = std::max(0.0, hours / 24);
    double rate =
        at.type == vault::MemoryType::experience ? ranking::kDecayExperience : ranking::kDecayWorld;
    if (at.importance == 255) rate = 0;  // permanent
    recall::Prior prior;
    prior.weight =
        1 + ranking::kWeightSpan * (at.importance / 255.0 * std::exp(-rate * days) - 0.5);
    prior.recency = 1 + ranking::kRecencySpan * (std::exp(-days / ranking::kRecencyDays) - 0.5);
    prior.scope = query_.scope_prior;
    if (query_.prefer_observations && at.type == vault::MemoryType::observation) {
      prior.type = ranking::kObservationPrior;
    }
    return prior;
  }

  // The share of the query's weight that a row and its neighbours have between them.
  double coverage(std::uint32_t r) const {
    std::vector<std::uint32_t> around{r};
    for (const std::uint32_t beside : {row(r).previous, row(r).next}) {
      if (query_.structure && beside != 0 && seen_[beside]) around.push_back(beside);
    }
    double covered = 0;
    for (const Term& term : terms_) {
      double most = 0;
      for (const std::uint32_t one : around) most = std::max<double>(most, term.worth[one]);
      // What lies in a time holds the words for it.
      if (term.tells_time) most = std::max(most, term.attainable * temporal_[r]);
      covered += std::min(most, term.attainable);
    }
    return attainable_ > 0 ? covered / attainable_ : temporal_[r];
  }

  double between(std::size_t a, std::size_t b) const {
    const Row &one = row(hits_[a].row), &other = row(hits_[b].row);
    std::int32_t dot = 0;
    for (std::size_t d = 0; d < std::min(one.vector.size(), other.vector.size()); ++d) {
      dot += one.vector[d] * other.vector[d];
    }
    return double{static_cast<float>(dot) * one.scale * other.scale};
  }
  static double share(double value, double low, double high) {
    return std::min(std::max((value - low) / (high - low), 0.0), 1.0);
  }

  // Turns behind the tenth place gain by being like one of the best three, those behind the
  // twentieth by standing beside what is near the query; up to the score of the place before.
  void look_again() {
    if (!meaning_ || names_only_) return;
    move_up(ranking::kSettledPlaces, [&](std::size_t i) {
      double near = 0;
      for (std::size_t j = 0; j < ranking::kLookedLike; ++j) {
        near = std::max(near, hits_[j].final / hits_[0].final *
                                  share(between(i, j), ranking::kLikeLow, ranking::kLikeHigh));
      }
      return ranking::kLookAgain * unit_ * near;
    });
    move_up(ranking::kSettledMeaning, [&](std::size_t i) {
      double near = 0;
      for (const std::uint32_t r : {row(hits_[i].row).previous, row(hits_[i].row).next}) {
        if (r != 0 && seen_[r]) near += evidence(cosine_[r]);
      }
      return ranking::kLentMeaning * unit_ * near;
    });
  }

  template <class Gain>
  void move_up(std::size_t settled, const Gain& gain) {
    if (hits_.size() <= settled) return;
    std::vector<Hit> behind;
    for (std::size_t i = settled; i < hits_.size(); ++i) {
      Hit hit = hits_[i];
      if (!row(hit.row).speaker.empty()) {
        const double priors = hit.final / hit.similarity;
        hit.similarity += gain(i);
        hit.final = hit.similarity * priors;
      }
      behind.push_back(hit);
    }
    const std::vector<Hit> front(hits_.begin(),
                                 hits_.begin() + static_cast<std::ptrdiff_t>(settled));
    hits_ = behind;
    sort_hits();
    for (Hit& hit : hits_) {
      if (hit.final <= front.back().final) continue;
      hit.similarity *= front.back().final / hit.final;
      hit.final = front.back().final;
    }
    hits_.insert(hits_.begin(), front.begin(), front.end());
  }

  // Of the first thirty the one that is worth most goes next, less the more it copies what is
  // there.
  void set_copies_apart() {
    if (!meaning_ || hits_.size() < 2) return;
    std::vector<std::size_t> left, order;
    for (std::size_t i = 0; i < std::min(ranking::kComparedPlaces, hits_.size()); ++i) {
      left.push_back(i);
    }
    while (!left.empty()) {
      std::size_t best = 0;
      double most = -1;
      for (std::size_t k = 0; k < left.size(); ++k) {
        double copied = 0;
        for (const std::size_t above : order) {
          if (row(hits_[left[k]].row).closed || row(hits_[above].row).closed) continue;
          copied = std::max(copied, share(between(left[k], above), ranking::kCopyLow, 1.0));
        }
        const double worth = hits_[left[k]].final * (1 - ranking::kCopyCosts * copied);
        if (worth > most) best = k;
        most = std::max(most, worth);
      }
      order.push_back(left[best]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    }
    std::vector<Hit> all;
    for (const std::size_t i : order) all.push_back(hits_[i]);
    for (std::size_t i = order.size(); i < hits_.size(); ++i) all.push_back(hits_[i]);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].final <= all[i - 1].final) continue;
      all[i].similarity *= all[i - 1].final / all[i].final;
      all[i].final = all[i - 1].final;
    }
    hits_ = std::move(all);
  }

  // What is more than an answerless question gets is spread by how far the first stands out.
  double spread(double score, double margin) const {
    if (!meaning_ || score <= ranking::kSureFrom) return score;
    const double span = ranking::kMostSure - ranking::kSureFrom;
    double u = (score - ranking::kSureFrom) / span;
    if (u < 1) u = u * u;
    const double full = std::min(margin / ranking::kFullMargin, 1.0);
    return ranking::kSureFrom + span * u * (ranking::kUnmatched + (1 - ranking::kUnmatched) * full);
  }

  void scale() {
    if (hits_.empty()) return;
    double behind = 0;
    for (std::size_t i = 1; i < std::min(ranking::kMarginPlaces + 1, hits_.size()); ++i) {
      behind += hits_[i].final / hits_[0].final;
    }
    const double margin = 1 - behind / static_cast<double>(ranking::kMarginPlaces);
    double confidence = 0, top = 0;
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      if (i < ranking::kCoverageRows) confidence = std::max(confidence, coverage(hits_[i].row));
      top = std::max(top, hits_[i].similarity);
    }
    if (meaning_ && !names_only_) {
      const double near =
          (evidence(top_cosine_) - ranking::kNearLow) / (ranking::kNearHigh - ranking::kNearLow);
      confidence +=
          ranking::kMeaningConfidence * std::min(std::max(near, 0.0), 1.0) * (1 - confidence);
    }
    if (named_ != 0) confidence += ranking::kNamedSpeaker * (1 - confidence);
    const double best =
        meaning_ ? ranking::kMostSure * confidence * std::sqrt(confidence) : score_of(confidence);
    const double unit = best / top;
    // Guaranteed ones stay, however far behind.
    std::vector<Hit> kept;
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      if (i < query_.candidates || hits_[i].guaranteed) kept.push_back(hits_[i]);
    }
    hits_ = std::move(kept);
    for (Hit& hit : hits_) {
      hit.final = spread(hit.final * unit, margin);
      hit.similarity = hit.final / hit.prior.product();
      if (!hit.whole || hit.similarity >= ranking::kRareEvidence) continue;
      hit.similarity = ranking::kRareEvidence;
      hit.final = hit.similarity * hit.prior.product();
    }
  }

  // What has a rare term is among the first five, a whole identifier before the rest: the last one
  // there that has none makes room, and all that are before it now have its score at least.
  void promote(bool Hit::*rare) {
    for (std::size_t i = ranking::kGuaranteedPlaces; i < hits_.size(); ++i) {
      if (!(hits_[i].*rare)) continue;
      std::size_t place = ranking::kGuaranteedPlaces;
      while (place > 0 && hits_[place - 1].*rare) --place;
      if (place == 0) return;
      const Hit lifted = hits_[i], out = hits_[place - 1];
      std::vector<Hit> all;
      for (std::size_t k = 0; k < hits_.size(); ++k) {
        if (k == i || k == place - 1) continue;
        if (all.size() == ranking::kGuaranteedPlaces - 1) {
          all.push_back(lifted);
          all.push_back(out);
        }
        all.push_back(hits_[k]);
      }
      if (all.size() < hits_.size()) {  // lifted from the very end to the very end
        all.push_back(lifted);
        all.push_back(out);
      }
      hits_ = std::move(all);
      for (std::size_t k = place - 1; k < ranking::kGuaranteedPlaces; ++k) {
        hits_[k].final = std::max(hits_[k].final, out.final);
      }
    }
  }

  const Rows& rows_;
  Analyzer& analyzer_;
  const SearchQuery& query_;
  std::uint64_t live_ = 0;
  double average_ = 1;
  std::vector<bool> seen_;  // by row: may be found, and lend
  std::vector<Term> terms_;
  double attainable_ = 0;
  std::vector<float> lexical_, cosine_;  // by row
  std::vector<double> temporal_;         // by row
  bool names_only_ = false;
  bool meaning_ = false;  // there are vectors to compare with
  double top_cosine_ = 0, unit_ = 1, best_own_ = 0;
  std::vector<std::uint32_t> best_;
  std::set<std::uint32_t> candidates_;
  std::map<std::uint32_t, bool> guaranteed_;  // row -> by a whole identifier
  std::map<std::uint32_t, double> sessions_;
  std::size_t named_ = 0;
  std::string speaker_;
  std::vector<Hit> hits_;
};

}  // namespace

std::vector<Hit> search(const Rows& rows, Analyzer& analyzer, const SearchQuery& query) {
  if (rows.all.size() <= 1) return {};
  return Ranking(rows, analyzer, query).run();
}

}  // namespace strongroom::oracle
