// Stores what a reader of another store's export planned, or only says what would be stored.
#pragma once

#include <string>

#include "cli/app.h"
#include "cli/import_plan.h"

namespace strongroom::cli {

/// `kind` is the word after --from; it becomes the label `source` of what is stored. Returns the
/// exit code.
int run_import(Context& context, ImportPlan plan, const std::string& kind, bool dry_run,
               bool allow_secret);

}  // namespace strongroom::cli
