// Small models in the format of recall/static_embedder.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recall/wordpiece.h"
#include "vault/format.h"

namespace strongroom::recall {

struct SmallModel {
  struct Token {
    std::string text;
    float scale = 0;
    std::vector<std::int8_t> row;  // filled up with zeros
  };
  std::string id = "test-1";
  std::uint32_t dimensions = 16;
  std::uint32_t flags = 3;
  std::uint32_t unknown = 0xFFFFFFFF;
  float c0 = 0.25F, c1 = 4;
  std::vector<Token> tokens;

  std::string bytes() const {
    std::string text;
    std::string offsets;
    for (const Token& token : tokens) {
      vault::append_le(offsets, static_cast<std::uint32_t>(text.size()));
      text += token.text;
    }
    const auto end = static_cast<std::uint32_t>(text.size());
    vault::append_le(offsets, end);
    std::string out = "SRSTATIC";
    for (const std::uint32_t number :
         {2u, static_cast<std::uint32_t>(tokens.size()), dimensions, flags, unknown, end}) {
      vault::append_le(out, number);
    }
    out += id + std::string(16 - id.size(), '\0');
    vault::append_le(out, c0);
    vault::append_le(out, c1);
    out += std::string(8, '\0') + offsets + text;
    align(out);
    out += WordPiece({offsets, text, {}}, {.unknown = kNoToken}).lookup();
    align(out);
    for (const Token& token : tokens) vault::append_le(out, token.scale);
    align(out);
    for (const Token& token : tokens) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        out.push_back(static_cast<char>(d < token.row.size() ? token.row[d] : 0));
      }
    }
    return out;
  }

 private:
  static void align(std::string& out) { out.resize((out.size() + 63) / 64 * 64); }
};

inline std::span<const std::byte> as_model(std::string_view bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

}  // namespace strongroom::recall
