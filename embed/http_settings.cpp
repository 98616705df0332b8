// What an endpoint may be, as settings: checks, the id, the token file and JSON.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "crypto/hash.h"
#include "embed/http_asker.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxModelName = 256;
constexpr std::size_t kMaxPrefix = 1024;
constexpr std::size_t kMinCut = 64;
constexpr std::size_t kMaxCut = kMaxTextBytes - kMaxPrefix;  // one text fits into a request
constexpr std::size_t kMaxPath = 4095;
constexpr std::size_t kMaxToken = 8192;
constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::hours(1);
constexpr std::string_view kTokenFile = "token file";

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

void check_timeout(std::string_view field, std::chrono::milliseconds time) {
  if (time.count() < 1 || time > kMaxTimeout) {
    throw Error::invalid(field, "is not a time from 1 ms to one hour");
  }
}

void check_prefix(std::string_view field, std::string_view prefix) {
  if (prefix.size() > kMaxPrefix) throw Error::too_large(field, prefix.size(), kMaxPrefix);
  if (!valid_utf8(prefix)) throw Error::invalid(field, "is not valid UTF-8");
}

std::string_view name_of(HttpEndpoint::Shape shape) {
  return shape == HttpEndpoint::Shape::openai ? "openai" : "ollama";
}

// ---- JSON

constexpr std::array kMembers = std::to_array<std::string_view>(
    {"url", "shape", "model", "allow_remote", "token_file", "query_prefix", "passage_prefix",
     "query_timeout_ms", "passage_timeout_ms", "max_text_bytes", "dimensions", "c0", "c1",
     "model_id"});

class Members {
 public:
  explicit Members(const Json& object) : object_(object) {
    if (!object.is_object()) throw Error::invalid("model", "is not a JSON object");
    for (const Json::Member& member : object.members()) {
      if (std::find(kMembers.begin(), kMembers.end(), member.name) == kMembers.end()) {
        throw Error::invalid("model", "has a member that is not known");
      }
    }
  }

  const std::string& text(std::string_view name) const {
    return need(name, Json::Kind::string, "is not a string").as_string();
  }
  bool truth(std::string_view name) const {
    return need(name, Json::Kind::boolean, "is neither true nor false").as_bool();
  }
  std::int64_t whole(std::string_view name) const {
    const auto number = need(name, Json::Kind::number, "is not a number").as_int();
    if (!number || *number < 0) refuse(name, "is not a whole number");
    return *number;
  }
  float real(std::string_view name) const {
    const auto number = need(name, Json::Kind::number, "is not a number").as_double();
    if (!number) refuse(name, "is out of range");
    return static_cast<float>(*number);
  }

 private:
  [[noreturn]] static void refuse(std::string_view name, std::string_view why) {
    throw Error::invalid("model." + std::string(name), why);
  }
  const Json& need(std::string_view name, Json::Kind kind, std::string_view why) const {
    const Json* const found = object_.find(name);
    if (found == nullptr) refuse(name, "is missing");
    if (found->kind() != kind) refuse(name, why);
    return *found;
  }
  const Json& object_;
};

}  // namespace

void check_endpoint(const HttpEndpoint& endpoint) {
  check_reach(parse_endpoint(endpoint.url), endpoint.allow_remote);
  if (endpoint.model.empty() || endpoint.model.size() > kMaxModelName) {
    throw Error::invalid("model name", "is not 1 to 256 bytes long");
  }
  if (!valid_utf8(endpoint.model) || has_control(endpoint.model)) {
    throw Error::invalid("model name", "is not plain text");
  }
  const std::string& token = endpoint.token_file;
  const bool absolute = token.empty() || token.front() == '/';
  if (!absolute || token.size() > kMaxPath || token.find('\0') != std::string::npos ||
      !valid_utf8(token)) {
    throw Error::invalid(kTokenFile, "is not an absolute path");
  }
  check_prefix("query prefix", endpoint.query_prefix);
  check_prefix("passage prefix", endpoint.passage_prefix);
  check_timeout("query timeout", endpoint.query_timeout);
  check_timeout("passage timeout", endpoint.passage_timeout);
  if (endpoint.max_text_bytes < kMinCut || endpoint.max_text_bytes > kMaxCut) {
    throw Error::invalid("text limit", "is not from 64 to " + std::to_string(kMaxCut) + " bytes");
  }
}

void check_curve(const recall::EvidenceCurve& curve) {
  // Not a number fails each comparison.
  if (!(curve.c0 >= -1 && curve.c0 < curve.c1 && curve.c1 <= 1)) {
    throw Error::invalid("curve", "is not two cosines of which the second is larger");
  }
}

