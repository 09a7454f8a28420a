// The text part of EmbeddingGemma 2: Gemma's layers seen both ways, each with a gate by a projection of the embeddings,
// and a projection of all at the end. Names and defaults are those of transformers' EmbeddingGemma2TextModel, which
// EmbeddingGemma2Model has as its `language_model`.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/blocks/rotary_encoder.h"
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
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;

std::int64_t size_of(const Json& json, std::string_view key, std::int64_t otherwise) {
  const std::int64_t size = json.get_int(key, otherwise);
  if (size < 1 || size > kMaxWidth)
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " is ", size, ", which no EmbeddingGemma 2 has");
  return size;
}

// Wider heads, of which fewer have keys: in `per_layer_config`, or by the keys from which transformers makes it.
RotaryLayer wide_layer(const Json& json, std::size_t index) {
  const Json* by_layer = json.find("per_layer_config");
  if (by_layer == nullptr || by_layer->is_null())
    return {.rope = 1,
            .head_size = size_of(json, "global_head_dim", 512),
            .kv_heads = size_of(json, "num_global_key_value_heads", 1)};
  by_layer->as_object("per_layer_config");
  RotaryLayer layer{.rope = 1};
  const Json* own = by_layer->find(std::to_string(index));
  if (own == nullptr) return layer;
  own->as_object("per_layer_config");
  if (own->find("head_dim") != nullptr) layer.head_size = size_of(*own, "head_dim", 0);
  if (own->find("num_key_value_heads") != nullptr) layer.kv_heads = size_of(*own, "num_key_value_heads", 0);
  return layer;
}

// Layers that see all tokens, the last always; the others see a window.
std::vector<RotaryLayer> layers_of(const Json& json, const RotaryConfig& config) {
  const std::int64_t window = size_of(json, "sliding_window", 512);
  const auto pattern = static_cast<std::size_t>(size_of(json, "sliding_window_pattern", 6));
  std::vector<RotaryLayer> layers(config.layers.size());
  std::optional<std::int64_t> wide;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i + 1 < layers.size() && sees_window(json, i, (i + 1) % pattern != 0)) {
      layers[i].window = window;
      continue;
    }
    layers[i] = wide_layer(json, i);
    const std::int64_t heads = layers[i].kv_heads == 0 ? config.kv_heads : layers[i].kv_heads;
    if (config.heads % heads != 0)
      throw make_error(ErrorCode::corrupt, "config.json: num_attention_heads ", config.heads,
                       " is not a multiple of num_key_value_heads ", heads, " of layer ", i);
    if (wide.value_or(layers[i].head_size) != layers[i].head_size)
      throw make_error(ErrorCode::corrupt, "config.json: head_dim differs between layers of full_attention");
    wide = layers[i].head_size;
  }
  return layers;
}

RotaryConfig text_config(const Json& json) {
  RotaryConfig config = read_rotary_config(json, {.family = "EmbeddingGemma 2",
                                                  .vocabulary = 262144,
                                                  .hidden = 512,
                                                  .layers = 24,
                                                  .heads = 4,
                                                  .kv_heads = 2,
                                                  .intermediate = 2048,
                                                  .positions = 262144,
                                                  .head_size = 256,
                                                  .activation_key = "hidden_activation",
                                                  .activation = "gelu_pytorch_tanh",
                                                  .rope = {.layer_type = "sliding_attention"}});
  config.names = kNames;
  config.norms_values = true;
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
  config.attention_scale = 1;
  config.layers = layers_of(json, config);
  const std::int64_t wide = config.layers.back().head_size == 0 ? config.head_size : config.layers.back().head_size;
  config.ropes.push_back(read_rope(json, {.theta = 1000000, .layer_type = "full_attention"}, wide, config.positions));
  return config;
}

std::int64_t embedding_width(const Json& json) { return size_of(json, "embedding_dim", 768); }

EncoderLimits text_limits(const Json& json) {
  EncoderLimits limits = rotary_limits(text_config(json));
  limits.hidden_size = embedding_width(json);
  return limits;
}

