// Random work on one bank by four processes, and every answer of recall compared with a brute-force
// ranking over a plain list of what must be there.
//
//   test_memory_oracle [--seed N] [--seconds N | --minutes N] [--rows N] [--forms 1]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/error.h"
#include "crypto/process.h"
#include "model.h"
#include "recall/temporal.h"
#include "service/vault_admin.h"
#include "worker.h"

namespace strongroom::oracle {
namespace {

using namespace service;
namespace fs = std::filesystem;

struct Options {
  std::uint64_t seed = 1;
  double seconds = 20;
  std::size_t rows = 12'000;
  bool forms = false;  // several forms of one stem
};

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr TimeMs kDay = 86'400'000;

class Oracle {
 public:
  explicit Oracle(const Options& options) : options_(options), random_(options.seed) {
    std::string pattern = (fs::temp_directory_path() / "strongroom-oracle-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("XDG_STATE_HOME", (folder_ + "/state").c_str(), 1);
    for (const char* name : {"STRONGROOM_BANK", "STRONGROOM_VAULT", "STRONGROOM_KEYFILE"}) {
      ::unsetenv(name);
    }
    fs::create_directories(folder_ + "/work");
    InitOptions init;
    init.vault_path = vault();
    init.owner.keyfile = keyfile();
    init_vault(init);
    for (int i = 0; i < 4; ++i) {
      workers_.push_back(std::make_unique<Worker>(vault(), keyfile(), folder_ + "/work"));
    }
    make_vocabulary();
  }
  ~Oracle() {
    workers_.clear();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void run() {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    while (std::chrono::steady_clock::now() < end) {
      ++step_;
      one_step();
      // Instants between two steps: what was believed then is beyond doubt.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      instants_.push_back(now_ms());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (step_ % 100 == 0) check_counts();
    }
    check_counts();
    check_all();
    check_vault();
  }

  void print_summary() const {
    std::printf(
        "seed %llu: %zu steps, %zu searches (%zu with results), %zu memories ever, "
        "%zu rows, %zu documents, %llu segments at the end\n",
        static_cast<unsigned long long>(options_.seed), step_, searches_, answered_,
        model_.memories.size(), model_.rows.all.size() - 1, model_.documents.size(),
        static_cast<unsigned long long>(segments_));
  }

 private:
  std::string vault() const { return folder_ + "/memory.vault"; }
  std::string keyfile() const { return folder_ + "/owner.key"; }

  // ---- chance
  std::size_t pick(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  bool chance(double share) {
    return static_cast<double>(random_() >> 11) / 9007199254740992.0 < share;
  }
  template <class List>
  auto& any(List& list) {
    return list[pick(std::size(list))];
  }

  // ---- texts
  void make_vocabulary() {
    static const char* const kOnset[] = {"b", "d", "f", "g", "k", "l",
                                         "m", "n", "p", "r", "t", "v"};
    static const char* const kVowel[] = {"a", "e", "i", "o", "u"};
    while (vocabulary_.size() < 260) {
      std::string word;
      for (std::size_t n = 2 + pick(3); n > 0; --n) {
        word += std::string(any(kOnset)) + any(kVowel);
      }
      word += any(kOnset);
      if (stems_.insert(model_.analyzer.stem(word)).second) vocabulary_.push_back(word);
    }
    for (std::size_t i = 0; options_.forms && i < 60; ++i) {
      for (const char* ending : {"s", "ed", "ing"}) vocabulary_.push_back(vocabulary_[i] + ending);
    }
    for (const char* word : {"deployment", "wei\xC3\x9F", "caf\xC3\xA9",
                             "\xE6\x9D\xB1\xE4\xBA\xAC\xE3\x82\xBF\xE3\x83\xAF\xE3\x83\xBC",
                             "max_retries", "HttpServer", "src/net/pool.cpp", "v2.4.1", "ERR-1042",
                             "the", "is", "database", "running"}) {
      vocabulary_.push_back(word);
    }
  }

  std::string word() {
    // Common words are much more common than rare ones.
    const std::size_t at =
        std::min({pick(vocabulary_.size()), pick(vocabulary_.size()), pick(vocabulary_.size())});
    return vocabulary_[at];
  }
  std::string sentence(std::size_t words) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) {
      text += (text.empty() ? "" : " ") + word();
      if (pick(14) == 0) text += ".";
    }
    if (chance(0.4)) text += " unique" + std::to_string(pick(100'000'000)) + "x";
    if (chance(0.1)) text += " job-" + std::to_string(pick(50));
    if (chance(0.05)) text += " id_" + std::to_string(pick(100'000));
    if (chance(0.15)) text += " " + time_words();
    return text;
  }
  // Dates of the years that some_time() gives, and words that count from when they are said.
  std::string time_words() {
    static const char* const kMonths[] = {"January", "March", "June", "October", "December"};
    const std::string year = std::to_string(2023 + pick(4));
    const std::string day = std::to_string(1 + pick(28)), month = any(kMonths);
    switch (pick(7)) {
      case 0: return "on " + day + " " + month + " " + year;
      case 1: return year + (chance(0.5) ? "-03" : "-11-0" + std::to_string(1 + pick(9)));
      case 2: return "in " + month + (chance(0.5) ? " " + year : "");
      case 3: return (chance(0.5) ? "since " : chance(0.5) ? "before " : "in ") + year;
      default: break;
    }
    static const char* const kRelative[] = {
        "yesterday",    "today",        "last week",     "two days ago", "last Friday",
        "recently",     "last month",   "this year",     "last summer",  "every Monday",
        "a while ago",  "this morning", "tomorrow",      "in 3 weeks",   "a few weeks ago",
        "next weekend", "last night",   "six months ago"};
    return any(kRelative);
  }
  std::string paragraphs(std::size_t words) {
    std::string text;
    for (std::size_t done = 0; done < words;) {
      const std::size_t n = 5 + pick(40);
      text += (text.empty() ? "" : chance(0.5) ? "\n\n" : ".\n") + sentence(n);
      if (chance(0.1)) text += "\n\n# " + sentence(3) + "\n";
      done += n;
    }
    return text;
  }
  std::string typo(std::string word) {
    for (const char c : word) {
      if (c < 'a' || c > 'z') return word;
    }
    if (word.size() < 4) return word;
    for (std::size_t n = 1 + pick(2); n > 0; --n) {
      const std::size_t at = 1 + pick(word.size() - 1);
      const char letter = static_cast<char>('a' + pick(26));
      switch (pick(4)) {
        case 0: word[at] = letter; break;
        case 1: word.insert(at, 1, letter); break;
        case 2: word.erase(at, 1); break;
        default:
          if (at + 1 < word.size()) std::swap(word[at], word[at + 1]);
      }
      if (word.size() < 3) break;
    }
    return word;
  }
  std::vector<std::string> some_tags() {
    static const std::vector<std::string> kTags = {
        "red", "blue", "green", "user:ann", "user:bo", "topic/x", "\xC3\xA9t\xC3\xA9", "Red"};
    std::vector<std::string> tags;
    for (std::size_t n = pick(4); n > 0; --n) tags.push_back(any(kTags));
    return tags;
  }
  std::string some_speaker() {
    static const std::vector<std::string> kNames = {"Ann Lee", "Bo", "Carla Diaz", "\xC3\x85sa"};
    return any(kNames);
  }
  TimeMs some_time() {
    const TimeMs base = 1'700'000'000'000;  // November 2023
    return base + static_cast<TimeMs>(pick(1200)) * kDay / 2 + static_cast<TimeMs>(pick(1000));
  }

  RetainItem some_item(std::size_t words) {
    RetainItem item;
    item.content = words > 150 ? paragraphs(words) : sentence(words);
    if (chance(0.5)) item.tags = some_tags();
    if (chance(0.1)) item.context = sentence(3);
    if (chance(0.15)) item.entities = {some_speaker(), "Entity " + word()};
    if (chance(0.15)) item.speaker = some_speaker();
    if (chance(0.3)) item.type = static_cast<MemoryType>(pick(3));
    if (chance(0.4)) item.timestamp = some_time();
    if (chance(0.2)) item.occurred_start = some_time();
    if (chance(0.2)) {
      item.occurred_end = item.occurred_start
                              ? *item.occurred_start + static_cast<TimeMs>(pick(90)) * kDay
                              : some_time();
    }
    if (chance(0.4)) item.importance = chance(0.2) ? 1.0 : static_cast<double>(pick(1000)) / 1000;
    if (chance(0.05)) item.expires_at = now_ms() + 3650 * kDay;
    return item;
  }

  // ---- steps
  void one_step() {
    const std::size_t dice = pick(100);
    const bool full = model_.rows.all.size() > options_.rows;
    if (model_.memories.empty()) return retain_single();
    if (dice < 4) return restart();
    if (dice < 40 || full) {
      const std::size_t more = pick(100);
      if (full && more < 60) return compare_search();
      if (full || more < 12) return change();
      if (more < 55) return retain_single();
      if (more < 65) return retain_batch(2 + pick(30));
      if (more < 71) return retain_batch(100 + pick(501));
      if (more < 84) return append_turns();
      if (more < 90) return replace_document();
      if (more < 93) return retain_long();
      return repeat();
    }
    if (dice < 58) return change();
    compare_search();
  }

  void restart() {
    const bool kill = chance(0.5);
    what_ = kill ? "kill -9" : "restart";
    any(workers_)->restart(kill);
  }

  In ask(Worker& worker, Command command, const Out& request) {
    In reply = worker.ask(command, request);
    code_ = reply.text();
    text_ = reply.text();
    before_ = reply.time();
    after_ = reply.time();
    return reply;
  }
  void must(bool right, const std::string& text) const {
    if (!right) throw Failure(text + " [step " + std::to_string(step_) + ", " + what_ + "]");
  }
  void must_work() const { must(code_.empty(), "failed: " + code_ + " " + text_); }

  struct Reply {
    struct Item {
      ItemStatus status;
      std::string id, document_id, reason;
      std::uint64_t memories;
    };
    std::vector<Item> items;
    TimeMs now = 0;
    std::map<std::string, std::vector<std::string>> parts;
  };
  Reply send(const std::vector<RetainItem>& items) {
    Out out;
    out.number(items.size());
    for (const RetainItem& item : items) put(out, item);
    In in = ask(*any(workers_), Command::retain, out);
    must_work();
    Reply reply;
    reply.items.resize(in.number());
    for (auto& item : reply.items) {
      item.status = static_cast<ItemStatus>(in.number());
      item.id = in.text();
      item.memories = in.number();
      item.document_id = in.text();
      item.reason = in.text();
    }
    reply.now = in.time();
    if (reply.now == 0) reply.now = after_;
    must(reply.now >= before_ && reply.now <= after_, "a memory has a wrong time");
    for (std::uint64_t n = in.number(); n > 0; --n) {
      const std::string name = in.text();
      reply.parts[name] = in.texts();
    }
    must(reply.items.size() == items.size(), "wrong number of replies");
    return reply;
  }

  void name(std::size_t memory, const std::string& id) {
    must(!id.empty() && model_.by_id.emplace(id, memory).second, "an id is given twice: " + id);
    model_.memories[memory].id = id;
  }

  // Items without a document, none of them long.
  void store_plain(const std::vector<RetainItem>& items) {
    const Reply reply = send(items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& said = reply.items[i];
      const std::string where =
          "item " + std::to_string(i) + " \"" + items[i].content.substr(0, 60) + "\": ";
      if (const auto original = model_.find_original(items[i].content, reply.now)) {
        must(said.status == ItemStatus::duplicate, where + "stored twice");
        must(said.id == model_.memories[*original].id, where + "a repeat of another memory");
        continue;
      }
      must(said.status == ItemStatus::stored, where + "not stored: " + said.reason);
      name(model_.add(items[i], items[i].content, reply.now, nullptr), said.id);
    }
  }

  void retain_single() {
    what_ = "retain";
    RetainItem item = some_item(chance(0.06) ? 200 + pick(700) : 1 + pick(18));
    if (chance(0.03)) {
      // Expires while the test runs; nothing else touches it.
      item.content += " brief" + std::to_string(pick(1'000'000'000)) + "z";
      item.expires_at = now_ms() + 400 + static_cast<TimeMs>(pick(4000));
    }
    store_plain({item});
    if (item.content.find(" brief") != std::string::npos) model_.memories.back().brief = true;
  }
  void retain_batch(std::size_t size) {
    what_ = "retain of " + std::to_string(size);
    std::vector<RetainItem> items;
    for (std::size_t i = 0; i < size; ++i) items.push_back(some_item(1 + pick(12)));
    if (chance(0.3)) items.push_back(items[pick(items.size())]);
    store_plain(items);
  }
  // The same text once more, perhaps written a little differently.
  void repeat() {
    what_ = "repeat";
    const Memory& old = any(model_.memories);
    if (old.brief || old.text.empty() || old.rows > 6) return;
    RetainItem item = some_item(1);
    item.content = old.text;
    if (chance(0.3)) item.content = "  " + item.content + "\n";
    if (chance(0.3)) {
      for (char& c : item.content) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
    store_plain({item});
  }

  std::string some_document() { return "doc " + std::to_string(pick(12)); }

  void store_turns(Document& document, std::vector<RetainItem> items) {
    const Reply reply = send(items);
    // Stored in order of their positions, whatever their order in the call.
    std::vector<std::size_t> order(items.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return items[a].position.value_or(0) < items[b].position.value_or(0);
    });
    std::vector<std::size_t> added;
    for (const std::size_t i : order) {
      const auto turn = model_.find_turn(document, items[i], items[i].content, reply.now);
      const auto& said = reply.items[i];
      if (turn) {
        must(said.status == ItemStatus::duplicate, "a turn is stored twice");
        must(said.id == model_.memories[*turn].id, "a repeat of another turn");
        continue;
      }
      must(said.status == ItemStatus::stored, "a turn is not stored: " + said.reason);
      const std::size_t from = added.size();
      model_.append(document, items[i], true, reply.now, added);
      must(added.size() == from + 1, "the model cut a turn");
      name(added.back(), said.id);
    }
  }

  void append_turns() {
    what_ = "append";
    const std::string name = "talk " + std::to_string(pick(6));
    Document& document = model_.documents[name];
    std::vector<RetainItem> items;
    std::int64_t position = document.last_position.value_or(0);
    for (std::size_t n = 1 + pick(10); n > 0; --n) {
      RetainItem item = some_item(chance(0.04) ? 250 + pick(300) : 1 + pick(14));
      item.expires_at.reset();
      item.document_id = name;
      item.append = true;
      item.speaker = some_speaker();
      item.position = ++position;
      if (chance(0.1)) item.content = chance(0.5) ? "yes" : "ok then";
      items.push_back(item);
    }
    if (chance(0.2)) std::reverse(items.begin(), items.end());
    if (chance(0.3) && !document.parts.empty()) {
      // A turn that is there already, or says it at another position.
      const Memory& old = model_.memories[any(document.parts).memory];
      if (!old.gone && !old.brief) {
        RetainItem again = items.front();
        again.content = old.text;
        again.speaker = old.speaker;
        again.position = old.position;
        if (chance(0.3)) again.position = static_cast<std::int64_t>(pick(30));
        items.push_back(again);
      }
    }
    store_turns(document, items);
  }

  void replace_document() {
    const std::string name = some_document();
    what_ = "replace " + name;
    Document& document = model_.documents[name];
    std::vector<RetainItem> items;
    const bool again = chance(0.25) && last_items_.count(name) != 0;
    if (again) {
      items = last_items_[name];
    } else {
      for (std::size_t n = 1 + pick(3); n > 0; --n) {
        items.push_back(some_item(chance(0.5) ? 1 + pick(30) : 200 + pick(900)));
        items.back().document_id = name;
        items.back().speaker.clear();
        items.back().expires_at.reset();
      }
      last_items_[name] = items;
    }
    const bool same = document.number != 0 && model_.says(document, items, now_ms());
    const Reply reply = send(items);
    if (same) {
      for (const auto& said : reply.items) {
        must(said.status == ItemStatus::duplicate, "the same document is stored again");
      }
      return;
    }
    if (document.number != 0) model_.clear(document, reply.now);
    std::vector<std::size_t> added;
    for (std::size_t i = 0; i < items.size(); ++i) {
      must(reply.items[i].status == ItemStatus::stored,
           "a document is not stored: " + reply.items[i].reason);
      const std::size_t from = added.size();
      model_.append(document, items[i], false, reply.now, added);
      must(reply.items[i].memories == added.size() - from,
           "a document has a wrong number of chunks");
    }
    name_parts(reply, name, added);
  }

  void name_parts(const Reply& reply, const std::string& document,
                  const std::vector<std::size_t>& added) {
    const auto found = reply.parts.find(document);
    must(found != reply.parts.end() && found->second.size() >= added.size(),
         "a document has lost parts");
    const std::size_t from = found->second.size() - added.size();
    for (std::size_t i = 0; i < added.size(); ++i) name(added[i], found->second[from + i]);
  }

  // Content of more than 2,000 tokens becomes a document of its own.
  void retain_long() {
    what_ = "retain of a long text";
    RetainItem item = some_item(1400 + pick(400));
    item.content +=
        " " + std::string(2100 * 4 > item.content.size() ? 2100 * 4 - item.content.size() : 0, 'z');
    item.expires_at.reset();
    const Reply reply = send({item});
    must(reply.items[0].status == ItemStatus::stored,
         "a long text is not stored: " + reply.items[0].reason);
    const std::string& name = reply.items[0].document_id;
    must(!name.empty() && model_.documents.count(name) == 0, "a long text has no document");
    Document& document = model_.documents[name];
    item.document_id = name;
    std::vector<std::size_t> added;
    model_.append(document, item, false, reply.now, added);
    name_parts(reply, name, added);
  }

  // ---- edits
  EditResult send(const EditRequest& request, TimeMs& now) {
    Out out;
    put(out, request);
    In in = ask(*any(workers_), Command::edit, out);
    EditResult result;
    if (!code_.empty()) return result;
    result.status = in.text();
    result.revision = in.number();
    result.affected = in.texts();
    now = in.time();
    return result;
  }

  void change() {
    const std::size_t number = pick(model_.memories.size());
    Memory& memory = model_.memories[number];
    EditRequest request;
    request.id = memory.id;
    if (memory.gone) {
      what_ = "edit of a forgotten memory";
      request.op = chance(0.5) ? EditOp::forget : EditOp::invalidate;
      TimeMs now = 0;
      send(request, now);
      must(code_ == "not_found", "a forgotten memory is edited: " + code_);
      return;
    }
    if (memory.brief) return;
    const std::size_t dice = pick(10);
    if (dice < 4) return update(number, request);
    if (dice < 6) return invalidate(number, request);
    if (dice < 8) return restore(request);
    forget(number, request);
  }

  void update(std::size_t number, EditRequest& request) {
    Memory& memory = model_.memories[number];
    what_ = "update of " + memory.id;
    const bool text = chance(0.6);
    if (text) request.content = chance(0.08) ? paragraphs(200 + pick(500)) : sentence(1 + pick(15));
    if (!text || chance(0.3)) request.tags = some_tags();
    if (chance(0.3))
      request.importance = chance(0.3) ? 1.0 : static_cast<double>(pick(1000)) / 1000;
    TimeMs now = 0;
    send(request, now);
    if (memory.invalid) {
      must(code_ == "invalid", "an invalid memory is edited: " + code_);
      return;
    }
    must_work();
    std::vector<std::string> tags = memory.tags;
    if (request.tags) {
      tags.clear();
      for (const std::string& tag : *request.tags) {
        if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(tag);
      }
    }
    const double importance = request.importance.value_or(memory.importance);
    const bool new_text = request.content && *request.content != memory.text;
    const bool labels = tags != memory.tags || importance != memory.importance;
    memory.tags = tags;
    memory.importance = importance;
    if (new_text || labels) {
      model_.rewrite(number, new_text ? *request.content : std::string(memory.text), now);
    }
  }

  void invalidate(std::size_t number, EditRequest& request) {
    what_ = "invalidate " + request.id;
    request.op = EditOp::invalidate;
    std::size_t by = kNobody;
    if (chance(0.5)) {
      by = pick(model_.memories.size());
      const Memory& other = model_.memories[by];
      if (by == number || other.gone || other.invalid || other.brief) by = kNobody;
    }
    if (by != kNobody) request.replacement_id = model_.memories[by].id;
    TimeMs now = 0;
    send(request, now);
    must_work();
    const Memory& memory = model_.memories[number];
    if (memory.invalid && (by == kNobody || by == memory.superseded_by)) return;
    model_.invalidate(number, by, now);
  }

  void restore(EditRequest& request) {
    // Mostly one that needs it.
    std::vector<std::size_t> invalid;
    for (std::size_t m = 0; m < model_.memories.size(); ++m) {
      if (model_.memories[m].invalid && !model_.memories[m].gone) invalid.push_back(m);
    }
    std::size_t number = model_.by_id.at(request.id);
    if (!invalid.empty() && chance(0.8)) number = any(invalid);
    Memory& memory = model_.memories[number];
    request.id = memory.id;
    request.op = EditOp::restore;
    what_ = "restore " + request.id;
    TimeMs now = 0;
    send(request, now);
    must_work();
    if (memory.invalid) model_.restore(number, now);
  }

  void forget(std::size_t number, EditRequest& request) {
    what_ = "forget " + request.id;
    request.op = EditOp::forget;
    TimeMs now = 0;
    const EditResult result = send(request, now);
    must_work();
    std::vector<std::size_t> affected;
    for (const std::string& id : result.affected) affected.push_back(model_.by_id.at(id));
    std::size_t superseded = 0;
    for (const Memory& other : model_.memories) {
      if (!other.gone && other.invalid && other.superseded_by == number) ++superseded;
    }
    must(superseded == affected.size(), "wrong memories are affected by a forget");
    for (const std::size_t other : affected) {
      must(model_.memories[other].superseded_by == number,
           "a memory is affected that was not replaced");
    }
    model_.forget(number, affected);
  }

  // ---- recall
  std::string some_query() {
    std::string query;
    const auto add = [&](const std::string& word) { query += (query.empty() ? "" : " ") + word; };
    const Memory& memory = any(model_.memories);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < memory.text.size();) {
      const std::size_t end = std::min(memory.text.find_first_of(" \n", at), memory.text.size());
      if (end > at) words.push_back(memory.text.substr(at, end - at));
      at = end + 1;
    }
    const std::size_t size = chance(0.05) ? 40 : 1 + pick(6);
    for (std::size_t n = size; n > 0; --n) {
      std::string next = !words.empty() && chance(0.7) ? any(words) : word();
      if (next.size() > 40) next = word();
      if (chance(0.15)) next = typo(next);
      add(next);
    }
    if (chance(0.15)) add(some_speaker());
    if (chance(0.05)) add("job-" + std::to_string(pick(50)));
    if (chance(0.03)) query.clear();
    if (chance(0.25) || query.empty()) add(time_words());
    return query;
  }

  TagGroup some_group(int depth) {
    TagGroup group;
    const std::size_t kind = depth == 0 ? 0 : pick(6);
    if (kind < 3) {
      group.tags = some_tags();
      group.match = static_cast<TagMatch>(pick(5));
      return group;
    }
    group.kind = kind == 3   ? TagGroup::Kind::all_of
                 : kind == 4 ? TagGroup::Kind::any_of
                             : TagGroup::Kind::none_of;
    for (std::size_t n = kind == 5 ? 1 : 1 + pick(3); n > 0; --n) {
      group.parts.push_back(some_group(depth - 1));
    }
    return group;
  }

  SearchRequest some_search() {
    SearchRequest search;
    search.query = some_query();
    search.min_score = chance(0.7) ? 0 : chance(0.7) ? 0.3 : static_cast<double>(pick(100)) / 100;
    search.limit = chance(0.5) ? 200 : 1 + pick(60);
    search.budget = static_cast<Budget>(pick(3));
    search.query_timestamp = chance(0.5) ? some_time() : now_ms();
    if (chance(0.25)) {
      for (std::size_t n = 1 + pick(2); n > 0; --n)
        search.types.push_back(static_cast<MemoryType>(pick(3)));
    }
    search.permanent = chance(0.1);
    if (chance(0.3)) search.tags = some_tags();
    search.tags_match = static_cast<TagMatch>(chance(0.6) ? 0 : pick(5));
    if (chance(0.15)) search.tag_groups.push_back(some_group(2));
    if (chance(0.05)) search.tag_groups.push_back(some_group(3));
    if (chance(0.15)) search.window_start = some_time();
    if (chance(0.15))
      search.window_end =
          search.window_start.value_or(some_time()) + static_cast<TimeMs>(pick(400)) * kDay;
    if (chance(0.25) && !instants_.empty()) search.as_of = any(instants_);
    search.include_invalid = chance(0.15);
    search.prefer_observations = chance(0.1);
    if (chance(0.3)) {
      for (const char* const arm : {"keyword", "semantic", "temporal", "graph"}) {
        if (chance(0.5)) search.arms.push_back(arm);
      }
    }
    if (chance(0.05)) search.min_scores.keyword = 0.2;
    if (chance(0.05)) search.min_scores.semantic = 0.3;
    if (chance(0.05)) search.min_scores.final = 0.4;
    return search;
  }

  static std::string describe(const SearchRequest& search) {
    std::string text = "recall \"" + search.query + "\"";
    const auto add = [&](const char* name, const std::string& value) {
      text += std::string(", ") + name + " " + value;
    };
    add("limit", std::to_string(search.limit));
    add("min_score", std::to_string(search.min_score));
    if (search.as_of) add("as_of", format_time(*search.as_of));
    if (!search.types.empty()) add("types", std::to_string(search.types.size()));
    if (search.permanent) add("permanent", "");
    if (!search.tags.empty()) add("tags", std::to_string(search.tags.size()));
    if (search.tags_match != TagMatch::any)
      add("match", std::to_string(static_cast<int>(search.tags_match)));
    if (!search.tag_groups.empty()) add("groups", std::to_string(search.tag_groups.size()));
    if (search.window_start || search.window_end) add("window", "");
    if (search.include_invalid) add("include_invalid", "");
    for (const std::string& arm : search.arms) add("arm", arm);
    return text;
  }

  // ---- what tags mean, written down once more
  static bool tags_pass(const std::vector<std::string>& has, const std::vector<std::string>& asked,
                        TagMatch match) {
    std::size_t common = 0;
    std::vector<std::string> distinct = asked;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::string& tag : distinct) {
      if (std::count(has.begin(), has.end(), tag) != 0) ++common;
    }
    if (match == TagMatch::exact) return common == distinct.size() && common == has.size();
    if (distinct.empty()) return true;
    if (has.empty()) return match == TagMatch::any || match == TagMatch::all;
    const bool all = match == TagMatch::all || match == TagMatch::all_strict;
    return all ? common == distinct.size() : common > 0;
  }
  static bool group_passes(const TagGroup& group, const std::vector<std::string>& has) {
    if (group.kind == TagGroup::Kind::leaf) return tags_pass(has, group.tags, group.match);
    std::size_t passed = 0;
    for (const TagGroup& part : group.parts) {
      if (group_passes(part, has)) ++passed;
    }
    if (group.kind == TagGroup::Kind::all_of) return passed == group.parts.size();
    if (group.kind == TagGroup::Kind::any_of) return passed > 0;
    return passed == 0;
  }

  static bool runs(const SearchRequest& search, const char* arm) {
    return search.arms.empty() ||
           std::find(search.arms.begin(), search.arms.end(), arm) != search.arms.end();
  }

  recall::SearchQuery query_of(const SearchRequest& search, TimeMs now) {
    recall::SearchQuery query;
    query.text = search.query;
    query.filter.now = now;
    query.filter.as_of = search.as_of;
    query.filter.include_invalid = search.include_invalid;
    query.filter.permanent = search.permanent;
    if (!search.types.empty() || search.permanent) query.filter.types = 0;
    for (const MemoryType type : search.types) {
      query.filter.types =
          static_cast<std::uint8_t>(query.filter.types | 1u << static_cast<unsigned>(type));
    }
    if (search.window_start || search.window_end) {
      query.filter.window = {search.window_start.value_or(INT64_MIN),
                             search.window_end.value_or(INT64_MAX)};
    }
    query.filter.tags = [&search](const std::vector<std::string>& has) {
      return tags_pass(has, search.tags, search.tags_match) &&
             std::all_of(search.tag_groups.begin(), search.tag_groups.end(),
                         [&](const TagGroup& group) { return group_passes(group, has); });
    };
    constexpr recall::ranking::Depth kDepth[] = {recall::ranking::kLow, recall::ranking::kMid,
                                                 recall::ranking::kHigh};
    query.depth = kDepth[static_cast<std::size_t>(search.budget)];
    query.candidates = std::max(query.depth.candidates, search.limit);
    query.lexical = runs(search, "keyword");
    query.structure = runs(search, "graph");
    query.temporal = runs(search, "temporal");
    query.query_time = *search.query_timestamp;
    query.times = recall::query_times(search.query, query.query_time).spans;
    recall::Embedder& embedder = *model_.embedder;
    if (runs(search, "semantic") && embedder.embed(search.query, recall::Side::query, embedding_)) {
      query.vector = {embedder.model_id(), &embedding_, embedder.curve()};
    }
    query.prefer_observations = search.prefer_observations;
    return query;
  }

  bool expires_between(TimeMs from, TimeMs to) const {
    return std::any_of(model_.memories.begin(), model_.memories.end(), [&](const Memory& m) {
      return m.brief && !m.gone && *m.expires >= from && *m.expires <= to;
    });
  }

  void compare_search() { compare(some_search(), chance(0.2) ? workers_.size() : 1); }

  void compare(const SearchRequest& search, std::size_t processes) {
    what_ = describe(search);
    const std::size_t first = pick(workers_.size());
    for (std::size_t i = 0; i < processes; ++i) {
      Out out;
      put(out, search);
      In in = ask(*workers_[(first + i) % workers_.size()], Command::search, out);
      must_work();
      ++searches_;
      if (expires_between(before_, after_)) continue;
      check_answer(search, in);
    }
  }

  void check_answer(const SearchRequest& search, In& in) {
    const recall::SearchQuery query = query_of(search, before_);
    // Where codes choose what is compared, the answer is not exact.
    if (query.vector && model_.rows.all.size() > query.depth.exact_rows) return;
    std::vector<Hit> hits = oracle::search(model_.rows, model_.analyzer, query);
    std::stable_sort(hits.begin(), hits.end(),
                     [](const Hit& a, const Hit& b) { return a.final > b.final; });
    const double best = hits.empty() ? 0 : hits.front().final;
    const double floor = std::max(search.min_score, search.min_scores.final.value_or(0));
    std::vector<Hit> expected;
    for (const Hit& hit : hits) {
      const bool low = std::min(hit.final, 1.0) < floor ||
                       hit.keyword < search.min_scores.keyword.value_or(0) ||
                       hit.semantic < search.min_scores.semantic.value_or(0);
      const bool far = search.min_score > 0 && hit.final < best * 0.35;
      if (!low && !far) expected.push_back(hit);
    }
    const bool abstained = expected.empty() && search.min_score > 0;
    if (expected.size() > search.limit) expected.resize(search.limit);

    must((in.number() != 0) == abstained, "abstained is wrong");
    same(in.real(), std::min(best, 1.0), "the best score");
    const std::uint64_t found = in.number();
    if (found != expected.size()) explain(search, expected, in, found);
    if (found != 0) ++answered_;
    for (const Hit& hit : expected) check_result(search, hit, in, expected);
  }

  void same(double got, double expected, const std::string& what) const {
    must(std::fabs(got - expected) <= 1e-12,
         what + " is " + std::to_string(got) + ", expected " + std::to_string(expected));
  }

  [[noreturn]] void explain(const SearchRequest&, const std::vector<Hit>& expected, In&,
                            std::uint64_t found) const {
    throw Failure("recall gave " + std::to_string(found) + " results, expected " +
                  std::to_string(expected.size()) + " [step " + std::to_string(step_) + ", " +
                  what_ + "]");
  }

  void check_result(const SearchRequest& search, const Hit& hit, In& in, const std::vector<Hit>&) {
    const Shown& shown = model_.shown[hit.row];
    const Memory& memory = model_.memories[shown.memory];
    const std::string id = in.text();
    const std::string text = in.text();
    const std::vector<std::string> tags = in.texts();
    const std::string speaker = in.text(), document = in.text(), superseded_by = in.text();
    const double importance = in.real();
    const bool valid = in.number() != 0;
    const bool window = in.number() != 0;
    const std::uint64_t start = window ? in.number() : 0, end = window ? in.number() : 0;
    const double score = in.real();
    const std::optional<TimeMs> occurred_start = in.maybe(), occurred_end = in.maybe();
    const std::optional<double> keyword = in.maybe_real(), semantic = in.maybe_real(),
                                temporal = in.maybe_real(), graph = in.maybe_real();
    const double similarity = in.real();
    const std::string band = in.text();

    must(id == memory.id, "result " + id + " \"" + text.substr(0, 60) + "\" in the place of " +
                              memory.id + " \"" + shown.text->substr(0, 60) + "\", scores " +
                              std::to_string(score) + " and " + std::to_string(hit.final));
    must(text == *shown.text, id + " has another text");
    must(tags == shown.tags, id + " has other tags");
    must(speaker == memory.speaker,
         id + " was said by \"" + speaker + "\", not \"" + memory.speaker + "\"");
    must(document == shown.document_id,
         id + " is of document \"" + document + "\", not \"" + shown.document_id + "\"");
    same(importance, shown.importance, "the importance of " + id);
    must(window == (shown.passages > 1), id + ": a window is wrong");
    if (window) must(start == shown.start && end == shown.end, id + ": another passage");
    same(score, std::min(hit.final, 1.0), "the score of " + id);
    same(similarity, hit.similarity, "the similarity of " + id);
    must(occurred_start == shown.occurred_start && occurred_end == shown.occurred_end,
         id + " occurred at another time");
    must(keyword.has_value() == runs(search, "keyword") &&
             semantic.has_value() == runs(search, "semantic") &&
             temporal.has_value() == runs(search, "temporal") &&
             graph.has_value() == runs(search, "graph"),
         id + ": arms are wrong");
    if (keyword) same(*keyword, hit.keyword, "the keyword score of " + id);
    if (semantic) same(*semantic, hit.semantic, "the semantic score of " + id);
    if (temporal) same(*temporal, hit.temporal, "the temporal score of " + id);
    if (graph) same(*graph, hit.graph, "the graph score of " + id);
    must(band == (score >= 0.6   ? "apply"
                  : score >= 0.4 ? "hint"
                                 : "weak"),
         id + " has band " + band);
    const Row& row = model_.rows.all[hit.row];
    if (search.as_of) {
      must(valid && superseded_by.empty(), id + " was believed then");
    } else {
      must(valid == (!row.closed && row.times.expires > before_), id + ": valid is wrong");
      if (row.closed && memory.invalid && !memory.was_restored) {
        const std::string by =
            memory.superseded_by == kNobody ? "" : model_.memories[memory.superseded_by].id;
        must(superseded_by == by,
             id + " is superseded by \"" + superseded_by + "\", not \"" + by + "\"");
      }
    }
  }

  // ---- the whole
  void check_counts() {
    what_ = "counts";
    for (const auto& worker : workers_) {
      In in = ask(*worker, Command::stats, Out());
      must_work();
      const std::uint64_t memories = in.number(), rows = in.number(), live = in.number();
      segments_ = in.number();
      in.number();
      in.number();
      must(memories == model_.valid_memories(), "there are " + std::to_string(memories) +
                                                    " memories, not " +
                                                    std::to_string(model_.valid_memories()));
      must(rows == model_.rows.all.size() - 1, "a wrong number of rows");
      must(live == model_.live_rows(), "a wrong number of live rows");
    }
  }

  // Every word of the vocabulary once, from every process.
  void check_all() {
    for (std::size_t i = 0; i < vocabulary_.size(); i += 7) {
      SearchRequest search;
      search.query = vocabulary_[i] + " " + vocabulary_[(i * 3 + 1) % vocabulary_.size()];
      search.min_score = 0;
      search.limit = 200;
      search.budget = Budget::high;
      search.query_timestamp = now_ms();
      compare(search, i % 4 == 0 ? 4 : 1);
    }
  }

  void check_vault() {
    what_ = "verify";
    for (auto& worker : workers_) worker->restart(false);
    AdminOptions options;
    options.vault_path = vault();
    options.owner.keyfile = keyfile();
    VaultAdmin admin(options);
    const VerifyOutcome outcome = admin.verify(false);
    for (const VerifyLine& line : outcome.problems) {
      throw Failure("verify: " + line.where + ": " + line.text);
    }
    for (const VaultAdmin::ChainLine& chain : admin.audit_verify()) {
      must(chain.problem.empty(), "the log of " + chain.bank + ": " + chain.problem);
    }
    const VaultStatus status = admin.status();
    must(status.memories == model_.valid_memories(), "status counts other memories");
    std::size_t documents = 0;
    for (const auto& [name, document] : model_.documents) {
      if (document.number != 0) ++documents;
    }
    must(status.documents == documents, "status counts other documents");
  }

  Options options_;
  std::mt19937_64 random_;
  std::string folder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Model model_;
  recall::Embedding embedding_;  // of the query
  std::vector<std::string> vocabulary_;
  std::set<std::string> stems_;
  std::vector<TimeMs> instants_;
  std::map<std::string, std::vector<RetainItem>> last_items_;
  std::string what_, code_, text_;
  TimeMs before_ = 0, after_ = 0;
  std::size_t step_ = 0, searches_ = 0, answered_ = 0;
  std::uint64_t segments_ = 0;
};

int usage() {
  std::fprintf(
      stderr,
      "usage: test_memory_oracle [--seed N] [--seconds N | --minutes N] [--rows N] [--forms 1]\n");
  return 2;
}

int run(int argc, char** argv) {
  crypto::harden_process();
  if (argc == 5 && std::string(argv[1]) == "--worker") return serve(argv[2], argv[3], argv[4]);
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(value);
    else if (name == "--seconds")
      options.seconds = value;
    else if (name == "--minutes")
      options.seconds = value * 60;
    else if (name == "--rows")
      options.rows = static_cast<std::size_t>(value);
    else if (name == "--forms")
      options.forms = value != 0;
    else
      return usage();
  }
  if (argc % 2 == 0) return usage();
  try {
    Oracle oracle(options);
    try {
      oracle.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "FAILED (seed %llu): %s\n",
                   static_cast<unsigned long long>(options.seed), error.what());
      oracle.print_summary();
      return 1;
    }
    oracle.print_summary();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace strongroom::oracle

int main(int argc, char** argv) {
  return strongroom::oracle::run(argc, argv);
}
