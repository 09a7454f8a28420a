// ModernBERT (Warner et al. 2024, arXiv:2412.13663): norms before each part, gated feed-forward layers, and windows in
// most layers. Names and defaults are those of transformers' ModernBertModel.
#include <array>

#include "alate/error.h"
#include "graph/builder.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

constexpr RotaryNames kNames = {.words = "embeddings.tok_embeddings",
                                .embedding_norm = "embeddings.norm",
                                .query_key_value = "attn.Wqkv",
                                .attention_output = "attn.Wo",
                                .gate = {},
                                .down = "mlp.Wo",
                                .gate_up = "mlp.Wi",
                                .before_attention = "attn_norm",
                                .before_feed_forward = "mlp_norm",
                                .final_norm = "final_norm"};

RotaryConfig config_of(const Json& json) {
  RotaryConfig config = read_rotary_config(
      json, {.family = "ModernBERT",
             .vocabulary = 50368,
             .hidden = 768,
             .layers = 22,
             .heads = 12,
             .intermediate = 1152,
             .positions = 8192,
             .epsilon_key = "norm_eps",
             .activation_key = "hidden_activation",
             .epsilon = 1e-5,
             .activation = "gelu",
             .rope = {.theta_key = "global_rope_theta", .theta = 160000, .layer_type = "full_attention"}});
  config.norm = NormKind::layer;
  config.names = kNames;
  config.ropes.push_back(read_rope(json,
                                   {.theta_key = "local_rope_theta", .theta = 10000, .layer_type = "sliding_attention"},
                                   config.head_size, config.positions));
  const std::int64_t window = json.get_int("local_attention", 128);
  if (window < 1) throw make_error(ErrorCode::corrupt, "config.json: local_attention must be 1 or more");
  const std::int64_t every = json.get_int("global_attn_every_n_layers", 3);
  if (every < 1) throw make_error(ErrorCode::corrupt, "config.json: global_attn_every_n_layers must be 1 or more");
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (sees_window(json, i, i % static_cast<std::size_t>(every) != 0))
      config.layers[i] = {.rope = 1, .window = window / 2};
  }
  return config;
}

EncoderLimits limits(const Json& json) { return rotary_limits(config_of(json)); }
RotaryConfig config_in(EncoderScope& scope) { return config_of(scope.config); }

// The layer before every classifier.
Value transformed(RotaryEncoder& encoder, Value x) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  scope.b.set_source("head");
  const Value dense = encoder.head_layer("head.dense", x, hidden, hidden);
  return encoder.norm("head.norm", activate(scope.b, scope.config.get_string("classifier_activation", "gelu"), dense),
                      hidden);
}

EncoderOutputs masked_language(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.vocabulary_logits("decoder", transformed(encoder, x))}};
}

EncoderOutputs token_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", transformed(encoder, x))}};
}

// "cls" is the first place for one class of transformers, and the first visible token for another.
Value pooled(RotaryEncoder& encoder, Value x, Value first) {
  const std::string pooling = encoder.scope().config.get_string("classifier_pooling", "cls");
  if (pooling == "cls") return graph::take_rows(encoder.scope().b, x, first);
  if (pooling == "mean") return encoder.mean_of_tokens(x);
  throw make_error(ErrorCode::unsupported, "config.json: classifier_pooling '", pooling,
                   "' is not built here, only cls and mean: ", pooling);
}

EncoderOutputs sequence_logits(RotaryEncoder& encoder, Value x) {
  return {
      {"logits", encoder.projection("classifier", transformed(encoder, pooled(encoder, x, encoder.scope().in.first)))}};
}

EncoderOutputs choice_logits(RotaryEncoder& encoder, Value x) {
  const Value inner = transformed(encoder, pooled(encoder, x, encoder.scope().in.starts));
  return {{"logits", encoder.head_layer("classifier", inner, encoder.config().hidden, 1)}};
}

EncoderOutputs span_logits(RotaryEncoder& encoder, Value x) {
  return encoder.span_logits("classifier", transformed(encoder, x));
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<config_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<config_in, token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<config_in, sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<config_in, span_logits>},
    EncoderHead{"ForMultipleChoice", with_rotary<config_in, choice_logits>, true},
};

}  // namespace

Architecture modernbert() {
  return {.model_type = "modernbert",
          .class_name = "ModernBert",
          .prefix = "model.",
          .limits = limits,
          .encode = encode_rotary<config_in>,
          .base = {"Model", with_rotary<config_in, hidden_state>},
          .heads = kHeads,
          .examples = "ModernBERT-base, gte-modernbert-base, modernbert-embed-base",
          .also_read =
              "`global_rope_theta`, `local_rope_theta` and `global_attn_every_n_layers`, or `rope_parameters` and "
              "`layer_types`",
          .refused = "`classifier_pooling` other than `cls` and `mean`"};
}

}  // namespace alate::models
