// Descendants of BERT with rotary positions and norms after each residual: Nomic's (Nussbaum et al. 2024,
// arXiv:2402.01613), gte's (Zhang et al. 2024, arXiv:2407.19669) and jina-embeddings-v3 (Sturua et al. 2024,
// arXiv:2409.10173). Names and defaults are those of transformers' NomicBertModel, GteModel and JinaEmbeddingsV3Model,
// and those of the code that came with the first two before.
#include <array>

#include "alate/error.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

// What all of them share in transformers.
constexpr RotaryNames kNames = {.words = "embeddings.word_embeddings",
                                .types = "embeddings.token_type_embeddings",
                                .embedding_norm = "embeddings.LayerNorm",
                                .before_attention = {},
                                .after_attention = "post_attention_layernorm",
                                .before_feed_forward = {},
                                .after_feed_forward = "post_mlp_layernorm",
                                .final_norm = {}};

RotaryNames with_first_names(RotaryNames names, std::string_view layer) {
  names.layer = layer;
  names.query_key_value = "attn.Wqkv";
  names.attention_output = "attn.out_proj";
  names.gate = "mlp.fc12";
  names.up = "mlp.fc11";
  names.down = "mlp.fc2";
  names.embedding_norm = "emb_ln";
  names.after_attention = "norm1";
  names.after_feed_forward = "norm2";
  return names;
}

RotaryConfig finished(RotaryConfig config, const Json& json, std::int64_t types) {
  config.norm = NormKind::layer;
  config.names = kNames;
  config.types = json.get_int("type_vocab_size", types);
  if (config.types < 0 || config.types > config.vocabulary)
    throw make_error(ErrorCode::corrupt, "config.json: type_vocab_size is ", config.types);
  return config;
}

// Nomic's first spelling of config.json, in today's.
Json in_todays_spelling(const Json& config) {
  if (config.find("n_embd") == nullptr) return config;
  const auto refuse = [](std::string_view key) {
    throw make_error(ErrorCode::unsupported, "config.json: a nomic_bert with this ", key, " is not built here: ", key);
  };
  if (config.get_double("rotary_emb_fraction", 0) != 1) refuse("rotary_emb_fraction");
  if (config.get_bool("rotary_emb_interleaved", false)) refuse("rotary_emb_interleaved");
  if (config.get_bool("prenorm", false)) refuse("prenorm");
  if (config.get_bool("use_rms_norm", false)) refuse("use_rms_norm");
  if (config.get_int("num_experts", 0) > 0) refuse("num_experts");
  std::int64_t positions = config.get_int("n_positions", 2048);
  // With a factor, the angles of longer texts depend on their lengths.
  const Json* factor = config.find("rotary_scaling_factor");
  if (factor != nullptr && !factor->is_null())
    positions = std::min(positions, config.get_int("max_trained_positions", 2048));
  const std::string activation = config.get_string("activation_function", "swiglu");
  const bool is_gated = activation == "swiglu" || activation == "geglu" || activation == "glu";
  if (!is_gated) refuse("activation_function");
  return Json::Object{
      {"vocab_size", config.get_int("vocab_size", 30528)},
      {"hidden_size", config.get_int("n_embd", 768)},
      {"num_hidden_layers", config.get_int("n_layer", 12)},
      {"num_attention_heads", config.get_int("n_head", 12)},
      {"intermediate_size", config.get_int("n_inner", 3072)},
      {"max_position_embeddings", positions},
      {"layer_norm_eps", config.get_double("layer_norm_epsilon", 1e-12)},
      {"hidden_act", activation == "swiglu"  ? "silu"
                     : activation == "geglu" ? "gelu"
                                             : "sigmoid"},
      {"type_vocab_size", config.get_int("type_vocab_size", 2)},
      {"rope_theta", config.get_double("rotary_emb_base", 1000)},
  };
}

