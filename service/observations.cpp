#include "service/observations.h"

#include <algorithm>

#include "service/memory_changes.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kDay = TimeMs{24} * 3600 * 1000;
constexpr TimeMs kSettled = 7 * kDay, kOutdated = 90 * kDay;

vault::LinkEnd end_of(vault::RecordId memory) {
  vault::LinkEnd end;
  end.memory = memory;
  return end;
}

}  // namespace

std::string_view observation_trend(const std::vector<SourceState>& sources, bool refines,
                                   TimeMs created, TimeMs now) {
  if (std::any_of(sources.begin(), sources.end(),
                  [](const auto& source) { return !source.sound; })) {
    return "stale";
  }
  TimeMs span = 0;
  if (!sources.empty()) {
    const auto [oldest, newest] =
        std::minmax_element(sources.begin(), sources.end(),
                            [](const auto& a, const auto& b) { return a.mentioned < b.mentioned; });
    if (now - newest->mentioned > kOutdated) return "stale";
    span = newest->mentioned - oldest->mentioned;
  }
  if (refines || span > kSettled) return "stable";
  return now - created < kSettled ? "new" : "stable";
}

std::optional<SourceReader::Seen> SourceReader::look_at(vault::RecordId observation,
                                                        vault::RecordId source) {
  Seen seen;
  const auto link = vault::find_link(bank_, end_of(observation), end_of(source), kQuotes);
  if (link) seen.quotes = link->quotes;
  const auto found = vault::find_memory(bank_, source, plain_);
  if (!found || !found->memory || found->memory->expired(now_)) {
    seen.state.sound = false;
    return seen;
  }
  if (!decisions_.permits(found->memory->tags())) return std::nullopt;
  const std::string_view text = found->memory->text;
  seen.memory = found->memory;
  seen.state.mentioned = found->memory->mentioned;
  seen.state.sound = found->memory->current(now_) && !seen.quotes.empty() &&
                     std::all_of(seen.quotes.begin(), seen.quotes.end(), [&](const auto& quote) {
                       return text.find(quote) != std::string_view::npos;
                     });
  return seen;
}

void SourceReader::describe(const vault::Memory& memory, FoundMemory& found) {
  std::vector<SourceState> states;
  for (const vault::RecordId source : memory.source_ids()) {
    const auto seen = look_at(memory.first, source);
    if (!seen) continue;
    states.push_back(seen->state);
    if (seen->memory) {
      found.source_fact_ids.push_back(vault::memory_id(bank_.bank().tag(), source));
    }
  }
  if (memory.sources.empty()) return;
  found.trend = observation_trend(states, memory.refines != 0, memory.created, now_);
}

std::string SourceReader::trend(const vault::Memory& memory) {
  FoundMemory found;
  describe(memory, found);
  return found.trend;
}

std::vector<FoundSource> SourceReader::sources(const vault::Memory& memory) {
  std::vector<FoundSource> all;
  for (const vault::RecordId source : memory.source_ids()) {
    auto seen = look_at(memory.first, source);
    if (!seen || !seen->memory) continue;
    FoundSource one;
    one.id = vault::memory_id(bank_.bank().tag(), source);
    one.text = seen->memory->text;
    one.type = static_cast<MemoryType>(seen->memory->type);
    one.mentioned_at = seen->memory->mentioned;
    one.valid = seen->memory->current(now_);
    one.quotes = std::move(seen->quotes);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace strongroom::service
