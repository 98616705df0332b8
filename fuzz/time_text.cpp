// Times as callers write them, in JSON and on the command line.
#include <string>

#include "base/time.h"
#include "cli/time_argument.h"
#include "fuzz/fuzz.h"
#include "service/memories.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  constexpr TimeMs kNow = 1'770'000'000'000;
  TimeMs argument = 0;
  const bool cli = fuzz::accepts(
      {Code::invalid}, [&] { argument = cli::parse_time_argument(input, kNow, "--since"); });
  TimeMs time = 0;
  if (!fuzz::accepts({Code::invalid}, [&] { time = service::parse_time(input, "timestamp"); })) {
    return;
  }
  const std::string text = format_time(time);
  fuzz::require(service::parse_time(text, "timestamp") == time, "a time is written the same");
  fuzz::require(!cli || argument == time, "both readers agree");
}
