#include "models/blocks/rotary_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "graph/operands.h"
#include "models/blocks/places.h"
#include "models/blocks/sequence_context.h"

namespace alate::models {
namespace {

using graph::Value;

// Beyond all models; config.json is read before the weights that must have these sizes.
constexpr std::int64_t kMaxLayers = 4096, kMaxHeadSize = 65536;

std::int64_t positive(const formats::Json& config, std::string_view key, std::int64_t otherwise,
                      std::string_view family) {
  const formats::Json* stated = config.find(key);
  const std::int64_t value = stated == nullptr || stated->is_null() ? otherwise : config.get_int(key, otherwise);
  if (value < 1 || value > (std::int64_t{1} << 31))
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " is ", value, ", which no ", family, " has");
  return value;
}

}  // namespace

RotaryConfig read_rotary_config(const formats::Json& config, const RotaryDefaults& defaults) {
  const auto size = [&](std::string_view key, std::int64_t otherwise) {
    return positive(config, key, otherwise, defaults.family);
  };
  RotaryConfig read{.vocabulary = size("vocab_size", defaults.vocabulary),
                    .hidden = size("hidden_size", defaults.hidden),
                    .heads = size("num_attention_heads", defaults.heads),
                    .intermediate = size("intermediate_size", defaults.intermediate),
                    .positions = size("max_position_embeddings", defaults.positions),
                    .epsilon = config.get_double(defaults.epsilon_key, defaults.epsilon),
                    .activation = config.get_string(defaults.activation_key, std::string(defaults.activation)),
                    .ropes = {},
                    .layers = {}};
  // A null is as much as heads, and as wide as they are, whatever a file without the key means.
  const auto is_null = [&](std::string_view key) {
    return config.find(key) != nullptr && config.find_value(key) == nullptr;
  };
  const bool has_head_size = defaults.head_size != 0 && !is_null("head_dim");
  read.kv_heads = size("num_key_value_heads",
                       defaults.kv_heads == 0 || is_null("num_key_value_heads") ? read.heads : defaults.kv_heads);
  if (read.heads % read.kv_heads != 0)
    throw make_error(ErrorCode::corrupt, "config.json: num_attention_heads ", read.heads,
                     " is not a multiple of num_key_value_heads ", read.kv_heads);
  if (!has_head_size && config.find_value("head_dim") == nullptr && read.hidden % read.heads != 0)
    throw make_error(ErrorCode::corrupt, "config.json: hidden_size ", read.hidden,
                     " is not a multiple of num_attention_heads ", read.heads);
  read.head_size =
      size("head_dim", has_head_size ? defaults.head_size : std::max<std::int64_t>(read.hidden / read.heads, 1));
  if (read.head_size > kMaxHeadSize)
    throw make_error(ErrorCode::corrupt, "config.json: head_dim is ", read.head_size, ", which no ", defaults.family,
                     " has");
  read.attention_scale = 1 / std::sqrt(static_cast<double>(read.head_size));
  const std::int64_t layers = size("num_hidden_layers", defaults.layers);
  if (layers > kMaxLayers)
    throw make_error(ErrorCode::corrupt, "config.json: num_hidden_layers is ", layers, ", which no ", defaults.family,
                     " has");
  read.layers.resize(static_cast<std::size_t>(layers));
  if (defaults.is_rotary) read.ropes.push_back(read_rope(config, defaults.rope, read.head_size, read.positions));
  return read;
}

bool sees_window(const formats::Json& config, std::size_t i, bool by_number) {
  const formats::Json* types = config.find("layer_types");
  if (types == nullptr || !types->is_array()) return by_number;
  const formats::Json::Array& list = types->as_array("layer_types");
  if (i >= list.size()) throw make_error(ErrorCode::corrupt, "config.json: layer_types has too few entries");
  const std::string& type = list[i].as_string("layer_types");
  if (type == "sliding_attention" || type == "full_attention") return type == "sliding_attention";
  throw make_error(ErrorCode::unsupported, "config.json: layer_types names '", type,
                   "', which is not built here, only full_attention and sliding_attention: ", type);
}

EncoderLimits rotary_limits(const RotaryConfig& config) {
  std::optional<std::int64_t> window;
  for (const RotaryLayer& layer : config.layers) {
    if (layer.window >= 0) window = std::min(window.value_or(layer.window), layer.window);
  }
  std::optional<std::int64_t> short_text;
  for (const RopeSettings& rope : config.ropes) {
    if (!rope.long_frequencies.empty()) short_text = rope.short_text;
  }
  return {.vocabulary = config.vocabulary,
          .positions = config.positions,
          .types = std::max<std::int64_t>(config.types, 1),
          .hidden_size = config.hidden,
          .window = window,
          .window_hides = true,
          .short_text = short_text};
}

