#include "mcp/found_memory.h"

#include "base/json.h"
#include "base/utf8.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

using service::FoundMemory;

namespace {

constexpr std::size_t kWideMembersBytes = 4'000;  // of one result, beside its text

std::size_t structured_size(const FoundMemory& found, bool full) {
  JsonWriter writer;
  service::write_found_memory(writer, found, full);
  return writer.text().size() + 1;
}

}  // namespace

std::string found_bullet(const FoundMemory& found) {
  std::string mark;
  if (!found.superseded_by.empty()) {
    mark = "superseded by " + found.superseded_by;
  } else if (!found.valid) {
    mark = "no longer valid";
  }
  return memory_bullet(found.text, service::memory_type_name(found.type), found.mentioned_at,
                       found.id, mark);
}

std::size_t found_size(const FoundMemory& found, bool full) {
  return structured_size(found, full) + quoted_size(found_bullet(found));
}

bool drop_wide_members(FoundMemory& found, bool full) {
  const auto frame = [&] { return structured_size(found, full) - quoted_size(found.text); };
  if (frame() <= kWideMembersBytes) return false;
  found.metadata.clear();
  if (frame() > kWideMembersBytes) found.context.clear();
  if (frame() > kWideMembersBytes) found.entities.clear();
  if (frame() > kWideMembersBytes) found.tags.clear();
  if (frame() > kWideMembersBytes) found.source_fact_ids.clear();
  return true;
}

void shorten_found(FoundMemory& found, std::size_t room, bool full) {
  const std::string whole = std::move(found.text);
  std::size_t bytes = room / 2;
  do {
    found.text = std::string(utf8_prefix(whole, bytes));
    found.truncated = true;
    bytes -= bytes / 8 + 1;
  } while (found_size(found, full) > room && bytes > 1);
}

std::string search_notes_text(const std::vector<std::string>& banks,
                              const std::vector<service::ArmReport>& arms, const Notes& notes) {
  std::string out = "Banks:";
  for (const std::string& bank : banks) out += " " + escape_for_display(bank);
  out += "\nArms:";
  for (const service::ArmReport& arm : arms) {
    out += " " + arm.name + " " + arm.state;
    if (!arm.reason.empty()) out += " (" + escape_for_display(arm.reason) + ")";
    out += &arm == &arms.back() ? "" : ",";
  }
  for (const std::string& note : notes) out += "\n" + escape_for_display(note);
  return out;
}

}  // namespace strongroom::mcp
