#include "recall/entities.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "recall/entity_finder.h"

namespace strongroom::recall {

namespace {

constexpr std::size_t kFewSlots = 64;
constexpr std::size_t kKept = 1 << 16;

// More of a text is about what stands in the way less often.
std::uint8_t rank_of(EntityKind kind, std::size_t words) {
  switch (kind) {
    case EntityKind::given:
    case EntityKind::path:
    case EntityKind::url:
    case EntityKind::email:
    case EntityKind::ticket:
    case EntityKind::hash:
    case EntityKind::address: return 0;
    case EntityKind::identifier: return 1;
    case EntityKind::mention:
    case EntityKind::tag: return 2;
    case EntityKind::quoted: return 3;
    case EntityKind::name: break;
  }
  return words > 1 ? 3 : 4;
}

}  // namespace

void EntityFinder::Impl::find(std::string_view in) {
  text = in;
  at = 0;
  start = true;
  german = english = 0;
  names.reset(text);
  found.clear();
  canonicals.clear();
  slots.assign(kFewSlots, 0);
  scan();
  close();
  choose();
  show();
  // What one huge text needed is not held on to.
  if (kinds.size() > kKept) kinds = {};
  if (found.capacity() > kKept) found = {};
  if (slots.size() > kKept) slots = {};
}

// Where the name began that ended here; the end of the text when there was none.
std::size_t EntityFinder::Impl::close() {
  return names.open() ? add_name(names.close()) : text.size();
}

std::size_t EntityFinder::Impl::add_name(const std::optional<Name>& name) {
  if (!name) return text.size();
  add(name->begin, name->end, name->identifier ? EntityKind::identifier : EntityKind::name,
      name->words, name->weak);
  return name->begin;
}

std::uint32_t& EntityFinder::Impl::slot_of(std::string_view wanted) {
  std::size_t slot = std::hash<std::string_view>()(wanted) & (slots.size() - 1);
  for (;; slot = (slot + 1) & (slots.size() - 1)) {
    if (slots[slot] == 0) return slots[slot];
    const Found& there = found[slots[slot] - 1];
    if (canonicals.view().substr(there.canonical, there.size) == wanted) return slots[slot];
  }
}

void EntityFinder::Impl::grow() {
  slots.assign(slots.size() * 2, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    slot_of(canonicals.view().substr(found[i].canonical, found[i].size)) =
        static_cast<std::uint32_t>(i + 1);
  }
}

void EntityFinder::Impl::add(std::size_t begin, std::size_t end, EntityKind kind, std::size_t words,
                             bool weak) {
  if (end - begin > 4 * kMaxEntityBytes) return;  // folding hardly makes it shorter than that
  const std::string_view form = canonical.of(text.substr(begin, end - begin));
  if (form.empty() || form.size() > kMaxEntityBytes) return;
  const std::uint8_t rank = rank_of(kind, words);
  std::uint32_t& slot = slot_of(form);
  if (slot != 0) {
    Found& there = found[slot - 1];
    there.weak = there.weak && weak;
    if (rank < there.rank) {
      there.rank = rank;
      there.kind = kind;
    }
    return;
  }
  found.push_back({begin, end, canonicals.size(), form.size(), kind, rank, weak});
  canonicals.append(form);
  slot = static_cast<std::uint32_t>(found.size());
  if (found.size() * 2 > slots.size()) grow();
}

void EntityFinder::Impl::choose() {
  if (german >= 2 && german > english) {
    std::erase_if(found, [](const Found& one) { return one.weak; });
  }
  if (found.size() > kEntities) {
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(kEntities);
    std::nth_element(found.begin(), last, found.end(), [](const Found& a, const Found& b) {
      return std::tie(a.rank, a.begin, a.end) < std::tie(b.rank, b.begin, b.end);
    });
    found.erase(last, found.end());
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
  });
}

void EntityFinder::Impl::show() {
  result.clear();
  for (const Found& one : found) {
    result.push_back(
        {one.begin, one.end, one.kind, canonicals.view().substr(one.canonical, one.size)});
  }
}

EntityFinder::EntityFinder() : impl_(std::make_unique<Impl>()) {}
EntityFinder::~EntityFinder() = default;
EntityFinder::EntityFinder(EntityFinder&&) noexcept = default;
EntityFinder& EntityFinder::operator=(EntityFinder&&) noexcept = default;

const std::vector<Entity>& EntityFinder::find(std::string_view text) {
  impl_->find(text);
  return impl_->result;
}

const std::vector<Entity>& EntityFinder::add_given(std::string_view name) {
  Impl& impl = *impl_;
  const std::string_view form = impl.canonical.of(name);
  if (form.empty()) return impl.result;
  for (std::size_t i = 0; i < impl.result.size(); ++i) {
    if (impl.result[i].canonical != form) continue;
    impl.found[i].kind = EntityKind::given;
    impl.show();
    return impl.result;
  }
  impl.found.push_back({0, 0, impl.canonicals.size(), form.size(), EntityKind::given, 0, false});
  impl.canonicals.append(form);
  impl.show();
  return impl.result;
}

}  // namespace strongroom::recall
