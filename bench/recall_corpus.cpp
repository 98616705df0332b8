#include "bench/recall_corpus.h"

#include <algorithm>
#include <unordered_set>

#include "service/memory_service.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kVocabulary = 60'000;
constexpr std::uint32_t kMostFrequent = 30;
constexpr std::size_t kLongWord = 8;
constexpr std::size_t kTagSets = 1000;
constexpr TimeMs kFirstDay = 1'704'067'200'000;  // 2024-01-01

std::string syllable(Random& random) {
  static constexpr const char* kStarts[] = {"b",  "d",  "f",  "g",  "k",  "l",  "m",  "n",
                                            "p",  "r",  "s",  "t",  "v",  "z",  "br", "dr",
                                            "gr", "kl", "pl", "sk", "st", "tr", "sh", "th"};
  static constexpr const char* kVowels[] = {"a", "e", "i", "o", "u", "ai", "ea", "ou"};
  return std::string(kStarts[random.below(24)]) + kVowels[random.below(8)];
}

// Frequent words are short, as in languages.
std::string pronounceable(Random& random, std::size_t rank) {
  static constexpr const char* kEnds[] = {"", "l", "m", "n", "r", "s", "t", "k"};
  const std::size_t syllables = rank < 3000 ? 2 : 3;
  std::string word;
  for (std::size_t i = 0; i < syllables; ++i) word += syllable(random);
  return word + kEnds[random.below(8)];
}

}  // namespace

Corpus::Corpus() {
  Random random(60);
  std::unordered_set<std::string> known;
  double sum = 0;
  while (words_.size() < kVocabulary) {
    std::string word = pronounceable(random, words_.size());
    if (!known.insert(word).second) continue;
    words_.push_back(std::move(word));
    sum += 1.0 / static_cast<double>(words_.size());
    cumulative_.push_back(sum);
  }
}

std::vector<std::uint32_t> Corpus::ranks(std::uint64_t i) const {
  Random random(i * 2 + 1);
  std::vector<std::uint32_t> ranks(25 + random.below(31));
  for (std::uint32_t& rank : ranks) {
    const double at = static_cast<double>(random.next() >> 11) * 0x1.0p-53 * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
    rank = static_cast<std::uint32_t>(
        std::min<std::ptrdiff_t>(found - cumulative_.begin(), kVocabulary - 1));
  }
  return ranks;
}

std::string Corpus::id(std::uint64_t i) {
  return "x" + entry_name(i).substr(10);  // a letter and ten hexadecimal digits
}

std::string Corpus::text(std::uint64_t i) const {
  std::string text;
  text.reserve(512);
  for (const std::uint32_t rank : ranks(i)) text.append(words_[rank]).push_back(' ');
  return text + id(i);
}

service::RetainItem Corpus::item(std::uint64_t i) const {
  service::RetainItem item;
  item.content = text(i);
  item.timestamp = kFirstDay + static_cast<TimeMs>(i) * 37'000;
  const std::size_t set = Random(i * 2).below(2 * kTagSets);
  if (set < kTagSets) {
    item.tags = {kHalf, "set-" + std::to_string(set)};
    if (set % 5 == 0) item.tags.emplace_back(kTenth);
    if (set % 50 == 0) item.tags.emplace_back(kHundredth);
  }
  return item;
}

std::vector<std::string> Corpus::query_words(std::uint64_t seed, std::uint64_t texts,
                                             std::size_t words, bool frequent) const {
  Random random(seed ^ 0x5eed);
  std::vector<std::uint32_t> chosen;
  while (chosen.size() < words) {
    std::vector<std::uint32_t> from = ranks(random.below(texts));
    for (std::size_t left = from.size(); left > 0 && chosen.size() < words; --left) {
      std::swap(from[left - 1], from[random.below(left)]);
      const std::uint32_t rank = from[left - 1];
      if (!frequent && rank < kMostFrequent) continue;
      if (std::find(chosen.begin(), chosen.end(), rank) == chosen.end()) chosen.push_back(rank);
    }
  }
  std::vector<std::string> out;
  for (const std::uint32_t rank : chosen) out.push_back(words_[rank]);
  return out;
}

std::string Corpus::query(std::uint64_t seed, std::uint64_t texts, bool frequent) const {
  return joined(query_words(seed, texts, 3 + seed % 3, frequent));
}

std::string Corpus::mistyped_query(std::uint64_t seed, std::uint64_t texts) const {
  std::vector<std::string> words = query_words(seed, texts, 4);
  Random random(seed);
  for (;;) {
    const std::vector<std::string> more = query_words(random.next(), texts, 8);
    const auto word = std::find_if(more.begin(), more.end(),
                                   [](const std::string& w) { return w.size() >= kLongWord; });
    if (word == more.end()) continue;
    words[0] = *word;
    words[0][5] = words[0][5] == 'q' ? 'x' : 'q';  // no word of the corpus has either
    return joined(words);
  }
}

std::string Corpus::long_query(std::uint64_t seed, std::uint64_t texts) const {
  std::string query;
  for (const std::string& word : query_words(seed, texts, 400)) {
    if (service::count_tokens(query + " " + word) > service::kMaxQueryTokens) break;
    if (!query.empty()) query += ' ';
    query += word;
  }
  return query;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += between;
    all += word;
  }
  return all;
}

}  // namespace strongroom::bench
