#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "service/state.h"

namespace strongroom::service {

vault::AuditEvent MemoryService::State::event(std::string_view tool, std::string_view rule) const {
  vault::AuditEvent event;
  event.time = now_ms();
  event.principal = options.principal;
  event.tool = tool;
  event.rule = rule;
  return event;
}

// A process reads few banks under few rules, so a walk beats a map.
std::size_t MemoryService::State::read_group(const vault::Bank& bank, std::string_view tool,
                                             std::string_view rule, bool found) {
  for (std::size_t i = 0; i < read_groups.size(); ++i) {
    const ReadGroup& group = read_groups[i];
    if (group.bank == bank.id() && group.tool == tool && group.rule == rule &&
        group.found == found) {
      return i;
    }
  }
  read_groups.push_back({bank.id(), bank.name(), std::string(rule), tool, found, last_call});
  return read_groups.size() - 1;
}

// What a read waits for other writers, once a second, to write down that it happened.
constexpr vault::Patience kReadLogPatience{50};

void MemoryService::State::log_read(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                                    std::string_view rule, vault::RecordId record,
                                    std::uint64_t bytes, bool found) {
  // The owner's read-only processes write nothing, audit included; their replies say so.
  if (options.read_only) return;
  if (buffered_calls == 0) buffered_since = last_call;
  reads.push_back({read_group(*bank, tool, rule, found), record, 1, bytes});
  if (++buffered_calls < kAuditBufferCalls && last_call - buffered_since < kAuditBufferAge) return;
  flush_in_passing();
}

namespace {

using Reads = std::vector<MemoryService::State::BufferedRead>;

// Sorts by group and record, and makes one of equal ones.
void count_equal(Reads& reads) {
  const auto key = [](const auto& read) { return std::make_pair(read.group, read.record); };
  std::sort(reads.begin(), reads.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  auto last = reads.begin();
  for (auto at = std::next(last); at != reads.end(); ++at) {
    if (key(*at) != key(*last)) {
      *++last = *at;
    } else {
      last->count += at->count;
      last->bytes += at->bytes;
    }
  }
  reads.erase(std::next(last), reads.end());
}

}  // namespace

void MemoryService::State::flush(vault::Patience patience) {
  if (reads.empty()) return;
  if (!vault) ensure_open();
  count_equal(reads);
  while (!reads.empty()) {
    const ReadGroup& group = read_groups[reads.front().group];
    const auto end = std::find_if(reads.begin(), reads.end(), [&](const BufferedRead& read) {
      return read.group != reads.front().group;
    });
    const auto bank = open(group.bank_name);
    if (!bank) vault::throw_corrupt("a bank that was read is no longer listed");
    vault::BankWrite write = bank->write(vault->stamp(), patience);
    for (auto at = reads.begin(); at != end;) {
      vault::AuditEvent entry = event(group.tool, group.rule);
      entry.time = group.first;
      if (!group.found) entry.error = code_name(Code::not_found);
      for (; at != end && entry.records.size() < vault::AuditEvent::kMaxRecords; ++at) {
        entry.records.push_back({at->record, at->count, at->bytes});
      }
      write.log(std::move(entry));
    }
    write.commit();
    // What is on disk leaves the buffer; a failure in the next group keeps only the rest.
    reads.erase(reads.begin(), end);
  }
  read_groups.clear();
  buffered_calls = 0;
}

// A writer that stands still holds up no read while there is room to remember it.
bool MemoryService::State::flush_in_passing() {
  const bool full = buffered_calls >= kAuditBufferCalls;
  try {
    flush(full ? vault::kWriterPatience : kReadLogPatience);
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::busy || full) throw;
    buffered_since = last_call;
    return false;
  }
}

void MemoryService::State::log_now(const std::shared_ptr<vault::Bank>& bank,
                                   vault::AuditEvent event, vault::Patience patience) {
  if (options.read_only) return;
  vault::BankWrite write = bank->write(vault->stamp(), patience);
  write.log(std::move(event));
  write.commit();
}

namespace {

// The bank it touches, or the first that this process can open.
std::shared_ptr<vault::Bank> log_bank(MemoryService::State& state, const std::string& name) {
  auto bank = name.empty() ? nullptr : state.open(name);
  return bank ? bank : state.open(std::string(vault::kGlobalBank));
}

}  // namespace

void MemoryService::State::deny(const std::string& bank, std::string_view tool,
                                const policy::Decision& decision) {
  call_logged = true;
  TimeMs& last = logged_failures[bank + "\n" + std::string(tool) + "\n" + decision.rule];
  if (last_call - last >= kAuditBufferAge) {
    if (const auto target = log_bank(*this, bank)) {
      vault::AuditEvent entry = event(tool, decision.rule);
      entry.permitted = false;
      log_now(target, std::move(entry));
      last = last_call;
    }
  }
  throw Error::verbatim(Code::denied, decision.text());
}

void MemoryService::State::log_failure(std::string_view tool, const Error& error) noexcept {
  if (!vault || call_logged) return;
  try {
    if (logged_failures.size() > 1024) logged_failures.clear();
    TimeMs& last = logged_failures[call_bank + "\n" + std::string(tool) + "\n" +
                                   std::string(code_name(error.code()))];
    if (last_call - last < kAuditBufferAge) return;
    const auto target = log_bank(*this, call_bank);
    if (!target) return;
    vault::AuditEvent entry = event(tool, "");
    entry.permitted = error.code() != Code::denied && error.code() != Code::secret_detected;
    entry.error = code_name(error.code());
    // Who was told `busy` has waited long enough.
    log_now(target, std::move(entry), kReadLogPatience);
    last = last_call;
  } catch (const std::exception&) {
    // The call has failed already, and its own error says why; nothing was done that is not logged.
  }
}

}  // namespace strongroom::service
