// RoBERTa (Liu et al. 2019, arXiv:1907.11692) and XLM-RoBERTa (Conneau et al. 2019, arXiv:1911.02116): BERT's encoder
// with positions counted past padding, and heads of their own. Names and defaults are those of transformers'
// RobertaModel and XLMRobertaModel.
#include <array>
#include <string>

#include "alate/error.h"
#include "models/blocks/post_norm_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;
using Outputs = std::vector<EncoderOutput>;

PostNormConfig roberta_config(const Json& config) {
  const bool is_multilingual = config.get_string("model_type", "") == "xlm-roberta";
  return read_post_norm_config(config, {.family = "RoBERTa", .vocabulary = is_multilingual ? 30522 : 50265});
}

EncoderLimits roberta_limits(const Json& json) {
  const PostNormConfig config = roberta_config(json);
  const std::int64_t padding = json.get_int("pad_token_id", 1);
  if (padding < 0 || padding >= config.vocabulary || padding + 1 >= config.positions)
    throw make_error(ErrorCode::corrupt, "config.json: pad_token_id is ", padding,
                     ", which leaves no positions of the ", config.positions);
  return {.vocabulary = config.vocabulary,
          .positions = config.positions - padding - 1,
          .types = config.types,
          .hidden_size = config.hidden,
          .padding = static_cast<std::int32_t>(padding)};
}

Value encode_roberta(EncoderScope& scope) {
  const PostNormConfig config = roberta_config(scope.config);
  return PostNormEncoder(scope, config).encode();
}

Outputs roberta_base(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  return PostNormEncoder(scope, config).base_outputs(x);
}

// The activation of the head is gelu, whatever hidden_act says.
Outputs roberta_masked_language(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  const LanguageHead head{.source = "lm_head",
                          .dense = "lm_head.dense",
                          .norm = "lm_head.layer_norm",
                          .decoder = "lm_head.decoder",
                          .bias = "lm_head.bias",
                          .activation = "gelu"};
  return {{"logits", PostNormEncoder(scope, config).language_logits(head, x)}};
}

Outputs roberta_token_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  scope.b.set_source("classifier");
  return {{"logits", PostNormEncoder(scope, config).projection("classifier", x)}};
}

// A layer of its own on the first token, not the pooler.
Outputs roberta_sequence_classifier(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  PostNormEncoder encoder(scope, config);
  scope.b.set_source("classifier");
  const Value first = encoder.first_tokens(x);
  const Value dense = scope.b.tanh({encoder.head_layer("classifier.dense", first, config.hidden, config.hidden)});
  return {{"logits", encoder.projection("classifier.out_proj", dense)}};
}

Outputs roberta_question_answering(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  scope.b.set_source("qa_outputs");
  const Value both = PostNormEncoder(scope, config).head_layer("qa_outputs", x, config.hidden, 2);
  const auto column = [&](std::int64_t index) {
    const Value one =
        scope.b.slice({both}, {.starts = {0, index}, .limits = {scope.in.tokens, index + 1}, .strides = {}});
    return scope.b.reshape({one}, {.dims = {scope.in.tokens}});
  };
  return {{"start_logits", column(0)}, {"end_logits", column(1)}};
}

Outputs roberta_multiple_choice(EncoderScope& scope, Value x) {
  const PostNormConfig config = roberta_config(scope.config);
  PostNormEncoder encoder(scope, config);
  const Value pooled = encoder.pooler(x);
  scope.b.set_source("classifier");
  return {{"logits", encoder.head_layer("classifier", pooled, config.hidden, 1)}};
}

constexpr std::array kRobertaHeads = {
    EncoderHead{"ForMaskedLM", roberta_masked_language},
    EncoderHead{"ForTokenClassification", roberta_token_classifier},
    EncoderHead{"ForSequenceClassification", roberta_sequence_classifier},
    EncoderHead{"ForQuestionAnswering", roberta_question_answering},
    EncoderHead{"ForMultipleChoice", roberta_multiple_choice, true},
};

}  // namespace

Architecture roberta() {
  return {.model_type = "roberta",
          .class_name = "Roberta",
          .prefix = "roberta.",
          .limits = roberta_limits,
          .encode = encode_roberta,
          .base = {"Model", roberta_base},
          .heads = kRobertaHeads,
          .examples = "roberta-base, roberta-large-mnli"};
}

Architecture xlm_roberta() {
  Architecture same = roberta();
  same.model_type = "xlm-roberta";
  same.class_name = "XLMRoberta";
  same.examples = "xlm-roberta-base, bge-m3, multilingual-e5-base";
  return same;
}

}  // namespace alate::models
