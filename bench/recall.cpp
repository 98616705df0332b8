// The figures of retain and recall (bench/README.md), at one or more sizes of a bank.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "base/time.h"
#include "bench/baselines.h"
#include "bench/measure.h"
#include "bench/recall_child.h"
#include "bench/recall_corpus.h"
#include "bench/recall_fts5.h"
#include "bench/world.h"
#include "crypto/process.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kRules = 16;
constexpr std::size_t kBatch = 1000;
constexpr std::size_t kQueries = 200;
constexpr double kPage = 4096;

struct Options {
  std::string folder;  // scratch; on the disk that is to be measured
  std::string out;     // JSON, or empty
  std::vector<std::string> rows;
  std::vector<std::size_t> sizes;
  bool quick = false;

  bool wants(const std::string& row) const {
    return rows.empty() || std::find(rows.begin(), rows.end(), row) != rows.end();
  }
  std::size_t rounds(std::size_t full) const {
    return quick ? std::min<std::size_t>(full, 3) : full;
  }
};

double max_of(const Series& series) {
  return *std::max_element(series.each.begin(), series.each.end());
}
double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Targets at 10k, 100k and 1M; what lies between has the next larger one's.
struct Target {
  double small, middle, large;
  double at(std::size_t rows) const {
    return rows <= 10'000 ? small : rows <= 100'000 ? middle : large;
  }
};

class Bench {
 public:
  Bench(const Options& options, const Corpus& corpus, Report& report, std::size_t rows)
      : options_(options),
        corpus_(corpus),
        report_(report),
        rows_(rows),
        next_(rows),
        folder_(options.folder + "/" + std::to_string(rows)),
        world_(folder_.path() + "/ours", kRules)
#ifdef STRONGROOM_BENCH_SQLITE
        ,
        fts5_(folder_.path() + "/texts.sqlite")
#endif
  {
  }

  // What changes the bank comes last.
  void run() {
    load();
    if (options_.wants("query")) query();
    if (options_.wants("kinds")) kinds();
    if (options_.wants("cold")) cold();
    if (options_.wants("memory")) memory();
    if (options_.wants("foreign")) foreign();
    if (options_.wants("other-bank")) other_bank();
    if (options_.wants("turns")) turns();
    if (options_.wants("pairs")) pairs();
    if (options_.wants("retain")) retain();
  }

 private:
  Row row(const std::string& id, std::string title, Clock clock) const {
    Row made;
    made.id = id + "-" + std::to_string(rows_);
    made.title = std::move(title) + ", " + std::to_string(rows_) + " memories";
    made.clock = clock;
    made.load_before = load_average();
    return made;
  }

  service::MemoryService& service() {
    if (!service_) service_ = std::make_unique<service::MemoryService>(world_.options());
    return *service_;
  }
  // Mapped pages cannot be dropped from the cache.
  void close() { service_.reset(); }

  std::string query_text(std::size_t i) const { return corpus_.query(i % kQueries, rows_); }

  // ---- bulk

