#include "cli/text_files.h"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace strongroom::cli {
namespace {

constexpr std::array<std::string_view, 6> kEndings = {".md",   ".txt", ".rst",
                                                      ".adoc", ".org", ".log"};
constexpr std::size_t kSniffed = 4096;

bool has_text(std::string_view bytes) {
  return bytes.find('\0') == bytes.npos && valid_utf8(bytes);
}

// "printf.3", "ls.1p", "x.man": pages of the manual. Other things end in a digit too ("libc.so.6"),
// so the beginning decides.
bool is_manual_page(const std::string& path, std::string_view ending) {
  const bool section =
      ending.size() >= 2 && ending.size() <= 5 && ending[1] >= '1' && ending[1] <= '9' &&
      std::all_of(ending.begin() + 2, ending.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!section && ending != ".man") return false;
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  const UniqueFd fd(::open(path.c_str(), kFlags));
  if (!fd) return false;
  std::array<char, kSniffed> start{};
  const ssize_t n = ::pread(fd.get(), start.data(), start.size(), 0);
  if (n <= 0) return false;
  const std::string_view bytes(start.data(), static_cast<std::size_t>(n));
  return has_text(bytes.substr(0, utf8_whole_length(bytes)));
}

bool is_text_by_name(const std::string& path, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  std::string ending = name.substr(dot);
  if (is_manual_page(path, ending)) return true;
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void walk(const std::string& folder, std::vector<TextFile>& files, const Unusable& unusable) {
  const auto names = names_in(folder);
  if (!names) return unusable(folder, "cannot be read");
  const std::string before = folder.back() == '/' ? folder : folder + "/";
  for (const std::string& name : *names) {
    const std::string path = before + name;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      walk(path, files, unusable);
    } else if (S_ISREG(info.st_mode) && is_text_by_name(path, name)) {
      files.push_back({path, static_cast<std::uint64_t>(info.st_size)});
    }
  }
}

}  // namespace

std::vector<TextFile> find_text_files(const std::vector<std::string>& paths,
                                      const Unusable& unusable) {
  std::vector<TextFile> files;
  for (const std::string& path : paths) {
    struct stat info {};
    if (path.empty() || ::stat(path.c_str(), &info) != 0) {
      unusable(path, "is not there or cannot be read");
    } else if (S_ISDIR(info.st_mode)) {
      walk(path, files, unusable);
    } else if (S_ISREG(info.st_mode)) {
      files.push_back({path, static_cast<std::uint64_t>(info.st_size)});
    } else {
      unusable(path, "is neither a file nor a folder");
    }
  }
  return files;
}

std::string read_text_file(const TextFile& file, std::size_t limit, const Unusable& unusable) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const auto refuse = [&](const char* why) {
    unusable(file.path, why);
    return std::string();
  };
  const UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return refuse("cannot be read");
  std::string text;
  try {
    text = read_all(fd.get(), limit, "file");
  } catch (const Error& error) {
    return refuse(error.code() == Code::too_large ? "is too large" : "cannot be read");
  }
  if (!has_text(text)) return refuse("is no UTF-8 text");
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  if (text.find_first_not_of(" \t\r\n\v\f") == text.npos) return refuse("is empty");
  return text;
}

}  // namespace strongroom::cli
