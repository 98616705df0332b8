// retain --jsonl: every line is checked before any is stored.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/json.h"
#include "cli/lines.h"
#include "cli/retain.h"
#include "cli/words.h"
#include "service/memory_json.h"

namespace strongroom::cli {
namespace {

using service::RetainItem;

constexpr std::size_t kMaxDocumentItems = 10'000;
constexpr std::uint64_t kBytesACall = std::uint64_t{32} << 20;
constexpr std::uint64_t kMaxReplacementBytes = std::uint64_t{64} << 20;  // what a call may hold

// What the service would refuse a call for must be known before the first call.
void check_limits(const RetainItem& item, const std::string& field) {
  const auto check = [&](const char* member, std::string_view text, std::size_t limit) {
    if (text.size() > limit) throw Error::too_large(field + "." + member, text.size(), limit);
  };
  if (item.content.find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
    throw Error::invalid(field + ".content", "must not be empty");
  }
  check("content", item.content,
        item.document_id.empty() ? service::kMaxContentBytes : service::kMaxDocumentBytes);
  check("context", item.context, service::kMaxContextBytes);
  check("speaker", item.speaker, service::kMaxNameBytes);
  check("document_id", item.document_id, service::kMaxNameBytes);
  for (const auto& [key, value] : item.metadata) {
    if (key.empty()) throw Error::invalid(field + ".metadata", "has an empty name");
    check("metadata", key, service::kMaxNameBytes);
    check("metadata", value, service::kMaxMetadataBytes);
  }
  if (item.occurred_start && item.occurred_end && *item.occurred_start > *item.occurred_end) {
    throw Error::invalid(field + ".occurred_end", "is before occurred_start");
  }
  if (item.document_id.empty() && item.append) {
    throw Error::invalid(field + ".update_mode", "needs a document_id");
  }
  if (item.document_id.empty() && item.position) {
    throw Error::invalid(field + ".position", "needs a document_id");
  }
}

RetainItem read_item(std::string_view text, std::uint64_t number) {
  const std::string field = line_name(number);
  const Json object = Json::parse(text, field);
  if (!object.is_object()) throw Error::invalid(field, "must be a JSON object");
  RetainItem item = service::parse_retain_item(object, field);
  check_limits(item, field);
  return item;
}

// Which lines go into one call. Items that together replace a document are never parted, and what
// adds to a document never shares a call with what replaces it.
class Plan {
 public:
  void add(const Line& line, const RetainItem& item) {
    Planned planned{line, kNone, item.append};
    if (!item.document_id.empty()) {
      const auto [at, fresh] = numbers_.emplace(item.document_id, numbers_.size());
      planned.document = at->second;
      if (fresh) replacements_.emplace_back();
      if (!item.append) replace(replacements_[at->second], line, item);
    }
    lines_.push_back(planned);
  }
  std::size_t size() const noexcept { return lines_.size(); }
  /// Calls `run` with the lines of each call, in their order.
  template <class Run>
  void for_each_call(const Run& run) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Planned {
    Line line;
    std::size_t document;
    bool append;
  };
  struct Replacement {
    std::vector<std::size_t> lines;
    std::uint64_t bytes = 0;
  };
  void replace(Replacement& replacement, const Line& line, const RetainItem& item) {
    replacement.lines.push_back(lines_.size());
    replacement.bytes += item.content.size();
    const std::string field = line_name(line.number) + ".document_id";
    if (replacement.lines.size() > kMaxDocumentItems) {
      throw Error::invalid(field,
                           "is replaced by more than 10000 items; the rest of a document is added "
                           "with update_mode \"append\"");
    }
    if (replacement.bytes > kMaxReplacementBytes) {
      throw Error::too_large(field, replacement.bytes, kMaxReplacementBytes);
    }
  }

  std::vector<Planned> lines_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<Replacement> replacements_;  // a document each
};

template <class Run>
void Plan::for_each_call(const Run& run) const {
  std::vector<Line> call;
  std::uint64_t bytes = 0;
  std::unordered_set<std::size_t> replaced, appended;  // documents of this call
  const auto end_call = [&] {
    if (!call.empty()) run(call);
    call.clear();
    replaced.clear();
    appended.clear();
    bytes = 0;
  };
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Planned& planned = lines_[i];
    std::vector<std::size_t> group{i};
    const bool document = planned.document != kNone;
    if (document && !planned.append) {
      group = replacements_[planned.document].lines;
      if (group.front() != i) continue;  // went with the first of them
    }
    std::uint64_t more = 0;
    for (const std::size_t member : group) more += lines_[member].line.size;
    const auto& others = planned.append ? replaced : appended;
    if (call.size() + group.size() > ItemStore::kItemsACall || bytes + more > kBytesACall ||
        (document && others.count(planned.document) != 0)) {
      end_call();
    }
    for (const std::size_t member : group) call.push_back(lines_[member].line);
    bytes += more;
    if (document) (planned.append ? appended : replaced).insert(planned.document);
  }
  end_call();
}

void store(Context& context, const LineFile& file, const Plan& plan, ItemStore& store) {
  Progress progress("retain");
  std::uint64_t done = 0;
  plan.for_each_call([&](const std::vector<Line>& lines) {
    std::vector<ItemStore::Named> items;
    items.reserve(lines.size());
    for (const Line& line : lines) {
      items.push_back({line.number, read_item(file.text(line), line.number)});
    }
    store.store(std::move(items));
    done += lines.size();
    progress.update(done, plan.size());
    if (!context.json() && !progress.terminal() && plan.size() > lines.size()) {
      context.out().line("committed " + std::to_string(store.committed()));
      context.out().flush();
    }
  });
}

void show_dry_run(Context& context, const Plan& plan) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("dry_run", true).member("items", std::uint64_t{plan.size()});
    context.out().line(writer.end_object().text());
  } else {
    context.out().line(counted(plan.size(), "item", "items") +
                       " would be offered; nothing was "
                       "stored.");
  }
}

}  // namespace

int retain_lines(Context& context, const std::string& path, std::string_view option,
                 const std::string& source_kind, const std::string& source, bool allow_secret,
                 bool dry_run) {
  if (path == "-" && context.globals().passphrase_fd == std::uint64_t{0}) {
    throw Error::invalid("--passphrase-fd", "is standard input, which the items come from");
  }
  const LineFile file(path, option);
  Plan plan;
  {
    Progress progress("check");
    file.each([&](const Line& line, std::string_view text) {
      plan.add(line, read_item(text, line.number));
      progress.update(line.offset, file.bytes());
    });
  }
  if (dry_run) {
    show_dry_run(context, plan);
    return 0;
  }
  service::MemoryService service(context.service_options(kPrincipal, source_kind));
  ItemStore items(context, service, source, allow_secret);
  store(context, file, plan, items);
  service.close();
  if (!context.json()) context.out().line(items.summary());
  return items.exit_code();
}

}  // namespace strongroom::cli
