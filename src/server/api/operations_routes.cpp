#include <utility>

#include "machine/discovery.h"
#include "machine/machine_json.h"
#include "server/api/background.h"
#include "server/api/family_routes.h"
#include "server/api/route_schemas.h"
#include "server/api/without_paths.h"
#include "server/exchange/json_response.h"
#include "server/models/services.h"
#include "server/page/docs_page.h"
#include "server/schema/openapi.h"

namespace alate::server {
namespace {

using formats::Json;

Response status(std::string_view word) { return json_response(Json(Json::Object{{"status", word}})); }

void show_health(Call& call) { call.exchange->reply(status("ok")); }

Response not_ready(std::string message) {
  Problem problem;
  problem.kind = Problem::Kind::not_ready;
  problem.message = std::move(message);
  return to_response(Family::operations, problem);
}

void show_readiness(Call& call) {
  if (call.services.shutting_down)
    return call.exchange->reply(not_ready("the server is shutting down; ask another, or wait until it is back"));
  if (!call.services.models.preloaded())
    return call.exchange->reply(not_ready("the server is loading the models it begins with; ask again"));
  if (const std::string obstacle = call.services.obstacle ? call.services.obstacle() : ""; !obstacle.empty())
    return call.exchange->reply(not_ready(obstacle + "; restart it if this does not end"));
  if (const std::string failure = call.services.models.default_failure(); !failure.empty())
    return call.exchange->reply(not_ready(failure + "; it is tried again every minute, and when its files change"));
  call.exchange->reply(status("ready"));
}

void show_metrics(Call& call) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = call.services.metrics.expose(call.services.gauges());
  call.exchange->reply(std::move(response));
}

// The first call may open libraries, which takes a while. Only administrators see library paths, which may reveal user
// names.
void show_backends(Call& call) {
  answer_in_background(call, [&services = call.services, shows_paths = call.exchange->is_admin] {
    Json::Object body;
    const Json machine = machine::to_json(machine::discover());
    for (const auto& [key, value] : machine.as_object("machine")) body.emplace_back(key, value);
    Json::Array models;
    for (const LoadedListing& each : services.models.loaded()) {
      models.emplace_back(Json::Object{{"name", each.model->name},
                                       {"selection", machine::to_json(each.model->pipelines.facts().selection)}});
    }
    body.emplace_back("models", std::move(models));
    return json_response(shows_paths ? Json(std::move(body)) : without_paths(Json(std::move(body))));
  });
}

void show_document(Call& call) {
  call.exchange->reply(
      json_response(openapi_document(call.services.routes, call.services.settings, call.services.version)));
}

void show_docs(Call& call) { call.exchange->reply(docs_page(call.services.base_path)); }

Route page(std::string_view path, std::string_view id, std::string_view summary) {
  return {.method = Method::get,
          .path = path,
          .family = Family::operations,
          .id = id,
          .summary = summary,
          .handle = show_docs,
          .answers = {{.description = "The page.", .content_type = "text/html; charset=utf-8"}}};
}

Route health(std::string_view path, std::string_view id) {
  return {.method = Method::get,
          .path = path,
          .family = Family::operations,
          .id = id,
          .summary = "Whether the server is alive",
          .handle = show_health,
          .answers = {{.description = "It is.", .schema = route_schema(Family::operations, "status_answer")}},
          .access = Access::open};
}

}  // namespace

std::vector<Route> operations_routes() {
  return {
      health("/health", "health"),
      health("/healthz", "healthz"),
      health("/livez", "livez"),
      {.method = Method::get,
       .path = "/readyz",
       .family = Family::operations,
       .id = "readyz",
       .summary = "Whether the server takes requests at full speed",
       .handle = show_readiness,
       .answers = {{.description = "It does.", .schema = route_schema(Family::operations, "status_answer")},
                   {.status = 503,
                    .description = "It is loading the models it begins with, shutting down, or its threads hang.",
                    .schema = route_schema(Family::operations, "not_ready_answer")}},
       .access = Access::open},
      {.method = Method::get,
       .path = "/metrics",
       .family = Family::operations,
       .id = "metrics",
       .summary = "Counters, times and gauges for Prometheus",
       .handle = show_metrics,
       .answers = {{.description = "Prometheus's text format.",
                    .content_type = "text/plain; version=0.0.4; charset=utf-8"}},
       .access = Access::metrics},
      {.method = Method::get,
       .path = "/debug/backends",
       .family = Family::operations,
       .id = "backends",
       .summary = "What the machine can compute on, and why each loaded model runs where it runs",
       .handle = show_backends,
       .answers = {{.description = "Backends with devices, memory, and the reason where they are absent; decisions.",
                    .schema = route_schema(Family::operations, "backends_answer")}},
       .access = Access::admin},
      {.method = Method::get,
       .path = "/openapi.json",
       .family = Family::operations,
       .id = "openapi",
       .summary = "This description of all routes",
       .handle = show_document,
       .answers = {{.description = "An OpenAPI 3.1 document.",
                    .schema = route_schema(Family::operations, "document_answer")}}},
      page("/docs", "docs", "The same as a web page to read and to try"),
      page("/", "frontPage", "The same page as /docs"),
  };
}

}  // namespace alate::server
