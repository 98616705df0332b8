// The textual editing behind connect.h: pure functions from a file's bytes to new bytes.
//
// An addition is one piece of text put in at one place; plan_undo() relies on that.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strongroom::service::connect_edit {

inline constexpr std::string_view kServerName = "strongroom";

/// What a client is to run.
struct Entry {
  bool typed = false;  // write "type": "stdio"
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
};

struct Edit {
  enum class Kind { same, added, replaced, removed, absent };
  Kind kind = Kind::same;
  std::string text;                    // the whole file after the edit
  std::vector<std::string> old_lines;  // of our entry, values that are not ours left out
};

/// Whether an environment variable of an old entry is ours, so that its value may be shown.
bool is_our_variable(std::string_view name) noexcept;

/// `section` is the member that holds the servers. `subject` names the file in errors
/// (Code::invalid). A text of white space only counts as a new file.
Edit put_json(std::string_view text, std::string_view section, const Entry& entry,
              std::string_view subject);
Edit remove_json(std::string_view text, std::string_view section, std::string_view subject);
/// Our entry alone, indented, without its name and without a line end.
std::string json_entry(const Entry& entry);
/// Whether the two texts are the same JSON but for white space and for an empty `section`.
bool same_json(std::string_view a, std::string_view b, std::string_view section);

Edit put_toml(std::string_view text, const Entry& entry, std::string_view subject);
Edit remove_toml(std::string_view text, std::string_view subject);
std::string toml_entry(const Entry& entry);

/// "\r\n" when the first line ends so, else "\n".
std::string_view line_end_of(std::string_view text) noexcept;

/// The bytes of a byte order mark at the start of the text: 3 or 0.
std::size_t byte_order_mark(std::string_view text) noexcept;

}  // namespace strongroom::service::connect_edit
