// Filling of masks as Hugging Face's clients ask for it.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/fill.h"
#include "pipelines/fill/fill_run.h"
#include "pipelines/fill/fills_json.h"
#include "server/api/fill.h"
#include "server/api/rerank.h"
#include "server/api/tei.h"
#include "server/exchange/json_response.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::FillRun;

FillOptions read_options(const Json& body) {
  FillOptions options;
  const Json* parameters = body.find_value("parameters");
  if (parameters == nullptr) return options;
  options.top_k = read_count(*parameters, "top_k").value_or(options.top_k);
  if (const Json* targets = parameters->find_value("targets")) {
    for (const Json& target : targets->as_array("targets")) options.targets.push_back(target.as_string("targets"));
  }
  return options;
}

std::string answer_text(TaskAnswer& answer, bool is_lone) {
  auto& run = static_cast<FillRun&>(*answer.run);
  if (is_lone) return pipelines::hugging_face_fills_json(run.fills().front());
  std::string out = "[";
  for (const std::vector<std::vector<Fill>>& masks : run.fills())
    out += (out.size() > 1 ? "," : "") + pipelines::hugging_face_fills_json(masks);
  return out += ']';
}

}  // namespace

bool has_masks(const HostedModel& model, const Json& inputs) {
  const std::string& mask = model.pipelines.mask();
  if (mask.empty()) return false;
  const auto has_mask = [&](const Json& text) {
    return text.is_string() && text.as_string("inputs").find(mask) != std::string::npos;
  };
  return has_mask(inputs) || (inputs.is_array() && std::ranges::any_of(inputs.as_array("inputs"), has_mask));
}

void fill_as_hugging_face(Call& call) {
  const Json& inputs = *call.body.find("inputs");
  TaskRequest request;
  request.model = tei_model_of(call);
  request.purpose.tasks = {pipelines::Task::fill};
  request.parameter = "inputs";
  request.lone = inputs.is_string();
  if (request.lone) {
    request.texts = {inputs.as_string("inputs")};
  } else {
    for (const Json& text : inputs.as_array("inputs")) request.texts.push_back(text.as_string("inputs"));
  }
  const bool is_lone = request.lone;
  run_task(
      call, std::move(request),
      [options = read_options(call.body)](const pipelines::TextModel& model, std::vector<std::string_view> texts) {
        return std::make_unique<FillRun>(pipelines::filler_of(model), std::move(texts), options);
      },
      [is_lone](TaskAnswer& answer) { return json_response(answer_text(answer, is_lone)); });
}

}  // namespace alate::server
