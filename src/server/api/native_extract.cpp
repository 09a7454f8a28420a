#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/extract.h"
#include "formats/json.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/extract/read_schema.h"
#include "server/api/extract.h"
#include "server/api/native_answer.h"
#include "server/api/route_schemas.h"
#include "server/exchange/refuse.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ExtractRun;

std::size_t text_bytes_of(const Json& schema) { return formats::to_json_text(schema).size(); }

ExtractSchema schema_of(const Json& given) {
  try {
    ExtractSchema schema = pipelines::read_schema(given);
    pipelines::check_schema(schema);
    return schema;
  } catch (const Error& error) {
    refuse(Problem::Kind::impossible, error.message(), "schema");
  }
}

void extract_from_texts(Call& call) {
  TaskRequest request;
  read_task_request(call.body, request);
  std::string model = request.model;
  const Json& given = *call.body.find("schema");
  request.text_bytes = text_bytes_of(given);
  if (request.text_bytes > pipelines::kMostSchemaBytes)
    refuse(Problem::Kind::too_large,
           "schema has " + std::to_string(request.text_bytes) + " bytes; at most " +
               std::to_string(pipelines::kMostSchemaBytes) + " are read: shorten it, or ask for its parts one by one",
           "schema");
  ExtractSchema schema = schema_of(given);
  const ExtractOptions options{.threshold = static_cast<float>(call.body.get_double("threshold", 0.5)),
                               .long_texts = read_long_texts(call.body)};
  const pipelines::ExtractionForm form{.confidence = call.body.get_bool("include_confidence", false),
                                       .spans = call.body.get_bool("include_spans", false)};
  run_task(
      call, std::move(request),
      [schema = std::move(schema), options](const pipelines::TextModel& text_model,
                                            std::vector<std::string_view> texts) {
        return std::make_unique<ExtractRun>(pipelines::extractor_of(text_model), std::move(texts), schema, options);
      },
      [model = std::move(model), form](TaskAnswer& answer) {
        const auto found = std::make_shared<const std::vector<Extraction>>(
            std::move(static_cast<ExtractRun&>(*answer.run).extractions()));
        return task_response(answer, model, {{"results", [found, form](std::string& out, std::size_t i) {
                                                out += pipelines::extraction_json((*found)[i], form);
                                              }}});
      });
}

}  // namespace

Route native_extract_route() {
  return {.method = Method::post,
          .path = "/api/extract",
          .family = Family::native,
          .id = "extract",
          .summary = "Finds what a schema asks for in texts",
          .handle = extract_from_texts,
          .body = route_schema(Family::native, "extract_body"),
          .answers = {{.description = "What each text has of it.",
                       .schema = route_schema(Family::native, "extract_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/extract"}};
}

}  // namespace alate::server
