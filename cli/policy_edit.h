// policy edit, and what it shares with the other policy commands.
#pragma once

#include <string>
#include <vector>

namespace strongroom::cli {

class Context;

inline constexpr std::size_t kMaxPolicyBytes = std::size_t{1} << 20;

int edit_policy(Context& context);

/// Findings about a policy, as warnings on stderr.
void show_findings(const std::vector<std::string>& findings);

/// Says that a policy was sealed.
void report_sealed(Context& context, const std::vector<std::string>& findings);

}  // namespace strongroom::cli
