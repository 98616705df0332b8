// Work that a few threads do together: opening the blocks of a file that nobody has read yet.
#pragma once

#include <cstddef>
#include <functional>

namespace strongroom::recall {

/// Calls work(i) once for each i below `count`, in any order, on this thread and on at most three
/// more: as many threads as there are processors, and `worth_a_thread` calls for each. All is done
/// when it returns. Throws what a call throws, the first of several; others may then be left out.
void share_work(std::size_t count, std::size_t worth_a_thread,
                const std::function<void(std::size_t)>& work);

}  // namespace strongroom::recall
