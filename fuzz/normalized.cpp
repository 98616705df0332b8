// What makes two texts the same, and recall's own answers told from other text.
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "recall/analyzer.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  const std::string text = fuzz::valid_text(input);
  const std::string same = recall::normalized(text);
  fuzz::require(valid_utf8(same), "normalized text is UTF-8");
  fuzz::require(same.empty() || (same.front() != ' ' && same.back() != ' '),
                "its ends are trimmed");
  fuzz::require(same.find("  ") == std::string::npos && same.find('\n') == std::string::npos,
                "white space is one blank");
  fuzz::require(recall::normalized(text) == same, "it is always the same");
  fuzz::require(recall::normalized("\n " + text + "\t ") == same,
                "white space around is no matter");
  if (text.find("(id: ") == std::string::npos) {
    fuzz::require(recall::normalized(escape_for_display(text)) == same,
                  "a text and its display are the same");
    const std::string bullet = "- " + text + " [world] (2026-11-21T21:40:05.123Z) (id: k7q2m-1f)";
    fuzz::require(recall::normalized(bullet) == same, "a text and its bullet are the same");
  }

  std::vector<std::string_view> bullets;
  if (!recall::is_recall_output(text, &bullets)) return;
  fuzz::require(recall::is_recall_output(text), "with and without bullets it is the same");
  const char* last = text.data();
  for (const std::string_view bullet : bullets) {
    fuzz::require(fuzz::inside(bullet, text) && bullet.data() >= last, "bullets follow each other");
    fuzz::require(bullet.starts_with("-"), "a bullet begins as one");
    (void)recall::normalized(bullet);
    last = bullet.data() + bullet.size();
  }
}
