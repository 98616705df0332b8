#include "vault/anchor.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "crypto/hash.h"
#include "crypto/process.h"
#include "vault/timed_lock.h"

namespace strongroom::vault {
namespace {

constexpr std::size_t kChecksum = 32;
constexpr off_t kMaxBytes = 64 << 20;
// What a kill cannot tear: one page is written whole or not at all.
constexpr std::size_t kWrittenInPlace = 4096;

// Held for less than a millisecond, unless its holder was stopped.
constexpr Patience kPatience{1000};

class FileLock {
 public:
  explicit FileLock(const std::string& path, Patience patience = kPatience)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (!fd_) throw_errno("open the anchor's lock", errno);
    if (!lock_whole_file(fd_.get(), true, patience)) {
      throw Error(Code::busy, "Another process holds the anchor.");
    }
  }

 private:
  UniqueFd fd_;
};

std::string read_whole(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_errno("read the anchor", errno);
  std::string bytes(static_cast<std::size_t>(std::min<off_t>(info.st_size, kMaxBytes)), '\0');
  if (!read_exactly(fd, bytes.data(), bytes.size(), 0)) bytes.clear();
  return bytes;
}

bool overwrite(int fd, std::string_view bytes) {
  return ::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

std::string_view anchor_state_name(AnchorState state) noexcept {
  switch (state) {
    case AnchorState::ok: return "ok";
    case AnchorState::fresh: return "new";
    case AnchorState::off: return "off";
    case AnchorState::unavailable: return "unavailable";
  }
  return "unavailable";
}

Anchor::Anchor(const VaultId& vault, bool enabled, bool read_only)
    : vault_(vault), enabled_(enabled), read_only_(read_only) {}

bool Anchor::load_file(Content& content) const {
  const auto fd = open_file(path_, O_RDONLY, "the anchor");
  if (!fd) return false;
  if (decode(read_whole(fd->get()), content)) return true;
  content = Content{};
  return decode(read_whole(fd->get()), content);  // the first may have met a writer half-way
}

bool Anchor::decode(std::string_view in, Content& content) const {
  if (in.size() < 16 + 1 + 8 + kChecksum) return false;
  const std::string_view checksum = in.substr(in.size() - kChecksum);
  in.remove_suffix(kChecksum);
  const crypto::Hash32 expected = crypto::hash32(crypto::labels::kAnchor, {view(vault_), in});
  if (!crypto::equal(crypto::view(expected), checksum)) return false;
  try {
    content.replica = id_from(in.substr(0, 16));
    in.remove_prefix(16);
    const std::uint64_t banks = take_varint(in);
    for (std::uint64_t i = 0; i < banks; ++i) {
      if (in.size() < 16) return false;
      const BankId bank = id_from(in.substr(0, 16));
      in.remove_prefix(16);
      Seen seen;
      seen.vector = VersionVector::decode(in);
      if (in.size() < 16) return false;
      seen.head_tag = id_from(in.substr(0, 16));
      in.remove_prefix(16);
      content.banks[bank] = seen;
    }
    if (in.size() != 8) return false;
    content.root_version = load_le<std::uint64_t>(in);
  } catch (const Error&) {
    return false;  // a damaged anchor counts as none, which is reported
  }
  return true;
}

std::string Anchor::encode(const Content& content) const {
  std::string out(view(content.replica));
  append_varint(out, content.banks.size());
  for (const auto& [bank, seen] : content.banks) {
    out.append(view(bank));
    seen.vector.encode(out);
    out.append(view(seen.head_tag));
  }
  append_le(out, content.root_version);
  out.append(crypto::view(crypto::hash32(crypto::labels::kAnchor, {view(vault_), out})));
  return out;
}

// Draws a replica id on first sight. An anchor that cannot be written is reported, never fatal:
// whoever can delete it could roll back anyway.
void Anchor::load_locked() {
  if (loaded_) return;
  loaded_ = true;
  if (!enabled_) return;
  try {
    const std::string folder =
        xdg_directory("XDG_STATE_HOME", ".local/state") + "/strongroom/anchors";
    path_ = folder + "/" + hex(view(vault_));
    if (!read_only_) make_directories(folder);
    if (load_file(content_)) {
      state_ = AnchorState::ok;
      return;
    }
    content_ = Content{};
    state_ = AnchorState::fresh;
    if (read_only_) return;
    const FileLock lock(path_ + ".lock");
    if (load_file(content_)) {
      state_ = AnchorState::ok;  // another process was faster
      return;
    }
    content_ = Content{};
    content_.replica = random_id();
    replace_file(path_, encode(content_), 0600, false, "write the anchor");
  } catch (const Error&) {
    content_ = Content{};
    state_ = AnchorState::unavailable;
  }
}

Id16 Anchor::replica() {
  const std::lock_guard lock(mutex_);
  load_locked();
  return content_.replica;
}

AnchorState Anchor::state() {
  const std::lock_guard lock(mutex_);
  load_locked();
  return state_;
}

std::map<BankId, Anchor::Seen> Anchor::seen() {
  const std::lock_guard lock(mutex_);
  loaded_ = loaded_ && state_ != AnchorState::ok;  // read it afresh: others write it too
  const AnchorState before = state_;
  load_locked();
  if (before == AnchorState::fresh) state_ = before;
  return content_.banks;
}

std::uint64_t Anchor::root_version() {
  const std::lock_guard lock(mutex_);
  load_locked();
  return content_.root_version;
}

template <class Change>
void Anchor::update(const Change& change) {
  const std::lock_guard guard(mutex_);
  load_locked();
  if (!enabled_ || read_only_ || (state_ == AnchorState::unavailable && !held_up_)) return;
  try {
    // Once it was waited for in vain, it is only tried.
    const FileLock lock(path_ + ".lock", held_up_ ? Patience{0} : kPatience);
    if (std::exchange(held_up_, false)) state_ = AnchorState::ok;
    const auto fd = open_file(path_, O_RDWR, "the anchor");
    const std::string before = fd ? read_whole(fd->get()) : std::string();
    Content current;
    if (decode(before, current)) content_ = std::move(current);
    change(content_);
    // A rename over a file makes the file system start writing at once, which the next commit then
    // waits for: it doubles the cost of a small put.
    const std::string after = encode(content_);
    const bool in_place = after.size() == before.size() && after.size() <= kWrittenInPlace;
    if (!in_place || !overwrite(fd->get(), after)) {
      replace_file(path_, after, 0600, false, "write the anchor");
    }
  } catch (const Error& error) {
    state_ = AnchorState::unavailable;
    held_up_ = error.code() == Code::busy;
  }
}

void Anchor::note(const BankId& bank, const VersionVector& vector, const Id16& head_tag,
                  std::uint64_t root_version) {
  update([&](Content& content) {
    Seen& seen = content.banks[bank];
    const Lineage lineage = vector.compare(seen.vector);
    if (lineage == Lineage::newer || lineage == Lineage::equal) seen.head_tag = head_tag;
    seen.vector.merge(vector);
    content.root_version = std::max(content.root_version, root_version);
  });
}

void Anchor::drop(const BankId& bank) {
  update([&](Content& content) { content.banks.erase(bank); });
}

void Anchor::accept(const Id16& replica, std::map<BankId, Seen> banks, std::uint64_t root_version) {
  update([&](Content& content) {
    content.replica = replica;
    content.banks = std::move(banks);
    content.root_version = root_version;
  });
  const std::lock_guard lock(mutex_);
  if (!enabled_) return;
  if (state_ == AnchorState::unavailable || content_.replica != replica) {
    throw Error(Code::io, "The anchor of this machine could not be written.");
  }
  state_ = AnchorState::ok;
}

void check_lineage(const VersionVector& head, const Id16& head_tag, const Anchor::Seen& seen) {
  const std::string generations = "its file is at generation " + std::to_string(head.newest()) +
                                  ", this machine has seen " + std::to_string(seen.vector.newest());
  switch (head.compare(seen.vector)) {
    case Lineage::newer: return;
    case Lineage::equal:
      if (head_tag == seen.head_tag) return;
      throw Error(Code::fork, "A bank went another way than this machine has seen: " + generations +
                                  ", with another content. Only --read-only opens it.");
    case Lineage::older:
      throw Error(Code::rollback,
                  "A bank was rolled back: " + generations + ". Only --read-only opens it.");
    case Lineage::mixed:
      throw Error(Code::fork, "A bank went another way than this machine has seen: " + generations +
                                  ". Only --read-only opens it.");
  }
}

}  // namespace strongroom::vault
