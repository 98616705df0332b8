// The index against a plain model in memory: the same rows, postings, vectors and statistics
// whatever segments, merges, restarts and aborted transactions there were.
#include "recall/index.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "../vault/vault_fixture.h"
#include "recall/columns.h"
#include "recall/sketch.h"

namespace strongroom::recall {
namespace {

using vault::TestVault;

constexpr std::size_t kDimensions = 32;

const char* const kWords[] = {"harbour", "lantern", "granite", "willow",  "copper", "meadow",
                              "thunder", "velvet",  "anchor",  "saffron", "timber", "crystal",
                              "marble",  "falcon",  "orchard", "canyon",  "pebble", "hazel",
                              "juniper", "cobalt",  "quartz",  "linen",   "amber",  "cedar"};

struct ModelRow {
  std::string text;
  std::map<std::string, unsigned> terms;
  std::set<std::string> words;
  RowAttributes attributes;
  RowTimes times;
  std::string fingerprint;
  std::optional<Sketch> sketch;
  std::string vector;  // its cell; empty when the text says nothing to the model
  bool closed = false, dead = false;
};

// What the index must agree with.
class Model {
 public:
  Model() { push(ModelRow()); }

  Row size() const { return static_cast<Row>(rows_.size()); }
  const ModelRow& operator[](Row row) const { return *rows_[row]; }
  // A copy of a model shares its rows until one of them changes.
  ModelRow& change(Row row) {
    if (rows_[row].use_count() > 1) rows_[row] = std::make_shared<ModelRow>(*rows_[row]);
    return *rows_[row];
  }
  void push(ModelRow row) { rows_.push_back(std::make_shared<ModelRow>(std::move(row))); }

  std::vector<Row> rows_with(const std::string& term) const {
    std::vector<Row> found;
    for (Row r = 1; r < size(); ++r) {
      if (!rows_[r]->dead && rows_[r]->terms.count(term) != 0) found.push_back(r);
    }
    return found;
  }
  std::uint64_t live_with(const std::string& term) const {
    std::uint64_t n = 0;
    for (const Row r : rows_with(term)) n += rows_[r]->closed ? 0u : 1u;
    return n;
  }