EncoderLimits distance_limits(const RotaryConfig& config) {
  EncoderLimits limits = rotary_limits(config);
  limits.window = 0;
  limits.window_hides = false;
  return limits;
}

Value RotaryEncoder::encode(const LayerScores& scores, const LayerEnd& end) {
  scope_.b.set_source("rotary");
  for (const RopeSettings& rope : config_.ropes)
    angles_.push_back(rope_angles(scope_.b, rope, scope_.in.positions, long_texts(rope)));
  if (config_.query_growth.beta != 0) query_growth_ = query_growth();
  const Value embedded = embeddings();
  Value x = embedded;
  for (std::size_t i = 0; i < config_.layers.size(); ++i) {
    x = layer(i, x, scores);
    if (end) x = end(i, x, embedded);
  }
  if (config_.names.final_norm.empty()) return x;
  scope_.b.set_source(config_.names.final_norm);
  return norm(std::string(config_.names.final_norm), x, config_.hidden);
}

// Of each token, as rope_angles takes it.
std::optional<Value> RotaryEncoder::long_texts(const RopeSettings& rope) {
  if (rope.long_frequencies.empty()) return std::nullopt;
  graph::Builder& b = scope_.b;
  std::optional<Value> last = scope_.sequences.last_positions();
  if (!last) last = b.reduce_max({graph::take_rows(b, scope_.in.positions, padded_tokens(scope_))}, {.axes = {1}});
  const Value is_long = b.greater_or_equal({*last, graph::scalar_like(b, static_cast<double>(rope.short_text), *last)});
  return graph::take_rows(b, is_long, packed_tokens(scope_).sequence);
}

Value RotaryEncoder::query_growth() {
  graph::Builder& b = scope_.b;
  const Value position = b.convert({scope_.in.positions}, {.dtype = DType::f32});
  const auto number = [&](double value) { return graph::scalar_like(b, value, position); };
  const QueryGrowth& growth = config_.query_growth;
  const Value count = b.floor({b.div({position, number(static_cast<double>(growth.every))})});
  return b.add({b.mul({b.log({b.add({count, number(1)})}), number(growth.beta)}), number(1)});
}

Value RotaryEncoder::embeddings() {
  graph::Builder& b = scope_.b;
  b.set_source("embeddings");
  const RotaryNames& names = config_.names;
  Value x =
      scope_.weights.lookup(b, std::string(names.words) + ".weight", scope_.in.ids, config_.vocabulary, config_.hidden);
  if (config_.embedding_scale != 1) x = b.mul({x, graph::scalar_like(b, config_.embedding_scale, x)});
  if (config_.types > 0) {
    const Value types = scope_.weights.lookup(b, std::string(names.types) + ".weight", scope_.in.type_ids,
                                              config_.types, config_.hidden, Rounding::never);
    x = b.add({x, types});
  }
  if (!names.positions.empty()) {
    const Value positions = scope_.weights.lookup(b, std::string(names.positions) + ".weight", scope_.in.positions,
                                                  config_.positions, config_.hidden, Rounding::never);
    x = b.add({x, positions});
  }
  return names.embedding_norm.empty() ? x : norm(std::string(names.embedding_norm), x, config_.hidden);
}

Value RotaryEncoder::layer(std::size_t index, Value x, const LayerScores& scores) {
  graph::Builder& b = scope_.b;
  const RotaryNames& names = config_.names;
  const std::string name = std::string(names.layer) + std::to_string(index) + ".";
  // A norm, where the family has it and the file too: some first layers have none before attention.
  const auto normed = [&](std::string_view part, Value value) {
    return part.empty() ? value : norm(name + std::string(part), value, config_.hidden);
  };
  const auto with_residual = [&](std::string_view before, std::string_view after, Value residual, Value result) {
    if (config_.residual_scale != 1) result = b.mul({result, graph::scalar_like(b, config_.residual_scale, result)});
    // Without a norm before the part, the one after it takes in the residual too.
    if (before.empty()) return normed(after, b.add({result, residual}));
    return b.add({normed(after, result), residual});
  };
  b.set_source(name + "attention");
  const bool is_bare = index == 0 && !names.before_attention.empty() &&
                       !scope_.weights.has(name + std::string(names.before_attention) + ".weight");
  Value attended = attention(name, config_.layers[index], is_bare ? x : normed(names.before_attention, x),
                             scores ? std::optional(scores(index)) : std::nullopt);
  if (!names.attention_norm.empty()) attended = normed(names.attention_norm, b.add({attended, x}));
  const Value middle = with_residual(names.before_attention, names.after_attention, x, attended);
  b.set_source(name + "feed_forward");
  const Value result = feed_forward(name, config_.layers[index], normed(names.before_feed_forward, middle));
  return with_residual(names.before_feed_forward, names.after_feed_forward, middle, result);
}

