#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "service/connect_edit.h"

namespace strongroom::service::connect_edit {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// How the text around our entry is laid out, so that the entry looks like its neighbours.
struct Layout {
  bool lines = true;        // a member a line; else all in one line
  bool spaced = true;       // in one line: a space after ',' and ':'
  std::string end = "\n";   // of a line
  std::string unit = "  ";  // one level of indentation
  std::string indent;       // of the member itself

  Layout deeper() const {
    Layout inner = *this;
    inner.indent += unit;
    return inner;
  }
  std::string_view colon() const { return lines || spaced ? ": " : ":"; }
  std::string_view comma() const { return spaced ? ", " : ","; }
};

using Members = std::vector<std::pair<std::string, std::string>>;  // name, value as JSON

std::string write_object(const Members& members, const Layout& layout) {
  std::string out = "{";
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (layout.lines) {
      if (i > 0) out += ',';
      out += layout.end + layout.indent + layout.unit;
    } else if (i > 0) {
      out += layout.comma();
    }
    json_quote(out, members[i].first);
    out.append(layout.colon()).append(members[i].second);
  }
  if (layout.lines && !members.empty()) out += layout.end + layout.indent;
  return out + "}";
}

std::string write_entry(const Entry& entry, const Layout& layout) {
  Members members;
  if (entry.typed) members.emplace_back("type", "\"stdio\"");
  members.emplace_back("command", json_quoted(entry.command));
  std::string args = "[";
  for (const std::string& arg : entry.args) {
    if (args.size() > 1) args += layout.lines ? std::string_view(", ") : layout.comma();
    json_quote(args, arg);
  }
  members.emplace_back("args", args + "]");
  if (!entry.env.empty()) {
    Members env;
    for (const auto& [name, value] : entry.env) env.emplace_back(name, json_quoted(value));
    members.emplace_back("env", write_object(env, layout.deeper()));
  }
  return write_object(members, layout);
}

std::string write_section(const Entry& entry, const Layout& layout) {
  return write_object({{std::string(kServerName), write_entry(entry, layout.deeper())}}, layout);
}

/// A parsed file with the positions that the reader does not keep.
class Document {
 public:
  Document(std::string_view text, std::string_view section, std::string_view subject)
      : text_(text), mark_(byte_order_mark(text)) {
    try {
      root_ = Json::parse(text.substr(mark_), subject);
    } catch (const Error&) {
      throw Error::invalid(subject,
                           "is not strict JSON (comments, trailing commas and double members "
                           "cannot be kept safely), so it is left alone; --print shows what to "
                           "add by hand");
    }
    if (!root_.is_object()) throw Error::invalid(subject, "does not hold a JSON object");
    servers_ = root_.find(section);
    if (servers_ != nullptr && !servers_->is_object()) {
      throw Error::invalid(subject,
                           "has a member " + json_quoted(section) + " that is not an object");
    }
    entry_ = servers_ == nullptr ? nullptr : servers_->find(kServerName);
  }

  const Json& root() const { return root_; }
  const Json* servers() const { return servers_; }
  const Json* entry() const { return entry_; }

  std::size_t begin(const Json& value) const {
    return static_cast<std::size_t>(value.raw().data() - text_.data());
  }
  std::size_t end(const Json& value) const { return begin(value) + value.raw().size(); }

  static std::size_t index_of(const Json& object, const Json* value) {
    std::size_t i = 0;
    while (&object.members()[i].value != value) ++i;
    return i;
  }
  /// Where what comes before member `i` ends: a value, or the brace.
  std::size_t previous_end(const Json& object, std::size_t i) const {
    return i == 0 ? begin(object) + 1 : end(object.members()[i - 1].value);
  }
  std::size_t key(const Json& object, std::size_t i) const {
    std::size_t at = text_.find_first_not_of(kSpace, previous_end(object, i));
    if (i > 0) at = text_.find_first_not_of(kSpace, at + 1);  // the comma
    return at;
  }
  /// The white space right before the name of member `i`.
  std::string_view lead(const Json& object, std::size_t i) const {
    const std::size_t at = key(object, i);
    const std::size_t from = text_.find_last_not_of(kSpace, at - 1) + 1;
    return text_.substr(from, at - from);
  }

