#include "server/dispatcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "server/clients/peer.h"
#include "server/exchange/failure.h"
#include "server/metrics/access_log.h"

namespace alate::server {
namespace {

// Bodies up to this size are parsed on the current thread: handing them over would take longer.
constexpr std::size_t kSmallBody = std::size_t{32} << 10;

// A parsed value takes some 40 bytes, so this bounds the memory that a parsed body may take.
constexpr formats::JsonLimits kBodyLimits = {
    .max_depth = 64, .max_bytes = std::size_t{1} << 30, .max_values = std::size_t{2} << 20};

Problem problem(Problem::Kind kind, std::string message) {
  Problem made;
  made.kind = kind;
  made.message = std::move(message);
  return made;
}

std::string joined(const std::vector<Method>& methods) {
  std::string names;
  for (const Method method : methods) names += (names.empty() ? "" : ", ") + std::string(to_string(method));
  return names;
}

// The methods of a path for the Allow header: GET implies HEAD, and OPTIONS is always allowed.
std::string allowed_methods(std::vector<Method> methods) {
  if (std::ranges::find(methods, Method::get) != methods.end() &&
      std::ranges::find(methods, Method::head) == methods.end())
    methods.push_back(Method::head);
  if (std::ranges::find(methods, Method::options) == methods.end()) methods.push_back(Method::options);
  return joined(methods);
}

bool is_json(std::string_view type) {
  return type == "application/json" || (type.starts_with("application/") && type.ends_with("+json"));
}

// `curl -d` declares form data by default, and users of Ollama rely on that. Web pages cannot exploit it, because their
// origin is checked.
bool takes(Family family, std::string_view type) {
  const bool lenient = family == Family::native || family == Family::ollama;
  return is_json(type) || (lenient && type == "application/x-www-form-urlencoded");
}

Problem wrong_type(std::string_view given) {
  constexpr std::string_view kTaken = "application/json";
  Problem made = problem(Problem::Kind::wrong_type, "this route takes JSON, and the header Content-Type says " +
                                                        formats::quoted_name(media_type(given)) +
                                                        "; send Content-Type: " + std::string(kTaken));
  made.accepted = kTaken;
  return made;
}

// The same method and body are for the path without its last slash. The address is relative: behind a proxy the client
// may know another path.
Response redirect_to_path_without_slash(const Request& head) {
  std::string_view name = std::string_view(head.path).substr(0, head.path.size() - 1);
  name.remove_prefix(name.rfind('/') + 1);
  Response response;
  response.status = 308;
  response.content_type.clear();
  response.headers.add("Location", "../" + std::string(name) + (head.query.empty() ? "" : "?" + head.query));
  return response;
}

bool is_page(const Route* route) {
  return route != nullptr && !route->answers.empty() && route->answers.front().content_type.starts_with("text/html");
}

Problem::Kind kind_of(int status) {
  switch (status) {
    case 408: return Problem::Kind::timeout_reading;
    case 413: return Problem::Kind::too_large;
    case 415: return Problem::Kind::wrong_type;
    case 429:
    case 503: return Problem::Kind::overloaded;
    case 504: return Problem::Kind::timeout;
    default: return Problem::Kind::malformed;
  }
}

}  // namespace

Dispatcher::Dispatcher(Services& services, const Router& router, Admission& admission, const ApiKeys& keys,
                       WebOrigins origins)
    : services_(services), router_(router), admission_(admission), keys_(keys), origins_(std::move(origins)) {
  for (const Route& route : router.routes()) {
    schemas_.emplace_back();
    if (!route.body.empty()) schemas_.back() = Schema::parse(route.body);
  }
}

const Schema* Dispatcher::schema_of(const Route& route) const {
  const auto place = static_cast<std::size_t>(&route - router_.routes().data());
  return schemas_[place] ? &*schemas_[place] : nullptr;
}

Family Dispatcher::family_of(std::string_view path) const {
  const std::string& base = router_.base_path();
  return family_of_path(path.starts_with(base) ? path.substr(base.size()) : path);
}

Response Dispatcher::answer(const Request& request, Family family, const Problem& problem) const {
  Response response = to_response(family, problem);
  for (auto& [name, value] : origins_.answer_headers(request)) response.headers.add(name, value);
  return response;
}

bool Dispatcher::is_health_only(const Request& request, const Router::Match& match) const {
  return request.health_only && (match.route == nullptr || match.route->access != Access::open);
}

std::optional<std::string> Dispatcher::access_objection(const Request& head, const Route& route,
                                                        std::optional<std::size_t> key) const {
  if (key) {
    if (may(keys_.role(*key), route.access)) return std::nullopt;
    return "this key has the role " + std::string(to_string(keys_.role(*key))) + ", and " +
           formats::quoted_name(head.path) + " needs the role " +
           (route.access == Access::admin ? "admin" : "use or admin") + ": ask whoever runs this server for such a key";
  }
  if (route.access != Access::admin || is_on_this_machine(head)) return std::nullopt;
  return "without keys, only clients on the server's own machine may ask for " + formats::quoted_name(head.path) +
         "; whoever runs this server can give out keys (api_keys), one of them with the role admin";
}

// What the path is without a slash at its end.
Router::Match Dispatcher::match_without_slash(const Request& head) const {
  if (!head.path.ends_with('/')) return {};
  return router_.find(head.method, std::string_view(head.path).substr(0, head.path.size() - 1));
}

HeadCheck Dispatcher::check_head(const Request& head) {
  const std::optional<std::size_t> key = keys_.check(head.headers);
  return {.client = key ? client_of_key(*key) : client_of_address(head.peer),
          .answer = check(head, router_.find(head.method, head.path), key)};
}

std::optional<Response> Dispatcher::check(const Request& head, const Router::Match& match,
                                          std::optional<std::size_t> shown) const {
  const Family family = match.route != nullptr ? match.route->family : family_of(head.path);
  const bool open = match.route != nullptr && match.route->access == Access::open;
  const auto refused = [&](Problem::Kind kind, std::string message) {
    return answer(head, family, problem(kind, std::move(message)));
  };
  const Router::Match without_slash = match.allowed.empty() ? match_without_slash(head) : Router::Match();
  const bool shows_page = is_page(match.route) || is_page(without_slash.route);
  if (const auto objection = origins_.objection(head, shows_page); objection && !open) {
    services_.metrics.rejected("origin");
    return refused(Problem::Kind::forbidden, *objection);
  }
  if (WebOrigins::is_preflight(head)) return origins_.preflight(head, allowed_methods(match.allowed));
  if (is_health_only(head, match))
    return refused(Problem::Kind::not_found, "this port answers for health alone: /health, /healthz, /livez, /readyz");
  const std::optional<std::size_t> key = open ? std::nullopt : shown;  // health routes need no key, whatever its role
  if (!open && !keys_.empty() && !key) {
    services_.metrics.rejected("unauthenticated");
    return refused(Problem::Kind::unauthenticated,
                   "this server wants a key: send it as Authorization: Bearer KEY or as X-API-Key: KEY");
  }
  if (const auto objection = match.route == nullptr ? std::nullopt : access_objection(head, *match.route, key)) {
    services_.metrics.rejected("forbidden");
    return refused(Problem::Kind::forbidden, *objection);
  }
  if (head.method == Method::options) {
    Response response;
    response.status = 204;
    response.content_type.clear();
    response.headers.add("Allow", head.path == "*" ? "GET, HEAD, POST, OPTIONS" : allowed_methods(match.allowed));
    if (head.path == "*" || !match.allowed.empty()) return response;
  }
  if (!without_slash.allowed.empty()) return redirect_to_path_without_slash(head);
  if (match.route == nullptr && match.allowed.empty())
    return refused(Problem::Kind::not_found,
                   "there is no route " + formats::quoted_name(head.path) + "; /docs lists what there is");
  if (match.route == nullptr) {
    Response response = refused(Problem::Kind::not_allowed, formats::quoted_name(head.path) + " does not take " +
                                                                formats::quoted_name(head.method_name) + "; it takes " +
                                                                allowed_methods(match.allowed));
    response.headers.set("Allow", allowed_methods(match.allowed));
    return response;
  }
  if (services_.shutting_down && match.route->computes) {
    services_.metrics.rejected("shutting_down");
    return refused(Problem::Kind::not_ready, "the server is shutting down; ask again when it is back");
  }
  const std::string* type = head.headers.find("Content-Type");
  if (type != nullptr && !match.route->body.empty() && !match.route->reads_body_itself &&
      !takes(match.route->family, media_type(*type)))
    return answer(head, family, wrong_type(*type));
  return std::nullopt;
}

bool Dispatcher::is_health(const Request& head) const {
  const Router::Match match = router_.find(head.method, head.path);
  return match.route != nullptr && match.route->access == Access::open;
}

void Dispatcher::handle(std::shared_ptr<Exchange> exchange) {
  const Request& request = exchange->request();
  Router::Match match = router_.find(request.method, request.path);
  // check_head has already run for this request, but a shutdown may have begun since.
  const std::optional<std::size_t> key = shown_key(exchange->client_id);
  if (auto refused = check(request, match, key)) return exchange->reply(std::move(*refused));
  exchange->client = to_string(exchange->client_id);
  exchange->is_admin = key && keys_.role(*key) == KeyRole::admin;
  exchange->may_unload = exchange->is_admin || (keys_.empty() && is_on_this_machine(request));
  exchange->answer_headers = origins_.answer_headers(request);
  if (!match.route->computes) return dispatch(exchange, std::move(match));

  const Family family = match.route->family;
  const auto refuse = [this, family](Exchange& refused) {
    services_.metrics.rejected("queue_full");
    refused.reply(to_response(
        family,
        problem(Problem::Kind::overloaded, "the server has too many requests to do already; try again in a moment")));
  };
  // The exchange holds its slot; the waiting callback keeps the exchange alive.
  const bool taken = admission_.enter(exchange, [this, exchange, match, refuse](Admission::Outcome outcome) mutable {
    if (outcome == Admission::Outcome::displaced) return refuse(*exchange);
    dispatch(exchange, std::move(match));
  });
  if (!taken) refuse(*exchange);
}

void Dispatcher::dispatch(const std::shared_ptr<Exchange>& exchange, Router::Match match) const {
  if (exchange->request().body.size() <= kSmallBody) return call_route(exchange, std::move(match));
  services_.work.push(exchange,
                      [this, exchange, match = std::move(match)]() mutable { call_route(exchange, std::move(match)); });
}

void Dispatcher::call_route(const std::shared_ptr<Exchange>& exchange, Router::Match match) const {
  const Route& route = *match.route;
  try {
    Call call{services_, route, exchange, std::move(match.parameters), {}};
    if (!route.body.empty() && !route.reads_body_itself) {
      call.body = read_body(exchange->request(), route);
      exchange->release_body();
    }
    route.handle(call);
  } catch (...) {
    fail(*exchange, route.family, std::current_exception());
  }
}

formats::Json Dispatcher::read_body(const Request& request, const Route& route) const {
  if (request.body.empty())
    throw RequestError(problem(Problem::Kind::malformed, "the request has no body; send a JSON object"));
  formats::Json body;
  try {
    body = formats::parse_json(request.body, "the body", kBodyLimits);
  } catch (const Error& error) {
    const bool large = error.code() == ErrorCode::resource_exhausted;
    throw RequestError(problem(large ? Problem::Kind::too_large : Problem::Kind::malformed, error.message()));
  }
  if (const auto violation = schema_of(route)->check(body)) {
    Problem invalid = problem(Problem::Kind::invalid, violation->message);
    invalid.parameter = violation->place.substr(0, violation->place.find_first_of("[."));
    throw RequestError(std::move(invalid));
  }
  return body;
}

Response Dispatcher::refuse(const Request& head, const Refusal& refusal) {
  Problem made = problem(kind_of(refusal.status), refusal.message);
  made.status = refusal.status;
  made.retry_after = refusal.retry_after;
  if (refusal.status == 503) services_.metrics.rejected("transport");
  // A head that is malformed has no path yet.
  const Family family = head.path.empty() ? Family::native : family_of(head.path);
  if (refusal.status == 503 && !refusal.retry_after) made.retry_after = 1;
  return answer(head, family, made);
}

void Dispatcher::served(const Served& served) {
  const Router::Match match = router_.find(served.request->method, served.request->path);
  const std::string_view route = match.route != nullptr ? match.route->path : "unknown";
  const std::string_view method = to_string(served.request->method);
  services_.metrics.request(method, route, served.status, served.duration, served.stages);
  log_access(served, route);
}

void Dispatcher::stopping() {
  if (services_.stopping) services_.stopping();
}

}  // namespace alate::server
