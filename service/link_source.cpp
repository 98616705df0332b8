#include "service/link_source.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "recall/entities.h"
#include "recall/ranking.h"
#include "service/memory_changes.h"

namespace strongroom::service {
namespace {

using recall::LinkedMemories;
namespace ranking = recall::ranking;

// Names that a query can have: runs of so many words, of its first so many.
constexpr std::size_t kNameWords = 4, kQueryWords = 64;
// Revisions that are looked through for the one of a time.
constexpr std::size_t kRevisions = 64;

// Runs of words as they stand, longest first, without punctuation around them.
std::vector<std::string_view> names_in(std::string_view query) {
  constexpr std::string_view kSpace = " \t\r\n";
  constexpr std::string_view kAround = "\"'`()[]{}<>,;:!?.";
  std::vector<std::pair<std::size_t, std::size_t>> words;  // begin, end
  for (std::size_t at = 0; words.size() < kQueryWords;) {
    const std::size_t begin = query.find_first_not_of(kSpace, at);
    if (begin == std::string_view::npos) break;
    at = std::min(query.find_first_of(kSpace, begin), query.size());
    words.emplace_back(begin, at);
  }
  std::vector<std::string_view> names;
  for (std::size_t n = std::min(kNameWords, words.size()); n > 0; --n) {
    for (std::size_t i = 0; i + n <= words.size(); ++i) {
      std::string_view name =
          query.substr(words[i].first, words[i + n - 1].second - words[i].first);
      const std::size_t begin = name.find_first_not_of(kAround);
      if (begin == std::string_view::npos) continue;
      names.push_back(name.substr(begin, name.find_last_not_of(kAround) + 1 - begin));
    }
  }
  return names;
}

}  // namespace

const recall::LinkSource* LinkReader::source() {
  if (bank_.head().counts.links == 0) return nullptr;
  source_.of_memory = [this](vault::RecordId record, std::size_t most) {
    return of_memory(record, most);
  };
  source_.of_query = [this](std::string_view query, std::size_t most) {
    return of_query(query, most);
  };
  return &source_;
}

bool LinkReader::holds(const vault::Link& link) const {
  // What says the same is no news, and validity takes care of what was replaced.
  return link.relation != kSimilarTo && link.relation != kSupersedes && (!as_of_ || link.created <= *as_of_) &&
         (!link.valid_from || *link.valid_from <= at_) &&
         (!link.valid_until || *link.valid_until > at_);
}

LinkedMemories LinkReader::of_memory(vault::RecordId record, std::size_t most) {
  LinkedMemories out;
  const vault::RecordId first = vault::open_memory(bank_, record, plain_).first;
  ++out.read;
  const vault::LinkEnd self{first, {}};
  std::vector<vault::LinkEnd> ends;
  std::size_t seen = 0;
  vault::for_each_link(bank_, self, [&](const vault::Link& link) {
    if (seen == ranking::kLinksAnEnd || out.read >= most) {
      out.cut = true;
      return false;
    }
    ++seen;
    ++out.read;
    if (holds(link)) ends.push_back(link.from == self ? link.to : link.from);
    return true;
  });
  for (const vault::LinkEnd& end : ends) {
    if (out.read >= most) {
      out.cut = true;
      break;
    }
    if (end.memory != 0) {
      add_memory(end.memory, ranking::kLinked, out);
    } else {
      add_through_entity(end, first, most, out);
    }
  }
  return out;
}

// An entity of few links joins the memories that are linked with it.
void LinkReader::add_through_entity(const vault::LinkEnd& entity, vault::RecordId but,
                                    std::size_t most, LinkedMemories& out) {
  std::vector<vault::RecordId> others;
  std::size_t seen = 0;
  bool hub = false;
  vault::for_each_link(bank_, entity, [&](const vault::Link& link) {
    hub = seen == ranking::kLinksAnEnd || out.read >= most;
    if (hub) return false;
    ++seen;
    ++out.read;
    const vault::LinkEnd& other = link.from == entity ? link.to : link.from;
    if (holds(link) && other.memory != 0 && other.memory != but) others.push_back(other.memory);
    return true;
  });
  out.cut = out.cut || hub;
  if (hub) return;
  for (const vault::RecordId other : others) {
    add_memory(other, ranking::kLinked * ranking::kLinked, out);
  }
}

LinkedMemories LinkReader::of_query(std::string_view query, std::size_t most) {
  LinkedMemories out;
  std::unordered_set<std::string> looked;
  for (const std::string_view name : names_in(query)) {
    for (std::string form : {std::string(name), recall::canonical_entity(name)}) {
      if (form.empty() || !looked.insert(form).second) continue;
      const vault::LinkEnd entity{0, std::move(form)};
      std::vector<vault::RecordId> ends;
      std::size_t seen = 0;
      vault::for_each_link(bank_, entity, [&](const vault::Link& link) {
        if (seen == ranking::kLinksAnEnd || out.read >= most) {
          out.cut = true;
          return false;
        }
        ++seen;
        ++out.read;
        const vault::LinkEnd& other = link.from == entity ? link.to : link.from;
        if (holds(link) && other.memory != 0) ends.push_back(other.memory);
        return true;
      });
      if (ends.empty()) continue;
      out.entities.push_back(entity.entity);
      for (const vault::RecordId end : ends) add_memory(end, ranking::kLinked, out);
    }
  }
  return out;
}

void LinkReader::add_memory(vault::RecordId first, double weight, LinkedMemories& out) {
  ++out.read;
  const auto found = vault::find_memory(bank_, first, plain_);
  if (!found || !found->memory) return;
  const auto memory = as_of_ ? revision_at(*found->memory, out) : found->memory;
  if (memory && memory->rows > 0) out.memories.push_back({memory->row, weight});
}

// The text of that time; whether it was believed then is the search's to decide.
std::optional<vault::Memory> LinkReader::revision_at(const vault::Memory& newest,
                                                     LinkedMemories& out) {
  if (newest.updated <= at_) return newest;
  std::size_t looked = 0;
  for (const vault::RecordId id : newest.older_ids()) {
    if (++looked > kRevisions) break;
    ++out.read;
    const vault::Memory older = vault::open_memory(bank_, id, older_);
    if (older.updated <= at_) return older;
  }
  return std::nullopt;
}

}  // namespace strongroom::service
