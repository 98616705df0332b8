// A row of the index's tail: attributes, times, terms and words.
#include <string>

#include "fuzz/fuzz.h"
#include "recall/tail.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  recall::TailRow row;
  if (!fuzz::accepts({Code::corrupt}, [&] { row = recall::decode_tail_row(input); })) return;
  fuzz::require(row.terms.size() * 9 + row.words.size() <= input.size(), "what is read was there");
  const std::string once(recall::encode_tail_row(row).view());
  const std::string twice(recall::encode_tail_row(recall::decode_tail_row(once)).view());
  fuzz::require(once == twice, "a row is written the same");
}
