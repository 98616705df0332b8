#include "embed/http_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/wipe.h"

namespace strongroom::embed {

namespace {

constexpr std::string_view kWhole = "answer";

// The floats of one vector at a time.
class Floats {
 public:
  explicit Floats(std::size_t size) : values_(size) {}
  ~Floats() { wipe(values_.data(), values_.size() * sizeof values_[0]); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float& operator[](std::size_t i) { return values_[i]; }
  std::span<const float> span() const { return values_; }

 private:
  std::vector<float> values_;
};

// A path that the JSON reader names, when its members are ones that an answer has; other members'
// names are the server's words.
bool path_is_known(std::string_view path) {
  constexpr std::array kKnown =
      std::to_array<std::string_view>({kWhole, "data", "embedding", "embeddings", "error", "index",
                                       "message", "model", "object", "usage"});
  for (;;) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view step = path.substr(0, dot);
    if (std::find(kKnown.begin(), kKnown.end(), step.substr(0, step.find('['))) == kKnown.end()) {
      return false;
    }
    if (dot == path.size()) return true;
    path.remove_prefix(dot + 1);
  }
}

class Reader {
 public:
  Reader(HttpEndpoint::Shape shape, std::size_t dimensions, std::span<recall::Embedding* const> out,
         std::string_view server)
      : openai_(shape == HttpEndpoint::Shape::openai),
        dimensions_(dimensions),
        out_(out),
        server_(server) {}

  void read(std::string_view body) const {
    const Json answer = parse(body);
    if (openai_) {
      read_openai(list(answer, "data"));
    } else {
      read_ollama(list(answer, "embeddings"));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::io, std::string(server_) + why + ".");
  }

  Json parse(std::string_view body) const {
    try {
      return Json::parse(body, kWhole);
    } catch (const Error& error) {
      // "Invalid: PATH WHY. [invalid]", and no path has a space.
      constexpr std::string_view kStart = "Invalid: ", kEnd = ". [invalid]";
      std::string_view text = error.text();
      text = text.substr(kStart.size(), text.size() - kStart.size() - kEnd.size());
      const std::string_view path = text.substr(0, text.find(' '));
      const std::string_view why = text.substr(path.size());
      refuse("sends no JSON that can be read: " + std::string(path_is_known(path) ? path : kWhole) +
             std::string(why));
    }
  }

  const std::vector<Json>& list(const Json& answer, std::string_view name) const {
    const Json* const found = answer.find(name);
    if (found == nullptr || !found->is_array()) {
      refuse("sends an answer without a list \"" + std::string(name) +
             "\"; is the endpoint of this kind?");
    }
    const std::vector<Json>& items = found->items();
    if (items.size() != out_.size()) {
      refuse("sends " + std::to_string(items.size()) + " vectors for " +
             std::to_string(out_.size()) + " texts");
    }
    return items;
  }

  void read_ollama(const std::vector<Json>& items) const {
    const std::size_t dimensions = dimensions_of(items.front());
    for (std::size_t i = 0; i < items.size(); ++i) read_vector(&items[i], dimensions, i);
  }

  void read_openai(const std::vector<Json>& items) const {
    const std::size_t dimensions = dimensions_of(*vector_of(items.front()));
    std::vector<bool> seen(items.size());
    for (const Json& item : items) {
      const std::size_t index = index_of(item);
      if (seen[index]) refuse("sends two vectors with index " + std::to_string(index));
      seen[index] = true;
      read_vector(vector_of(item), dimensions, index);
    }
  }

  std::size_t index_of(const Json& item) const {
    const Json* const index = item.find("index");
    const std::optional<std::int64_t> number = index == nullptr ? std::nullopt : index->as_int();
    if (!number || *number < 0 || static_cast<std::size_t>(*number) >= out_.size()) {
      refuse("sends a vector whose index is not the number of a text");
    }
    return static_cast<std::size_t>(*number);
  }

  const Json* vector_of(const Json& item) const {
    const Json* const vector = item.find("embedding");
    if (vector == nullptr) refuse("sends an item without \"embedding\"");
    return vector;
  }

  // What all vectors of this answer must have.
  std::size_t dimensions_of(const Json& vector) const {
    if (!vector.is_array()) refuse("sends a vector that is not a list of numbers");
    const std::size_t size = vector.items().size();
    if (dimensions_ != 0) return dimensions_;
    if (size == 0 || size > recall::kMaxDimensions || size % recall::kDimensionStep != 0) {
      throw Error(Code::unsupported, std::string(server_) + "gives vectors of " +
                                         std::to_string(size) +
                                         " dimensions; an index holds a multiple of " +
                                         std::to_string(recall::kDimensionStep) + " up to " +
                                         std::to_string(recall::kMaxDimensions) + ".");
    }
    return size;
  }

  void read_vector(const Json* vector, std::size_t dimensions, std::size_t index) const {
    if (!vector->is_array()) refuse("sends a vector that is not a list of numbers");
    const std::vector<Json>& items = vector->items();
    if (items.size() != dimensions) {
      refuse("sends a vector of " + std::to_string(items.size()) + " dimensions where " +
             std::to_string(dimensions) + " are expected; has the model changed?");
    }
    Floats floats(dimensions);
    bool zero = true;
    for (std::size_t d = 0; d < dimensions; ++d) {
      floats[d] = component(items[d]);
      zero = zero && floats[d] == 0;
    }
    if (zero) refuse("sends a vector of zeros");
    recall::quantise(floats.span(), *out_[index]);
  }

  float component(const Json& item) const {
    if (!item.is_number()) refuse("sends a vector with a component that is not a number");
    const std::optional<double> wide = item.as_double();
    const float value = wide ? static_cast<float>(*wide) : HUGE_VALF;
    if (!std::isfinite(value)) refuse("sends a vector with a number out of range");
    return value;
  }

  bool openai_;
  std::size_t dimensions_;
  std::span<recall::Embedding* const> out_;
  std::string_view server_;
};

std::string text_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

}  // namespace

std::size_t largest_answer(std::size_t texts, std::size_t dimensions) noexcept {
  constexpr std::size_t kNumber = 64, kVector = 512, kRest = 64u << 10;
  return texts * (dimensions * kNumber + kVector) + kRest;
}

void read_answer(HttpEndpoint::Shape shape, std::string_view body, std::size_t dimensions,
                 std::span<recall::Embedding* const> out, std::string_view server) {
  Reader(shape, dimensions, out, server).read(body);
}

std::string failure_words(std::string_view type, std::string_view body) {
  if (is_type(type, "text/plain")) return std::string(body);
  if (!is_type(type, "application/json")) return {};
  try {
    const Json json = Json::parse(body);
    const Json* const error = json.find("error");
    if (error != nullptr && error->is_object()) return text_of(error->find("message"));
    for (const std::string_view name : {"error", "message", "detail"}) {
      if (std::string words = text_of(json.find(name)); !words.empty()) return words;
    }
  } catch (const Error&) {
    // Whatever it is, it is no message; the status tells that there was a failure.
  }
  return {};
}

bool is_type(std::string_view header, std::string_view type) {
  header = header.substr(0, header.find(';'));
  while (header.ends_with(' ') || header.ends_with('\t')) header.remove_suffix(1);
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::equal(header.begin(), header.end(), type.begin(), type.end(), same);
}

}  // namespace strongroom::embed
