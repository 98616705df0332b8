#include <algorithm>

#include "memory_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

std::vector<RecordId> links_of(BankRead& bank, const LinkEnd& end) {
  std::vector<RecordId> ids;
  for_each_link(bank, end, [&](const Link& link) {
    ids.push_back(link.id);
    return true;
  });
  REQUIRE(count_links(bank, end) == ids.size());
  return ids;
}

RecordId link_up(BankWrite& write, const LinkEnd& from, const LinkEnd& to,
                 const std::string& relation) {
  Link link = link_of(from, to, relation);
  REQUIRE(put_link(write, link, 1));
  return link.id;
}

}  // namespace

TEST_CASE("a link comes back with every field", "[links]") {
  const TestVault test(false);
  Link link = link_of(end_of(17), end_of("Ada"), "mentions");
  link.valid_from = 10;
  link.valid_until = 20;
  {
    auto vault = test.open();
    in_global(*vault, [&](BankWrite& write) {
      REQUIRE_FALSE(find_link(write, link.from, link.to, link.relation));
      REQUIRE(put_link(write, link, 1000));
    });
  }
  auto vault = test.open();
  BankRead view = vault->open_bank(kGlobalBank)->read();
  const auto found = find_link(view, link.from, link.to, link.relation);
  REQUIRE(found);
  REQUIRE(found->id == link.id);
  REQUIRE(found->from == link.from);
  REQUIRE(found->to == link.to);
  REQUIRE(found->relation == "mentions");
  REQUIRE(found->valid_from == 10);
  REQUIRE(found->valid_until == 20);
  REQUIRE(found->created == 1000);
  REQUIRE(found->principal == "test");
  REQUIRE_FALSE(find_link(view, link.to, link.from, link.relation));
  REQUIRE_FALSE(find_link(view, link.from, link.to, "mention"));
  REQUIRE(view.head().counts.links == 1);
  require_sound(*vault);
}

TEST_CASE("a repeated link takes the new validity and stays one", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    const RecordId id = link_up(write, end_of(1), end_of(2), "similar");
    Link again = link_of(end_of(1), end_of(2), "similar");
    again.valid_until = 99;
    again.principal = "another";
    REQUIRE_FALSE(put_link(write, again, 5000));
    REQUIRE(again.id == id);
    REQUIRE(again.created == 1);
    REQUIRE(again.principal == "test");
    const auto found = find_link(write, end_of(1), end_of(2), "similar");
    REQUIRE(found->valid_until == 99);
    REQUIRE(found->created == 1);
    REQUIRE(links_of(write, end_of(1)) == std::vector<RecordId>{id});
    REQUIRE(write.head().counts.links == 1);
  });
  require_sound(*vault);
}

TEST_CASE("links whose parts look alike are apart", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    const std::vector<Link> links = {
        link_of(end_of(5), end_of("x"), "r"),
        link_of(end_of("m:5"), end_of("x"), "r"),
        link_of(end_of("5"), end_of("x"), "r"),
        link_of(end_of(5), end_of("xr"), ""),
        link_of(end_of(5), end_of(""), "xr"),
        link_of(end_of("x"), end_of(5), "r"),
        link_of(end_of("e:x"), end_of("x"), "r"),
        link_of(end_of("l:"), end_of("m:"), "e:"),
        link_of(end_of("x"), end_of("x"), "r"),
        link_of(end_of(5), end_of(5), "r"),
        link_of(end_of(5), end_of(std::string(2000, 'x')), std::string(1, '\0'))};
    for (Link link : links) REQUIRE(put_link(write, link, 1));
    for (const Link& link : links) {
      const auto found = find_link(write, link.from, link.to, link.relation);
      REQUIRE((found && found->from == link.from && found->to == link.to));
    }
    REQUIRE(links_of(write, end_of(5)).size() == 6);
    REQUIRE(links_of(write, end_of("x")).size() == 6);
  });
  require_sound(*vault);
}

