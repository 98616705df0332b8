#include "embed/model_files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

#include "base/file.h"
#include "crypto/sha256.h"
#include "embed/tensor.h"

namespace strongroom::embed {

namespace {

// A descriptor of a plain file, and its size; none when it does not exist.
std::optional<std::pair<UniqueFd, std::uint64_t>> open_plain(const std::string& path,
                                                             std::string_view name) {
  // O_NONBLOCK: a FIFO in the place of a file must not make anybody wait.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw_errno("open " + std::string(name), errno);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw_errno("read " + std::string(name), errno);
  if (!S_ISREG(status.st_mode)) refuse(Code::invalid, name, "is no plain file");
  return std::pair(std::move(fd), static_cast<std::uint64_t>(status.st_size));
}

}  // namespace

ModelFiles::ModelFiles(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw Error(Code::not_found, "The folder of the model does not exist.");
  }
}

ModelFiles::ModelFiles(std::string path, std::vector<PinnedFile> pinned)
    : path_(std::move(path)), pinned_(std::move(pinned)) {}

const PinnedFile* ModelFiles::pin(std::string_view name) const {
  const auto at = std::find_if(pinned_->begin(), pinned_->end(),
                               [&](const PinnedFile& file) { return file.name == name; });
  return at == pinned_->end() ? nullptr : &*at;
}

std::optional<std::string> ModelFiles::read(std::string_view name, std::size_t limit) {
  const PinnedFile* const pinned = pinned_ ? pin(name) : nullptr;
  if (pinned_ && pinned == nullptr) return std::nullopt;
  const auto file = open_plain(path_ + "/" + std::string(name), name);
  if (!file) {
    if (pinned == nullptr) return std::nullopt;
    refuse(Code::not_found, name, "is gone from the model's folder");
  }
  const std::uint64_t size = file->second;
  if (size > limit) throw Error::too_large(name, size, limit);
  std::string bytes(size, '\0');
  const bool whole = read_exactly(file->first.get(), bytes.data(), bytes.size(), 0);
  PinnedFile found{std::string(name), crypto::sha256_hex(bytes), size};
  if (!whole || (pinned != nullptr && found != *pinned)) {
    refuse(Code::conflict, name, "is not the file that it was when the model was added");
  }
  read_.push_back(std::move(found));
  return bytes;
}

}  // namespace strongroom::embed
