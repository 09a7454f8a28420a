// BERT: Devlin and others 2018, arXiv:1810.04805. Names and defaults are those of transformers' BertModel.
#include <array>
#include <string>

#include "models/blocks/post_norm_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;
using Outputs = std::vector<EncoderOutput>;

PostNormConfig bert_config(const Json& config) { return read_post_norm_config(config, {.family = "BERT"}); }

EncoderLimits bert_limits(const Json& json) {
  const PostNormConfig config = bert_config(json);
  return {.vocabulary = config.vocabulary,
          .positions = config.positions,
          .types = config.types,
          .hidden_size = config.hidden};
}

Value encode_bert(EncoderScope& scope) {
  const PostNormConfig config = bert_config(scope.config);
  return PostNormEncoder(scope, config).encode();
}

Outputs bert_base(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  return PostNormEncoder(scope, config).base_outputs(x);
}

Outputs bert_masked_language(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  const LanguageHead head{.source = "cls.predictions",
                          .dense = "cls.predictions.transform.dense",
                          .norm = "cls.predictions.transform.LayerNorm",
                          .decoder = "cls.predictions.decoder",
                          .bias = "cls.predictions.bias",
                          .activation = config.activation};
  return {{"logits", PostNormEncoder(scope, config).language_logits(head, x)}};
}

Outputs bert_token_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  scope.b.set_source("classifier");
  return {{"logits", PostNormEncoder(scope, config).projection("classifier", x)}};
}

Outputs bert_sequence_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  PostNormEncoder encoder(scope, config);
  const Value pooled = encoder.pooler(x);
  scope.b.set_source("classifier");
  return {{"logits", encoder.projection("classifier", pooled)}};
}

constexpr std::array kBertHeads = {
    EncoderHead{"ForMaskedLM", bert_masked_language},
    EncoderHead{"ForTokenClassification", bert_token_classifier},
    EncoderHead{"ForSequenceClassification", bert_sequence_classifier},
};

}  // namespace

Architecture bert() {
  return {.model_type = "bert",
          .class_name = "Bert",
          .prefix = "bert.",
          .limits = bert_limits,
          .encode = encode_bert,
          .base = {"Model", bert_base},
          .heads = kBertHeads,
          .examples = "all-MiniLM-L6-v2, bge-small-en-v1.5, e5-base-v2, mxbai-embed-large-v1"};
}

}  // namespace alate::models
