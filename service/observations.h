// What an observation rests on: the memories that it quotes, and whether they still hold. Internal
// to service/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/memories.h"
#include "service/memory_words.h"
#include "service/state.h"
#include "vault/links.h"
#include "vault/memories.h"

namespace strongroom::service {

/// A source as the trend sees it.
struct SourceState {
  bool sound = true;  // stored, valid, not expired, and its text still has every quote
  TimeMs mentioned = 0;
};

/// The trend of an observation, the first that applies:
///   stale   a source is not sound, or the newest one was mentioned more than 90 days before `now`;
///   stable  it refines another observation, or its sources were mentioned more than 7 days apart;
///   new     it was stored less than 7 days ago;
///   stable  it has stood for 7 days.
std::string_view observation_trend(const std::vector<SourceState>& sources, bool refines,
                                   TimeMs created, TimeMs now);

/// Reads the sources of observations in one snapshot, as one principal may see them: a source that
/// the policy hides is neither named nor does it count.
class SourceReader {
 public:
  SourceReader(const MemoryService::State& state, vault::BankRead& bank, std::string_view tool)
      : now_(state.last_call), bank_(bank), decisions_(state, tool, bank.bank().name()) {}

  /// Sets source_fact_ids and trend; nothing for a memory without sources.
  void describe(const vault::Memory& memory, FoundMemory& found);
  std::string trend(const vault::Memory& memory);
  /// The sources that can be shown, in the order of the observation.
  std::vector<FoundSource> sources(const vault::Memory& memory);

 private:
  struct Seen {
    SourceState state;
    std::optional<vault::Memory> memory;  // views plain_; absent: forgotten or expired
    std::vector<std::string> quotes;
  };
  /// nullopt: hidden.
  std::optional<Seen> look_at(vault::RecordId observation, vault::RecordId source);

  TimeMs now_;
  vault::BankRead& bank_;
  TagDecisions decisions_;
  SecretBytes plain_;
};

}  // namespace strongroom::service