std::int64_t RotaryEncoder::head_size(const RotaryLayer& layer) const {
  return layer.head_size == 0 ? config_.head_size : layer.head_size;
}

// Queries, keys and values [tokens, heads, head size].
std::vector<Value> RotaryEncoder::projections(const std::string& name, const RotaryLayer& layer, Value x) {
  graph::Builder& b = scope_.b;
  const RotaryNames& names = config_.names;
  const std::int64_t hidden = config_.hidden, size = head_size(layer);
  const std::int64_t kv_heads = layer.kv_heads == 0 ? config_.kv_heads : layer.kv_heads;
  const std::array<std::int64_t, 3> heads = {config_.heads, kv_heads, kv_heads};
  std::vector<Value> parts;
  if (!names.query_key_value.empty()) {
    const graph::Numbers widths = {heads[0] * size, heads[1] * size, heads[2] * size};
    parts = graph::split(
        b, linear(name + std::string(names.query_key_value), x, hidden, widths[0] + widths[1] + widths[2]), widths, 1);
  } else {
    parts = {linear(name + std::string(names.query), x, hidden, heads[0] * size),
             linear(name + std::string(names.key), x, hidden, heads[1] * size),
             linear(name + std::string(names.value), x, hidden, heads[2] * size)};
  }
  const auto norm_both = [&](std::int64_t first, std::int64_t second) {
    if (names.query_norm.empty()) return;
    parts[0] = norm(name + std::string(names.query_norm), parts[0], first);
    parts[1] = norm(name + std::string(names.key_norm), parts[1], second);
  };
  if (config_.norms_all_heads) norm_both(heads[0] * size, heads[1] * size);
  for (std::size_t i = 0; i < 3; ++i) parts[i] = b.reshape({parts[i]}, {.dims = {scope_.in.tokens, heads[i], size}});
  if (!config_.norms_all_heads) norm_both(size, size);
  if (config_.norms_values) {
    const Value ones =
        b.constant(Tensor::from<float>({size}, std::vector<float>(static_cast<std::size_t>(size), 1.0F)));
    parts[2] = b.rms_norm({parts[2], ones}, {.epsilon = config_.epsilon});
  }
  return parts;
}

Value RotaryEncoder::attention(const std::string& name, const RotaryLayer& layer, Value x,
                               std::optional<AddedScores> scores) {
  graph::Builder& b = scope_.b;
  const EncoderInputs& in = scope_.in;
  std::vector<Value> parts = projections(name, layer, x);
  for (std::size_t i = 0; i < 2 && !angles_.empty() && layer.has_rope; ++i)
    parts[i] = turned(b, parts[i], angles_[layer.rope]);
  if (query_growth_)
    parts[0] =
        b.mul({parts[0], b.broadcast_in_dim({*query_growth_}, {.dims = b.shape(parts[0]).dims, .mapping = {0}})});
  graph::Attention attributes{.scale = config_.attention_scale,
                              .causal = config_.is_causal,
                              .window_left = layer.window,
                              .window_right = config_.is_causal ? -1 : layer.window,
                              .soft_cap = config_.attention_cap,
                              .rounds_operands = scope_.weights.settings().rounds_activations(),
                              .longest = in.longest};
  graph::RaggedAttentionOperands<> operands{.query = parts[0],
                                            .key = parts[1],
                                            .value = parts[2],
                                            .starts = in.starts,
                                            .lengths = in.lengths,
                                            .key_lengths = in.key_lengths};
  if (in.by_place && layer.window >= 0) {
    const Value window = window_bias(scope_, attributes.window_left, attributes.window_right);
    scores = AddedScores{.value = scores ? b.add({scores->value, window}) : window};
    attributes.window_left = attributes.window_right = -1;
  }
  add_scores(scores, operands);
  const Value mixed = scope_.sequences.attend(name, operands, attributes);
  const std::int64_t width = config_.heads * head_size(layer);
  const Value rows = b.reshape({mixed}, {.dims = {in.tokens, width}});
  return linear(name + std::string(config_.names.attention_output), rows, width, config_.hidden);
}

Value RotaryEncoder::feed_forward(const std::string& name, const RotaryLayer& layer, Value x) {
  if (layer.experts.count > 0) return expert_layers(scope_, name + "mlp", layer.experts, config_.activation, x);
  graph::Builder& b = scope_.b;
  const RotaryNames& names = config_.names;
  const std::int64_t hidden = config_.hidden, wide = config_.intermediate;
  const auto of = [&](std::string_view part) { return name + std::string(part); };
  Value inner;
  if (!names.gate_up.empty() || !names.up_gate.empty()) {
    const bool gate_first = !names.gate_up.empty();
    const std::vector<Value> both =
        graph::split(b, linear(of(gate_first ? names.gate_up : names.up_gate), x, hidden, 2 * wide), {wide, wide}, 1);
    inner = b.mul({activate(b, config_.activation, both[gate_first ? 0 : 1]), both[gate_first ? 1 : 0]});
  } else if (!names.gate.empty()) {
    const Value gate = activate(b, config_.activation, linear(of(names.gate), x, hidden, wide));
    inner = b.mul({gate, linear(of(names.up), x, hidden, wide)});
  } else {
    inner = activate(b, config_.activation, linear(of(names.up), x, hidden, wide));
  }
  return linear(of(names.down), inner, wide, hidden);
}

