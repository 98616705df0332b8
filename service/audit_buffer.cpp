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

void MemoryService::State::log_read(const std::shared_ptr<vault::Bank>& bank,
                                    std::string_view tool, std::string_view rule,
                                    vault::RecordId record, std::uint64_t bytes) {
  // The owner's read-only processes write nothing, audit included; their replies say so.
  if (options.read_only) return;
  if (buffered_calls == 0) buffered_since = last_call;
  auto [at, is_new] = reads.try_emplace(ReadKey{bank.get(), record, tool.data()});
  if (is_new) {
    at->second.bank = bank;
    at->second.event = event(tool, rule);
    at->second.event.record = record;
    at->second.event.bytes = bytes;
  } else {
    ++at->second.event.count;
    at->second.event.bytes += bytes;
  }
  if (++buffered_calls >= kAuditBufferCalls || last_call - buffered_since >= kAuditBufferAge) {
    flush();
  }
}

void MemoryService::State::flush() {
  if (reads.empty() || !vault) return;
  std::map<vault::Bank*, std::vector<vault::AuditEvent>> by_bank;
  for (const auto& [key, read] : reads) by_bank[read.bank.get()].push_back(read.event);
  for (auto& [bank, events] : by_bank) {
    vault::BankWrite write = bank->write(vault->stamp());
    for (vault::AuditEvent& entry : events) write.log(std::move(entry));
    write.commit();
    // What is on disk leaves the buffer; a failure in the next bank keeps only that bank's.
    std::erase_if(reads, [&](const auto& item) { return item.first.bank == bank; });
  }
  buffered_calls = 0;
}

void MemoryService::State::log_now(const std::shared_ptr<vault::Bank>& bank,
                                   vault::AuditEvent event) {
  if (options.read_only) return;
  vault::BankWrite write = bank->write(vault->stamp());
  write.log(std::move(event));
  write.commit();
}

void MemoryService::State::deny(const std::string& bank, std::string_view tool,
                                const policy::Decision& decision) {
  const Error denied = Error::verbatim(Code::denied, decision.text());
  std::shared_ptr<vault::Bank> log_bank = open(bank);
  if (!log_bank) log_bank = open(std::string(vault::kGlobalBank));
  const std::string what = bank + "\n" + std::string(tool) + "\n" + decision.rule;
  TimeMs& last = logged_denials[what];
  if (last_call - last >= kAuditBufferAge && log_bank) {
    vault::AuditEvent entry = event(tool, decision.rule);
    entry.permitted = false;
    log_now(log_bank, std::move(entry));
    last = last_call;
  }
  if (logged_denials.size() > 1024) logged_denials.clear();
  throw denied;
}

}  // namespace strongroom::service
