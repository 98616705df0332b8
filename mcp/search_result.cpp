#include "mcp/search_result.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "mcp/found_memory.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

namespace {

using service::FoundMemory;
using service::SearchResult;

constexpr std::size_t kFrameBytes = 4'000;     // headings, arms, notes
constexpr std::size_t kLeastChunkBytes = 200;  // a shorter piece of one says nothing

// Both forms of an answer and how much room is left in it.
class Answer {
 public:
  Answer(SearchResult result, bool full) : result_(std::move(result)), full_(full) {
    fit_results();
    fit_entities();
    fit_source_facts();
    fit_chunks();
    fit_trace();
    add_notes();
  }

  ToolResult take() {
    ToolResult out;
    out.content = {text(), search_notes_text(result_.banks, result_.arms, notes_)};
    out.structured = structured();
    return out;
  }

 private:
  void fit_results() {
    std::vector<std::size_t> sizes;
    std::size_t bared = 0;
    for (FoundMemory& found : result_.results) {
      if (drop_wide_members(found, full_)) ++bared;
      if (sizes.empty() && found_size(found, full_) > room_) shorten_found(found, room_, full_);
      sizes.push_back(found_size(found, full_));
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

  void fit_source_facts() {
    std::vector<std::size_t> sizes;
    for (const service::FoundSource& source : result_.source_facts) {
      std::size_t size = quoted_size(source.text) + 2 * quoted_size(source.id) + 160;
      for (const std::string& quote : source.quotes) size += quoted_size(quote) + 1;
      sizes.push_back(size);
    }
    const std::size_t all = sizes.size(), kept = count_that_fits(sizes, room_);
    result_.source_facts.resize(kept);
    if (all == 0) return;
    notes_.push_back(std::to_string(kept) + " source facts are in the structured form" +
                     (kept < all ? ", " + std::to_string(all - kept) + " more were cut by size"
                                 : std::string()) +
                     "; memory_get reads a source whole.");
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
    for (const FoundMemory& found : result_.results) out += found_bullet(found);
    out.pop_back();
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
