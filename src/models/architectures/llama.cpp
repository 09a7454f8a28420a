// Llama (Touvron et al. 2023, arXiv:2302.13971) and its descendants, as embedders and classifiers over whole texts:
// Mistral, Qwen2, Qwen3, and EuroBERT (Boizard et al. 2025, arXiv:2503.05500), which is not causal. Names and defaults
// are those of transformers.
#include <array>
#include <utility>

#include "alate/error.h"
#include "models/blocks/decoder.h"
#include "models/blocks/mistral_config.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

// Qwen's layers from a number on see a window, where config.json asks for it.
bool is_after_full_layers(const Json& json, std::size_t i) {
  return static_cast<std::int64_t>(i) >= json.get_int("max_window_layers", 28);
}

RotaryConfig with_qwen_windows(RotaryConfig config, const Json& json) {
  constexpr std::int64_t kWindow = 4096;
  const bool has_size = json.find("sliding_window") == nullptr || json.find_value("sliding_window") != nullptr;
  if (has_size && json.get_bool("use_sliding_window", false)) read_windows(json, kWindow, is_after_full_layers, config);
  return config;
}

// The code that comes with gte-Qwen2 and its descendants attends both ways.
bool is_qwen2_both_ways(const Json& json) {
  const Json* code = json.find("auto_map");
  return code != nullptr && code->is_object() &&
         code->get_string("AutoModel", "").ends_with("modeling_qwen.Qwen2Model");
}

// Causal unless config.json says otherwise, as transformers reads its `is_causal`.
RotaryConfig causal(RotaryConfig config, const Json& json, bool otherwise = true) {
  config.is_causal = json.get_bool("is_causal", otherwise);
  return config;
}

RotaryConfig llama_config(const Json& json) { return causal(read_rotary_config(json, {.family = "Llama"}), json); }

RotaryConfig qwen2_config(const Json& json) {
  const RotaryConfig config = read_rotary_config(
      json, {.family = "Qwen2", .vocabulary = 151936, .kv_heads = 32, .intermediate = 22016, .positions = 32768});
  return with_qwen_windows(causal(config, json, !is_qwen2_both_ways(json)), json);
}

RotaryConfig qwen3_config(const Json& json) {
  RotaryConfig config = causal(read_rotary_config(json, {.family = "Qwen3",
                                                         .vocabulary = 151936,
                                                         .kv_heads = 32,
                                                         .intermediate = 22016,
                                                         .positions = 32768,
                                                         .head_size = 128}),
                               json);
  config.names.query_norm = "self_attn.q_norm";
  config.names.key_norm = "self_attn.k_norm";
  return with_qwen_windows(std::move(config), json);
}

RotaryConfig eurobert_config(const Json& json) {
  return read_rotary_config(json, {.family = "EuroBERT",
                                   .vocabulary = 128256,
                                   .hidden = 768,
                                   .layers = 12,
                                   .heads = 12,
                                   .intermediate = 3072,
                                   .positions = 8192,
                                   .epsilon = 1e-5});
}

EncoderOutputs token_logits(RotaryEncoder& encoder, Value x) { return {{"logits", encoder.projection("score", x)}}; }

EncoderOutputs sequence_logits(RotaryEncoder& encoder, Value x) {
  const Json* padding = encoder.scope().config.find("pad_token_id");
  const std::int64_t id = padding == nullptr || padding->is_null() ? -1 : padding->as_int("pad_token_id");
  return {{"logits", encoder.projection("score", encoder.last_tokens(x, id))}};
}

EncoderOutputs answer_spans(RotaryEncoder& encoder, Value x) { return encoder.span_logits("qa_outputs", x); }

EncoderOutputs eurobert_tokens(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", x)}};
}

EncoderOutputs eurobert_sequence(RotaryEncoder& encoder, Value x) {
  EncoderScope& scope = encoder.scope();
  const std::int64_t hidden = encoder.config().hidden;
  const std::string pooling = scope.config.get_string("classifier_pooling", "late");
  const auto inner = [&](Value of) {
    return activate(scope.b, "gelu", encoder.head_layer("dense", of, hidden, hidden));
  };
  if (pooling == "late") return {{"logits", encoder.mean_of_tokens(encoder.projection("classifier", inner(x)))}};
  if (pooling != "bos" && pooling != "mean")
    throw make_error(ErrorCode::unsupported, "config.json: classifier_pooling '", pooling,
                     "' is not built here, only bos, mean and late: ", pooling);
  const Value pooled = pooling == "bos" ? encoder.first_tokens(x) : encoder.mean_of_tokens(x);
  return {{"logits", encoder.projection("classifier", inner(pooled))}};
}

