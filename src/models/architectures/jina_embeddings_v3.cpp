// XLM-RoBERTa with rotary positions (Sturua et al. 2024, arXiv:2409.10173). Names and defaults are those of
// transformers' JinaEmbeddingsV3Model.
#include <array>

#include "models/blocks/rotary_bert.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;

RotaryConfig jina_config(const Json& json) {
  return as_rotary_bert(read_rotary_config(json, {.family = "jina_embeddings_v3",
                                                  .vocabulary = 250002,
                                                  .hidden = 1024,
                                                  .layers = 24,
                                                  .heads = 16,
                                                  .intermediate = 4096,
                                                  .positions = 8194,
                                                  .epsilon_key = "layer_norm_eps",
                                                  .epsilon = 1e-5,
                                                  .activation = "gelu",
                                                  .rope = {.theta = 20000}}),
                        json, 1);
}

RotaryConfig jina_in(EncoderScope& scope) {
  RotaryConfig config = jina_config(scope.config);
  config.names.gate = {};
  config.names.up = "mlp.fc1";
  config.names.down = "mlp.fc2";
  return config;
}

EncoderLimits limits(const Json& json) { return rotary_limits(jina_config(json)); }

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<jina_in, rotary_lm_head_logits>},
    EncoderHead{"ForTokenClassification", with_rotary<jina_in, rotary_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<jina_in, rotary_first_token_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<jina_in, rotary_span_logits>},
};

}  // namespace

Architecture jina_embeddings_v3() {
  return {.model_type = "jina_embeddings_v3",
          .class_name = "JinaEmbeddingsV3",
          .prefix = "roberta.",
          .limits = limits,
          .encode = encode_rotary<jina_in>,
          .base = {"Model", with_rotary<jina_in, rotary_base_outputs>},
          .heads = kHeads,
          .examples = "jina-embeddings-v3-hf",
          .refused = "jinaai/jina-embeddings-v3 itself, whose code of its own has the `model_type` `xlm-roberta`"};
}

}  // namespace alate::models
