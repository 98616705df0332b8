// Requests and replies between the oracle and its workers: one frame each way, over pipes.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "service/memories.h"

namespace strongroom::oracle {

class Out {
 public:
  std::string bytes;

  void number(std::uint64_t value) { bytes.append(reinterpret_cast<const char*>(&value), 8); }
  void real(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    number(bits);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes.append(value);
  }
  template <class List>
  void texts(const List& list) {
    number(list.size());
    for (const auto& item : list) text(item);
  }
  void maybe(const std::optional<TimeMs>& value) {
    number(value ? 1 : 0);
    if (value) number(static_cast<std::uint64_t>(*value));
  }
  void maybe_real(const std::optional<double>& value) {
    number(value ? 1 : 0);
    if (value) real(*value);
  }
};

class In {
 public:
  explicit In(std::string bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t number() {
    if (at_ + 8 > bytes_.size()) throw std::runtime_error("a frame is too short");
    std::uint64_t value;
    std::memcpy(&value, bytes_.data() + at_, 8);
    at_ += 8;
    return value;
  }
  TimeMs time() { return static_cast<TimeMs>(number()); }
  double real() {
    const std::uint64_t bits = number();
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size() - at_) throw std::runtime_error("a frame is too short");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list(number());
    for (std::string& item : list) item = text();
    return list;
  }
  std::optional<TimeMs> maybe() {
    if (number() == 0) return std::nullopt;
    return time();
  }
  std::optional<double> maybe_real() {
    if (number() == 0) return std::nullopt;
    return real();
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

inline bool read_all(int fd, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(fd, to, size);
    if (n <= 0) return false;
    to += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}
inline bool write_all(int fd, const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, from, size);
    if (n <= 0) return false;
    from += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}
/// False at the end of the stream.
inline bool send_frame(int fd, const std::string& bytes) {
  const std::uint64_t size = bytes.size();
  return write_all(fd, reinterpret_cast<const char*>(&size), 8) &&
         write_all(fd, bytes.data(), bytes.size());
}
inline bool receive_frame(int fd, std::string& bytes) {
  std::uint64_t size = 0;
  if (!read_all(fd, reinterpret_cast<char*>(&size), 8)) return false;
  bytes.resize(size);
  return read_all(fd, bytes.data(), size);
}

// ---- requests

inline void put(Out& out, const service::RetainItem& item) {
  out.text(item.content);
  out.text(item.context);
  out.text(item.speaker);
  out.text(item.document_id);
  out.number(item.type ? static_cast<std::uint64_t>(*item.type) : 9);
  out.texts(item.tags);
  out.texts(item.entities);
  out.maybe(item.timestamp);
  out.maybe(item.occurred_start);
  out.maybe(item.occurred_end);
  out.maybe(item.expires_at);
  out.maybe_real(item.importance);
  out.maybe(item.position);
  out.number(item.append ? 1 : 0);
}
inline service::RetainItem take_item(In& in) {
  service::RetainItem item;
  item.content = in.text();
  item.context = in.text();
  item.speaker = in.text();
  item.document_id = in.text();
  const std::uint64_t type = in.number();
  if (type != 9) item.type = static_cast<service::MemoryType>(type);
  item.tags = in.texts();
  item.entities = in.texts();
  item.timestamp = in.maybe();
  item.occurred_start = in.maybe();
  item.occurred_end = in.maybe();
  item.expires_at = in.maybe();
  item.importance = in.maybe_real();
  item.position = in.maybe();
  item.append = in.number() != 0;
  return item;
}

inline void put(Out& out, const service::EditRequest& edit) {
  out.number(static_cast<std::uint64_t>(edit.op));
  out.text(edit.id);
  out.number(edit.content ? 1 : 0);
  if (edit.content) out.text(*edit.content);
  out.maybe_real(edit.importance);
  out.number(edit.tags ? 1 : 0);
  if (edit.tags) out.texts(*edit.tags);
  out.text(edit.replacement_id);
}
inline service::EditRequest take_edit(In& in) {
  service::EditRequest edit;
  edit.op = static_cast<service::EditOp>(in.number());
  edit.id = in.text();
  if (in.number() != 0) edit.content = in.text();
  edit.importance = in.maybe_real();
  if (in.number() != 0) edit.tags = in.texts();
  edit.replacement_id = in.text();
  return edit;
}

inline void put(Out& out, const service::TagGroup& group) {
  out.number(static_cast<std::uint64_t>(group.kind));
  out.texts(group.tags);
  out.number(static_cast<std::uint64_t>(group.match));
  out.number(group.parts.size());
  for (const service::TagGroup& part : group.parts) put(out, part);
}
inline service::TagGroup take_group(In& in) {
  service::TagGroup group;
  group.kind = static_cast<service::TagGroup::Kind>(in.number());
  group.tags = in.texts();
  group.match = static_cast<service::TagMatch>(in.number());
  for (std::uint64_t n = in.number(); n > 0; --n) group.parts.push_back(take_group(in));
  return group;
}

inline void put(Out& out, const service::SearchRequest& search) {
  out.text(search.query);
  out.number(search.types.size());
  for (const auto type : search.types) out.number(static_cast<std::uint64_t>(type));
  out.number(search.permanent ? 1 : 0);
  out.texts(search.tags);
  out.number(static_cast<std::uint64_t>(search.tags_match));
  out.number(search.tag_groups.size());
  for (const service::TagGroup& group : search.tag_groups) put(out, group);
  out.number(search.limit);
  out.real(search.min_score);
  out.maybe_real(search.min_scores.semantic);
  out.maybe_real(search.min_scores.keyword);
  out.maybe_real(search.min_scores.final);
  out.number(static_cast<std::uint64_t>(search.budget));
  out.maybe(search.query_timestamp);
  out.maybe(search.as_of);
  out.maybe(search.window_start);
  out.maybe(search.window_end);
  out.number(search.prefer_observations ? 1 : 0);
  out.number(search.include_invalid ? 1 : 0);
  out.texts(search.arms);
}
inline service::SearchRequest take_search(In& in) {
  service::SearchRequest search;
  search.query = in.text();
  for (std::uint64_t n = in.number(); n > 0; --n) {
    search.types.push_back(static_cast<service::MemoryType>(in.number()));
  }
  search.permanent = in.number() != 0;
  search.tags = in.texts();
  search.tags_match = static_cast<service::TagMatch>(in.number());
  for (std::uint64_t n = in.number(); n > 0; --n) search.tag_groups.push_back(take_group(in));
  search.limit = in.number();
  search.min_score = in.real();
  search.min_scores.semantic = in.maybe_real();
  search.min_scores.keyword = in.maybe_real();
  search.min_scores.final = in.maybe_real();
  search.budget = static_cast<service::Budget>(in.number());
  search.query_timestamp = in.maybe();
  search.as_of = in.maybe();
  search.window_start = in.maybe();
  search.window_end = in.maybe();
  search.prefer_observations = in.number() != 0;
  search.include_invalid = in.number() != 0;
  search.arms = in.texts();
  search.max_tokens = 1'000'000'000;
  search.include_entities.reset();
  return search;
}

}  // namespace strongroom::oracle
