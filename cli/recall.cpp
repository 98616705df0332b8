// recall: search memories by a question; many questions in one process.
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/found.h"
#include "cli/lines.h"
#include "cli/recall_options.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::FoundMemory;
using service::MemoryService;
using service::SearchOptions;
using service::SearchResult;

void write_members(JsonWriter& writer, const SearchResult& result, const SearchOptions& options) {
  const bool full = options.full.value_or(true);
  writer.key("results").begin_array();
  for (const FoundMemory& found : result.results) {
    service::write_found_memory(writer, found, full);
  }
  writer.end_array();
  service::write_search_members(writer, result, full);
  write_strings(writer, "notes", result.notes);
}

// ---- for people

// A line a result for programs that read lines; the text last, since it is the longest.
void write_row(Output& out, const FoundMemory& found) {
  out.line(two_decimals(found.score) + "\t" + found.band + "\t" +
           std::string(service::memory_type_name(found.type)) + "\t" + day(found.mentioned_at) +
           "\t" + escape_for_display(found.id) + "\t" + escape_for_display(found.text));
}

void show_chunks(Output& out, const SearchResult& result) {
  for (const service::FoundChunk& chunk : result.chunks) {
    out.line("");
    out.line(out.paint(Colour::bold, "Passage " + escape_for_display(chunk.id) +
                                         (chunk.truncated ? " (cut)" : "")));
    out.line(display_lines(chunk.text));
  }
}

void show_trace(Output& out, const SearchResult& result) {
  if (!result.trace) return;
  out.line("");
  for (const service::SearchTraceTerm& term : result.trace->terms) {
    std::string line = "term " + escape_for_display(json_quoted(term.term)) + ": in " +
                       counted(term.memories, "memory", "memories") + ", weight " +
                       two_decimals(term.weight);
    if (!term.corrected_to.empty()) {
      line += ", read as " + escape_for_display(joined(term.corrected_to));
    }
    out.line(line);
  }
  for (const service::ArmReport& arm : result.arms) {
    out.line("arm " + arm.name + ": " + arm.state + ", " +
             counted(arm.candidates, "candidate", "candidates") +
             (arm.reason.empty() ? std::string() : ", " + escape_for_display(arm.reason)));
  }
  for (const auto& [step, time] : result.trace->timings_us) {
    out.line("time " + step + ": " + std::to_string(time) + " us");
  }
}

void show_result(Context& context, const SearchResult& result) {
  Output& out = context.out();
  for (const FoundMemory& found : result.results) {
    if (out.terminal()) {
      show_found(out, found);
    } else {
      write_row(out, found);
    }
  }
  show_chunks(out, result);
  show_trace(out, result);
  std::vector<std::string> notes = result.notes;
  if (result.results.empty()) {
    std::string none = "No relevant memories found";
    if (result.abstained) none += "; the best score is " + two_decimals(result.best_score);
    notes.insert(notes.begin(), none + ".");
  }
  if (result.cut_results > 0) {
    notes.push_back(counted(result.cut_results, "more result does", "more results do") +
                    " not fit into --max-tokens.");
  }
  out.flush();
  context.notes(notes);
}

int recall_one(Context& context, const RecallOptions& options) {
  SearchOptions search = search_of(search_members(options), *options.query);
  search.request.bank = context.bank();
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const SearchResult result = service.search(search.request);
  service.close();
  if (!context.json()) {
    show_result(context, result);
    return 0;
  }
  JsonWriter writer;
  writer.begin_object();
  write_members(writer, result, search);
  context.out().line(writer.end_object().text());
  return 0;
}

// ---- batch

struct Question {
  std::string qid;  // as JSON
  SearchOptions search;
};

std::string qid_of(const Json& line, const std::string& field) {
  const Json* const qid = line.find("qid");
  if (qid == nullptr) throw Error::invalid(field + ".qid", "is required");
  if (!qid->is_string() && !qid->is_number()) {
    throw Error::invalid(field + ".qid", "must be a string or a number");
  }
  return std::string(qid->raw());
}

// Every line, before any is run.
std::vector<Question> read_batch(const Context& context, const RecallOptions& options) {
  const SearchMembers defaults = search_members(options);
  std::vector<Question> questions;
  LineFile(*options.batch, "--batch").each([&](const Line& line, std::string_view text) {
    const std::string field = line_name(line.number);
    const Json object = Json::parse(text, field);
    if (!object.is_object()) throw Error::invalid(field, "must be a JSON object");
    Question question{qid_of(object, field), search_of(defaults, object, field)};
    service::SearchRequest& request = question.search.request;
    if (request.bank.empty() && request.scope.empty()) request.bank = context.bank();
    questions.push_back(std::move(question));
  });
  return questions;
}

// One question's error is its answer; the vault's ends the run.
bool of_one_question(Code code) {
  return code == Code::invalid || code == Code::too_large || code == Code::not_found ||
         code == Code::denied;
}

int answer(Context& context, MemoryService& service, const Question& question) {
  using Clock = std::chrono::steady_clock;
  JsonWriter writer;
  writer.begin_object().key("qid").raw(question.qid);
  int code = 0;
  const Clock::time_point begin = Clock::now();
  try {
    const SearchResult result = service.search(question.search.request);
    const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;
    std::array<char, 32> ms{};
    const int length = std::snprintf(ms.data(), ms.size(), "%.3f", spent.count());
    writer.key("ms").raw(std::string_view(ms.data(), static_cast<std::size_t>(length)));
    write_members(writer, result, question.search);
  } catch (const Error& error) {
    if (!of_one_question(error.code())) throw;
    writer.key("error").begin_object().member("code", code_name(error.code()));
    writer.member("text", error.text()).end_object();
    code = exit_code(error.code());
  }
  context.out().line(writer.end_object().text());
  context.out().flush();
  return code;
}

int recall_batch(Context& context, const RecallOptions& options) {
  const std::vector<Question> questions = read_batch(context, options);
  MemoryService service(context.service_options(kPrincipal, "cli"));
  int code = 0;
  {
    Progress progress("recall");
    std::uint64_t done = 0;
    for (const Question& question : questions) {
      const int outcome = answer(context, service, question);
      if (code == 0) code = outcome;
      progress.update(++done, questions.size());
    }
  }
  service.close();
  return code;
}

int recall(Context& context, const RecallOptions& options) {
  if (options.batch) {
    if (options.query) throw Error::invalid("--batch", "stands without QUERY");
    return recall_batch(context, options);
  }
  if (!options.query) throw Error::invalid("QUERY", "is required");
  return recall_one(context, options);
}

}  // namespace

void add_recall_command(Command& root) {
  const auto options = std::make_shared<RecallOptions>();
  Command command = root.command("recall", "Search memories by a question",
                                 [options](Context& context) { return recall(context, *options); });
  describe(command, *options);
}

}  // namespace strongroom::cli
