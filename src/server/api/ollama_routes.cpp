#include <exception>
#include <filesystem>
#include <utility>

#include "base/files/contained_files.h"
#include "runtime/loading/model_files.h"
#include "server/api/alias_listings.h"
#include "server/api/background.h"
#include "server/api/native.h"
#include "server/api/ollama.h"
#include "server/api/ollama_pull.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kTagsAnswer = R"({
  "type": "object",
  "required": ["models"],
  "properties": {
    "models": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "model", "modified_at", "size", "digest", "details"],
      "properties": {
        "name": {"type": "string"},
        "model": {"type": "string"},
        "modified_at": {"type": "string", "format": "date-time"},
        "size": {"type": "integer", "description": "Of the files, in bytes."},
        "digest": {"type": "string"},
        "details": {"type": "object"}
      }
    }}
  }
})";

constexpr std::string_view kShowBody = R"({
  "type": "object",
  "properties": {
    "model": {"type": "string", "nullable": false, "description": "A name of /api/tags; the default model if absent."},
    "name": {"type": "string", "description": "The same, as older clients say. Of the two one may be empty."},
    "verbose": {"type": "boolean", "description": "Taken and not used."}
  },
  "example": {"model": "sentence-transformers/all-MiniLM-L6-v2"}
})";

constexpr std::string_view kShowAnswer = R"({
  "type": "object",
  "required": ["modelfile", "parameters", "template", "details", "model_info", "capabilities", "modified_at"],
  "properties": {
    "license": {"type": "string"},
    "modelfile": {"type": "string"},
    "parameters": {"type": "string"},
    "template": {"type": "string"},
    "details": {"type": "object"},
    "model_info": {"type": "object"},
    "capabilities": {"type": "array", "items": {"type": "string"}},
    "modified_at": {"type": "string", "format": "date-time"}
  }
})";

constexpr std::string_view kProcessesAnswer = R"({
  "type": "object",
  "required": ["models"],
  "properties": {
    "models": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "model", "size", "digest", "details", "expires_at", "size_vram"],
      "properties": {
        "name": {"type": "string"},
        "model": {"type": "string"},
        "size": {"type": "integer", "description": "Of the weights in memory, in bytes."},
        "digest": {"type": "string"},
        "details": {"type": "object"},
        "expires_at": {"type": "string", "format": "date-time", "description": "When it is unloaded if nobody asks."},
        "size_vram": {"type": "integer"},
        "context_length": {"type": "integer"},
        "backend": {"type": "string"},
        "device": {"type": "string"},
        "dtype": {"type": "string", "description": "That it computes in."},
        "dtype_reason": {"type": "string", "description": "Why, where dtype auto chose it; otherwise empty."},
        "fingerprint": {"type": "string", "description": "Of weights, dtype and backend."},
        "queue": {"type": "object", "properties": {
          "jobs": {"type": "integer"}, "rows": {"type": "integer"}, "tokens": {"type": "integer"}}}
      }
    }}
  }
})";

constexpr std::string_view kEmbeddingsBody = R"({
  "type": "object",
  "properties": {
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /api/tags; the default model if absent."},
    "prompt": {"type": "string", "description": "The text. Without one the model is loaded and the vector is empty."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the model stays: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows. From clients that are no administrators only a longer time than the model has counts (X-Keep-Alive-Ignored)."},
    "options": {"type": "object", "description": "Taken and not used."}
  },
  "example": {"model": "sentence-transformers/all-MiniLM-L6-v2", "prompt": "a text"}
})";

constexpr std::string_view kEmbeddingsAnswer = R"({
  "type": "object",
  "required": ["embedding"],
  "properties": {"embedding": {"type": "array", "items": {"type": "number"}}}
})";

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

Json config_of(const ModelListing& listing) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  try {
    const std::filesystem::path folder = runtime::find_model_files(listing.folder).folder;
    return formats::parse_json(base::read_contained_file(folder, "config.json", kMaxBytes), "config.json");
  } catch (const Error&) {
    return {};
  }
}

void show_model(Call& call) {
  answer_in_background(call, [&services = call.services, name = ollama_model_of(call.body)] {
    const ModelListing listing = services.models.describe(name);
    return json_response(ollama_show(listing, config_of(listing)));
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
       .answers = {{.description = "All models.", .schema = kTagsAnswer}}},
      {.method = Method::post,
       .path = "/api/show",
       .family = Family::ollama,
       .id = "ollamaShow",
       .summary = "What a model is",
       .handle = show_model,
       .body = kShowBody,
       .answers = {{.description = "The model's facts.", .schema = kShowAnswer}}},
      {.method = Method::get,
       .path = "/api/ps",
       .family = Family::ollama,
       .id = "ollamaProcesses",
       .summary = "The models that are loaded, and what they have to do",
       .handle = list_processes,
       .answers = {{.description = "All loaded models.", .schema = kProcessesAnswer}},
       .access = Access::admin},
      ollama_pull_route(),
      {.method = Method::post,
       .path = "/api/embeddings",
       .family = Family::ollama,
       .id = "ollamaEmbeddings",
       .summary = "Turns one text into a vector, as older clients ask for it",
       .handle = create_embedding,
       .body = kEmbeddingsBody,
       .answers = {{.description = "The vector.", .schema = kEmbeddingsAnswer}},
       .computes = true},
  };
}

}  // namespace alate::server
