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

void MemoryService::State::log_read(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                                    std::string_view rule, vault::RecordId record,
                                    std::uint64_t bytes, bool found) {
  // The owner's read-only processes write nothing, audit included; their replies say so.
  if (options.read_only) return;
  if (buffered_calls == 0) buffered_since = last_call;
  auto [at, is_new] = reads.try_emplace(ReadKey{bank->id(), record, tool.data(), found});
  if (is_new) {
    at->second.bank = bank->name();
    at->second.event = event(tool, rule);
    at->second.event.record = record;
    at->second.event.bytes = bytes;
    if (!found) at->second.event.error = code_name(Code::not_found);
  } else {
    ++at->second.event.count;
    at->second.event.bytes += bytes;
  }
  if (++buffered_calls >= kAuditBufferCalls || last_call - buffered_since >= kAuditBufferAge) {
    flush();
  }
}

void MemoryService::State::flush() {
  if (reads.empty()) return;
  if (!vault) ensure_open();
  std::map<std::string, std::vector<vault::AuditEvent>> by_bank;
  for (const auto& [key, read] : reads) by_bank[read.bank].push_back(read.event);
  for (auto& [name, events] : by_bank) {
    const auto bank = open(name);
    if (!bank) vault::throw_corrupt("a bank that was read is no longer listed");
    vault::BankWrite write = bank->write(vault->stamp());
    for (vault::AuditEvent& entry : events) write.log(std::move(entry));
    write.commit();
    // What is on disk leaves the buffer; a failure in the next bank keeps only that bank's.
    std::erase_if(reads, [&](const auto& item) { return item.second.bank == name; });
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
    entry.permitted = error.code() != Code::denied;
    entry.error = code_name(error.code());
    log_now(target, std::move(entry));
    last = last_call;
  } catch (const std::exception&) {
    // The call has failed already, and its own error says why; nothing was done that is not logged.
  }
}

}  // namespace strongroom::service
