#include "vault/links.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace strongroom::vault {
namespace {

// The required fields of a link, as bits.
constexpr unsigned kFrom = 1, kTo = 2, kRelation = 4;

LinkEnd decode_end(std::string_view text) {
  LinkEnd end;
  if (text.size() >= 2 && text.substr(0, 2) == "e:") {
    end.entity = text.substr(2);
    return end;
  }
  const char* const last = text.data() + text.size();
  if (text.size() < 3 || text.substr(0, 2) != "m:" || text[2] == '0') {
    throw_corrupt("a link has an unknown end");
  }
  const auto [at, error] = std::from_chars(text.data() + 2, last, end.memory);
  if (error != std::errc() || at != last) throw_corrupt("a link has an unknown end");
  return end;
}

Link decode_link(RecordId id, std::string_view bytes) {
  Link link;
  link.id = id;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 1:
        link.from = decode_end(body.bytes());
        required |= kFrom;
        break;
      case 3:
        link.to = decode_end(body.bytes());
        required |= kTo;
        break;
      case 4: link.created = body.i64(); break;
      case 5:
        link.relation = body.bytes();
        required |= kRelation;
        break;
      case 18: link.principal = body.bytes(); break;
      case 32: link.valid_from = body.i64(); break;
      case 34: link.valid_until = body.i64(); break;
      case 36: link.quotes = decode_list(body.bytes()); break;
      default: body.unknown();
    }
  }
  if (required != (kFrom | kTo | kRelation)) throw_corrupt("a link lacks a field");
  return link;
}

LinkPage decode_page(std::string_view bytes) {
  LinkPage page;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    ++required;
    switch (body.id()) {
      case 7: page.end = decode_end(body.bytes()); break;
      case 9: page.previous = body.u64(); break;
      case 11: {
        const std::string_view ids = body.bytes();
        if (ids.size() % sizeof(RecordId) != 0) throw_corrupt("a page of links is cut off");
        for (std::size_t at = 0; at < ids.size(); at += sizeof(RecordId)) {
          page.links.push_back(load_le<RecordId>(ids, at));
        }
        break;
      }
      default: body.unknown(); --required;
    }
  }
  if (required != 3) throw_corrupt("a page of links lacks a field");
  if (page.links.empty() || page.links.size() > kLinksPerPage) {
    throw_corrupt("a page of links has a wrong number of them");
  }
  return page;
}

// Links begin with the end that they come from.
bool is_link(std::string_view body) {
  BodyReader reader(body);
  return reader.next() && reader.id() == 1;
}

Link open_link(BankRead& bank, RecordId id, SecretBytes& plain) {
  auto record = open_link_record(bank, id, plain);
  auto* const link = std::get_if<Link>(&record);
  if (link == nullptr) throw_corrupt("a page of links lists another record");
  return std::move(*link);
}

LinkPage open_page(BankRead& bank, RecordId id, const LinkEnd& end, SecretBytes& plain) {
  auto record = open_link_record(bank, id, plain);
  auto* const page = std::get_if<LinkPage>(&record);
  if (page == nullptr || !(page->end == end)) {
    throw_corrupt("an end of links leads to another record");
  }
  // Pages of one end ascend in time, so a damaged chain cannot go in circles.
  if (page->previous >= id) throw_corrupt("pages of links are out of order");
  return std::move(*page);
}

SecretBytes encode_link(const Link& link) {
  BodyWriter body;
  body.field(1, end_name(link.from));
  body.field(3, end_name(link.to));
  body.i64(4, link.created);
  body.field(5, link.relation);
  body.field(18, link.principal);
  if (link.valid_from) body.i64(32, *link.valid_from);
  if (link.valid_until) body.i64(34, *link.valid_until);
  if (!link.quotes.empty()) body.list(36, link.quotes);
  return body.take();
}

SecretBytes encode_page(const LinkPage& page) {
  BodyWriter body;
  body.field(7, end_name(page.end));
  body.u64(9, page.previous);
  body.begin(11, page.links.size() * sizeof(RecordId));
  for (const RecordId id : page.links) body.raw(IntegerKey(id).view());
  return body.take();
}

// Adds a link to the newest page of an end, or begins a page.
void list_link(BankWrite& bank, const LinkEnd& end, RecordId link) {
  const std::string name = end_name(end);
  const auto newest = bank.find(Kind::link, name);
  LinkPage page;
  if (newest) {
    SecretBytes plain;
    page = open_page(bank, *newest, end, plain);
    if (page.links.size() < kLinksPerPage) {
      page.links.push_back(link);
      bank.replace(Kind::link, *newest, encode_page(page).view());
      return;
    }
  }
  page.end = end;
  page.previous = newest.value_or(0);
  page.links = {link};
  bank.bind(Kind::link, name, bank.append(Kind::link, encode_page(page).view()));
}

// Takes an empty page out of the chain; `after` is the page that points at it, 0 for the name.
void drop_page(BankWrite& bank, const LinkEnd& end, RecordId id, RecordId previous,
               RecordId after) {
  bank.erase(id);
  if (after != 0) {
    SecretBytes plain;
    LinkPage page = open_page(bank, after, end, plain);
    page.previous = previous;
    bank.replace(Kind::link, after, encode_page(page).view());
  } else if (previous != 0) {
    bank.bind(Kind::link, end_name(end), previous);
  } else {
    bank.unbind(Kind::link, end_name(end));
  }
}

