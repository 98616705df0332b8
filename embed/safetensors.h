// The safetensors format (huggingface.co/docs/safetensors): a little-endian u64 with the size of a
// JSON header, the header {"NAME": {"dtype", "shape", "data_offsets": [begin, end]},
// "__metadata__"?}, then the tensors' bytes without holes or overlaps.
#pragma once

#include <string_view>

#include "embed/tensor.h"

namespace strongroom::embed {

/// The tensors of a file; views of `bytes`. `file` is its name in errors. Throws Error corrupt for
/// a file that is cut off or whose ranges do not fit, invalid for a header that is malformed.
Tensors read_safetensors(std::string_view bytes, std::string_view file);

}  // namespace strongroom::embed
