// Editing the configuration files of clients: one byte chooses JSON or TOML, the rest is the file.
#include <functional>
#include <string>

#include "base/json.h"
#include "fuzz/fuzz.h"
#include "service/connect_edit.h"

using namespace strongroom;
namespace edit = service::connect_edit;

namespace {

const edit::Entry kEntry{true, "/usr/bin/strongroom", {"mcp", "--profile"}, {{"KEY", "a \"b\""}}};

void check(std::string_view text, const std::function<edit::Edit(std::string_view)>& put,
           const std::function<edit::Edit(std::string_view)>& remove) {
  edit::Edit made;
  if (!fuzz::accepts({Code::invalid, Code::unsupported}, [&] { made = put(text); })) return;
  const edit::Edit again = put(made.text);
  fuzz::require(again.kind == edit::Edit::Kind::same, "putting twice changes nothing");
  const edit::Edit taken = remove(made.text);
  fuzz::require(taken.kind == edit::Edit::Kind::removed, "what was put can be taken out");
  fuzz::require(remove(taken.text).kind == edit::Edit::Kind::absent, "and is then gone");
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty() || input.size() > 4096) return;
  const bool toml = input.front() == 'T';
  input.remove_prefix(1);
  if (toml) {
    check(
        input, [](std::string_view text) { return edit::put_toml(text, kEntry, "the file"); },
        [](std::string_view text) { return edit::remove_toml(text, "the file"); });
  } else {
    check(
        input,
        [](std::string_view text) {
          return edit::put_json(text, "mcpServers", kEntry, "the file");
        },
        [](std::string_view text) { return edit::remove_json(text, "mcpServers", "the file"); });
  }
}
