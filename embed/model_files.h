// The files of a model's folder, read once each and pinned by what they hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "embed/model_folder.h"

namespace strongroom::embed {

class ModelFiles {
 public:
  /// Any file of the folder. Throws Error not_found when there is no such folder.
  explicit ModelFiles(std::string path);
  /// Only these files, each as it was; all others are taken for missing.
  ModelFiles(std::string path, std::vector<PinnedFile> pinned);

  /// The whole file, or nullopt when it is missing. Links are followed: model caches are made of
  /// them. Throws Error naming the file: too_large above `limit` bytes, invalid when it is no plain
  /// file, not_found and conflict when it is pinned and gone or changed.
  std::optional<std::string> read(std::string_view name, std::size_t limit);

  /// What was read, in that order.
  const std::vector<PinnedFile>& files() const noexcept { return read_; }

 private:
  const PinnedFile* pin(std::string_view name) const;

  std::string path_;
  std::optional<std::vector<PinnedFile>> pinned_;
  std::vector<PinnedFile> read_;
};

}  // namespace strongroom::embed
