// The semantic arm against a plain loop over all vectors: the same rows where every vector is
// compared, nearly the same where sign codes choose.
#include "recall/semantic.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "../vault/vault_fixture.h"
#include "recall/builtin_model.h"
#include "recall/dot.h"

namespace strongroom::recall {
namespace {

using vault::TestVault;
using MayShow = std::function<bool(Row)>;

constexpr Row kAll = ~Row{0};
constexpr Row kNone = 0;  // no vector is compared before its code

const char* const kWho[] = {"my sister",   "the doctor", "our neighbour", "a student",
                            "the manager", "grandma",    "the engineer",  "a tourist",
                            "the nurse",   "my friend",  "the baker",     "a musician",
                            "the teacher", "Ann",        "the plumber"};
const char* const kDid[] = {"bought",  "repaired", "lost",     "painted", "forgot",   "cooked",
                            "sold",    "wrote",    "cleaned",  "found",   "borrowed", "broke",
                            "ordered", "planned",  "reviewed", "deleted", "shipped",  "planted"};
const char* const kWhat[] = {"a bicycle",       "the invoice",  "two tickets",  "a kitten",
                             "the database",    "an old piano", "some bread",   "the garden",
                             "a contract",      "the passport", "a guitar",     "the report",
                             "a birthday cake", "the engine",   "a tent",       "the medicine",
                             "a novel",         "the roof",     "the password", "a wedding dress"};
const char* const kWhere[] = {"in Paris",        "at the hospital", "near the river",
                              "on the train",    "at school",       "in the garage",
                              "by the sea",      "at work",         "in the kitchen",
                              "on the mountain", "at the market",   "in the office"};
const char* const kWhen[] = {
    "yesterday",   "in the morning", "after lunch",     "before the meeting",  "during the storm",
    "last summer", "at night",       "on her birthday", "because of the rain", "with great care"};

class Texts {
 public:
  explicit Texts(std::uint32_t seed) : random_(seed) {}
  std::string text() {
    std::string text = any(kWho) + " " + any(kDid) + " " + any(kWhat);
    if (random_() % 2 == 0) text += " " + any(kWhere);
    if (random_() % 2 == 0) text += " " + any(kWhen);
    if (random_() % 3 == 0) text += ", and " + any(kWho) + " " + any(kDid) + " " + any(kWhat);
    return text + ".";
  }
  std::string query() {
    switch (random_() % 3) {
      case 0: return "what did " + any(kWho) + " do " + any(kWhere) + "?";
      case 1: return "who " + any(kDid) + " " + any(kWhat) + "?";
      default: return any(kWhat) + " " + any(kWhen);
    }
  }

 private:
  template <class List>
  std::string any(const List& list) {
    return list[random_() % std::size(list)];
  }
  std::mt19937 random_;
};

class Bank {
 public:
  Bank(std::size_t rows, std::uint32_t seed, std::size_t cache = std::size_t{8} << 20)
      : open_(vault_.open()), bank_(open_->open_bank("global")) {
    index_ = std::make_unique<Index>(*bank_, IndexOptions{cache, 8});
    Texts texts(seed);
    std::vector<std::string> last;
    for (std::size_t done = 0; done < rows;) {
      vault::BankWrite write = bank_->write(open_->stamp());
      IndexWriter writer(*index_, write);
      const std::uint32_t set = writer.vector_set(model->model_id(), model->dimensions());
      for (std::size_t n = std::min<std::size_t>(700, rows - done); n > 0; --n, ++done) {
        // Some texts are there twice, and some say nothing.
        if (last.empty() || done % 23 != 0) last.push_back(done % 31 == 7 ? "!" : texts.text());
        Embedding embedding;
        model->embed(last.back(), Side::passage, embedding);
        RowDraft draft;
        draft.text = &analyzer_.analyze(last.back());
        draft.attributes.record = done + 1;
        draft.attributes.importance = static_cast<std::uint8_t>(done % 100);
        const RowVector vector{set, &embedding};
        draft.vectors = {&vector, 1};
        writer.add(draft, 0);
        vectors_.push_back(
            {{embedding.values().begin(), embedding.values().end()}, embedding.scale});
      }
      writer.finish();
      write.commit();
    }
  }

