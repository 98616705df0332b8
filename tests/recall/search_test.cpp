// The ranking: its rules one by one, and that neither fan-out nor transactions nor merges change a
// bit of an answer.
#include "recall/search.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "../oracle/brute_force.h"
#include "../vault/vault_fixture.h"
#include "recall/builtin_model.h"
#include "recall/dot.h"
#include "recall/ranking.h"

namespace strongroom::recall {
namespace {

using vault::MemoryType;
using vault::TestVault;

constexpr TimeMs kHour = 3'600'000;
constexpr TimeMs kNow = 500'000 * kHour;

Embedder& model() {
  static const std::unique_ptr<Embedder> embedder = make_builtin_embedder();
  return *embedder;
}

// What is done to an index, one row at a time.
struct Op {
  enum Kind { add, close, forget, replace } kind = add;
  Row row = 0;  // of close, forget, replace
  std::string text;
  RowAttributes attributes;
  std::vector<std::string> tags;
  std::string speaker;
  RowTimes times;
  Row previous = 0;
};

// An index that is filled by operations, and the same in plain lists.
class Filled {
 public:
  explicit Filled(unsigned fan_out = 8, bool with_model = true)
      : with_model_(with_model), options_{std::size_t{4} << 20, fan_out}, open_(vault_.open()) {
    reopen();
  }

  void reopen() {
    index_.reset();
    bank_.reset();
    open_.reset();
    open_ = vault_.open();
    bank_ = open_->open_bank("global");
    index_ = std::make_unique<Index>(*bank_, options_);
  }

  void apply(const Op* from, const Op* to) {
    vault::BankWrite write = bank_->write(open_->stamp());
    IndexWriter writer(*index_, write);
    for (; from != to; ++from) {
      apply(writer, *from);
      if (with_model_) apply_model(*from);
    }
    writer.finish();
    write.commit();
  }
  void apply(const Op& op) { apply(&op, &op + 1); }

  SearchOutcome search(const SearchQuery& query) {
    vault::BankRead read = bank_->read();
    IndexView view(*index_, read);
    return recall::search(view, analyzer_, query);
  }
  std::vector<oracle::Hit> expected(const SearchQuery& query) {
    return oracle::search(model_, analyzer_, query);
  }
  IndexState state() {
    vault::BankRead read = bank_->read();
    return IndexView(*index_, read).state();
  }

 private:
  void apply(IndexWriter& writer, const Op& op) {
    if (op.kind == Op::close) return writer.close(op.row, op.times.believed_until);
    if (op.kind == Op::forget) return writer.forget(op.row);
    if (op.kind == Op::replace) writer.close(op.row, op.times.believed_from);
    RowDraft draft;
    draft.attributes = op.attributes;
    draft.attributes.timed = op.times.expires != RowTimes::kForever;
    draft.attributes.tag_set = writer.intern_tags(op.tags);
    draft.attributes.speaker = writer.intern_speaker(op.speaker);
    draft.times = op.times;
    draft.text = &analyzer_.analyze(op.text);
    const std::string print = normalized(op.text);
    draft.fingerprint = print;
    model().embed(op.text, Side::passage, embedding_);
    const RowVector vector{writer.vector_set(model().model_id(), model().dimensions()),
                           &embedding_};
    draft.vectors = {&vector, 1};
    const Row fresh = writer.add(draft, op.previous);
    if (op.kind == Op::replace) writer.take_place(op.row, op.row, fresh, fresh);
  }

  void apply_model(const Op& op) {
    if (op.kind == Op::close) return model_.close(op.row, op.times.believed_until);
    if (op.kind == Op::forget) return model_.forget(op.row);
    if (op.kind == Op::replace) model_.close(op.row, op.times.believed_from);
    oracle::Row row;
    row.record = op.attributes.record;
    row.document = op.attributes.document;
    row.tags = op.tags;
    row.speaker = op.speaker;
    row.type = op.attributes.type;
    row.importance = op.attributes.importance;
    row.dated = op.attributes.dated;
    row.created_hours = op.attributes.created_hours;
    row.times = op.times;
    row.set_text(analyzer_.analyze(op.text));
    model_.model = model().model_id();
    model().embed(op.text, Side::passage, embedding_);
    row.set_vector(embedding_);
    const Row fresh = model_.add(std::move(row), op.previous);
    if (op.kind == Op::replace) model_.take_place(op.row, op.row, fresh, fresh);
  }

  bool with_model_;
  TestVault vault_;
  IndexOptions options_;
  std::unique_ptr<vault::Vault> open_;
  std::shared_ptr<vault::Bank> bank_;
  std::unique_ptr<Index> index_;
  Analyzer analyzer_;
  Embedding embedding_;
  oracle::Rows model_;
};

// ---- one corpus, many indexes

struct Corpus {
  std::vector<Op> ops;
  std::vector<std::string> texts;  // of queries
  std::vector<Embedding> vectors;  // of these
  std::vector<SearchQuery> queries;
};

class Maker {
 public:
  explicit Maker(std::uint32_t seed, std::size_t length = 14) : random_(seed), length_(length) {
    const std::string onset = "bdfgklmnprtv", vowel = "aeiou";
    Analyzer analyzer;
    std::set<std::string> stems;
    while (words_.size() < 200) {
      std::string word;
      for (std::size_t n = 2 + pick(3); n > 0; --n) {
        word += onset[pick(onset.size())];
        word += vowel[pick(vowel.size())];
      }
      word += onset[pick(onset.size())];
      if (stems.insert(analyzer.stem(word)).second) words_.push_back(word);
    }
    for (const char* word :
         {"max_retries", "HttpServer", "v2.4.1",   "ERR-1042", "caf\u00e9", "\u6771\u4eac",
          "ship",        "boat",       "harbour",  "kitten",   "cat",       "puppy",
          "doctor",      "hospital",   "nurse",    "piano",    "guitar",    "melody",
          "bread",       "bakery",     "mountain", "hiking",   "river",     "teacher",
          "school",      "lesson",     "car",      "engine",   "garage",    "wedding",
          "marriage",    "bride"}) {
      words_.push_back(word);
    }
  }

