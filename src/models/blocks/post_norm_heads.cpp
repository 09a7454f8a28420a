#include "models/blocks/post_norm_heads.h"

namespace alate::models {

using graph::Value;

EncoderOutputs base_outputs(PostNormEncoder& encoder, Value x) { return encoder.base_outputs(x); }

EncoderOutputs token_logits(PostNormEncoder& encoder, Value x) {
  encoder.scope().b.set_source("classifier");
  return {{"logits", encoder.projection("classifier", x)}};
}

EncoderOutputs pooled_logits(PostNormEncoder& encoder, Value x) {
  const Value pooled = encoder.pooler(x);
  encoder.scope().b.set_source("classifier");
  return {{"logits", encoder.projection("classifier", pooled)}};
}

EncoderOutputs pooled_choice_logits(PostNormEncoder& encoder, Value x) {
  const Value pooled = encoder.pooler(x);
  encoder.scope().b.set_source("classifier");
  return {{"logits", encoder.head_layer("classifier", pooled, encoder.config().hidden, 1)}};
}

EncoderOutputs span_logits(PostNormEncoder& encoder, Value x) {
  EncoderScope& scope = encoder.scope();
  scope.b.set_source("qa_outputs");
  return span_columns(scope, encoder.head_layer("qa_outputs", x, encoder.config().hidden, 2));
}

EncoderOutputs roberta_language_logits(PostNormEncoder& encoder, Value x) {
  const LanguageHead head{.source = "lm_head",
                          .dense = "lm_head.dense",
                          .norm = "lm_head.layer_norm",
                          .decoder = "lm_head.decoder",
                          .bias = "lm_head.bias",
                          .activation = "gelu"};
  return {{"logits", encoder.language_logits(head, x)}};
}

EncoderOutputs roberta_sequence_logits(PostNormEncoder& encoder, Value x) {
  return first_token_logits(encoder, x, "classifier.dense", "tanh", "classifier.out_proj");
}

EncoderOutputs first_token_logits(PostNormEncoder& encoder, Value x, const std::string& dense,
                                  const std::string& activation, const std::string& out, std::int64_t labels) {
  graph::Builder& b = encoder.scope().b;
  const std::int64_t hidden = encoder.config().hidden;
  b.set_source("classifier");
  const Value inner = activate(b, activation, encoder.head_layer(dense, encoder.first_tokens(x), hidden, hidden));
  return {{"logits", labels == 0 ? encoder.projection(out, inner) : encoder.head_layer(out, inner, hidden, labels)}};
}

}  // namespace alate::models
