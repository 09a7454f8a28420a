// The heads that families of post-norm encoders share, by the names that transformers gives their layers.
#pragma once

#include <string>
#include <vector>

#include "models/blocks/post_norm_encoder.h"

namespace alate::models {

using EncoderOutputs = std::vector<EncoderOutput>;

/// Makes a function of EncoderHead from one over the encoder, whose configuration `read` reads.
template <PostNormConfig (*read)(const formats::Json& config), auto build>
EncoderOutputs with_encoder(EncoderScope& scope, graph::Value last_hidden_state) {
  const PostNormConfig config = read(scope.config);
  PostNormEncoder encoder(scope, config);
  return build(encoder, last_hidden_state);
}

/// The same for Architecture::encode and Architecture::limits.
template <PostNormConfig (*read)(const formats::Json& config)>
graph::Value encode_post_norm(EncoderScope& scope) {
  const PostNormConfig config = read(scope.config);
  return PostNormEncoder(scope, config).encode();
}
template <PostNormConfig (*read)(const formats::Json& config)>
EncoderLimits limits_of(const formats::Json& config) {
  return post_norm_limits(read(config));
}

/// The outputs of the base model.
EncoderOutputs base_outputs(PostNormEncoder& encoder, graph::Value x);
/// classifier of each token.
EncoderOutputs token_logits(PostNormEncoder& encoder, graph::Value x);
/// classifier of the pooler's output.
EncoderOutputs pooled_logits(PostNormEncoder& encoder, graph::Value x);
/// The same for one label: a score for each choice.
EncoderOutputs pooled_choice_logits(PostNormEncoder& encoder, graph::Value x);
/// qa_outputs: start_logits and end_logits [tokens].
EncoderOutputs span_logits(PostNormEncoder& encoder, graph::Value x);
/// RoBERTa's head for masked tokens, `lm_head`, whose activation is gelu, whatever hidden_act says.
EncoderOutputs roberta_language_logits(PostNormEncoder& encoder, graph::Value x);
/// RoBERTa's classifier: a layer of its own on the first token, not the pooler.
EncoderOutputs roberta_sequence_logits(PostNormEncoder& encoder, graph::Value x);
/// `out`(activation(`dense`(first token))): a head with a layer of its own instead of the pooler. `labels` 0: as the
/// file says.
EncoderOutputs first_token_logits(PostNormEncoder& encoder, graph::Value x, const std::string& dense,
                                  const std::string& activation, const std::string& out, std::int64_t labels = 0);

}  // namespace alate::models
