#include "models/blocks/post_norm_encoder.h"

#include <algorithm>
#include <cmath>

#include "alate/error.h"
#include "graph/operands.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr std::int64_t kMaxLayers = 4096;
constexpr const char* kWordTable = "embeddings.word_embeddings.weight";

std::int64_t positive(const formats::Json& config, std::string_view key, std::int64_t otherwise,
                      std::string_view family) {
  const std::int64_t value = config.get_int(key, otherwise);
  if (value < 1 || value > (std::int64_t{1} << 31))
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " is ", value, ", which no ", family, " has");
  return value;
}

}  // namespace

PostNormConfig read_post_norm_config(const formats::Json& config, const PostNormDefaults& defaults) {
  // transformers accepts its common names in place of a family's own.
  const auto size = [&](std::string_view key, std::string_view common, std::int64_t otherwise) {
    return positive(config, config.find(key) == nullptr ? common : key, otherwise, defaults.family);
  };
  PostNormConfig read{.vocabulary = size("vocab_size", "vocab_size", defaults.vocabulary),
                      .hidden = size(defaults.hidden_key, "hidden_size", defaults.hidden),
                      .layers = size(defaults.layers_key, "num_hidden_layers", defaults.layers),
                      .heads = size(defaults.heads_key, "num_attention_heads", defaults.heads),
                      .intermediate = size(defaults.intermediate_key, "intermediate_size", defaults.intermediate),
                      .positions = size("max_position_embeddings", "max_position_embeddings", defaults.positions),
                      .types = defaults.types == 0 ? 0 : size("type_vocab_size", "type_vocab_size", defaults.types),
                      .epsilon = config.get_double("layer_norm_eps", defaults.epsilon),
                      .activation = config.get_string(defaults.activation_key, std::string(defaults.activation)),
                      .layer_names = {}};
  read.embedding = defaults.embedding == 0 ? read.hidden : size("embedding_size", "embedding_size", defaults.embedding);
  if (read.hidden % read.heads != 0)
    throw make_error(ErrorCode::corrupt, "config.json: ", defaults.hidden_key, " ", read.hidden,
                     " is not a multiple of ", defaults.heads_key, " ", read.heads);
  if (read.layers > kMaxLayers)
    throw make_error(ErrorCode::corrupt, "config.json: ", defaults.layers_key, " is ", read.layers, ", which no ",
                     defaults.family, " has");
  const std::string positions = config.get_string("position_embedding_type", "absolute");
  if (positions != "absolute")
    throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", positions,
                     "' is not built here, only absolute: ", positions);
  if (config.get_bool("is_decoder", false))
    throw make_error(ErrorCode::unsupported, "config.json: a ", defaults.family,
                     " with is_decoder is not built here, only encoders: is_decoder");
  for (std::int64_t i = 0; i < read.layers; ++i) read.layer_names.push_back("encoder.layer." + std::to_string(i) + ".");
  return read;
}

EncoderLimits post_norm_limits(const PostNormConfig& config) {
  return {.vocabulary = config.vocabulary,
          .positions = config.positions,
          .types = std::max<std::int64_t>(config.types, 1),
          .hidden_size = config.hidden};
}

Value PostNormEncoder::encode(const std::optional<AddedScores>& scores) {
  scores_ = scores;
  Value x = embeddings();
  if (!config_.names.embedding_projection.empty())
    x = linear(std::string(config_.names.embedding_projection), x, config_.embedding, config_.hidden);
  std::vector<Value>& states = scope_.hidden_states = {x};
  for (const std::string& name : config_.layer_names) states.push_back(x = layer(name, x, attention(name, x)));
  return x;
}

Value PostNormEncoder::embeddings() {
  graph::Builder& b = scope_.b;
  b.set_source("embeddings");
  const std::int64_t width = config_.embedding;
  Value sum = scope_.weights.lookup(b, kWordTable, scope_.in.ids, config_.vocabulary, width);
  if (config_.types > 0) {
    const Value types = scope_.weights.lookup(b, "embeddings.token_type_embeddings.weight", scope_.in.type_ids,
                                              config_.types, width, Rounding::never);
    sum = b.add({sum, types});
  }
  if (config_.tasks > 0) {
    const Value table = scope_.weights.get(b, "embeddings.task_type_embeddings.weight", {config_.tasks, width});
    const Value first = b.slice({table}, {.starts = {0, 0}, .limits = {1, width}, .strides = {}});
    const graph::Dims dims = {scope_.in.tokens, width};
    sum = b.add({sum, b.broadcast_in_dim({b.reshape({first}, {.dims = {width}})}, {.dims = dims, .mapping = {1}})});
  }
  const Value positions = scope_.weights.lookup(b, "embeddings.position_embeddings.weight", scope_.in.positions,
                                                config_.positions, width, Rounding::never);
  return norm("embeddings.LayerNorm", b.add({sum, positions}), width);
}

