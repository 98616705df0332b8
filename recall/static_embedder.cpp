#include "recall/static_embedder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/wipe.h"
#include "recall/dot.h"
#include "recall/share_work.h"
#include "vault/format.h"

namespace strongroom::recall {

namespace {

constexpr std::string_view kMagic = "SRSTATIC";
constexpr std::uint32_t kFormat = 2;
constexpr std::uint32_t kLowerCase = 1;
constexpr std::uint32_t kStripAccents = 2;
constexpr std::size_t kIdAt = 32;
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kCurveAt = 48;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kAlignment = 64;
// A sum of kMaxTokens rows stays far from the largest float.
constexpr float kMaxScale = 1e6F;

[[noreturn]] void refuse(std::string_view why) {
  throw Error::invalid("model", why);
}

std::uint32_t number(std::string_view in, std::size_t at) {
  return vault::load_le<std::uint32_t>(in, at);
}

float real(std::string_view in, std::size_t at) noexcept {
  return vault::load_le<float>(in, at);
}

std::string_view parse_id(std::string_view padded) {
  const std::string_view id = padded.substr(0, padded.find('\0'));
  const bool printable =
      std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F; });
  const bool zeros = padded.find_first_not_of('\0', id.size()) == std::string_view::npos;
  if (id.empty() || !printable || !zeros) refuse("has no name");
  return id;
}

// The parts of a blob, from its start. Sizes are far from the limits of 64 bits.
class Parts {
 public:
  explicit Parts(std::string_view whole) : whole_(whole) {}

  std::string_view take(std::uint64_t size) {
    if (size > whole_.size() - at_) refuse("is cut off");
    at_ += size;
    return whole_.substr(at_ - size, size);
  }
  void align() { take((kAlignment - at_ % kAlignment) % kAlignment); }
  bool at_end() const noexcept { return at_ == whole_.size(); }

 private:
  std::string_view whole_;
  std::size_t at_ = 0;
};

}  // namespace

StaticEmbedder::Blob StaticEmbedder::parse(std::string_view model) {
  Parts parts(model);
  const std::string_view header = parts.take(kHeaderBytes);
  if (!header.starts_with(kMagic)) refuse("is no static model");
  if (number(header, 8) != kFormat) refuse("has a format that is not known");
  const std::uint64_t tokens = number(header, 12);
  const std::uint64_t dimensions = number(header, 16);
  const std::uint32_t flags = number(header, 20);
  if (tokens == 0 || tokens > kMaxVocabulary) refuse("has no token or too many");
  if (dimensions == 0 || dimensions > kMaxDimensions || dimensions % kDimensionStep != 0) {
    refuse("has a number of dimensions that is not supported");
  }
  if ((flags & ~(kLowerCase | kStripAccents)) != 0) refuse("has flags that are not known");

  Blob blob{};
  blob.id = parse_id(header.substr(kIdAt, kIdBytes));
  blob.curve = {real(header, kCurveAt), real(header, kCurveAt + 4)};
  blob.dimensions = dimensions;
  blob.options = {(flags & kLowerCase) != 0, (flags & kStripAccents) != 0, number(header, 24),
                  kMostPieces};
  blob.vocabulary.offsets = parts.take((tokens + 1) * 4);
  blob.vocabulary.text = parts.take(number(header, 28));
  parts.align();
  blob.vocabulary.lookup = parts.take(WordPiece::lookup_bytes(tokens));
  parts.align();
  blob.scales = parts.take(tokens * 4);
  parts.align();
  blob.rows = reinterpret_cast<const std::int8_t*>(parts.take(tokens * dimensions).data());
  if (!parts.at_end()) refuse("has bytes left over");
  check_numbers(blob);
  return blob;
}

// Nothing that is read later may be infinite or no number.
void StaticEmbedder::check_numbers(const Blob& blob) {
  bool good = std::isfinite(blob.curve.c0) && std::isfinite(blob.curve.c1);
  for (std::size_t at = 0; at < blob.scales.size(); at += 4) {
    const float scale = real(blob.scales, at);
    good = good && scale >= 0 && scale <= kMaxScale;
  }
  if (!good) refuse("has a number out of its range");
}

StaticEmbedder::Scratch::Scratch(std::size_t dimensions) : sum(dimensions) {
  ids.reserve(kMaxTokens + WordPiece::kMostPieces);
}

StaticEmbedder::Scratch::~Scratch() {
  wipe(ids.data(), ids.capacity() * sizeof ids[0]);
  wipe(sum.data(), sum.size() * sizeof sum[0]);
}

StaticEmbedder::StaticEmbedder(std::span<const std::byte> model)
    : blob_(parse({reinterpret_cast<const char*>(model.data()), model.size()})),
      tokenizer_(blob_.vocabulary, blob_.options),
      scratch_(blob_.dimensions) {}

float StaticEmbedder::scale(std::uint32_t token) const noexcept {
  return real(blob_.scales, std::size_t{token} * 4);
}

void StaticEmbedder::sum_up(Scratch& scratch) const noexcept {
  constexpr std::size_t kAhead = 4;  // rows lie far apart; fetching one takes longer than adding it
  constexpr std::size_t kLine = 64;
  const std::vector<std::uint32_t>& ids = scratch.ids;
  const auto row = [&](std::size_t i) { return blob_.rows + ids[i] * blob_.dimensions; };
  const auto fetch = [&](std::size_t i) {
    for (std::size_t d = 0; d < blob_.dimensions; d += kLine) __builtin_prefetch(row(i) + d);
  };
  std::fill(scratch.sum.begin(), scratch.sum.end(), 0.0F);
  for (std::size_t i = 0; i < std::min(kAhead, ids.size()); ++i) fetch(i);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) fetch(i + kAhead);
    const float factor = scale(ids[i]);
    if (factor == 0 || ids[i] == blob_.options.unknown) continue;
    add_scaled(row(i), factor, blob_.dimensions, scratch.sum.data());
  }
}

void StaticEmbedder::embed_some(std::span<const std::string_view> texts, std::span<Embedding> out,
                                Scratch& scratch) const {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    tokenizer_.tokenize(texts[i], kMaxTokens, scratch.ids);
    sum_up(scratch);
    quantise(scratch.sum, out[i]);
  }
}

void StaticEmbedder::embed_batch(std::span<const std::string_view> texts, Side /*side*/,
                                 std::span<Embedding> out) {
  constexpr std::size_t kWorthAThread = 64;
  if (texts.size() < 2 * kWorthAThread) {
    embed_some(texts, out, scratch_);
    return;
  }
  share_work(texts.size(), kWorthAThread, [&](std::size_t first, std::size_t end) {
    Scratch scratch(blob_.dimensions);
    embed_some(texts.subspan(first, end - first), out.subspan(first, end - first), scratch);
  });
}

}  // namespace strongroom::recall
