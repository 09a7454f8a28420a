// Routes over tiny models, called as the dispatcher calls them but without a socket.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model_host_testing.h"
#include "server/api/family_routes.h"
#include "server/exchange/failure.h"
#include "server/exchange/route.h"
#include "server/metrics/metrics.h"
#include "server/models/services.h"
#include "server/router.h"
#include "server/schema/schema.h"

namespace alate::server {

class RouteTest : public ModelHostTest {
 protected:
  /// A request that a route has taken.
  struct Begun {
    Begun(RouteTest& test, std::vector<Route> routes)
        : router(std::move(routes), test.settings.base_path),
          services{
              test.settings,      test.host(), test.indexes(),          test.metrics,       test.work, router.routes(),
              router.base_path(), "1.2.3",     [] { return Gauges{}; }, test.shutting_down, {},        test.obstacle} {}

    const Router router;
    Services services;
    std::shared_ptr<Exchange> exchange;
    std::promise<Response> promise;
    std::future<Response> answer = promise.get_future();
  };

  /// Calls the row of `routes`, on this thread as the transport does; the request's body must fit the row's schema.
  std::unique_ptr<Begun> begin(std::vector<Route> routes, Method method, std::string_view path, std::string body = "",
                               Headers headers = {}) {
    auto begun = std::make_unique<Begun>(*this, std::move(routes));
    const Router::Match match = begun->router.find(method, path);
    EXPECT_NE(match.route, nullptr) << path;
    if (match.route == nullptr) {
      begun->promise.set_value({});
      return begun;
    }

    Request request;
    request.method = method;
    request.path = path;
    request.body = std::move(body);
    request.headers = std::move(headers);
    const auto exchange = std::make_shared<Exchange>(
        std::move(request), "id", deadline,
        [&promise = begun->promise](Response response) { promise.set_value(std::move(response)); });
    exchange->is_admin = is_admin;
    begun->exchange = exchange;
    exchange->account = account;
    exchange->may_unload = may_unload;
    Call made{begun->services, *match.route, exchange, match.parameters, {}};
    const bool is_binary = exchange->request().headers.find("Inference-Header-Content-Length") != nullptr;
    if (!match.route->body.empty() && !is_binary) {
      made.body = formats::parse_json(exchange->request().body, "the body");
      const auto violation = Schema::parse(match.route->body).check(made.body);
      EXPECT_FALSE(violation) << violation->message;
    }
    try {
      match.route->handle(made);
    } catch (...) {
      fail(*exchange, match.route->family, std::current_exception());
    }
    return begun;
  }

  /// Keeps a request's services until the test has ended: what goes on after its answer uses them. The destructor of
  /// such a test stops the host.
  Begun* keep(std::unique_ptr<Begun> begun) {
    kept_.push_back(std::move(begun));
    return kept_.back().get();
  }

  /// The answer.
  Response call(std::vector<Route> routes, Method method, std::string_view path, std::string body = "",
                Headers headers = {}) {
    return begin(std::move(routes), method, path, std::move(body), std::move(headers))->answer.get();
  }

  /// Of the settings, made at the first call.
  IndexHost& indexes() {
    if (indexes_ == nullptr) indexes_ = std::make_unique<IndexHost>(settings.indexes);
    return *indexes_;
  }

  static formats::Json json(const Response& response) { return formats::parse_json(response.body, "the answer"); }
  /// A member as JSON text, "absent" where there is none.
  static std::string text(const formats::Json& value, std::string_view key) {
    const formats::Json* found = value.find(key);
    return found == nullptr ? "absent" : formats::to_json_text(*found);
  }
  static std::string header(const Response& response, std::string_view name) {
    const std::string* value = response.headers.find(name);
    return value == nullptr ? "" : *value;
  }

  std::vector<std::unique_ptr<Begun>> kept_;  // outlives the threads
  Metrics metrics;
  WorkQueue work{1};
  bool shutting_down = false, is_admin = false;
  Clock::time_point deadline = Clock::time_point::max();  // of requests
  std::shared_ptr<ClientAccount> account;                 // of the client; null: nothing is accounted
  bool may_unload = true;                                 // as without keys on this machine
  std::function<std::string()> obstacle;

 private:
  std::unique_ptr<IndexHost> indexes_;
};

}  // namespace alate::server
