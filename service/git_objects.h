// The first root commit of a git repository, read from loose objects and pack files.
//
// Objects are input from strangers. Nothing is verified against its name (a repository that lies
// about its commits could as well carry the real ones); what counts is that reading ends, stays
// within its memory and never leaves the files' bounds.
#pragma once

#include <optional>
#include <string>

namespace strongroom::service {

/// Follows first parents from the commit `head` (hex, 40 digits or 64) and returns the commit that
/// has none. nullopt: a shallow boundary or a missing or unreadable object on the way, more than
/// 200,000 commits, or more work than an honest repository of that length asks for.
///
/// Read are loose objects and packs with index version 2, deltas included, and alternates. Replace
/// refs and grafts are not looked at. At most two packs are open at a time.
std::optional<std::string> first_root_commit(const std::string& common_dir,
                                             const std::string& head);

}  // namespace strongroom::service
