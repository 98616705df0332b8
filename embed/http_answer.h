// What an endpoint answers, read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "embed/http_embedder.h"
#include "recall/embedder.h"

namespace strongroom::embed {

/// Bytes of the largest answer with `texts` vectors that is taken. Generous: numbers may have all
/// their digits and a line each.
std::size_t largest_answer(std::size_t texts, std::size_t dimensions) noexcept;

/// Reads an answer of status 200: one vector for each of `out`, all of `dimensions`, or, when that
/// is 0, of one number that an index can hold. Throws Error io for whatever else it is, unsupported
/// for a number of dimensions that an index cannot hold. `server` starts the sentence of an error;
/// nothing of the answer is in it.
void read_answer(HttpEndpoint::Shape shape, std::string_view body, std::size_t dimensions,
                 std::span<recall::Embedding* const> out, std::string_view server);

/// What the body of a failure says in words: the text of its member "error", "message" or "detail",
/// or a body of type text/plain. Empty when nothing is found.
std::string failure_words(std::string_view type, std::string_view body);

/// True when a Content-Type header's value is of this type, whatever its parameters.
bool is_type(std::string_view header, std::string_view type);

}  // namespace strongroom::embed
