// gte's BERT with rotary positions and norms after each residual (Zhang et al. 2024, arXiv:2407.19669). Names and
// defaults are those of transformers' GteModel, and those of the code that came before, whose model_type is `new`.
#include <array>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "models/blocks/rotary_bert.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

// What tells of positions: in its own code's spelling a choice, in transformers' always rope.
std::string positions_of(const Json& json) {
  if (json.get_string("model_type", "") != "new") return "rope";
  const std::string kind = json.get_string("position_embedding_type", "rope");
  if (kind == "rope" || kind == "absolute" || kind == "alibi") return kind;
  throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", kind,
                   "' is not built here, only rope, absolute and alibi: ", kind);
}

void refuse_other_layers(const Json& json) {
  const std::string norm = json.get_string("layer_norm_type", "layer_norm");
  if (norm != "layer_norm")
    throw make_error(ErrorCode::unsupported, "config.json: layer_norm_type '", norm, "' is not built here: ", norm);
  if (json.get_bool("logn_attention_scale", false))
    throw make_error(ErrorCode::unsupported,
                     "config.json: logn_attention_scale is not built here: logn_attention_scale");
}

RotaryConfig gte_config(const Json& json) {
  const bool is_first = json.get_string("model_type", "") == "new";
  if (is_first) refuse_other_layers(json);
  const std::string positions = positions_of(json);
  RotaryConfig config = as_rotary_bert(read_rotary_config(json, {.family = "gte",
                                                                 .vocabulary = is_first ? 30528 : 250048,
                                                                 .hidden = 768,
                                                                 .layers = 12,
                                                                 .heads = 12,
                                                                 .intermediate = 3072,
                                                                 .positions = is_first ? 2048 : 8192,
                                                                 .epsilon_key = "layer_norm_eps",
                                                                 .epsilon = 1e-12,
                                                                 .activation = "gelu",
                                                                 .rope = {.theta = is_first ? 10000.0 : 160000.0},
                                                                 .is_rotary = positions == "rope"}),
                                       json, 1);
  if (positions == "absolute") config.names.positions = "embeddings.position_embeddings";
  return config;
}

RotaryConfig gte_in(EncoderScope& scope) {
  RotaryConfig config = gte_config(scope.config);
  RotaryNames& names = config.names;
  if (scope.weights.has("encoder.layer.0.mlp.up_gate_proj.weight")) {
    names.layer = "encoder.layer.";
    names.query = "attention.q_proj";
    names.key = "attention.k_proj";
    names.value = "attention.v_proj";
    if (scope.weights.has("encoder.layer.0.attention.qkv_proj.weight")) names.query_key_value = "attention.qkv_proj";
    names.attention_output = "attention.o_proj";
    names.up_gate = "mlp.up_gate_proj";
    names.after_attention = "attn_ln";
    names.after_feed_forward = "mlp_ln";
  }
  return config;
}

EncoderLimits read_limits(const Json& json) {
  const RotaryConfig config = gte_config(json);
  return positions_of(json) == "alibi" ? distance_limits(config) : rotary_limits(config);
}

Value encode_batch(EncoderScope& scope) {
  const RotaryConfig config = gte_in(scope);
  return positions_of(scope.config) == "alibi" ? encode_by_alibi(scope, config) : RotaryEncoder(scope, config).encode();
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<gte_in, rotary_lm_head_logits>},
    EncoderHead{"ForTokenClassification", with_rotary<gte_in, rotary_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<gte_in, rotary_pooled_logits>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
};

Architecture gte_named(std::string_view model_type, std::string_view class_name, std::string_view prefix,
                       std::string_view examples) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = prefix,
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"Model", with_rotary<gte_in, rotary_base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = examples,
          .also_read = "the weights of its own code (`attention.qkv_proj` or `attention.q_proj`, `mlp.up_gate_proj`)"};
}

}  // namespace

Architecture gte() {
  Architecture row = gte_named("gte", "Gte", "gte.", "gte-multilingual-base in transformers' format");
  row.own_code = "modeling_hf_alibaba_nlp_gte.Gte";
  return row;
}

Architecture gte_new() {
  Architecture row = gte_named("new", "New", "new.", "gte-multilingual-base, gte-base-en-v1.5");
  row.refused =
      "`position_embedding_type` other than `rope`, `absolute` and `alibi`, `layer_norm_type` other than `layer_norm`, "
      "`logn_attention_scale`";
  row.own_code = "modeling.New";
  return row;
}

}  // namespace alate::models