  Corpus make(std::size_t rows, std::size_t queries) {
    Corpus corpus;
    std::vector<bool> dead{false}, closed{false};
    while (dead.size() <= rows) {
      Op op;
      const Row last = static_cast<Row>(dead.size() - 1);
      if (last > 20 && pick(9) == 0) {
        op.row = static_cast<Row>(1 + pick(last));
        if (dead[op.row]) continue;
        op.kind = static_cast<Op::Kind>(1 + pick(3));
        op.times.believed_until = kNow + last;
        if (op.kind == Op::forget) dead[op.row] = true;
        if (op.kind != Op::forget && closed[op.row]) continue;
        if (op.kind != Op::forget) closed[op.row] = true;
        if (op.kind != Op::replace) {
          corpus.ops.push_back(op);
          continue;
        }
      }
      fill(op, last);
      if (op.kind == Op::add && last != 0 && !dead[last] && pick(2) == 0) op.previous = last;
      corpus.ops.push_back(op);
      dead.push_back(false);
      closed.push_back(false);
    }
    for (std::size_t i = 0; i < queries; ++i) corpus.texts.push_back(query());
    corpus.vectors.resize(queries);
    for (std::size_t i = 0; i < queries; ++i) {
      SearchQuery& query = corpus.queries.emplace_back(filtered(corpus.texts[i], rows));
      query.times = query_times(query.text, query.query_time).spans;
      query.temporal = pick(6) != 0;
      query.lexical = pick(10) != 0;
      if (pick(5) == 0 || !model().embed(query.text, Side::query, corpus.vectors[i])) continue;
      query.vector = {model().model_id(), &corpus.vectors[i], model().curve()};
    }
    return corpus;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  std::string word() { return words_[std::min(pick(words_.size()), pick(words_.size()))]; }

  void fill(Op& op, Row last) {
    for (std::size_t n = 1 + pick(length_); n > 0; --n) op.text += word() + " ";
    if (pick(3) == 0 || length_ > 50) op.text += "unique" + std::to_string(pick(1'000'000)) + "x";
    op.attributes.record = 1000 + last / 2 * 2;  // some memories have two rows
    op.attributes.document = static_cast<std::uint32_t>(pick(8));
    op.attributes.type = static_cast<MemoryType>(pick(3));
    op.attributes.importance = pick(6) == 0 ? 255 : static_cast<std::uint8_t>(pick(256));
    op.attributes.created_hours = static_cast<std::uint32_t>(500'000 - pick(5000));
    if (pick(2) == 0) op.tags.push_back("blue");
    if (pick(3) == 0) op.tags.push_back("t" + std::to_string(pick(30)));
    if (pick(3) == 0) op.speaker = pick(2) == 0 ? "Ann Lee" : "Bo";
    op.times.mentioned = kNow - static_cast<TimeMs>(pick(1000)) * kHour;
    op.times.believed_from = kNow + last;
    if (pick(12) == 0) op.times.expires = kNow + static_cast<TimeMs>(pick(2000)) - 1000;
    if (pick(4) == 0) {
      op.attributes.dated = true;
      op.times.occurred_start = kNow - static_cast<TimeMs>(pick(1000)) * kHour;
      op.times.occurred_end = op.times.occurred_start + static_cast<TimeMs>(pick(100)) * kHour;
    }
  }

  std::string query() {
    std::string text;
    if (pick(10) == 0) return pick(2) == 0 ? "max_retries" : "the ERR-1042 of HttpServer";
    for (std::size_t n = 1 + pick(6); n > 0; --n) {
      std::string next = word();
      if (pick(5) == 0 && next.size() > 4) next.erase(2 + pick(next.size() - 2), 1);
      text += next + " ";
    }
    if (pick(5) == 0) text += pick(2) == 0 ? "Ann Lee" : "Bo";
    static const char* const kTimes[] = {" yesterday",    " last month", " in January 2027",
                                         " since Monday", " recently",   " 2026-12-24"};
    if (pick(4) == 0) text += kTimes[pick(std::size(kTimes))];
    return text;
  }

  SearchQuery filtered(const std::string& text, std::size_t rows) {
    SearchQuery query;
    query.text = text;
    query.query_time = kNow + static_cast<TimeMs>(pick(3000)) * kHour;
    query.filter.now = kNow;
    if (pick(3) == 0) query.depth = pick(2) == 0 ? ranking::kHigh : ranking::kLow;
    query.candidates = pick(3) == 0 ? 20 : query.depth.candidates;
    query.structure = pick(6) != 0;
    query.prefer_observations = pick(6) == 0;
    switch (pick(8)) {
      case 0: query.filter.types = static_cast<std::uint8_t>(1 + pick(7)); break;
      case 1:
        query.filter.types = 0;
        query.filter.permanent = true;
        break;
      case 2:
        query.filter.tags = [](const std::vector<std::string>& tags) {
          return std::find(tags.begin(), tags.end(), "blue") != tags.end();
        };
        break;
      case 3: query.filter.window = {kNow - 600 * kHour, kNow - 300 * kHour}; break;
      case 4: query.filter.as_of = kNow + static_cast<TimeMs>(pick(rows)); break;
      case 5: query.filter.include_invalid = true; break;
      default: break;
    }
    return query;
  }

  std::mt19937 random_;
  std::size_t length_;
  std::vector<std::string> words_;
};

// Bits, not tolerances.
struct Answer {
  Row row;
  vault::RecordId record;
  double final, similarity, keyword, semantic, temporal, graph;
  friend bool operator==(const Answer&, const Answer&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Answer& a) {
    return out << "row " << a.row << " record " << a.record << " " << a.final << " of "
               << a.similarity << ": " << a.keyword << " " << a.semantic << " " << a.temporal << " "
               << a.graph << "\n";
  }
};
template <class Hits>
std::vector<Answer> bits(const Hits& hits) {
  std::vector<Answer> all;
  for (const auto& hit : hits) {
    all.push_back({hit.row, hit.record, hit.final, hit.similarity, hit.keyword, hit.semantic,
                   hit.temporal, hit.graph});
  }
  return all;
}

}  // namespace

TEST_CASE("fan-out, sizes of transactions and restarts change no bit of an answer") {
  const Corpus corpus = Maker(4).make(3000, 100);
  struct Way {
    unsigned fan_out;
    std::size_t size;
    bool restarts;
  };
  std::vector<std::vector<Answer>> expected;
  std::size_t found = 0, near = 0, in_time = 0;
  const std::string kernel(kernel_name());
  for (const Way way :
       {Way{2, 7, false}, Way{4, 300, true}, Way{8, 1500, false}, Way{2, 300, false},
        Way{8, 7, true}, Way{4, 1500, true}, Way{16, 50, false}}) {
    Filled index(way.fan_out, expected.empty());
    const Op* at = corpus.ops.data();
    const Op* const end = at + corpus.ops.size();
    for (std::size_t n = 0; at != end; ++n) {
      const Op* const next =
          at + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(way.size), end - at);
      index.apply(at, next);
      at = next;
      if (way.restarts && n % 7 == 3) index.reopen();
    }
    INFO("fan-out " << way.fan_out << ", " << way.size << " rows a transaction");
    for (std::size_t i = 0; i < corpus.queries.size(); ++i) {
      INFO("query " << i << ": " << corpus.queries[i].text);
      if (expected.size() == i) {
        expected.push_back(bits(index.expected(corpus.queries[i])));
        found += expected[i].size();
        for (const Answer& answer : expected[i]) {
          near += answer.semantic > 0 ? 1u : 0u;
          in_time += answer.temporal > 0 ? 1u : 0u;
        }
      }
      REQUIRE(bits(index.search(corpus.queries[i]).hits) == expected[i]);
    }
    index.reopen();
    REQUIRE(bits(index.search(corpus.queries[0]).hits) == expected[0]);
    if (way.fan_out != 16) continue;
    for (const std::string_view other : kernels()) {
      REQUIRE(use_kernel(other));
      INFO("kernel " << other);
      for (std::size_t i = 0; i < corpus.queries.size(); ++i) {
        REQUIRE(bits(index.search(corpus.queries[i]).hits) == expected[i]);
      }
    }
    REQUIRE(use_kernel(kernel));
  }
  CHECK(found > 2000);
  CHECK(near > 1000);
  CHECK(in_time > 300);
}

TEST_CASE("an answer is the same before and after every step of a merge") {
  const unsigned fan_out = GENERATE(2u, 4u);
  const Corpus corpus = Maker(fan_out, 90).make(3500, 40);
  Filled index(fan_out);
  std::size_t steps = 0, merges = 0, running = 0, at = 0, query = 0;
  IndexState before;
  while (at < corpus.ops.size()) {
    const std::size_t size = std::min<std::size_t>(at % 5 == 0 ? 60 : 9, corpus.ops.size() - at);
    index.apply(&corpus.ops[at], &corpus.ops[at] + size);
    at += size;
    const IndexState now = index.state();
    if (now.segments == before.segments && now.blocks == before.blocks &&
        now.merges_running == before.merges_running &&
        now.garbage_blocks == before.garbage_blocks) {
      continue;
    }
    ++steps;
    if (now.merges_running != 0) ++running;
    if (now.segments < before.segments) ++merges;
    before = now;
    for (int i = 0; i < 3; ++i) {
      const SearchQuery& asked = corpus.queries[query++ % corpus.queries.size()];
      INFO("operation " << at << ", " << now.segments << " segments, query " << asked.text);
      REQUIRE(bits(index.search(asked).hits) == bits(index.expected(asked)));
    }
  }
  CHECK(steps > 8);
  CHECK(merges > 1);
  CHECK(running > 2);  // looked at while a merge was under way
}

TEST_CASE("one row a transaction gives what one transaction gives") {
  const Corpus corpus = Maker(9).make(600, 60);
  Filled index(2);
  for (const Op& op : corpus.ops) index.apply(op);
  for (const SearchQuery& query : corpus.queries) {
    INFO(query.text);
    REQUIRE(bits(index.search(query).hits) == bits(index.expected(query)));
  }
}

// ---- the rules, one by one

namespace {

// Rows of one bank, in a few words.
class Bank : public Filled {
 public:
  Bank() : Filled(2, true) {}

