// The credential scanner over any text: bounded, and a finding lies inside the text.
#include "fuzz/fuzz.h"
#include "policy/secret_scanner.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  const auto finding = policy::find_credential(input);
  if (!finding) return;
  fuzz::require(!finding->kind.empty(), "a finding has a kind");
  fuzz::require(finding->length > 0 && finding->offset <= input.size() &&
                    finding->length <= input.size() - finding->offset,
                "a finding lies inside the text");
}
