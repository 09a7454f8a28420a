#include "models/blocks/rotary_bert.h"

#include "alate/error.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr RotaryNames kNames = {.words = "embeddings.word_embeddings",
                                .types = "embeddings.token_type_embeddings",
                                .embedding_norm = "embeddings.LayerNorm",
                                .before_attention = {},
                                .after_attention = "post_attention_layernorm",
                                .before_feed_forward = {},
                                .after_feed_forward = "post_mlp_layernorm",
                                .final_norm = {}};

}  // namespace

RotaryConfig as_rotary_bert(RotaryConfig config, const formats::Json& json, std::int64_t types) {
  config.norm = NormKind::layer;
  config.names = kNames;
  config.types = json.get_int("type_vocab_size", types);
  if (config.types < 0 || config.types > config.vocabulary)
    throw make_error(ErrorCode::corrupt, "config.json: type_vocab_size is ", config.types);
  return config;
}

Value pooled_first_tokens(RotaryEncoder& encoder, Value x) {
  graph::Builder& b = encoder.scope().b;
  const std::int64_t hidden = encoder.config().hidden;
  b.set_source("pooler");
  return b.tanh({encoder.head_layer("pooler.dense", encoder.first_tokens(x), hidden, hidden)});
}

EncoderOutputs rotary_base_outputs(RotaryEncoder& encoder, Value x) {
  EncoderOutputs outputs = hidden_state(encoder, x);
  if (encoder.scope().weights.has("pooler.dense.weight"))
    outputs.push_back({"pooler_output", pooled_first_tokens(encoder, x)});
  return outputs;
}

Value transformed_logits(RotaryEncoder& encoder, Value x, const std::string& name, std::string_view activation,
                         const std::string& decoder, const std::string& bias) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  scope.b.set_source(name);
  std::string norm = name + ".layer_norm";
  for (const char* other : {".norm", ".LayerNorm"}) {
    if (!scope.weights.has(norm + ".weight")) norm = name + other;
  }
  const Value inner =
      encoder.norm(norm, activate(scope.b, activation, encoder.head_layer(name + ".dense", x, hidden, hidden)), hidden);
  return encoder.vocabulary_logits(decoder, inner, bias);
}

EncoderOutputs rotary_lm_head_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", transformed_logits(encoder, x, "lm_head", "gelu", "lm_head.decoder", "lm_head.bias")}};
}

EncoderOutputs rotary_token_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", x)}};
}

EncoderOutputs rotary_pooled_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", pooled_first_tokens(encoder, x))}};
}

EncoderOutputs rotary_first_token_logits(RotaryEncoder& encoder, Value x) {
  graph::Builder& b = encoder.scope().b;
  const std::int64_t hidden = encoder.config().hidden;
  const Value inner = b.tanh({encoder.head_layer("classifier.dense", encoder.first_tokens(x), hidden, hidden)});
  return {{"logits", encoder.projection("classifier.out_proj", inner)}};
}

EncoderOutputs rotary_span_logits(RotaryEncoder& encoder, Value x) { return encoder.span_logits("qa_outputs", x); }

}  // namespace alate::models
