#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/classify.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/classify/label_scores_json.h"
#include "server/api/classify.h"
#include "server/api/native_answer.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/models/services.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ClassifyRun;

ClassifyOptions read_options(const Json& body) {
  ClassifyOptions options;
  if (const Json* labels = body.find_value("labels")) {
    for (const Json& label : labels->as_array("labels")) options.labels.push_back(label.as_string("labels"));
  }
  options.hypothesis_template = body.get_string("hypothesis_template", kHypothesisTemplate);
  if (const Json* multi = body.find_value("multi_label")) options.multi_label = multi->as_bool("multi_label");
  options.top_k = read_count(body, "top_k");
  options.raw_scores = body.get_bool("raw_scores", false);
  options.long_texts = read_long_texts(body);
  return options;
}

Response respond(TaskAnswer& answer, std::string_view model) {
  const auto scores = std::make_shared<const std::vector<std::vector<LabelScore>>>(
      std::move(static_cast<ClassifyRun&>(*answer.run).answers()));
  return task_response(answer, model, {{"classifications", [scores](std::string& out, std::size_t i) {
                                          out += pipelines::label_scores_json((*scores)[i]);
                                        }}});
}

void classify_texts(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  ClassifyOptions options = read_options(call.body);
  request.rows_of_text = std::max<std::size_t>(options.labels.size(), 1);
  for (const std::string& label : options.labels)
    request.text_bytes += label.size() + options.hypothesis_template.size();
  std::string model = request.model;
  run_task(
      call, std::move(request),
      [options = std::move(options)](const pipelines::TextModel& text_model, std::vector<std::string_view> texts) {
        return std::make_unique<ClassifyRun>(pipelines::classifier_of(text_model),
                                             std::vector<EncodeInput>(texts.begin(), texts.end()), options);
      },
      [model = std::move(model)](TaskAnswer& answer) { return respond(answer, model); });
}

}  // namespace

Route native_classify_route() {
  return {.method = Method::post,
          .path = "/api/classify",
          .family = Family::native,
          .id = "classify",
          .summary = "Says which labels fit texts",
          .handle = classify_texts,
          .body = route_schema(Family::native, "classify_body"),
          .answers = {{.description = "Of each text the labels with their scores, the best first.",
                       .schema = route_schema(Family::native, "classify_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/classify"}};
}

}  // namespace alate::server
