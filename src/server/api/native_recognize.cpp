#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/recognize.h"
#include "alate/redact.h"
#include "folders/builtin_models.h"
#include "formats/json.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/redact/redact_run.h"
#include "server/api/native_answer.h"
#include "server/api/recognize.h"
#include "server/api/route_schemas.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::RecognizeRun;
using pipelines::RedactRun;

RecognizeOptions read_options(const Json& body) {
  RecognizeOptions options;
  if (const Json* labels = body.find_value("labels")) {
    for (const Json& label : labels->as_array("labels")) options.labels.push_back(label.as_string("labels"));
  }
  if (const Json* threshold = body.find_value("threshold"))
    options.threshold = static_cast<float>(threshold->as_double("threshold"));
  options.nested = body.get_bool("nested", false);
  options.multi_label = body.get_bool("multi_label", false);
  options.aggregation = parse_aggregation(body.get_string("aggregation", ""));
  options.long_texts = read_long_texts(body);
  return options;
}

TaskList entities_of(RecognizeRun& run) {
  return {"entities", [entities = std::make_shared<const std::vector<std::vector<Entity>>>(std::move(run.entities()))](
                          std::string& out, std::size_t i) { out += pipelines::entities_json((*entities)[i]); }};
}

Response recognized(TaskAnswer& answer, std::string_view model) {
  return task_response(answer, model, {entities_of(static_cast<RecognizeRun&>(*answer.run))});
}

Response redacted(TaskAnswer& answer, std::string_view model) {
  auto& run = static_cast<RedactRun&>(*answer.run);
  TaskList texts{"texts", [texts = std::make_shared<const std::vector<std::string>>(std::move(run.texts()))](
                              std::string& out, std::size_t i) { formats::append_json_string(out, (*texts)[i]); }};
  return task_response(answer, model, {std::move(texts), entities_of(run)});
}

// What a GLiNER model reads with each text.
std::size_t label_bytes(const RecognizeOptions& options) {
  std::size_t bytes = 0;
  for (const std::string& label : options.labels) bytes += label.size();
  return bytes;
}

void recognize_texts(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  std::string model = request.model;
  RecognizeOptions options = read_options(call.body);
  request.text_bytes = label_bytes(options);
  run_task(
      call, std::move(request),
      [options = std::move(options)](const pipelines::TextModel& text_model, std::vector<std::string_view> texts) {
        return std::make_unique<RecognizeRun>(pipelines::recognizer_of(text_model), std::move(texts), options);
      },
      [model = std::move(model)](TaskAnswer& answer) { return recognized(answer, model); });
}

void redact_texts(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  if (request.model.empty()) request.model = folders::kBuiltinRecognizer;
  std::string model = request.model;
  RecognizeOptions options = read_options(call.body);
  request.text_bytes = label_bytes(options);
  run_task(
      call, std::move(request),
      [options = std::move(options), pseudonyms = call.body.get_bool("pseudonyms", false)](
          const pipelines::TextModel& text_model, std::vector<std::string_view> texts) {
        return std::make_unique<RedactRun>(pipelines::recognizer_of(text_model), std::move(texts), options,
                                           std::make_shared<Redactor>(pseudonyms));
      },
      [model = std::move(model)](TaskAnswer& answer) { return redacted(answer, model); });
}

}  // namespace

Route native_recognize_route() {
  return {.method = Method::post,
          .path = "/api/recognize",
          .family = Family::native,
          .id = "recognize",
          .summary = "Finds labelled places in texts, such as names",
          .handle = recognize_texts,
          .body = route_schema(Family::native, "recognize_body"),
          .answers = {{.description = "The entities of each text.",
                       .schema = route_schema(Family::native, "recognize_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/recognize"}};
}

Route native_redact_route() {
  return {.method = Method::post,
          .path = "/api/redact",
          .family = Family::native,
          .id = "redact",
          .summary = "Replaces personal data, or what else a model recognizes, by its label",
          .handle = redact_texts,
          .body = route_schema(Family::native, "redact_body"),
          .answers = {{.description = "The texts, redacted, and the entities of each.",
                       .schema = route_schema(Family::native, "redact_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/redact"}};
}

}  // namespace alate::server
