// retain --file: text files as documents, each named by its path as it was given.
#include <unordered_set>

#include "base/utf8.h"
#include "cli/retain.h"
#include "cli/text_files.h"

namespace strongroom::cli {
namespace {

constexpr std::size_t kFilesACall = 64;
constexpr std::size_t kBytesACall = std::size_t{8} << 20;

// What a document's name must be, so that one bad name does not refuse a call of many files.
const char* name_problem(const std::string& path) {
  if (!valid_utf8(path)) return "has a name that is not UTF-8";
  if (path.size() > service::kMaxNameBytes) return "has a path above 256 bytes";
  return nullptr;
}

class FileStore {
 public:
  FileStore(ItemStore& items, service::RetainItem pattern)
      : items_(items), pattern_(std::move(pattern)) {}

  void add(const TextFile& file, const Unusable& unusable) {
    if (!seen_.insert(file.path).second) return;
    if (const char* const why = name_problem(file.path)) return unusable(file.path, why);
    std::string text = read_text_file(file, service::kMaxDocumentBytes, unusable);
    if (text.empty()) return;
    if (!call_.empty() && (call_.size() == kFilesACall || bytes_ + text.size() > kBytesACall)) {
      end_call();
    }
    bytes_ += text.size();
    service::RetainItem item = pattern_;
    item.document_id = file.path;
    item.content = std::move(text);
    call_.push_back({0, std::move(item)});
  }
  void end_call() {
    if (!call_.empty()) items_.store(std::move(call_));
    call_.clear();
    bytes_ = 0;
  }

 private:
  ItemStore& items_;
  service::RetainItem pattern_;
  std::vector<ItemStore::Named> call_;
  std::size_t bytes_ = 0;
  std::unordered_set<std::string> seen_;  // a file may be named and lie in a named folder
};

}  // namespace

int retain_files(Context& context, const RetainOptions& options) {
  std::vector<std::string> paths = options.files;
  paths.insert(paths.end(), options.arguments.begin(), options.arguments.end());
  service::MemoryService service(context.service_options(kPrincipal, "cli"));
  ItemStore items(context, service, options.source.value_or(std::string()), options.allow_secret);
  FileStore store(items, item_of(options));
  const Unusable unusable = [&](const std::string& path, const std::string& why) {
    items.skip(path, why, why != "is empty");
  };
  const std::vector<TextFile> files = find_text_files(paths, unusable);
  std::uint64_t total = 0, done = 0;
  for (const TextFile& file : files) total += file.bytes;
  {
    Progress progress("retain");
    for (const TextFile& file : files) {
      store.add(file, unusable);
      done += file.bytes;
      progress.update(done, total);
    }
    store.end_call();
  }
  service.close();
  if (!context.json()) context.out().line(items.summary());
  return items.exit_code();
}

}  // namespace strongroom::cli