  Row add(const std::string& text, Row previous = 0) {
    Op op = next(text);
    op.previous = previous;
    return put(op);
  }
  Op next(const std::string& text) {
    Op op;
    op.text = text;
    op.attributes.record = 100 + rows_;
    op.attributes.importance = 128;
    op.attributes.created_hours = 500'000;
    return op;
  }
  Row put(const Op& op) {
    apply(op);
    said_[op.attributes.record] += op.text + "\n";
    return ++rows_;
  }
  // Many at once; the words of no test.
  void pad(std::size_t count) {
    std::vector<Op> ops;
    for (std::size_t i = 0; i < count; ++i) {
      ops.push_back(next("filler" + std::to_string(rows_) + " padding stuffing"));
      ++rows_;
    }
    apply(ops.data(), ops.data() + ops.size());
    for (const Op& op : ops) said_[op.attributes.record] += op.text + "\n";
  }

  static SearchQuery ask(std::string_view text) {
    SearchQuery query;
    query.text = text;
    query.query_time = query.filter.now = kNow;
    return query;
  }
  // What is found, best first; always also what the description says.
  std::vector<Hit> find(const SearchQuery& query) {
    SearchQuery with_texts = query;
    with_texts.text_of = [this](vault::RecordId record, SecretBytes& out) {
      const auto said = said_.find(record);
      if (said != said_.end()) out.append(said->second);
    };
    std::vector<Hit> hits = search(with_texts).hits;
    REQUIRE(bits(hits) == bits(expected(query)));
    return hits;
  }
  std::vector<Hit> find(std::string_view text) { return find(ask(text)); }
  std::vector<Row> rows(const SearchQuery& query) {
    std::vector<Row> found;
    for (const Hit& hit : find(query)) found.push_back(hit.row);
    return found;
  }
  std::vector<Row> rows(std::string_view text) { return rows(ask(text)); }