void check_model(const HttpModel& model) {
  check_endpoint(model);
  if (model.dimensions == 0 || model.dimensions > recall::kMaxDimensions ||
      model.dimensions % recall::kDimensionStep != 0) {
    throw Error::invalid("model.dimensions", "is not a multiple of 16 up to 1024");
  }
  check_curve(model.curve);
  if (model.model_id != id_of(model)) {
    throw Error::invalid("model.model_id", "does not belong to the rest of the model");
  }
}

std::string id_of(const HttpModel& model) {
  constexpr std::size_t kHashBytes = 8;
  constexpr std::string_view kHex = "0123456789abcdef";
  // An array, so that no two different models have one text.
  JsonWriter all;
  all.begin_array().string(name_of(model.shape)).string(model.url).string(model.model);
  all.string(model.query_prefix).string(model.passage_prefix);
  all.unsigned_integer(model.max_text_bytes).unsigned_integer(model.dimensions).end_array();
  const crypto::Hash32 hash = crypto::hash32(crypto::labels::kHttpModel, {all.text()});
  std::string id = "http-";
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    const auto byte = static_cast<unsigned char>(hash[i]);
    id.push_back(kHex[byte >> 4]);
    id.push_back(kHex[byte & 15]);
  }
  return id;
}

// The descriptor is checked, not the path: what was checked is what is read.
SecretBytes read_token(const std::string& path) {
  if (path.empty()) return {};
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK, kTokenFile);
  if (!fd) throw Error::invalid(kTokenFile, "does not exist");
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) throw_errno("check the token file", errno);
  if (!S_ISREG(info.st_mode)) throw Error::invalid(kTokenFile, "is not a regular file");
  if (info.st_uid != ::geteuid()) throw Error::invalid(kTokenFile, "belongs to another user");
  if ((info.st_mode & 077) != 0) {
    throw Error::invalid(kTokenFile, "is accessible to other users; make its mode 0600");
  }
  std::string read = read_all(fd->get(), kMaxToken, kTokenFile);
  std::string_view token = read;
  while (token.ends_with('\n') || token.ends_with('\r')) token.remove_suffix(1);
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7F; });
  SecretBytes out(token);
  wipe(read);
  if (out.empty() || !printable) {
    throw Error::invalid(kTokenFile, "does not hold one token of printable characters");
  }
  return out;
}

std::string to_json(const HttpModel& model) {
  JsonWriter out;
  out.begin_object();
  out.member("url", std::string_view(model.url)).member("shape", name_of(model.shape));
  out.member("model", std::string_view(model.model)).member("allow_remote", model.allow_remote);
  out.member("token_file", std::string_view(model.token_file));
  out.member("query_prefix", std::string_view(model.query_prefix));
  out.member("passage_prefix", std::string_view(model.passage_prefix));
  out.member("query_timeout_ms", std::int64_t{model.query_timeout.count()});
  out.member("passage_timeout_ms", std::int64_t{model.passage_timeout.count()});
  out.member("max_text_bytes", std::uint64_t{model.max_text_bytes});
  out.member("dimensions", std::uint64_t{model.dimensions});
  out.key("c0").number(double{model.curve.c0}).key("c1").number(double{model.curve.c1});
  out.member("model_id", std::string_view(model.model_id));
  out.end_object();
  return out.take();
}

HttpModel http_model_from_json(std::string_view json) {
  const Json parsed = Json::parse(json, "model");
  const Members members(parsed);
  HttpModel model;
  model.url = members.text("url");
  const std::string& shape = members.text("shape");
  if (shape != "openai" && shape != "ollama") {
    throw Error::invalid("model.shape", "is neither openai nor ollama");
  }
  model.shape = shape == "openai" ? HttpEndpoint::Shape::openai : HttpEndpoint::Shape::ollama;
  model.model = members.text("model");
  model.allow_remote = members.truth("allow_remote");
  model.token_file = members.text("token_file");
  model.query_prefix = members.text("query_prefix");
  model.passage_prefix = members.text("passage_prefix");
  model.query_timeout = std::chrono::milliseconds(members.whole("query_timeout_ms"));
  model.passage_timeout = std::chrono::milliseconds(members.whole("passage_timeout_ms"));
  model.max_text_bytes = static_cast<std::size_t>(members.whole("max_text_bytes"));
  model.dimensions = static_cast<std::size_t>(members.whole("dimensions"));
  model.curve = {members.real("c0"), members.real("c1")};
  model.model_id = members.text("model_id");
  check_model(model);
  return model;
}

}  // namespace strongroom::embed
