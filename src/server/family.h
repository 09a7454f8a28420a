// Families of routes: whose clients they are for, and so the shape and the statuses of their errors.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "server/http/http_message.h"

namespace alate::server {

enum class Family { native, openai, anthropic, tei, cohere, ollama, kserve, operations };

/// All of them, in the order that pages list them.
std::span<const Family> families();
/// "native", "openai": as tags and labels have it.
std::string_view to_string(Family family);
/// The family that answers for a path, known route or not, by its prefix; the path is without the server's base path.
Family family_of_path(std::string_view path);

/// Something a request does not get, before it has a family's shape.
struct Problem {
  enum class Kind {
    malformed,        // not JSON, not HTTP: 400
    invalid,          // JSON that does not fit the route's schema: 400; TEI 422
    empty,            // no text where there must be one: 400, for TEI's "Empty"
    impossible,       // fits the schema, but the model cannot: 422; OpenAI, Anthropic and Cohere 400
    too_long,         // a text over the model's length that must not be cut: as impossible; TEI 413
    too_many,         // more inputs than the server takes: 413; OpenAI, Anthropic and Cohere 400
    unauthenticated,  // 401
    forbidden,        // a foreign web page or Host: 403
    not_found,        // no such route: 404
    no_model,         // no such model: 404
    not_allowed,      // 405
    timeout_reading,  // 408
    too_large,        // the body: 413
    wrong_type,       // 415
    overloaded,       // 503; OpenAI, Anthropic, TEI and Cohere 429
    not_ready,        // shutting down, or loading: 503
    unsupported,      // 501; OpenAI, Anthropic and Cohere 400, TEI 422
    timeout,          // 504
    internal,         // 500; TEI 424, which is what its server says
  };
  Kind kind = Kind::internal;
  std::string message;
  std::string parameter;           // the field that is wrong, where one is: "input", "dimensions"
  std::optional<int> status;       // instead of the kind's own, for what HTTP alone names (414, 431, 501, 505)
  std::optional<int> retry_after;  // seconds; overloaded and not_ready have 1 without it
};

/// The status of a kind of problem in a family.
int status_of(Family family, Problem::Kind kind);

/// What an error of the library means to a client. Where the error names a path of this machine, or is a fault of ours,
/// a general sentence stands for its message.
Problem problem_of(const Error& error);

/// The answer in the family's shape and with its status.
Response to_response(Family family, const Problem& problem);

/// Thrown by routes for what `Error` has no code for.
class RequestError : public std::exception {
 public:
  explicit RequestError(Problem problem) : problem_(std::move(problem)) {}
  const Problem& problem() const { return problem_; }
  const char* what() const noexcept override { return problem_.message.c_str(); }

 private:
  Problem problem_;
};

}  // namespace alate::server
