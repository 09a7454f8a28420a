// ModernBERT (Warner et al. 2024, arXiv:2412.13663): norms before each part, gated feed-forward layers, and windows in
// most layers. Names and defaults are those of transformers' ModernBertModel.
#include <array>

#include "alate/error.h"
#include "graph/builder.h"
#include "models/blocks/modernbert_config.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

EncoderLimits read_limits(const Json& json) { return rotary_limits(read_modernbert_config(json)); }
RotaryConfig config_in(EncoderScope& scope) { return read_modernbert_config(scope.config); }

Value transformed(RotaryEncoder& encoder, Value x) { return modernbert_transform(encoder, "head", x); }

EncoderOutputs masked_language(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.vocabulary_logits("decoder", transformed(encoder, x))}};
}

EncoderOutputs token_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", transformed(encoder, x))}};
}

// "cls" is the first place for one class of transformers, and the first visible token for another.
Value pooled(RotaryEncoder& encoder, Value x, Value first) {
  const std::string pooling = encoder.scope().config.get_string("classifier_pooling", "cls");
  if (pooling == "cls") return graph::take_rows(encoder.scope().b, x, first);
  if (pooling == "mean") return encoder.mean_of_tokens(x);
  throw make_error(ErrorCode::unsupported, "config.json: classifier_pooling '", pooling,
                   "' is not built here, only cls and mean: ", pooling);
}

EncoderOutputs sequence_logits(RotaryEncoder& encoder, Value x) {
  return {
      {"logits", encoder.projection("classifier", transformed(encoder, pooled(encoder, x, encoder.scope().in.first)))}};
}

EncoderOutputs choice_logits(RotaryEncoder& encoder, Value x) {
  const Value inner = transformed(encoder, pooled(encoder, x, encoder.scope().in.starts));
  return {{"logits", encoder.head_layer("classifier", inner, encoder.config().hidden, 1)}};
}

EncoderOutputs span_logits(RotaryEncoder& encoder, Value x) {
  return encoder.span_logits("classifier", transformed(encoder, x));
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<config_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<config_in, token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<config_in, sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<config_in, span_logits>},
    EncoderHead{"ForMultipleChoice", with_rotary<config_in, choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.tok_embeddings.weight", "decoder.weight"},
};

}  // namespace

Architecture modernbert() {
  return {.model_type = "modernbert",
          .class_name = "ModernBert",
          .prefix = "model.",
          .limits = read_limits,
          .entries = kEncodes<encode_rotary<config_in>>,
          .base = {"Model", with_rotary<config_in, hidden_state>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "ModernBERT-base, gte-modernbert-base, modernbert-embed-base",
          .also_read =
              "`global_rope_theta`, `local_rope_theta` and `global_attn_every_n_layers`, or `rope_parameters` and "
              "`layer_types`",
          .refused = "`classifier_pooling` other than `cls` and `mean`"};
}

}  // namespace alate::models
