#include "server/routes/kserve_response.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "formats/little_endian.h"
#include "server/routes/refuse.h"

namespace alate::server {

using formats::Json;

namespace {

constexpr std::size_t kMaxJsonNumbers = std::size_t{4} << 20;

}  // namespace

void check_json_numbers(std::size_t numbers) {
  if (numbers <= kMaxJsonNumbers) return;
  refuse(Problem::Kind::too_many,
         "the answer would have " + std::to_string(numbers) + " numbers as JSON; at most " +
             std::to_string(kMaxJsonNumbers) + " are sent so: ask for binary_data, or send less at a time",
         "outputs");
}

Response infer_response(std::string_view model, const std::optional<std::string>& id,
                        std::span<const InferResult> results, const Json& parameters) {
  std::string json = R"({"model_name":)";
  formats::append_json_string(json, model);
  json += R"(,"model_version":"1")";
  if (id) {
    json += R"(,"id":)";
    formats::append_json_string(json, *id);
  }
  if (parameters.is_object()) json += R"(,"parameters":)" + formats::to_json_text(parameters);
  json += R"(,"outputs":[)";
  std::string binary;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const InferResult& result = results[i];
    json += i > 0 ? R"(,{"name":)" : R"({"name":)";
    formats::append_json_string(json, result.name);
    json += R"(,"datatype":"FP32","shape":[)";
    for (std::size_t axis = 0; axis < result.shape.size(); ++axis)
      json += (axis > 0 ? "," : "") + std::to_string(result.shape[axis]);
    if (result.binary) {
      json += R"(],"parameters":{"binary_data_size":)" + std::to_string(result.values.size_bytes()) + "}}";
      binary.reserve(binary.size() + result.values.size_bytes());
      for (const float value : result.values)
        formats::append_little_endian(binary, std::bit_cast<std::uint32_t>(value));
      continue;
    }
    json += R"(],"data":[)";
    for (std::size_t j = 0; j < result.values.size(); ++j) {
      if (j > 0) json += ',';
      formats::append_json_number(json, result.values[j]);
    }
    json += "]}";
  }
  json += "]}";

  Response response;
  if (std::ranges::any_of(results, &InferResult::binary)) {
    response.content_type = "application/octet-stream";
    response.headers.set("Inference-Header-Content-Length", std::to_string(json.size()));
  }
  response.body = std::move(json);
  response.body += binary;
  return response;
}

}  // namespace alate::server
