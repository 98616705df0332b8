#include "base/utf8.h"

namespace strongroom {

namespace {
bool continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}
}  // namespace

std::size_t utf8_sequence(std::string_view text) noexcept {
  // RFC 3629, section 4: the second byte's range depends on the first.
  if (text.empty()) return 0;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continuation(at(i))) return 0;
  }
  const unsigned char second = at(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

bool valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && continuation(static_cast<unsigned char>(text[end]))) --end;
  return text.substr(0, end);
}

std::size_t utf8_whole_length(std::string_view text) noexcept {
  std::size_t start = text.size();
  while (start > 0 && text.size() - start < 4) {
    --start;
    if (!continuation(static_cast<unsigned char>(text[start]))) {
      return utf8_sequence(text.substr(start)) == 0 ? start : text.size();
    }
  }
  return text.size();
}

void utf8_append(std::string& out, char32_t point) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

namespace {

char32_t decode(std::string_view sequence) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return at(0);
  char32_t point = at(0) & (0xFFu >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) point = point << 6 | (at(i) & 0x3Fu);
  return point;
}

// Control, format, bidirectional, zero-width and tag characters.
bool hidden(char32_t p) {
  return p < 0x20 || (p >= 0x7F && p <= 0x9F) || p == 0xAD || p == 0x61C || p == 0x180E ||
         (p >= 0x200B && p <= 0x200F) || (p >= 0x2028 && p <= 0x202E) ||
         (p >= 0x2060 && p <= 0x206F) || p == 0xFEFF || (p >= 0xFFF9 && p <= 0xFFFB) ||
         (p >= 0xE0000 && p <= 0xE007F);
}

void append_escape(std::string& out, char32_t point) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (point == '\n') {
    out.append("\\n");
  } else if (point == '\t') {
    out.append("\\t");
  } else if (point == '\r') {
    out.append("\\r");
  } else {
    out.append(point > 0xFFFF ? "\\U" : "\\u");
    for (int shift = point > 0xFFFF ? 28 : 12; shift >= 0; shift -= 4) {
      out.push_back(kHex[point >> shift & 15]);
    }
  }
}

}  // namespace

std::string escape_for_display(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) {
      out.append("\xEF\xBF\xBD");
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    const char32_t point = decode(sequence);
    if (hidden(point)) {
      append_escape(out, point);
    } else {
      out.append(sequence);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace strongroom
