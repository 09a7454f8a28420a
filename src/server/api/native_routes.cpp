#include <utility>

#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "server/api/answer.h"
#include "server/api/background.h"
#include "server/api/chunk.h"
#include "server/api/classify.h"
#include "server/api/extract.h"
#include "server/api/fill.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/recognize.h"
#include "server/api/rerank.h"
#include "server/api/search.h"
#include "server/api/similarity.h"
#include "server/refuse.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kEmbedBody = R"({
  "type": "object",
  "required": ["input"],
  "properties": {
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /api/models; the default model if absent."},
    "backend": {"type": "string", "maxLength": 64, "description": "Where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "input": {
      "description": "One text or several. An empty list loads the model, or unloads it where keep_alive is 0.",
      "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    },
    "truncate": {"type": "boolean", "default": true,
      "description": "Whether texts over the model's length are cut, or refused."},
    "long": {"type": "string", "enum": ["error", "cut", "cut-left", "windows"],
      "description": "What is done with such texts; windows: the vector is the mean of those of the text's windows, weighted by their tokens."},
    "stride": {"type": "integer", "minimum": 0, "maximum": 1048576,
      "description": "Tokens that a window shares with the one before it; a quarter of a window if absent."},
    "dimensions": {"type": "integer", "minimum": 1, "maximum": 2147483647,
      "description": "Keeps the first so many numbers of each vector."},
    "normalize": {"type": "boolean", "description": "Whether vectors get length 1; as the model says if absent."},
    "kinds": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["dense", "sparse", "multi-vector"]},
      "description": "Kinds of embeddings, from one run of the encoder; dense if absent."},
    "sparse_top_k": {"type": "integer", "minimum": 1, "maximum": 2147483647,
      "description": "Keeps the so many largest weights of each sparse embedding."},
    "precision": {"type": "string", "enum": ["float32", "int8", "uint8", "binary", "ubinary"], "default": "float32",
      "description": "The numbers of dense vectors: one of 256 equal steps of the range from -1 to 1, counted from 0 (uint8) or -128 (int8); or a bit for each, 1 where it is above 0, the first in the highest bit of a byte (ubinary), or that byte less 128 (binary)."},
    "task": {"type": "string", "maxLength": 64,
      "description": "What the texts are for, where the model tells them apart: query or document, its prompt, and for late interaction its markers and lengths; or an adapter that the model has for the task."},
    "prompt_name": {"type": "string", "description": "One of the model's prompts, put before each text."},
    "prompt": {"type": "string", "description": "Put before each text instead."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the model stays: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows. From clients that are no administrators only a longer time than the model has counts (X-Keep-Alive-Ignored)."},
    "options": {"type": "object", "description": "Ollama's; taken and not used."}
  },
  "example": {"model": "sentence-transformers/all-MiniLM-L6-v2", "input": ["a first text", "a second text"]}
})";

constexpr std::string_view kEmbedAnswer = R"({
  "type": "object",
  "required": ["model", "embeddings", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "model": {"type": "string"},
    "embeddings": {"type": "array", "items": {"type": "array", "items": {"type": "number"}},
      "description": "Empty where kinds have no dense one."},
    "sparse_embeddings": {"type": "array", "description": "A weight for each of some vocabulary entries, by ascending index.",
      "items": {"type": "object", "required": ["indices", "values"], "properties": {
        "indices": {"type": "array", "items": {"type": "integer"}},
        "values": {"type": "array", "items": {"type": "number"}}}}},
    "multi_vectors": {"type": "array", "description": "The vectors of each text's tokens.",
      "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}},
    "total_duration": {"type": "integer", "description": "In nanoseconds."},
    "load_duration": {"type": "integer", "description": "In nanoseconds; 0 where the model was loaded already."},
    "prompt_eval_count": {"type": "integer", "description": "Tokens, special ones included."},
    "truncated": {"type": "array", "items": {"type": "integer"},
      "description": "The indices of texts that were cut; absent when none was."}
  }
})";

constexpr std::string_view kModelsAnswer = R"({
  "type": "object",
  "required": ["models", "embedders", "rerankers", "classifiers", "recognizers", "answerers", "fillers", "extractors"],
  "properties": {
    "models": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "size", "modified_at", "digest", "loaded"],
      "properties": {
        "name": {"type": "string"},
        "type": {"type": "string", "description": "What it is for: embedder, reranker, classifier, recognizer."},
        "tasks": {"type": "array", "items": {"type": "string"}, "description": "The same as commands: embed, rerank, classify, recognize."},
        "architecture": {"type": "string"},
        "dimensions": {"type": "integer"},
        "max_length": {"type": "integer", "description": "In tokens."},
        "dtype": {"type": "string", "description": "Of the stored weights."},
        "parameters": {"type": "integer"},
        "size": {"type": "integer", "description": "Of the files, in bytes."},
        "modified_at": {"type": "string", "format": "date-time"},
        "digest": {"type": "string"},
        "loaded": {"type": "boolean"},
        "backend": {"type": "string", "description": "Where it is loaded."}
      }
    }},
    "embedders": {"type": "array", "items": {"type": "string"}},
    "rerankers": {"type": "array", "items": {"type": "string"}},
    "classifiers": {"type": "array", "items": {"type": "string"}},
    "recognizers": {"type": "array", "items": {"type": "string"}},
    "answerers": {"type": "array", "items": {"type": "string"}},
    "fillers": {"type": "array", "items": {"type": "string"}},
    "extractors": {"type": "array", "items": {"type": "string"}}
  }
})";

