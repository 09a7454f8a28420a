#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipelines/rerank/ranking_json.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/models/rerank_service.h"
#include "server/refuse.h"
#include "server/schema/joined.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

namespace parts {

constexpr std::string_view kBodyBegin = R"({
  "type": "object",
  "required": ["query"],
  "properties": {
    "query": {"type": "string"},)";

constexpr std::string_view kBodyEnd = R"(
    "prompts": {"type": "array", "items": {"type": "string"},
      "description": "The texts that may answer the query; texts and documents are other names of them. One of the three is needed. An empty list loads the model, or unloads it where keep_alive is 0."},
    "texts": {"type": "array", "items": {"type": "string"}},
    "documents": {"type": "array",
      "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}]}},
    "top_n": {"type": "integer", "minimum": 1, "maximum": 2147483647, "description": "How many results; all if absent."},
    "raw_scores": {"type": "boolean", "default": false,
      "description": "The model's own numbers instead of scores from 0 to 1."},
    "model_scores": {"type": "boolean", "default": false,
      "description": "Scores as sentence-transformers' CrossEncoder gives them: by the function that the model's folder names."},
    "prompt_name": {"type": "string", "description": "A prompt of the model to put before the query; its default one if absent."},
    "prompt": {"type": "string", "description": "A text to put before the query instead."}
  },
  "example": {"model": "cross-encoder/ms-marco-MiniLM-L6-v2", "query": "Where is the cat?",
              "prompts": ["The cat sits on the mat.", "Shares fell on Monday."]}
})";

constexpr std::string_view kAnswerBegin = R"({
  "type": "object",
  "required": ["model", "scores", "results", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "scores": {"type": "array", "description": "In the order of the texts.", "items": {"anyOf": [{"type": "number"},
      )";
constexpr std::string_view kAnswerMiddle = R"(]}},
    "results": {"type": "array", "description": "The best first.", "items": {
      "type": "object",
      "required": ["index", "relevance_score"],
      "properties": {"index": {"type": "integer"}, "relevance_score": {"type": "number"}}
    }},)";
constexpr std::string_view kAnswerEnd = "}}";

}  // namespace parts

constexpr std::string_view kBody = kJoined<parts::kBodyBegin, kModelMembers, kLongTextMembers, parts::kBodyEnd>;
constexpr std::string_view kAnswer =
    kJoined<parts::kAnswerBegin, kItemError, parts::kAnswerMiddle, kFactMembers, parts::kAnswerEnd>;

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

RerankOptions read_options(const Json& body) {
  RerankOptions options;
  options.raw_scores = body.get_bool("raw_scores", false);
  options.model_scores = body.get_bool("model_scores", false);
  options.prompt_name = body.get_string("prompt_name", "");
  if (const Json* prompt = body.find_value("prompt")) options.prompt = prompt->as_string("prompt");
  options.long_texts = read_long_texts(body);
  return options;
}

std::string answer_text(const RerankAnswer& answer, std::string_view model, std::optional<std::size_t> count) {
  pipelines::Ranking ranking{.scores = answer.scores,
                             .raw_scores = answer.raw_scores,
                             .count = count,
                             .facts = answer_facts(answer.task, model)};
  for (const std::size_t text : answer.task.run->too_long()) ranking.errors.emplace(text, *answer.task.error_of(text));
  return pipelines::ranking_json(ranking);
}

void rank_texts(Call& call) {
  RerankRequest request;
  read_task_members(call.body, request);
  request.query = call.body.get_string("query", "");
  request.texts = texts_of_body(call.body, request.parameter);
  request.options = read_options(call.body);
  std::string model = request.model;
  rerank(call, std::move(request),
         [model = std::move(model), count = read_count(call.body, "top_n")](const RerankAnswer& answer) {
           return json_response(answer_text(answer, model, count));
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
