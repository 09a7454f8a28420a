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
#include "server/api/route_schemas.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerRun;

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
          .body = route_schema(Family::native, "question_answering_body"),
          .answers = {{.description = "The answers of each text, the best first.",
                       .schema = route_schema(Family::native, "question_answering_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/answer"}};
}

}  // namespace alate::server
