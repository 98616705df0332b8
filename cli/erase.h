// What follows a forget with --erase: rewriting the bank's file, and the receipt.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cli/app.h"
#include "service/memories.h"

namespace strongroom::cli {

class Erasure {
 public:
  /// Rewrites the bank's file when there is a receipt. A failure is kept: what was forgotten stays
  /// so, and a later compaction completes it.
  Erasure(Context& context, const std::string& bank,
          const std::optional<service::EraseReceipt>& receipt);

  /// The members `receipt` and `erase_pending`; nothing without a receipt.
  void write(JsonWriter& writer) const;
  /// The same as lines.
  void print(Output& out) const;
  int code() const noexcept { return code_; }

 private:
  std::optional<service::EraseReceipt> receipt_;
  std::string problem_;
  int code_ = 0;
};

}  // namespace strongroom::cli
