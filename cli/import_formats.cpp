#include "cli/import_formats.h"

#include "base/error.h"

namespace strongroom::cli {
namespace {

constexpr std::uint64_t kMaxWhole = std::uint64_t{256} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

void refuse_binary(std::string_view first, const std::string& how) {
  const auto starts = [&](std::string_view magic) {
    return first.substr(0, magic.size()) == magic;
  };
  const char* what = nullptr;
  if (starts("SQLite format 3")) {
    what = "is a database, not an export of it";
  } else if (starts("NUCV")) {
    what = "is an encrypted vault, which only Compartment can read";
  } else if (starts("PK\x03\x04")) {
    what = "is a ZIP archive";
  } else if (first.find('\0') != first.npos) {
    what = "is a database or another binary file, not an export";
  }
  if (what != nullptr) throw Error::invalid("PATH", std::string(what) + "; " + how);
}

std::string whole_json(const LineFile& file, const std::string& expected) {
  if (file.bytes() > kMaxWhole) throw Error::too_large("PATH", file.bytes(), kMaxWhole);
  std::string text = file.text({1, 0, file.bytes()});
  refuse_binary(std::string_view(text).substr(0, 4096), expected);
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  return text;
}

}  // namespace strongroom::cli
