// Times that a text speaks of, by both readings; the first eight bytes are the reference.
#include "recall/temporal.h"

#include <cstring>
#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;
using recall::Reading;
using recall::TimeExpression;

namespace {

void check(const std::string& text, TimeMs reference, Reading reading) {
  const auto times = recall::find_times(text, reference, reading);
  fuzz::require(times == recall::find_times(text, reference, reading), "times are always the same");
  std::size_t end = 0;
  for (const TimeExpression& time : times) {
    fuzz::require(time.begin >= end && time.end > time.begin && time.end <= text.size(),
                  "times are in order and inside the text");
    fuzz::require(valid_utf8(text.substr(time.begin, time.end - time.begin)),
                  "no time begins or ends inside a code point");
    fuzz::require(time.start < time.until && time.start >= recall::kOpenStart &&
                      time.until <= recall::kOpenUntil,
                  "a time has a length and is in the years that a date names");
    fuzz::require(!recall::describe(time).empty(), "a time can be told");
    end = time.end;
  }
  const auto one = recall::occurred_time(times);
  fuzz::require(!one || one->relation == recall::Relation::in, "what occurred has two ends");
}

}  // namespace

FUZZ_TARGET(input) {
  TimeMs reference = 0;
  if (input.size() < sizeof reference) return;
  std::memcpy(&reference, input.data(), sizeof reference);
  const std::string text = fuzz::valid_text(input.substr(sizeof reference));
  check(text, reference, Reading::query);
  check(text, reference, Reading::text);
  recall::query_times(text, reference);
}
