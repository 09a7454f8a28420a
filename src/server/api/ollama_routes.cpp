#include <utility>

#include "server/api/alias_listings.h"
#include "server/api/background.h"
#include "server/api/family_routes.h"
#include "server/api/native.h"
#include "server/api/ollama.h"
#include "server/api/ollama_chat.h"
#include "server/api/ollama_pull.h"
#include "server/api/ollama_show.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

void list_tags(Call& call) {
  answer_in_background(call, [&services = call.services] {
    Json::Array models;
    for (const ModelListing& listing : services.models.listed()) models.push_back(ollama_tag(listing));
    for (const ModelListing& alias : alias_listings(services)) models.push_back(ollama_tag(alias));
    return json_response(Json(Json::Object{{"models", std::move(models)}}));
  });
}

// The listing of a loaded model; only its name if it has since disappeared from disk.
ModelListing listing_of(const ModelHost& models, const HostedModel& model) {
  try {
    return models.describe(model.name);
  } catch (const Error&) {
    ModelListing listing;
    listing.name = model.name;
    listing.tasks = model.pipelines.tasks();
    listing.architecture = model.pipelines.facts().architecture;
    listing.dimensions = model.pipelines.dimensions();
    listing.max_length = model.pipelines.max_length();
    return listing;
  }
}

void list_processes(Call& call) {
  answer_in_background(call, [&services = call.services] {
    Json::Array models;
    for (const LoadedListing& loaded : services.models.loaded()) {
      const HostedModel& model = *loaded.model;
      ModelListing listing = listing_of(services.models, model);
      listing.max_length = model.pipelines.max_length();
      const OllamaRun run{loaded.expires, loaded.bytes, model.scheduler->depth(), model.pipelines.fingerprint()};
      models.push_back(ollama_process(listing, model.pipelines.facts(), run));
    }
    return json_response(Json(Json::Object{{"models", std::move(models)}}));
  });
}

void show_model(Call& call) {
  answer_in_background(call, [&services = call.services, name = ollama_model_of(call.body)] {
    const ModelListing listing = services.models.describe(name);
    return json_response(ollama_show(listing, read_model_texts(listing)));
  });
}

void create_embedding(Call& call) {
  EmbedRequest request;
  request.model = call.body.get_string("model", "");
  request.parameter = "prompt";
  request.keep_alive = read_keep_alive(call.body);
  // As in Ollama, an empty prompt yields no vector.
  if (std::string prompt = call.body.get_string("prompt", ""); !prompt.empty()) {
    request.lone = true;
    request.texts.push_back(std::move(prompt));
  }
  embed(call, std::move(request), [](const EmbedAnswer& answer) { return json_response(ollama_embedding(answer)); });
}

}  // namespace

std::vector<Route> ollama_routes() {
  return {
      {.method = Method::get,
       .path = "/api/tags",
       .family = Family::ollama,
       .id = "ollamaTags",
       .summary = "The models that are here",
       .handle = list_tags,
       .answers = {{.description = "All models.", .schema = route_schema(Family::ollama, "tags_answer")}}},
      {.method = Method::post,
       .path = "/api/show",
       .family = Family::ollama,
       .id = "ollamaShow",
       .summary = "What a model is",
       .handle = show_model,
       .body = route_schema(Family::ollama, "show_body"),
       .answers = {{.description = "The model's facts.", .schema = route_schema(Family::ollama, "show_answer")}}},
      {.method = Method::get,
       .path = "/api/ps",
       .family = Family::ollama,
       .id = "ollamaProcesses",
       .summary = "The models that are loaded, and what they have to do",
       .handle = list_processes,
       .answers = {{.description = "All loaded models.", .schema = route_schema(Family::ollama, "processes_answer")}},
       .access = Access::admin},
      ollama_pull_route(),
      ollama_chat_route(),
      {.method = Method::post,
       .path = "/api/embeddings",
       .family = Family::ollama,
       .id = "ollamaEmbeddings",
       .summary = "Turns one text into a vector, as older clients ask for it",
       .handle = create_embedding,
       .body = route_schema(Family::ollama, "embeddings_body"),
       .answers = {{.description = "The vector.", .schema = route_schema(Family::ollama, "embeddings_answer")}},
       .computes = true},
  };
}

}  // namespace alate::server
