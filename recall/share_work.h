// Work that a few threads do together: opening the blocks of a file that nobody has read yet, or
// embedding the texts of an import.
#pragma once

#include <cstddef>
#include <functional>

namespace strongroom::recall {

/// Calls work(first, end) for ranges that make up 0 to `count`, each index once and in any order,
/// on this thread and on at most three more: as many threads as there are processors, and
/// `worth_a_thread` indices for each. All is done when it returns. Throws what a call throws, the
/// first of several; others may then be left out.
void share_work(std::size_t count, std::size_t worth_a_thread,
                const std::function<void(std::size_t first, std::size_t end)>& work);

}  // namespace strongroom::recall
