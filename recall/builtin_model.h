// The model that is part of the program: models/static.bin, in read-only pages that are loaded when
// they are first touched.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "recall/embedder.h"

namespace strongroom::recall {

/// The blob, as recall/static_embedder.h describes it.
std::span<const std::byte> builtin_model() noexcept;

/// An embedder of it. Takes next to nothing: the tables of its vocabulary are in the blob.
std::unique_ptr<Embedder> make_builtin_embedder();

}  // namespace strongroom::recall
