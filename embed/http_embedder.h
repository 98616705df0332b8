// A model behind an HTTP endpoint: an Ollama, llama.cpp, vLLM or the like on this machine, or, when
// it is allowed explicitly, a service elsewhere. What is embedded is sent there in the clear of the
// connection, so this is off unless an owner asks for it.
//
// - Without `allow_remote` only this machine is asked: the host is 127.0.0.0/8, [::1] or localhost,
//   and every address is checked again when its socket is made. With it, other hosts are asked
//   over https alone, with their certificate checked.
// - No proxy, redirect, cookie, password file or compression is used, whatever the environment
//   says.
// - An answer is bounded in size and time and checked number by number. Errors name the server by
//   scheme, host and port; they hold no text that was sent and no token. Of what the server says
//   about a failure at most 200 characters are shown, without the words that were sent to it.
// - Buffers are wiped, libcurl's own too; those of a TLS library are not in our hands.
//
// libcurl is loaded at first use and is not linked: whoever asks no endpoint needs no libcurl.
//
// Errors: invalid for settings, unsupported for a missing libcurl and for numbers of dimensions
// that an index cannot hold, io for all that an endpoint does wrong.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "recall/embedder.h"

namespace strongroom::embed {

/// Where the model is and how it is asked.
struct HttpEndpoint {
  enum class Shape {
    openai,  // POST {"model","input":[...]} -> {"data":[{"index","embedding":[...]}]}, any order
    ollama,  // POST {"model","input":[...]} -> {"embeddings":[[...]]}
  };

  std::string url;  // of the endpoint itself: http://127.0.0.1:11434/api/embed
  Shape shape = Shape::openai;
  std::string model;  // as the server calls it
  bool allow_remote = false;
  /// Absolute path of a file with a bearer token, or empty. It is read for each request and must be
  /// a regular file of this user that nobody else may read (mode 0600).
  std::string token_file;
  /// Put before what is asked and before what is stored, as the model's makers tell.
  std::string query_prefix, passage_prefix;
  /// Of one request, from the first look-up to the last byte. Connecting takes 2 s of it at most.
  std::chrono::milliseconds query_timeout{10'000}, passage_timeout{60'000};
  /// A longer text is cut at a character's border, before its prefix is put on; what follows is not
  /// sent. Servers differ in what they do with a text that their model cannot hold.
  std::size_t max_text_bytes = 8'000;
};

/// What an owner gives.
struct HttpOptions : HttpEndpoint {
  /// -1 <= c0 < c1 <= 1. That of the built-in model; others need their own, which can be set in an
  /// HttpModel later, since no vector depends on it.
  recall::EvidenceCurve curve{0.1F, 0.8F};
};

/// What is stored: the endpoint, and what was learned from it.
struct HttpModel : HttpEndpoint {
  std::size_t dimensions = 0;
  recall::EvidenceCurve curve{};
  /// "http-" and 16 hex digits of a hash over all that makes a vector what it is: shape, URL,
  /// model, prefixes, cut and dimensions.
  std::string model_id;
};

/// Checks the options, asks the endpoint for two texts of ours as passages and for one of them as a
/// query, and tells what it is. Nothing of a vault is sent. A model that gives both texts the same
/// vector is an error.
HttpModel inspect_endpoint(const HttpOptions& options);

/// An embedder that asks the endpoint. Opens no socket and reads no file before the first text.
///
/// At most 64 texts and 256 KiB of text go into one request. A text of nothing but white space is
/// not sent and gets an empty vector. A request is repeated once when a connection that had been
/// used before turns out closed, and never otherwise. A vector may differ in its last bit with the
/// batch that its text is in, where the server computes that way. Not to be used after a fork.
std::unique_ptr<recall::Embedder> open_http(const HttpModel& model);

/// One line of JSON with every field, and back. from_json is strict: an unknown, missing or
/// malformed member is Error invalid, and so is a model_id that is not that of the rest.
std::string to_json(const HttpModel& model);
HttpModel http_model_from_json(std::string_view json);

}  // namespace strongroom::embed
