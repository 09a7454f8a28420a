// The table of routes: one row says what a path does, for the router, the checks of requests, and /openapi.json.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "server/exchange.h"
#include "server/family.h"
#include "server/http/http_message.h"

namespace alate::server {

struct Services;
struct Route;

/// A request at its route.
struct Call {
  Services& services;
  const Route& route;
  std::shared_ptr<Exchange> exchange;
  std::map<std::string, std::string, std::less<>> parameters;  // of the path, decoded
  formats::Json body;  // fits the route's schema; null where the route takes none or reads it itself
};

enum class Access {
  keyed,    // needs a key where the server has keys, of a role that may use models
  open,     // health: never does
  metrics,  // needs a key of any role where the server has keys
  admin,    // needs a key with the role admin; where the server has no keys, a client on this machine
};

/// An answer that is not an error; errors are documented by family.
struct RouteAnswer {
  int status = 200;
  std::string_view description;
  std::string_view content_type = "application/json";
  std::string_view schema = {};  // JSON Schema text; empty for what is no JSON
};

struct Route {
  Method method = Method::get;  // a GET route answers HEAD too
  std::string_view path;        // "/v1/models/{model}": {model} takes one or two segments, other names one
  Family family = Family::native;
  std::string_view id;       // operationId: "createEmbedding"
  std::string_view summary;  // one line
  /// Answers through call.exchange, now or later, from any thread. Throws RequestError or alate::Error instead of
  /// answering; both get the family's shape.
  void (*handle)(Call& call) = nullptr;
  std::string_view body = {};  // JSON Schema text of the body; empty: the route takes none
  std::vector<RouteAnswer> answers = {};
  Access access = Access::keyed;
  bool reads_body_itself = false;  // other types than JSON too: `body` documents the JSON one
  bool computes = false;           // takes a place among max_concurrent_requests, and may answer 503, 429 and 504
  std::vector<std::string_view> aliases = {};  // further paths, not in /openapi.json
};

// The rows of each family, in the file named after it.
std::vector<Route> native_routes();
std::vector<Route> openai_routes();
std::vector<Route> tei_routes();
std::vector<Route> cohere_routes();
std::vector<Route> ollama_routes();
std::vector<Route> kserve_routes();
std::vector<Route> operations_routes();

/// Finds rows by method and path. Immutable; thread-safe.
class Router {
 public:
  /// `base_path` ("" or "/something") stands before every path but those of Access::open, which answer with it and
  /// without it.
  explicit Router(std::vector<Route> routes, std::string base_path = "");
  ~Router();

  struct Match {
    const Route* route = nullptr;  // null: none for this method
    std::map<std::string, std::string, std::less<>> parameters;
    std::vector<Method> allowed;  // of the path, for Allow; empty: no such path
  };
  /// Literal segments win over {…}. HEAD finds a GET route. An escape that does not decode is no such path.
  Match find(Method method, std::string_view path) const;

  std::span<const Route> routes() const;
  const std::string& base_path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
