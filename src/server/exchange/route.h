// The route table. One row describes a path for the router, the request checks and /openapi.json.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "server/exchange/exchange.h"
#include "server/exchange/family.h"
#include "server/exchange/http_message.h"

namespace alate::server {

struct Services;
struct Route;

/// A request dispatched to its route.
struct Call {
  Services& services;
  const Route& route;
  std::shared_ptr<Exchange> exchange;
  std::map<std::string, std::string, std::less<>> parameters;  // path parameters, decoded
  formats::Json body;  // fits the route's schema; null if the route takes no body or reads it itself
};

enum class Access {
  keyed,    // needs a key that may use models, if the server has keys
  open,     // health checks: never needs a key
  metrics,  // needs a key of any role, if the server has keys
  admin,    // needs a key with the role admin; without keys, a client on this machine
};

/// A successful answer; errors are documented per family.
struct RouteAnswer {
  int status = 200;
  std::string_view description;
  std::string_view content_type = "application/json";
  std::string_view schema = {};  // JSON Schema text; empty if not JSON
};

struct Route {
  Method method = Method::get;  // a GET route answers HEAD too
  std::string_view path;        // "/v1/models/{model}": {model} matches one or two segments, other names one
  Family family = Family::native;
  std::string_view id;       // operationId: "createEmbedding"
  std::string_view summary;  // one line
  /// Answers through call.exchange, immediately or later, from any thread. May instead throw RequestError or
  /// alate::Error; both get the family's format.
  void (*handle)(Call& call) = nullptr;
  std::string_view body = {};  // JSON Schema text of the body; empty: the route takes none
  std::vector<RouteAnswer> answers = {};
  Access access = Access::keyed;
  bool reads_body_itself = false;  // also for types other than JSON; `body` documents the JSON one
  bool computes = false;           // takes a slot of max_concurrent_requests, and may answer 503, 429 and 504
  std::vector<std::string_view> aliases = {};  // additional paths, not in /openapi.json
};

}  // namespace alate::server
