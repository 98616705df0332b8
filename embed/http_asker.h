// One request for vectors: texts out, vectors in. Shared by the embedder and by the inspection.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "embed/http_client.h"
#include "embed/http_embedder.h"

namespace strongroom::embed {

inline constexpr std::size_t kMaxTexts = 64;              // of a request
inline constexpr std::size_t kMaxTextBytes = 256u << 10;  // of a request, prefixes included

class HttpAsker {
 public:
  /// The endpoint has passed check_endpoint.
  explicit HttpAsker(const HttpEndpoint& endpoint);
  ~HttpAsker();
  HttpAsker(const HttpAsker&) = delete;
  HttpAsker& operator=(const HttpAsker&) = delete;

  /// What of a text is sent, without its prefix.
  std::string_view cut(std::string_view text) const;
  std::size_t bytes(std::string_view text, recall::Side side) const {
    return prefix(side).size() + cut(text).size();
  }

  /// 1 to kMaxTexts texts; out[i] becomes the vector of texts[i]. `dimensions` as in read_answer.
  /// Throws Error.
  void ask(std::span<const std::string_view> texts, recall::Side side, std::size_t dimensions,
           std::span<recall::Embedding* const> out);

 private:
  const std::string& prefix(recall::Side side) const {
    return side == recall::Side::query ? endpoint_.query_prefix : endpoint_.passage_prefix;
  }
  SecretBytes request_body(std::span<const std::string_view> texts, recall::Side side);
  void check_status(const HttpAnswer& answer, std::span<const std::string_view> texts,
                    std::string_view token) const;

  const HttpEndpoint endpoint_;
  HttpClient client_;
  std::string quoted_;  // a text at a time; never grows beyond what is reserved
};

/// Throws Error invalid, naming the field, for an endpoint that cannot be asked.
void check_endpoint(const HttpEndpoint& endpoint);

/// check_endpoint, and that what was learned is possible and model_id belongs to it.
void check_model(const HttpModel& model);

/// Throws Error invalid for a curve of which the second cosine is not the larger one.
void check_curve(const recall::EvidenceCurve& curve);

/// The model_id that belongs to the rest of the model.
std::string id_of(const HttpModel& model);

/// The bearer token in a file, without its final line break; empty for an empty path. Throws Error
/// invalid for a file that others may read, that is not a regular file of this user, or that holds
/// something else; its content is never repeated.
SecretBytes read_token(const std::string& path);

}  // namespace strongroom::embed