  void forget(Row row) {
    vault::BankWrite write = bank_->write(open_->stamp());
    IndexWriter writer(*index_, write);
    writer.forget(row);
    writer.finish();
    write.commit();
    vectors_[row - 1] = {};
  }

  float cosine(Row row, const Embedding& query) const {
    const auto& [values, scale] = vectors_[row - 1];
    std::int32_t dot = 0;
    for (std::size_t d = 0; d < values.size(); ++d) dot += values[d] * query.values()[d];
    return static_cast<float>(dot) * scale * query.scale;
  }

  std::vector<VectorHit> expected(const Embedding& query, std::size_t count,
                                  const MayShow& may_show) const {
    std::vector<VectorHit> hits;
    for (Row row = 1; row <= vectors_.size(); ++row) {
      const VectorHit hit{row, cosine(row, query)};
      if (hit.cosine > 0 && may_show(row)) hits.push_back(hit);
    }
    std::sort(hits.begin(), hits.end(), [](const VectorHit& a, const VectorHit& b) {
      return a.cosine != b.cosine ? a.cosine > b.cosine : a.row < b.row;
    });
    if (hits.size() > count) hits.resize(count);
    return hits;
  }

  /// `work` gets an arm that compares every vector up to so many rows, and the view.
  template <class Work>
  void with_arm(const Embedding& query, Row exact_rows, const Work& work) {
    vault::BankRead read = bank_->read();
    IndexView view(*index_, read);
    SemanticArm arm(view, view.vector_sets().front(), query, exact_rows, rescored);
    work(arm, view);
  }
  // Compared in full of what codes choose.
  std::size_t rescored = ranking::kRescored;

  std::vector<VectorHit> nearest(const Embedding& query, std::size_t count, Row exact_rows,
                                 const MayShow& may_show) {
    std::vector<VectorHit> hits;
    with_arm(query, exact_rows, [&](SemanticArm& arm, IndexView&) {
      REQUIRE(arm.exact() == (exact_rows == kAll));
      hits = arm.nearest(count, may_show);
    });
    return hits;
  }

  Embedding query(const std::string& text) {
    Embedding embedding;
    REQUIRE(model->embed(text, Side::query, embedding));
    return embedding;
  }

  std::unique_ptr<Embedder> model = make_builtin_embedder();

