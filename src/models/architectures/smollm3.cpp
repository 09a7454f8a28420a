// SmolLM3 (Hugging Face 2025): Llama whose every fourth layer has no positions (Yang et al. 2025, arXiv:2501.18795).
// Names and defaults are those of transformers' SmolLM3Model.
#include "alate/error.h"
#include "models/blocks/decoder.h"

namespace alate::models {
namespace {

using formats::Json;

// A list with a number, or a truth value, for each layer: whether it has positions.
bool has_rope(const Json& json, std::size_t i) {
  const Json* stated = json.find_value("no_rope_layers");
  if (stated == nullptr) {
    const std::int64_t interval = json.get_int("no_rope_layer_interval", 4);
    if (interval < 1) throw make_error(ErrorCode::corrupt, "config.json: no_rope_layer_interval must be 1 or more");
    return (i + 1) % static_cast<std::size_t>(interval) != 0;
  }
  const Json::Array& list = stated->as_array("no_rope_layers");
  if (i >= list.size()) throw make_error(ErrorCode::corrupt, "config.json: no_rope_layers has too few entries");
  return list[i].is_bool() ? list[i].as_bool("no_rope_layers") : list[i].as_int("no_rope_layers") != 0;
}

// Without a list of layers, those without positions see a window.
bool sees_window_by_number(const Json& json, std::size_t i) {
  return json.get_bool("use_sliding_window", false) && json.find_value("sliding_window") != nullptr &&
         !has_rope(json, i);
}

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_rotary_config(json, {.family = "SmolLM3",
                                                  .vocabulary = 128256,
                                                  .hidden = 2048,
                                                  .layers = 36,
                                                  .heads = 16,
                                                  .kv_heads = 4,
                                                  .positions = 32768,
                                                  .rope = {.theta = 2000000}});
  config.is_causal = true;
  for (std::size_t i = 0; i < config.layers.size(); ++i) config.layers[i].has_rope = has_rope(json, i);
  read_windows(json, std::nullopt, sees_window_by_number, config);
  return config;
}

}  // namespace

Architecture smollm3() {
  Architecture row = decoder<config_of>("smollm3", "SmolLM3", "SmolLM3-3B");
  row.ties_by_default = true;
  row.also_read = "`rope_theta` and `rope_scaling`, or `rope_parameters`; `no_rope_layers` or `no_rope_layer_interval`";
  return row;
}

}  // namespace alate::models