 private:
  Row rows_ = 0;
  std::map<vault::RecordId, std::string> said_;
};

std::size_t place_of(const std::vector<Hit>& hits, Row row) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (hits[i].row == row) return i;
  }
  return hits.size();
}
const Hit& hit_of(const std::vector<Hit>& hits, Row row) {
  const std::size_t at = place_of(hits, row);
  REQUIRE(at < hits.size());
  return hits[at];
}

const std::string kCommon =
    "harbour lantern granite willow copper meadow thunder velvet anchor saffron";

// A long text in which one word is lost among others.
std::string haystack(const std::string& needle, int number) {
  std::string text = needle;
  for (int i = 0; i < 200; ++i) text += " straw" + std::to_string(number) + "n" + std::to_string(i);
  return text;
}

}  // namespace

TEST_CASE("an empty index and queries of common words alone find nothing") {
  Bank bank;
  CHECK(bank.find("anything").empty());
  bank.add("the lantern is in the harbour");
  CHECK(bank.find("the of and").empty());
  CHECK(bank.find("nothing known here").empty());
  CHECK(bank.rows("lantern") == std::vector<Row>{1});
}

TEST_CASE("a word that at most two memories have brings them among the first five") {
  Bank bank;
  for (int i = 0; i < 30; ++i) bank.add(kCommon + " case" + std::to_string(i));
  bank.pad(20);
  const Row one = bank.add(haystack("zirconium", 1));
  const Row two = bank.add(haystack("zirconium", 2));
  const auto hits = bank.find(kCommon + " zirconium");
  CHECK(place_of(hits, one) < 5);
  CHECK(place_of(hits, two) < 5);
  CHECK(hit_of(hits, one).guaranteed);
  CHECK(std::is_sorted(hits.begin(), hits.end(),
                       [](const Hit& a, const Hit& b) { return a.final > b.final; }));

  // With a third one it is a word like others.
  const Row three = bank.add(haystack("zirconium", 3));
  const auto more = bank.find(kCommon + " zirconium");
  CHECK(place_of(more, one) >= 5);
  CHECK(place_of(more, three) >= 5);
}

TEST_CASE("a place is guaranteed beyond the number of candidates, and to five memories at most") {
  Bank bank;
  for (int i = 0; i < 30; ++i) bank.add(kCommon + " case" + std::to_string(i));
  std::string query = kCommon;
  std::vector<Row> rare;
  for (int i = 0; i < 7; ++i) {
    query += " needle" + std::string(1, static_cast<char>('a' + i)) + "x";
    rare.push_back(
        bank.add(haystack("needle" + std::string(1, static_cast<char>('a' + i)) + "x", i)));
  }
  SearchQuery asked = Bank::ask(query);
  asked.candidates = 8;
  const auto hits = bank.find(asked);
  std::size_t first = 0;
  for (std::size_t i = 0; i < 5; ++i) first += hits[i].guaranteed ? 1u : 0u;
  CHECK(first == 5);
  for (const Row row : rare) CHECK(hit_of(hits, row).guaranteed);
}

TEST_CASE("of what is guaranteed a whole identifier goes first") {
  Bank bank;
  for (int i = 10; i < 50; ++i) bank.add(haystack("stuffing", i));
  // Six rows that hold a rare word each, and more of the query.
  const std::string common = kCommon + " timber crystal marble falcon orchard canyon pebble hazel";
  for (int i = 0; i < 6; ++i) {
    bank.add(common + " needle" + std::string(1, static_cast<char>('a' + i / 2)) + "q");
  }
  const Row row = bank.add(haystack("pool_timeout_ms", 1));
  const auto hits = bank.find(common + " needleaq needlebq needlecq pool_timeout_ms");
  std::size_t rare = 0;
  for (const Hit& hit : hits) rare += hit.guaranteed && !hit.whole ? 1u : 0u;
  CHECK(rare == 6);
  CHECK(place_of(hits, row) < 5);
  CHECK(hits[5].similarity > hit_of(hits, row).similarity);
}

TEST_CASE("a memory edited many times keeps the place of its rare word") {
  Bank bank;
  for (int i = 0; i < 30; ++i) bank.add(kCommon + " case" + std::to_string(i));
  Row last = bank.add(haystack("zirconium", 0));
  for (int i = 1; i <= 40; ++i) {
    Op edit = bank.next(haystack("zirconium", i));
    edit.kind = Op::replace;
    edit.row = last;
    edit.times.believed_from = kNow + i;
    last = bank.put(edit);
  }
  const auto hits = bank.find(kCommon + " zirconium");
  CHECK(place_of(hits, last) < 5);
}

