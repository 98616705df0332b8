// The built-in model: one vector a token, and the vector of a text is their weighted sum. No
// network, no second process, microseconds a text.
//
// A model is one blob, little-endian; V tokens, D dimensions:
//
//    0  "SRSTATIC"
//    8  u32 format = 2, u32 V, u32 D, u32 flags (1 lower case, 2 strip accents),
//       u32 number of [UNK] (0xFFFFFFFF: none), u32 T bytes of token text
//   32  16 bytes model id, ASCII, zero padded
//   48  f32 c0, f32 c1 (EvidenceCurve), 8 bytes zero
//   64  u32 offsets[V + 1], T bytes of token text (Vocabulary), zeros to a multiple of 64
//       the vocabulary's lookup (WordPiece::lookup), zeros to a multiple of 64
//       f32 scale[V], zeros to a multiple of 64
//       i8 rows[V][D]
//
// A token's vector is scale * row; scale 0 is a token without meaning, and so are the pieces of a
// word that is cut into more than StaticEmbedder::kMostPieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recall/embedder.h"
#include "recall/wordpiece.h"

namespace strongroom::recall {

class StaticEmbedder final : public Embedder {
 public:
  static constexpr std::size_t kMaxTokens = 512;  // of a text; what follows is not read
  /// A word of more pieces means nothing to the model: hashes and keys would all look alike.
  static constexpr std::size_t kMostPieces = 4;

  /// Keeps a view: `model` lives as long. Throws Error invalid for whatever is no such blob.
  explicit StaticEmbedder(std::span<const std::byte> model);

  std::string_view model_id() const noexcept override { return blob_.id; }
  std::size_t dimensions() const noexcept override { return blob_.dimensions; }
  EvidenceCurve curve() const noexcept override { return blob_.curve; }

  /// Both sides are alike. Many texts are shared by a few threads. Does not throw, unless memory is
  /// out.
  void embed_batch(std::span<const std::string_view> texts, Side side,
                   std::span<Embedding> out) override;

  const WordPiece& tokenizer() const noexcept { return tokenizer_; }

 private:
  struct Blob {
    std::string_view id;
    EvidenceCurve curve;
    std::size_t dimensions;
    WordPieceOptions options;
    Vocabulary vocabulary;
    std::string_view scales;
    const std::int8_t* rows;
  };

  static Blob parse(std::string_view model);
  static void check_numbers(const Blob& blob);
  // What the latest text says; wiped at the end. Neither grows.
  struct Scratch {
    explicit Scratch(std::size_t dimensions);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::vector<std::uint32_t> ids;
    std::vector<float> sum;
  };
  float scale(std::uint32_t token) const noexcept;
  void sum_up(Scratch& scratch) const noexcept;
  void embed_some(std::span<const std::string_view> texts, std::span<Embedding> out,
                  Scratch& scratch) const;

  Blob blob_;
  WordPiece tokenizer_;
  Scratch scratch_;
};

}  // namespace strongroom::recall
