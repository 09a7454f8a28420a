#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipelines/rerank/ranking_json.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/rerank_service.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

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
  return {.method = Method::post,
          .path = "/api/rerank",
          .family = Family::native,
          .id = "rerank",
          .summary = "Scores how well texts answer a query",
          .handle = rank_texts,
          .body = route_schema(Family::native, "rerank_body"),
          .answers = {{.description = "A score for each text, and the texts' indices, the best first.",
                       .schema = route_schema(Family::native, "rerank_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/rerank"}};
}

}  // namespace alate::server