constexpr std::string_view kVersionAnswer = R"({
  "type": "object",
  "required": ["version"],
  "properties": {"version": {"type": "string"}}
})";

EmbedRequest request_of(const Json& body) {
  EmbedRequest request;
  request.model = body.get_string("model", "");
  const Json& input = *body.find("input");
  if (input.is_string()) {
    request.lone = true;
    request.texts.push_back(input.as_string("input"));
  } else {
    for (const Json& text : input.as_array("input")) request.texts.push_back(text.as_string("input"));
  }
  request.long_texts = read_long_texts(body);
  request.truncate = request.long_texts.treatment != LongTexts::error;
  if (const Json* dimensions = body.find_value("dimensions"))
    request.dimensions = static_cast<std::size_t>(dimensions->as_int("dimensions"));
  if (const Json* kinds = body.find_value("kinds")) {
    request.kinds = {};
    for (const Json& kind : kinds->as_array("kinds")) request.kinds.add(*parse_embedding_kind(kind.as_string("kinds")));
  }
  if (const Json* most = body.find_value("sparse_top_k"))
    request.sparse_top_k = static_cast<std::size_t>(most->as_int("sparse_top_k"));
  if (const Json* normalize = body.find_value("normalize")) request.normalize = normalize->as_bool("normalize");
  request.task = body.get_string("task", "");
  request.prompt_name = body.get_string("prompt_name", "");
  if (const Json* prompt = body.find_value("prompt")) request.prompt = prompt->as_string("prompt");
  request.keep_alive = read_keep_alive(body);
  return request;
}

Precision precision_of(const Json& body, const EmbeddingKinds& kinds, bool octets) {
  const Precision precision = *parse_precision(body.get_string("precision", "float32"));
  if (precision == Precision::float32) return precision;
  if (!kinds.dense)
    refuse(Problem::Kind::impossible, "precision is for dense embeddings, and kinds names none", "precision");
  if (octets)
    refuse(Problem::Kind::impossible, "application/octet-stream has a place for float32 only; accept JSON",
           "precision");
  return precision;
}

void create_embeddings(Call& call) {
  EmbedRequest request = request_of(call.body);
  const std::string* accept = call.exchange->request().headers.find("Accept");
  const bool octets = accept != nullptr && prefers_octets(*accept);
  if (octets && request.kinds != EmbeddingKinds::only(EmbeddingKind::dense))
    refuse(Problem::Kind::impossible, "application/octet-stream has a place for dense embeddings only; accept JSON",
           "kinds");
  const Precision precision = precision_of(call.body, request.kinds, octets);
  std::string model = request.model;
  embed(call, std::move(request), [octets, precision, model = std::move(model)](EmbedAnswer answer) {
    return octets ? itemized_response(embedding_octets(std::move(answer)), "application/octet-stream")
                  : itemized_response(native_embedding_list(std::move(answer), model, precision));
  });
}

void list_models(Call& call) {
  answer_in_background(call, [&services = call.services] {
    return json_response(native_model_list(services.models.listed(), services.models.loaded()));
  });
}

void show_version(Call& call) {
  call.exchange->reply(json_response(Json(Json::Object{{"version", call.services.version}})));
}

}  // namespace

std::vector<Route> native_routes() {
  return {
      {.method = Method::post,
       .path = "/api/embed",
       .family = Family::native,
       .id = "embed",
       .summary = "Turns texts into vectors",
       .handle = create_embeddings,
       .body = kEmbedBody,
       .answers = {{.description = "The vectors, in the order of the input.", .schema = kEmbedAnswer},
                   {.description =
                        "As application/octet-stream: u64 count, u64 dimensions, float32 numbers, all little "
                        "endian.",
                    .content_type = "application/octet-stream"}},
       .computes = true,
       .aliases = {"/ai/v1/embed"}},
      native_rerank_route(),
      native_chunk_route(),
      native_classify_route(),
      native_answer_route(),
      native_fill_route(),
      native_extract_route(),
      native_similarity_route(),
      native_search_route(),
      native_recognize_route(),
      native_redact_route(),
      {.method = Method::get,
       .path = "/api/models",
       .family = Family::native,
       .id = "models",
       .summary = "The models that are here",
       .handle = list_models,
       .answers = {{.description = "All models.", .schema = kModelsAnswer}},
       .aliases = {"/ai/v1/models"}},
      {.method = Method::get,
       .path = "/api/version",
       .family = Family::native,
       .id = "version",
       .summary = "The server's version",
       .handle = show_version,
       .answers = {{.description = "The version.", .schema = kVersionAnswer}},
       .aliases = {"/ai/v1/version"}},
  };
}

}  // namespace alate::server
