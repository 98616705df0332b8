// Readers of other stores' exports, a format each. Each reads the whole file, throws what names the
// place of the first record that is not as the other program writes it, and lists what it leaves.
#pragma once

#include <string>

#include "cli/import_plan.h"
#include "cli/lines.h"

namespace strongroom::cli {

/// `mnemopi export FILE`: one JSON object.
ImportPlan read_mnemopi(const LineFile& file);
/// `compartment export --plaintext FILE`: one JSON object a line.
ImportPlan read_compartment(const LineFile& file);
/// The atoms and edges of a region as Citadel's library returns them: one JSON object a line.
ImportPlan read_citadel(const LineFile& file);
/// A transfer archive of Hindsight (ZIP), or its list of memories (JSON).
ImportPlan read_hindsight(const std::string& path);

/// The whole text of a file that is one JSON value. `expected` ends the error for other files.
std::string whole_json(const LineFile& file, const std::string& expected);
/// Throws when what starts with `first` is a database or an archive, not an export: `how` says how
/// to write one.
void refuse_binary(std::string_view first, const std::string& how);

}  // namespace strongroom::cli
