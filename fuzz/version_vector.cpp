// Version vectors: decoding, and the laws of comparing and merging.
#include "vault/version_vector.h"

#include <algorithm>
#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;
using vault::Lineage;
using vault::VersionVector;

namespace {

std::string encoded(const VersionVector& vector) {
  std::string out;
  vector.encode(out);
  return out;
}

Lineage mirrored(Lineage lineage) {
  switch (lineage) {
    case Lineage::newer:
      return Lineage::older;
    case Lineage::older:
      return Lineage::newer;
    case Lineage::equal:
    case Lineage::mixed:
      return lineage;
  }
  return lineage;
}

}  // namespace

FUZZ_TARGET(input) {
  std::string_view rest = input;
  VersionVector a, b;
  if (!fuzz::accepts({Code::corrupt}, [&] { a = VersionVector::decode(rest); })) return;
  fuzz::require(encoded(a) == input.substr(0, input.size() - rest.size()),
                "a vector is written the same");
  fuzz::require(a.compare(a) == Lineage::equal, "a vector equals itself");
  if (!fuzz::accepts({Code::corrupt}, [&] { b = VersionVector::decode(rest); })) return;
  fuzz::require(a.compare(b) == mirrored(b.compare(a)), "comparing has two sides");
  VersionVector merged = a;
  merged.merge(b);
  fuzz::require(merged.newest() == std::max(a.newest(), b.newest()), "merging keeps the newest");
  // A floor stands for replicas that are not listed, so only without one is a merge, entry by
  // entry, the maximum.
  const auto has_floor = [](const VersionVector& vector) { return vector.at(vault::Id16{}) != 0; };
  if (!has_floor(a) && !has_floor(b) && !has_floor(merged)) {
    for (const VersionVector& part : {a, b}) {
      const Lineage lineage = merged.compare(part);
      fuzz::require(lineage == Lineage::equal || lineage == Lineage::newer,
                    "a merge is never behind its parts");
    }
  }
  const std::string text = encoded(merged);
  std::string_view again = text;
  fuzz::require(encoded(VersionVector::decode(again)) == text, "a merge can be read back");
}
