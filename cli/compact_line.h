// What became of a file that was compacted, as a line.
#pragma once

#include "cli/app.h"
#include "service/vault_admin.h"

namespace strongroom::cli {

void write_compact_line(Context& context, const service::CompactLine& line);

}  // namespace strongroom::cli