Value PostNormEncoder::layer(const std::string& name, Value x, Value attended) {
  graph::Builder& b = scope_.b;
  const PostNormNames& names = config_.names;
  const auto of = [&](std::string_view part) { return name + std::string(part); };
  const std::int64_t hidden = config_.hidden;
  b.set_source(name + "attention");
  const Value mixed = b.add({linear(of(names.attention_output), attended, hidden, hidden), x});
  const Value middle = norm(of(names.attention_norm), mixed, hidden);
  b.set_source(name + "feed_forward");
  const Value wide = activate(b, config_.activation, linear(of(names.up), middle, hidden, config_.intermediate));
  const Value narrow = b.add({linear(of(names.down), wide, config_.intermediate, hidden), middle});
  return norm(of(names.output_norm), narrow, hidden);
}

Value PostNormEncoder::attention(const std::string& name, Value x) {
  graph::Builder& b = scope_.b;
  const EncoderInputs& in = scope_.in;
  const std::int64_t hidden = config_.hidden;
  b.set_source(name + "attention");
  const auto heads_of = [&](std::string_view part) { return heads(name + std::string(part), x); };
  const Value query = heads_of(config_.names.query), key = heads_of(config_.names.key),
              value = heads_of(config_.names.value);
  const graph::Attention attributes{.scale = 1 / std::sqrt(static_cast<double>(config_.head_size())),
                                    .rounds_operands = scope_.weights.settings().rounds_activations(),
                                    .longest = in.longest};
  graph::RaggedAttentionOperands<> operands{.query = query,
                                            .key = key,
                                            .value = value,
                                            .starts = in.starts,
                                            .lengths = in.lengths,
                                            .key_lengths = in.key_lengths};
  add_scores(scores_, operands);
  const Value mixed = b.ragged_attention(operands.list(), operands.flagged(attributes));
  return b.reshape({mixed}, {.dims = {in.tokens, hidden}});
}

Value PostNormEncoder::heads(const std::string& name, Value x) {
  return scope_.b.reshape({linear(name, x, config_.hidden, config_.hidden)},
                          {.dims = {scope_.in.tokens, config_.heads, config_.head_size()}});
}

Value PostNormEncoder::linear(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
  return scope_.weights.linear(scope_.b, name, x, from, to);
}

Value PostNormEncoder::head_layer(const std::string& name, Value x, std::int64_t from, std::int64_t to) {
  return scope_.weights.linear(scope_.b, name, x, from, to, Rounding::never);
}

Value PostNormEncoder::norm(const std::string& name, Value x, std::int64_t width) {
  graph::Builder& b = scope_.b;
  Weights& weights = scope_.weights;
  return b.layer_norm({x, weights.get(b, name + ".weight", {width}), weights.get(b, name + ".bias", {width})},
                      {.epsilon = config_.epsilon});
}

Value PostNormEncoder::pooler(Value last_hidden_state) {
  scope_.b.set_source("pooler");
  return scope_.b.tanh(
      {head_layer(std::string(config_.names.pooler), first_tokens(last_hidden_state), config_.hidden, config_.hidden)});
}

Value PostNormEncoder::first_tokens(Value last_hidden_state) {
  return graph::take_rows(scope_.b, last_hidden_state, scope_.in.first);
}

Value PostNormEncoder::projection(const std::string& name, Value x) {
  return head_layer(name, x, config_.hidden, scope_.weights.rows(name + ".weight"));
}

std::vector<EncoderOutput> PostNormEncoder::base_outputs(Value last_hidden_state) {
  std::vector<EncoderOutput> outputs = {{"last_hidden_state", last_hidden_state}};
  if (scope_.weights.has(std::string(config_.names.pooler) + ".weight"))
    outputs.push_back({"pooler_output", pooler(last_hidden_state)});
  return outputs;
}

Value PostNormEncoder::language_logits(const LanguageHead& head, Value last_hidden_state) {
  graph::Builder& b = scope_.b;
  Weights& weights = scope_.weights;
  b.set_source(head.source);
  const Value transformed =
      norm(head.norm,
           activate(b, head.activation, head_layer(head.dense, last_hidden_state, config_.hidden, config_.embedding)),
           config_.embedding);
  const bool is_untied = weights.has(head.decoder + ".weight");
  const Value table =
      weights.get(b, is_untied ? head.decoder + ".weight" : kWordTable, {config_.vocabulary, config_.embedding});
  // Where a file has both names of the bias, transformers adds that of the layer itself.
  const std::string own_bias = head.decoder + ".bias";
  const std::string bias = weights.has(own_bias) ? own_bias : head.bias;
  return b.dense({transformed, table, weights.get(b, bias, {config_.vocabulary})}, {.has_bias = true});
}

}  // namespace alate::models
