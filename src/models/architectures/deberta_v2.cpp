// DeBERTa-v2 and -v3 (He et al. 2021, arXiv:2006.03654 and arXiv:2111.09543). Names and defaults are those of
// transformers' DebertaV2Model.
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "alate/error.h"
#include "models/blocks/disentangled_encoder.h"
#include "models/blocks/token_convolution.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

constexpr std::int64_t kMaxKernel = 255;

PostNormConfig deberta_v2_config(const Json& json) {
  return read_disentangled_sizes(json, {.family = "DeBERTa-v2",
                                        .vocabulary = 128100,
                                        .types = 0,
                                        .hidden = 1536,
                                        .layers = 24,
                                        .heads = 24,
                                        .intermediate = 6144,
                                        .epsilon = 1e-7});
}

// Distances beyond half of the buckets are counted logarithmically.
void read_buckets(const Json& json, DisentangledConfig& config) {
  const std::int64_t buckets = json.get_int("position_buckets", -1);
  if (buckets <= 0) return;
  if (buckets < 2 || buckets > 65536 || config.farthest - 1 == buckets / 2)
    throw make_error(ErrorCode::corrupt, "config.json: position_buckets is ", buckets, " for distances up to ",
                     config.farthest, ", which no DeBERTa has");
  config.buckets = config.span = buckets;
}

DisentangledConfig attention_config(const Json& json, const PostNormConfig& sizes) {
  DisentangledConfig config = read_disentangled(json, sizes);
  const std::int64_t size = json.get_int("attention_head_size", sizes.head_size());
  if (size != sizes.head_size())
    throw make_error(ErrorCode::corrupt, "config.json: attention_head_size is ", size, " where hidden_size and ",
                     "num_attention_heads make ", sizes.head_size());
  read_buckets(json, config);
  const int products = 1 + (config.scores_queries ? 1 : 0) + (config.scores_keys ? 1 : 0);
  config.scale = 1 / std::sqrt(static_cast<double>(sizes.head_size() * products));
  return config;
}

DisentangledOperands content(PostNormEncoder& encoder, const std::string& name, Value x) {
  return {.query = encoder.heads(name + "query_proj", x),
          .key = encoder.heads(name + "key_proj", x),
          .value = encoder.heads(name + "value_proj", x),
          .position_keys = {},
          .position_queries = {}};
}

Value project(PostNormEncoder& encoder, const std::string& name, const char* own, const char* shared, Value table) {
  const bool shares = encoder.scope().config.get_bool("share_att_key", false);
  return encoder.head_layer(name + (shares ? shared : own), table, encoder.config().hidden, encoder.config().hidden);
}

Value position_keys(PostNormEncoder& encoder, const std::string& name, Value table) {
  return project(encoder, name, "pos_key_proj", "key_proj", table);
}

Value position_queries(PostNormEncoder& encoder, const std::string& name, Value table) {
  return project(encoder, name, "pos_query_proj", "query_proj", table);
}

constexpr DisentangledFamily kFamily{
    .content = content, .position_keys = position_keys, .position_queries = position_queries};

std::int64_t convolution_kernel(const Json& json) {
  const std::int64_t kernel = json.get_int("conv_kernel_size", 0);
  if (kernel <= 0) return 0;
  if (kernel % 2 == 0 || kernel > kMaxKernel)
    throw make_error(ErrorCode::corrupt, "config.json: conv_kernel_size is ", kernel, ", which no DeBERTa-v2 has");
  if (json.get_int("conv_groups", 1) != 1)
    throw Error(ErrorCode::unsupported, "config.json: a convolution in groups is not built here: conv_groups");
  return kernel;
}

// Joins a convolution over the embeddings to the first layer's result.
Value join_convolution(DisentangledEncoder& encoder, PostNormEncoder& layers, std::int64_t kernel, Value embeddings,
                       Value x) {
  EncoderScope& scope = layers.scope();
  scope.b.set_source("encoder.conv");
  const Value mixed = convolve_tokens(scope, "encoder.conv.conv", embeddings, layers.config().hidden, kernel);
  const Value active = activate(scope.b, scope.config.get_string("conv_act", "tanh"), encoder.hide_masked(mixed));
  return encoder.hide_masked(layers.norm("encoder.conv.LayerNorm", scope.b.add({x, active}), layers.config().hidden));
}

bool normalizes_distances(const Json& json) {
  const std::string norms = json.get_string("norm_rel_ebd", "none");
  return norms.find("layer_norm") != std::string::npos;
}

Value encode_batch(EncoderScope& scope) {
  const PostNormConfig sizes = deberta_v2_config(scope.config);
  const DisentangledConfig config = attention_config(scope.config, sizes);
  const std::int64_t kernel = convolution_kernel(scope.config);
  PostNormEncoder layers(scope, sizes);
  DisentangledEncoder encoder(layers, config, kFamily);
  std::optional<Value> table;
  if (config.uses_distances()) {
    table = encoder.distances();
    if (normalizes_distances(scope.config)) table = layers.norm("encoder.LayerNorm", *table, sizes.hidden);
  }
  const Value embeddings = encoder.embeddings();
  Value x = embeddings;
  for (std::size_t i = 0; i < sizes.layer_names.size(); ++i) {
    x = encoder.layer(i, x, table);
    if (i == 0 && kernel > 0) x = join_convolution(encoder, layers, kernel, embeddings, x);
  }
  return x;
}

EncoderLimits read_limits(const Json& json) {
  const PostNormConfig sizes = deberta_v2_config(json);
  (void)attention_config(json, sizes);
  return disentangled_limits(sizes);
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<deberta_v2_config, disentangled_language_logits>},
    EncoderHead{"ForTokenClassification", with_encoder<deberta_v2_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<deberta_v2_config, context_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<deberta_v2_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<deberta_v2_config, context_choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
};

}  // namespace

Architecture deberta_v2() {
  return {.model_type = "deberta-v2",
          .class_name = "DebertaV2",
          .prefix = "deberta.",
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"Model", with_encoder<deberta_v2_config, disentangled_states>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "deberta-v3-base, mDeBERTa-v3-base-mnli-xnli",
          .refused = "`conv_groups` other than 1"};
}

}  // namespace alate::models
