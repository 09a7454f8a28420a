#include <utility>

#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "server/api/answer.h"
#include "server/api/background.h"
#include "server/api/chunk.h"
#include "server/api/classify.h"
#include "server/api/extract.h"
#include "server/api/family_routes.h"
#include "server/api/fill.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/native_generate.h"
#include "server/api/native_load.h"
#include "server/api/recognize.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/api/search.h"
#include "server/api/similarity.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

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
       .body = route_schema(Family::native, "embed_body"),
       .answers = {{.description = "The vectors, in the order of the input.",
                    .schema = route_schema(Family::native, "embed_answer")},
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
      native_generate_route(),
      native_load_route(),
      native_unload_route(),
      {.method = Method::get,
       .path = "/api/models",
       .family = Family::native,
       .id = "models",
       .summary = "The models that are here",
       .handle = list_models,
       .answers = {{.description = "All models.", .schema = route_schema(Family::native, "models_answer")}},
       .aliases = {"/ai/v1/models"}},
      {.method = Method::get,
       .path = "/api/version",
       .family = Family::native,
       .id = "version",
       .summary = "The server's version",
       .handle = show_version,
       .answers = {{.description = "The version.", .schema = route_schema(Family::native, "version_answer")}},
       .aliases = {"/ai/v1/version"}},
  };
}

}  // namespace alate::server
