#include "service/git_objects.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "service/git_repository.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kMaxCommits = 200'000;
constexpr std::size_t kPrefix = 256;           // a commit's tree and first parent, loose header too
constexpr std::size_t kMaxObject = 1 << 20;    // of a delta and of what it is applied to
constexpr std::size_t kMaxChain = 64;          // git writes at most 50
constexpr std::size_t kMaxDeltas = 4 << 20;    // bytes of one chain
constexpr std::uint64_t kMaxWork = 512 << 20;  // bytes produced for the whole walk
constexpr std::size_t kMaxPacks = 1000;
constexpr std::size_t kMaxStores = 16;  // objects folders: the repository's and its alternates
constexpr std::size_t kMaxShallow = 8 << 20;

/// Reading went beyond what is sane, or the bytes are not what they should be.
struct Unreadable {};

std::uint32_t big_endian(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

UniqueFd open_regular(const std::string& path, std::uint64_t& size) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return UniqueFd();
  size = static_cast<std::uint64_t>(info.st_size);
  return fd;
}

/// zlib's state, made once: setting it up costs more than inflating a commit.
class Inflater {
 public:
  Inflater() {
    if (inflateInit(&stream_) != Z_OK) throw Unreadable{};
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Inflates `fd` from `offset` until `want` bytes are there or the stream ends.
  std::string read(int fd, std::uint64_t offset, std::size_t want) {
    inflateReset(&stream_);
    std::string out(want, '\0');
    std::array<unsigned char, 512> chunk;  // most commits are smaller
    stream_.avail_in = 0;
    stream_.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream_.avail_out = static_cast<uInt>(want);
    for (int state = Z_OK; state != Z_STREAM_END && stream_.avail_out > 0;) {
      if (stream_.avail_in == 0) {
        const ssize_t n = ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(offset));
        if (n <= 0) throw Unreadable{};
        offset += static_cast<std::uint64_t>(n);
        stream_.next_in = chunk.data();
        stream_.avail_in = static_cast<uInt>(n);
      }
      state = inflate(&stream_, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END) throw Unreadable{};
    }
    out.resize(want - stream_.avail_out);
    return out;
  }

 private:
  z_stream stream_{};
};

/// One pack; its files are open only while it is searched or was the last to answer.
class Pack {
 public:
  struct Entry {
    int type = 0;
    std::uint64_t size = 0;         // of the inflated bytes
    std::uint64_t data = 0;         // where they begin
    std::uint64_t base_offset = 0;  // of an offset delta
    std::string base_id;            // of a reference delta
  };

  Pack(std::string stem, std::size_t id_bytes) : stem_(std::move(stem)), id_bytes_(id_bytes) {}

