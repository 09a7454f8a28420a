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
#include "server/api/route_schemas.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::FillRun;

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
          .body = route_schema(Family::native, "fill_body"),
          .answers = {{.description = "The best tokens of each mask of each text.",
                       .schema = route_schema(Family::native, "fill_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/fill"}};
}

}  // namespace alate::server