// A vector of each token, of which those after the texts and after the query are compared.
EncoderOutputs ranking_vectors(RotaryEncoder& encoder, Value x) {
  EncoderScope& scope = encoder.scope();
  scope.b.set_source("projector");
  const std::int64_t inner = scope.weights.rows("projector.0.weight"), out = scope.weights.rows("projector.2.weight");
  const Value middle = activate(scope.b, "relu", encoder.head_layer("projector.0", x, encoder.config().hidden, inner));
  return {{"embeddings", encoder.head_layer("projector.2", middle, inner, out)}};
}

bool is_jina_ranking(const Json& json) {
  const Json* names = json.find("architectures");
  if (names == nullptr || !names->is_array() || names->as_array("architectures").empty()) return false;
  const Json& name = names->as_array("architectures")[0];
  return name.is_string() && name.as_string("architectures[0]") == "JinaForRanking";
}

template <RotaryConfig (*read)(const Json&)>
constexpr std::array kCausalHeads = {
    EncoderHead{kCausalHead, with_rotary<read_in_scope<read>, next_token_logits>},
    EncoderHead{"ForSequenceClassification", with_rotary<read_in_scope<read>, sequence_logits>},
    EncoderHead{"ForTokenClassification", with_rotary<read_in_scope<read>, token_logits>},
    EncoderHead{"ForQuestionAnswering", with_rotary<read_in_scope<read>, answer_spans>, false, "transformer."},
};
constexpr std::array kEuroBertHeads = {
    EncoderHead{"ForMaskedLM", with_rotary<read_in_scope<eurobert_config>, next_token_logits>},
    EncoderHead{"ForTokenClassification", with_rotary<read_in_scope<eurobert_config>, eurobert_tokens>},
    EncoderHead{"ForSequenceClassification", with_rotary<read_in_scope<eurobert_config>, eurobert_sequence>},
};
constexpr std::array kJinaHeads = {
    EncoderHead{"ForRanking", with_rotary<read_in_scope<qwen3_config>, ranking_vectors>}};

constexpr std::string_view kCausal = "`rope_theta` and `rope_scaling`, or `rope_parameters`; `is_causal` false";

template <RotaryConfig (*read)(const Json&)>
Architecture described(std::string_view model_type, std::string_view class_name, std::span<const EncoderHead> heads,
                       std::string_view examples) {
  Architecture row = decoder<read>(model_type, class_name, examples);
  row.heads = heads;
  row.also_read = kCausal;
  return row;
}

}  // namespace

Architecture llama() {
  return described<llama_config>("llama", "Llama", kCausalHeads<llama_config>, "Llama 3.2, SmolLM2");
}
Architecture mistral() {
  return described<read_mistral_config>("mistral", "Mistral", kCausalHeads<read_mistral_config>,
                                        "e5-mistral-7b-instruct, SFR-Embedding-Mistral");
}
Architecture qwen2() {
  Architecture row =
      described<qwen2_config>("qwen2", "Qwen2", kCausalHeads<qwen2_config>, "Qwen2.5, gte-Qwen2-1.5B-instruct");
  row.also_read =
      "`rope_theta` and `rope_scaling`, or `rope_parameters`; `is_causal` false, and gte-Qwen2's own code, which "
      "attends "
      "both ways";
  row.own_code = "modeling_qwen.Qwen2";
  return row;
}
Architecture qwen3() {
  return described<qwen3_config>("qwen3", "Qwen3", kCausalHeads<qwen3_config>, "Qwen3-Embedding-0.6B");
}
// jinaai/jina-reranker-v3 (Wang et al. 2025, arXiv:2509.25085): Qwen3 with a projector in place of its head.
Architecture jina_ranking() {
  Architecture row = described<qwen3_config>("qwen3", "Jina", kJinaHeads, "jina-reranker-v3");
  row.own_code = "modeling.JinaForRanking";
  row.is_variant = is_jina_ranking;
  row.variant = "the class `JinaForRanking`";
  return row;
}
Architecture eurobert() {
  Architecture row = described<eurobert_config>("eurobert", "EuroBert", kEuroBertHeads, "EuroBERT-210m");
  row.entries = kEncodes<encode_rotary<read_in_scope<eurobert_config>>>;  // it attends both ways
  row.also_read = "`rope_theta` and `rope_scaling`, or `rope_parameters`";
  row.refused = "`classifier_pooling` other than `bos`, `mean` and `late`";
  row.own_code = "modeling_eurobert.EuroBert";
  return row;
}

}  // namespace alate::models
