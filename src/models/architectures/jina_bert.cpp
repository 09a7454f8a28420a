// JinaBERT (Günther et al. 2023, arXiv:2310.19923): BERT without a table of positions, whose scores of attention fall
// with the distance, and with gated feed-forward layers. Names and defaults are those of the code that comes with
// jina-embeddings-v2 (jinaai/jina-bert-implementation), and with its models for code, which have norms of queries, keys
// and of the attention's output beside (jinaai/jina-bert-v2-qk-post-norm).
#include <array>
#include <string>

#include "alate/error.h"
#include "models/blocks/rotary_bert.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

constexpr RotaryNames kNames = {.words = "embeddings.word_embeddings",
                                .types = "embeddings.token_type_embeddings",
                                .embedding_norm = "embeddings.LayerNorm",
                                .layer = "encoder.layer.",
                                .query = "attention.self.query",
                                .key = "attention.self.key",
                                .value = "attention.self.value",
                                .attention_output = "attention.output.dense",
                                .gate = {},
                                .up = "intermediate.dense",
                                .down = "output.dense",
                                .before_attention = {},
                                .after_attention = "attention.output.LayerNorm",
                                .before_feed_forward = {},
                                .after_feed_forward = "output.LayerNorm",
                                .final_norm = {}};

bool is_jina_bert(const Json& json) { return json.get_string("position_embedding_type", "absolute") == "alibi"; }

// The activation of a gated layer, or of a plain one.
std::string activation_of(const Json& json) {
  const std::string type = json.get_string("feed_forward_type", "original");
  if (type == "geglu") return "gelu";
  if (type == "reglu") return "relu";
  if (!type.ends_with("glu")) return json.get_string("hidden_act", "gelu");
  throw make_error(ErrorCode::unsupported, "config.json: feed_forward_type '", type,
                   "' is not built here, only original, geglu and reglu: ", type);
}

RotaryConfig config_of(const Json& json) {
  if (json.get_bool("is_decoder", false))
    throw make_error(ErrorCode::unsupported,
                     "config.json: a JinaBERT with is_decoder is not built here, only encoders: is_decoder");
  RotaryConfig config = as_rotary_bert(read_rotary_config(json, {.family = "JinaBERT",
                                                                 .vocabulary = 30522,
                                                                 .hidden = 768,
                                                                 .layers = 12,
                                                                 .heads = 12,
                                                                 .intermediate = 3072,
                                                                 .positions = 512,
                                                                 .epsilon_key = "layer_norm_eps",
                                                                 .epsilon = 1e-12,
                                                                 .is_rotary = false}),
                                       json, 2);
  config.names = kNames;
  config.activation = activation_of(json);
  return config;
}

// The names of weights tell the two kinds apart.
RotaryConfig config_in(EncoderScope& scope) {
  RotaryConfig config = config_of(scope.config);
  RotaryNames& names = config.names;
  const bool is_gated = scope.config.get_string("feed_forward_type", "original").ends_with("glu");
  if (scope.weights.has("encoder.layer.0.layer_norm_1.weight")) {
    config.norms_all_heads = true;
    names.query_norm = "attention.self.layer_norm_q";
    names.key_norm = "attention.self.layer_norm_k";
    names.attention_norm = "attention.output.LayerNorm";
    names.after_attention = "layer_norm_1";
    names.after_feed_forward = "layer_norm_2";
    names.up = "mlp.up_layer";
    names.down = "mlp.down_layer";
    if (is_gated) names.up_gate = "mlp.up_gated_layer";
  } else if (is_gated) {
    names.gate_up = "mlp.gated_layers";
    names.down = "mlp.wo";
    names.after_feed_forward = "mlp.layernorm";
  }
  return config;
}

EncoderLimits read_limits(const Json& json) { return distance_limits(config_of(json)); }
Value encode_batch(EncoderScope& scope) { return encode_by_alibi(scope, config_in(scope)); }

Value language_logits(RotaryEncoder& encoder, Value x) {
  return transformed_logits(encoder, x, "cls.predictions.transform",
                            encoder.scope().config.get_string("hidden_act", "gelu"), "cls.predictions.decoder",
                            "cls.predictions.bias");
}

Value sentence_logits(RotaryEncoder& encoder, Value x) {
  return encoder.head_layer("cls.seq_relationship", pooled_first_tokens(encoder, x), encoder.config().hidden, 2);
}

EncoderOutputs masked_language(RotaryEncoder& encoder, Value x) { return {{"logits", language_logits(encoder, x)}}; }
EncoderOutputs next_sentence(RotaryEncoder& encoder, Value x) { return {{"logits", sentence_logits(encoder, x)}}; }
EncoderOutputs pre_training(RotaryEncoder& encoder, Value x) {
  return {{"prediction_logits", language_logits(encoder, x)}, {"seq_relationship_logits", sentence_logits(encoder, x)}};
}

EncoderOutputs choice_logits(RotaryEncoder& encoder, Value x) {
  const Value pooled = pooled_first_tokens(encoder, x);
  return {{"logits", encoder.head_layer("classifier", pooled, encoder.config().hidden, 1)}};
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<config_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<config_in, rotary_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<config_in, rotary_pooled_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<config_in, rotary_span_logits>},
    EncoderHead{"ForMultipleChoice", with_rotary<config_in, choice_logits>, true},
    EncoderHead{"ForNextSentencePrediction", with_rotary<config_in, next_sentence>},
    EncoderHead{"ForPreTraining", with_rotary<config_in, pre_training>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
};

}  // namespace

Architecture jina_bert() {
  return {.model_type = "bert",
          .class_name = "JinaBert",
          .prefix = "bert.",
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"Model", with_rotary<config_in, rotary_base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "jina-embeddings-v2-base-en, jina-embeddings-v2-base-code, jina-reranker-v1-turbo-en",
          .also_read = "norms of queries and keys, where the weights have them",
          .refused = "`feed_forward_type` other than `original`, `geglu` and `reglu`, `is_decoder`",
          .own_code = "modeling_bert.JinaBert",
          .is_variant = is_jina_bert,
          .variant = "`position_embedding_type` `alibi`"};
}

}  // namespace alate::models