TEST_CASE("a whole identifier that is rare has a floor, whichever passage holds it") {
  Bank bank;
  bank.pad(40);
  for (int i = 0; i < 10; ++i) bank.add(kCommon);
  const Row row = bank.add(haystack("pool_timeout_ms", 1));
  const auto hits = bank.find("velvet saffron quartz falcon cobalt linen pool_timeout_ms");
  CHECK(hit_of(hits, row).whole);
  CHECK(hit_of(hits, row).similarity >= ranking::kRareEvidence);

  // Two passages of one memory: the better one has other words of the query.
  Op one = bank.next(haystack("jar_limit_kb", 2)),
     two = bank.next("quince juniper falcon marble pebble");
  two.attributes.record = one.attributes.record;
  const Row first = bank.put(one);
  two.previous = first;
  const Row second = bank.put(two);
  const auto both =
      bank.find("quince juniper falcon marble pebble jar_limit_kb canyon orchard amber");
  const Hit& hit = both[0];
  CHECK((hit.row == first || hit.row == second));
  CHECK(hit.whole);
  CHECK(hit.similarity >= ranking::kRareEvidence);
}

TEST_CASE("the typo rule: one edit, two from eight letters, never other first letters") {
  Bank bank;
  bank.pad(10);
  const Row lantern = bank.add("a lantern burns");           // seven letters
  const Row granite = bank.add("granular constellation");    // long ones
  CHECK(bank.rows("lantren") == std::vector<Row>{lantern});  // a swap is one edit
  CHECK(bank.rows("lanter") == std::vector<Row>{lantern});
  CHECK(bank.rows("lantterns") == std::vector<Row>{lantern});  // two edits in nine letters
  CHECK(bank.rows("lnatern").empty());                         // other first letters
  CHECK(bank.rows("kantern").empty());
  CHECK(bank.rows("latnren").empty());  // two edits in seven letters
  CHECK(bank.rows("constelaton") == std::vector<Row>{granite});
  CHECK(bank.rows("constlatn").empty());  // three or more edits
  CHECK(bank.rows("lan").empty());        // below four letters nothing is corrected
  // What is known is not corrected, even when it is rare.
  const Row lanterz = bank.add("lanterz");
  CHECK(bank.rows("lanterz") == std::vector<Row>{lanterz});
  // One edit weighs more than two.
  const auto one = bank.find("constellatio"), two = bank.find("constellati");
  REQUIRE(one.size() == 1);
  REQUIRE(two.size() == 1);
}

TEST_CASE("a forgotten word corrects nothing, whatever segments still hold it") {
  Bank bank;
  const Row gone = bank.add("the lanterns burn");
  bank.add("a lantern");
  bank.add("the harbour");
  bank.pad(300);  // all are in a segment now
  Op op;
  op.kind = Op::forget;
  op.row = gone;
  bank.apply(op);
  CHECK(bank.find("lanternsz harbour").size() == 2);
}

TEST_CASE("a neighbour that was not asked for is found by what the asked one lends") {
  Bank bank;
  bank.pad(20);
  const Row question = bank.add("which harbour lantern was it");
  const Row answer = bank.add("the blue one", question);
  const Row after = bank.add("thanks", answer);
  const auto hits = bank.find("harbour lantern");
  CHECK(hits[0].row == question);
  CHECK(hit_of(hits, answer).keyword == 0);
  CHECK(hit_of(hits, answer).graph > 0);
  CHECK(place_of(hits, after) == hits.size());

  SearchQuery alone = Bank::ask("harbour lantern");
  alone.structure = false;
  CHECK(bank.rows(alone) == std::vector<Row>{question});
}

TEST_CASE("in a conversation neighbours lend more than in a text") {
  Bank bank;
  bank.pad(20);
  const Row text = bank.add("harbour lantern");
  const Row beside_text = bank.add("plain words", text);
  Op turn = bank.next("harbour lantern");
  turn.speaker = "Ann";
  const Row said = bank.put(turn);
  Op reply = bank.next("plain words");
  reply.speaker = "Bo";
  reply.previous = said;
  const Row replied = bank.put(reply);
  const auto hits = bank.find("harbour lantern");
  CHECK(hit_of(hits, replied).graph > 2 * hit_of(hits, beside_text).graph);
}

TEST_CASE("what the filter hides lends nothing") {
  Bank open, filtered;
  for (Bank* bank : {&open, &filtered}) {
    bank->pad(20);
    Op hidden = bank->next("harbour lantern");
    hidden.tags = {"private"};
    const Row first = bank->put(hidden);
    bank->add("harbour", first);
  }
  SearchQuery query = Bank::ask("harbour lantern");
  query.filter.tags = [](const std::vector<std::string>& tags) { return tags.empty(); };
  const auto seen = filtered.find(query);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].row == 22);
  CHECK(seen[0].graph == 0);
  CHECK(hit_of(open.find("harbour lantern"), 22).graph > 0);
  // Nor does it raise the confidence: half of the query is covered, not all.
  CHECK(seen[0].similarity < hit_of(open.find("harbour lantern"), 21).similarity);
}

