// XLM-RoBERTa with rotary positions, in transformers' spelling and in that of its own code (Sturua et al. 2024,
// arXiv:2409.10173). Names and defaults are those of transformers' JinaEmbeddingsV3Model.
#include <array>
#include <string>

#include "alate/error.h"
#include "models/blocks/rotary_bert.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;

constexpr RotaryDefaults kDefaults = {.family = "jina_embeddings_v3",
                                      .vocabulary = 250002,
                                      .hidden = 1024,
                                      .layers = 24,
                                      .heads = 16,
                                      .intermediate = 4096,
                                      .positions = 8194,
                                      .epsilon_key = "layer_norm_eps",
                                      .epsilon = 1e-5,
                                      .activation = "gelu",
                                      .rope = {.theta = 20000}};

RotaryConfig jina_config(const Json& json) { return as_rotary_bert(read_rotary_config(json, kDefaults), json, 1); }

RotaryNames with_plain_layers(RotaryNames names) {
  names.gate = {};
  names.up = "mlp.fc1";
  names.down = "mlp.fc2";
  return names;
}

// Jina's own code's names of weights.
RotaryNames with_code_names(RotaryNames names) {
  names = with_plain_layers(names);
  names.embedding_norm = "emb_ln";
  names.layer = "encoder.layers.";
  names.query_key_value = "mixer.Wqkv";
  names.attention_output = "mixer.out_proj";
  names.after_attention = "norm1";
  names.after_feed_forward = "norm2";
  return names;
}

// transformers writes files with the names of Jina's code.
RotaryConfig jina_in(EncoderScope& scope) {
  RotaryConfig config = jina_config(scope.config);
  const bool has_code_names = scope.weights.has("emb_ln.weight");
  config.names = has_code_names ? with_code_names(config.names) : with_plain_layers(config.names);
  return config;
}

EncoderLimits read_limits(const Json& json) { return rotary_limits(jina_config(json)); }

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<jina_in, rotary_lm_head_logits>},
    EncoderHead{"ForTokenClassification", with_rotary<jina_in, rotary_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<jina_in, rotary_first_token_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<jina_in, rotary_span_logits>},
};

// The same of Jina's own code, from which jina-embeddings-v3 and jina-reranker-v2 come; the latter has a table of
// positions as RoBERTa has. Sources: jinaai/xlm-roberta-flash-implementation.
bool is_of_code(const Json& json) {
  const Json* codes = json.find("auto_map");
  if (codes == nullptr || !codes->is_object()) return false;
  const std::string config = codes->get_string("AutoConfig", "");
  return config.ends_with(".XLMRobertaFlashConfig");
}

RotaryConfig code_config(const Json& json) {
  const std::string positions = json.get_string("position_embedding_type", "rotary");
  if (positions != "rotary" && positions != "absolute")
    throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", positions,
                     "' is not built here: ", positions);
  const bool is_rotary = positions == "rotary";
  RotaryDefaults defaults = kDefaults;
  defaults.family = "XLM-RoBERTa";
  defaults.rope = {.theta_key = "rotary_emb_base", .theta = 10000};
  defaults.is_rotary = is_rotary;
  RotaryConfig config = as_rotary_bert(read_rotary_config(json, defaults), json, 1);
  config.names = with_code_names(config.names);
  if (!is_rotary) config.names.positions = "embeddings.position_embeddings";
  return config;
}

RotaryConfig code_in(EncoderScope& scope) { return code_config(scope.config); }

EncoderLimits code_limits(const Json& json) {
  const RotaryConfig config = code_config(json);
  const EncoderLimits limits = rotary_limits(config);
  return config.ropes.empty() ? counted_past_padding(limits, json) : limits;
}

constexpr std::array kCodeHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<code_in, rotary_lm_head_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<code_in, rotary_first_token_logits>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
};

}  // namespace

Architecture jina_embeddings_v3() {
  return {.model_type = "jina_embeddings_v3",
          .class_name = "JinaEmbeddingsV3",
          .prefix = "roberta.",
          .limits = read_limits,
          .entries = kEncodes<encode_rotary<jina_in>>,
          .base = {"Model", with_rotary<jina_in, rotary_base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "jina-embeddings-v3-hf",
          .also_read =
              "the names of weights of Jina's own code (`mixer.Wqkv`); adapters of peft in folders beside its files, "
              "which `--task` names"};
}

Architecture jina_xlm_roberta() {
  return {.model_type = "xlm-roberta",
          .class_name = "XLMRoberta",
          .prefix = "roberta.",
          .limits = code_limits,
          .entries = kEncodes<encode_rotary<code_in>>,
          .base = {"Model", with_rotary<code_in, rotary_base_outputs>},
          .heads = kCodeHeads,
          .tied = kTied,
          .examples = "jina-embeddings-v3, jina-reranker-v2-base-multilingual",
          .also_read = "adapters beside the matrices (`lora_adaptations`), which `--task` names",
          .own_code = "XLMRoberta",
          .is_variant = is_of_code,
          .variant = "Jina's own code (`XLMRobertaFlashConfig`)"};
}

}  // namespace alate::models
