#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "base/error.h"
#include "base/json.h"
#include "embed/loaded_model.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kDigestDigits = 64;
constexpr std::int64_t kFormat = 1;

// The members of an object, each of which must be read, and no others.
class Members {
 public:
  Members(const Json& object, std::initializer_list<std::string_view> names) : object_(object) {
    if (!object.is_object()) throw Error::invalid("model", "is no object");
    for (const Json::Member& member : object.members()) {
      if (std::find(names.begin(), names.end(), member.name) == names.end()) {
        throw Error::invalid("model", "has a member that is not known");
      }
    }
  }

  const Json& get(std::string_view name) const {
    const Json* const value = object_.find(name);
    if (value == nullptr) throw Error::invalid(name, "is missing");
    return *value;
  }
  const std::string& text(std::string_view name) const {
    const Json& value = get(name);
    if (!value.is_string()) throw Error::invalid(name, "is no text");
    return value.as_string();
  }
  std::size_t number(std::string_view name) const {
    const auto value = get(name).as_int();
    if (!value || *value < 0) throw Error::invalid(name, "is no count");
    return static_cast<std::size_t>(*value);
  }
  float real(std::string_view name) const {
    const auto value = get(name).as_double();
    if (!value) throw Error::invalid(name, "is no number");
    const auto out = static_cast<float>(*value);
    if (!std::isfinite(out)) throw Error::invalid(name, "is out of its range");
    return out;
  }
  bool boolean(std::string_view name) const {
    const Json& value = get(name);
    if (!value.is_bool()) throw Error::invalid(name, "is neither true nor false");
    return value.as_bool();
  }
  /// The number of the name that the member has.
  std::size_t one_of(std::string_view name, const std::array<std::string_view, 2>& names) const {
    const std::string& value = text(name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (value == names[i]) return i;
    }
    throw Error::invalid(name, "has a value that is not known");
  }

 private:
  const Json& object_;
};

constexpr std::array<std::string_view, 2> kKinds = {"encoder", "cross_encoder"};
constexpr std::array<std::string_view, 2> kPoolings = {"mean", "cls"};

std::vector<PinnedFile> read_files(const Json& list) {
  std::vector<PinnedFile> out;
  for (const Json& item : list.items()) {
    const Members members(item, {"name", "sha256", "size"});
    PinnedFile file{members.text("name"), members.text("sha256"), members.number("size")};
    const bool digest = file.sha256.size() == kDigestDigits &&
                        file.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!digest) throw Error::invalid("sha256", "is no digest");
    const bool inside = !file.name.empty() && file.name.front() != '/' &&
                        file.name.find("..") == std::string::npos &&
                        file.name.find('\0') == std::string::npos;
    if (!inside) throw Error::invalid("name", "is no file of the folder");
    out.push_back(std::move(file));
  }
  if (out.empty()) throw Error::invalid("files", "is empty");
  return out;
}

}  // namespace

std::string to_json(const ModelFolder& folder) {
  JsonWriter out;
  out.begin_object();
  out.member("format", kFormat);
  out.member("path", folder.path);
  out.member("model_id", folder.model_id);
  out.member("dimensions", std::uint64_t{folder.dimensions});
  out.member("kind", kKinds[folder.kind == Kind::encoder ? 0 : 1]);
  out.member("pooling", kPoolings[folder.pooling == Pooling::mean ? 0 : 1]);
  out.member("query_prefix", folder.query_prefix);
  out.member("passage_prefix", folder.passage_prefix);
  out.member("max_tokens", std::uint64_t{folder.max_tokens});
  out.member("heads", std::uint64_t{folder.heads});
  out.member("lower_case", folder.lower_case);
  out.key("c0").number(double{folder.curve.c0});
  out.key("c1").number(double{folder.curve.c1});
  out.key("files").begin_array();
  for (const PinnedFile& file : folder.files) {
    out.begin_object();
    out.member("name", file.name).member("sha256", file.sha256).member("size", file.size);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

ModelFolder model_folder_from_json(std::string_view json) {
  const Json root = Json::parse(json, "model");
  const Members members(
      root, {"format", "path", "model_id", "dimensions", "kind", "pooling", "query_prefix",
             "passage_prefix", "max_tokens", "heads", "lower_case", "c0", "c1", "files"});
  if (members.number("format") != kFormat) {
    throw Error(Code::unsupported, "The model was added by a newer version.");
  }
  ModelFolder out;
  out.path = members.text("path");
  out.dimensions = members.number("dimensions");
  out.kind = members.one_of("kind", kKinds) == 0 ? Kind::encoder : Kind::cross_encoder;
  out.pooling = members.one_of("pooling", kPoolings) == 0 ? Pooling::mean : Pooling::cls;
  out.query_prefix = members.text("query_prefix");
  out.passage_prefix = members.text("passage_prefix");
  out.max_tokens = members.number("max_tokens");
  out.heads = members.number("heads");
  out.lower_case = members.boolean("lower_case");
  out.curve = {members.real("c0"), members.real("c1")};
  out.files = read_files(members.get("files"));
  out.model_id = members.text("model_id");
  if (out.model_id != make_model_id(out)) {
    throw Error::invalid("model_id", "does not fit the rest of the model");
  }
  return out;
}

}  // namespace strongroom::embed
