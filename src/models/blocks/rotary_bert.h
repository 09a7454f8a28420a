// What descendants of BERT over RotaryEncoder have in common: names, and BERT's heads and RoBERTa's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {

/// Norms after each residual, with the names of transformers' NomicBertModel, GteModel and JinaEmbeddingsV3Model.
/// `types`: of tokens, where config.json does not say. Throws corrupt for numbers of types that no such model has.
RotaryConfig as_rotary_bert(RotaryConfig config, const formats::Json& json, std::int64_t types);

/// tanh of pooler.dense of the first token.
graph::Value pooled_first_tokens(RotaryEncoder& encoder, graph::Value x);

/// The last hidden state and, where the file has its weights, the pooler's output.
EncoderOutputs rotary_base_outputs(RotaryEncoder& encoder, graph::Value x);
/// Logits of the vocabulary after a transform of NAME.dense, `activation` and a norm, which has one name or another.
graph::Value transformed_logits(RotaryEncoder& encoder, graph::Value x, const std::string& name,
                                std::string_view activation, const std::string& decoder, const std::string& bias);
/// The same with the names of RoBERTa's lm_head, whose activation is gelu.
EncoderOutputs rotary_lm_head_logits(RotaryEncoder& encoder, graph::Value x);
/// classifier of each token.
EncoderOutputs rotary_token_logits(RotaryEncoder& encoder, graph::Value x);
/// classifier of the pooler's output.
EncoderOutputs rotary_pooled_logits(RotaryEncoder& encoder, graph::Value x);
/// RoBERTa's classifier: a layer of its own on the first token.
EncoderOutputs rotary_first_token_logits(RotaryEncoder& encoder, graph::Value x);
/// qa_outputs: start_logits and end_logits.
EncoderOutputs rotary_span_logits(RotaryEncoder& encoder, graph::Value x);

}  // namespace alate::models