  void load() {
    Row made = row("load", "retain in bulk, 1,000 a call", Clock::wall);
    Series ours{"ours", {}, {}, {}}, other{"SQLite FTS5, 1,000 a transaction", {}, {}, {}};
    double text_bytes = 0, written = 0, items = 0;
    for (std::uint64_t i = 0; i < rows_; i += kBatch) {
      const std::uint64_t end = std::min<std::uint64_t>(rows_, i + kBatch);
      service::RetainRequest request;
      std::vector<std::string> texts;
      for (std::uint64_t k = i; k < end; ++k) {
        request.items.push_back(corpus_.item(k));
        texts.push_back(request.items.back().content);
        text_bytes += static_cast<double>(texts.back().size());
      }
      const auto n = static_cast<double>(end - i);
      items += n;
      const double before = bytes_written();
      time_batch(ours, n, [&] {
        if (service().retain(request).count != request.items.size()) {
          throw std::runtime_error("memories of the benchmark were not stored");
        }
      });
      written += bytes_written() - before;
#ifdef STRONGROOM_BENCH_SQLITE
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      time_batch(other, n, [&] { fts5_.add(views); });
#endif
    }
    const auto figure = [&](const std::string& name, const char* unit, double value) {
      made.figures.push_back({name, unit, value});
    };
    const double tail = rate(ours.rounds, 0.1), whole = rate(ours.rounds, 1);
    figure("ours: whole run", "memories/s", whole);
    figure("ours: last tenth", "memories/s", tail);
    figure("ours: whole run, by CPU time", "memories/s", rate(ours.cpu, 1));
    figure("ours: last tenth, by CPU time", "memories/s", rate(ours.cpu, 0.1));
    figure("ours: longest call", "ms", *std::max_element(ours.rounds.begin(), ours.rounds.end()) *
                                           1e3 * static_cast<double>(kBatch));
    figure("text a memory", "B", text_bytes / items);
    figure("written a memory", "B", written / items);
    close();
    const double file = file_size(world_.bank_file()).on_disk;
    const IndexSize index = index_size();
    figure("bank's file a memory", "B", file / items);
    figure("index a memory, pages", "B", index.pages / items);
    figure("index a memory / text", "x", index.pages / text_bytes);
    made.series = {std::move(ours)};
#ifdef STRONGROOM_BENCH_SQLITE
    fts5_.checkpoint();
    const double other_file = file_size(folder_.path() + "/texts.sqlite").on_disk;
    figure("FTS5: whole run", "memories/s", rate(other.rounds, 1));
    figure("FTS5: last tenth", "memories/s", rate(other.rounds, 0.1));
    figure("FTS5: whole run, by CPU time", "memories/s", rate(other.cpu, 1));
    figure("FTS5: file a memory", "B", other_file / items);
    made.series.push_back(std::move(other));
#endif
    const auto target = [&](const char* what, double value, std::optional<double> most,
                            std::optional<double> least) {
      made.comparisons.push_back({what, value, most, least});
    };
    target("memories/s, whole run", whole, std::nullopt, 20'000);
    target("last tenth / whole run", tail / whole, std::nullopt, std::nullopt);
    target("KB written a memory", written / items / 1000, 4.0, std::nullopt);
    target("index B a memory", index.pages / items, Target{800, 720, 680}.at(rows_), std::nullopt);
    report_.add(std::move(made));
  }

  template <class Work>
  static void time_batch(Series& series, double n, Work&& work) {
    const double wall = now_seconds(Clock::wall), cpu = now_seconds(Clock::cpu);
    work();
    series.rounds.push_back((now_seconds(Clock::wall) - wall) / n);
    series.cpu.push_back((now_seconds(Clock::cpu) - cpu) / n);
  }

  static double rate(const std::vector<double>& seconds, double share) {
    const auto count = std::max<std::ptrdiff_t>(
        1, static_cast<std::ptrdiff_t>(static_cast<double>(seconds.size()) * share));
    return 1 / mean({seconds.end() - count, seconds.end()});
  }

  struct IndexSize {
    double pages = 0;  // bytes of the engine's pages
  };
  // A value above half a page has overflow pages of its own; the others share leaves.
  IndexSize index_size() const {
    const auto vault = world_.open();
    const auto bank = vault->open_bank(kBank);
    IndexSize size;
    double shared = 0;
    const auto view = bank->engine().begin_read();
    view->scan(vault::Table::index, {}, [&](std::string_view key, std::string_view value) {
      constexpr std::size_t kHeader = 16, kNode = 8, kPair = 2, kPointer = 8;
      if (value.size() + key.size() + kNode > (4096 - kHeader) / 2 - kPair) {
        size.pages += std::ceil(static_cast<double>(value.size() + kHeader) / kPage) * kPage;
        shared += static_cast<double>(kNode + kPair + key.size() + kPointer);
      } else {
        shared += static_cast<double>(kNode + kPair + key.size() + value.size());
      }
      return true;
    });
    size.pages += std::ceil(shared / kPage) * kPage;
    return size;
  }

  // ---- warm queries

  void query() {
    Row made = row("query", "recall, 3 to 5 words, warm", Clock::cpu);
    std::size_t found = 0, asked = 0;
    std::vector<Contender> contenders = {{"ours", {}, [&](std::size_t op) {
                                            ++asked;
                                            found += service()
                                                         .search(search_of(query_text(op)))
                                                         .results.size();
                                          }}};
#ifdef STRONGROOM_BENCH_SQLITE
    std::size_t other_found = 0;
    contenders.push_back({"SQLite FTS5, OR, best 30", {}, [&](std::size_t op) {
                            const std::size_t i = op % kQueries;
                            other_found +=
                                fts5_.search(corpus_.query_words(i, rows_, 3 + i % 3));
                          }});
#endif
    made.series = run_interleaved({options_.rounds(10), 40, Clock::cpu, true}, contenders);
    made.figures.push_back({"ours: results a query", "", static_cast<double>(found) /
                                                             static_cast<double>(asked)});
#ifdef STRONGROOM_BENCH_SQLITE
    made.figures.push_back({"FTS5: results a query", "", static_cast<double>(other_found) /
                                                             static_cast<double>(asked)});
    made.comparisons.push_back(
        {"ours / FTS5", ratio(made.series[0], made.series[1]), std::nullopt, std::nullopt});
#endif
    const double p50 = quantile(made.series[0].each, 0.5);
    made.comparisons.push_back(
        {"p50, ms", p50 * 1e3, Target{0.5, 2, 10}.at(rows_), std::nullopt});
    made.comparisons.push_back(
        {"p99 / p50", quantile(made.series[0].each, 0.99) / p50, 2.0, std::nullopt});
    report_.add(std::move(made));
  }

  Contender kind(const std::string& name, std::function<service::SearchRequest(std::size_t)> make) {
    return {name, {}, [this, make = std::move(make)](std::size_t op) {
              service().search(make(op % kQueries));
            }};
  }

  Contender tagged(const std::string& name, const char* tag) {
    return kind(name, [this, tag](std::size_t i) {
      service::SearchRequest request = search_of(query_text(i));
      request.tags = {tag};
      request.tags_match = service::TagMatch::any_strict;
      return request;
    });
  }

  void kinds() {
    const auto words = [this](std::size_t count) {
      return [this, count](std::size_t i) {
        return search_of(joined(corpus_.query_words(i, rows_, count)));
      };
    };
    const TimeMs now = now_ms();
    const std::vector<Contender> contenders = {
        kind("3 to 5 words", [this](std::size_t i) { return search_of(query_text(i)); }),
        kind("the same, min_score 0: 30 results",
             [this](std::size_t i) {
               service::SearchRequest request = search_of(query_text(i));
               request.min_score = 0;
               return request;
             }),
        kind("3 to 5 words, frequent ones too",
             [this](std::size_t i) { return search_of(corpus_.query(i, rows_, true)); }),
        kind("one identifier", [this](std::size_t i) { return search_of(Corpus::id(i * 31)); }),
        kind("32 words", words(32)),
        kind("500 tokens",
             [this](std::size_t i) { return search_of(corpus_.long_query(i, rows_)); }),
        kind("a word mistyped",
             [this](std::size_t i) { return search_of(corpus_.mistyped_query(i, rows_)); }),
        tagged("a tag that half have", Corpus::kHalf),
        tagged("a tag that 10 % have", Corpus::kTenth),
        tagged("a tag that 1 % have", Corpus::kHundredth),
        kind("as of now",
             [this, now](std::size_t i) {
               service::SearchRequest request = search_of(query_text(i));
               request.as_of = now;
               return request;
             }),
        kind("a time window of a tenth",
             [this](std::size_t i) {
               service::SearchRequest request = search_of(query_text(i));
               request.window_start = corpus_.item(rows_ / 2).timestamp;
               request.window_end = corpus_.item(rows_ / 2 + rows_ / 10).timestamp;
               return request;
             }),
    };
    Row made = row("kinds", "recall by kind of query, warm", Clock::cpu);
    made.series = run_interleaved({options_.rounds(5), 40, Clock::cpu, true}, contenders);
    for (std::size_t i = 1; i < made.series.size(); ++i) {
      made.comparisons.push_back({made.series[i].name + " / 3 to 5 words",
                                  ratio(made.series[i], made.series[0]), std::nullopt,
                                  std::nullopt});
    }
    for (const Series& series : made.series) {
      made.comparisons.push_back({series.name + ": p99 / p50",
                                  quantile(series.each, 0.99) / quantile(series.each, 0.5),
                                  series.name == "32 words" ? std::optional(2.0) : std::nullopt,
                                  std::nullopt});
    }
    report_.add(std::move(made));
  }

  // ---- a new process

  void cold() {
    close();
    const std::string file = world_.bank_file();
    std::unique_ptr<Child> child;
    std::vector<double> inside;
    const auto prepare = [&](bool drop) {
      return [&, drop](std::size_t) {
        child.reset();
        if (!drop) return;
        drop_cache(file);
        drop_cache(world_.vault_path() + "/root.mdb");
        drop_cache(world_.vault_path() + "/header");
      };
    };
    const auto first = [&](std::size_t op) {
      child = std::make_unique<Child>(world_, "first", query_text(op));
      inside.push_back(std::stod(child->read()) * 1e-6);
    };
    Row made = row("cold", "a new process up to its first answer", Clock::wall);
    made.series = run_interleaved(
        {options_.rounds(20), 1, Clock::wall, false},
        {{"files cached", prepare(false), first},
         {"files dropped from the cache", prepare(true), first},
         {"a process that does nothing", prepare(false), [&](std::size_t) {
            child = std::make_unique<Child>(world_, "nothing", "");
            child->read();
          }}});
    child.reset();
    made.figures.push_back(
        {"p25, files cached", "ms", quantile(made.series[0].rounds, 0.25) * 1e3});
    made.comparisons.push_back({"files cached, p50 ms", quantile(made.series[0].rounds, 0.5) * 1e3,
                                Target{8, 45, 180}.at(rows_), std::nullopt});
    made.comparisons.push_back({"files dropped, p50 ms", quantile(made.series[1].rounds, 0.5) * 1e3,
                                Target{25, 80, 350}.at(rows_), std::nullopt});
    report_.add(std::move(made));
  }

  void memory() {
    Row made = row("memory", "memory of a fresh process", Clock::wall);
    Child child(world_, "memory", std::to_string(rows_));
    double most = 0;
    const auto ask = [&](const std::string& queries, const std::string& when) {
      std::istringstream in(child.ask(queries));
      double dirty = 0, anonymous = 0, resident = 0;
      in >> dirty >> anonymous >> resident;
      made.figures.push_back({when + ": private dirty", "MB", dirty * 1024e-6});
      made.figures.push_back({when + ": anonymous", "MB", anonymous * 1024e-6});
      made.figures.push_back({when + ": resident, mapped file included", "MB", resident * 1024e-6});
      most = std::max(dirty, anonymous) * 1024e-6;
    };
    ask("0", "before the first query");
    ask("1", "after one query");
    ask("999", "after 1,000 queries");
    made.comparisons.push_back({"private MB after 1,000 queries", most,
                                Target{80, 80, 200}.at(rows_), std::nullopt});
    report_.add(std::move(made));
  }

  // ---- other processes, other banks

  void foreign() {
    Child writer(world_, "writer", "");
    const auto write = [&](std::size_t) { writer.ask(std::to_string(next_++)); };
    const auto ask = [&](std::size_t op) { service().search(search_of(query_text(op))); };
    // What waiting for another process costs by itself: the processor's caches.
    const World elsewhere(folder_.path() + "/elsewhere", kRules);
    Child idle(elsewhere, "writer", "");
    const auto wait = [&](std::size_t) { idle.ask(std::to_string(next_++)); };
    Row made = row("foreign", "recall after another process stored a memory", Clock::cpu);
    made.series = run_interleaved({options_.rounds(100), 1, Clock::cpu, true},
                                  {{"first query after it", write, ask},
                                   {"after a write to another vault", wait, ask},
                                   {"the same query again", ask, ask}});
    const auto p50 = [&](std::size_t i) { return quantile(made.series[i].each, 0.5); };
    made.comparisons.push_back({"first after it / again", p50(0) / p50(2), 1.2, std::nullopt});
    made.comparisons.push_back({"first after it / after another vault's", p50(0) / p50(1),
                                std::nullopt, std::nullopt});
    report_.add(std::move(made));
  }

  void other_bank() {
    constexpr std::size_t kFew = 50;
    const World alone(folder_.path() + "/alone", kRules);
    service::MemoryService alone_service(alone.options());
    service().create_bank("other");
    for (std::size_t i = 0; i < kFew; ++i) {
      retain_one(alone_service, corpus_.item(i));
      retain_one(service(), corpus_.item(i), "other");
    }
    const auto text = [&](std::size_t op) { return corpus_.query(op % kQueries, kFew); };
    const auto beside = [&](std::size_t op) {
      service::SearchRequest request = search_of(text(op));
      request.scope.clear();
      request.bank = "other";
      return service().search(request).results.size();
    };
    const auto by_itself = [&](std::size_t op) {
      return alone_service.search(search_of(text(op))).results.size();
    };
    for (std::size_t i = 0; i < kQueries; ++i) {
      if (beside(i) == 0 || beside(i) != by_itself(i)) {
        throw std::runtime_error("a bank's neighbour changed its answers");
      }
    }
    Row made = row("other-bank", "recall in a bank of 50, beside one of that size", Clock::cpu);
    made.series = run_interleaved({options_.rounds(9), 40, Clock::cpu, true},
                                  {{"50 beside the large bank", {}, beside},
                                   {"50 in a vault of their own", {}, by_itself}});
    made.comparisons.push_back({"beside / alone", ratio(made.series[0], made.series[1]),
                                std::nullopt, std::nullopt});
    report_.add(std::move(made));
  }

  void turns() {
    const std::size_t stores = options_.quick ? 20 : 600;
    close();
    Child a(world_, "writer", ""), b(world_, "writer", "");
    std::vector<double> two, one;
    for (std::size_t i = 0; i < stores; ++i) {
      two.push_back(std::stod((i % 2 == 0 ? a : b).ask(std::to_string(next_++))));
    }
    for (std::size_t i = 0; i < stores; ++i) {
      one.push_back(std::stod(a.ask(std::to_string(next_++))));
    }
    Row made = row("turns", "bytes written a store, two processes taking turns", Clock::wall);
    const auto figures = [&](const std::string& who, const std::vector<double>& bytes) {
      made.figures.push_back({who + ": mean", "KB", mean(bytes) * 1e-3});
      made.figures.push_back({who + ": p50", "KB", quantile(bytes, 0.5) * 1e-3});
      made.figures.push_back({who + ": p99", "KB", quantile(bytes, 0.99) * 1e-3});
      made.figures.push_back({who + ": most", "KB", quantile(bytes, 1) * 1e-3});
    };
    figures("two processes", two);
    figures("one process", one);
    made.comparisons.push_back({"two processes, mean KB", mean(two) * 1e-3, 100.0, std::nullopt});
    made.comparisons.push_back(
        {"two / one, mean", mean(two) / mean(one), std::nullopt, std::nullopt});
    report_.add(std::move(made));
  }

  // ---- single writes

  static constexpr std::size_t kPairs = 300;

  std::string whole_query(std::uint64_t i) const {
    std::istringstream in(corpus_.text(i));
    std::string word, query;
    for (int n = 0; n < 4 && in >> word; ++n) query += word + " ";
    return query + Corpus::id(i);
  }

  void put(std::uint64_t i) {
    const std::string name = entry_name(i), value = corpus_.text(i);
    service::RememberRequest request;
    request.key = name;
    request.value = value;
    service().remember(request);
  }

  void pairs() {
    const std::size_t rounds = options_.rounds(kPairs);
    std::vector<std::string> ids;
    std::vector<std::uint64_t> texts;
    for (std::size_t i = 0; i <= rounds; ++i) {
      texts.push_back(next_++);
      ids.push_back(retain_one(service(), corpus_.item(texts.back())));
    }
    const auto first_of = [&](std::uint64_t text) {
      const auto result = service().search(search_of(whole_query(text)));
      return result.results.empty() ? std::string() : result.results.front().id;
    };
    Row made = row("pairs", "a durable change and a recall", Clock::wall);
    made.series = run_interleaved(
        {rounds, 1, Clock::wall, true},
        {{"plain put, recall",
          {},
          [&](std::size_t op) {
            put(next_++);
            first_of(op);
          }},
         {"retain, recall of it",
          {},
          [&](std::size_t) {
            const std::uint64_t text = next_++;
            const std::string id = retain_one(service(), corpus_.item(text));
            if (first_of(text) != id) throw std::runtime_error("a stored memory is not found");
          }},
         {"forget, recall without it", {}, [&](std::size_t op) {
            service::EditRequest edit;
            edit.op = service::EditOp::forget;
            edit.id = ids[op];
            service().edit_memory(edit);
            if (first_of(texts[op]) == ids[op]) throw std::runtime_error("forgotten, but found");
          }}});
    made.comparisons.push_back({"retain, recall / put, recall",
                                ratio(made.series[1], made.series[0]), 2.0, std::nullopt});
    made.comparisons.push_back({"forget, recall / put, recall",
                                ratio(made.series[2], made.series[0]), 2.0, std::nullopt});
    report_.add(std::move(made));
  }

  void retain() {
    Row made = row("retain", "one durable retain, in turn with a plain put", Clock::wall);
    made.series = run_interleaved(
        {options_.quick ? std::size_t{50} : std::size_t{10'000}, 1, Clock::wall, true},
        {{"retain", {}, [&](std::size_t) { retain_one(service(), corpus_.item(next_++)); }},
         {"plain put of the same text", {}, [&](std::size_t) { put(next_++); }}});
    const Series& ours = made.series[0];
    const Series& plain = made.series[1];
    for (const Series* series : {&ours, &plain}) {
      made.figures.push_back({series->name + ": longest", "ms", max_of(*series) * 1e3});
      made.figures.push_back({series->name + ": p99.9", "ms", quantile(series->each, 0.999) * 1e3});
    }
    // A round is one operation, so its CPU time tells work from waiting.
    const auto longest = std::max_element(ours.each.begin(), ours.each.end()) - ours.each.begin();
    made.figures.push_back(
        {"the longest retain: CPU time", "ms", ours.cpu[static_cast<std::size_t>(longest)] * 1e3});
    made.figures.push_back({"the longest retain: its number", "", static_cast<double>(longest)});
    made.figures.push_back({"retain: most CPU time", "ms", quantile(ours.cpu, 1) * 1e3});
    const auto at = [&](double q) { return quantile(ours.each, q) / quantile(plain.each, q); };
    made.comparisons.push_back({"p25, retain / put", at(0.25), std::nullopt, std::nullopt});
    made.comparisons.push_back({"p50, retain / put", at(0.5), 1.5, std::nullopt});
    made.comparisons.push_back({"p99, retain / put", at(0.99), 3.0, std::nullopt});
    made.comparisons.push_back({"longest retain, ms", max_of(ours) * 1e3, 20.0, std::nullopt});
    report_.add(std::move(made));
  }

  const Options& options_;
  const Corpus& corpus_;
  Report& report_;
  std::size_t rows_;
  std::uint64_t next_;
  Folder folder_;
  World world_;
#ifdef STRONGROOM_BENCH_SQLITE
  Fts5Store fts5_;
#endif
  std::unique_ptr<service::MemoryService> service_;
};

// Turns of conversations: what a session of an agent gives.
void bench_dialogue(const Options& options, const Corpus& corpus, Report& report) {
  constexpr std::size_t kTurns = 25;
  const std::size_t documents = options.quick ? 40 : 800;
  const Folder folder(options.folder + "/dialogue");
  const World world(folder.path(), kRules);
  service::MemoryService service(world.options());
  std::vector<double> wall, cpu;
  std::uint64_t next = 0;
  Row made;
  made.id = "dialogue";
  made.title = "retain of conversations, 25 turns of two speakers a call";
  made.load_before = load_average();
  for (std::size_t d = 0; d < documents; ++d) {
    service::RetainRequest request;
    for (std::size_t t = 0; t < kTurns; ++t) {
      service::RetainItem item = corpus.item(next++);
      item.tags.clear();
      item.document_id = "session-" + std::to_string(d);
      item.speaker = t % 2 == 0 ? "Ann" : "Ben";
      item.position = static_cast<std::int64_t>(t);
      request.items.push_back(std::move(item));
    }
    const double before = now_seconds(Clock::wall), cpu_before = now_seconds(Clock::cpu);
    service.retain(request);
    wall.push_back((now_seconds(Clock::wall) - before) / kTurns);
    cpu.push_back((now_seconds(Clock::cpu) - cpu_before) / kTurns);
  }
  made.series.push_back({"a turn", wall, {}, cpu});
  made.figures.push_back({"turns", "/s", 1 / mean(wall)});
  made.figures.push_back({"turns, by CPU time", "/s", 1 / mean(cpu)});
  report.add(std::move(made));
  Row asked;
  asked.id = "dialogue-query";
  asked.title = "recall in conversations, warm, " + std::to_string(next) + " turns";
  asked.clock = Clock::cpu;
  asked.load_before = load_average();
  asked.series = run_interleaved(
      {options.rounds(9), 40, Clock::cpu, true},
      {{"3 to 5 words", {}, [&](std::size_t op) {
          service.search(search_of(corpus.query(op % kQueries, next)));
        }}});
  report.add(std::move(asked));
}

int run(const Options& options) {
  Report report("bench/recall");
  const Corpus corpus;
  for (const std::size_t rows : options.sizes) Bench(options, corpus, report, rows).run();
  if (options.wants("dialogue")) bench_dialogue(options, corpus, report);
  if (!options.out.empty()) report.write(options.out);
  return 0;
}

Options parse(int argc, char** argv) {
  Options options;
  options.folder = xdg_directory("XDG_CACHE_HOME", ".cache") + "/strongroom-bench/recall";
  bool large = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(flag + " needs a value");
      return argv[++i];
    };
    if (flag == "--large") {
      large = true;
    } else if (flag == "--quick") {
      options.quick = true;
    } else if (flag == "--row") {
      options.rows.push_back(value());
    } else if (flag == "--rows") {
      options.sizes.push_back(std::stoul(value()));
    } else if (flag == "--out") {
      options.out = value();
    } else if (flag == "--folder") {
      options.folder = value();
    } else {
      throw std::runtime_error("unknown flag " + flag);
    }
  }
  if (options.sizes.empty()) options.sizes = {10'000, 100'000};
  if (large) options.sizes.push_back(1'000'000);
  return options;
}

}  // namespace
}  // namespace strongroom::bench

int main(int argc, char** argv) {
  using namespace strongroom;
  try {
    if (bench::is_child(argc, argv)) {
      crypto::initialise();
      return bench::run_child(argv);
    }
    const auto options = bench::parse(argc, argv);
    const bench::Folder scratch(options.folder);
    ::setenv("XDG_STATE_HOME", (scratch.path() + "/state").c_str(), 1);
    crypto::initialise();
    return bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_recall: %s\n", error.what());
    return 1;
  }
}
