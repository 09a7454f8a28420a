#include <utility>

#include "server/api/alias_listings.h"
#include "server/api/background.h"
#include "server/api/openai.h"
#include "server/api/text_inputs.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kEmbeddingsBody =
    R"({
  "type": "object",
  "examples": [
    {"model": "sentence-transformers/all-MiniLM-L6-v2", "input": ["a first text", "a second one"]},
    {"model": "sentence-transformers/all-MiniLM-L6-v2", "input": [7592, 2088], "encoding_format": "base64"}
  ],
  "required": ["input"],
  "properties": {
    "input": {
      "description": "One text or several; or token ids of one text or of several, )"
    R"(to which the model's special tokens are added where they are absent.",
      "anyOf": [
        {"type": "string"},
        {"type": "array", "minItems": 1, "items": {"type": "string"}},
        {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0, "maximum": 2147483647}},
        {"type": "array", "minItems": 1, "items":
          {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0, "maximum": 2147483647}}}
      ]
    },
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /v1/models; the default model if absent."},
    "backend": {"type": "string", "maxLength": 64, "description": "An addition of Alate: where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "encoding_format": {"type": "string", "enum": ["float", "base64"], "default": "float",
      "description": "base64: the vector's float32 numbers, low byte first, in base64."},
    "embedding_type": {"type": "string", "enum": ["float", "base64", "int8", "uint8", "binary", "ubinary"],
      "description": "Jina's, instead of encoding_format. uint8 is one of 256 equal steps of the range from -1 to 1, counted from 0, )"
    R"(int8 that less 128; ubinary has a bit for each number, 1 where it is above 0, the first in the )"
    R"(highest bit of a byte, and binary those bytes less 128."},
    "dimensions": {"type": "integer", "minimum": 1, "maximum": 2147483647,
      "description": "Keeps the first so many numbers of each vector."},
    "user": {"type": "string", "description": "Taken and not used."},
    "task": {"type": "string", "maxLength": 64,
      "description": "Jina's: the adapter for what the texts are for. A model without adapters takes retrieval.query and retrieval.passage as query and document, and no other into account."},
    "truncate": {"type": "boolean", "default": true,
      "description": "An addition of Alate: whether texts over the model's length are cut, )"
    R"(or refused with the code context_length_exceeded."}
  }
})";

constexpr std::string_view kEmbeddingsAnswer = R"({
  "type": "object",
  "required": ["object", "data", "model", "usage"],
  "properties": {
    "object": {"type": "string", "enum": ["list"]},
    "data": {"type": "array", "items": {
      "type": "object",
      "required": ["object", "index", "embedding"],
      "properties": {
        "object": {"type": "string", "enum": ["embedding"]},
        "index": {"type": "integer", "minimum": 0},
        "embedding": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}
      }
    }},
    "model": {"type": "string"},
    "usage": {
      "type": "object",
      "required": ["prompt_tokens", "total_tokens"],
      "properties": {"prompt_tokens": {"type": "integer"}, "total_tokens": {"type": "integer"}}
    },
    "truncated": {"type": "array", "items": {"type": "integer"},
      "description": "An addition of Alate: the indices of texts that were cut; absent when none was."}
  }
})";

constexpr std::string_view kModel = R"({
  "type": "object",
  "required": ["id", "object", "created", "owned_by"],
  "properties": {
    "id": {"type": "string"},
    "object": {"type": "string", "enum": ["model"]},
    "created": {"type": "integer"},
    "owned_by": {"type": "string"},
    "capabilities": {"type": "array", "items": {"type": "string"}, "description": "An addition of Alate: embed, rerank."}
  }
})";

constexpr std::string_view kModels = R"({
  "type": "object",
  "required": ["object", "data"],
  "properties": {
    "object": {"type": "string", "enum": ["list"]},
    "data": {"type": "array", "items": {
      "type": "object",
      "required": ["id", "object", "created", "owned_by"],
      "properties": {
        "id": {"type": "string"},
        "object": {"type": "string", "enum": ["model"]},
        "created": {"type": "integer"},
        "owned_by": {"type": "string"},
        "capabilities": {"type": "array", "items": {"type": "string"}, "description": "An addition of Alate: embed, rerank."}
      }
    }}
  }
})";

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
  return {
      {.method = Method::post,
       .path = "/v1/embeddings",
       .family = Family::openai,
       .id = "createEmbedding",
       .summary = "Turns texts into vectors",
       .handle = create_embedding,
       .body = kEmbeddingsBody,
       .answers = {{.description = "The vectors, in the order of the input", .schema = kEmbeddingsAnswer}},
       .computes = true},
      {.method = Method::get,
       .path = "/v1/models",
       .family = Family::openai,
       .id = "listModels",
       .summary = "The models that may be asked for",
       .handle = list_models,
       .answers = {{.description = "All models", .schema = kModels}}},
      {.method = Method::get,
       .path = "/v1/models/{model}",
       .family = Family::openai,
       .id = "retrieveModel",
       .summary = "One model",
       .handle = show_model,
       .answers = {{.description = "The model", .schema = kModel}}},
  };
}

}  // namespace alate::server
