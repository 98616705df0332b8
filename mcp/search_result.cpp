#include "mcp/search_result.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "base/utf8.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

namespace {

using service::FoundMemory;
using service::SearchResult;

constexpr std::size_t kFrameBytes = 4'000;        // headings, arms, notes
constexpr std::size_t kWideMembersBytes = 4'000;  // of one result, beside its text
constexpr std::size_t kLeastChunkBytes = 200;     // a shorter piece of one says nothing

std::string bullet(const FoundMemory& found) {
  std::string mark;
  if (!found.superseded_by.empty()) {
    mark = "superseded by " + found.superseded_by;
  } else if (!found.valid) {
    mark = "no longer valid";
  }
  return memory_bullet(found.text, service::memory_type_name(found.type), found.mentioned_at,
                       found.id, mark);
}

std::size_t structured_size(const FoundMemory& found, bool full) {
  JsonWriter writer;
  service::write_found_memory(writer, found, full);
  return writer.text().size() + 1;
}

std::size_t size_of(const FoundMemory& found, bool full) {
  return structured_size(found, full) + quoted_size(bullet(found));
}

// A result whose labels alone would fill the answer is shown without them.
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

// Shortens the only text there is to what the answer holds.
void shorten_text(FoundMemory& found, std::size_t room, bool full) {
  const std::string whole = std::move(found.text);
  std::size_t bytes = room / 2;
  do {
    found.text = std::string(utf8_prefix(whole, bytes));
    found.truncated = true;
    bytes -= bytes / 8 + 1;
  } while (size_of(found, full) > room && bytes > 1);
}

// Both forms of an answer and how much room is left in it.
class Answer {
 public:
  Answer(SearchResult result, bool full) : result_(std::move(result)), full_(full) {
    fit_results();
    fit_entities();
    fit_chunks();
    fit_trace();
    add_notes();
  }

  ToolResult take() {
    ToolResult out;
    out.content = {text(), second_block()};
    out.structured = structured();
    return out;
  }

 private:
  void fit_results() {
    std::vector<std::size_t> sizes;
    std::size_t bared = 0;
    for (FoundMemory& found : result_.results) {
      if (drop_wide_members(found, full_)) ++bared;
      if (sizes.empty() && size_of(found, full_) > room_) shorten_text(found, room_, full_);
      sizes.push_back(size_of(found, full_));
    }
    const std::size_t fits = count_that_fits(sizes, room_);
    cut_ = result_.results.size() - fits;
    result_.results.resize(fits);
    if (cut_ > 0) count_tokens_again();
    if (bared > 0) {
      notes_.push_back("Labels of " + std::to_string(bared) +
                       " results were too long to be shown here.");
    }
  }

  void count_tokens_again() {
    result_.tokens = 0;
    for (const FoundMemory& found : result_.results) {
      result_.tokens += service::count_tokens(found.text);
    }
  }

  void fit_entities() {
    std::vector<std::size_t> sizes;
    for (const service::FoundEntity& entity : result_.entities) {
      std::size_t size =
          2 * quoted_size(entity.canonical_name) + quoted_size(entity.entity_id) + 64;
      for (const std::string& one : entity.observations) size += quoted_size(one) + 1;
      sizes.push_back(size);
    }
    result_.entities.resize(count_that_fits(sizes, room_));
  }

  void fit_chunks() {
    std::vector<service::FoundChunk>& chunks = result_.chunks;
    const std::size_t all = chunks.size();
    std::size_t kept = 0;
    for (service::FoundChunk& chunk : chunks) {
      const std::size_t frame = 2 * quoted_size(chunk.id) + 80;
      if (frame + kLeastChunkBytes > room_) break;
      const std::string_view fits = quoted_prefix(chunk.text, room_ - frame);
      if (fits.size() < chunk.text.size()) {
        chunk.text = std::string(fits);
        chunk.truncated = true;
      }
      room_ -= frame + quoted_size(chunk.text);
      ++kept;
    }
    chunks.resize(kept);
    if (all == 0) return;
    notes_.push_back(
        std::to_string(kept) + " chunks are in the structured form" +
        (kept < all ? ", " + std::to_string(all - kept) + " more were cut by size" : "") +
        "; memory_get with document_id reads a whole document.");
  }

  // A trace changes no result: it takes what room they leave.
  void fit_trace() {
    if (!result_.trace) return;
    service::SearchTrace& trace = *result_.trace;
    bool shortened = false;
    for (std::size_t most = 1'024; trace_size() > room_; most /= 2) {
      if (most == 0) {
        result_.trace.reset();
        break;
      }
      shortened = true;
      for (auto* hits : {&trace.keyword, &trace.graph, &trace.final}) {
        hits->resize(std::min(hits->size(), most));
      }
      trace.terms.resize(std::min(trace.terms.size(), most));
    }
    if (shortened) notes_.emplace_back("The trace was cut by size.");
  }

  std::size_t trace_size() const {
    SearchResult bare;
    bare.trace = result_.trace;
    bare.results = result_.results;
    JsonWriter writer;
    writer.begin_object();
    service::write_search_members(writer, bare, full_);
    writer.end_object();
    return writer.text().size();
  }

  void add_notes() {
    if (result_.abstained) {
      JsonWriter best;
      service::write_score(best, result_.best_score);
      notes_.push_back("Nothing was good enough: the best score was " + best.text() +
                       ". A lower min_score shows what there is.");
    }
    if (result_.cut_results > 0) {
      notes_.push_back("Cut by max_tokens: " + std::to_string(result_.cut_results) +
                       " more results.");
    }
    if (cut_ > 0) notes_.push_back("Cut by size: " + std::to_string(cut_) + " more results.");
    append_notes(notes_, result_.notes);
    notes_.emplace_back(kDataNote);
  }

  std::string text() const {
    const std::size_t count = result_.results.size();
    if (count == 0) return "No relevant memories found.";
    const std::string time = format_time(result_.as_of);  // 2026-11-21T21:40:05.123Z
    std::string out = "Found " + std::to_string(count) + " relevant " +
                      (count == 1 ? "memory" : "memories") + " (as of " + time.substr(0, 10) + " " +
                      time.substr(11, 5) + " UTC):\n\n";
    for (const FoundMemory& found : result_.results) out += bullet(found);
    out.pop_back();
    return out;
  }

  std::string second_block() const {
    std::string out = "Banks:";
    for (const std::string& bank : result_.banks) out += " " + escape_for_display(bank);
    out += "\nArms:";
    for (const service::ArmReport& arm : result_.arms) {
      out += " " + arm.name + " " + arm.state;
      if (!arm.reason.empty()) out += " (" + escape_for_display(arm.reason) + ")";
      out += &arm == &result_.arms.back() ? "" : ",";
    }
    for (const std::string& note : notes_) out += "\n" + escape_for_display(note);
    return out;
  }

  std::string structured() const {
    JsonWriter writer;
    writer.begin_object().key("results").begin_array();
    for (const FoundMemory& found : result_.results) {
      service::write_found_memory(writer, found, full_);
    }
    writer.end_array();
    service::write_search_members(writer, result_, full_, cut_);
    write_notes(writer, notes_);
    writer.end_object();
    return writer.take();
  }

  SearchResult result_;
  bool full_;
  std::size_t room_ = kMaxResultBytes - kFrameBytes;
  std::size_t cut_ = 0;
  Notes notes_;
};

}  // namespace

ToolResult searched(SearchResult result, bool full) {
  return Answer(std::move(result), full).take();
}

}  // namespace strongroom::mcp
