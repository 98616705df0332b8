// The store's figures (bench/README.md): every row compares in interleaved rounds of one run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "base/file.h"
#include "bench/baselines.h"
#include "bench/measure.h"
#include "bench/world.h"
#include "crypto/process.h"
#include "vault/entries.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kRules = 16;
constexpr std::size_t kSmall = 100'000, kLarge = 1'000'000;
constexpr std::size_t kLoadBatch = 1000;

struct Options {
  std::string folder;   // scratch; on the disk that is to be measured
  std::string out;      // JSON, or empty
  std::vector<std::string> rows;
  bool large = false;
  bool quick = false;

  bool wants(const std::string& row) const {
    return rows.empty() || std::find(rows.begin(), rows.end(), row) != rows.end();
  }
  std::size_t rounds(std::size_t full) const { return quick ? 3 : full; }
};

Row row(std::string id, std::string title, Clock clock) {
  Row made;
  made.id = std::move(id);
  made.title = std::move(title);
  made.clock = clock;
  made.load_before = load_average();
  return made;
}

Comparison compare(const std::string& a_name, const Series& a, const std::string& b_name,
                   const Series& b, std::optional<double> at_most = std::nullopt) {
  return {a_name + " / " + b_name, ratio(a, b), at_most, std::nullopt};
}

void must_find(bool found) {
  if (!found) throw std::runtime_error("an entry of the benchmark is missing");
}

// The names that a round asks for, drawn before the clock starts.
class Draws {
 public:
  Draws(std::size_t ops, std::size_t entries) : ops_(ops), entries_(entries) {}
  void draw(std::size_t round, std::uint64_t salt) {
    Random random(round * 7919 + salt);
    names_.clear();
    for (std::size_t i = 0; i < ops_; ++i) names_.push_back(entry_name(random.below(entries_)));
  }
  const std::string& name(std::size_t op) const { return names_[op % ops_]; }

 private:
  std::size_t ops_, entries_;
  std::vector<std::string> names_;
};

// ---- get

