#include "models/blocks/disentangled_encoder.h"

#include <algorithm>
#include <vector>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/blocks/places.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr std::int64_t kMaxPositions = 65536;  // beyond all models: each distance has an entry of a table

bool has_positions(const formats::Json& config) { return config.get_bool("position_biased_input", true); }

std::int64_t bounded(const formats::Json& config, std::string_view key, std::int64_t otherwise, std::int64_t least,
                     std::int64_t most) {
  const std::int64_t value = config.get_int(key, otherwise);
  if (value < least || value > most)
    throw make_error(ErrorCode::corrupt, "config.json: ", key, " is ", value, ", which no DeBERTa has");
  return value;
}

void require_pooler(const PostNormEncoder& encoder) {
  const std::int64_t hidden = encoder.config().hidden,
                     pooled = encoder.scope().config.get_int("pooler_hidden_size", hidden);
  if (pooled != hidden)
    throw make_error(ErrorCode::corrupt, "config.json: pooler_hidden_size is ", pooled, " beside a hidden_size of ",
                     hidden, ", which no DeBERTa has");
}

EncoderOutputs pooled(PostNormEncoder& encoder, Value x, std::int64_t labels) {
  require_pooler(encoder);
  return first_token_logits(encoder, x, "pooler.dense", encoder.scope().config.get_string("pooler_hidden_act", "gelu"),
                            "classifier", labels);
}

}  // namespace

PostNormConfig read_disentangled_sizes(const formats::Json& config, const PostNormDefaults& defaults) {
  PostNormConfig sizes = read_post_norm_config(config, defaults);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  sizes.types = bounded(config, "type_vocab_size", 0, 0, kMost);
  sizes.embedding = bounded(config, "embedding_size", sizes.hidden, 1, kMost);
  bounded(config, "max_position_embeddings", defaults.positions, 1, kMaxPositions);
  return sizes;
}

DisentangledConfig read_disentangled(const formats::Json& config, const PostNormConfig& sizes) {
  DisentangledConfig read{.heads = sizes.heads,
                          .hidden = sizes.hidden,
                          .places = sizes.positions,
                          .is_relative = config.get_bool("relative_attention", false)};
  const std::vector<std::string> scores = read_position_scores(config);
  read.scores_queries = std::ranges::find(scores, "c2p") != scores.end();
  read.scores_keys = std::ranges::find(scores, "p2c") != scores.end();
  const std::int64_t farthest = config.get_int("max_relative_positions", -1);
  read.farthest = farthest < 1 ? sizes.positions : bounded(config, "max_relative_positions", -1, 1, kMaxPositions);
  read.span = read.farthest;
  return read;
}

EncoderLimits disentangled_limits(const PostNormConfig& sizes) {
  EncoderLimits limits = post_norm_limits(sizes);
  limits.types = sizes.types;
  // Masked tokens see in another way than others, even where no distances are scored.
  limits.window = 0;
  return limits;
}

DisentangledEncoder::DisentangledEncoder(PostNormEncoder& layers, const DisentangledConfig& config,
                                         const DisentangledFamily& family)
    : layers_(layers), config_(config), family_(family), attention_(layers.scope(), config) {}

Value DisentangledEncoder::embeddings() {
  EncoderScope& scope = layers_.scope();
  graph::Builder& b = scope.b;
  const PostNormConfig& sizes = layers_.config();
  b.set_source("embeddings");
  const auto looked_up = [&](const char* table, Value indices, std::int64_t rows, Rounding rounding) {
    return scope.weights.lookup(b, std::string("embeddings.") + table + ".weight", indices, rows, sizes.embedding,
                                rounding);
  };
  Value sum = looked_up("word_embeddings", scope.in.ids, sizes.vocabulary, Rounding::allowed);
  if (has_positions(scope.config))
    sum = b.add({sum, looked_up("position_embeddings", scope.in.positions, sizes.positions, Rounding::never)});
  if (sizes.types > 0)
    sum = b.add({sum, looked_up("token_type_embeddings", scope.in.type_ids, sizes.types, Rounding::never)});
  if (sizes.embedding != sizes.hidden)
    sum = scope.weights.linear(b, "embeddings.embed_proj", sum, sizes.embedding, sizes.hidden, Rounding::allowed,
                               Bias::if_stored);
  return hide_masked(layers_.norm("embeddings.LayerNorm", sum, sizes.hidden));
}

Value DisentangledEncoder::distances() {
  EncoderScope& scope = layers_.scope();
  scope.b.set_source("distances");
  return scope.weights.get(scope.b, "encoder.rel_embeddings.weight", {2 * config_.span, config_.hidden});
}

Value DisentangledEncoder::layer(std::size_t index, Value x, std::optional<Value> table) {
  const std::string& name = layers_.config().layer_names[index];
  const std::string self = name + "attention.self.";
  layers_.scope().b.set_source(name + "attention");
  DisentangledOperands operands = family_.content(layers_, self, x);
  if (table && config_.scores_queries) operands.position_keys = family_.position_keys(layers_, self, *table);
  if (table && config_.scores_keys) operands.position_queries = family_.position_queries(layers_, self, *table);
  return layers_.layer(name, x, attention_.attend(operands));
}

Value DisentangledEncoder::hide_masked(Value x) {
  EncoderScope& scope = layers_.scope();
  if (!scope.in.by_place) return x;
  const Value visible = visible_tokens(scope);
  return scope.b.mul({x, scope.b.broadcast_in_dim({visible}, {.dims = scope.b.shape(x).dims, .mapping = {0}})});
}

EncoderOutputs disentangled_language_logits(PostNormEncoder& encoder, Value x) {
  const PostNormConfig& config = encoder.config();
  if (encoder.scope().config.get_bool("legacy", true)) {
    const LanguageHead head{.source = "cls",
                            .dense = "cls.predictions.transform.dense",
                            .norm = "cls.predictions.transform.LayerNorm",
                            .decoder = "cls.predictions.decoder",
                            .bias = "cls.predictions.bias",
                            .activation = config.activation};
    return {{"logits", encoder.language_logits(head, x)}};
  }
  if (config.embedding != config.hidden)
    throw make_error(ErrorCode::corrupt, "config.json: embedding_size is ", config.embedding,
                     " beside a hidden_size of ", config.hidden, ", which no DeBERTa with legacy false has: legacy");
  const LanguageHead head{.source = "lm_predictions",
                          .dense = "lm_predictions.lm_head.dense",
                          .norm = "lm_predictions.lm_head.LayerNorm",
                          .decoder = "lm_predictions.lm_head.decoder",
                          .bias = "lm_predictions.lm_head.bias",
                          .activation = config.activation};
  return {{"logits", encoder.language_logits(head, x)}};
}

EncoderOutputs disentangled_states(PostNormEncoder&, Value x) { return {{"last_hidden_state", x}}; }
EncoderOutputs context_logits(PostNormEncoder& encoder, Value x) { return pooled(encoder, x, 0); }
EncoderOutputs context_choice_logits(PostNormEncoder& encoder, Value x) { return pooled(encoder, x, 1); }

}  // namespace alate::models
