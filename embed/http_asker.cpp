#include "embed/http_asker.h"

#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "embed/http_answer.h"
#include "embed/server_words.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMostEscaped = 6;  // bytes of JSON for one of a text: \u0001

// The largest vector whose size is told, so that an unsupported model is named as such.
constexpr std::size_t kMaxLearned = 8192;

}  // namespace

HttpAsker::HttpAsker(const HttpEndpoint& endpoint)
    : endpoint_(endpoint), client_(parse_endpoint(endpoint.url), endpoint.allow_remote) {
  quoted_.reserve(kMostEscaped * endpoint_.max_text_bytes + 2);
}

HttpAsker::~HttpAsker() {
  wipe(quoted_);
}

std::string_view HttpAsker::cut(std::string_view text) const {
  return utf8_prefix(text, endpoint_.max_text_bytes);
}

SecretBytes HttpAsker::request_body(std::span<const std::string_view> texts, recall::Side side) {
  const std::string before = json_quoted(prefix(side));
  SecretBytes body("{\"model\":" + json_quoted(endpoint_.model) + ",\"input\":[");
  for (const std::string_view text : texts) {
    if (!body.view().ends_with('[')) body.append(",");
    json_quote(quoted_, cut(text));
    body.append(std::string_view(before).substr(0, before.size() - 1));
    body.append(std::string_view(quoted_).substr(1));
    quoted_.clear();
  }
  body.append("]}");
  wipe(quoted_);
  return body;
}

void HttpAsker::ask(std::span<const std::string_view> texts, recall::Side side,
                    std::size_t dimensions, std::span<recall::Embedding* const> out) {
  const SecretBytes token = read_token(endpoint_.token_file);
  const SecretBytes body = request_body(texts, side);
  const auto timeout =
      side == recall::Side::query ? endpoint_.query_timeout : endpoint_.passage_timeout;
  const std::size_t most = largest_answer(texts.size(), dimensions == 0 ? kMaxLearned : dimensions);
  HttpAnswer answer;
  client_.post({body.view(), token.view(), timeout, most}, answer);
  check_status(answer, texts, token.view());
  read_answer(endpoint_.shape, answer.body.view(), dimensions, out, client_.server());
}

void HttpAsker::check_status(const HttpAnswer& answer, std::span<const std::string_view> texts,
                             std::string_view token) const {
  constexpr long kGood = 200;
  if (answer.status == kGood) {
    if (is_type(answer.type, "application/json")) return;
    throw Error(Code::io, client_.server() + "sends something other than application/json.");
  }
  std::vector<std::string_view> sent(texts.begin(), texts.end());
  sent.push_back(token);
  const std::string status = std::to_string(answer.status);
  if (!answer.moved.empty() || (answer.status >= 300 && answer.status < 400)) {
    std::string where = "elsewhere";
    try {
      const Endpoint moved = parse_endpoint(answer.moved);
      if (!repeats(moved.host, sent)) where = moved.origin();
    } catch (const Error&) {
      // A place that cannot be read is not shown.
    }
    throw Error(Code::io, client_.server() + "redirects to " + where + " (status " + status +
                              "), and redirects are not followed; give the final URL.");
  }
  std::string raw = failure_words(answer.type, answer.body.view());
  const std::string words = server_words(raw, sent);
  wipe(raw);
  throw Error(Code::io, client_.server() + "answers with status " + status +
                            (words.empty() ? "." : ": " + words));
}

}  // namespace strongroom::embed