void bench_get(const Options& options, Report& report, std::size_t entries) {
  const Folder folder(options.folder + "/get");
  const World world(folder.path(), kRules);
  world.load(0, entries, kLoadBatch);
  Plan plan{options.rounds(11), 20'000, Clock::cpu, false};

  service::MemoryService service(world.options());
  service::ServiceOptions silent_options = world.options();
  silent_options.read_only = true;
  service::MemoryService silent(silent_options);
  const auto vault = world.open();
  const auto bank = vault->open_bank(kBank);

  Draws draws(plan.ops, entries);
  std::vector<crypto::Hash16> hashes;
  const auto draw = [&](std::size_t round) { draws.draw(round, 1); };
  const auto recall = [&](service::MemoryService& from, std::size_t op) {
    service::RecallRequest request;
    request.key = draws.name(op);
    must_find(from.recall(request).has_value());
  };
  SecretBytes plain;
  std::string copy;
  std::vector<Contender> contenders = {
      {"ours (service, policy, audit)", draw, [&](std::size_t op) { recall(service, op); }},
      {"ours, read-only (no audit)", draw, [&](std::size_t op) { recall(silent, op); }},
      {"vault layer alone", draw,
       [&](std::size_t op) {
         vault::BankRead view = bank->read();
         SecretBytes opened, value;
         const auto found = vault::find_entry(view, draws.name(op), opened);
         must_find(found && found->entry);
         vault::read_value(view, *found->entry, 0, found->entry->bytes, value);
       }},
      {"floor", draw, [&](std::size_t op) { floor_get(*bank, draws.name(op), plain); }},
      {"raw engine get (hash given)",
       [&](std::size_t round) {
         draw(round);
         hashes.clear();
         for (std::size_t i = 0; i < plan.ops; ++i) {
           hashes.push_back(bank->name_hash(vault::Kind::entry, draws.name(i)));
         }
       },
       [&](std::size_t op) { raw_get(*bank, {hashes[op % plan.ops].data(), 8}, copy); }},
  };
#ifdef STRONGROOM_BENCH_SQLITE
  SqliteStore sqlite(folder.path() + "/plain.sqlite");
  for (std::size_t i = 0; i < entries;) {
    sqlite.begin();
    for (const std::size_t end = std::min(entries, i + kLoadBatch); i < end; ++i) {
      sqlite.put(entry_name(i), entry_value(i));
    }
    sqlite.commit();
  }
  sqlite.checkpoint();
  contenders.push_back({"SQLite, autocommit", draw, [&](std::size_t op) {
                          must_find(sqlite.get(draws.name(op), copy));
                        }});
#endif
  Row made = row("get-" + std::to_string(entries), "get by name, 1 KiB values, warm", plan.clock);
  made.series = run_interleaved(plan, contenders);
  made.comparisons.push_back(compare("ours", made.series[0], "floor", made.series[3], 1.25));
  made.comparisons.push_back(compare("read-only", made.series[1], "floor", made.series[3]));
  made.comparisons.push_back(compare("vault layer", made.series[2], "floor", made.series[3]));
  made.comparisons.push_back(compare("floor", made.series[3], "raw", made.series[4]));
#ifdef STRONGROOM_BENCH_SQLITE
  made.comparisons.push_back(compare("ours", made.series[0], "SQLite", made.series[5], 1.0));
#endif
  report.add(std::move(made));
}

// ---- durable put

void bench_put(const Options& options, Report& report, std::size_t entries) {
  const Folder folder(options.folder + "/put");
  const World world(folder.path(), kRules);
  world.load(0, entries, kLoadBatch);
  service::MemoryService service(world.options());
  service::ServiceOptions loose_options = world.options();
  loose_options.no_anchor = true;
  service::MemoryService loose(loose_options);
  // A new value each time: SQLite does not write what it holds already.
  std::uint64_t puts = 0;
  const auto remember = [&](service::MemoryService& into, std::uint64_t i) {
    const std::string name = entry_name(i), value = entry_value(i + ++puts);
    service::RememberRequest request;
    request.key = name;
    request.value = value;
    into.remember(request);
  };
  std::uint64_t fresh = entries;
  remember(service, fresh++);
  const auto vault = world.open();
  const auto bank = vault->open_bank(kBank);
  RawStore raw(folder.path() + "/raw.mdb", newest_rows(*bank));
  std::vector<std::uint64_t> batch;
  for (std::uint64_t i = 0; i < entries; i += batch.size()) {
    batch.clear();
    for (std::uint64_t k = i; k < std::min<std::uint64_t>(entries, i + kLoadBatch); ++k) {
      batch.push_back(Random(k).next());
    }
    raw.put(batch);
  }
#ifdef STRONGROOM_BENCH_SQLITE
  SqliteStore sqlite(folder.path() + "/plain.sqlite");
  for (std::size_t i = 0; i < entries;) {
    sqlite.begin();
    for (const std::size_t end = std::min(entries, i + kLoadBatch); i < end; ++i) {
      sqlite.put(entry_name(i), entry_value(i));
    }
    sqlite.commit();
  }
  sqlite.checkpoint();
#endif

  const Plan plan{options.rounds(20), 50, Clock::wall, true};
  for (const bool update : {false, true}) {
    // Inserts take names that nobody has; updates spread over the old ones.
    std::uint64_t next = fresh;
    Random pick(update ? 3 : 4);
    const auto choose = [&] { return update ? pick.below(entries) : next++; };
    std::vector<Contender> contenders = {
        {"ours (service, policy, audit, anchor)", {},
         [&](std::size_t) { remember(service, choose()); }},
        {"ours without anchor", {}, [&](std::size_t) { remember(loose, choose()); }},
        {"raw engine, same rows", [&](std::size_t) { raw.set_sizes(newest_rows(*bank)); },
         [&](std::size_t) { raw.put({Random(choose()).next()}); }},
    };
#ifdef STRONGROOM_BENCH_SQLITE
    contenders.push_back({"SQLite WAL, synchronous=FULL", {}, [&](std::size_t) {
                            const std::uint64_t i = choose();
                            sqlite.put(entry_name(i), entry_value(i + ++puts));
                          }});
#endif
    Row made = row(update ? "put-update" : "put-insert",
                   update ? "durable put, update" : "durable put, insert", plan.clock);
    made.series = run_interleaved(plan, contenders);
    made.comparisons.push_back(
        compare("ours", made.series[0], "raw", made.series[2], update ? 1.3 : 1.2));
    made.comparisons.push_back(compare("without anchor", made.series[1], "raw", made.series[2]));
#ifdef STRONGROOM_BENCH_SQLITE
    made.comparisons.push_back(compare("ours", made.series[0], "SQLite", made.series[3]));
#endif
    report.add(std::move(made));
    fresh = next;
  }
}

int run(const Options& options) {
  Report report("bench/store");
  if (options.wants("get")) bench_get(options, report, options.large ? kLarge : kSmall);
  if (options.wants("put")) bench_put(options, report, kSmall);
  if (!options.out.empty()) report.write(options.out);
  return 0;
}

Options parse(int argc, char** argv) {
  Options options;
  options.folder = xdg_directory("XDG_CACHE_HOME", ".cache") + "/strongroom-bench/store";
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(flag + " needs a value");
      return argv[++i];
    };
    if (flag == "--large") {
      options.large = true;
    } else if (flag == "--quick") {
      options.quick = true;
    } else if (flag == "--row") {
      options.rows.push_back(value());
    } else if (flag == "--out") {
      options.out = value();
    } else if (flag == "--folder") {
      options.folder = value();
    } else {
      throw std::runtime_error("unknown flag " + flag);
    }
  }
  return options;
}

}  // namespace
}  // namespace strongroom::bench

int main(int argc, char** argv) {
  try {
    const auto options = strongroom::bench::parse(argc, argv);
    const strongroom::bench::Folder scratch(options.folder);
    ::setenv("XDG_STATE_HOME", (scratch.path() + "/state").c_str(), 1);
    strongroom::crypto::initialise();
    return strongroom::bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_store: %s\n", error.what());
    return 1;
  }
}
