// Granite (IBM 2024): Llama with multipliers of embeddings, scores, residuals and logits (Yang et al. 2022,
// arXiv:2203.03466). Names and defaults are those of transformers' GraniteModel.
#include <cmath>

#include "alate/error.h"
#include "models/blocks/decoder.h"

namespace alate::models {
namespace {

using formats::Json;

double multiplier(const Json& json, std::string_view key) {
  const double value = json.get_double(key, 1);
  if (!std::isfinite(value)) throw make_error(ErrorCode::corrupt, "config.json: ", key, " is not finite");
  return value;
}

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_rotary_config(json, {.family = "Granite"});
  config.is_causal = true;
  config.embedding_scale = multiplier(json, "embedding_multiplier");
  config.attention_scale = multiplier(json, "attention_multiplier");
  config.residual_scale = multiplier(json, "residual_multiplier");
  config.logits_divisor = positive_number(json, "logits_scaling", 1);
  return config;
}

}  // namespace

Architecture granite() { return decoder<config_of>("granite", "Granite", "granite-3.3-2b-instruct"); }

}  // namespace alate::models
