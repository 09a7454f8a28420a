#include "models/blocks/mistral_config.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "alate/error.h"
#include "models/blocks/decoder.h"

namespace alate::models {
namespace {

using formats::Json;

// As many tokens as transformers' configurations have where a file does not say it.
constexpr std::int64_t kWindow = 4096;

void see_one_window(const Json& json, std::optional<std::int64_t> otherwise, RotaryConfig& config) {
  const std::optional<std::int64_t> window = window_size(json, otherwise);
  for (std::size_t i = 0; window && i < config.layers.size(); ++i) set_window(config, i, *window);
}

bool has_window(const Json& json, std::size_t /*i*/) { return window_size(json, kWindow).has_value(); }

// Where a file states no rotary positions.
Json with_rope(const Json& json) {
  if (json.find_value("rope_parameters") != nullptr || json.find_value("rope_scaling") != nullptr) return json;
  Json::Object members = json.as_object("config.json");
  std::erase_if(members, [](const Json::Member& member) { return member.first == "rope_parameters"; });
  members.emplace_back("rope_parameters", Json::Object{{"rope_type", "yarn"},
                                                       {"rope_theta", 1000000.0},
                                                       {"factor", 16.0},
                                                       {"original_max_position_embeddings", 16384},
                                                       {"beta_fast", 32.0},
                                                       {"beta_slow", 1.0},
                                                       {"mscale_all_dim", 1.0},
                                                       {"mscale", 1.0},
                                                       {"llama_4_scaling_beta", 0.1}});
  return members;
}

QueryGrowth query_growth(const Json& json, std::int64_t positions) {
  const Json* rope = json.find_value("rope_parameters");
  if (rope == nullptr) rope = json.find_value("rope_scaling");
  const double beta = rope->get_double("llama_4_scaling_beta", 0);
  if (beta == 0) return {};
  constexpr std::string_view kKey = "original_max_position_embeddings";
  const std::int64_t every = json.get_int(kKey, rope->get_int(kKey, positions));
  if (every < 1 || beta < 0)
    throw make_error(ErrorCode::corrupt, "config.json: llama_4_scaling_beta and ", kKey, " must be above 0");
  return {.beta = beta, .every = every};
}

}  // namespace

RotaryConfig read_mistral_config(const Json& json) {
  RotaryConfig config =
      read_rotary_config(json, {.family = "Mistral", .kv_heads = 8, .intermediate = 14336, .positions = 131072});
  config.is_causal = json.get_bool("is_causal", true);
  see_one_window(json, kWindow, config);
  return config;
}

RotaryConfig read_ministral_config(const Json& json) {
  RotaryConfig config =
      read_rotary_config(json, {.family = "Ministral", .kv_heads = 8, .intermediate = 14336, .positions = 131072});
  config.is_causal = true;
  read_windows(json, kWindow, has_window, config);
  return config;
}

RotaryConfig read_ministral3_config(const Json& stated) {
  const Json json = with_rope(stated);
  RotaryConfig config = read_rotary_config(json, {.family = "Ministral 3",
                                                  .vocabulary = 131072,
                                                  .layers = 34,
                                                  .kv_heads = 8,
                                                  .intermediate = 14336,
                                                  .positions = 262144,
                                                  .head_size = 128,
                                                  .epsilon = 1e-5});
  config.is_causal = true;
  config.query_growth = query_growth(json, config.positions);
  see_one_window(json, std::nullopt, config);
  return config;
}

}  // namespace alate::models
