// Questions and passages that answer them, as agents keep them: facts, chats, code, operations.
// Written for this project; not from any data set.
#pragma once

#include <span>
#include <string_view>

namespace strongroom::embed {

struct CalibrationPair {
  std::string_view question, passage;
};

std::span<const CalibrationPair> calibration_pairs() noexcept;

}  // namespace strongroom::embed
