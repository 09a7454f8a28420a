// ELECTRA (Clark et al. 2020, arXiv:2003.10555): BERT's encoder, mostly with narrower tables. Names and defaults are
// those of transformers' ElectraModel.
#include <array>

#include "alate/error.h"
#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using graph::Value;

PostNormConfig electra_config(const formats::Json& json) {
  PostNormConfig config = read_post_norm_config(
      json, {.family = "ELECTRA", .hidden = 256, .heads = 4, .intermediate = 1024, .embedding = 128});
  if (config.embedding != config.hidden) config.names.embedding_projection = "embeddings_project";
  return config;
}

// The activation of the generator's head is gelu, whatever hidden_act says.
EncoderOutputs masked_language(PostNormEncoder& encoder, Value x) {
  const LanguageHead head{.source = "generator_lm_head",
                          .dense = "generator_predictions.dense",
                          .norm = "generator_predictions.LayerNorm",
                          .decoder = "generator_lm_head",
                          .bias = "generator_lm_head.bias",
                          .activation = "gelu"};
  return {{"logits", encoder.language_logits(head, x)}};
}

// Whether each token was replaced.
EncoderOutputs pre_training(PostNormEncoder& encoder, Value x) {
  EncoderScope& scope = encoder.scope();
  const PostNormConfig& config = encoder.config();
  scope.b.set_source("discriminator_predictions");
  const Value inner = activate(scope.b, config.activation,
                               encoder.head_layer("discriminator_predictions.dense", x, config.hidden, config.hidden));
  const Value logit = encoder.head_layer("discriminator_predictions.dense_prediction", inner, config.hidden, 1);
  return {{"logits", scope.b.reshape({logit}, {.dims = {scope.in.tokens}})}};
}

EncoderOutputs sequence_logits(PostNormEncoder& encoder, Value x) {
  return first_token_logits(encoder, x, "classifier.dense", "gelu", "classifier.out_proj");
}

// The summary of a sequence is a setting; only that of all published models is built.
EncoderOutputs choice_logits(PostNormEncoder& encoder, Value x) {
  const formats::Json& config = encoder.scope().config;
  const std::string type = config.get_string("summary_type", "first");
  if (type != "first" || !config.get_bool("summary_use_proj", true))
    throw make_error(ErrorCode::unsupported, "config.json: a summary of the type '", type,
                     "' is not built here, only first with summary_use_proj: summary_type");
  return first_token_logits(encoder, x, "sequence_summary.summary", config.get_string("summary_activation", "gelu"),
                            "classifier", 1);
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<electra_config, masked_language>},
    EncoderHead{"ForPreTraining", with_encoder<electra_config, pre_training>},
    EncoderHead{"ForTokenClassification", with_encoder<electra_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<electra_config, sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<electra_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<electra_config, choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "generator_lm_head.weight"},
};

}  // namespace

Architecture electra() {
  return {.model_type = "electra",
          .class_name = "Electra",
          .prefix = "electra.",
          .limits = limits_of<electra_config>,
          .entries = kEncodes<encode_post_norm<electra_config>>,
          .base = {"Model", with_encoder<electra_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "electra-small-discriminator, ms-marco-electra-base",
          .refused =
              "`position_embedding_type` other than `absolute`, `is_decoder`; for choices a `summary_type` other than "
              "`first`"};
}

}  // namespace alate::models
