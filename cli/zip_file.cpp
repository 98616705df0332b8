#include "cli/zip_file.h"

#include <algorithm>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"

namespace strongroom::cli {
namespace {

constexpr std::uint64_t kEndSize = 22, kDirectoryEntry = 46, kLocalHeader = 30;
constexpr std::uint64_t kMaxComment = 65535;
constexpr std::uint64_t kMaxDirectory = std::uint64_t{64} << 20;
constexpr std::uint16_t kEncrypted = 1, kStored = 0, kDeflated = 8;

std::uint16_t u16(std::string_view at, std::size_t offset) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(at[offset + i]));
  };
  return static_cast<std::uint16_t>(byte(0) | byte(1) << 8);
}

std::uint32_t u32(std::string_view at, std::size_t offset) {
  return u16(at, offset) | static_cast<std::uint32_t>(u16(at, offset + 2)) << 16;
}

// Exactly `size` bytes, or nothing: an entry that unpacks to more is damaged or a trap.
bool unpack(const std::string& packed, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw Error(Code::internal, "zlib does not start.");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  char none = 0;
  stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &none : out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = inflate(&stream, Z_FINISH);
  const bool whole = state == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace

bool ZipFile::is_zip(int fd) {
  char magic[4];
  return read_exactly(fd, magic, sizeof magic, 0) &&
         std::string_view(magic, sizeof magic) == std::string_view("PK\x03\x04", 4);
}

ZipFile::ZipFile(UniqueFd fd, std::string what) : fd_(std::move(fd)), what_(std::move(what)) {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0 || !S_ISREG(info.st_mode)) damaged();
  size_ = static_cast<std::uint64_t>(info.st_size);
  if (size_ < kEndSize) damaged();
  const std::uint64_t tail_size = std::min(size_, kEndSize + kMaxComment);
  const std::string tail = bytes(size_ - tail_size, tail_size);
  const std::size_t end = tail.rfind(std::string_view("PK\x05\x06", 4));
  if (end == tail.npos || tail.size() - end < kEndSize) damaged();
  const std::uint64_t count = u16(tail, end + 10);
  const std::uint64_t size = u32(tail, end + 12), at = u32(tail, end + 16);
  if (at > size_ || size > size_ - at || size > kMaxDirectory) damaged();
  read_directory(at, size, count);
}

void ZipFile::damaged() const {
  throw Error::invalid(what_, "is a ZIP archive that is damaged, cut off or of a form not known");
}

std::string ZipFile::bytes(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) damaged();
  std::string out(size, '\0');
  if (!read_exactly(fd_.get(), out.data(), out.size(), static_cast<std::int64_t>(offset)))
    damaged();
  return out;
}

void ZipFile::read_directory(std::uint64_t at, std::uint64_t size, std::uint64_t count) {
  const std::string directory = bytes(at, size);
  std::size_t offset = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (directory.size() - offset < kDirectoryEntry ||
        directory.compare(offset, 4, "PK\x01\x02", 4) != 0) {
      damaged();
    }
    const std::string_view fixed(directory.data() + offset, kDirectoryEntry);
    Entry entry;
    entry.flags = u16(fixed, 8);
    entry.method = u16(fixed, 10);
    entry.crc = u32(fixed, 16);
    entry.packed = u32(fixed, 20);
    entry.size = u32(fixed, 24);
    entry.header = u32(fixed, 42);
    const std::size_t name = u16(fixed, 28), more = u16(fixed, 30) + std::size_t{u16(fixed, 32)};
    offset += kDirectoryEntry;
    if (directory.size() - offset < name + more) damaged();
    entry.name = directory.substr(offset, name);
    offset += name + more;
    entries_.push_back(std::move(entry));
  }
}

std::string ZipFile::read(const Entry& entry) const {
  const std::string name = entry.name.substr(0, 256);
  if (entry.size > kMaxEntry) throw Error::too_large(name, entry.size, kMaxEntry);
  if ((entry.flags & kEncrypted) != 0) throw Error::invalid(name, "is encrypted in the archive");
  const std::string header = bytes(entry.header, kLocalHeader);
  if (header.compare(0, 4, "PK\x03\x04", 4) != 0) damaged();
  const std::uint64_t data =
      entry.header + kLocalHeader + u16(header, 26) + std::uint64_t{u16(header, 28)};
  std::string packed = bytes(data, entry.packed);
  std::string out;
  if (entry.method == kStored) {
    out = std::move(packed);
  } else if (entry.method == kDeflated) {
    out.resize(entry.size);
    if (!unpack(packed, out)) throw Error::invalid(name, "is damaged in the archive");
  } else {
    throw Error::invalid(name, "is packed in a way that is not known");
  }
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size()));
  if (out.size() != entry.size || crc != entry.crc) {
    throw Error::invalid(name, "is damaged in the archive");
  }
  return out;
}

}  // namespace strongroom::cli