TEST_CASE("a hub of 3,000 links is listed newest first and shrinks again", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  const LinkEnd hub = end_of("hub");
  std::vector<RecordId> ids;
  in_global(*vault, [&](BankWrite& write) {
    for (RecordId i = 1; i <= 3000; ++i) {
      ids.push_back(i % 2 == 0 ? link_up(write, hub, end_of(i), "r")
                               : link_up(write, end_of(i), hub, "r"));
    }
  });
  const auto newest_first = [&] { return std::vector<RecordId>(ids.rbegin(), ids.rend()); };
  {
    BankRead view = vault->open_bank(kGlobalBank)->read();
    REQUIRE(links_of(view, hub) == newest_first());
    // 30 pages of the hub, a page and a record for each link.
    REQUIRE(view.txn().rows(Table::records) == 30 + 3000 + 3000);
    std::size_t seen = 0;
    for_each_link(view, hub, [&](const Link&) { return ++seen < 150; });
    REQUIRE(seen == 150);
  }
  require_sound(*vault);
  // Single ones, then whole pages: the newest, the oldest, one between.
  in_global(*vault, [&](BankWrite& write) {
    const auto remove = [&](RecordId i) {
      const bool out = i % 2 == 0;
      REQUIRE(remove_link(write, out ? hub : end_of(i), out ? end_of(i) : hub, "r"));
      REQUIRE_FALSE(remove_link(write, out ? hub : end_of(i), out ? end_of(i) : hub, "r"));
    };
    std::vector<RecordId> rest;
    for (RecordId i = 1; i <= 3000; ++i) {
      const bool whole = i <= 100 || i > 2900 || (i > 1500 && i <= 1600);
      if (whole || i % 7 == 0) {
        remove(i);
      } else {
        rest.push_back(ids[i - 1]);
      }
    }
    ids = rest;
    REQUIRE(links_of(write, hub) == newest_first());
    ids.push_back(link_up(write, hub, end_of(1), "again"));
    REQUIRE(links_of(write, hub) == newest_first());
    REQUIRE(write.head().counts.links == ids.size());
  });
  require_sound(*vault);
  in_global(*vault, [&](BankWrite& write) { remove_links(write, hub); });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE(links_of(view, hub).empty());
  REQUIRE(view.txn().rows(Table::records) == 0);
  REQUIRE(view.txn().rows(Table::names) == 0);
  REQUIRE(view.head().counts.links == 0);
  require_sound(*vault);
}

TEST_CASE("removing the links of one end leaves the others", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    link_up(write, end_of(1), end_of(2), "r");
    link_up(write, end_of(2), end_of(1), "r");
    link_up(write, end_of(1), end_of(1), "r");
    link_up(write, end_of(1), end_of("Ada"), "r");
    const RecordId kept = link_up(write, end_of(2), end_of("Ada"), "r");
    REQUIRE(links_of(write, end_of(1)).size() == 4);
    remove_links(write, end_of(3));
    remove_links(write, end_of(1));
    REQUIRE(links_of(write, end_of(1)).empty());
    REQUIRE(links_of(write, end_of(2)) == std::vector<RecordId>{kept});
    REQUIRE(links_of(write, end_of("Ada")) == std::vector<RecordId>{kept});
    REQUIRE(write.head().counts.links == 1);
  });
  require_sound(*vault);
}

TEST_CASE("a link to itself is listed once", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    const RecordId id = link_up(write, end_of("a"), end_of("a"), "is");
    REQUIRE(links_of(write, end_of("a")) == std::vector<RecordId>{id});
    REQUIRE(remove_link(write, end_of("a"), end_of("a"), "is"));
    REQUIRE(links_of(write, end_of("a")).empty());
    REQUIRE(write.txn().rows(Table::records) == 0);
  });
}

TEST_CASE("names of links that lead elsewhere are corrupt", "[links]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    const LinkEnd a = end_of(1), b = end_of(2), c = end_of(3);
    const RecordId ab = link_up(write, a, b, "r"), bc = link_up(write, b, c, "r");
    const RecordId page_a = *write.find(Kind::link, end_name(a));
    const RecordId memory = add_memory(write, small_memory("x"), 1);
    for (const RecordId wrong : {bc, page_a, memory}) {
      write.bind(Kind::link, link_name(a, b, "r"), wrong);
      REQUIRE(code_of([&] { find_link(write, a, b, "r"); }) == Code::corrupt);
    }
    write.bind(Kind::link, link_name(a, b, "r"), ab);
    for (const RecordId wrong : {ab, *write.find(Kind::link, end_name(c)), memory}) {
      write.bind(Kind::link, end_name(a), wrong);
      REQUIRE(code_of([&] { count_links(write, a); }) == Code::corrupt);
    }
    write.bind(Kind::link, end_name(a), page_a);
  });
  require_sound(*vault);
}
