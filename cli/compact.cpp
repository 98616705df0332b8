// compact.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/compact_line.h"

namespace strongroom::cli {

void write_compact_line(Context& context, const service::CompactLine& line) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object();
    if (line.bank.empty()) {
      writer.member("vault", true);
    } else {
      writer.member("bank", line.bank);
    }
    writer.member("ok", !line.failed);
    if (line.failed) {
      writer.member("code", code_name(*line.failed)).member("text", line.problem);
    } else {
      writer.member("bytes_before", line.bytes_before).member("bytes_after", line.bytes_after);
    }
    writer.member("expired", line.expired).member("erased", line.erased);
    context.out().line(writer.member("erase_pending", line.erase_pending).end_object().text());
    return;
  }
  std::string text = line.bank.empty() ? "vault" : "bank " + escape_for_display(line.bank);
  text += ": ";
  if (line.failed) {
    text +=
        context.out().paint(Colour::yellow, "not compacted: ") + escape_for_display(line.problem);
  } else {
    text +=
        std::to_string(line.bytes_before) + " to " + std::to_string(line.bytes_after) + " bytes";
  }
  if (line.expired != 0) text += ", " + std::to_string(line.expired) + " expired removed";
  if (line.erased != 0) text += ", " + std::to_string(line.erased) + " erased for good";
  if (line.erase_pending != 0) text += ", " + std::to_string(line.erase_pending) + " erase pending";
  context.out().line(text);
}

namespace {

int compact(Context& context) {
  service::VaultAdmin admin(context.admin_options());
  int code = 0;
  admin.compact(context.bank(), [&](const service::CompactLine& line) {
    if (line.failed && code == 0) code = exit_code(*line.failed);
    write_compact_line(context, line);
  });
  return code;
}

}  // namespace

void add_compact_command(Command& root) {
  root.command("compact", "Rewrite the vault's files without free pages, or one bank's with --bank",
               compact);
}

}  // namespace strongroom::cli
