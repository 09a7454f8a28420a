#include "server/api/ollama_pull.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "server/api/ollama.h"
#include "server/api/pull_lines.h"
#include "server/api/route_schemas.h"
#include "server/exchange/failure.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"
#include "server/pulls/asker_of.h"

namespace alate::server {
namespace {

using formats::Json;

void pull_with_progress(Call& call) {
  const std::string name = ollama_model_of(call.body);
  if (name.empty()) refuse(Problem::Kind::invalid, "model is missing: name one as hf:owner/name", "model");
  const Asker asker = asker_of(call.exchange);
  if (call.body.get_bool("stream", true)) {
    auto lines = std::make_shared<PullLines>(call.exchange);
    return call.services.models.pull(
        name, asker, [](const std::exception_ptr&) {}, [lines](const PullState& state) { return lines->tell(state); });
  }
  call.services.models.pull(name, asker,
                            [exchange = call.exchange, family = call.route.family](const std::exception_ptr& error) {
                              if (error != nullptr) return fail(*exchange, family, error);
                              exchange->reply(json_response(Json(Json::Object{{"status", "success"}})));
                            });
}

}  // namespace

Route ollama_pull_route() {
  return {.method = Method::post,
          .path = "/api/pull",
          .family = Family::ollama,
          .id = "ollamaPull",
          .summary = "Fetches a model from the hub, where the server allows that",
          .handle = pull_with_progress,
          .body = route_schema(Family::ollama, "pull_body"),
          .answers = {{.description = "How far it has come, a JSON object a line.",
                       .content_type = "application/x-ndjson",
                       .schema = route_schema(Family::ollama, "pull_line")},
                      {.description = "With \"stream\": false one object, when all is there.",
                       .schema = route_schema(Family::ollama, "pull_line")},
                      {.status = 504,
                       .description = "Without a stream: it takes longer than a request may. Asked again, it goes on.",
                       .schema = route_schema(Family::ollama, "pull_error")}}};
}

}  // namespace alate::server
