#include "cli/policy_edit.h"

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/editor.h"

namespace strongroom::cli {
namespace {

// A sealed text must have a version above the one before; nobody should have to count.
std::string with_next_version(const std::string& text) {
  const Json policy = Json::parse(text, "policy");
  const Json* const version = policy.find("version");
  const auto number = version == nullptr ? std::nullopt : version->as_int();
  if (!number) return text;
  const auto at = static_cast<std::size_t>(version->raw().data() - text.data());
  std::string next = text;
  return next.replace(at, version->raw().size(), std::to_string(*number + 1));
}

// The findings of a text that can be sealed; nullopt: the person wants to edit again.
std::optional<std::vector<std::string>> check(Context& context, const std::string& text) {
  try {
    return service::VaultAdmin::check_policy(text);
  } catch (const Error& error) {
    if (!context.terminal().person()) throw;
    write_stderr("strongroom: " + escape_for_display(error.text()) + "\n");
    if (!context.terminal().confirm("Edit again? No leaves the policy as it is.")) throw;
    return std::nullopt;
  }
}

}  // namespace

int edit_policy(Context& context) {
  if (context.globals().no_input) {
    throw Error::invalid("--no-input", "leaves nobody to edit; use \"policy seal FILE\"");
  }
  // The vault is not kept open while somebody thinks.
  const std::string offered =
      with_next_version(service::VaultAdmin(context.admin_options()).policy_text());
  PrivateFile file("policy.json", offered);
  for (;;) {
    const std::string text = file.edit(kMaxPolicyBytes);
    if (text == offered) {
      if (!context.json()) context.out().line("Nothing was changed.");
      return 0;
    }
    const auto findings = check(context, text);
    if (!findings) continue;
    if (!context.json()) show_findings(*findings);
    service::VaultAdmin(context.admin_options()).seal_policy(text);
    report_sealed(context, *findings);
    return 0;
  }
}

void show_findings(const std::vector<std::string>& findings) {
  for (const std::string& finding : findings) {
    write_stderr("warning: " + escape_for_display(finding) + "\n");
  }
}

void report_sealed(Context& context, const std::vector<std::string>& findings) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("sealed", true);
    write_strings(writer, "findings", findings);
    context.out().line(writer.end_object().text());
  } else {
    context.out().line("The policy is sealed.");
  }
}

}  // namespace strongroom::cli
