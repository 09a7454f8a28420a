// The GGUF file that llama.cpp's converter makes of a model in safetensors, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/tensor.h"
#include "formats/gguf/gguf_types.h"
#include "formats/json.h"
#include "formats/named_tensor.h"
#include "tests/unit/formats/gguf_bytes.h"

namespace alate::formats {

/// A weight as it is stored, in transformers' order of rows.
struct StoredWeight {
  std::string name;  // transformers'
  std::vector<std::int64_t> dims;
  std::string_view type;  // "q4_K"
  std::string bytes;
};

inline std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.byte_count()};
}

/// In f32.
inline std::vector<StoredWeight> stored_plain(const std::vector<NamedTensor>& tensors) {
  std::vector<StoredWeight> stored;
  for (const NamedTensor& each : tensors) {
    std::vector<std::int64_t> dims;
    for (const Dim dim : each.tensor.shape().dims) dims.push_back(dim.number());
    stored.push_back({each.name, std::move(dims), "f32", bytes_of(each.tensor)});
  }
  return stored;
}

class GgufOfModel {
 public:
  GgufOfModel(const Json& config, std::vector<StoredWeight> weights)
      : config_(config), type_(config.get_string("model_type", "")), weights_(std::move(weights)) {
    architecture_ = type_ == "gemma3_text"  ? "gemma3"
                    : type_ == "mistral"    ? "llama"
                    : type_ == "ministral3" ? "mistral3"
                                            : type_;
  }

  /// Adds what tests change or break.
  GgufBytes header() const {
    GgufBytes file;
    file.add_text("general.architecture", architecture_);
    const std::pair<const char*, const char*> counts[] = {{"embedding_length", "hidden_size"},
                                                          {"block_count", "num_hidden_layers"},
                                                          {"attention.head_count", "num_attention_heads"},
                                                          {"attention.head_count_kv", "num_key_value_heads"},
                                                          {"feed_forward_length", "intermediate_size"},
                                                          {"context_length", "max_position_embeddings"},
                                                          {"attention.key_length", "head_dim"},
                                                          {"attention.value_length", "head_dim"},
                                                          {"attention.sliding_window", "sliding_window"}};
    for (const auto& [key, name] : counts) {
      const Json* value = config_.find(name);
      if (value != nullptr && !value->is_null()) add_count(file, key, value->as_int(name));
    }
    add_float(file, "attention.layer_norm_rms_epsilon", config_.get_double("rms_norm_eps", 1e-6));
    return file;
  }

  /// What the converter writes of settings that only some of the families have. `weights` get factors of LongRoPE.
  void add_family(GgufBytes& file) {
    for (const auto& [key, name] :
         {std::pair{"embedding_scale", "embedding_multiplier"}, std::pair{"residual_scale", "residual_multiplier"},
          std::pair{"attention.scale", "attention_multiplier"}, std::pair{"logit_scale", "logits_scaling"},
          std::pair{"attn_logit_softcapping", "attn_logit_softcapping"},
          std::pair{"final_logit_softcapping", "final_logit_softcapping"}, std::pair{"rope.freq_base", "rope_theta"},
          std::pair{"rope.freq_base_swa", "rope_local_base_freq"}}) {
      if (config_.find_value(name) != nullptr) add_float(file, key, config_.get_double(name, 0));
    }
    if (config_.find_value("sliding_window_pattern") != nullptr)
      add_count(file, "attention.sliding_window_pattern", config_.get_int("sliding_window_pattern", 0));
    if (type_ == "phi3") add_phi3(file);
    for (const char* name : {"rope_scaling", "rope_parameters"}) {
      if (const Json* rope = config_.find_value(name)) add_rope(file, *rope);
    }
  }

  void add_count(GgufBytes& file, const std::string& key, std::int64_t value) const {
    file.add_u32(architecture_ + "." + key, static_cast<std::uint32_t>(value));
  }
  void add_float(GgufBytes& file, const std::string& key, double value) const {
    file.add(architecture_ + "." + key, GgufType::f32,
             GgufBytes::number(std::bit_cast<std::uint32_t>(static_cast<float>(value))));
  }

  /// The whole file, or the tensors from `begin` to `end`.
  std::string bytes(GgufBytes file, std::size_t begin = 0, std::size_t end = SIZE_MAX) const {
    std::string data;
    for (std::size_t i = begin; i < std::min(end, weights_.size()); ++i) {
      const StoredWeight& weight = weights_[i];
      data.resize((data.size() + 31) / 32 * 32, '\0');
      std::vector<std::uint64_t> dims(weight.dims.rbegin(), weight.dims.rend());
      file.tensor(name_of(weight.name), dims, find_ggml_type(weight.type)->number, data.size());
      data += converted(weight);
    }
    return file.bytes(data);
  }
  std::size_t size() const { return weights_.size(); }

 private:
  void add_phi3(GgufBytes& file) const {
    const std::int64_t width = config_.get_int("hidden_size", 0) / config_.get_int("num_attention_heads", 1);
    add_count(file, "rope.dimension_count",
              static_cast<std::int64_t>(static_cast<double>(width) * config_.get_double("partial_rotary_factor", 1)));
    if (config_.find_value("sliding_window") == nullptr) add_count(file, "attention.sliding_window", 0);
  }

