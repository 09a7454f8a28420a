#include "server/api/native_load.h"

#include "server/api/background.h"
#include "server/api/native.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

Json answer_of(const std::string& model, bool is_loaded) {
  return Json::Object{{"model", model}, {"loaded", is_loaded}};
}

void load_by_name(Call& call) {
  answer_with_model(
      call, call.body.get_string("model", ""),
      [](const HostedModel& model) { return json_response(answer_of(model.name, true)); }, read_keep_alive(call.body));
}

void unload_by_name(Call& call) {
  answer_in_background(call, [&services = call.services, name = call.body.get_string("model", "")] {
    // One whose folder has gone may still be loaded.
    if (!services.models.unload(name)) (void)services.models.describe(name);
    return json_response(answer_of(name, false));
  });
}

}  // namespace

Route native_load_route() {
  return {.method = Method::post,
          .path = "/api/load",
          .family = Family::native,
          .id = "load",
          .summary = "Loads a model, as the first request for it would",
          .handle = load_by_name,
          .body = route_schema(Family::native, "load_body"),
          .answers = {{.description = "It is loaded.", .schema = route_schema(Family::native, "load_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/load"}};
}

Route native_unload_route() {
  return {
      .method = Method::post,
      .path = "/api/unload",
      .family = Family::native,
      .id = "unload",
      .summary = "Unloads a model; requests under way finish",
      .handle = unload_by_name,
      .body = route_schema(Family::native, "unload_body"),
      .answers = {{.description = "It is not loaded any more.", .schema = route_schema(Family::native, "load_answer")}},
      .access = Access::admin,
      .aliases = {"/ai/v1/unload"}};
}

}  // namespace alate::server
