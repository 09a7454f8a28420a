#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/fill.h"
#include "pipelines/fill/fill_run.h"
#include "pipelines/fill/fills_json.h"
#include "server/api/fill.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/models/task_service.h"
#include "server/schema/joined.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::FillRun;

namespace parts {

constexpr std::string_view kBodyBegin = R"({
  "type": "object",
  "required": ["texts"],
  "properties": {)";

constexpr std::string_view kBodyEnd = R"(
    "top_k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 5,
      "description": "How many tokens of each mask, the best ones."},
    "targets": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1},
      "description": "Only these tokens are scored; all if absent."}
  },
  "example": {"model": "FacebookAI/roberta-base", "texts": ["The sky is <mask>."]}
})";

constexpr std::string_view kAnswerBegin = R"({
  "type": "object",
  "required": ["model", "fills", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "fills": {"type": "array", "description": "Of each text a list for each mask, the best token first.", "items": {"anyOf": [
      {"type": "array", "items": {"type": "array", "items": {"type": "object", "required": ["token", "score", "text", "id"],
        "properties": {"token": {"type": "string"}, "score": {"type": "number"},
          "text": {"type": "string", "description": "The text with the token in the mask's place."},
          "id": {"type": "integer"}}}}},
      )";
constexpr std::string_view kAnswerMiddle = "]}},";
constexpr std::string_view kAnswerEnd = "}}";

}  // namespace parts

constexpr std::string_view kBody = kJoined<parts::kBodyBegin, kTaskMembers, parts::kBodyEnd>;
constexpr std::string_view kAnswer =
    kJoined<parts::kAnswerBegin, kItemError, parts::kAnswerMiddle, kFactMembers, parts::kAnswerEnd>;

FillOptions read_options(const Json& body) {
  FillOptions options;
  options.top_k = read_count(body, "top_k").value_or(options.top_k);
  if (const Json* targets = body.find_value("targets")) {
    for (const Json& target : targets->as_array("targets")) options.targets.push_back(target.as_string("targets"));
  }
  options.long_texts = read_long_texts(body);
  return options;
}

Response respond(TaskAnswer& answer, std::string_view model) {
  const auto fills = std::make_shared<const std::vector<std::vector<std::vector<Fill>>>>(
      std::move(static_cast<FillRun&>(*answer.run).fills()));
  return task_response(
      answer, model,
      {{"fills", [fills](std::string& out, std::size_t i) { out += pipelines::fills_json((*fills)[i]); }}});
}

void fill_texts(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  std::string model = request.model;
  run_task(
      call, std::move(request),
      [options = read_options(call.body)](const pipelines::TextModel& text_model, std::vector<std::string_view> texts) {
        return std::make_unique<FillRun>(pipelines::filler_of(text_model), std::move(texts), options);
      },
      [model = std::move(model)](TaskAnswer& answer) { return respond(answer, model); });
}

}  // namespace

Route native_fill_route() {
  return {.method = Method::post,
          .path = "/api/fill",
          .family = Family::native,
          .id = "fill",
          .summary = "Finds tokens for the masks of texts",
          .handle = fill_texts,
          .body = kBody,
          .answers = {{.description = "The best tokens of each mask of each text.", .schema = kAnswer}},
          .computes = true,
          .aliases = {"/ai/v1/fill"}};
}

}  // namespace alate::server
