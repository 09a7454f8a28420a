#include "models/heads/extractor_config.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "alate/error.h"

namespace alate::models {
namespace {

using formats::Json;

constexpr std::int64_t kMostWidth = 256;

[[noreturn]] void refuse_extractor(std::string_view what, std::string_view name) {
  throw make_error(ErrorCode::unsupported, "config.json of a GLiNER2 model: ", what, " is not built here: ", name);
}

std::int64_t width_of(const Json& json) {
  const Json* head = json.find_value("span_head");
  const Json* stated = head != nullptr && head->is_object() ? head->find_value("max_width") : nullptr;
  if (stated == nullptr) stated = json.find_value("max_width");
  const std::int64_t width = stated == nullptr ? ExtractorConfig().max_width : stated->as_int("max_width");
  if (width < 1 || width > kMostWidth)
    throw make_error(ErrorCode::corrupt, "config.json: max_width is ", width, ", which no GLiNER2 model has");
  return width;
}

CountingLayer counting_of(const Json& json) {
  constexpr std::array<std::pair<std::string_view, CountingLayer>, 3> kLayers = {
      {{"count_lstm", CountingLayer::lstm},
       {"count_lstm_v2", CountingLayer::lstm_v2},
       {"count_lstm_moe", CountingLayer::experts}}};
  const std::string name = json.get_string("counting_layer", "count_lstm");
  const auto found =
      std::ranges::find(kLayers, std::string_view(name), &std::pair<std::string_view, CountingLayer>::first);
  if (found == kLayers.end())
    refuse_extractor(
        "the counting_layer " + formats::quoted_name(name) + ", only count_lstm, count_lstm_v2 and count_lstm_moe,",
        "counting_layer");
  return found->second;
}

}  // namespace

bool is_extractor(const Json& config) { return config.find_value(kExtractorMember) != nullptr; }

ExtractorConfig read_extractor_config(const Json& config) {
  const Json* json = config.find_value(kExtractorMember);
  if (json == nullptr || !json->is_object()) throw Error(ErrorCode::corrupt, "config.json must be a JSON object");
  if (const std::string kind = json->get_string("architecture", "span"); kind != "span")
    refuse_extractor("the architecture " + formats::quoted_name(kind) + ", only span,", "architecture");
  if (const std::string pooling = json->get_string("token_pooling", "first"); pooling != "first")
    refuse_extractor("the token_pooling " + formats::quoted_name(pooling) + ", only first,", "token_pooling");
  return {.max_width = width_of(*json), .counting = counting_of(*json)};
}

}  // namespace alate::models
