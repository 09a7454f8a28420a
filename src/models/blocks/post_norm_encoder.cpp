#include "models/blocks/post_norm_encoder.h"

#include <cmath>

#include "alate/error.h"

namespace alate::models {
namespace {

using graph::Value;

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
  const auto size = [&](std::string_view key, std::int64_t otherwise) {
    return positive(config, key, otherwise, defaults.family);
  };
  PostNormConfig read{.vocabulary = size("vocab_size", defaults.vocabulary),
                      .hidden = size("hidden_size", 768),
                      .layers = size("num_hidden_layers", 12),
                      .heads = size("num_attention_heads", 12),
                      .intermediate = size("intermediate_size", 3072),
                      .positions = size("max_position_embeddings", defaults.positions),
                      .types = size("type_vocab_size", defaults.types),
                      .epsilon = config.get_double("layer_norm_eps", 1e-12),
                      .activation = config.get_string("hidden_act", "gelu")};
  if (read.hidden % read.heads != 0)
    throw make_error(ErrorCode::corrupt, "config.json: hidden_size ", read.hidden,
                     " is not a multiple of num_attention_heads ", read.heads);
  const std::string positions = config.get_string("position_embedding_type", "absolute");
  if (positions != "absolute")
    throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", positions,
                     "' is not built here, only absolute: ", positions);
  if (config.get_bool("is_decoder", false))
    throw make_error(ErrorCode::unsupported, "config.json: a ", defaults.family,
                     " with is_decoder is not built here, only encoders: is_decoder");
  return read;
}

Value PostNormEncoder::encode() {
  Value x = embeddings();
  for (std::int64_t i = 0; i < config_.layers; ++i) x = layer(i, x);
  return x;
}

Value PostNormEncoder::embeddings() {
  graph::Builder& b = scope_.b;
  b.set_source("embeddings");
  const std::int64_t hidden = config_.hidden;
  const Value words = scope_.weights.lookup(b, kWordTable, scope_.in.ids, config_.vocabulary, hidden);
  const Value types = scope_.weights.lookup(b, "embeddings.token_type_embeddings.weight", scope_.in.type_ids,
                                            config_.types, hidden, Rounding::never);
  const Value positions = scope_.weights.lookup(b, "embeddings.position_embeddings.weight", scope_.in.positions,
                                                config_.positions, hidden, Rounding::never);
  return norm("embeddings.LayerNorm", b.add({b.add({words, types}), positions}), hidden);
}

Value PostNormEncoder::layer(std::int64_t index, Value x) {
  graph::Builder& b = scope_.b;
  const std::string layer = "encoder.layer." + std::to_string(index) + ".";
  const std::int64_t hidden = config_.hidden;
  b.set_source(layer + "attention");
  const Value attended = attention(layer + "attention.self.", x);
  const Value mixed = b.add({linear(layer + "attention.output.dense", attended, hidden, hidden), x});
  const Value middle = norm(layer + "attention.output.LayerNorm", mixed, hidden);
  b.set_source(layer + "feed_forward");
  const Value wide =
      activate(b, config_.activation, linear(layer + "intermediate.dense", middle, hidden, config_.intermediate));
  const Value narrow = b.add({linear(layer + "output.dense", wide, config_.intermediate, hidden), middle});
  return norm(layer + "output.LayerNorm", narrow, hidden);
}

Value PostNormEncoder::attention(const std::string& name, Value x) {
  graph::Builder& b = scope_.b;
  const EncoderInputs& in = scope_.in;
  const std::int64_t hidden = config_.hidden;
  const auto heads_of = [&](const char* part) {
    return b.reshape({linear(name + part, x, hidden, hidden)},
                     {.dims = {in.tokens, config_.heads, config_.head_size()}});
  };
  const Value query = heads_of("query"), key = heads_of("key"), value = heads_of("value");
  const graph::Attention attributes{.scale = 1 / std::sqrt(static_cast<double>(config_.head_size())),
                                    .has_lengths = true,
                                    .rounds_operands = scope_.weights.settings().rounds_activations()};
  const Value mixed = b.ragged_attention(
      {query, key, value, in.starts, in.lengths, in.pad_index, in.unpad_index, in.key_lengths}, attributes);
  return b.reshape({mixed}, {.dims = {in.tokens, hidden}});
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
  return scope_.b.tanh({head_layer("pooler.dense", first_tokens(last_hidden_state), config_.hidden, config_.hidden)});
}

Value PostNormEncoder::first_tokens(Value last_hidden_state) {
  return graph::take_rows(scope_.b, last_hidden_state, scope_.in.first);
}

Value PostNormEncoder::projection(const std::string& name, Value x) {
  return head_layer(name, x, config_.hidden, scope_.weights.rows(name + ".weight"));
}

std::vector<EncoderOutput> PostNormEncoder::base_outputs(Value last_hidden_state) {
  std::vector<EncoderOutput> outputs = {{"last_hidden_state", last_hidden_state}};
  if (scope_.weights.has("pooler.dense.weight")) outputs.push_back({"pooler_output", pooler(last_hidden_state)});
  return outputs;
}

Value PostNormEncoder::language_logits(const LanguageHead& head, Value last_hidden_state) {
  graph::Builder& b = scope_.b;
  Weights& weights = scope_.weights;
  b.set_source(head.source);
  const Value transformed =
      norm(head.norm,
           activate(b, head.activation, head_layer(head.dense, last_hidden_state, config_.hidden, config_.hidden)),
           config_.hidden);
  const bool is_untied = weights.has(head.decoder + ".weight");
  const Value table =
      weights.get(b, is_untied ? head.decoder + ".weight" : kWordTable, {config_.vocabulary, config_.hidden});
  const std::string bias = weights.has(head.bias) ? head.bias : head.decoder + ".bias";
  return b.dense({transformed, table, weights.get(b, bias, {config_.vocabulary})}, {.has_bias = true});
}

}  // namespace alate::models
