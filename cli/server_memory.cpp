#include "cli/server_memory.h"

#include "base/error.h"
#include "base/json.h"

namespace strongroom::cli {
namespace {

// A member that is a string with something in it, or nothing.
std::string text_of(const Json& object, std::string_view name) {
  const Json* const member = object.find(name);
  return member != nullptr && member->is_string() ? member->as_string() : std::string();
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= service::kMaxNameBytes;
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

class Reader {
 public:
  void line(const Line& line, std::string_view text) {
    number_ = line.number;
    ++out_.lines;
    try {
      const Json object = Json::parse(text, "line");
      if (!object.is_object()) return skip("is no JSON object");
      const std::string type = text_of(object, "type");
      if (type == "entity") return entity(object);
      if (type == "relation") return relation(object);
      skip("is neither an entity nor a relation");
    } catch (const Error&) {
      skip("is not valid JSON");
    }
  }
  ServerMemory take() { return std::move(out_); }

 private:
  void skip(std::string why) { out_.skipped.push_back({number_, std::move(why)}); }

  void entity(const Json& object) {
    const std::string name = text_of(object, "name");
    if (!is_name(name)) return skip("has no \"name\" of 1 to 256 bytes");
    const Json* const observations = object.find("observations");
    if (observations == nullptr || !observations->is_array()) {
      return skip("has no list of \"observations\"");
    }
    if (observations->items().empty()) return skip("is an entity without observations");
    ++out_.entities;
    const std::string type = text_of(object, "entityType");
    for (const Json& observation : observations->items()) {
      if (!observation.is_string() || is_blank(observation.as_string())) {
        skip("has an observation that is no text");
      } else {
        add(name, type, observation.as_string());
      }
    }
  }

  void add(const std::string& name, const std::string& type, const std::string& observation) {
    ItemStore::Named named;
    named.line = number_;
    // A memory stands alone: it must say what it is about.
    const bool says_so = observation.find(name) != observation.npos;
    named.item.content = says_so ? observation : name + ": " + observation;
    if (named.item.content.size() > service::kMaxContentBytes) {
      return skip("has an observation above 1 MiB");
    }
    named.item.entities = {name};
    if (!type.empty() && type.size() <= service::kMaxTagBytes) named.item.tags = {type};
    out_.items.push_back(std::move(named));
  }

  void relation(const Json& object) {
    ServerMemory::Relation relation{number_, text_of(object, "from"), text_of(object, "to"),
                                    text_of(object, "relationType")};
    if (!is_name(relation.from) || !is_name(relation.to) || !is_name(relation.relation)) {
      return skip("has no \"from\", \"to\" and \"relationType\" of 1 to 256 bytes");
    }
    out_.relations.push_back(std::move(relation));
  }

  ServerMemory out_;
  std::uint64_t number_ = 0;
};

}  // namespace

ServerMemory read_server_memory(const LineFile& file) {
  Reader reader;
  file.each([&](const Line& line, std::string_view text) { reader.line(line, text); });
  return reader.take();
}

}  // namespace strongroom::cli
