// Phi-3 and Phi-4 (Abdin et al. 2024, arXiv:2404.14219 and arXiv:2412.08905): Llama's layers with one product for
// queries, keys and values and one for gates, LongRoPE, heads that are turned in part (Phi-4-mini), and windows. Names
// and defaults are those of transformers' Phi3Model.
#include "models/blocks/decoder.h"

namespace alate::models {
namespace {

using formats::Json;

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_rotary_config(json, {.family = "Phi-3",
                                                  .vocabulary = 32064,
                                                  .hidden = 3072,
                                                  .intermediate = 8192,
                                                  .positions = 4096,
                                                  .epsilon = 1e-5,
                                                  .rope = {.is_partial = true, .phi3_positions = 4096}});
  config.is_causal = true;
  config.names.query_key_value = "self_attn.qkv_proj";
  config.names.gate_up = "mlp.gate_up_proj";
  if (const auto window = window_size(json, std::nullopt)) {
    for (std::size_t i = 0; i < config.layers.size(); ++i) set_window(config, i, *window);
  }
  return config;
}

}  // namespace

Architecture phi3() {
  Architecture row = decoder<config_of>("phi3", "Phi3", "Phi-3.5-mini, Phi-4, Phi-4-mini");
  row.also_read =
      "`rope_theta`, `rope_scaling` (longrope, su or yarn, which are the same here) and `partial_rotary_factor`, or "
      "`rope_parameters`; `original_max_position_embeddings`, `sliding_window`";
  row.own_code = "modeling_phi3.Phi3";
  return row;
}

}  // namespace alate::models
