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
#include "policy/secret_scanner.h"
#include "vault/bank_head.h"
#include "vault/entries.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kRules = 16;
constexpr std::size_t kSmall = 100'000, kLarge = 1'000'000;
constexpr std::size_t kLoadBatch = 1000;

struct Options {
  std::string folder;  // scratch; on the disk that is to be measured
  std::string out;     // JSON, or empty
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

#ifdef STRONGROOM_BENCH_SQLITE
void load_sqlite(SqliteStore& sqlite, std::size_t entries) {
  for (std::size_t i = 0; i < entries;) {
    sqlite.begin();
    for (const std::size_t end = std::min(entries, i + kLoadBatch); i < end; ++i) {
      sqlite.put(entry_name(i), entry_value(i));
    }
    sqlite.commit();
  }
  sqlite.checkpoint();
}
#endif

// As many rows as a bank of `entries` has, under other random keys.
void load_raw(RawStore& raw, std::size_t entries) {
  std::vector<std::uint64_t> batch;
  for (std::uint64_t i = 0; i < entries;) {
    batch.clear();
    for (const std::uint64_t end = std::min<std::uint64_t>(entries, i + kLoadBatch); i < end; ++i) {
      batch.push_back(Random(i).next());
    }
    raw.put(batch);
  }
}

void remember(service::MemoryService& into, std::uint64_t i, std::uint64_t version,
              const std::string& operation_id = {}) {
  const std::string name = entry_name(i), value = entry_value(i + version);
  service::RememberRequest request;
  request.key = name;
  request.value = value;
  request.operation_id = operation_id;
  into.remember(request);
}

void recall(service::MemoryService& from, std::string_view name) {
  service::RecallRequest request;
  request.key = name;
  must_find(from.recall(request).has_value());
}

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
  SecretBytes plain;
  std::string copy;
  std::vector<Contender> contenders = {
      {"ours (service, policy, audit)", draw,
       [&](std::size_t op) { recall(service, draws.name(op)); }},
      {"ours, read-only (no audit)", draw, [&](std::size_t op) { recall(silent, draws.name(op)); }},
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
       [&](std::size_t op) {
         raw_get(*bank, {hashes[op % plan.ops].data(), 8}, copy);
       }},
  };
#ifdef STRONGROOM_BENCH_SQLITE
  SqliteStore sqlite(folder.path() + "/plain.sqlite");
  load_sqlite(sqlite, entries);
  contenders.push_back({"SQLite, autocommit", draw,
                        [&](std::size_t op) { must_find(sqlite.get(draws.name(op), copy)); }});
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
  std::uint64_t fresh = entries;
  remember(service, fresh++, ++puts);
  const auto vault = world.open();
  const auto bank = vault->open_bank(kBank);
  RawStore raw(folder.path() + "/raw.mdb", newest_rows(*bank));
  load_raw(raw, entries);
#ifdef STRONGROOM_BENCH_SQLITE
  SqliteStore sqlite(folder.path() + "/plain.sqlite");
  load_sqlite(sqlite, entries);