TEST_CASE("one named speaker is lifted, two cancel out, unseen ones do not count") {
  Bank bank;
  bank.pad(20);
  const auto say = [&](const char* who, const char* text, std::vector<std::string> tags = {}) {
    Op op = bank.next(text);
    op.speaker = who;
    op.tags = std::move(tags);
    return bank.put(op);
  };
  const Row ann = say("Ann Lee", "the lantern is blue");
  const Row bo = say("Bo", "the lantern is blue");
  say("Cy", "the lantern is grey", {"private"});
  auto hits = bank.find("lantern of Ann Lee");
  CHECK(hits[0].row == ann);
  CHECK(hit_of(hits, ann).final > hit_of(hits, bo).final);
  CHECK(hit_of(hits, ann).graph > 0);
  CHECK(bank.search(Bank::ask("lantern of Ann Lee")).speakers_named ==
        std::vector<std::string>{"Ann Lee"});
  // Half a name is none.
  CHECK(bank.search(Bank::ask("lantern of Lee")).speakers_named.empty());
  hits = bank.find("lantern of Ann Lee and Bo");
  CHECK(bank.search(Bank::ask("lantern of Ann Lee and Bo")).speakers_named.size() == 2);
  SearchQuery hidden = Bank::ask("lantern of Cy and Ann Lee");
  hidden.filter.tags = [](const std::vector<std::string>& tags) { return tags.empty(); };
  CHECK(bank.search(hidden).speakers_named == std::vector<std::string>{"Ann Lee"});
  bank.find(hidden);
}

TEST_CASE("the best of the same conversation lend to each other") {
  Bank bank;
  bank.pad(20);
  std::vector<Row> in_talk;
  for (int i = 0; i < 4; ++i) {
    Op op = bank.next("lantern " + std::to_string(i));
    op.speaker = "Ann";
    op.attributes.document = 7;
    in_talk.push_back(bank.put(op));
  }
  Op other = bank.next("lantern 9");
  other.speaker = "Ann";
  other.attributes.document = 8;
  const Row alone = bank.put(other);
  const auto hits = bank.find("lantern");
  CHECK(hits.back().row == alone);
  for (const Row row : in_talk) CHECK(hit_of(hits, row).graph > hit_of(hits, alone).graph);
}

TEST_CASE("equal scores are in order of their records") {
  Bank bank;
  std::vector<Op> ops;
  const std::vector<vault::RecordId> records = {907, 903, 905, 901, 904};
  for (const vault::RecordId record : records) {
    Op op = bank.next("the same words");
    op.attributes.record = record;
    bank.put(op);
  }
  std::vector<vault::RecordId> found;
  for (const Hit& hit : bank.find("same words")) found.push_back(hit.record);
  CHECK(found == std::vector<vault::RecordId>{901, 903, 904, 905, 907});
}

TEST_CASE("expired rows are found by as_of and include_invalid alone") {
  Bank bank;
  Op op = bank.next("the lantern");
  op.times.believed_from = kNow - 100;
  op.times.expires = kNow;
  bank.put(op);
  SearchQuery query = Bank::ask("lantern");
  query.filter.now = kNow - 1;
  CHECK(bank.rows(query).size() == 1);
  query.filter.now = kNow;
  CHECK(bank.rows(query).empty());
  query.filter.include_invalid = true;
  CHECK(bank.rows(query).size() == 1);
  query.filter.include_invalid = false;
  query.filter.as_of = kNow - 1;
  CHECK(bank.rows(query).size() == 1);
  query.filter.as_of = kNow;
  CHECK(bank.rows(query).empty());
  query.filter.as_of = kNow - 101;
  CHECK(bank.rows(query).empty());
}

TEST_CASE("as_of sees what was believed at that instant") {
  Bank bank;
  Op op = bank.next("the lantern is red");
  op.times.believed_from = 1000;
  const Row red = bank.put(op);
  Op edit = bank.next("the lantern is blue");
  edit.kind = Op::replace;
  edit.row = red;
  edit.times.believed_from = 2000;
  const Row blue = bank.put(edit);
  Op end;
  end.kind = Op::close;
  end.row = blue;
  end.times.believed_until = 3000;
  bank.apply(end);
  SearchQuery query = Bank::ask("lantern");
  const auto at = [&](TimeMs time) {
    query.filter.as_of = time;
    return bank.rows(query);
  };
  CHECK(at(999).empty());
  CHECK(at(1000) == std::vector<Row>{red});
  CHECK(at(1999) == std::vector<Row>{red});
  CHECK(at(2000) == std::vector<Row>{blue});
  CHECK(at(2999) == std::vector<Row>{blue});
  CHECK(at(3000).empty());
  query.filter.as_of.reset();
  CHECK(bank.rows(query).empty());
  query.filter.include_invalid = true;
  CHECK(bank.rows(query).size() == 2);
}

TEST_CASE("priors and their product stay in their bounds, whatever the age and weight") {
  Bank bank;
  for (const std::uint32_t hours : {0u, 1u, 400'000u, 499'999u, 500'000u, 16'000'000u}) {
    for (const int importance : {0, 1, 128, 254, 255}) {
      for (const MemoryType type :
           {MemoryType::world, MemoryType::experience, MemoryType::observation}) {
        Op op = bank.next("the lantern");
        op.attributes.created_hours = hours;
        op.attributes.importance = static_cast<std::uint8_t>(importance);
        op.attributes.type = type;
        bank.put(op);
      }
    }
  }
  for (const TimeMs time : {TimeMs{0}, kNow, kNow * 20, -kNow}) {
    for (const double scope : {0.01, 1.0, 1.05, 99.0}) {
      SearchQuery query = Bank::ask("lantern");
      query.query_time = time;
      query.scope_prior = scope;
      query.prefer_observations = true;
      for (const Hit& hit : bank.find(query)) {
        CHECK(hit.prior.product() >= ranking::kProductLow);
        CHECK(hit.prior.product() <= ranking::kProductHigh);
        CHECK(hit.similarity >= 0);
        CHECK(hit.similarity <= 1);
        CHECK(hit.keyword <= 1);
        CHECK(hit.final <= ranking::kProductHigh);
        for (const double prior : {hit.prior.weight, hit.prior.recency, hit.prior.type}) {
          CHECK(prior >= ranking::kPriorLow);
          CHECK(prior <= ranking::kPriorHigh);
        }
      }
    }
  }
}

TEST_CASE("a query of 500 different words is answered by the description too") {
  Bank bank;
  std::string query;
  for (int i = 0; i < 500; ++i) {
    query += "word" + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i) + "q ";
    if (i % 5 == 0)
      bank.add("word" + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i) +
               "q here");
  }
  CHECK(bank.find(query).size() >= 100);
}