  /// The layout of a new or present member of `object`: as member `like`, whose lead decides.
  Layout like(const Json& object, std::size_t i) const {
    Layout layout;
    layout.end = line_end_of(text_);
    const std::string_view space = lead(object, i);
    layout.lines = space.find('\n') != std::string_view::npos;
    layout.spaced = !space.empty();
    layout.unit = unit();
    if (layout.lines) layout.indent = space.substr(space.rfind('\n') + 1);
    return layout;
  }

  /// The text with one member more at the end of `object`. `layout` is that of the new member.
  std::string with_member(const Json& object, std::string_view name, const std::string& value,
                          const Layout& layout) const {
    const std::string member = json_quoted(name) + std::string(layout.colon()) + value;
    std::string out(text_);
    if (!object.members().empty()) {
      const std::string lead_in = layout.lines ? layout.end + layout.indent : std::string();
      const std::string_view space = lead(object, object.members().size() - 1);
      return out.insert(end(object.members().back().value),
                        "," + (layout.lines ? lead_in : std::string(space)) + member);
    }
    std::string piece = member;
    if (layout.lines) {
      piece.insert(0, layout.end + layout.indent);
      // The brace stays on its line when it has one; else it gets one, a level further out.
      if (object.raw().find('\n') == std::string_view::npos) {
        const std::size_t outer =
            layout.indent.size() - std::min(layout.indent.size(), layout.unit.size());
        piece += layout.end + layout.indent.substr(0, outer);
      }
    }
    return out.insert(begin(object) + 1, piece);
  }

  std::string without_member(const Json& object, std::size_t i) const {
    std::size_t from = previous_end(object, i);
    std::size_t to = end(object.members()[i].value);
    if (object.members().size() == 1) {
      to = end(object) - 1;
    } else if (i == 0) {
      from = key(object, 0);
      to = key(object, 1);
    }
    return std::string(text_.substr(0, from)) + std::string(text_.substr(to));
  }

  std::string with_value(const Json& value, const std::string& replacement) const {
    return std::string(text_.substr(0, begin(value))) + replacement +
           std::string(text_.substr(end(value)));
  }

 private:
  std::string unit() const {
    if (root_.members().empty()) return "  ";
    const std::string_view space = lead(root_, 0);
    const std::size_t line = space.rfind('\n');
    return line == std::string_view::npos ? "  " : std::string(space.substr(line + 1));
  }

  std::string_view text_;
  std::size_t mark_;
  Json root_;
  const Json* servers_ = nullptr;
  const Json* entry_ = nullptr;
};

bool is_text(const Json* value, std::string_view text) {
  return value != nullptr && value->is_string() && value->as_string() == text;
}

/// Whether an entry already runs what we want; members that we never write are the user's.
bool runs(const Json& old, const Entry& entry) {
  if (!old.is_object() || !is_text(old.find("command"), entry.command)) return false;
  if (old.find("url") != nullptr || old.find("httpUrl") != nullptr) return false;
  if (old.find("type") != nullptr && !is_text(old.find("type"), "stdio")) return false;
  const Json* args = old.find("args");
  if (args == nullptr || !args->is_array() || args->items().size() != entry.args.size()) {
    return false;
  }
  for (std::size_t i = 0; i < entry.args.size(); ++i) {
    if (!is_text(&args->items()[i], entry.args[i])) return false;
  }
  const Json* env = old.find("env");
  if (env == nullptr) return entry.env.empty();
  if (!env->is_object() || env->members().size() != entry.env.size()) return false;
  for (const auto& [name, value] : entry.env) {
    if (!is_text(env->find(name), value)) return false;
  }
  return true;
}