#endif

  const Plan plan{options.rounds(20), 50, Clock::wall, true};
  for (const bool update : {false, true}) {
    // Inserts take names that nobody has; updates spread over the old ones.
    std::uint64_t next = fresh;
    Random pick(update ? 3 : 4);
    const auto choose = [&] { return update ? pick.below(entries) : next++; };
    std::vector<Contender> contenders = {
        {"ours (service, policy, audit, anchor)",
         {},
         [&](std::size_t) { remember(service, choose(), ++puts); }},
        {"ours without anchor", {}, [&](std::size_t) { remember(loose, choose(), ++puts); }},
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

// ---- what a durable put is made of

void bench_layers(const Options& options, Report& report) {
  constexpr std::size_t kEntries = 10'000;
  const Folder folder(options.folder + "/layers");
  const World world(folder.path() + "/16", kRules), few(folder.path() + "/1", 1),
      many(folder.path() + "/200", 200);
  for (const World* each : {&world, &few, &many}) each->load(0, kEntries, kLoadBatch);
  service::MemoryService service(world.options()), one_rule(few.options()),
      many_rules(many.options());
  service::ServiceOptions loose_options = world.options();
  loose_options.no_anchor = true;
  service::MemoryService loose(loose_options);
  const auto vault = world.open();
  const auto bank = vault->open_bank(kBank);
  std::uint64_t next = kEntries;
  remember(service, next++, 0);
  RawStore raw(folder.path() + "/raw.mdb", newest_rows(*bank));
  load_raw(raw, kEntries);

  const auto put = [&](service::MemoryService& into) {
    return [&](std::size_t) { remember(into, next++, 0); };
  };
  const std::vector<Contender> contenders = {
      {"16 rules, anchor", {}, put(service)},
      {"no anchor", {}, put(loose)},
      {"1 rule", {}, put(one_rule)},
      {"200 rules", {}, put(many_rules)},
      {"with an operation id",
       {},
       [&](std::size_t) {
         const std::uint64_t i = next++;
         remember(service, i, 0, "operation-" + std::to_string(i));
       }},
      {"vault layer, log record, no policy",
       {},
       [&](std::size_t) {
         const std::string name = entry_name(next++), value = entry_value(next);
         vault::BankWrite write = bank->write(vault->stamp());
         SecretBytes plain;
         const auto current = vault::find_entry(write, name, plain);
         vault::put_entry(write, current, draft_of(name, value), 20, 1);
         vault::AuditEvent event;
         event.principal = kPrincipal;
         event.tool = "agent_remember";
         write.log(event);
         write.commit();
       }},
      {"raw engine, same rows", {}, [&](std::size_t) { raw.put({Random(next++).next()}); }},
  };
  Row made = row("put-layers", "durable put, parts left out", Clock::wall);
  made.series = run_interleaved({options.rounds(20), 25, Clock::wall, true}, contenders);
  for (std::size_t i = 1; i < made.series.size(); ++i) {
    made.comparisons.push_back(
        compare(made.series[i].name, made.series[i], "16 rules, anchor", made.series[0]));
  }
  report.add(std::move(made));

  // Parts on their own, by CPU time: what the disk's noise hides above.
  vault::BankHead head;
  vault::Id16 tag{};
  {
    vault::BankRead view = bank->read();
    head = view.head();
    tag = view.head_tag();
  }
  const std::string name = entry_name(0), value = entry_value(0);
  const crypto::SecretKey& key = bank->keys().records;
  std::size_t found = 0;
  const std::vector<Contender> parts = {
      {"anchor",
       {},
       [&](std::size_t) { bank->anchor().note(bank->id(), head.vector, tag, head.root.version); }},
      {"credential scan of 1 KiB",
       {},
       [&](std::size_t) { found += policy::find_credential(value) ? 1u : 0u; }},
      {"seal of 1 KiB",
       {},
       [&](std::size_t) {
         found += vault::seal_row(key, crypto::labels::kAadRecord,
                                  bank->place(vault::Kind::entry, 1, 1), value)
                      .size();
       }},
      {"head: encode and seal",
       {},
       [&](std::size_t) {
         found +=
             vault::seal_row(key, crypto::labels::kAadHead, bank->place(vault::Kind::head, 1, 0),
                             vault::encode_head(head).view(), vault::kHeadFloor)
                 .size();
       }},
      {"write transaction begun and dropped",
       {},
       [&](std::size_t) { bank->engine().begin_write(); }},
      {"BankWrite begun and dropped (opens the head)",
       {},
       [&](std::size_t) { bank->write(vault->stamp()); }},
  };
  Row single = row("put-parts", "parts of a put on their own", Clock::cpu);
  single.series = run_interleaved({options.rounds(9), 500, Clock::cpu, false}, parts);
  report.add(std::move(single));
}

// ---- batches

void bench_batch(const Options& options, Report& report, std::size_t entries) {
  constexpr std::size_t kBatch = 1000;
  const Folder folder(options.folder + "/batch");
  const World world(folder.path(), kRules);
  world.load(0, entries, kLoadBatch);
  const auto vault = world.open();
  const auto bank = vault->open_bank(kBank);
  RowSizes sizes = newest_rows(*bank);
  RawStore raw(folder.path() + "/raw.mdb", sizes);
  load_raw(raw, entries);
  std::uint64_t next = entries;
  std::vector<std::string> names, values;
  std::vector<std::uint64_t> keys;
  const auto prepare = [&](std::size_t) {
    names.clear();
    values.clear();
    keys.clear();
    for (std::size_t i = 0; i < kBatch; ++i, ++next) {
      names.push_back(entry_name(next));
      values.push_back(entry_value(next));
      keys.push_back(Random(next).next());
    }
  };
  std::vector<Contender> contenders = {
      {"ours (vault layer)", prepare,
       [&](std::size_t) {
         vault::BankWrite write = bank->write(vault->stamp());
         SecretBytes plain;
         for (std::size_t i = 0; i < kBatch; ++i) {
           const auto current = vault::find_entry(write, names[i], plain);
           vault::put_entry(write, current, draft_of(names[i], values[i]), 20, 1);
         }
         write.commit();
       }},
      {"raw engine, same rows", prepare, [&](std::size_t) { raw.put(keys); }},
  };
#ifdef STRONGROOM_BENCH_SQLITE
  SqliteStore sqlite(folder.path() + "/plain.sqlite");
  load_sqlite(sqlite, entries);
  contenders.push_back({"SQLite WAL, synchronous=FULL", prepare, [&](std::size_t) {
                          sqlite.begin();
                          for (std::size_t i = 0; i < kBatch; ++i) sqlite.put(names[i], values[i]);
                          sqlite.commit();
                        }});
#endif
  Row made = row("put-batch", "batch put, 1,000 new names a transaction", Clock::wall);
  made.series = run_interleaved({options.rounds(15), 1, Clock::wall, false}, contenders);
  for (const Series& series : made.series) {
    made.figures.push_back(
        {series.name + ": rows", "k/s", 1e-3 * kBatch / quantile(series.rounds, 0.5)});
    made.figures.push_back(
        {series.name + ": rows by CPU time", "k/s", 1e-3 * kBatch / quantile(series.cpu, 0.5)});
  }
  made.comparisons.push_back({"ours, k rows/s", made.figures[0].value, std::nullopt, 40.0});
  made.comparisons.push_back(compare("ours", made.series[0], "raw", made.series[1]));
#ifdef STRONGROOM_BENCH_SQLITE
  made.comparisons.push_back(compare("ours", made.series[0], "SQLite", made.series[2], 1.0));
#endif
  report.add(std::move(made));
}

// ---- open

void bench_open(const Options& options, Report& report, std::size_t entries) {
  const Folder folder(options.folder + "/open");
  const World world(folder.path(), kRules);
  world.load(0, entries, kLoadBatch);
  const std::string bank_file = world.bank_file();
  const std::string raw_file = folder.path() + "/raw.mdb";
  {
    const auto vault = world.open();
    RawStore raw(raw_file, newest_rows(*vault->open_bank(kBank)));
    load_raw(raw, entries);
  }
  Random pick(5);
  // What a round opened is closed before the next clock starts: closing writes the audit buffer.
  std::unique_ptr<service::MemoryService> service;
  std::shared_ptr<vault::Engine> engine;
  for (const bool cold : {false, true}) {
    const auto close_and_drop = [&](const std::vector<std::string>& files) {
      return [&, cold, files](std::size_t) {
        service.reset();
        engine.reset();
        if (!cold) return;
        for (const std::string& file : files) drop_cache(file);
      };
    };
    const auto open_and_recall = [&](bool read_only) {
      return [&, read_only](std::size_t) {
        service::ServiceOptions service_options = world.options();
        service_options.read_only = read_only;
        service = std::make_unique<service::MemoryService>(service_options);
        recall(*service, entry_name(pick.below(entries)));
      };
    };
    const auto prepare = close_and_drop(
        {bank_file, world.vault_path() + "/root.mdb", world.vault_path() + "/header"});
    const std::vector<Contender> contenders = {
        {"ours: vault, policy, bank, first get", prepare, open_and_recall(false)},
        {"ours, read-only", prepare, open_and_recall(true)},
        {"raw engine: open, two gets", close_and_drop({raw_file}),
         [&](std::size_t) { engine = open_and_get(raw_file, Random(pick.below(entries)).next()); }},
    };
    Row made = row(cold ? "open-cold" : "open-warm",
                   cold ? "open and first get, files dropped from the cache"
                        : "open and first get, files cached",
                   Clock::wall);
    made.series = run_interleaved({options.rounds(40), 1, Clock::wall, false}, contenders);
    made.comparisons.push_back(compare("ours", made.series[0], "raw", made.series[2], 2.0));
    made.comparisons.push_back(compare("read-only", made.series[1], "raw", made.series[2], 2.0));
    report.add(std::move(made));
  }
}

// ---- listings

void bench_list(const Options& options, Report& report) {
  constexpr std::size_t kEntries = 10'000;
  const Folder folder(options.folder + "/list");
  const World world(folder.path(), kRules);
  world.load(0, kEntries, kLoadBatch);
  std::unique_ptr<service::MemoryService> service;
  std::string cursor;
  const auto fresh = [&](std::size_t) {
    // A new process holds no sorted names; a recall opens the vault outside the clock.
    service = std::make_unique<service::MemoryService>(world.options());
    recall(*service, entry_name(0));
  };
  const std::vector<Contender> contenders = {
      {"first page of 200", fresh, [&](std::size_t) { cursor = *service->list({}).cursor; }},
      {"next page of 200",
       {},
       [&](std::size_t) {
         service::ListRequest request;
         request.cursor = cursor;
         service->list(request);
       }},
  };
  Row made = row("list-10000", "list 10,000 names", Clock::cpu);
  made.series = run_interleaved({options.rounds(15), 1, Clock::cpu, false}, contenders);
  made.comparisons.push_back(
      {"first page, ms", 1e3 * quantile(made.series[0].rounds, 0.5), 25.0, std::nullopt});
  made.comparisons.push_back(
      {"next page, ms", 1e3 * quantile(made.series[1].rounds, 0.5), 1.0, std::nullopt});
  report.add(std::move(made));
}

// ---- size

void bench_size(const Options& options, Report& report) {
  const std::size_t bulk = options.quick ? 10'000 : kSmall, single = options.quick ? 500 : 10'000;
  const Folder folder(options.folder + "/size");
  Row made = row("file-size", "size of the bank's file, 1 KiB values", Clock::wall);
  const auto measure = [&](const std::string& what, const World& world, std::size_t entries,
                           double target) {
    const FileSize size = file_size(world.bank_file());
    const double payload = static_cast<double>(entries * (kValueBytes + kNameBytes));
    made.figures.push_back({what + ": on disk", "MiB", size.on_disk / 1048576});
    made.figures.push_back({what + ": apparent", "MiB", size.apparent / 1048576});
    made.comparisons.push_back(
        {what + ": on disk / payload", size.on_disk / payload, target, std::nullopt});
  };
  const World bulk_world(folder.path() + "/bulk", kRules);
  bulk_world.load(0, bulk, 10'000);
  measure("bulk, 10,000 a transaction", bulk_world, bulk, 1.45);
  const World thousand(folder.path() + "/thousand", kRules);
  thousand.load(0, bulk, 1000);
  measure("bulk, 1,000 a transaction", thousand, bulk, 1.45);
  const World single_world(folder.path() + "/single", kRules);
  {
    service::MemoryService service(single_world.options());
    for (std::size_t i = 0; i < single; ++i) remember(service, i, 0);
  }
  measure("one put a transaction", single_world, single, 1.75);
  report.add(std::move(made));
}

int run(const Options& options) {
  Report report("bench/store");
  if (options.wants("get")) bench_get(options, report, options.large ? kLarge : kSmall);
  if (options.wants("put")) bench_put(options, report, kSmall);
  if (options.wants("layers")) bench_layers(options, report);
  if (options.wants("batch")) bench_batch(options, report, kSmall);
  if (options.wants("open")) bench_open(options, report, kSmall);
  if (options.wants("list")) bench_list(options, report);
  if (options.wants("size")) bench_size(options, report);
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
