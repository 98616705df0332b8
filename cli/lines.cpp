#include "cli/lines.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strongroom::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kMaxLine = std::size_t{128} << 20;  // a document of escapes, and more
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string spool(int fd) {
  try {
    return read_all(fd, kMaxSpooledBytes, "standard input");
  } catch (const Error& error) {
    if (error.code() != Code::too_large) throw;
    throw Error(Code::too_large,
                "Standard input is above 64 MiB; write it into a file and name that instead.");
  }
}

// Splits what comes in blocks into lines; a line that a block's end cuts is kept for the next.
class Splitter {
 public:
  explicit Splitter(const std::function<void(const Line&, std::string_view)>& visit)
      : visit_(visit) {}

  void add(std::string_view block) {
    for (std::size_t end = block.find('\n'); end != block.npos; end = block.find('\n')) {
      const std::string_view part = block.substr(0, end);
      if (rest_.empty()) {
        line(part, part.size() + 1);
      } else {
        rest_.append(part);
        line(rest_, rest_.size() + 1);
        rest_.clear();
      }
      block.remove_prefix(end + 1);
    }
    rest_.append(block);
    if (rest_.size() > kMaxLine) {
      throw Error::too_large(line_name(number_ + 1), rest_.size(), kMaxLine);
    }
  }
  void end() {
    if (!rest_.empty()) line(rest_, rest_.size());
  }

 private:
  void line(std::string_view text, std::size_t taken) {
    std::uint64_t offset = offset_;
    offset_ += taken;
    if (++number_ == 1 && text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      text.remove_prefix(kByteOrderMark.size());
      offset += kByteOrderMark.size();
    }
    if (text.find_first_not_of(" \t\r") == text.npos) return;
    visit_({number_, offset, text.size()}, text);
  }

  const std::function<void(const Line&, std::string_view)>& visit_;
  std::string rest_;
  std::uint64_t number_ = 0, offset_ = 0;
};

}  // namespace

LineFile::LineFile(const std::string& path, std::string_view option) : option_(option) {
  if (path != "-") {
    fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd_) throw Error::invalid(option_, "names no file that can be read");
  }
  const int fd = fd_ ? fd_.get() : STDIN_FILENO;
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw Error::invalid(option_, "names no file that can be read");
  if (S_ISDIR(info.st_mode)) throw Error::invalid(option_, "names a folder, not a file");
  spooled_ = !fd_ || !S_ISREG(info.st_mode);
  if (spooled_) spool_ = spool(fd);
  bytes_ = spooled_ ? spool_.size() : static_cast<std::uint64_t>(info.st_size);
}

std::size_t LineFile::read(std::uint64_t offset, char* to, std::size_t size) const {
  for (;;) {
    const ssize_t n = ::pread(fd_.get(), to, size, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw_errno("read the file of " + option_, errno);
  }
}

void LineFile::each(const std::function<void(const Line&, std::string_view)>& visit) const {
  Splitter splitter(visit);
  if (spooled_) {
    splitter.add(spool_);
  } else {
    std::string block(kBlock, '\0');
    std::uint64_t at = 0;
    while (const std::size_t n = read(at, block.data(), block.size())) {
      splitter.add(std::string_view(block).substr(0, n));
      at += n;
    }
  }
  splitter.end();
}

std::string LineFile::text(const Line& line) const {
  if (spooled_) return spool_.substr(line.offset, line.size);
  std::string text(line.size, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const std::size_t n = read(line.offset + got, text.data() + got, text.size() - got);
    if (n == 0) {
      throw Error(Code::conflict, "The file of " + option_ + " changed while it was read.");
    }
    got += n;
  }
  return text;
}

std::string line_name(std::uint64_t number) {
  return "line " + std::to_string(number);
}

std::string for_item(const std::string& text, const std::function<std::string(std::size_t)>& name) {
  constexpr std::string_view kItems = "items[";
  const std::size_t at = text.find(kItems);
  if (at == text.npos) return text;
  std::size_t index = 0;
  const auto [end, problem] =
      std::from_chars(text.data() + at + kItems.size(), text.data() + text.size(), index);
  if (problem != std::errc() || *end != ']') return text;
  std::string rest(end + 1, text.data() + text.size());
  const std::string item = name(index);
  if (item.empty() && !rest.empty() && rest.front() == '.') rest.erase(0, 1);
  return text.substr(0, at) + item + rest;
}

}  // namespace strongroom::cli
