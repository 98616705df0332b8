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

void MemoryService::State::log_read(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                                    std::string_view rule, vault::RecordId record,
                                    std::uint64_t bytes, bool found) {
  // The owner's read-only processes write nothing, audit included; their replies say so.
  if (options.read_only) return;
  if (buffered_calls == 0) buffered_since = last_call;
  ReadLine& line = reads[{read_group(*bank, tool, rule, found), record}];
  ++line.count;
  line.bytes += bytes;
  if (++buffered_calls >= kAuditBufferCalls || last_call - buffered_since >= kAuditBufferAge) {
    flush();
  }
}

namespace {

// The events of one group, each with as many records as one may list.
std::vector<vault::AuditEvent> events_of(const MemoryService::State& state, std::size_t group) {
  std::vector<vault::AuditEvent> events;
  for (const auto& [key, line] : state.reads) {
    if (key.group != group) continue;
    if (events.empty() || events.back().records.size() == vault::AuditEvent::kMaxRecords) {
      const MemoryService::State::ReadGroup& from = state.read_groups[group];
      vault::AuditEvent& event = events.emplace_back(state.event(from.tool, from.rule));
      event.time = from.first;
      if (!from.found) event.error = code_name(Code::not_found);
    }
    events.back().records.push_back({key.record, line.count, line.bytes});
  }
  return events;
}

}  // namespace

void MemoryService::State::flush() {
  if (reads.empty()) return;
  if (!vault) ensure_open();
  for (std::size_t group = 0; group < read_groups.size(); ++group) {
    std::vector<vault::AuditEvent> events = events_of(*this, group);
    if (events.empty()) continue;  // an earlier flush got as far as this
    const auto bank = open(read_groups[group].bank_name);
    if (!bank) vault::throw_corrupt("a bank that was read is no longer listed");
    vault::BankWrite write = bank->write(vault->stamp());
    for (vault::AuditEvent& event : events) write.log(std::move(event));
    write.commit();
    // What is on disk leaves the buffer; a failure in the next group keeps only the rest.
    std::erase_if(reads, [&](const auto& item) { return item.first.group == group; });
  }
  read_groups.clear();
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
    entry.permitted = error.code() != Code::denied && error.code() != Code::secret_detected;
    entry.error = code_name(error.code());
    log_now(target, std::move(entry));
    last = last_call;
  } catch (const std::exception&) {
    // The call has failed already, and its own error says why; nothing was done that is not logged.
  }
}

}  // namespace strongroom::service
