// DeBERTa (He et al. 2021, arXiv:2006.03654), the first version. Names and defaults are those of transformers'
// DebertaModel.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/blocks/disentangled_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

PostNormConfig deberta_config(const Json& json) {
  return read_disentangled_sizes(json, {.family = "DeBERTa", .vocabulary = 50265, .types = 0, .epsilon = 1e-7});
}

DisentangledConfig attention_config(const Json& json, const PostNormConfig& sizes) {
  DisentangledConfig config = read_disentangled(json, sizes);
  if (json.get_bool("talking_head", false))
    throw Error(ErrorCode::unsupported, "config.json: attention with talking heads is not built here: talking_head");
  // Each part of pos_att_type counts, whether it is known or not.
  const auto products = static_cast<std::int64_t>(1 + read_position_scores(json).size());
  config.scale = 1 / std::sqrt(static_cast<double>(sizes.head_size() * products));
  return config;
}

// Queries, keys and values of a head lie side by side; only keys have no bias.
DisentangledOperands content(PostNormEncoder& encoder, const std::string& name, Value x) {
  EncoderScope& scope = encoder.scope();
  graph::Builder& b = scope.b;
  const PostNormConfig& sizes = encoder.config();
  const std::int64_t hidden = sizes.hidden, heads = sizes.heads, size = sizes.head_size();
  const Value together =
      scope.weights.linear(b, name + "in_proj", x, hidden, 3 * hidden, Rounding::allowed, Bias::if_stored);
  std::vector<Value> parts =
      graph::split_evenly(b, b.reshape({together}, {.dims = {scope.in.tokens, heads, 3 * size}}), 3, 2);
  const auto with_bias = [&](Value part, const char* bias) {
    const Value by_head = b.reshape({scope.weights.get(b, name + bias, {hidden})}, {.dims = {heads, size}});
    return b.add({part, graph::broadcast_to(b, by_head, b.shape(part).dims)});
  };
  return {.query = with_bias(parts[0], "q_bias"),
          .key = parts[1],
          .value = with_bias(parts[2], "v_bias"),
          .position_keys = {},
          .position_queries = {}};
}

Value position_keys(PostNormEncoder& encoder, const std::string& name, Value table) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  return scope.weights.linear(scope.b, name + "pos_proj", table, hidden, hidden, Rounding::never, Bias::if_stored);
}

Value position_queries(PostNormEncoder& encoder, const std::string& name, Value table) {
  return encoder.head_layer(name + "pos_q_proj", table, encoder.config().hidden, encoder.config().hidden);
}

constexpr DisentangledFamily kFamily{
    .content = content, .position_keys = position_keys, .position_queries = position_queries};

Value encode_batch(EncoderScope& scope) {
  const PostNormConfig sizes = deberta_config(scope.config);
  const DisentangledConfig config = attention_config(scope.config, sizes);
  PostNormEncoder layers(scope, sizes);
  DisentangledEncoder encoder(layers, config, kFamily);
  const std::optional<Value> table = config.uses_distances() ? std::optional(encoder.distances()) : std::nullopt;
  Value x = encoder.embeddings();
  for (std::size_t i = 0; i < sizes.layer_names.size(); ++i) x = encoder.layer(i, x, table);
  return x;
}

EncoderLimits read_limits(const Json& json) {
  const PostNormConfig sizes = deberta_config(json);
  (void)attention_config(json, sizes);
  return disentangled_limits(sizes);
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<deberta_config, disentangled_language_logits>},
    EncoderHead{"ForTokenClassification", with_encoder<deberta_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<deberta_config, context_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<deberta_config, span_logits>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
};

}  // namespace

Architecture deberta() {
  return {.model_type = "deberta",
          .class_name = "Deberta",
          .prefix = "deberta.",
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"Model", with_encoder<deberta_config, disentangled_states>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "deberta-base, deberta-base-mnli",
          .refused = "`talking_head`"};
}

}  // namespace alate::models
