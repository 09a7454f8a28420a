#include "models/blocks/modernbert_config.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "alate/error.h"
#include "models/blocks/rope.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

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

}  // namespace

RotaryConfig read_modernbert_config(const formats::Json& json) {
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

Value modernbert_transform(RotaryEncoder& encoder, const std::string& name, Value x) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  scope.b.set_source(name);
  const Value dense = encoder.head_layer(name + ".dense", x, hidden, hidden);
  return encoder.norm(name + ".norm",
                      activate(scope.b, scope.config.get_string("classifier_activation", "gelu"), dense), hidden);
}

}  // namespace alate::models