TEST_CASE("a row whose neighbour leads back to it is ranked as any other") {
  Bank bank;
  bank.pad(5);
  const Row a = bank.add("harbour");
  const Row b = bank.add("lantern", a);
  // Both of the query's words lie beside each other: together they cover it.
  const auto hits = bank.find("harbour lantern");
  REQUIRE(hits.size() == 2);
  CHECK(hit_of(hits, a).graph > 0);
  CHECK(hit_of(hits, b).graph > 0);
  CHECK(hits[0].similarity > 0.6);
  // The chain closes over what is forgotten.
  const Row c = bank.add("meadow", b);
  Op gone;
  gone.kind = Op::forget;
  gone.row = b;
  bank.apply(gone);
  CHECK(hit_of(bank.find("harbour"), c).graph > 0);
}

// ---- meaning and time

namespace {

// A query with its vector and times.
struct Asked {
  explicit Asked(std::string_view text) {
    query = Bank::ask(text);
    REQUIRE(model().embed(text, Side::query, vector));
    query.vector = {model().model_id(), &vector, model().curve()};
    query.times = query_times(text, query.query_time).spans;
  }
  Embedding vector;
  SearchQuery query;
};

constexpr TimeMs kDay = 24 * kHour;

}  // namespace

TEST_CASE("what means the same is found without a common word") {
  Bank bank;
  bank.pad(300);  // most are in a segment
  const Row cat = bank.add("My kitten caught a mouse.");
  bank.add("The invoice was paid by bank transfer.");
  Asked asked("feline pets");
  const auto hits = bank.find(asked.query);
  REQUIRE_FALSE(hits.empty());
  CHECK(hits[0].row == cat);
  CHECK(hits[0].keyword == 0);
  CHECK(hits[0].semantic > 0);
  asked.query.vector.reset();
  CHECK(bank.find(asked.query).empty());
}

TEST_CASE("vectors of another model are not compared") {
  Bank bank;
  bank.add("My kitten caught a mouse.");
  Asked asked("feline pets");
  asked.query.vector->model = "another";
  CHECK(bank.find(asked.query).empty());
  CHECK_FALSE(bank.search(asked.query).compared);
  asked.query.vector->model = model().model_id();
  const SearchOutcome outcome = bank.search(asked.query);
  CHECK(outcome.compared);
  CHECK(outcome.behind == 0);
}

TEST_CASE("meaning counts less in a conversation than in a text") {
  Bank bank;
  bank.pad(20);
  const Row text = bank.add("My kitten caught a mouse.");
  Op turn = bank.next("My kitten caught a mouse.");
  turn.speaker = "Ann";
  const Row said = bank.put(turn);
  const auto hits = bank.find(Asked("feline pets").query);
  CHECK(hit_of(hits, text).semantic == hit_of(hits, said).semantic);
  CHECK(hit_of(hits, text).similarity > 1.5 * hit_of(hits, said).similarity);
}

TEST_CASE("in a query of names alone meaning hardly counts") {
  Bank bank;
  bank.pad(20);
  const Row named = bank.add("set max_retries to five");
  bank.add("The program tries again a few times at most.");
  const auto by_name = bank.find(Asked("max_retries").query);
  CHECK(by_name[0].row == named);
  for (const Hit& hit : by_name) CHECK((hit.row == named || hit.similarity < 0.2));
}

TEST_CASE("meaning is not lent to neighbours") {
  Bank bank;
  bank.pad(20);
  const Row cat = bank.add("My kitten caught a mouse.");
  const Row beside = bank.add("zzyzx", cat);
  const auto hits = bank.find(Asked("feline pets").query);
  CHECK(hits[0].row == cat);
  CHECK(place_of(hits, beside) == hits.size());
}

TEST_CASE("a time in the query finds what happened then, or was said then") {
  Bank bank;
  bank.pad(20);
  const auto add = [&](TimeMs mentioned, std::optional<TimeMs> occurred) {
    Op op = bank.next("we went swimming");
    op.times.mentioned = mentioned;
    op.attributes.dated = occurred.has_value();
    if (occurred) op.times.occurred_start = op.times.occurred_end = *occurred;
    return bank.put(op);
  };
  const TimeMs yesterday = kNow - kDay, before = kNow - 40 * kDay;
  const Row happened = add(kNow - 3 * kDay, yesterday);
  const Row told = add(yesterday, std::nullopt);
  const Row of_old = add(yesterday, before);
  const Row neither = add(before, before);
  Asked asked("what did we do yesterday");
  auto hits = bank.find(asked.query);
  CHECK(hit_of(hits, happened).temporal == 1);
  CHECK(hit_of(hits, told).temporal == 1);
  CHECK(hit_of(hits, of_old).temporal == ranking::kMentionedTime);
  CHECK((place_of(hits, neither) == hits.size() || hit_of(hits, neither).temporal == 0));
  asked.query.temporal = false;
  for (const Hit& hit : bank.find(asked.query)) CHECK(hit.temporal == 0);
  // Nothing but a time is a question too.
  Asked alone("recently");
  hits = bank.find(alone.query);
  CHECK(hit_of(hits, told).temporal == ranking::kVagueTime);
  CHECK(hit_of(hits, of_old).temporal == ranking::kVagueTime * ranking::kMentionedTime);
  // Also where no word of it is one to look for.
  SearchQuery wordless = Bank::ask("what was it");
  wordless.times = asked.query.times;
  for (TimeExpression& time : wordless.times) time.begin = time.end = 0;
  hits = bank.find(wordless);
  REQUIRE(hits.size() == 3);
  CHECK(hit_of(hits, happened).similarity > 0.7);
}