/// An old entry for people: what may be a secret is left out.
std::vector<std::string> shown(const Json& old) {
  if (!old.is_object()) return {"a value that is no object"};
  std::vector<std::string> lines;
  for (const Json::Member& member : old.members()) {
    const std::string name = json_quoted(member.name) + ": ";
    if (member.name == "type" || member.name == "command" || member.name == "args") {
      lines.push_back(name + json_compact(member.value.raw()));
    } else if (member.name == "env" && member.value.is_object()) {
      for (const Json::Member& variable : member.value.members()) {
        lines.push_back(
            "\"env\": " + json_quoted(variable.name) + ": " +
            (is_our_variable(variable.name) ? json_compact(variable.value.raw()) : "..."));
      }
    } else {
      lines.push_back(name + "...");
    }
  }
  return lines;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kSpace, byte_order_mark(text)) == std::string_view::npos;
}

}  // namespace

bool is_our_variable(std::string_view name) noexcept {
  return name == "STRONGROOM_VAULT" || name == "STRONGROOM_KEYFILE" ||
         name == "STRONGROOM_PASSPHRASE_FILE";
}

std::string_view line_end_of(std::string_view text) noexcept {
  const std::size_t at = text.find('\n');
  return at != std::string_view::npos && at > 0 && text[at - 1] == '\r' ? "\r\n" : "\n";
}

std::size_t byte_order_mark(std::string_view text) noexcept {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

Edit put_json(std::string_view text, std::string_view section, const Entry& entry,
              std::string_view subject) {
  if (is_blank(text)) {
    Layout top;
    const std::string root =
        write_object({{std::string(section), write_section(entry, top.deeper())}}, top);
    return {Edit::Kind::added, std::string(text) + root + "\n", {}};
  }
  const Document document(text, section, subject);
  if (const Json* old = document.entry()) {
    if (runs(*old, entry)) return {Edit::Kind::same, std::string(text), {}};
    const Json& servers = *document.servers();
    const Layout layout = document.like(servers, Document::index_of(servers, old));
    return {Edit::Kind::replaced, document.with_value(*old, write_entry(entry, layout)),
            shown(*old)};
  }
  const Json& root = document.root();
  if (const Json* servers = document.servers()) {
    const Layout layout = servers->members().empty()
                              ? document.like(root, Document::index_of(root, servers)).deeper()
                              : document.like(*servers, servers->members().size() - 1);
    return {Edit::Kind::added,
            document.with_member(*servers, kServerName, write_entry(entry, layout), layout),
            {}};
  }
  Layout layout;
  if (root.members().empty()) {
    layout.end = line_end_of(text);
    layout.indent = layout.unit;
  } else {
    layout = document.like(root, root.members().size() - 1);
  }
  return {Edit::Kind::added,
          document.with_member(root, section, write_section(entry, layout), layout),
          {}};
}

Edit remove_json(std::string_view text, std::string_view section, std::string_view subject) {
  if (is_blank(text)) return {Edit::Kind::absent, std::string(text), {}};
  const Document document(text, section, subject);
  if (document.entry() == nullptr) return {Edit::Kind::absent, std::string(text), {}};
  const Json& servers = *document.servers();
  return {Edit::Kind::removed,
          document.without_member(servers, Document::index_of(servers, document.entry())),
          shown(*document.entry())};
}

std::string json_entry(const Entry& entry) {
  return write_entry(entry, Layout());
}

bool same_json(std::string_view a, std::string_view b, std::string_view section) {
  const auto canonical = [&](std::string_view text) {
    if (is_blank(text)) return std::string("{}");
    const Document document(text, section, "JSON");
    const Json* servers = document.servers();
    if (servers == nullptr || !servers->members().empty())
      return json_compact(text.substr(byte_order_mark(text)));
    const std::string rest =
        document.without_member(document.root(), Document::index_of(document.root(), servers));
    return json_compact(std::string_view(rest).substr(byte_order_mark(rest)));
  };
  return canonical(a) == canonical(b);
}

}  // namespace strongroom::service::connect_edit