RotaryConfig nomic_config(const Json& given) {
  const Json json = in_todays_spelling(given);
  return finished(read_rotary_config(json, {.family = "nomic_bert",
                                            .vocabulary = 30528,
                                            .hidden = 768,
                                            .layers = 12,
                                            .heads = 12,
                                            .intermediate = 3072,
                                            .positions = 2048,
                                            .epsilon_key = "layer_norm_eps",
                                            .epsilon = 1e-12,
                                            .rope = {.theta = 1000}}),
                  json, 2);
}

RotaryConfig nomic_in(EncoderScope& scope) {
  RotaryConfig config = nomic_config(scope.config);
  if (scope.weights.has("encoder.layers.0.attn.Wqkv.weight"))
    config.names = with_first_names(config.names, "encoder.layers.");
  return config;
}

RotaryConfig gte_config(const Json& json) {
  const bool is_first = json.get_string("model_type", "") == "new";
  if (is_first) {
    const std::string positions = json.get_string("position_embedding_type", "rope");
    if (positions != "rope")
      throw make_error(ErrorCode::unsupported, "config.json: position_embedding_type '", positions,
                       "' is not built here, only rope: ", positions);
    const std::string norm = json.get_string("layer_norm_type", "layer_norm");
    if (norm != "layer_norm")
      throw make_error(ErrorCode::unsupported, "config.json: layer_norm_type '", norm, "' is not built here: ", norm);
    if (json.get_bool("pack_qkv", true) != true || json.get_bool("logn_attention_scale", false))
      throw make_error(ErrorCode::unsupported,
                       "config.json: pack_qkv must be true and logn_attention_scale false: logn_attention_scale");
  }
  return finished(read_rotary_config(json, {.family = "gte",
                                            .vocabulary = is_first ? 30528 : 250048,
                                            .hidden = 768,
                                            .layers = 12,
                                            .heads = 12,
                                            .intermediate = 3072,
                                            .positions = is_first ? 2048 : 8192,
                                            .epsilon_key = "layer_norm_eps",
                                            .epsilon = 1e-12,
                                            .activation = "gelu",
                                            .rope = {.theta = is_first ? 10000.0 : 160000.0}}),
                  json, 1);
}

RotaryConfig gte_in(EncoderScope& scope) {
  RotaryConfig config = gte_config(scope.config);
  RotaryNames& names = config.names;
  if (scope.weights.has("encoder.layer.0.attention.qkv_proj.weight")) {
    names.layer = "encoder.layer.";
    names.query_key_value = "attention.qkv_proj";
    names.attention_output = "attention.o_proj";
    names.up_gate = "mlp.up_gate_proj";
    names.after_attention = "attn_ln";
    names.after_feed_forward = "mlp_ln";
  }
  return config;
}

RotaryConfig jina_config(const Json& json) {
  return finished(read_rotary_config(json, {.family = "jina_embeddings_v3",
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

Value pooled(RotaryEncoder& encoder, Value x) {
  graph::Builder& b = encoder.scope().b;
  const std::int64_t hidden = encoder.config().hidden;
  b.set_source("pooler");
  return b.tanh({encoder.head_layer("pooler.dense", encoder.first_tokens(x), hidden, hidden)});
}

EncoderOutputs base(RotaryEncoder& encoder, Value x) {
  EncoderOutputs outputs = hidden_state(encoder, x);
  if (encoder.scope().weights.has("pooler.dense.weight")) outputs.push_back({"pooler_output", pooled(encoder, x)});
  return outputs;
}

// The transform before the vocabulary, whose norm has one name or another.
EncoderOutputs language(RotaryEncoder& encoder, Value x, const std::string& name, std::string_view activation,
                        const std::string& decoder, const std::string& bias) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  scope.b.set_source(name);
  std::string norm = name + ".layer_norm";
  for (const char* other : {".norm", ".LayerNorm"}) {
    if (!scope.weights.has(norm + ".weight")) norm = name + other;
  }
  const Value inner =
      encoder.norm(norm, activate(scope.b, activation, encoder.head_layer(name + ".dense", x, hidden, hidden)), hidden);
  return {{"logits", encoder.vocabulary_logits(decoder, inner, bias)}};
}

EncoderOutputs nomic_masked_language(RotaryEncoder& encoder, Value x) {
  return language(encoder, x, "cls.predictions.transform", encoder.config().activation, "cls.predictions.decoder",
                  "cls.predictions.bias");
}

EncoderOutputs masked_language(RotaryEncoder& encoder, Value x) {
  return language(encoder, x, "lm_head", "gelu", "lm_head.decoder", "lm_head.bias");
}

EncoderOutputs token_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", x)}};
}

EncoderOutputs pooled_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", pooled(encoder, x))}};
}

// XLM-RoBERTa's: a layer of its own on the first token.
EncoderOutputs first_token_logits(RotaryEncoder& encoder, Value x) {
  graph::Builder& b = encoder.scope().b;
  const std::int64_t hidden = encoder.config().hidden;
  const Value inner = b.tanh({encoder.head_layer("classifier.dense", encoder.first_tokens(x), hidden, hidden)});
  return {{"logits", encoder.projection("classifier.out_proj", inner)}};
}

EncoderOutputs span_logits(RotaryEncoder& encoder, Value x) { return encoder.span_logits("qa_outputs", x); }

constexpr std::array kNomicHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<nomic_in, nomic_masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<nomic_in, token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<nomic_in, pooled_logits>},
};
constexpr std::array kGteHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<gte_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<gte_in, token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<gte_in, pooled_logits>},
};
constexpr std::array kJinaHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<jina_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<jina_in, token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<jina_in, first_token_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<jina_in, span_logits>},
};

