// The manifest of an index.
#include "recall/manifest.h"

#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  recall::Manifest manifest;
  if (!fuzz::accepts({Code::corrupt, Code::unsupported},
                     [&] { manifest = recall::decode_manifest(input); })) {
    return;
  }
  fuzz::require(manifest.next_row - manifest.tail_start <= recall::kTailRows, "a tail is short");
  for (const recall::SegmentInfo& segment : manifest.segments) {
    for (const recall::Row row : {segment.first, segment.last}) {
      fuzz::require(manifest.segment_of(row) == &segment, "a row is in its segment");
    }
  }
  fuzz::require(manifest.segment_of(0) == nullptr, "there is no row 0");
  fuzz::require(manifest.segment_of(manifest.tail_start) == nullptr, "the tail is in no segment");
  const std::string once(recall::encode_manifest(manifest).view());
  const std::string twice(recall::encode_manifest(recall::decode_manifest(once)).view());
  fuzz::require(once == twice, "a manifest is written the same");
}
