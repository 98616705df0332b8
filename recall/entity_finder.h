// How entities are found in a text, token by token. Only entities.cpp and entity_tokens.cpp use
// this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/wipe.h"
#include "recall/entity_names.h"
#include "recall/entity_shapes.h"
#include "recall/entity_signs.h"

namespace strongroom::recall {

struct EntityFinder::Impl {
  using Name = entity::Name;
  using WideSign = entity::WideSign;

  struct Found {
    std::size_t begin, end;
    std::size_t canonical, size;  // in the bytes of all canonical forms
    EntityKind kind;
    std::uint8_t rank;
    bool weak;  // does not count in German
  };

  void find(std::string_view in);
  void scan();
  void separator();
  void wide_separator(const WideSign& sign);
  bool quote(std::size_t size, std::string_view closes);
  void token();
  void extend_url(std::size_t begin);
  void plain(std::size_t begin, std::size_t end);
  void count_language(std::string_view word);
  void mixed(std::size_t begin, std::size_t end, std::uint8_t all);
  void words(std::size_t begin, std::size_t end);
  std::size_t word_end(std::string_view token, std::size_t from) const;
  void capital(std::size_t begin, std::size_t end, bool identifier);
  void after_token(std::size_t begin, std::size_t end);
  std::size_t close();
  std::size_t add_name(const std::optional<Name>& name);
  void add(std::size_t begin, std::size_t end, EntityKind kind, std::size_t words = 1,
           bool weak = false);
  std::uint32_t& slot_of(std::string_view canonical);
  void grow();
  void choose();
  void show();

  std::string_view text;
  std::size_t at = 0;
  bool start = true;            // of a sentence
  int german = 0, english = 0;  // little words seen

  entity::NameReader names;
  entity::Canonical canonical;
  std::vector<Found> found;
  std::vector<std::uint32_t> slots;  // 1 + the place in `found`, by canonical form
  SecretBytes canonicals;
  std::vector<CharClass> kinds;  // of the token at hand
  std::vector<Entity> result;
};

}  // namespace strongroom::recall
