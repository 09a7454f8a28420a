// KServe's inference protocol, version 2, with Triton's extensions for binary tensors and the model repository.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "server/api/background.h"
#include "server/api/family_routes.h"
#include "server/api/kserve/kserve_infer.h"
#include "server/api/kserve/kserve_metadata.h"
#include "server/api/kserve/kserve_statistics.h"
#include "server/api/kserve/kserve_version.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"
#include "server/schema/schema.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr formats::JsonLimits kSmallBody = {.max_depth = 16, .max_bytes = std::size_t{1} << 16, .max_values = 4096};

[[noreturn]] void refuse_not_ready(const std::string& message) { refuse(Problem::Kind::not_ready, message); }

// A body that may be absent, as sent by clients of the model repository.
Json read_small_body(const Call& call) {
  const std::string& body = call.exchange->request().body;
  if (body.empty()) return Json::Object{};
  Json json;
  try {
    json = formats::parse_json(body, "the body", kSmallBody);
  } catch (const Error& error) {
    refuse(Problem::Kind::malformed, error.message());
  }
  if (const auto violation = Schema::parse(call.route.body).check(json))
    refuse(Problem::Kind::invalid, violation->message, violation->place);
  return json;
}

void show_server(Call& call) {
  call.exchange->reply(json_response(
      Json(Json::Object{{"name", "alate"},
                        {"version", call.services.version},
                        {"extensions", Json::Array{"binary_tensor_data", "model_repository", "statistics"}}})));
}

void show_live(Call& call) { call.exchange->reply(json_response(Json(Json::Object{{"live", true}}))); }

void show_ready(Call& call) {
  if (call.services.shutting_down) refuse_not_ready("the server is shutting down");
  if (!call.services.models.preloaded()) refuse_not_ready("the server is loading its models");
  if (const std::string obstacle = call.services.obstacle ? call.services.obstacle() : ""; !obstacle.empty())
    refuse_not_ready(obstacle);
  if (const std::string failure = call.services.models.default_failure(); !failure.empty()) refuse_not_ready(failure);
  call.exchange->reply(json_response(Json(Json::Object{{"ready", true}})));
}

// A model on disk counts as ready: the first request loads it.
void show_model_ready(Call& call) {
  check_version(call);
  answer_in_background(call, [&services = call.services, name = call.parameters.at("model")] {
    const ModelListing listing = services.models.describe(name);
    if (services.shutting_down) refuse_not_ready("the server is shutting down");
    return json_response(Json(Json::Object{{"name", listing.name}, {"ready", true}}));
  });
}

Json statistics_of(const ModelHost& models, const std::string& name) {
  return kserve_statistics(name, models.statistics(name));
}

void show_model_statistics(Call& call) {
  check_version(call);
  answer_in_background(call, [&services = call.services, name = call.parameters.at("model")] {
    Json::Array models = {statistics_of(services.models, services.models.describe(name).name)};
    return json_response(Json(Json::Object{{"model_stats", std::move(models)}}));
  });
}

void show_all_statistics(Call& call) {
  answer_in_background(call, [&services = call.services] {
    Json::Array models;
    for (const ModelListing& listing : services.models.listed())
      models.push_back(statistics_of(services.models, listing.name));
    return json_response(Json(Json::Object{{"model_stats", std::move(models)}}));
  });
}

void show_model(Call& call) {
  check_version(call);
  answer_with_model(call, call.parameters.at("model"), [](const HostedModel& hosted) {
    TensorLists tensors = metadata_tensors(hosted.pipelines);
    Json::Array tasks;
    for (const pipelines::Task task : hosted.pipelines.tasks()) tasks.emplace_back(pipelines::to_string(task));
    return json_response(Json(Json::Object{{"name", hosted.name},
                                           {"versions", Json::Array{"1"}},
                                           {"platform", "alate"},
                                           {"inputs", std::move(tensors.inputs)},
                                           {"outputs", std::move(tensors.outputs)},
                                           {"parameters", Json::Object{{"tasks", std::move(tasks)}}}}));
  });
}

void list_repository(Call& call) {
  const bool ready_alone = read_small_body(call).get_bool("ready", false);
  answer_in_background(call, [&services = call.services, ready_alone] {
    const std::vector<LoadedListing> loaded = services.models.loaded();
    Json::Array models;
    for (const ModelListing& listing : services.models.listed()) {
      const bool is_loaded = std::ranges::any_of(
          loaded, [&](const LoadedListing& each) { return each.model && each.model->name == listing.name; });
      if (ready_alone && !is_loaded) continue;
      models.push_back(Json::Object{{"name", listing.name},
                                    {"version", "1"},
                                    {"state", is_loaded ? "READY" : "UNAVAILABLE"},
                                    {"reason", is_loaded ? "" : "not loaded: the first request loads it"}});
    }
    return json_response(Json(std::move(models)));
  });
}

void load_model(Call& call) {
  read_small_body(call);
  answer_with_model(call, call.parameters.at("model"),
                    [](const HostedModel&) { return json_response(Json(Json::Object{})); });
}

