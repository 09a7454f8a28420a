#include <utility>

#include "pipelines/rerank/ranking_json.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/models/rerank_service.h"
#include "server/refuse.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kBody = R"({
  "type": "object",
  "required": ["query"],
  "properties": {
    "model": {"type": "string", "nullable": false, "description": "A name of /api/models; the default model if absent."},
    "backend": {"type": "string", "maxLength": 64, "description": "Where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "query": {"type": "string"},
    "prompts": {"type": "array", "items": {"type": "string"},
      "description": "The texts that may answer the query; texts and documents are other names of them. One of the three is needed. An empty list loads the model, or unloads it where keep_alive is 0."},
    "texts": {"type": "array", "items": {"type": "string"}},
    "documents": {"type": "array",
      "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}]}},
    "top_n": {"type": "integer", "minimum": 1, "maximum": 2147483647, "description": "How many results; all if absent."},
    "raw_scores": {"type": "boolean", "default": false,
      "description": "The model's own numbers instead of scores from 0 to 1."},
    "truncate": {"type": "boolean", "default": true,
      "description": "Whether texts that are, with the query, over the model's length are cut, or refused."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the model stays: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows."}
  },
  "example": {"model": "cross-encoder/ms-marco-MiniLM-L6-v2", "query": "Where is the cat?",
              "prompts": ["The cat sits on the mat.", "Shares fell on Monday."]}
})";

constexpr std::string_view kAnswer = R"({
  "type": "object",
  "required": ["model", "scores", "results", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "model": {"type": "string"},
    "scores": {"type": "array", "items": {"type": "number"}, "description": "In the order of the texts."},
    "results": {"type": "array", "description": "The best first.", "items": {
      "type": "object",
      "required": ["index", "relevance_score"],
      "properties": {"index": {"type": "integer"}, "relevance_score": {"type": "number"}}
    }},
    "total_duration": {"type": "integer", "description": "In nanoseconds."},
    "load_duration": {"type": "integer", "description": "In nanoseconds; 0 where the model was loaded already."},
    "prompt_eval_count": {"type": "integer", "description": "Tokens, special ones and the query of each text included."},
    "truncated": {"type": "array", "items": {"type": "integer"},
      "description": "The indices of texts that were cut; absent when none was."}
  }
})";

std::vector<std::string> texts_of_body(const Json& body, std::string& parameter) {
  const Json* texts = nullptr;
  for (const char* name : {"prompts", "texts", "documents"}) {
    const Json* given = body.find(name);
    if (given == nullptr || given->is_null()) continue;
    if (texts != nullptr)
      refuse(Problem::Kind::invalid, "both " + parameter + " and " + name + " are given: give one of them", name);
    texts = given;
    parameter = name;
  }
  if (texts == nullptr) refuse(Problem::Kind::invalid, "prompts is missing: give the texts to rank", "prompts");
  return read_documents(texts->as_array(parameter), parameter);
}

void rank_texts(Call& call) {
  RerankRequest request;
  request.model = call.body.get_string("model", "");
  request.query = call.body.get_string("query", "");
  request.texts = texts_of_body(call.body, request.parameter);
  request.raw_scores = call.body.get_bool("raw_scores", false);
  request.truncate = call.body.get_bool("truncate", true);
  request.keep_alive = read_keep_alive(call.body);
  std::string model = request.model;
  rerank(call, std::move(request),
         [model = std::move(model), count = read_count(call.body, "top_n")](const RerankAnswer& answer) {
           return json_response(pipelines::ranking_json(
               {.scores = answer.scores, .count = count, .facts = answer_facts(answer, model)}));
         });
}

}  // namespace

Route native_rerank_route() {
  return {
      .method = Method::post,
      .path = "/api/rerank",
      .family = Family::native,
      .id = "rerank",
      .summary = "Scores how well texts answer a query",
      .handle = rank_texts,
      .body = kBody,
      .answers = {{.description = "A score for each text, and the texts' indices, the best first.", .schema = kAnswer}},
      .computes = true,
      .aliases = {"/ai/v1/rerank"}};
}

}  // namespace alate::server
