// Gemma (Gemma Team 2024, arXiv:2403.08295) and Gemma 2 (arXiv:2408.00118), which has norms after each part too, caps
// of scores and logits, and windows in every other layer. Names and defaults are those of transformers.
#include <cmath>

#include "models/blocks/decoder.h"

namespace alate::models {
namespace {

using formats::Json;

// What both have: norms by 1 + weight, and embeddings that are multiplied by the square root of their width.
RotaryConfig with_gemma_parts(RotaryConfig config, const Json& json) {
  config.norm = NormKind::rms_plus_one;
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
  config.is_causal = !json.get_bool("use_bidirectional_attention", false);
  return config;
}

RotaryConfig gemma_config(const Json& json) {
  RotaryConfig config = with_gemma_parts(read_rotary_config(json, {.family = "Gemma",
                                                                   .vocabulary = 256000,
                                                                   .hidden = 3072,
                                                                   .layers = 28,
                                                                   .heads = 16,
                                                                   .kv_heads = 16,
                                                                   .intermediate = 24576,
                                                                   .positions = 8192,
                                                                   .head_size = 256,
                                                                   .activation = "gelu_pytorch_tanh"}),
                                         json);
  if (config.activation == "gelu") config.activation = "gelu_pytorch_tanh";  // that the first files mean by it
  return config;
}

bool is_odd(const Json& /*json*/, std::size_t i) { return (i + 1) % 2 != 0; }

RotaryConfig gemma2_config(const Json& json) {
  RotaryConfig config = with_gemma_parts(read_rotary_config(json, {.family = "Gemma 2",
                                                                   .vocabulary = 256000,
                                                                   .hidden = 2304,
                                                                   .layers = 26,
                                                                   .heads = 8,
                                                                   .kv_heads = 4,
                                                                   .intermediate = 9216,
                                                                   .positions = 8192,
                                                                   .head_size = 256,
                                                                   .activation_key = "hidden_activation",
                                                                   .activation = "gelu_pytorch_tanh"}),
                                         json);
  config.names.after_attention = "post_attention_layernorm";
  config.names.before_feed_forward = "pre_feedforward_layernorm";
  config.names.after_feed_forward = "post_feedforward_layernorm";
  config.attention_scale = 1 / std::sqrt(positive_number(json, "query_pre_attn_scalar", 256));
  config.attention_cap = soft_cap(json, "attn_logit_softcapping", 50);
  config.logits_cap = soft_cap(json, "final_logit_softcapping", 30);
  read_windows(json, 4096, is_odd, config);
  return config;
}

}  // namespace

Architecture gemma() {
  Architecture row = decoder<gemma_config>("gemma", "Gemma", "gemma-2b, bge-reranker-v2-gemma");
  row.ties_by_default = true;
  return row;
}

Architecture gemma2() {
  Architecture row = decoder<gemma2_config>("gemma2", "Gemma2", "gemma-2-2b");
  row.ties_by_default = true;
  return row;
}

}  // namespace alate::models