void unlist_link(BankWrite& bank, const LinkEnd& end, RecordId link) {
  SecretBytes plain;
  RecordId after = 0;
  for (RecordId id = bank.find(Kind::link, end_name(end)).value_or(0); id != 0;) {
    LinkPage page = open_page(bank, id, end, plain);
    const auto at = std::find(page.links.begin(), page.links.end(), link);
    if (at != page.links.end()) {
      page.links.erase(at);
      if (page.links.empty()) {
        drop_page(bank, end, id, page.previous, after);
      } else {
        bank.replace(Kind::link, id, encode_page(page).view());
      }
      return;
    }
    after = id;
    id = page.previous;
  }
  throw_corrupt("a link is not listed at its end");
}

void erase_link(BankWrite& bank, const Link& link) {
  bank.erase(link.id);
  bank.unbind(Kind::link, link_name(link.from, link.to, link.relation));
  --bank.mutable_head().counts.links;
}

// Every page of an end, newest first.
void for_each_page(BankRead& bank, const LinkEnd& end,
                   const std::function<bool(RecordId, const LinkPage&)>& visit) {
  SecretBytes plain;
  for (RecordId id = bank.find(Kind::link, end_name(end)).value_or(0); id != 0;) {
    const LinkPage page = open_page(bank, id, end, plain);
    if (!visit(id, page)) return;
    id = page.previous;
  }
}

}  // namespace

std::string end_name(const LinkEnd& end) {
  return end.memory != 0 ? "m:" + std::to_string(end.memory) : "e:" + end.entity;
}

std::string link_name(const LinkEnd& from, const LinkEnd& to, std::string_view relation) {
  std::string name = "l:";
  for (const std::string& end : {end_name(from), end_name(to)}) {
    append_varint(name, end.size());
    name.append(end);
  }
  append_varint(name, relation.size());
  name.append(relation);
  return name;
}

std::variant<Link, LinkPage> open_link_record(BankRead& bank, RecordId id, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::link) throw_corrupt("a record is not of a link");
  if (is_link(record.body)) return decode_link(id, record.body);
  return decode_page(record.body);
}

std::optional<Link> find_link(BankRead& bank, const LinkEnd& from, const LinkEnd& to,
                              std::string_view relation) {
  const auto id = bank.find(Kind::link, link_name(from, to, relation));
  if (!id) return std::nullopt;
  SecretBytes plain;
  Link link = open_link(bank, *id, plain);
  if (!(link.from == from) || !(link.to == to) || link.relation != relation) {
    throw_corrupt("a link's name leads to another link");
  }
  return link;
}

bool put_link(BankWrite& bank, Link& link, TimeMs now) {
  if (const auto old = find_link(bank, link.from, link.to, link.relation)) {
    const bool same = old->valid_from == link.valid_from && old->valid_until == link.valid_until;
    link.id = old->id;
    link.created = old->created;
    link.principal = old->principal;
    link.quotes = old->quotes;
    if (!same) bank.replace(Kind::link, link.id, encode_link(link).view());
    return false;
  }
  link.created = now;
  link.id = bank.append(Kind::link, encode_link(link).view());
  bank.bind(Kind::link, link_name(link.from, link.to, link.relation), link.id);
  list_link(bank, link.from, link.id);
  if (!(link.to == link.from)) list_link(bank, link.to, link.id);
  ++bank.mutable_head().counts.links;
  return true;
}

bool remove_link(BankWrite& bank, const LinkEnd& from, const LinkEnd& to,
                 std::string_view relation) {
  const auto link = find_link(bank, from, to, relation);
  if (!link) return false;
  unlist_link(bank, from, link->id);
  if (!(to == from)) unlist_link(bank, to, link->id);
  erase_link(bank, *link);
  return true;
}

void for_each_link(BankRead& bank, const LinkEnd& end,
                   const std::function<bool(const Link&)>& visit) {
  SecretBytes plain;
  for_each_page(bank, end, [&](RecordId, const LinkPage& page) {
    return std::all_of(page.links.rbegin(), page.links.rend(), [&](RecordId id) {
      const Link link = open_link(bank, id, plain);
      if (!(link.from == end) && !(link.to == end)) {
        throw_corrupt("an end of links lists another end's link");
      }
      return visit(link);
    });
  });
}

std::uint64_t count_links(BankRead& bank, const LinkEnd& end) {
  std::uint64_t count = 0;
  for_each_page(bank, end, [&](RecordId, const LinkPage& page) {
    count += page.links.size();
    return true;
  });
  return count;
}

void remove_links(BankWrite& bank, const LinkEnd& end) {
  std::vector<RecordId> pages, links;
  for_each_page(bank, end, [&](RecordId id, const LinkPage& page) {
    pages.push_back(id);
    links.insert(links.end(), page.links.begin(), page.links.end());
    return true;
  });
  if (pages.empty()) return;
  SecretBytes plain;
  for (const RecordId id : links) {
    const Link link = open_link(bank, id, plain);
    if (!(link.from == end)) unlist_link(bank, link.from, id);
    if (!(link.to == end)) unlist_link(bank, link.to, id);
    erase_link(bank, link);
  }
  for (const RecordId id : pages) bank.erase(id);
  bank.unbind(Kind::link, end_name(end));
}

}  // namespace strongroom::vault
