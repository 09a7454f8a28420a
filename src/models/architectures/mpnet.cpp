// MPNet (Song et al. 2020, arXiv:2004.09297): BERT's encoder with positions counted past padding, and a bias of
// attention for each distance. Names and defaults are those of transformers' MPNetModel.
#include <array>

#include "alate/error.h"
#include "models/blocks/distance_scores.h"
#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

// Fixed in the reference, whatever config.json says.
constexpr std::int64_t kPadding = 1, kBuckets = 32, kFarthest = 128;
constexpr std::int64_t kMaxPositions = 65536;  // beyond all models: each distance has an entry of a table

PostNormConfig mpnet_config(const Json& json) {
  PostNormConfig config = read_post_norm_config(json, {.family = "MPNet", .vocabulary = 30527, .types = 0});
  config.names.query = "attention.attn.q";
  config.names.key = "attention.attn.k";
  config.names.value = "attention.attn.v";
  config.names.attention_output = "attention.attn.o";
  config.names.attention_norm = "attention.LayerNorm";
  return config;
}

EncoderLimits read_limits(const Json& json) {
  EncoderLimits limits = post_norm_limits(mpnet_config(json));
  if (limits.positions <= kPadding + 1 || limits.positions > kMaxPositions)
    throw make_error(ErrorCode::corrupt, "config.json: max_position_embeddings is ", limits.positions,
                     ", which no MPNet has");
  limits.positions -= kPadding + 1;
  limits.padding = static_cast<std::int32_t>(kPadding);
  limits.window = 0;
  return limits;
}

Value encode_batch(EncoderScope& scope) {
  const PostNormConfig config = mpnet_config(scope.config);
  const std::int64_t rows = scope.config.get_int("relative_attention_num_buckets", kBuckets);
  if (rows < kBuckets)
    throw make_error(ErrorCode::corrupt, "config.json: relative_attention_num_buckets is ", rows,
                     "; the reference reads ", kBuckets);
  return PostNormEncoder(scope, config)
      .encode(learned_scores(scope, "encoder.relative_attention_bias", rows, kBuckets, kFarthest, config.heads,
                             config.positions));
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<mpnet_config, roberta_language_logits>},
    EncoderHead{"ForTokenClassification", with_encoder<mpnet_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<mpnet_config, roberta_sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<mpnet_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<mpnet_config, pooled_choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
};

}  // namespace

Architecture mpnet() {
  return {.model_type = "mpnet",
          .class_name = "MPNet",
          .prefix = "mpnet.",
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"Model", with_encoder<mpnet_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "all-mpnet-base-v2, multi-qa-mpnet-base-dot-v1",
          .refused = "`position_embedding_type` other than `absolute`, `is_decoder`"};
}

}  // namespace alate::models
