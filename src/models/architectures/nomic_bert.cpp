// Nomic's BERT with rotary positions and norms after each residual (Nussbaum et al. 2024, arXiv:2402.01613). Names and
// defaults are those of transformers' NomicBertModel, and those of the code that came before.
#include <algorithm>
#include <array>
#include <cstdint>
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

constexpr std::int64_t kMostExperts = 256;

RotaryNames with_first_names(RotaryNames names, std::string_view layer, bool is_gated) {
  names.layer = layer;
  names.query_key_value = "attn.Wqkv";
  names.attention_output = "attn.out_proj";
  names.gate = is_gated ? "mlp.fc12" : "";
  names.up = is_gated ? "mlp.fc11" : "mlp.fc1";
  names.down = "mlp.fc2";
  names.embedding_norm = "emb_ln";
  names.after_attention = "norm1";
  names.after_feed_forward = "norm2";
  return names;
}

bool has_experts(const Json& config) {
  return config.get_int("num_experts", 0) > 0 && config.get_int("moe_every_n_layers", 0) > 0;
}

// Every n-th layer, beginning with the second.
void add_experts(const Json& config, RotaryConfig& read) {
  if (!has_experts(config)) return;
  const ExpertSizes experts{.count = config.get_int("num_experts", 0),
                            .taken = config.get_int("moe_top_k", 1),
                            .hidden = read.hidden,
                            .intermediate = read.intermediate};
  const auto every = static_cast<std::size_t>(config.get_int("moe_every_n_layers", 0));
  if (experts.count > kMostExperts || experts.taken < 1 || experts.taken > experts.count || every < 2)
    throw make_error(ErrorCode::corrupt, "config.json: ", experts.count, " experts of which ", experts.taken,
                     " are taken in every ", every, " layers are not possible");
  for (std::size_t i = 1; i < read.layers.size(); i += every) read.layers[i].experts = experts;
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
  if (has_experts(config)) {
    if (config.get_bool("expert_choice_router", false)) refuse("expert_choice_router");
    if (config.get_bool("moe_normalize_expert_weights", false)) refuse("moe_normalize_expert_weights");
    if (config.get_int("num_shared_experts", 0) > 0) refuse("num_shared_experts");
    if (config.get_int("ffn_div", 1) != 1) refuse("ffn_div");
  }
  std::int64_t positions = config.get_int("n_positions", 2048);
  // With a factor, the angles of longer texts depend on their lengths.
  const Json* factor = config.find("rotary_scaling_factor");
  if (factor != nullptr && !factor->is_null())
    positions = std::min(positions, config.get_int("max_trained_positions", 2048));
  const std::string activation = config.get_string("activation_function", "swiglu");
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
                     : activation == "glu"   ? "sigmoid"
                                             : activation},
      {"type_vocab_size", config.get_int("type_vocab_size", 2)},
      {"rope_theta", config.get_double("rotary_emb_base", 1000)},
  };
}

RotaryConfig nomic_config(const Json& given) {
  const Json json = in_todays_spelling(given);
  RotaryConfig config = as_rotary_bert(read_rotary_config(json, {.family = "nomic_bert",
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
  add_experts(given, config);
  return config;
}

// Whether the layers of the first spelling have a gate.
bool is_gated(const Json& config) {
  const std::string activation = config.get_string("activation_function", "swiglu");
  return activation == "swiglu" || activation == "geglu" || activation == "glu";
}

RotaryConfig nomic_in(EncoderScope& scope) {
  RotaryConfig config = nomic_config(scope.config);
  if (scope.weights.has("encoder.layers.0.attn.Wqkv.weight"))
    config.names = with_first_names(config.names, "encoder.layers.", is_gated(scope.config));
  return config;
}

EncoderLimits read_limits(const Json& json) { return rotary_limits(nomic_config(json)); }

EncoderOutputs masked_language(RotaryEncoder& encoder, Value x) {
  return {{"logits", transformed_logits(encoder, x, "cls.predictions.transform", encoder.config().activation,
                                        "cls.predictions.decoder", "cls.predictions.bias")}};
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<nomic_in, masked_language>},
    EncoderHead{"ForTokenClassification", with_rotary<nomic_in, rotary_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<nomic_in, rotary_pooled_logits>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
};

}  // namespace

Architecture nomic_bert() {
  return {
      .model_type = "nomic_bert",
      .class_name = "NomicBert",
      .prefix = "nomic_bert.",
      .limits = read_limits,
      .entries = kEncodes<encode_rotary<nomic_in>>,
      .base = {"Model", with_rotary<nomic_in, rotary_base_outputs>},
      .heads = kHeads,
      .tied = kTied,
      .examples = "nomic-embed-text-v1.5, nomic-embed-text-v2-moe",
      .also_read =
          "the config.json of its own code (`n_embd`) and that code's weights (`attn.Wqkv`), with layers of "
          "experts (`num_experts`), which all compute in float32",
      .refused =
          "of its own code: `prenorm`, `use_rms_norm`, `rotary_emb_fraction` other than 1, `rotary_emb_interleaved`, "
          "`expert_choice_router`, `moe_normalize_expert_weights`, `num_shared_experts`, `ffn_div` other than 1",
      .own_code = "modeling_hf_nomic_bert.NomicBert"};
}

}  // namespace alate::models