  /// Where the object lies in the pack file.
  std::optional<std::uint64_t> find(std::string_view id) {
    if (!open()) return std::nullopt;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(id[i]); };
    std::uint32_t low = byte(0) == 0 ? 0 : fanout_[byte(0) - 1u];
    std::uint32_t high = fanout_[byte(0)];
    // Ids are evenly spread, so the next bytes tell nearly where one lies: most searches are one
    // read. A guess that misses is followed by halving.
    std::uint64_t guess = std::uint64_t{byte(1)} << 16 | std::uint64_t{byte(2)} << 8 | byte(3);
    for (std::uint64_t scale = 1 << 24; low < high; guess = 1, scale = 2) {
      const std::uint32_t rows = std::min(high - low, kRows);
      const auto middle = static_cast<std::uint32_t>((high - low) * guess / scale);
      const std::uint32_t from =
          low + std::min(middle - std::min(middle, rows / 2), high - low - rows);
      read(index_, names_.data(), rows * id_bytes_, kNames + std::uint64_t{from} * id_bytes_);
      const auto name = [&](std::size_t row) {
        return std::string_view(&names_[row * id_bytes_], id_bytes_);
      };
      if (id < name(0)) {
        high = from;
      } else if (id > name(rows - 1)) {
        low = from + rows;
      } else {
        std::uint32_t row = 0;
        while (row < rows && name(row) < id) ++row;
        if (row == rows || name(row) != id) return std::nullopt;
        return offset_of(from + row);
      }
    }
    return std::nullopt;
  }

  Entry entry(std::uint64_t offset) {
    std::array<unsigned char, 64> head{};
    if (offset < 12 || offset >= data_size_) throw Unreadable{};
    const ssize_t got = ::pread(data_.get(), head.data(), head.size(), static_cast<off_t>(offset));
    if (got < 1) throw Unreadable{};
    Entry found;
    std::size_t at = 0;
    found.type = head[0] >> 4 & 7;
    found.size = head[0] & 15u;
    for (unsigned shift = 4; (head[at++] & 0x80u) != 0; shift += 7) {
      if (shift > 32) throw Unreadable{};
      found.size |= std::uint64_t{head[at] & 0x7fu} << shift;
    }
    if (found.type == kOffsetDelta) {
      std::uint64_t back = head[at] & 0x7fu;
      while ((head[at++] & 0x80u) != 0) {
        if (at > 16) throw Unreadable{};
        back = (back + 1) << 7 | (head[at] & 0x7fu);
      }
      if (back == 0 || back >= offset) throw Unreadable{};
      found.base_offset = offset - back;
    } else if (found.type == kReferenceDelta) {
      found.base_id.assign(reinterpret_cast<const char*>(&head[at]), id_bytes_);
      at += id_bytes_;
    }
    if (at >= static_cast<std::size_t>(got)) throw Unreadable{};
    found.data = offset + at;
    return found;
  }

  int data() const { return data_.get(); }

  void close() {
    index_.reset();
    data_.reset();
  }

  static constexpr int kCommit = 1;
  static constexpr int kOffsetDelta = 6;
  static constexpr int kReferenceDelta = 7;

 private:
  static constexpr std::uint64_t kNames = 8 + 1024;
  static constexpr std::uint32_t kRows = 64;  // names read at once

  static void read(const UniqueFd& fd, void* out, std::size_t size, std::uint64_t offset) {
    if (::pread(fd.get(), out, size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) {
      throw Unreadable{};
    }
  }

  bool open() {
    if (index_) return true;
    if (bad_) return false;
    bad_ = true;  // until everything was seen to fit
    index_ = open_regular(stem_ + ".idx", index_size_);
    data_ = open_regular(stem_ + ".pack", data_size_);
    std::array<unsigned char, kNames> head;
    if (!index_ || !data_ || index_size_ < kNames) return close(), false;
    read(index_, head.data(), head.size(), 0);
    if (std::memcmp(head.data(), "\377tOc\0\0\0\2", 8) != 0) return close(), false;
    for (std::size_t i = 0; i < fanout_.size(); ++i) {
      fanout_[i] = big_endian(&head[8 + 4 * i]);
      if (i > 0 && fanout_[i] < fanout_[i - 1]) return close(), false;
    }
    const std::uint64_t rows = std::uint64_t{fanout_[255]} * (id_bytes_ + 8) + 2 * id_bytes_;
    if (index_size_ - kNames < rows) return close(), false;
    bad_ = false;
    return true;
  }

  std::uint64_t offset_of(std::uint32_t row) const {
    const std::uint64_t rows = fanout_[255];
    const std::uint64_t small = kNames + rows * (id_bytes_ + 4);
    std::array<unsigned char, 8> bytes;
    read(index_, bytes.data(), 4, small + std::uint64_t{row} * 4);
    const std::uint32_t offset = big_endian(bytes.data());
    if ((offset & 0x80000000u) == 0) return offset;
    read(index_, bytes.data(), 8, small + rows * 4 + std::uint64_t{offset & 0x7fffffffu} * 8);
    const std::uint64_t high = big_endian(bytes.data());
    return high << 32 | big_endian(&bytes[4]);
  }

  std::string stem_;
  std::size_t id_bytes_;
  UniqueFd index_, data_;
  std::uint64_t index_size_ = 0, data_size_ = 0;
  std::array<std::uint32_t, 256> fanout_{};
  std::array<char, kRows * 32> names_{};
  bool bad_ = false;
};

