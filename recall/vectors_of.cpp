#include "recall/vectors_of.h"

#include <string>

#include "recall/columns.h"
#include "recall/dot.h"

namespace strongroom::recall {

VectorsOf::VectorsOf(IndexView& view, const VectorSet& set, const std::vector<Row>& rows)
    : dimensions_(set.dimensions), stride_(vector_bytes(set.dimensions)) {
  const std::string none(stride_, '\0');
  for (const Row row : rows) {
    const char* const at = view.vector(set, row);
    cells_.append(at == nullptr ? std::string_view(none) : std::string_view(at, stride_));
  }
}

double VectorsOf::cosine(std::size_t a, std::size_t b) const {
  const char *const one = cell(a), *const other = cell(b);
  const std::int32_t product = dot(reinterpret_cast<const std::int8_t*>(one),
                                   reinterpret_cast<const std::int8_t*>(other), dimensions_);
  return double{static_cast<float>(product) * vector_scale(one, dimensions_) *
                vector_scale(other, dimensions_)};
}

}  // namespace strongroom::recall