TEST_CASE("of rows in time the newest are handed on, and hits end where the candidates do") {
  Bank bank;
  std::vector<Op> ops;
  for (int i = 0; i < 50; ++i) {
    ops.push_back(bank.next("nothing of note " + std::to_string(i)));
    ops.back().attributes.record = 1000u + static_cast<unsigned>(i);
    ops.back().times.mentioned = kNow - kDay;
  }
  for (const Op& op : ops) bank.put(op);
  Asked asked("swimming yesterday");
  asked.query.vector.reset();
  asked.query.candidates = 10;
  const auto hits = bank.find(asked.query);
  REQUIRE(hits.size() == 10);
  for (const Hit& hit : hits) CHECK(hit.row > 40);
}

// ---- links

namespace {

// Links that are said here, without a vault.
struct SaidLinks {
  std::map<vault::RecordId, std::vector<LinkedMemories::One>> of;
  LinkSource source;
  std::vector<std::size_t> allowed;  // reads, by call

  SaidLinks() {
    source.of_memory = [this](vault::RecordId record, std::size_t most) {
      allowed.push_back(most);
      LinkedMemories found;
      found.memories = of[record];
      found.read = 1 + found.memories.size();
      return found;
    };
    source.of_query = [](std::string_view, std::size_t) { return LinkedMemories(); };
  }
};

}  // namespace

TEST_CASE("a link gives its share, the largest of several, never more than it comes from") {
  Bank bank;
  bank.pad(20);
  const Row best = bank.add("harbour lantern");
  const Row second = bank.add("harbour meadow");
  const Row linked = bank.add("velvet anchor");
  const Row also = bank.add("harbour lantern velvet");
  SearchQuery query = Bank::ask("harbour lantern");
  const auto plain = bank.search(query).hits;
  SaidLinks links;
  links.of[100 + best - 1] = {{linked, 0.6}};
  links.of[100 + second - 1] = {{linked, 0.6}};
  query.links = &links.source;
  const SearchOutcome found = bank.search(query);
  CHECK(found.linked == 1);
  CHECK(hit_of(found.hits, linked).bm25 == 0);
  CHECK(hit_of(found.hits, linked).graph > 0);
  CHECK(hit_of(found.hits, linked).similarity == Approx(0.6 * hit_of(found.hits, best).similarity));
  // What has evidence of its own comes up to what it is linked with, and not above.
  links.of[100 + best - 1] = {{also, 0.6}};
  const auto lifted = bank.search(query).hits;
  CHECK(lifted[0].row == best);
  CHECK(hit_of(lifted, also).similarity == hit_of(lifted, best).similarity);
  CHECK(hit_of(plain, also).similarity < hit_of(plain, best).similarity);
  // Nothing matches: links lead from nowhere.
  query.text = "copper";
  CHECK(bank.search(query).hits.empty());
}

TEST_CASE("links are read up to the limit of the budget") {
  Bank bank;
  bank.pad(20);
  SaidLinks links;
  for (int i = 0; i < 60; ++i) {
    const Row row = bank.add("harbour lantern " + std::to_string(i));
    links.of[100 + row - 1].assign(100, {1, 0.6});
  }
  SearchQuery query = Bank::ask("harbour lantern");
  query.links = &links.source;
  std::vector<std::uint64_t> read;
  for (const ranking::Depth& depth : {ranking::kLow, ranking::kMid, ranking::kHigh}) {
    query.depth = depth;
    query.candidates = depth.candidates;
    links.allowed.clear();
    const SearchOutcome found = bank.search(query);
    CHECK(links.allowed.size() <= depth.link_seeds);
    CHECK(found.links_cut == (links.allowed.size() < depth.link_seeds));
    CHECK(links.allowed[0] == depth.link_reads);
    read.push_back(found.links_read);
  }
  CHECK(read[0] < read[1]);
  CHECK(read[1] < read[2]);
}

TEST_CASE("budgets differ in what they read") {
  Bank bank;
  std::vector<Op> ops;
  for (int i = 0; i < 12'000; ++i) {
    Op op;
    op.text = "harbour lantern number" + std::to_string(i);
    op.attributes.record = 100 + static_cast<unsigned>(i);
    ops.push_back(op);
  }
  bank.Filled::apply(ops.data(), ops.data() + ops.size());
  Asked asked("harbour lantern");
  std::vector<SearchOutcome> found;
  for (const ranking::Depth& depth : {ranking::kLow, ranking::kMid, ranking::kHigh}) {
    asked.query.depth = depth;
    asked.query.candidates = depth.candidates;
    found.push_back(bank.search(asked.query));
    CHECK(found.back().matched == depth.candidates);
    CHECK(found.back().near == depth.candidates);
  }
  // Beyond 10,000 rows the least budget compares what codes choose, and the tail.
  CHECK(found[0].compared_rows <= ranking::kLow.rescored + kTailRows);
  CHECK(found[1].compared_rows == 12'000);
  CHECK(found[2].compared_rows == 12'000);
  CHECK(found[1].hits.size() > found[0].hits.size());
  CHECK(found[2].hits.size() > found[1].hits.size());
}

}  // namespace strongroom::recall
