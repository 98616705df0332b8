// What the forms of `retain` and `import` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/app.h"
#include "service/memory_service.h"

namespace strongroom::cli {

struct RetainOptions {
  std::vector<std::string> arguments;  // the text, or more files
  std::vector<std::string> files, tags, entities, metadata;
  std::optional<std::string> jsonl, context, type, timestamp, document_id, speaker, occurred_start,
      occurred_end, expires_at, source, operation_id;
  std::optional<double> importance;
  std::optional<std::uint64_t> position;
  bool append = false, allow_secret = false;
};

/// An item without its content. Throws invalid.
service::RetainItem item_of(const RetainOptions& options);

/// A text of the command line, "-" for standard input: hidden from other programs, without the line
/// end that a shell's echo adds. Throws invalid, too_large.
std::string given_text(Context& context, const std::optional<std::string>& given,
                       std::string_view field, std::size_t limit);

/// Items on their way into the vault, with what came of them: a line of JSON each, or the rejected
/// ones on standard error and a summary at the end.
class ItemStore {
 public:
  static constexpr std::size_t kItemsACall = 1000;
  struct Named {
    std::uint64_t line = 0;  // 0: the item is known by its place, else by its document
    service::RetainItem item;
    std::string place = {};  // where another store's export has it
  };

  ItemStore(Context& context, service::MemoryService& service, std::string source,
            bool allow_secret)
      : context_(context),
        service_(service),
        source_(std::move(source)),
        allow_secret_(allow_secret) {}

  /// One call, one transaction. Throws what the service does, naming the line.
  std::vector<service::RetainedItem> store(std::vector<Named> items);
  /// Says that an item, which was not offered to the service, is the memory `id`.
  void known(const Named& named, const std::string& id);
  /// Says what became of something that was never offered to the service. `problem`: the run then
  /// ends with exit code 2.
  void skip(const std::string& name, const std::string& reason, bool problem = true);
  struct Tally {
    std::uint64_t stored = 0, duplicates = 0, rejected = 0, quarantined = 0, skipped = 0,
                  memories = 0;
  };
  const Tally& tally() const noexcept { return tally_; }
  /// "12 stored, 3 duplicates, 1 rejected".
  std::string summary() const;
  std::uint64_t committed() const noexcept { return tally_.stored + tally_.duplicates; }
  /// 2 after a skipped problem, the first rejection's when nothing was stored or known, else 0.
  int exit_code() const noexcept;

 private:
  void report(const Named& named, const service::RetainedItem& result);

  Context& context_;
  service::MemoryService& service_;
  std::string source_;
  bool allow_secret_;
  Tally tally_;
  bool problem_ = false, warned_ = false;
  std::optional<Code> refused_;  // of the first rejection
};

/// Item objects, a line each: checks all of them, then stores them.
int retain_lines(Context& context, const std::string& path, std::string_view option,
                 const std::string& source_kind, const std::string& source, bool allow_secret,
                 bool dry_run);

/// Files and folders as documents.
int retain_files(Context& context, const RetainOptions& options);

}  // namespace strongroom::cli