Value RotaryEncoder::linear(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
  return scope_.weights.linear(scope_.b, name, x, from, to, Rounding::allowed, Bias::if_stored);
}

Value RotaryEncoder::head_layer(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
  return scope_.weights.linear(scope_.b, name, x, from, to, Rounding::never, Bias::if_stored);
}

Value RotaryEncoder::projection(const std::string& name, Value x) {
  return head_layer(name, x, config_.hidden, scope_.weights.rows(name + ".weight"));
}

Value RotaryEncoder::norm(const std::string& name, Value x, std::int64_t width) {
  graph::Builder& b = scope_.b;
  Weights& weights = scope_.weights;
  Value scale = weights.get(b, name + ".weight", {width});
  switch (config_.norm) {
    case NormKind::layer: {
      const bool has_bias = weights.has(name + ".bias");
      const Value shift =
          has_bias ? weights.get(b, name + ".bias", {width}) : b.constant(Tensor::zeros({DType::f32, {width}}));
      return b.layer_norm({x, scale, shift}, {.epsilon = config_.epsilon});
    }
    case NormKind::rms_plus_one: scale = b.add({scale, graph::scalar_like(b, 1, scale)}); break;
    case NormKind::rms: break;
  }
  return b.rms_norm({x, scale}, {.epsilon = config_.epsilon});
}

Value RotaryEncoder::vocabulary_logits(const std::string& name, Value x, const std::string& bias) {
  graph::Builder& b = scope_.b;
  Weights& weights = scope_.weights;
  b.set_source(name);
  const std::string table =
      weights.has(name + ".weight") ? name + ".weight" : std::string(config_.names.words) + ".weight";
  std::optional<Value> added;
  for (const std::string& stored : {name + ".bias", bias}) {
    if (!stored.empty() && !added && weights.has(stored)) added = weights.get(b, stored, {config_.vocabulary});
  }
  Value logits = weights.scores(b, table, x, config_.hidden, config_.vocabulary, added);
  if (config_.logits_divisor != 1) logits = b.div({logits, graph::scalar_like(b, config_.logits_divisor, logits)});
  if (config_.logits_cap == 0) return logits;
  const Value cap = graph::scalar_like(b, config_.logits_cap, logits);
  return b.mul({b.tanh({b.div({logits, cap})}), cap});
}

std::vector<EncoderOutput> RotaryEncoder::span_logits(const std::string& name, Value x) {
  return span_columns(scope_, head_layer(name, x, config_.hidden, 2));
}

Value RotaryEncoder::first_tokens(Value x) { return graph::take_rows(scope_.b, x, scope_.in.first); }

Value RotaryEncoder::mean_of_tokens(Value x) {
  return scope_.b.ragged_pool({x, scope_.in.starts, scope_.in.key_lengths},
                              {.mode = graph::PoolMode::mean, .longest = scope_.in.longest});
}

Value RotaryEncoder::last_tokens(Value x, std::int64_t padding) {
  graph::Builder& b = scope_.b;
  const EncoderInputs& in = scope_.in;
  const graph::Dims padded = {in.sequences, in.longest};
  const Value place = b.iota({}, {.dtype = DType::i32, .dims = padded, .axis = 1});
  Value counts = b.less({place, b.broadcast_in_dim({in.key_lengths}, {.dims = padded, .mapping = {0}})});
  if (padding >= 0 && padding <= std::numeric_limits<std::int32_t>::max()) {
    const Value ids = graph::take_rows(b, in.ids, padded_tokens(scope_));
    counts = b.logical_and({counts, b.not_equal({ids, graph::scalar_like(b, static_cast<double>(padding), ids)})});
  }
  const Value last = b.reduce_max({b.select({counts, place, graph::scalar_like(b, 0, place)})}, {.axes = {1}});
  return graph::take_rows(b, x, b.add({in.starts, last}));
}

Value encode_by_alibi(EncoderScope& scope, const RotaryConfig& config) {
  const AddedScores scores = alibi_scores(scope, config.heads);
  return RotaryEncoder(scope, config).encode([&](std::size_t) { return scores; });
}

EncoderOutputs hidden_state(RotaryEncoder&, Value x) { return {{"last_hidden_state", x}}; }

}  // namespace alate::models