std::uint64_t delta_size(std::string_view delta, std::size_t& at) {
  std::uint64_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at >= delta.size() || shift > 28) throw Unreadable{};
    const auto byte = static_cast<unsigned char>(delta[at++]);
    size |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80u) == 0) return size;
  }
}

/// gitformat-pack(5), "Deltified representation".
std::string apply_delta(std::string_view base, std::string_view delta) {
  std::size_t at = 0;
  if (delta_size(delta, at) != base.size()) throw Unreadable{};
  const std::uint64_t size = delta_size(delta, at);
  if (size > kMaxObject) throw Unreadable{};
  std::string out;
  while (at < delta.size()) {
    const auto code = static_cast<unsigned char>(delta[at++]);
    std::string_view from = delta;
    std::size_t offset = at;
    std::size_t length = code;
    if ((code & 0x80u) != 0) {
      std::array<std::size_t, 7> field{};  // four bytes of offset, three of length
      for (std::size_t i = 0; i < field.size(); ++i) {
        if ((code >> i & 1u) == 0) continue;
        if (at >= delta.size()) throw Unreadable{};
        field[i] = static_cast<unsigned char>(delta[at++]);
      }
      from = base;
      offset = field[0] | field[1] << 8 | field[2] << 16 | field[3] << 24;
      length = field[4] | field[5] << 8 | field[6] << 16;
      if (length == 0) length = 0x10000;
    } else {
      at += length;
    }
    if (length == 0 || offset > from.size() || length > from.size() - offset) throw Unreadable{};
    if (out.size() + length > size) throw Unreadable{};
    out.append(from.substr(offset, length));
  }
  if (out.size() != size) throw Unreadable{};
  return out;
}

class ObjectStore {
 public:
  ObjectStore(const std::string& objects, std::size_t id_bytes) : id_bytes_(id_bytes) {
    add_store(objects, 0);
  }

  /// The beginning of a commit, long enough to hold its first parent; empty when it is missing.
  std::string commit(const std::string& hex) {
    std::string id;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      id += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    if (last_ != nullptr) {
      if (const auto offset = last_->find(id)) return packed(*last_, *offset);
    }
    for (const auto& pack : packs_) {
      if (pack.get() == last_) continue;
      if (const auto offset = pack->find(id)) {
        if (last_ != nullptr) last_->close();
        last_ = pack.get();
        return packed(*pack, *offset);
      }
      pack->close();
    }
    return loose(hex);
  }

