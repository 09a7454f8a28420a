#include <algorithm>
#include <iterator>
#include <utility>

#include "server/api/alias_listings.h"
#include "server/api/background.h"
#include "server/api/family_routes.h"
#include "server/api/openai.h"
#include "server/api/openai_chat.h"
#include "server/api/openai_completions.h"
#include "server/api/openai_responses.h"
#include "server/api/route_schemas.h"
#include "server/api/text_inputs.h"
#include "server/exchange/json_response.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

void create_embedding(Call& call) {
  EmbedRequest request;
  request.model = call.body.get_string("model", "");
  request.truncate = call.body.get_bool("truncate", true);
  if (const Json* dimensions = call.body.find_value("dimensions"))
    request.dimensions = static_cast<std::size_t>(dimensions->as_int("dimensions"));
  request.jina_task = call.body.get_string("task", "");
  read_inputs(*call.body.find("input"), "input", request);
  const std::string type = call.body.get_string("embedding_type", call.body.get_string("encoding_format", "float"));
  embed(call, std::move(request), [type, model = call.body.get_string("model", "")](EmbedAnswer answer) {
    return itemized_response(openai_embedding_list(std::move(answer), model, type));
  });
}

void list_models(Call& call) {
  answer_in_background(call, [&services = call.services] {
    Json::Array models;
    for (const ModelListing& listing : services.models.listed()) models.push_back(openai_model(listing));
    for (const ModelListing& alias : alias_listings(services)) models.push_back(openai_model(alias));
    return json_response(Json(Json::Object{{"object", "list"}, {"data", std::move(models)}}));
  });
}

void show_model(Call& call) {
  answer_in_background(call, [&services = call.services, name = call.parameters.at("model")] {
    return json_response(openai_model(describe_by_name(services, name)));
  });
}

}  // namespace

std::vector<Route> openai_routes() {
  std::vector<Route> routes = {
      {.method = Method::post,
       .path = "/v1/embeddings",
       .family = Family::openai,
       .id = "createEmbedding",
       .summary = "Turns texts into vectors",
       .handle = create_embedding,
       .body = route_schema(Family::openai, "embeddings_body"),
       .answers = {{.description = "The vectors, in the order of the input",
                    .schema = route_schema(Family::openai, "embeddings_answer")}},
       .computes = true},
      {.method = Method::get,
       .path = "/v1/models",
       .family = Family::openai,
       .id = "listModels",
       .summary = "The models that may be asked for",
       .handle = list_models,
       .answers = {{.description = "All models", .schema = route_schema(Family::openai, "models")}}},
      {.method = Method::get,
       .path = "/v1/models/{model}",
       .family = Family::openai,
       .id = "retrieveModel",
       .summary = "One model",
       .handle = show_model,
       .answers = {{.description = "The model", .schema = route_schema(Family::openai, "model")}}},
      openai_chat_route(),
      openai_completions_route(),
  };
  std::ranges::move(openai_responses_routes(), std::back_inserter(routes));
  return routes;
}

}  // namespace alate::server
