#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/answer.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/answer/answers_json.h"
#include "server/api/answer.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/models/task_service.h"
#include "server/schema/joined.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerRun;

namespace parts {

constexpr std::string_view kBodyBegin = R"({
  "type": "object",
  "required": ["question", "texts"],
  "properties": {
    "question": {"type": "string", "minLength": 1, "description": "What the texts are to answer."},)";

constexpr std::string_view kBodyEnd = R"(
    "top_k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1,
      "description": "At most so many answers of each text."},
    "max_answer_length": {"type": "integer", "minimum": 1, "maximum": 2147483647, "default": 15,
      "description": "The most tokens of an answer."},
    "no_answer": {"type": "boolean", "default": false,
      "description": "Whether a text may have no answer: an empty one at its beginning is then among its answers."},
    "align_to_words": {"type": "boolean", "default": true,
      "description": "Whether answers begin and end with words; else with tokens."}
  },
  "example": {"model": "deepset/roberta-base-squad2", "question": "Where does Ada live?", "texts": ["Ada lives in London."]}
})";

constexpr std::string_view kAnswerBegin = R"({
  "type": "object",
  "required": ["model", "answers", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "answers": {"type": "array", "description": "Of each text, the best answer first; start and end count code points.", "items": {"anyOf": [
      {"type": "array", "items": {"type": "object", "required": ["text", "start", "end", "score"], "properties": {
        "text": {"type": "string"},
        "start": {"type": "integer"}, "end": {"type": "integer"},
        "byte_start": {"type": "integer"}, "byte_end": {"type": "integer"},
        "score": {"type": "number"}}}},
      )";
constexpr std::string_view kAnswerMiddle = "]}},";
constexpr std::string_view kAnswerEnd = "}}";

}  // namespace parts

constexpr std::string_view kBody = kJoined<parts::kBodyBegin, kTaskMembers, parts::kBodyEnd>;
constexpr std::string_view kAnswer =
    kJoined<parts::kAnswerBegin, kItemError, parts::kAnswerMiddle, kFactMembers, parts::kAnswerEnd>;

AnswerOptions read_options(const Json& body) {
  AnswerOptions options;
  options.top_k = read_count(body, "top_k").value_or(options.top_k);
  options.max_answer_length = read_count(body, "max_answer_length").value_or(options.max_answer_length);
  options.no_answer = body.get_bool("no_answer", false);
  options.align_to_words = body.get_bool("align_to_words", true);
  options.long_texts = read_long_texts(body);
  return options;
}

Response respond(TaskAnswer& answer, std::string_view model) {
  const auto answers = std::make_shared<const std::vector<std::vector<Answer>>>(
      std::move(static_cast<AnswerRun&>(*answer.run).answers()));
  return task_response(
      answer, model,
      {{"answers", [answers](std::string& out, std::size_t i) { out += pipelines::answers_json((*answers)[i]); }}});
}

void answer_question(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  std::string question = call.body.get_string("question", "");
  request.text_bytes = question.size();
  std::string model = request.model;
  run_task(
      call, std::move(request),
      [question = std::move(question), options = read_options(call.body)](const pipelines::TextModel& text_model,
                                                                          std::vector<std::string_view> texts) {
        return std::make_unique<AnswerRun>(pipelines::answerer_of(text_model), question, std::move(texts), options);
      },
      [model = std::move(model)](TaskAnswer& answer) { return respond(answer, model); });
}

}  // namespace

Route native_answer_route() {
  return {.method = Method::post,
          .path = "/api/answer",
          .family = Family::native,
          .id = "answer",
          .summary = "Finds the answer to a question in texts",
          .handle = answer_question,
          .body = kBody,
          .answers = {{.description = "The answers of each text, the best first.", .schema = kAnswer}},
          .computes = true,
          .aliases = {"/ai/v1/answer"}};
}

}  // namespace alate::server