 private:
  std::vector<std::shared_ptr<ModelRow>> rows_;
};

class World {
 public:
  explicit World(std::uint32_t seed, unsigned fan_out, std::size_t cache = 1 << 20)
      : random_(seed), options_{cache, fan_out} {
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

  std::size_t pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  std::string sentence() {
    std::string text;
    for (std::size_t n = 2 + pick(9); n > 0; --n) {
      // Some words are much more common than others.
      const std::size_t word = std::min(pick(24), pick(24));
      text += (text.empty() ? "" : " ") + std::string(kWords[word]);
    }
    if (pick(3) == 0) text += " unique" + std::to_string(pick(1'000'000)) + "x";
    return text;
  }

  Sketcher sketcher() const { return Sketcher(bank_->keys().index); }

  void add(IndexWriter& writer, Model& into) {
    ModelRow row;
    row.text = sentence();
    const AnalyzedText& analyzed = analyzer_.analyze(row.text);
    for (const auto& term : analyzed.terms) row.terms[std::string(term.text)] = term.frequency;
    for (const auto word : analyzed.words) row.words.insert(std::string(word));
    row.fingerprint = normalized(row.text);
    RowDraft draft;
    draft.text = &analyzed;
    draft.fingerprint = row.fingerprint;
    draft.sketched = pick(10) != 0;
    if (draft.sketched) row.sketch = sketcher()(row.fingerprint);
    draft.attributes.record = 1000 + into.size();
    draft.attributes.document = static_cast<std::uint32_t>(pick(5));
    draft.attributes.importance = static_cast<std::uint8_t>(pick(256));
    draft.attributes.tag_set =
        writer.intern_tags(pick(2) == 0 ? std::vector<std::string>{}
                                        : std::vector<std::string>{"t" + std::to_string(pick(40))});
    draft.attributes.speaker =
        writer.intern_speaker(pick(2) == 0 ? "" : "Speaker " + std::to_string(pick(9)));
    draft.times.mentioned = static_cast<TimeMs>(pick(1'000'000));
    draft.times.believed_from = static_cast<TimeMs>(into.size());
    if (pick(10) == 0) {
      draft.attributes.timed = true;
      draft.times.expires = 123'456;
    }
    Embedding embedding;
    if (pick(8) != 0) embedding = some_vector();
    const RowVector vector{writer.vector_set("model", kDimensions), &embedding};
    draft.vectors = {&vector, 1};
    if (!embedding.empty()) {
      row.vector = embedding.bytes.view();
      row.vector.append(reinterpret_cast<const char*>(&embedding.scale), sizeof embedding.scale);
    }
    const Row previous = into.size() > 1 && pick(2) == 0 ? static_cast<Row>(into.size() - 1) : 0;
    const Row number = writer.add(draft, into[previous].dead ? 0 : previous);
    REQUIRE(number == into.size());
    row.attributes = draft.attributes;
    row.attributes.previous = into[previous].dead ? 0 : previous;
    if (row.attributes.previous != 0) into.change(previous).attributes.next = number;
    row.times = draft.times;
    into.push(std::move(row));
  }

  Embedding some_vector() {
    std::vector<float> floats(kDimensions);
    for (float& x : floats) x = static_cast<float>(pick(2001)) - 1000;
    Embedding made;
    quantise(floats, made);
    return made;
  }

  void change(IndexWriter& writer, Model& into) {
    if (into.size() < 2) return;
    const auto row = static_cast<Row>(1 + pick(into.size() - 1));
    if (into[row].dead) return;
    ModelRow& m = into.change(row);
    switch (pick(3)) {
      case 0:
        writer.close(row, 77);
        if (!m.closed) m.times.believed_until = 77;
        m.closed = true;
        break;
      case 1: {
        writer.forget(row);
        if (m.attributes.previous != 0 && into[m.attributes.previous].attributes.next == row) {
          into.change(m.attributes.previous).attributes.next = m.attributes.next;
        }
        if (m.attributes.next != 0 && into[m.attributes.next].attributes.previous == row) {
          into.change(m.attributes.next).attributes.previous = m.attributes.previous;
        }
        m.dead = true;
        break;
      }
      default: writer.set_record(row, 5); m.attributes.record = 5;
    }
  }

  // One transaction of changes; one in six is given up before it commits.
  void transaction(std::size_t adds, std::size_t changes) {
    Model next = model;
    vault::BankWrite write = bank_->write(open_->stamp());
    IndexWriter writer(*index_, write);
    for (std::size_t i = 0; i < adds; ++i) add(writer, next);
    for (std::size_t i = 0; i < changes; ++i) change(writer, next);
    const bool give_up = pick(6) == 0;
    if (give_up && pick(2) == 0) return;
    writer.finish();
    if (give_up) return;
    write.commit();
    model = std::move(next);
  }

  void check() { check_with(*index_); }
  void check_cold() {
    Index cold(*bank_, options_);
    check_with(cold);
  }

  void check_with(Index& index) {
    vault::BankRead read = bank_->read();
    IndexView view(index, read);
    REQUIRE(view.row_end() == model.size());
    std::uint64_t live = 0, length = 0;
    const std::vector<VectorSet> sets = view.vector_sets();
    REQUIRE(sets.size() == (model.size() > 1 ? 1 : 0));
    if (!sets.empty()) REQUIRE(sets.front().filled == model.size());
    for (Row r = 1; r < model.size(); ++r) {
      const ModelRow& m = model[r];
      const RowAttributes a = view.attributes(r);
      // One check a row: there are millions.
      if (!same(view, r, m, a) || !same_vector(view.vector(sets.front(), r), m)) {
        INFO("row " << r << " dead " << m.dead << " closed " << m.closed);
        REQUIRE(a.previous == m.attributes.previous);
        REQUIRE(a.next == m.attributes.next);
        REQUIRE(a.record == m.attributes.record);
        FAIL("the row is another than the model's");
      }
      if (m.dead || m.closed) continue;
      ++live;
      length += static_cast<std::uint64_t>(IndexView::class_length(a.length_class));
    }
    REQUIRE(view.live_rows() == live);
    REQUIRE(view.state().live_length == length);
    check_terms(view);
    check_fingerprints(view);
    check_sketches(view);
  }

  static bool same(IndexView& view, Row row, const ModelRow& m, const RowAttributes& a) {
    if (m.dead) return a.dead && !view.live(row);
    const RowTimes t = view.times(row);
    return !a.dead && a.closed == m.closed && view.live(row) == !m.closed &&
           a.record == m.attributes.record && a.document == m.attributes.document &&
           a.previous == m.attributes.previous && a.next == m.attributes.next &&
           a.tag_set == m.attributes.tag_set && a.speaker == m.attributes.speaker &&
           a.importance == m.attributes.importance && t.mentioned == m.times.mentioned &&
           t.believed_until == m.times.believed_until && t.expires == m.times.expires &&
           view.timed(row) == (m.times.expires != RowTimes::kForever);
  }

  static bool same_vector(const char* cell, const ModelRow& m) {
    if (cell == nullptr) return m.dead || m.vector.empty();
    return !m.dead && m.vector == std::string_view(cell, vector_bytes(kDimensions));
  }

  void check_terms(IndexView& view) {
    for (const char* const word : kWords) {
      const std::string term = analyzer_.stem(word);
      std::vector<IndexView::Posting> postings;
      const std::uint64_t live = view.postings(view.term_id(term), postings);
      const std::vector<Row> expected = model.rows_with(term);
      REQUIRE(live == model.live_with(term));
      const bool all =
          std::equal(postings.begin(), postings.end(), expected.begin(), expected.end(),
                     [&](const IndexView::Posting& posting, Row row) {
                       return posting.row == row && IndexView::frequency(posting.code) ==
                                                        std::min(8u, model[row].terms.at(term));
                     });
      INFO("term " << term);
      REQUIRE(all);
    }
  }

  void check_fingerprints(IndexView& view) {
    for (int i = 0; i < 50 && model.size() > 1; ++i) {
      const ModelRow& m = model[static_cast<Row>(1 + pick(model.size() - 1))];
      std::vector<Row> expected;
      for (Row r = 1; r < model.size(); ++r) {
        if (!model[r].dead && model[r].fingerprint == m.fingerprint) expected.push_back(r);
      }
      REQUIRE(view.find_fingerprint(m.fingerprint) == expected);
    }
    REQUIRE(view.find_fingerprint("never said").empty());
  }

  void check_sketches(IndexView& view) {
    for (int i = 0; i < 50 && model.size() > 1; ++i) {
      const std::string text = model[static_cast<Row>(1 + pick(model.size() - 1))].fingerprint;
      const std::optional<Sketch> sketch = sketcher()(text);
      std::vector<std::vector<Row>> bands;
      for (std::size_t b = 0; sketch && b < kSketchBands; ++b) {
        std::vector<Row>& rows = bands.emplace_back();
        for (Row r = 1; r < model.size(); ++r) {
          const ModelRow& m = model[r];
          if (!m.dead && !m.closed && m.sketch && (*m.sketch)[b] == (*sketch)[b]) rows.push_back(r);
        }
      }
      const std::vector<Row> expected = best_matches(bands, [](Row) { return true; });
      REQUIRE(view.find_sketch(text) == expected);
    }
  }

  TestVault vault_;
  std::mt19937 random_;
  IndexOptions options_;
  std::unique_ptr<vault::Vault> open_;
  std::shared_ptr<vault::Bank> bank_;
  std::unique_ptr<Index> index_;
  Analyzer analyzer_;
  Model model;
};

}  // namespace

TEST_CASE("an empty index answers") {
  World world(1, 8);
  world.check();
  vault::BankRead read = world.bank_->read();
  IndexView view(*world.index_, read);
  std::vector<IndexView::Posting> postings;
  CHECK(view.postings(view.term_id("nothing"), postings) == 0);
  CHECK(view.words_near("nothing", 2, 8).empty());
  CHECK(view.all_live());
}

TEST_CASE("the index agrees with a model through merges, changes and aborted transactions") {
  const unsigned fan_out = GENERATE(2u, 4u, 8u);
  const std::size_t cache = GENERATE(std::size_t{64} << 12, std::size_t{8} << 20);
  World world(fan_out * 7 + static_cast<unsigned>(cache >> 20), fan_out, cache);
  for (int round = 0; round < 60; ++round) {
    switch (world.pick(5)) {
      case 0: world.transaction(300 + world.pick(900), world.pick(40)); break;
      case 1: world.transaction(0, world.pick(30)); break;
      case 2: world.reopen(); break;
      default:
        for (int i = 0; i < 40; ++i) world.transaction(1 + world.pick(4), world.pick(2));
    }
    if (round % 10 == 9) {
      world.check();
      world.check_cold();
    }
  }
  world.check();
  vault::BankRead read = world.bank_->read();
  IndexView view(*world.index_, read);
  INFO("rows " << view.state().rows << " segments " << view.state().segments);
  CHECK(view.state().segments <= 12u * 8);
  view.check([](Row, const RowAttributes&, const RowTimes&) {});
}

TEST_CASE(
    "words one or two edits away are found, and those of forgotten rows are not after a merge") {
  World world(5, 2);
  world.transaction(0, 0);
  for (int i = 0; i < 30; ++i) world.transaction(60, 0);
  vault::BankRead read = world.bank_->read();
  IndexView view(*world.index_, read);
  const auto near = view.words_near("lantren", 1, 8);
  REQUIRE(near.size() == 1);
  CHECK(near[0].word == "lantern");
  CHECK(view.words_near("hantern", 1, 8).empty());  // another first letter
  CHECK(view.words_near("granate", 1, 8).front().word == "granite");
}

TEST_CASE("a merge that starts in the transaction that forgets drops what it forgets") {
  World world(11, 2);
  for (int i = 0; i < 30; ++i) world.transaction(300, 0);
  // Many rows at once, so that merges are owed by the same transaction.
  Model next = world.model;
  vault::BankWrite write = world.bank_->write(world.open_->stamp());
  IndexWriter writer(*world.index_, write);
  for (Row row = 1; row < next.size(); row += 2) {
    writer.forget(row);
    next.change(row).dead = true;
  }
  for (int i = 0; i < 400; ++i) world.add(writer, next);
  writer.finish();
  write.commit();
  vault::BankRead read = world.bank_->read();
  IndexView view(*world.index_, read);
  // No segment without forgotten rows holds their terms.
  view.check([](Row, const RowAttributes&, const RowTimes&) {});
  CHECK(view.live_rows() > 0);
}

}  // namespace strongroom::recall
