#include "recall/query_terms.h"

#include <algorithm>
#include <cmath>

#include "recall/ranking.h"

namespace strongroom::recall {
namespace {

std::size_t code_points(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return n;
}

// The terms of the query's own words for a time.
std::unordered_set<std::string> words_of_times(Analyzer& analyzer, const SearchQuery& query) {
  std::unordered_set<std::string> words;
  for (const TimeExpression& time : query.times) {
    for (QueryTerm& term : analyzer.query(query.text.substr(time.begin, time.end - time.begin))) {
      words.insert(std::move(term.text));
    }
  }
  return words;
}

}  // namespace

float ScoredTerm::of(Row row) const {
  const auto at =
      std::lower_bound(postings.begin(), postings.end(), row,
                       [](const IndexView::Posting& posting, Row r) { return posting.row < r; });
  return at == postings.end() || at->row != row ? 0.0f : worth[at->code];
}

QueryTerms::QueryTerms(IndexView& view, Analyzer& analyzer, const SearchQuery& query,
                       SearchOutcome& out)
    : view_(view), analyzer_(analyzer), query_(query), out_(out) {
  const std::unordered_set<std::string> times = words_of_times(analyzer, query);
  for (const QueryTerm& term : analyzer_.query(query_.text)) {
    SearchedTerm& searched = out_.terms.emplace_back();
    searched.term = term.text;
    ScoredTerm scored;
    scored.text = term.text;
    scored.whole = term.whole;
    scored.tells_time = times.count(term.text) != 0;
    searched.live_rows = view_.postings(view_.term_id(term.text), scored.postings);
    searched.idf = idf(searched.live_rows);
    if (searched.live_rows == 0 && scored.postings.empty() && !term.word.empty() &&
        correct(term, searched)) {
      continue;
    }
    add(std::move(scored), searched.live_rows, 1.0);
  }
}

void QueryTerms::mark_entity(std::string_view name) {
  for (const QueryTerm& of_name : analyzer_.query(name)) {
    for (ScoredTerm& term : terms_) {
      if (term.text == of_name.text) term.names_entity = true;
    }
  }
}

float QueryTerms::score(Row row) const {
  float sum = 0;
  for (const ScoredTerm& term : terms_) sum += term.of(row);
  return sum;
}

double QueryTerms::idf(std::uint64_t live) const {
  const auto n = static_cast<double>(view_.live_rows()), df = static_cast<double>(live);
  return std::log(1.0 + std::max(n - df + 0.5, 0.5) / (df + 0.5));
}

void QueryTerms::add(ScoredTerm term, std::uint64_t live, double weight) {
  const double value = idf(live) * weight;
  const double average = view_.average_length();
  for (unsigned code = 0; code < 256; ++code) {
    const double tf = IndexView::frequency(static_cast<std::uint8_t>(code));
    const double length =
        IndexView::class_length(IndexView::length_class(static_cast<std::uint8_t>(code)));
    const double norm = ranking::kK1 * (1 - ranking::kB + ranking::kB * length / average);
    term.worth[code] = static_cast<float>(value * tf * (ranking::kK1 + 1) / (tf + norm));
  }
  term.attainable = value;
  out_.attainable += value;
  out_.postings += term.postings.size();
  term.rare = is_rare(term, live);
  terms_.push_back(std::move(term));
}

// In at most two memories; their passages may be several rows.
bool QueryTerms::is_rare(const ScoredTerm& term, std::uint64_t live) {
  if (live == 0 || live > ranking::kRareRows) return false;
  std::unordered_set<vault::RecordId> records;
  for (const IndexView::Posting& posting : term.postings) {
    if (view_.live(posting.row)) records.insert(view_.attributes(posting.row).record);
  }
  return !records.empty() && records.size() <= ranking::kRareMemories;
}

// The nearest known words stand in for an unknown one.
bool QueryTerms::correct(const QueryTerm& term, SearchedTerm& searched) {
  const std::size_t letters = code_points(term.word);
  if (letters < 4) return false;
  const unsigned limit = letters >= ranking::kTwoEditLetters ? 2 : 1;
  const auto near = view_.words_near(term.word, limit, 256);
  std::vector<std::pair<ScoredTerm, std::uint64_t>> found;
  std::unordered_set<std::string> stems;
  unsigned distance = limit + 1;
  for (const IndexView::NearWord& word : near) {
    if (stems.size() == ranking::kCorrections || word.distance > distance) break;
    std::string stem = analyzer_.stem(word.word);
    if (stems.count(stem) != 0) continue;
    ScoredTerm scored;
    const std::uint64_t live = view_.postings(view_.term_id(stem), scored.postings);
    if (live == 0) continue;  // every memory with it is gone
    if (!holds_form(scored.postings, word.word)) continue;
    distance = word.distance;
    stems.insert(stem);
    searched.corrected_to.push_back(word.word);
    searched.live_rows += live;
    found.push_back({std::move(scored), live});
  }
  if (stems.empty()) return false;
  const double weight = distance == 1 ? ranking::kOneEdit : ranking::kTwoEdits;
  for (auto& [scored, live] : found) {
    // Together they can attain what one word can.
    add(std::move(scored), live, weight / static_cast<double>(found.size()));
  }
  return true;
}

// The word list may still have forms that only forgotten memories had, until a merge and beyond
// where the stem lives on. So the texts decide, whatever segments there are.
bool QueryTerms::holds_form(const std::vector<IndexView::Posting>& postings,
                            const std::string& word) {
  if (!query_.text_of) return true;
  SecretBytes text;
  std::unordered_set<vault::RecordId> looked;
  for (const IndexView::Posting& posting : postings) {
    const vault::RecordId record = view_.attributes(posting.row).record;
    if (!looked.insert(record).second) continue;
    if (looked.size() > ranking::kFormMemories) return false;
    text.clear();
    query_.text_of(record, text);
    const auto& words = analyzer_.analyze(text.view()).words;
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  }
  return false;
}

}  // namespace strongroom::recall
