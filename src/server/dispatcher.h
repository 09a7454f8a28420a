// Dispatches a request to its route: checks the client, its access and the body, then calls the route's handler.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/clients/admission.h"
#include "server/clients/api_keys.h"
#include "server/clients/web_origins.h"
#include "server/http/request_handler.h"
#include "server/models/services.h"
#include "server/router.h"
#include "server/schema/schema.h"

namespace alate::server {

/// Thread-safe. Everything passed to the constructor must outlive it.
class Dispatcher : public RequestHandler {
 public:
  Dispatcher(Services& services, const Router& router, Admission& admission, const ApiKeys& keys, WebOrigins origins);

  HeadCheck check_head(const Request& head) override;
  bool is_health(const Request& head) const override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  Response refuse(const Request& head, const Refusal& refusal) override;
  void served(const Served& served) override;
  void stopping() override;

 private:
  /// Answers the request, or passes it to its route's handler.
  void dispatch(const std::shared_ptr<Exchange>& exchange, Router::Match match) const;
  void call_route(const std::shared_ptr<Exchange>& exchange, Router::Match match) const;
  formats::Json read_body(const Request& request, const Route& route) const;
  /// `shown` is the key presented with the request.
  std::optional<Response> check(const Request& head, const Router::Match& match,
                                std::optional<std::size_t> shown) const;
  /// Why the client may not use this route, as a message for the client.
  std::optional<std::string> access_objection(const Request& head, const Route& route,
                                              std::optional<std::size_t> key) const;
  bool is_health_only(const Request& request, const Router::Match& match) const;
  Router::Match match_without_slash(const Request& head) const;
  const Schema* schema_of(const Route& route) const;
  /// Works for paths without a route too; ignores the base path.
  Family family_of(std::string_view path) const;
  Response answer(const Request& request, Family family, const Problem& problem) const;

  Services& services_;
  const Router& router_;
  Admission& admission_;
  const ApiKeys& keys_;
  const WebOrigins origins_;
  std::vector<std::optional<Schema>> schemas_;  // one per row of the router, in order
};

}  // namespace alate::server