template <RotaryConfig (*read)(const Json&)>
EncoderLimits limits(const Json& json) {
  return rotary_limits(read(json));
}

Architecture gte_named(std::string_view model_type, std::string_view class_name, std::string_view prefix,
                       std::string_view examples) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = prefix,
          .limits = limits<gte_config>,
          .encode = encode_rotary<gte_in>,
          .base = {"Model", with_rotary<gte_in, base>},
          .heads = kGteHeads,
          .examples = examples,
          .also_read = "the weights of its own code (`attention.qkv_proj`, `mlp.up_gate_proj`)"};
}

}  // namespace

Architecture nomic_bert() {
  return {.model_type = "nomic_bert",
          .class_name = "NomicBert",
          .prefix = "nomic_bert.",
          .limits = limits<nomic_config>,
          .encode = encode_rotary<nomic_in>,
          .base = {"Model", with_rotary<nomic_in, base>},
          .heads = kNomicHeads,
          .examples = "nomic-embed-text-v1.5",
          .also_read = "the config.json of its own code (`n_embd`) and that code's weights (`attn.Wqkv`)",
          .refused =
              "of its own code: `num_experts`, `prenorm`, `use_rms_norm`, `rotary_emb_fraction` other than 1, "
              "`rotary_emb_interleaved`, an `activation_function` without a gate",
          .own_code = "modeling_hf_nomic_bert.NomicBert"};
}

Architecture gte() {
  Architecture row = gte_named("gte", "Gte", "gte.", "gte-multilingual-base in transformers' format");
  row.own_code = "modeling_hf_alibaba_nlp_gte.Gte";
  return row;
}

Architecture gte_new() {
  Architecture row = gte_named("new", "New", "new.", "gte-multilingual-base, gte-base-en-v1.5");
  row.refused =
      "`position_embedding_type` other than `rope`, `layer_norm_type` other than `layer_norm`, `pack_qkv` false, "
      "`logn_attention_scale`";
  row.own_code = "modeling.New";
  return row;
}

Architecture jina_embeddings_v3() {
  return {.model_type = "jina_embeddings_v3",
          .class_name = "JinaEmbeddingsV3",
          .prefix = "roberta.",
          .limits = limits<jina_config>,
          .encode = encode_rotary<jina_in>,
          .base = {"Model", with_rotary<jina_in, base>},
          .heads = kJinaHeads,
          .examples = "jina-embeddings-v3-hf",
          .refused = "jinaai/jina-embeddings-v3 itself, whose code of its own has the `model_type` `xlm-roberta`"};
}

}  // namespace alate::models