void unload_model(Call& call) {
  read_small_body(call);
  answer_in_background(call, [&services = call.services, name = call.parameters.at("model")] {
    services.models.unload(services.models.describe(name).name);
    return json_response(Json(Json::Object{}));
  });
}

}  // namespace

std::vector<Route> kserve_routes() {
  return {
      {.method = Method::get,
       .path = "/v2",
       .family = Family::kserve,
       .id = "kserveServer",
       .summary = "The server's name, version and extensions",
       .handle = show_server,
       .answers = {{.description = "The facts", .schema = route_schema(Family::kserve, "server")}}},
      {.method = Method::get,
       .path = "/v2/health/live",
       .family = Family::kserve,
       .id = "kserveLive",
       .summary = "Whether the server answers at all",
       .handle = show_live,
       .answers = {{.description = "It does", .schema = route_schema(Family::kserve, "live")}},
       .access = Access::open},
      {.method = Method::get,
       .path = "/v2/health/ready",
       .family = Family::kserve,
       .id = "kserveReady",
       .summary = "Whether the server takes requests: 503 while it loads its first models or shuts down",
       .handle = show_ready,
       .answers = {{.description = "It does", .schema = route_schema(Family::kserve, "ready")}},
       .access = Access::open},
      {.method = Method::get,
       .path = "/v2/models/{model}",
       .family = Family::kserve,
       .id = "kserveModel",
       .summary = "The tensors that a model takes and gives; loads it",
       .handle = show_model,
       .answers = {{.description =
                        "A request with all of these inputs gives all of these outputs. input_ids, attention_mask, "
                        "token_type_ids and position_ids may take their place, and give the outputs of alate forward; "
                        "of a model without a tokenizer they are listed",
                    .schema = route_schema(Family::kserve, "model")}},
       .computes = true,
       .aliases = {"/v2/models/{model}/versions/{version}"}},
      {.method = Method::get,
       .path = "/v2/models/{model}/ready",
       .family = Family::kserve,
       .id = "kserveModelReady",
       .summary = "Whether a model takes requests; one that is not loaded does, and the first loads it",
       .handle = show_model_ready,
       .answers = {{.description = "It does", .schema = route_schema(Family::kserve, "model_ready")}},
       .aliases = {"/v2/models/{model}/versions/{version}/ready"}},
      {.method = Method::get,
       .path = "/v2/models/{model}/stats",
       .family = Family::kserve,
       .id = "kserveModelStatistics",
       .summary = "What a model has computed since the server began, as Triton counts it",
       .handle = show_model_statistics,
       .answers = {{.description = "Counts, and nanoseconds of all requests together",
                    .schema = route_schema(Family::kserve, "statistics")}},
       .aliases = {"/v2/models/{model}/versions/{version}/stats"}},
      {.method = Method::get,
       .path = "/v2/models/stats",
       .family = Family::kserve,
       .id = "kserveStatistics",
       .summary = "The same of all models",
       .handle = show_all_statistics,
       .answers = {{.description = "An entry for each model", .schema = route_schema(Family::kserve, "statistics")}}},
      {.method = Method::post,
       .path = "/v2/models/{model}/infer",
       .family = Family::kserve,
       .id = "kserveInfer",
       .summary = "Runs a model: text to sentence_embedding, or input_ids to the encoder's outputs",
       .handle = kserve_infer,
       .body = route_schema(Family::kserve, "infer_body"),
       .answers = {{.description = "The output tensors as JSON",
                    .schema = route_schema(Family::kserve, "infer_answer")},
                   {.description = "The same with binary tensors behind the JSON, whose length the header "
                                   "Inference-Header-Content-Length gives",
                    .content_type = "application/octet-stream"}},
       .reads_body_itself = true,
       .computes = true,
       .aliases = {"/v2/models/{model}/versions/{version}/infer"}},
      {.method = Method::post,
       .path = "/v2/repository/index",
       .family = Family::kserve,
       .id = "kserveRepository",
       .summary = "The models on disk, and which are loaded",
       .handle = list_repository,
       .body = route_schema(Family::kserve, "index_body"),
       .answers = {{.description = "All models, or those that are loaded",
                    .schema = route_schema(Family::kserve, "index")}},
       .access = Access::admin,
       .reads_body_itself = true},
      {.method = Method::post,
       .path = "/v2/repository/models/{model}/load",
       .family = Family::kserve,
       .id = "kserveLoad",
       .summary = "Loads a model",
       .handle = load_model,
       .body = route_schema(Family::kserve, "load_body"),
       .answers = {{.description = "It is loaded", .schema = route_schema(Family::kserve, "nothing")}},
       .access = Access::admin,
       .reads_body_itself = true,
       .computes = true},
      {.method = Method::post,
       .path = "/v2/repository/models/{model}/unload",
       .family = Family::kserve,
       .id = "kserveUnload",
       .summary = "Unloads a model; requests under way finish",
       .handle = unload_model,
       .body = route_schema(Family::kserve, "unload_body"),
       .answers = {{.description = "It is not loaded any more", .schema = route_schema(Family::kserve, "nothing")}},
       .access = Access::admin,
       .reads_body_itself = true},
  };
}

}  // namespace alate::server