 private:
  void add_store(const std::string& objects, int depth) {
    if (stores_.size() >= kMaxStores || depth > 5) return;
    if (std::find(stores_.begin(), stores_.end(), objects) != stores_.end()) return;
    stores_.push_back(objects);
    add_packs(objects + "/pack");
    const auto alternates = read_git_file(objects + "/info/alternates", 64 << 10);
    std::string_view rest = alternates ? std::string_view(*alternates) : std::string_view();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty() || line[0] == '#' || line.find('\0') != std::string::npos) continue;
      add_store(line[0] == '/' ? line : objects + "/" + line, depth + 1);
    }
  }

  void add_packs(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
    if (!dir) return;
    while (const dirent* entry = ::readdir(dir.get())) {
      const std::string_view name = entry->d_name;
      if (packs_.size() >= kMaxPacks) return;
      if (name.size() < 10 || name.substr(0, 5) != "pack-") continue;
      if (name.substr(name.size() - 4) != ".idx") continue;
      const std::string stem = folder + "/" + std::string(name.substr(0, name.size() - 4));
      packs_.push_back(std::make_unique<Pack>(stem, id_bytes_));
    }
  }

  std::string counted(std::string bytes) {
    work_ += bytes.size();
    if (work_ > kMaxWork) throw Unreadable{};
    return bytes;
  }

  std::string packed(Pack& pack, std::uint64_t offset) {
    std::vector<std::string> deltas;
    std::size_t delta_bytes = 0;
    Pack::Entry entry = pack.entry(offset);
    while (entry.type == Pack::kOffsetDelta || entry.type == Pack::kReferenceDelta) {
      if (deltas.size() >= kMaxChain || entry.size > kMaxObject) throw Unreadable{};
      deltas.push_back(counted(inflater_.read(pack.data(), entry.data, std::size_t{entry.size})));
      delta_bytes += deltas.back().size();
      if (delta_bytes > kMaxDeltas) throw Unreadable{};
      // A base that is named lies in the same pack: git completes thin packs when they arrive.
      const auto base = entry.type == Pack::kReferenceDelta ? pack.find(entry.base_id)
                                                            : std::optional(entry.base_offset);
      if (!base) throw Unreadable{};
      entry = pack.entry(*base);
    }
    if (entry.type != Pack::kCommit || (!deltas.empty() && entry.size > kMaxObject)) {
      throw Unreadable{};
    }
    const std::size_t want =
        deltas.empty() ? static_cast<std::size_t>(std::min<std::uint64_t>(entry.size, kPrefix))
                       : static_cast<std::size_t>(entry.size);
    std::string bytes = counted(inflater_.read(pack.data(), entry.data, want));
    for (auto delta = deltas.rbegin(); delta != deltas.rend(); ++delta) {
      bytes = counted(apply_delta(bytes, *delta));
    }
    return bytes;
  }

  std::string loose(const std::string& hex) {
    for (const std::string& store : stores_) {
      std::uint64_t size = 0;
      const UniqueFd fd = open_regular(store + "/" + hex.substr(0, 2) + "/" + hex.substr(2), size);
      if (!fd) continue;
      const std::string bytes = counted(inflater_.read(fd.get(), 0, kPrefix));
      const std::size_t end = bytes.find('\0');
      if (bytes.rfind("commit ", 0) != 0 || end == std::string::npos) throw Unreadable{};
      return bytes.substr(end + 1);
    }
    return {};
  }

  std::size_t id_bytes_;
  Inflater inflater_;
  std::vector<std::string> stores_;
  std::vector<std::unique_ptr<Pack>> packs_;
  Pack* last_ = nullptr;
  std::uint64_t work_ = 0;
};

/// The first parent that a commit's text names; empty for a root.
std::string first_parent(std::string_view commit, std::size_t hex_digits) {
  const std::size_t tree_line = 5 + hex_digits + 1;
  if (commit.substr(0, 5) != "tree " || commit.size() <= tree_line) throw Unreadable{};
  const std::string_view rest = commit.substr(tree_line);
  if (rest.substr(0, 7) == "author ") return {};
  const std::string parent(rest.substr(0, 7) == "parent " ? rest.substr(7, hex_digits) : "");
  if (parent.size() != hex_digits || !is_object_id(parent)) throw Unreadable{};
  return parent;
}

/// The commits at which history was cut off; nullopt when the file is there but cannot be read.
std::optional<std::unordered_set<std::string>> shallow_commits(const std::string& common_dir) {
  struct stat info {};
  const std::string path = common_dir + "/shallow";
  std::unordered_set<std::string> found;
  if (::lstat(path.c_str(), &info) != 0) return found;
  const auto text = read_git_file(path, kMaxShallow);
  if (!text) return std::nullopt;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    found.insert(text->substr(at, end - at));
    at = end + 1;
  }
  return found;
}

}  // namespace

std::optional<std::string> first_root_commit(const std::string& common_dir,
                                             const std::string& head) {
  if (!is_object_id(head)) return std::nullopt;
  try {
    const auto shallow = shallow_commits(common_dir);
    if (!shallow) return std::nullopt;
    ObjectStore store(common_dir + "/objects", head.size() / 2);
    std::string at = head;
    // Commits that are each other's ancestors cannot be made, but forged: the mark moves on at
    // powers of two, so a circle is noticed within about three rounds.
    std::string mark = head;
    for (std::size_t seen = 1; seen <= kMaxCommits; ++seen) {
      const std::string parent = first_parent(store.commit(at), head.size());
      if (shallow->count(at) != 0 || parent == mark) return std::nullopt;
      if (parent.empty()) return at;
      at = parent;
      if ((seen & (seen - 1)) == 0) mark = at;
    }
  } catch (const Unreadable&) {
  }
  return std::nullopt;
}

}  // namespace strongroom::service
