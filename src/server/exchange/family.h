// API families of routes. The family decides the format and the status codes of errors.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "server/exchange/http_message.h"

namespace alate::server {

enum class Family { native, openai, anthropic, tei, cohere, ollama, kserve, operations };

/// All families, in the order in which pages list them.
std::span<const Family> families();
/// "native", "openai": the spelling used in tags and labels.
std::string_view to_string(Family family);
/// The family responsible for a path, known route or not, by its prefix. The path excludes the server's base path.
Family family_of_path(std::string_view path);

/// An error, before it is put into a family's format.
struct Problem {
  enum class Kind {
    malformed,        // not JSON, not HTTP: 400
    invalid,          // JSON that does not fit the route's schema: 400; TEI 422
    empty,            // no text where one is required: 400, for TEI's "Empty"
    impossible,       // fits the schema, but the model cannot do it: 422; OpenAI, Anthropic and Cohere 400
    too_long,         // a text longer than the model allows that must not be truncated: as impossible; TEI 413
    too_many,         // more inputs than the server accepts: 413; OpenAI, Anthropic and Cohere 400
    unauthenticated,  // 401
    forbidden,        // a foreign web page or Host: 403
    not_found,        // no such route: 404
    no_model,         // no such model: 404
    not_allowed,      // 405
    timeout_reading,  // 408
    too_large,        // the body is too large: 413
    wrong_type,       // 415
    overloaded,       // 503; OpenAI, Anthropic, TEI and Cohere 429
    not_ready,        // shutting down, or loading: 503
    unsupported,      // 501; OpenAI, Anthropic and Cohere 400, TEI 422
    timeout,          // 504
    internal,         // 500; TEI 424, as its own server does
  };
  Kind kind = Kind::internal;
  std::string message;
  std::string parameter;           // the offending field, if any: "input", "dimensions"
  std::optional<int> status;       // overrides the kind's status, for HTTP-level errors (414, 431, 501, 505)
  std::optional<int> retry_after;  // seconds; defaults to 1 for overloaded and not_ready
  std::string accepted = {};       // of wrong_type: the media types that the route takes
};

/// The status code of a kind of problem in a family.
int status_of(Family family, Problem::Kind kind);

/// What a library error means to a client. If the error names a local path or is a server fault, its message is
/// replaced by a general one.
Problem problem_of(const Error& error);

/// The answer in the family's format and with its status.
Response to_response(Family family, const Problem& problem);

/// Thrown by routes for errors that `Error` has no code for.
class RequestError : public std::exception {
 public:
  explicit RequestError(Problem problem) : problem_(std::move(problem)) {}
  const Problem& problem() const { return problem_; }
  const char* what() const noexcept override { return problem_.message.c_str(); }

 private:
  Problem problem_;
};

}  // namespace alate::server
