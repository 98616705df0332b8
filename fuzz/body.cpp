// The body of a record: fields, integers and lists.
#include <optional>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "vault/format.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  vault::BodyWriter again;
  std::string unknown;
  std::uint32_t last = 0;
  const bool read = fuzz::accepts({Code::corrupt}, [&] {
    for (vault::BodyReader body(input); body.next();) {
      fuzz::require(body.id() > last, "fields ascend");
      last = body.id();
      fuzz::require(body.bytes().size() <= input.size(), "a field is a part of the body");
      again.field(body.id(), body.bytes());
      if (body.id() % 2 == 0) body.unknown(&unknown);
      std::vector<std::string> items;
      if (fuzz::accepts({Code::corrupt}, [&] { items = body.list(); })) {
        vault::BodyWriter list;
        list.list(1, items);
        vault::BodyReader back(list.body().view());
        fuzz::require(back.next() && back.bytes() == body.bytes(), "a list is written the same");
      }
      fuzz::accepts({Code::corrupt}, [&] { (void)body.u8(); });
      fuzz::accepts({Code::corrupt}, [&] { (void)body.u32(); });
      fuzz::accepts({Code::corrupt}, [&] { (void)body.u64(); });
      fuzz::accepts({Code::corrupt}, [&] { (void)body.i64(); });
      fuzz::accepts({Code::corrupt}, [&] { (void)body.id16(); });
      fuzz::require(
          body.id() % 2 == 0 || !fuzz::accepts({Code::unsupported}, [&] { body.unknown(); }),
          "an unknown required field is refused");
    }
  });
  if (!read) return;
  fuzz::require(again.body().view() == input, "a body is written the same");
  vault::BodyWriter kept;
  kept.unknown(unknown);
  fuzz::require(kept.body().view() == unknown, "unknown fields survive");

  std::string_view rest = input;
  std::optional<std::uint64_t> number;
  if (fuzz::accepts({Code::corrupt}, [&] { number = vault::take_varint(rest); })) {
    std::string bytes;
    vault::append_varint(bytes, *number);
    fuzz::require(input.substr(0, input.size() - rest.size()) == bytes, "numbers have one form");
  }
}
