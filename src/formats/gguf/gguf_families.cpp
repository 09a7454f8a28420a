// Names and changes: gguf-py/gguf/tensor_mapping.py and convert_hf_to_gguf.py of https://github.com/ggml-org/llama.cpp.
#include "formats/gguf/gguf_families.h"

#include <algorithm>
#include <array>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::formats {
namespace {

constexpr std::array kNames = {
    GgufName{"token_embd", "model.embed_tokens"},
    GgufName{"output_norm", "model.norm"},
    GgufName{"output", "lm_head"},
};
constexpr std::array kGemmaNames = {
    GgufName{"token_embd", "model.embed_tokens"},
    GgufName{"output_norm", "model.norm", GgufChange::adds_one},
    GgufName{"output", "lm_head"},
};

// ggml's "normal" rotary positions turn neighbours, where transformers turns halves of a head.
constexpr std::array kLlamaLayer = {
    GgufName{"attn_norm", "input_layernorm"},
    GgufName{"attn_q", "self_attn.q_proj", GgufChange::pairs_query_rows},
    GgufName{"attn_k", "self_attn.k_proj", GgufChange::pairs_key_rows},
    GgufName{"attn_v", "self_attn.v_proj"},
    GgufName{"attn_output", "self_attn.o_proj"},
    GgufName{"ffn_norm", "post_attention_layernorm"},
    GgufName{"ffn_gate", "mlp.gate_proj"},
    GgufName{"ffn_up", "mlp.up_proj"},
    GgufName{"ffn_down", "mlp.down_proj"},
};
constexpr std::array kQwenLayer = {
    GgufName{"attn_norm", "input_layernorm"},    GgufName{"attn_q", "self_attn.q_proj"},
    GgufName{"attn_q_norm", "self_attn.q_norm"}, GgufName{"attn_k", "self_attn.k_proj"},
    GgufName{"attn_k_norm", "self_attn.k_norm"}, GgufName{"attn_v", "self_attn.v_proj"},
    GgufName{"attn_output", "self_attn.o_proj"}, GgufName{"ffn_norm", "post_attention_layernorm"},
    GgufName{"ffn_gate", "mlp.gate_proj"},       GgufName{"ffn_up", "mlp.up_proj"},
    GgufName{"ffn_down", "mlp.down_proj"},
};
constexpr std::array kPhi3Layer = {
    GgufName{"attn_norm", "input_layernorm"},    GgufName{"attn_qkv", "self_attn.qkv_proj"},
    GgufName{"attn_output", "self_attn.o_proj"}, GgufName{"ffn_norm", "post_attention_layernorm"},
    GgufName{"ffn_up", "mlp.gate_up_proj"},      GgufName{"ffn_down", "mlp.down_proj"},
};
constexpr std::array kFirstGemmaLayer = {
    GgufName{"attn_norm", "input_layernorm", GgufChange::adds_one},
    GgufName{"attn_q", "self_attn.q_proj"},
    GgufName{"attn_k", "self_attn.k_proj"},
    GgufName{"attn_v", "self_attn.v_proj"},
    GgufName{"attn_output", "self_attn.o_proj"},
    GgufName{"ffn_norm", "post_attention_layernorm", GgufChange::adds_one},
    GgufName{"ffn_gate", "mlp.gate_proj"},
    GgufName{"ffn_up", "mlp.up_proj"},
    GgufName{"ffn_down", "mlp.down_proj"},
};
constexpr std::array kGemmaLayer = {
    GgufName{"attn_norm", "input_layernorm", GgufChange::adds_one},
    GgufName{"attn_q", "self_attn.q_proj"},
    GgufName{"attn_q_norm", "self_attn.q_norm", GgufChange::adds_one},
    GgufName{"attn_k", "self_attn.k_proj"},
    GgufName{"attn_k_norm", "self_attn.k_norm", GgufChange::adds_one},
    GgufName{"attn_v", "self_attn.v_proj"},
    GgufName{"attn_output", "self_attn.o_proj"},
    GgufName{"post_attention_norm", "post_attention_layernorm", GgufChange::adds_one},
    GgufName{"ffn_norm", "pre_feedforward_layernorm", GgufChange::adds_one},
    GgufName{"ffn_gate", "mlp.gate_proj"},
    GgufName{"ffn_up", "mlp.up_proj"},
    GgufName{"ffn_down", "mlp.down_proj"},
    GgufName{"post_ffw_norm", "post_feedforward_layernorm", GgufChange::adds_one},
};

constexpr std::array<std::string_view, 4> kGraniteSettings = {"embedding_scale", "residual_scale", "logit_scale",
                                                              "attention.scale"};
constexpr std::array<std::string_view, 1> kGemma2Settings = {"attn_logit_softcapping"};
constexpr std::array<std::string_view, 1> kMistral3Settings = {"attention.temperature_scale"};
constexpr std::array<std::string_view, 1> kPhi3Settings = {"rope.dimension_count"};

// The converter calls Mistral's models llama too, and the text part of those that see images mistral3.
constexpr std::array kFamilies = {
    GgufFamily{"llama", "llama", "Llama", kNames, kLlamaLayer},
    GgufFamily{"mistral3", "ministral3", "Ministral3", kNames, kLlamaLayer, 0, kMistral3Settings},
    GgufFamily{"qwen2", "qwen2", "Qwen2", kNames, kQwenLayer},
    GgufFamily{"qwen3", "qwen3", "Qwen3", kNames, kQwenLayer},
    GgufFamily{"phi3", "phi3", "Phi3", kNames, kPhi3Layer, 0, kPhi3Settings},
    GgufFamily{"smollm3", "smollm3", "SmolLM3", kNames, kLlamaLayer},
    GgufFamily{"granite", "granite", "Granite", kNames, kLlamaLayer, 0, kGraniteSettings},
    GgufFamily{"gemma", "gemma", "Gemma", kGemmaNames, kFirstGemmaLayer},
    GgufFamily{"gemma2", "gemma2", "Gemma2", kGemmaNames, kGemmaLayer, 2, kGemma2Settings},
    GgufFamily{"gemma3", "gemma3_text", "Gemma3", kGemmaNames, kGemmaLayer, 6},
};

constexpr std::string_view kLayers = "blk.";

bool is_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  return !text.empty() && text.size() <= kMostDigits && (text.size() == 1 || text.front() != '0') &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_of_rope(std::string_view gguf_name) {
  return gguf_name == kGgufRopeFactors || gguf_name == kGgufShortFactors || gguf_name == kGgufLongFactors;
}

std::vector<std::string_view> gguf_architectures() {
  std::vector<std::string_view> names;
  for (const GgufFamily& family : kFamilies) names.push_back(family.architecture);
  return names;
}

const GgufFamily& find_gguf_family(const GgufModel& model) {
  const std::string architecture = model.get_text("general.architecture", "");
  if (architecture.empty())
    throw make_error(ErrorCode::corrupt, model.path(), " has no ", quoted_name("general.architecture"),
                     " among its metadata");
  const auto* found = std::ranges::find(kFamilies, architecture, &GgufFamily::architecture);
  if (found != kFamilies.end()) return *found;
  std::string known;
  for (const std::string_view name : gguf_architectures()) known += (known.empty() ? "" : ", ") + std::string(name);
  throw make_error(ErrorCode::unsupported, model.path(), " is of the architecture ", quoted_name(architecture),
                   "; those that are read from GGUF are ", known,
                   "; use the folder of the model with safetensors if `alate help models` lists it: ", architecture);
}

GgufMeaning meaning_of(const GgufFamily& family, std::string_view gguf_name) {
  const std::size_t dot = gguf_name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view ending = gguf_name.substr(dot);
  if (ending != ".weight" && ending != ".bias") return {};
  std::string_view stem = gguf_name.substr(0, dot);
  std::string before;
  std::span<const GgufName> names = family.names;
  if (stem.starts_with(kLayers)) {
    stem.remove_prefix(kLayers.size());
    const std::string_view number = stem.substr(0, stem.find('.'));
    if (!is_number(number) || number.size() == stem.size()) return {};
    stem.remove_prefix(number.size() + 1);
    before = "model.layers." + std::string(number) + ".";
    names = family.layer_names;
  }
  const auto found = std::ranges::find(names, stem, &GgufName::gguf);
  if (found == names.end()) return {};
  return {.name = before + std::string(found->transformers) + std::string(ending), .change = found->change};
}

}  // namespace alate::formats
