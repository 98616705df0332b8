// How the formats of weights put a BERT together: by the names of Hugging Face's BertModel, without
// the prefix that a task may have set before them.
#pragma once

#include <string>
#include <string_view>

#include "embed/bert.h"

namespace strongroom::embed {

/// Where the parts come from. Each reading function refuses what is missing or has another shape
/// than it is asked for, naming the tensor.
class BertSource {
 public:
  virtual ~BertSource() = default;

  virtual std::string_view file() const noexcept = 0;
  virtual bool has_linear(std::string_view name) const = 0;
  /// True when there is any part whose name starts so.
  virtual bool has_any(std::string_view start) const = 0;
  /// Sizes of 0 are taken from the weights. Rows of `weight` are inputs.
  virtual Linear linear(std::string_view name, std::size_t inputs, std::size_t outputs) const = 0;
  /// A name without the final ".weight".
  virtual Table table(std::string_view name) const = 0;
  /// A vector of the name.
  virtual std::vector<float> vector(std::string_view name, std::size_t size) const = 0;
  virtual bool has_vector(std::string_view name) const = 0;

 protected:
  BertSource() = default;
  BertSource(const BertSource&) = default;
  BertSource& operator=(const BertSource&) = default;
};

/// All weights; what the source does not tell (heads, epsilon) is left as it is.
BertWeights assemble_bert(const BertSource& source);

/// Every element of a tensor as a number; refuses types that have none and numbers that are not
/// finite.
std::vector<float> finite_floats(const Tensor& tensor, std::string_view file,
                                 std::string_view name);

/// Rows become columns.
std::vector<float> transposed(std::span<const float> matrix, std::size_t rows, std::size_t columns);

/// A table of a tensor: a matrix of at most kMaxHidden columns. Refuses others.
Table make_table(const Tensor& tensor, std::string_view file, std::string_view name);

}  // namespace strongroom::embed