// What gates the layers: a projection of the embeddings, a piece for each.
std::vector<Value> layer_gates(RotaryEncoder& encoder, Value embedded, std::int64_t width) {
  graph::Builder& b = encoder.scope().b;
  b.set_source("ple");
  const std::int64_t hidden = encoder.config().hidden;
  const auto layers = static_cast<std::int64_t>(encoder.config().layers.size());
  Value all = encoder.scope().weights.linear(b, "ple.per_layer_model_projection", embedded, hidden, layers * width,
                                             Rounding::allowed, Bias::if_stored);
  all = b.mul({all, graph::scalar_like(b, 1 / std::sqrt(static_cast<double>(hidden)), all)});
  all = b.reshape({all}, {.dims = {encoder.scope().in.tokens, layers, width}});
  std::vector<Value> gates =
      graph::split_evenly(b, encoder.norm("ple.per_layer_projection_norm", all, width), layers, 1);
  for (Value& gate : gates) gate = graph::squeeze(b, gate, graph::Numbers{1});
  return gates;
}

Value gated(RotaryEncoder& encoder, const std::string& layer, Value x, Value by, std::int64_t width) {
  graph::Builder& b = encoder.scope().b;
  Weights& weights = encoder.scope().weights;
  const std::int64_t hidden = encoder.config().hidden;
  const std::string part = layer + "ple_block.";
  b.set_source(layer + "ple_block");
  const auto linear = [&](const char* name, Value value, std::int64_t from, std::int64_t to) {
    return weights.linear(b, part + name, value, from, to, Rounding::allowed, Bias::if_stored);
  };
  const Value inner =
      b.mul({activate(b, encoder.config().activation, linear("per_layer_input_gate", x, hidden, width)), by});
  const Value result =
      encoder.norm(part + "post_per_layer_input_norm", linear("per_layer_projection", inner, width, hidden), hidden);
  const std::string scale = layer + "layer_scalar";
  const Value sum = b.add({x, result});
  if (!weights.has(scale)) return sum;
  const graph::Dims dims = {encoder.scope().in.tokens, hidden};
  return b.mul({sum, b.broadcast_in_dim({weights.get(b, scale, {1})}, {.dims = dims, .mapping = {1}})});
}

Value encode_text(EncoderScope& scope, const Json& json) {
  const RotaryConfig config = text_config(json);
  const std::int64_t width = size_of(json, "hidden_size_per_layer_input", 512);
  RotaryEncoder encoder(scope, config);
  std::vector<Value> gates;
  const Value x = encoder.encode({}, [&](std::size_t i, Value output, Value embedded) {
    if (i == 0) gates = layer_gates(encoder, embedded, width);
    return gated(encoder, std::string(config.names.layer) + std::to_string(i) + ".", output, gates[i], width);
  });
  scope.b.set_source("embedding_projection");
  return scope.weights.linear(scope.b, "embedding_projection", x, config.hidden, embedding_width(json),
                              Rounding::allowed, Bias::if_stored);
}

const Json& text_part(const Json& json) {
  const Json* part = json.find("text_config");
  if (part == nullptr) throw make_error(ErrorCode::corrupt, "config.json: text_config is missing");
  part->as_object("text_config");
  return *part;
}

Value encode_batch(EncoderScope& scope) { return encode_text(scope, scope.config); }
Value encode_part(EncoderScope& scope) { return encode_text(scope, text_part(scope.config)); }
EncoderLimits part_limits(const Json& json) { return text_limits(text_part(json)); }

EncoderOutputs last_hidden_state(EncoderScope&, Value x) { return {{"last_hidden_state", x}}; }

}  // namespace

Architecture embedding_gemma2() {
  return {.model_type = "embedding_gemma2",
          .class_name = "EmbeddingGemma2",
          .prefix = "language_model.",
          .limits = part_limits,
          .entries = kEncodes<encode_part>,
          .base = {"Model", last_hidden_state},
          .heads = {},
          .examples = "embeddinggemma-2: its text part",
          .also_read = "the text part's settings are those in `text_config`; weights of images and sound are not read"};
}

Architecture embedding_gemma2_text() {
  return {.model_type = "embedding_gemma2_text",
          .class_name = "EmbeddingGemma2",
          .prefix = "language_model.",
          .limits = text_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"TextModel", last_hidden_state},
          .heads = {},
          .examples = "a text part of it alone"};
}

}  // namespace alate::models
