// What evidence leaves open, in sentences for a reader. Internal to service/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recall/analyzer.h"
#include "service/memories.h"

namespace strongroom::service {

/// Words of the query, as it has them, that nothing in `results` has: text, context, entities or
/// speaker. A name of several parts is there when all of its parts are.
std::vector<std::string> uncovered_words(recall::Analyzer& analyzer, std::string_view query,
                                         const std::vector<FoundMemory>& results);

/// Arms that did not run or are behind, and what they could not look at.
std::vector<std::string> arm_gaps(const std::vector<ArmReport>& arms);

}  // namespace strongroom::service