 private:
  TestVault vault_;
  std::unique_ptr<vault::Vault> open_;
  std::shared_ptr<vault::Bank> bank_;
  std::unique_ptr<Index> index_;
  Analyzer analyzer_;
  std::vector<std::pair<std::vector<std::int8_t>, float>> vectors_;
};

using Answer = std::vector<std::pair<Row, float>>;
Answer answer(const std::vector<VectorHit>& hits) {
  Answer all;
  for (const VectorHit& hit : hits) all.emplace_back(hit.row, hit.cosine);
  return all;
}

bool everything(Row) {
  return true;
}
// Of a hundred rows so many pass.
MayShow percent(Row share) {
  return [share](Row row) { return row * 2654435761u % 100 < share; };
}

}  // namespace

TEST_CASE("where every vector is compared the nearest are those of a plain loop") {
  Bank bank(2500, 1);
  bank.forget(17);
  bank.forget(2400);
  Texts texts(2);
  std::size_t found = 0;
  for (int i = 0; i < 40; ++i) {
    const Embedding query = bank.query(texts.query());
    for (const std::size_t count : {1u, 10u, 300u, 5000u}) {
      for (const Row share : {1u, 10u, 50u, 100u}) {
        INFO("query " << i << ", " << count << " of " << share << " %");
        const auto expected = bank.expected(query, count, percent(share));
        found += expected.size();
        REQUIRE(answer(bank.nearest(query, count, kAll, percent(share))) == answer(expected));
      }
    }
  }
  CHECK(found > 10'000);
}

TEST_CASE("chosen by codes, 98 of 100 of the nearest ten are there") {
  Bank bank(6000, 3);
  Texts texts(4);
  for (const Row share : {100u, 50u, 10u, 1u}) {
    std::size_t wanted = 0, found = 0;
    for (int i = 0; i < 60; ++i) {
      const Embedding query = bank.query(texts.query());
      const auto expected = bank.expected(query, 10, percent(share));
      const auto hits = bank.nearest(query, 10, kNone, percent(share));
      REQUIRE(hits.size() <= 10);
      std::set<Row> rows;
      for (const VectorHit& hit : hits) {
        REQUIRE(percent(share)(hit.row));
        REQUIRE(hit.cosine == bank.cosine(hit.row, query));
        rows.insert(hit.row);
      }
      REQUIRE(std::is_sorted(hits.begin(), hits.end(), [](const VectorHit& a, const VectorHit& b) {
        return a.cosine != b.cosine ? a.cosine > b.cosine : a.row < b.row;
      }));
      wanted += expected.size();
      for (const VectorHit& hit : expected) found += rows.count(hit.row);
    }
    INFO("of " << share << " %: " << found << " of " << wanted);
    CHECK(static_cast<double>(found) >= 0.98 * static_cast<double>(wanted));
    // A filter that lets few rows pass has them all compared.
    if (share == 1) CHECK(found == wanted);
  }
}

TEST_CASE("ties go to the lower row") {
  Bank bank(1500, 5);
  bank.rescored = 1500;  // all of them, so that the lists are exact
  Texts texts(6);
  for (const Row exact_rows : {kAll, kNone}) {
    std::size_t ties = 0;
    for (int i = 0; i < 20; ++i) {
      const Embedding query = bank.query(texts.query());
      const auto all = bank.nearest(query, 1000, exact_rows, everything);
      for (std::size_t k = 1; k < all.size(); ++k) {
        REQUIRE(all[k].cosine <= all[k - 1].cosine);
        if (all[k].cosine != all[k - 1].cosine) continue;
        ++ties;
        REQUIRE(all[k].row > all[k - 1].row);
        // A list that ends between two equal ones ends with the lower row.
        const auto cut = bank.nearest(query, k, exact_rows, everything);
        REQUIRE(cut.back().row == all[k - 1].row);
        if (ties % 5 == 0) break;
      }
    }
    CHECK(ties > 20);
  }
}

TEST_CASE("rows of the tail are compared in full, forgotten ones not at all") {
  Bank bank(900, 7);  // 200 of them in the tail
  bank.rescored = 900;
  for (Row row = 800; row <= 900; row += 2) bank.forget(row);
  for (Row row = 1; row <= 300; row += 3) bank.forget(row);
  Texts texts(8);
  for (int i = 0; i < 20; ++i) {
    const Embedding query = bank.query(texts.query());
    // Codes choose a thousand at least, which are all.
    const auto expected = bank.expected(query, 300, everything);
    REQUIRE(answer(bank.nearest(query, 300, kNone, everything)) == answer(expected));
  }
}

TEST_CASE("a filter that reads through a small cache changes nothing") {
  Bank bank(6000, 9, 1);
  Texts texts(10);
  for (int i = 0; i < 20; ++i) {
    const Embedding query = bank.query(texts.query());
    const MayShow light = [](Row row) { return (row - 1) % 100 < 40; };
    const auto expected = bank.expected(query, 300, light);
    for (const Row exact_rows : {kAll, kNone}) {
      bank.with_arm(query, exact_rows, [&](SemanticArm& arm, IndexView& view) {
        const auto hits = arm.nearest(300, [&](Row row) {
          view.times(row);
          return view.attributes(row).importance < 40;
        });
        if (exact_rows == kAll) REQUIRE(answer(hits) == answer(expected));
        for (const VectorHit& hit : hits) {
          REQUIRE(light(hit.row));
          REQUIRE(hit.cosine == bank.cosine(hit.row, query));
        }
      });
    }
  }
}

TEST_CASE("every kernel gives the same rows and bits") {
  Bank bank(3000, 11);
  Texts texts(12);
  const std::string kernel(kernel_name());
  for (int i = 0; i < 20; ++i) {
    const Embedding query = bank.query(texts.query());
    for (const Row exact_rows : {kAll, kNone}) {
      const auto expected = answer(bank.nearest(query, 100, exact_rows, percent(60)));
      for (const std::string_view other : kernels()) {
        REQUIRE(use_kernel(other));
        INFO("kernel " << other);
        REQUIRE(answer(bank.nearest(query, 100, exact_rows, percent(60))) == expected);
      }
      REQUIRE(use_kernel(kernel));
    }
  }
}

}  // namespace strongroom::recall
