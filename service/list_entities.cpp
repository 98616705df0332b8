// list_entities: what the memories of a bank are about, counted. There is no table of entities: the
// first call after a change reads every memory.
#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "recall/entities.h"
#include "service/memory_scan.h"
#include "service/memory_words.h"
#include "service/state.h"

namespace strongroom::service {
namespace {

// More names than this are not kept: those of the newest memories are.
constexpr std::size_t kMostEntities = 200'000;

bool before(const ListedEntity& a, const ListedEntity& b) {
  return a.memories != b.memories ? a.memories > b.memories : a.name < b.name;
}

class Survey {
 public:
  Survey(MemoryService::State& state, const vault::Bank& bank)
      : state_(state),
        finder_(state.entity_finder()),
        decisions_(state, tool::kListEntities, bank.name()) {}

  MemoryService::State::CachedEntities run(vault::BankRead& view) {
    MemoryService::State::CachedEntities all;
    all.rows = view.head().sets;
    all.root_reads = state_.root_reads;
    all.until = INT64_MAX;
    for_each_newest_first(view, ~vault::RecordId{0}, [&](const vault::Memory& memory) {
      if (!memory.current(state_.last_call) || !decisions_.permits(memory.tags())) return true;
      if (memory.expires) all.until = std::min(all.until, *memory.expires);
      count(memory);
      return true;
    });
    all.cut = cut_;
    all.entities.reserve(found_.size());
    for (auto& [name, found] : found_) all.entities.push_back(std::move(found.entity));
    std::sort(all.entities.begin(), all.entities.end(), before);
    return all;
  }

 private:
  struct Found {
    ListedEntity entity;
    std::uint64_t last = 0;  // the memory that it was met in last
  };

  void count(const vault::Memory& memory) {
    for (const recall::Entity& entity : finder_.find(memory.text)) {
      add(memory, entity, memory.text.substr(entity.begin, entity.end - entity.begin));
    }
    for (const std::string& name : memory.entities()) add_given(memory, name);
    if (!memory.speaker.empty()) add_given(memory, memory.speaker);
    ++memories_;
  }

  void add_given(const vault::Memory& memory, std::string_view name) {
    const std::string canonical = recall::canonical_entity(name);
    if (canonical.empty()) return;
    recall::Entity entity{};
    entity.kind = recall::EntityKind::given;
    entity.canonical = canonical;
    add(memory, entity, name);
  }

  void add(const vault::Memory& memory, const recall::Entity& entity, std::string_view display) {
    auto at = found_.find(std::string(entity.canonical));
    if (at == found_.end()) {
      if (found_.size() == kMostEntities) {
        cut_ = true;
        return;
      }
      at = found_.emplace(entity.canonical, Found{}).first;
      at->second.entity.name = entity.canonical;
      at->second.entity.display = display;
      at->second.entity.kind = recall::entity_kind_name(entity.kind);
    }
    ListedEntity& listed = at->second.entity;
    // What its form tells says more than that somebody gave it.
    if (entity.kind != recall::EntityKind::given && listed.kind == given_) {
      listed.kind = recall::entity_kind_name(entity.kind);
    }
    listed.last_mentioned = std::max(listed.last_mentioned, memory.mentioned);
    // Once a memory, however often it has the name.
    if (std::exchange(at->second.last, memories_) != memories_) ++listed.memories;
  }

  MemoryService::State& state_;
  recall::EntityFinder& finder_;
  TagDecisions decisions_;
  const std::string given_{recall::entity_kind_name(recall::EntityKind::given)};
  std::unordered_map<std::string, Found> found_;  // by canonical name
  std::uint64_t memories_ = 1;                    // the number of the one at hand
  bool cut_ = false;
};

const MemoryService::State::CachedEntities& entities_of(MemoryService::State& state,
                                                        const std::shared_ptr<vault::Bank>& bank) {
  vault::BankRead view = bank->read();
  MemoryService::State::CachedEntities& cached = state.entities[bank->id()];
  // As for lists of entries, the sums over the rows tell whether one has changed.
  const bool holds = !cached.rows.empty() && cached.rows == view.head().sets &&
                     cached.root_reads == state.root_reads && state.last_call < cached.until;
  if (!holds) cached = Survey(state, *bank).run(view);
  return cached;
}

// A cursor is the count and the name of the last entity of a page behind a version letter.
std::string encode_cursor(const ListedEntity& last) {
  return "n" + std::to_string(last.memories) + ":" + last.name;
}

ListedEntity decode_cursor(const std::string& cursor) {
  ListedEntity last;
  const char* const end = cursor.data() + cursor.size();
  if (!cursor.empty() && cursor.front() == 'n') {
    const auto [at, error] = std::from_chars(cursor.data() + 1, end, last.memories);
    if (error == std::errc() && at != end && *at == ':' && at + 1 != end) {
      last.name.assign(at + 1, end);
      return last;
    }
  }
  throw Error::invalid("cursor", "is not one that an earlier page gave");
}

void fill_page(const std::vector<ListedEntity>& all, const ListEntitiesRequest& request,
               const std::optional<ListedEntity>& after, ListEntitiesResult& result) {
  const std::string prefix = recall::normalized(request.prefix);
  for (const ListedEntity& entity : all) {
    if (entity.name.compare(0, prefix.size(), prefix) != 0) continue;
    ++result.total;
    if (after && !before(*after, entity)) continue;
    if (request.limit != 0 && result.entities.size() == request.limit) {
      if (!result.cursor) result.cursor = encode_cursor(result.entities.back());
      continue;
    }
    result.entities.push_back(entity);
  }
}

}  // namespace

ListEntitiesResult MemoryService::list_entities(const ListEntitiesRequest& request) {
  if (request.limit > kMaxListLimit) throw Error::invalid("limit", "must be from 1 to 1000");
  check_text(request.prefix, "prefix", kMaxNameBytes);
  std::optional<ListedEntity> after;
  if (!request.cursor.empty()) after = decode_cursor(request.cursor);
  State& state = *state_;
  return state.call(tool::kListEntities, [&]() -> ListEntitiesResult {
    const Banks banks = state.resolve(request.bank);
    ListEntitiesResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kListEntities, scope);
    if (!bank) return result;
    const State::CachedEntities& all = entities_of(state, bank);
    fill_page(all.entities, request, after, result);
    if (all.cut) {
      result.notes.push_back("Of more than " + std::to_string(kMostEntities) +
                             " names only those of the newest memories are listed.");
    }
    note_narrowed(state, tool::kListEntities, bank->name(), result.notes);
    state.log_read(bank, tool::kListEntities, scope.rule, 0, 0);
    return result;
  });
}

}  // namespace strongroom::service
