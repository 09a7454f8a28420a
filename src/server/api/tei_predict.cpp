#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/classify.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/classify/label_scores_json.h"
#include "server/api/background.h"
#include "server/api/classify.h"
#include "server/api/recognize.h"
#include "server/api/route_schemas.h"
#include "server/api/tei.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ClassifyRun;

// Texts, each with another or alone.
struct Sequences {
  std::vector<std::string> texts;
  std::vector<std::optional<std::string>> pairs;

  void add(const Json::Array& given) {
    if (given.empty() || given.size() > 2)
      refuse(Problem::Kind::invalid, "a list in inputs has one text, or the two of a pair", "inputs");
    texts.push_back(given.front().as_string("inputs"));
    pairs.push_back(given.size() == 2 ? std::optional(given.back().as_string("inputs")) : std::nullopt);
  }
};

// One sequence is "a text", ["a text"] or ["a text", "its pair"]; several are a list of such lists.
Sequences read_sequences(const Json& inputs, bool& is_lone) {
  Sequences sequences;
  is_lone = inputs.is_string() ||
            (inputs.is_array() && !inputs.as_array("inputs").empty() && inputs.as_array("inputs").front().is_string());
  if (inputs.is_string()) {
    sequences.add({inputs});
  } else if (is_lone) {
    sequences.add(inputs.as_array("inputs"));
  } else {
    for (const Json& one : inputs.as_array("inputs")) sequences.add(one.as_array("inputs"));
  }
  if (sequences.texts.empty())
    refuse(Problem::Kind::empty, "inputs is an empty list; it must hold at least one entry", "inputs");
  return sequences;
}

// Hugging Face's clients say "parameters", and read the labels of one text from a list of lists, except where they gave
// the labels themselves.
bool is_flat(const Json& body, bool is_lone) {
  const Json* parameters = body.find_value("parameters");
  return is_lone && (parameters == nullptr || parameters->find_value("candidate_labels") != nullptr);
}

// As TextClassificationPipeline and ZeroShotClassificationPipeline of transformers name them.
void read_parameters(const Json& parameters, ClassifyOptions& options) {
  const std::string function = parameters.get_string("function_to_apply", "");
  if (function == "none") options.raw_scores = true;
  if (function == "sigmoid" || function == "softmax") options.multi_label = function == "sigmoid";
  if (const std::int64_t count = parameters.get_int("top_k", 0); count > 0)
    options.top_k = static_cast<std::size_t>(count);
  if (const Json* labels = parameters.find_value("candidate_labels")) {
    for (const Json& label : labels->as_array("candidate_labels"))
      options.labels.push_back(label.as_string("candidate_labels"));
    if (options.labels.empty())
      refuse(Problem::Kind::invalid, "candidate_labels is an empty list; it must hold at least one label",
             "parameters");
  }
  if (const Json* multi = parameters.find_value("multi_label")) options.multi_label = multi->as_bool("multi_label");
  options.hypothesis_template = parameters.get_string("hypothesis_template", kHypothesisTemplate);
}

std::string answer_text(TaskAnswer& answer, bool is_lone) {
  auto& run = static_cast<ClassifyRun&>(*answer.run);
  if (is_lone) return pipelines::label_scores_json(run.answers().front());
  std::string out = "[";
  for (const std::vector<LabelScore>& scores : run.answers())
    out += (out.size() > 1 ? "," : "") + pipelines::label_scores_json(scores);
  return out += ']';
}

void classify_texts(Call& call) {
  const Json* inputs = call.body.find_value("inputs");
  if (inputs == nullptr) refuse(Problem::Kind::invalid, "inputs is missing", "inputs");
  TaskRequest request;
  request.model = tei_model_of(call);
  request.purpose.tasks = {pipelines::Task::classify};
  request.parameter = "inputs";
  Sequences sequences = read_sequences(*inputs, request.lone);
  request.texts = std::move(sequences.texts);
  for (const std::optional<std::string>& pair : sequences.pairs)
    request.text_bytes = std::max(request.text_bytes, pair ? pair->size() : 0);
  read_tei_truncation(call.body, request);
  ClassifyOptions options;
  options.raw_scores = call.body.get_bool("raw_scores", false);
  if (const Json* parameters = call.body.find_value("parameters")) read_parameters(*parameters, options);
  request.rows_of_text = std::max<std::size_t>(options.labels.size(), 1);
  for (const std::string& label : options.labels)
    request.text_bytes += label.size() + options.hypothesis_template.size();
  options.long_texts.treatment = request.truncate ? LongTexts::cut : LongTexts::error;
  if (request.truncate && request.truncation_side == Side::left) options.long_texts.treatment = LongTexts::cut_left;
  const bool is_lone = is_flat(call.body, request.lone);
  run_task(
      call, std::move(request),
      [options = std::move(options), pairs = std::move(sequences.pairs)](const pipelines::TextModel& model,
                                                                         std::vector<std::string_view> texts) {
        std::vector<EncodeInput> given;
        for (std::size_t i = 0; i < texts.size(); ++i) {
          if (pairs[i]) {
            given.emplace_back(texts[i], *pairs[i]);
          } else {
            given.emplace_back(texts[i]);
          }
        }
        return std::make_unique<ClassifyRun>(pipelines::classifier_of(model), std::move(given), options);
      },
      [is_lone](TaskAnswer& answer) { return json_response(answer_text(answer, is_lone)); });
}

}  // namespace

ModelPurpose purpose_of_prediction(const Json& body) {
  const Json* parameters = body.find_value("parameters");
  const auto has = [&](std::string_view name) {
    return parameters != nullptr && parameters->find_value(name) != nullptr;
  };
  if (has("candidate_labels")) return {.tasks = {pipelines::Task::classify}};
  if (has("aggregation_strategy") || has("ignore_labels")) return {.tasks = {pipelines::Task::recognize}};
  return {.tasks = {pipelines::Task::classify, pipelines::Task::recognize}};
}

void predict_as_tei(Call& call) {
  go_on_with_model(
      call, tei_model_of(call),
      [](Call& with_texts, const HostedModel& model) {
        const bool recognizes = model.pipelines.tasks().front() == pipelines::Task::recognize;
        return recognizes ? recognize_as_hugging_face(with_texts) : classify_texts(with_texts);
      },
      purpose_of_prediction(call.body));
}

Route tei_predict_route() {
  return {.method = Method::post,
          .path = "/predict",
          .family = Family::tei,
          .id = "teiPredict",
          .summary =
              "Says which labels fit texts, as text-embeddings-inference does, or parts of them, as Hugging Face does",
          .handle = predict_as_tei,
          .body = route_schema(Family::tei, "predict_body"),
          .answers = {{.description = "The labels with their scores, the best first, or the entities of a recognizer; "
                                      "of several texts, a list each",
                       .schema = route_schema(Family::tei, "predictions")}},
          .computes = true,
          .aliases = {"/models/{model}/predict"}};
}

}  // namespace alate::server
