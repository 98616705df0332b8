#include "cli/erase.h"

#include "base/time.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "service/vault_admin.h"

namespace strongroom::cli {

Erasure::Erasure(Context& context, const std::string& bank,
                 const std::optional<service::EraseReceipt>& receipt)
    : receipt_(receipt) {
  if (!receipt_) return;
  try {
    service::VaultAdmin admin(context.admin_options());
    for (const service::CompactLine& line : admin.compact(bank)) {
      if (!line.failed) continue;
      problem_ = line.problem;
      code_ = exit_code(*line.failed);
    }
    receipt_->pending = code_ != 0;
  } catch (const Error& error) {
    problem_ = error.text();
    code_ = exit_code(error.code());
  }
}

void Erasure::write(JsonWriter& writer) const {
  if (!receipt_) return;
  writer.key("receipt").begin_object().member("id", receipt_->id);
  writer.member("time", format_time(receipt_->time));
  write_strings(writer, "destroyed", receipt_->destroyed);
  write_strings(writer, "not_reached", receipt_->not_reached);
  writer.end_object().member("erase_pending", receipt_->pending);
  if (receipt_->pending) writer.member("problem", problem_);
}

void Erasure::print(Output& out) const {
  if (!receipt_) return;
  out.line("receipt: " + receipt_->id + ", " + format_time(receipt_->time));
  for (const std::string& what : receipt_->destroyed) out.line("destroyed: " + what);
  for (const std::string& what : receipt_->not_reached) out.line("not reached: " + what);
  if (!receipt_->pending) return;
  out.line(out.paint(Colour::yellow, "erase pending: ") + escape_for_display(problem_));
  out.line("The file still holds it, sealed. \"strongroom compact\" completes the erasure.");
}

}  // namespace strongroom::cli
