#include "service/reflect_themes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "base/utf8.h"
#include "recall/analyzer.h"
#include "service/reflect_words.h"

namespace strongroom::service {

namespace {

// A word in more results than this and than a quarter of them says nothing about which of them
// belong together; nor does an entity in more than half of them.
constexpr std::size_t kRareResults = 4;
constexpr std::size_t kSharedWords = 2;
constexpr std::size_t kLabelWords = 3;
constexpr std::size_t kLabelWordBytes = 64;

// A term or an entity, and the results that have it.
struct Feature {
  std::vector<std::size_t> results;  // ascending
  std::string word;                  // as the first of them says it
  bool entity = false;
  bool asked = false;  // the query has it, too
};

class Partition {
 public:
  explicit Partition(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  // The lowest index of its part.
  std::size_t root(std::size_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t one = root(a), other = root(b);
    parents_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> parents_;
};

// A number, or a single character, is in many texts by chance.
bool tells_something(std::string_view term) {
  const bool digits =
      std::all_of(term.begin(), term.end(), [](char c) { return c >= '0' && c <= '9'; });
  return !digits && utf8_sequence(term) < term.size();
}

class Grouping {
 public:
  Grouping(recall::Analyzer& analyzer, std::string_view query,
           const std::vector<FoundMemory>& results)
      : results_(results), parts_(results.size()) {
    const TermWords asked = term_words(analyzer, query);
    for (std::size_t i = 0; i < results.size(); ++i) {
      add_words(term_words(analyzer, results[i].text), asked, i);
      for (const std::string& entity : results[i].entities) {
        const TermWords name = term_words(analyzer, entity);
        add("e" + recall::normalized(entity), entity, i, true,
            std::all_of(name.terms.begin(), name.terms.end(),
                        [&](const std::string& term) { return asked.has(term); }));
      }
    }
  }

  void join(const std::vector<IndexPair>& linked) {
    for (const auto& [a, b] : linked) parts_.join(a, b);
    join_documents();
    const std::size_t rare[] = {std::max(kRareResults, results_.size() / 4),
                                std::max(kRareResults, results_.size() / 2)};
    std::map<IndexPair, std::size_t> shared;
    for (const auto& [name, feature] : features_) {
      if (feature.asked || feature.results.size() > rare[feature.entity ? 1 : 0]) continue;
      for (std::size_t i = 0; i < feature.results.size(); ++i) {
        if (feature.entity && i > 0) parts_.join(feature.results[0], feature.results[i]);
        for (std::size_t k = 0; !feature.entity && k < i; ++k) {
          if (++shared[{feature.results[k], feature.results[i]}] == kSharedWords) {
            parts_.join(feature.results[k], feature.results[i]);
          }
        }
      }
    }
  }

  // Each with its members, ascending; by the first of them.
  std::vector<std::vector<std::size_t>> parts() {
    std::map<std::size_t, std::vector<std::size_t>> by_root;
    for (std::size_t i = 0; i < results_.size(); ++i) by_root[parts_.root(i)].push_back(i);
    std::vector<std::vector<std::size_t>> all;
    for (auto& [root, members] : by_root) all.push_back(std::move(members));
    return all;
  }

  std::string label(const std::vector<std::size_t>& members) const {
    const auto same = [&](const auto& member_of) {
      const FoundMemory& first = results_[members[0]];
      return !(first.*member_of).empty() &&
             std::all_of(members.begin(), members.end(), [&](std::size_t i) {
               return results_[i].*member_of == first.*member_of && results_[i].bank == first.bank;
             });
    };
    if (same(&FoundMemory::document_id)) return results_[members[0]].document_id;
    std::string words = telling_words(members, false);
    if (words.empty() && same(&FoundMemory::speaker)) return results_[members[0]].speaker;
    if (words.empty()) words = telling_words(members, true);
    return words.empty() ? results_[members[0]].id : words;
  }

 private:
  void add_words(const TermWords& text, const TermWords& asked, std::size_t result) {
    for (const std::string& term : text.terms) {
      if (tells_something(term)) {
        add("t" + term, text.word_of.at(term), result, false, asked.has(term));
      }
    }
  }

  void add(std::string name, const std::string& word, std::size_t result, bool entity, bool asked) {
    Feature& feature = features_[std::move(name)];
    if (feature.results.empty()) feature.word = word;
    if (!feature.results.empty() && feature.results.back() == result) return;
    feature.results.push_back(result);
    feature.entity = entity;
    feature.asked = asked;
  }

  void join_documents() {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> first;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i].document_id.empty()) continue;
      const auto [at, fresh] = first.try_emplace({results_[i].bank, results_[i].document_id}, i);
      if (!fresh) parts_.join(at->second, i);
    }
  }

  // The words that most members and few others have. Words of the query only where asked for.
  std::string telling_words(const std::vector<std::size_t>& members, bool asked) const {
    struct Candidate {
      const Feature* feature;
      double tells;
    };
    std::vector<Candidate> candidates;
    for (const auto& [name, feature] : features_) {
      if (feature.asked != asked || feature.word.size() > kLabelWordBytes) continue;
      const auto inside = static_cast<double>(std::count_if(
          feature.results.begin(), feature.results.end(),
          [&](std::size_t i) { return std::binary_search(members.begin(), members.end(), i); }));
      if (inside < 2) continue;
      candidates.push_back({&feature, inside * inside /
                                          (static_cast<double>(members.size()) *
                                           static_cast<double>(feature.results.size()))});
    }
    const auto rank = [](const Candidate& candidate) {
      return std::make_tuple(-candidate.tells, !candidate.feature->entity,
                             candidate.feature->results.front(),
                             -static_cast<std::ptrdiff_t>(candidate.feature->word.size()));
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
    return joined(candidates, results_[members[0]].text, [&](const Candidate& candidate) {
      return candidate.tells * 2 >= candidates.front().tells;
    });
  }

  // The first few, without those that are part of one before.
  template <class Candidates, class Good>
  static std::string joined(const Candidates& candidates, const std::string& said_in,
                            const Good& good) {
    std::vector<std::string> words;
    for (const auto& candidate : candidates) {
      if (words.size() == kLabelWords || !good(candidate)) break;
      const std::string& word = candidate.feature->word;
      const bool known = std::any_of(words.begin(), words.end(), [&](const std::string& chosen) {
        return recall::normalized(chosen).find(recall::normalized(word)) != std::string::npos;
      });
      if (!known) words.push_back(word);
    }
    // In the order in which the best of them has them.
    std::stable_sort(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
      return said_in.find(a) < said_in.find(b);
    });
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  const std::vector<FoundMemory>& results_;
  std::map<std::string, Feature> features_;
  Partition parts_;
};

}  // namespace

std::vector<ReflectTheme> group_in_themes(recall::Analyzer& analyzer, std::string_view query,
                                          std::vector<FoundMemory> results,
                                          const std::vector<IndexPair>& linked) {
  Grouping grouping(analyzer, query, results);
  grouping.join(linked);
  std::vector<ReflectTheme> themes;
  ReflectTheme other{"other", {}};
  for (const std::vector<std::size_t>& members : grouping.parts()) {
    const bool alone = members.size() == 1;
    ReflectTheme& theme =
        alone ? other : themes.emplace_back(ReflectTheme{grouping.label(members), {}});
    for (const std::size_t i : members) theme.results.push_back(results[i]);
  }
  if (!other.results.empty()) themes.push_back(std::move(other));
  return themes;
}

}  // namespace strongroom::service
