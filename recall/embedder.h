// Texts as vectors: texts that mean the same point the same way, whatever their words.
//
// A vector says nearly as much as its text, so it is treated as one: it lies in memory that is
// wiped, and is stored encrypted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/wipe.h"

namespace strongroom::recall {

inline constexpr std::size_t kMaxDimensions = 1024;
inline constexpr std::size_t kDimensionStep = 16;  // a number of dimensions is a multiple of it
inline constexpr std::size_t kMaxModelId = 64;     // bytes

/// Some models embed what is asked and what is stored differently.
enum class Side { query, passage };

/// A vector of length 1 in small integers: component d is values()[d] * scale. Empty when the text
/// said nothing to the model.
struct Embedding {
  SecretBytes bytes;  // one component each, from -127 to 127
  float scale = 0;

  bool empty() const noexcept { return bytes.empty(); }
  std::span<const std::int8_t> values() const noexcept {
    return {reinterpret_cast<const std::int8_t*>(bytes.data()), bytes.size()};
  }
};

/// The direction of `vector`, at most kMaxDimensions floats of any length. The largest component
/// becomes 127 or -127, halves are rounded away from zero. Empty for a vector of zeros and for one
/// with a component that is not finite. The same bits on every machine.
void quantise(std::span<const float> vector, Embedding& out);

/// What of a cosine is evidence that a passage answers a query; it differs between models.
struct EvidenceCurve {
  float c0, c1;
};

/// A model of any kind. An Embedder reuses its buffers, which hold what the texts say, and wipes
/// them; one thread at a time.
class Embedder {
 public:
  virtual ~Embedder() = default;

  /// Stored with every vector: vectors of different models are never compared. 1 to kMaxModelId
  /// bytes of printable ASCII that stand for one exact model.
  virtual std::string_view model_id() const noexcept = 0;

  virtual std::size_t dimensions() const noexcept = 0;

  virtual EvidenceCurve curve() const noexcept = 0;

  /// out[i] becomes the vector of texts[i]; both have the same size, and what `out` holds is
  /// reused. Texts are valid UTF-8 of any length; a model reads as much of the start as it can. The
  /// same text gives the same vector, whatever else is in the batch. Throws Error when the model
  /// cannot be reached or fails; `out` then holds some of the vectors.
  virtual void embed_batch(std::span<const std::string_view> texts, Side side,
                           std::span<Embedding> out) = 0;

  /// One text; false when it says nothing to the model.
  bool embed(std::string_view text, Side side, Embedding& out) {
    embed_batch({&text, 1}, side, {&out, 1});
    return !out.empty();
  }

 protected:
  Embedder() = default;
  Embedder(const Embedder&) = default;
  Embedder(Embedder&&) = default;
  Embedder& operator=(const Embedder&) = default;
  Embedder& operator=(Embedder&&) = default;
};

}  // namespace strongroom::recall
