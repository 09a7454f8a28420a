// Gemma 3's text model (Gemma Team 2025, arXiv:2503.19786), causal or not: norms before and after each part, windows in
// most layers. Names and defaults are those of transformers' Gemma3TextModel.
#include <array>
#include <cmath>

#include "alate/error.h"
#include "models/blocks/decoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

constexpr RotaryNames kNames = {.query_norm = "self_attn.q_norm",
                                .key_norm = "self_attn.k_norm",
                                .after_attention = "post_attention_layernorm",
                                .before_feed_forward = "pre_feedforward_layernorm",
                                .after_feed_forward = "post_feedforward_layernorm"};

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_rotary_config(json, {.family = "Gemma 3",
                                                  .vocabulary = 262208,
                                                  .hidden = 2304,
                                                  .layers = 26,
                                                  .heads = 8,
                                                  .kv_heads = 4,
                                                  .intermediate = 9216,
                                                  .positions = 131072,
                                                  .head_size = 256,
                                                  .activation_key = "hidden_activation",
                                                  .activation = "gelu_pytorch_tanh",
                                                  .rope = {.theta = 1000000, .layer_type = "full_attention"}});
  config.names = kNames;
  config.norm = NormKind::rms_plus_one;
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
  config.attention_scale = 1 / std::sqrt(positive_number(json, "query_pre_attn_scalar", 256));
  // transformers' configuration has it, and its attention does not read it.
  if (soft_cap(json, "attn_logit_softcapping", 0) != 0)
    throw make_error(ErrorCode::unsupported,
                     "config.json: attn_logit_softcapping is not built here: attn_logit_softcapping");
  config.logits_cap = soft_cap(json, "final_logit_softcapping", 0);
  const bool is_bidirectional = json.get_bool("use_bidirectional_attention", false);
  config.is_causal = !is_bidirectional && json.get_bool("is_causal", true);
  config.ropes.push_back(read_rope(
      json,
      {.theta_key = "rope_local_base_freq", .theta = 10000, .layer_type = "sliding_attention", .is_scaled = false},
      config.head_size, config.positions));
  const std::int64_t window = json.get_int("sliding_window", 4096);
  if (window < 1) throw make_error(ErrorCode::corrupt, "config.json: sliding_window must be 1 or more");
  const std::int64_t pattern = json.get_int("sliding_window_pattern", 6);
  if (pattern < 1) throw make_error(ErrorCode::corrupt, "config.json: sliding_window_pattern must be 1 or more");
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (sees_window(json, i, (i + 1) % static_cast<std::size_t>(pattern) != 0))
      config.layers[i] = {.rope = 1, .window = is_bidirectional ? window / 2 : config.is_causal ? window - 1 : window};
  }
  return config;
}

// The model that sees images too does not cap its logits.
RotaryConfig part_config(const Json& json) {
  RotaryConfig config = config_of(text_part(json));
  config.logits_cap = 0;
  return config;
}

EncoderOutputs sequence_logits(RotaryEncoder& encoder, Value x) {
  const std::int64_t padding = encoder.scope().config.get_int("pad_token_id", 0);
  return {{"logits", encoder.projection("score", encoder.last_tokens(x, padding))}};
}

constexpr std::array kHeads = {
    EncoderHead{kCausalHead, with_rotary<read_in_scope<config_of>, next_token_logits>},
    EncoderHead{"TextForSequenceClassification", with_rotary<read_in_scope<config_of>, sequence_logits>},
};

}  // namespace

Architecture gemma3_text() {
  return {.model_type = "gemma3_text",
          .class_name = "Gemma3",
          .prefix = "model.",
          .limits = read_rotary_limits<config_of>,
          .entries = kDecodes<encode_rotary<read_in_scope<config_of>>>,
          .base = {"TextModel", with_rotary<read_in_scope<config_of>, hidden_state>},
          .heads = kHeads,
          .tied = kDecoderTied,
          .examples = "gemma-3-270m, embeddinggemma-300m",
          .also_read =
              "`rope_theta`, `rope_local_base_freq` and `sliding_window_pattern`, or `rope_parameters` and "
              "`layer_types`; `use_bidirectional_attention`, `is_causal`",
          .refused = "`attn_logit_softcapping`"};
}

Architecture gemma3() { return wrapped_decoder<part_config>("gemma3", "Gemma3", "gemma-3-4b-it: its text part"); }

}  // namespace alate::models
