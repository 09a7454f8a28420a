// ModernBERT trained as a decoder (Weller et al. 2025, arXiv:2507.11412), over whole texts: causal, with one layer each
// for queries, keys and values. Names and defaults are those of transformers' ModernBertDecoderModel.
#include <array>
#include <cstdint>
#include <string>

#include "alate/error.h"
#include "models/blocks/modernbert_config.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_modernbert_config(json);
  config.is_causal = true;
  config.names.query_key_value = {};
  config.names.query = "attn.q_proj";
  config.names.key = "attn.k_proj";
  config.names.value = "attn.v_proj";
  for (RotaryLayer& layer : config.layers) {
    if (layer.window < 0) continue;
    if (layer.window == 0)
      throw make_error(ErrorCode::corrupt, "config.json: local_attention must be 2 or more for a ModernBERT decoder");
    --layer.window;  // one of the window's tokens is the query itself
  }
  return config;
}

EncoderLimits read_limits(const Json& json) { return rotary_limits(config_of(json)); }
RotaryConfig config_in(EncoderScope& scope) { return config_of(scope.config); }

EncoderOutputs language(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.vocabulary_logits("decoder", modernbert_transform(encoder, "lm_head", x))}};
}

EncoderOutputs sequence_logits(RotaryEncoder& encoder, Value x) {
  const Json* stated = encoder.scope().config.find("pad_token_id");
  const std::int64_t padding = stated == nullptr ? 50283 : stated->is_null() ? -1 : stated->as_int("pad_token_id");
  const Value last = encoder.last_tokens(x, padding);
  return {{"logits", encoder.projection("classifier", modernbert_transform(encoder, "head", last))}};
}

constexpr std::array kHeads = {
    EncoderHead{kCausalHead, with_rotary<config_in, language>},
    EncoderHead{"ForSequenceClassification", with_rotary<config_in, sequence_logits>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.tok_embeddings.weight", "decoder.weight"},
};

}  // namespace

Architecture modernbert_decoder() {
  return {.model_type = "modernbert-decoder",
          .class_name = "ModernBertDecoder",
          .prefix = "model.",
          .limits = read_limits,
          .entries = kDecodes<encode_rotary<config_in>>,
          .base = {"Model", with_rotary<config_in, hidden_state>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "ettin-decoder-150m",
          .also_read = "as `modernbert`"};
}

}  // namespace alate::models
