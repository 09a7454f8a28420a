// Question answering as Hugging Face's clients ask for it.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/answer.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/answer/answers_json.h"
#include "server/api/answer.h"
#include "server/api/rerank.h"
#include "server/api/tei.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerRun;

// The members of "parameters" as huggingface_hub writes them; transformers does not use max_question_len either with
// tokenizers such as ours.
AnswerOptions read_options(const Json& body) {
  AnswerOptions options;
  const Json* parameters = body.find_value("parameters");
  if (parameters == nullptr) return options;
  options.top_k = read_count(*parameters, "top_k").value_or(options.top_k);
  options.max_answer_length = read_count(*parameters, "max_answer_len").value_or(options.max_answer_length);
  options.long_texts.max_length = read_count(*parameters, "max_seq_len");
  options.long_texts.stride = read_count(*parameters, "doc_stride");
  options.no_answer = parameters->get_bool("handle_impossible_answer", false);
  options.align_to_words = parameters->get_bool("align_to_words", true);
  return options;
}

}  // namespace

void answer_as_hugging_face(Call& call) {
  const Json& inputs = *call.body.find("inputs");
  std::string question = inputs.get_string("question", "");
  if (question.empty())
    refuse(Problem::Kind::invalid, "inputs.question is empty: say what the context is to answer", "inputs");
  TaskRequest request;
  request.model = tei_model_of(call);
  request.purpose.tasks = {pipelines::Task::answer};
  request.parameter = "inputs.context";
  request.lone = true;
  request.texts = {inputs.get_string("context", "")};
  request.text_bytes = question.size();
  run_task(
      call, std::move(request),
      [question = std::move(question), options = read_options(call.body)](const pipelines::TextModel& model,
                                                                          std::vector<std::string_view> texts) {
        return std::make_unique<AnswerRun>(pipelines::answerer_of(model), question, std::move(texts), options);
      },
      [](TaskAnswer& answer) {
        auto& run = static_cast<AnswerRun&>(*answer.run);
        return json_response(pipelines::hugging_face_answers_json(run.answers().front()));
      });
}

}  // namespace alate::server
