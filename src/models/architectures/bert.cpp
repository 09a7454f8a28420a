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
  Outputs outputs = {{"last_hidden_state", x}};
  if (!scope.weights.has("pooler.dense.weight")) return outputs;
  const PostNormConfig config = bert_config(scope.config);
  outputs.push_back({"pooler_output", PostNormEncoder(scope, config).pooler(x)});
  return outputs;
}

// A transform, then a product with the word table.
Outputs bert_masked_language(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  PostNormEncoder encoder(scope, config);
  const std::string head = "cls.predictions.";
  scope.b.set_source("cls.predictions");
  const Value transformed =
      encoder.norm(head + "transform.LayerNorm",
                   activate(scope.b, config.activation,
                            encoder.head_layer(head + "transform.dense", x, config.hidden, config.hidden)),
                   config.hidden);
  const bool untied = scope.weights.has(head + "decoder.weight");
  const Value table = untied ? scope.weights.get(scope.b, head + "decoder.weight", {config.vocabulary, config.hidden})
                             : encoder.word_table();
  const std::string bias = scope.weights.has(head + "bias") ? head + "bias" : head + "decoder.bias";
  return {{"logits", scope.b.dense({transformed, table, scope.weights.get(scope.b, bias, {config.vocabulary})},
                                   {.has_bias = true})}};
}

// A linear layer whose output width is given by the file.
Outputs classifier(EncoderScope& scope, PostNormEncoder& encoder, const PostNormConfig& config, Value x) {
  scope.b.set_source("classifier");
  return {{"logits", encoder.head_layer("classifier", x, config.hidden, scope.weights.rows("classifier.weight"))}};
}

Outputs bert_token_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  PostNormEncoder encoder(scope, config);
  return classifier(scope, encoder, config, x);
}

Outputs bert_sequence_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = bert_config(scope.config);
  PostNormEncoder encoder(scope, config);
  return classifier(scope, encoder, config, encoder.pooler(x));
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