  void add_rope(GgufBytes& file, const Json& rope) {
    const std::string kind = rope.get_string("rope_type", rope.get_string("type", "default"));
    if (config_.find_value("rope_theta") == nullptr)
      add_float(file, "rope.freq_base", rope.get_double("rope_theta", 10000));
    const std::int64_t context = config_.get_int("max_position_embeddings", 0),
                       original = config_.get_int("original_max_position_embeddings",
                                                  rope.get_int("original_max_position_embeddings", context));
    if (kind == "linear" || kind == "yarn") {
      file.add_text(architecture_ + ".rope.scaling.type", kind);
      add_float(file, "rope.scaling.factor", rope.get_double("factor", 1));
    }
    if (kind == "yarn" || kind == "su" || kind == "longrope")
      add_count(file, "rope.scaling.original_context_length", original);
    if (kind == "su" || kind == "longrope") {
      const double scale = static_cast<double>(context) / static_cast<double>(original);
      add_float(file, "rope.scaling.attn_factor",
                std::sqrt(1 + std::log(scale) / std::log(static_cast<double>(original))));
      for (const auto& [name, key] : {std::pair{"rope_factors_long.weight", "long_factor"},
                                      std::pair{"rope_factors_short.weight", "short_factor"}}) {
        std::string bytes;
        const Json::Array& factors = rope.find(key)->as_array(key);
        for (const Json& each : factors)
          append_little_endian(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(each.as_double(key))));
        weights_.push_back({name, {static_cast<std::int64_t>(factors.size())}, "f32", bytes});
      }
    }
    for (const auto& [key, name] :
         {std::pair{"rope.scaling.yarn_attn_factor", "attention_factor"},
          std::pair{"rope.scaling.yarn_beta_fast", "beta_fast"}, std::pair{"rope.scaling.yarn_beta_slow", "beta_slow"},
          std::pair{"rope.scaling.yarn_log_multiplier", "mscale_all_dim"},
          std::pair{"attention.temperature_scale", "llama_4_scaling_beta"}}) {
      if (rope.find_value(name) != nullptr) add_float(file, key, rope.get_double(name, 0));
    }
  }

  bool is_gemma() const { return architecture_.starts_with("gemma"); }

  std::string name_of(std::string name) const {
    if (name.starts_with("model.")) name = name.substr(6);
    const std::size_t dot = name.rfind('.');
    const std::string ending = name.substr(dot);
    std::string stem = name.substr(0, dot), before;
    if (stem.starts_with("layers.")) {
      const std::string number = stem.substr(7, stem.find('.', 7) - 7);
      before = "blk." + number + ".";
      stem = stem.substr(8 + number.size());
    }
    const bool has_four_norms = architecture_ == "gemma2" || architecture_ == "gemma3";
    const std::pair<std::string_view, std::string_view> names[] = {
        {"embed_tokens", "token_embd"},
        {"norm", "output_norm"},
        {"lm_head", "output"},
        {"input_layernorm", "attn_norm"},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"self_attn.qkv_proj", "attn_qkv"},
        {"mlp.gate_up_proj", "ffn_up"},
        {"self_attn.q_norm", "attn_q_norm"},
        {"self_attn.k_norm", "attn_k_norm"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"},
        {"post_attention_layernorm", has_four_norms ? "post_attention_norm" : "ffn_norm"},
        {"pre_feedforward_layernorm", "ffn_norm"},
        {"post_feedforward_layernorm", "post_ffw_norm"}};
    for (const auto& [there, here] : names) {
      if (stem == there) return before + std::string(here) + ending;
    }
    return name;
  }

  // The converter's permute, row by row: the first half of a head's rows go to its even rows, the second to the odd.
  std::string converted(const StoredWeight& weight) const {
    if (is_gemma() && weight.name.ends_with("norm.weight")) return with_one(weight.bytes);
    const bool is_query = weight.name.find(".q_proj.") != std::string::npos,
               is_key = weight.name.find(".k_proj.") != std::string::npos;
    const bool is_like_llama = architecture_ == "llama" || architecture_ == "mistral3" || architecture_ == "smollm3" ||
                               architecture_ == "granite";
    if (!is_like_llama || (!is_query && !is_key)) return weight.bytes;
    const auto heads =
        static_cast<std::size_t>(config_.get_int(is_query ? "num_attention_heads" : "num_key_value_heads", 0));
    const auto rows = static_cast<std::size_t>(weight.dims.front());
    const std::size_t width = weight.bytes.size() / rows, head = rows / heads;
    std::string moved(weight.bytes.size(), '\0');
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t in_head = row % head, half = head / 2;
      const std::size_t to = row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
      moved.replace(to * width, width, weight.bytes, row * width, width);
    }
    return moved;
  }

  static std::string with_one(const std::string& floats) {
    std::string added;
    for (std::size_t i = 0; i < floats.size(); i += sizeof(float)) {
      const auto bits =
          load_little_endian<std::uint32_t>(std::as_bytes(std::span(floats)).subspan(i, sizeof(std::uint32_t)));
      append_little_endian(added, std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 1.0F));
    }
    return added;
  }

  Json config_;
  std::string type_, architecture_;
  std::vector<StoredWeight> weights_;
};

}  // namespace alate::formats
