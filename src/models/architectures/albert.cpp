// ALBERT (Lan et al. 2019, arXiv:1909.11942): BERT's encoder with narrow tables, and layers that share their weights.
// Names and defaults are those of transformers' AlbertModel.
#include <array>

#include "alate/error.h"
#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr PostNormNames kNames = {.query = "attention.query",
                                  .key = "attention.key",
                                  .value = "attention.value",
                                  .attention_output = "attention.dense",
                                  .attention_norm = "attention.LayerNorm",
                                  .up = "ffn",
                                  .down = "ffn_output",
                                  .output_norm = "full_layer_layer_norm",
                                  .embedding_projection = "encoder.embedding_hidden_mapping_in",
                                  .pooler = "pooler"};

PostNormConfig albert_config(const formats::Json& json) {
  PostNormConfig config = read_post_norm_config(json, {.family = "ALBERT",
                                                       .vocabulary = 30000,
                                                       .hidden = 4096,
                                                       .heads = 64,
                                                       .intermediate = 16384,
                                                       .embedding = 128,
                                                       .activation = "gelu_new"});
  config.names = kNames;
  const std::int64_t groups = json.get_int("num_hidden_groups", 1);
  const std::int64_t inner = json.get_int("inner_group_num", 1);
  if (groups < 1 || groups > config.layers || inner < 1 || inner > 64)
    throw make_error(ErrorCode::corrupt, "config.json: num_hidden_groups ", groups, " and inner_group_num ", inner,
                     " do not fit num_hidden_layers ", config.layers);
  config.layer_names.clear();
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::int64_t group = i * groups / config.layers;  // int(i / (layers / groups)), as the reference
    for (std::int64_t j = 0; j < inner; ++j)
      config.layer_names.push_back("encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." +
                                   std::to_string(j) + ".");
  }
  return config;
}

Value language_logits(PostNormEncoder& encoder, Value x) {
  return encoder.language_logits({.source = "predictions",
                                  .dense = "predictions.dense",
                                  .norm = "predictions.LayerNorm",
                                  .decoder = "predictions.decoder",
                                  .bias = "predictions.bias",
                                  .activation = encoder.config().activation},
                                 x);
}

EncoderOutputs masked_language(PostNormEncoder& encoder, Value x) { return {{"logits", language_logits(encoder, x)}}; }

EncoderOutputs pre_training(PostNormEncoder& encoder, Value x) {
  const Value words = language_logits(encoder, x);
  const Value pooled = encoder.pooler(x);
  encoder.scope().b.set_source("sop_classifier");
  return {{"prediction_logits", words}, {"sop_logits", encoder.projection("sop_classifier.classifier", pooled)}};
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<albert_config, masked_language>},
    EncoderHead{"ForPreTraining", with_encoder<albert_config, pre_training>},
    EncoderHead{"ForTokenClassification", with_encoder<albert_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<albert_config, pooled_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<albert_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<albert_config, pooled_choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "predictions.decoder.weight"},
};

}  // namespace

Architecture albert() {
  return {.model_type = "albert",
          .class_name = "Albert",
          .prefix = "albert.",
          .limits = limits_of<albert_config>,
          .entries = kEncodes<encode_post_norm<albert_config>>,
          .base = {"Model", with_encoder<albert_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "albert-base-v2, paraphrase-albert-small-v2",
          .refused = "`position_embedding_type` other than `absolute`, `is_decoder`"};
}

}  // namespace alate::models
