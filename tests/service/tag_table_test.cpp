// Which memories a filter by tags lets through: modes against tagged and untagged memories, groups,
// and both together, as agents that know Hindsight expect it.
#include <algorithm>

#include <catch2/catch.hpp>

#include "memory_fixture.h"

namespace strongroom::service {
namespace {

constexpr TagMatch kAny = TagMatch::any, kAnyStrict = TagMatch::any_strict, kAll = TagMatch::all,
                   kAllStrict = TagMatch::all_strict, kExact = TagMatch::exact;

TagGroup leaf(Strings tags, TagMatch match) {
  TagGroup group;
  group.tags = std::move(tags);
  group.match = match;
  return group;
}
TagGroup joined(TagGroup::Kind kind, std::vector<TagGroup> parts) {
  TagGroup group;
  group.kind = kind;
  group.parts = std::move(parts);
  return group;
}
TagGroup both(std::vector<TagGroup> parts) {
  return joined(TagGroup::Kind::all_of, std::move(parts));
}
TagGroup either(std::vector<TagGroup> parts) {
  return joined(TagGroup::Kind::any_of, std::move(parts));
}
TagGroup no(TagGroup part) {
  return joined(TagGroup::Kind::none_of, {std::move(part)});
}

// Memories that all answer one question, each with a name that its filter results are told by.
class Office {
 public:
  void keep_all(std::initializer_list<std::pair<const char*, Strings>> memories) {
    for (const auto& [name, tags] : memories) {
      names_[keep(*service, tagged("colleague note number " + std::string(name), tags))] = name;
    }
  }
  Strings found(const Strings& tags, TagMatch match, std::vector<TagGroup> groups = {}) {
    SearchRequest request;
    request.query = "colleague note number";
    request.tags = tags;
    request.tags_match = match;
    request.tag_groups = std::move(groups);
    request.min_score = 0;
    Strings all;
    for (const FoundMemory& memory : service->search(request).results) {
      all.push_back(names_.at(memory.id));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  Strings grouped(std::vector<TagGroup> groups) { return found({}, kAny, std::move(groups)); }

  TestHome home;
  std::unique_ptr<MemoryService> service = home.mcp();

 private:
  std::map<std::string, std::string> names_;
};

// Ann writes, Ben does not like meetings, the team has a channel, the firm a rule for all.
class FourMemories : public Office {
 public:
  FourMemories() {
    keep_all({{"ann", {"user:ann"}},
              {"ben", {"user:ben"}},
              {"team", {"user:ann", "team"}},
              {"firm", {}}});
  }
};

}  // namespace

TEST_CASE("without tags every mode but exact lets everything through") {
  FourMemories office;
  const Strings all = {"ann", "ben", "firm", "team"};
  for (const TagMatch match : {kAny, kAnyStrict, kAll, kAllStrict}) {
    CHECK(office.found({}, match) == all);
  }
  CHECK(office.found({}, kExact) == Strings{"firm"});
}

TEST_CASE("modes of tags_match with one tag") {
  FourMemories office;
  CHECK(office.found({"user:ann"}, kAny) == Strings{"ann", "firm", "team"});
  CHECK(office.found({"user:ann"}, kAnyStrict) == Strings{"ann", "team"});
  CHECK(office.found({"user:ann"}, kAll) == Strings{"ann", "firm", "team"});
  CHECK(office.found({"user:ann"}, kAllStrict) == Strings{"ann", "team"});
  CHECK(office.found({"user:ann"}, kExact) == Strings{"ann"});
}

TEST_CASE("modes of tags_match with two tags") {
  FourMemories office;
  const Strings tags = {"user:ann", "team"};
  CHECK(office.found(tags, kAny) == Strings{"ann", "firm", "team"});
  CHECK(office.found(tags, kAnyStrict) == Strings{"ann", "team"});
  CHECK(office.found(tags, kAll) == Strings{"firm", "team"});
  CHECK(office.found(tags, kAllStrict) == Strings{"team"});
  CHECK(office.found(tags, kExact) == Strings{"team"});
}

TEST_CASE("a tag that no memory has leaves untagged ones, where the mode takes them") {
  FourMemories office;
  CHECK(office.found({"nobody"}, kAny) == Strings{"firm"});
  CHECK(office.found({"nobody"}, kAnyStrict).empty());
  CHECK(office.found({"nobody"}, kAll) == Strings{"firm"});
  CHECK(office.found({"nobody"}, kAllStrict).empty());
  CHECK(office.found({"nobody"}, kExact).empty());
  CHECK(office.found({"user:ben", "nobody"}, kAll) == Strings{"firm"});
  CHECK(office.found({"user:ben", "nobody"}, kAnyStrict) == Strings{"ben"});
}

TEST_CASE("tags that a memory has beside those asked for do no harm, but to exact") {
  Office office;
  office.keep_all({{"more", {"user:ann", "team", "project:x"}}, {"fewer", {"user:ann"}}});
  const Strings tags = {"user:ann", "team"};
  CHECK(office.found(tags, kAll) == Strings{"more"});
  CHECK(office.found(tags, kAllStrict) == Strings{"more"});
  CHECK(office.found(tags, kAnyStrict) == Strings{"fewer", "more"});
  CHECK(office.found(tags, kExact).empty());
  CHECK(office.found({"project:x", "team", "user:ann"}, kExact) == Strings{"more"});  // any order
}

TEST_CASE("tags are compared byte for byte, repeats count once") {
  Office office;
  office.keep_all({{"upper", {"Team"}}, {"lower", {"team"}}, {"prefix", {"team:a"}}});
  CHECK(office.found({"team"}, kAnyStrict) == Strings{"lower"});
  CHECK(office.found({"team", "team"}, kAllStrict) == Strings{"lower"});
  CHECK(office.found({"team", "team"}, kExact) == Strings{"lower"});
  CHECK(office.found({"tea"}, kAnyStrict).empty());
}

TEST_CASE("groups at the top are joined by and") {
  Office office;
  office.keep_all({{"five", {"step:5", "user:42"}},
                   {"eight", {"step:8", "user:42", "more"}},
                   {"nine", {"step:9", "user:42"}},
                   {"other", {"step:5", "user:7"}},
                   {"none", {}}});
  CHECK(office.grouped({leaf({"step:5", "step:8", "step:12"}, kAnyStrict),
                        leaf({"user:42"}, kAllStrict)}) == Strings{"eight", "five"});
  CHECK(office.grouped({leaf({"step:5", "step:8", "step:12"}, kAny), leaf({"user:42"}, kAll)}) ==
        Strings{"eight", "five", "none"});
}

TEST_CASE("or inside and: the user, and a step or a priority") {
  Office office;
  office.keep_all({{"step", {"user:ann", "step:5"}},
                   {"high", {"user:ann", "priority:high"}},
                   {"both", {"user:ann", "step:5", "priority:high"}},
                   {"neither", {"user:ann"}},
                   {"ben", {"user:ben", "step:5"}},
                   {"none", {}}});
  const TagGroup ann = leaf({"user:ann"}, kAllStrict);
  const TagGroup step = leaf({"step:5"}, kAnyStrict), high = leaf({"priority:high"}, kAllStrict);
  CHECK(office.grouped({ann, either({step, high})}) == Strings{"both", "high", "step"});
  // The same as one group.
  CHECK(office.grouped({both({ann, either({step, high})})}) == Strings{"both", "high", "step"});
  CHECK(office.grouped({ann, both({step, high})}) == Strings{"both"});
  CHECK(office.grouped({ann, no(either({step, high}))}) == Strings{"neither"});
}

TEST_CASE("not: the user, but nothing that is archived") {
  Office office;
  office.keep_all({{"kept", {"user:ann"}},
                   {"old", {"user:ann", "archived"}},
                   {"ben", {"user:ben"}},
                   {"none", {}}});
  const TagGroup archived = leaf({"archived"}, kAnyStrict);
  CHECK(office.grouped({leaf({"user:ann"}, kAllStrict), no(archived)}) == Strings{"kept"});
  // An untagged memory has not got the tag.
  CHECK(office.grouped({no(archived)}) == Strings{"ben", "kept", "none"});
  CHECK(office.grouped({no(no(archived))}) == Strings{"old"});
  // A leaf that takes untagged ones leaves them out when it is negated.
  CHECK(office.grouped({no(leaf({"archived"}, kAny))}) == Strings{"ben", "kept"});
}

TEST_CASE("a leaf without a mode is any_strict") {
  FourMemories office;
  TagGroup plain;
  plain.tags = {"user:ann"};
  CHECK(office.grouped({plain}) == Strings{"ann", "team"});
}

TEST_CASE("tags and groups are joined by and") {
  FourMemories office;
  const std::vector<TagGroup> team = {leaf({"team"}, kAnyStrict)};
  CHECK(office.found({"user:ann"}, kAny, team) == Strings{"team"});
  CHECK(office.found({"user:ben"}, kAnyStrict, team).empty());
  CHECK(office.found({"user:ann"}, kAny, {no(leaf({"team"}, kAnyStrict))}) ==
        Strings{"ann", "firm"});
  CHECK(office.found({}, kExact, {no(leaf({"team"}, kAnyStrict))}) == Strings{"firm"});
}

TEST_CASE("a filter by tags is decided before memories are ranked and cut") {
  Office office;
  std::vector<RetainItem> many;
  for (int i = 0; i < 400; ++i) {
    many.push_back(
        tagged("colleague note number colleague note number " + std::to_string(i), {"loud"}));
  }
  retain(*office.service, std::move(many));
  office.keep_all({{"quiet", {"quiet"}}});
  CHECK(office.found({"quiet"}, kAnyStrict) == Strings{"quiet"});
}

}  // namespace strongroom::service
