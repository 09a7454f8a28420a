// Keys and their meaning: gguf-py/gguf/constants.py and src/llama-model.cpp of https://github.com/ggml-org/llama.cpp.
#include "formats/gguf/gguf_config.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "formats/gguf/gguf_families.h"
#include "formats/little_endian.h"

namespace alate::formats {
namespace {

// Beyond all models.
constexpr std::int64_t kMaxLayers = 4096, kMaxSize = std::int64_t{1} << 31;

class ConfigReader {
 public:
  explicit ConfigReader(const GgufModel& model)
      : model_(model), family_(find_gguf_family(model)), architecture_(family_.architecture) {}

  GgufHeads heads() const {
    const std::int64_t query = size("attention.head_count");
    const std::int64_t key = size("attention.head_count_kv", query);
    if (query % key != 0)
      refuse(architecture_ + ".attention.head_count is " + std::to_string(query) +
             ", not a multiple of its head_count_kv " + std::to_string(key));
    return {.query = query, .key = key};
  }

  Json read() {
    require_plain();
    add_sizes();
    add_windows();
    add("rope_theta", positive("rope.freq_base", 10000));
    if (std::optional<Json> scaling = rope_scaling()) add("rope_scaling", *std::move(scaling));
    add_tokens();
    add_family();
    add_pooling();
    return Json(std::move(members_));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw make_error(ErrorCode::corrupt, model_.path(), ": ", why);
  }
  [[noreturn]] void refuse_setting(const std::string& key, const std::string& what) const {
    throw make_error(ErrorCode::unsupported, model_.path(), ": ", key, " ", what, ", which is not built here: ", key);
  }

  std::string key(std::string_view end) const { return architecture_ + "." + std::string(end); }
  bool has(std::string_view end) const { return model_.find(key(end)) != nullptr; }
  void add(std::string name, Json value) { members_.emplace_back(std::move(name), std::move(value)); }

  std::int64_t in_range(std::string_view end, std::int64_t value) const {
    if (value < 1 || value > kMaxSize) refuse(key(end) + " is " + std::to_string(value) + ", which no model has");
    return value;
  }
  // Some families of models write one number for each layer.
  std::int64_t size(std::string_view end) const {
    const GgufValue* value = model_.find(key(end));
    if (value != nullptr && value->is_array()) refuse_setting(key(end), "differs by layer");
    return in_range(end, model_.require_int(key(end)));
  }
  std::int64_t size(std::string_view end, std::int64_t otherwise) const { return has(end) ? size(end) : otherwise; }

  double positive(std::string_view end, std::optional<double> otherwise = std::nullopt) const {
    const double value = otherwise ? model_.get_double(key(end), *otherwise) : model_.require_double(key(end));
    if (!std::isfinite(value) || value <= 0) refuse(key(end) + " must be a number above 0");
    return value;
  }

  bool reads(std::string_view setting) const {
    return std::ranges::find(family_.settings, setting) != family_.settings.end();
  }

  void require_plain() const {
    if (model_.get_int(key("expert_count"), 0) != 0) refuse_setting(key("expert_count"), "asks for layers of experts");
    for (const std::string_view end : {"attn_logit_softcapping", "logit_scale", "residual_scale", "embedding_scale",
                                       "attention.scale", "attention.clamp_kqv", "attention.temperature_scale"}) {
      if (!reads(end) && has(end) && model_.require_double(key(end)) != 0) refuse_setting(key(end), "is set");
    }
    if (const GgufValue* causal = model_.find(key("attention.causal")); causal != nullptr) {
      if (!causal->as_bool(key("attention.causal"))) refuse_setting(key("attention.causal"), "is false");
    }
  }

  void add_sizes() {
    const bool is_mistral = family_.architecture == "llama" && model_.get_int(key("attention.sliding_window"), 0) != 0;
    const std::string class_name = (is_mistral ? "Mistral" : std::string(family_.class_name)) + "ForCausalLM";
    add("architectures", Json::Array{Json(class_name)});
    add("model_type", is_mistral ? std::string_view("mistral") : family_.model_type);
    const std::int64_t hidden = size("embedding_length");
    layers_ = size("block_count");
    if (layers_ > kMaxLayers) refuse(key("block_count") + " is " + std::to_string(layers_) + ", which no model has");
    const GgufHeads heads = this->heads();
    if (!has("attention.key_length") && hidden % heads.query != 0)
      refuse(key("embedding_length") + " is " + std::to_string(hidden) + ", not a multiple of the " +
             std::to_string(heads.query) + " heads");
    head_size_ = size("attention.key_length", hidden / heads.query);
    if (size("attention.value_length", head_size_) != head_size_)
      refuse_setting(key("attention.value_length"), "differs from the length of keys");
    turned_ = size("rope.dimension_count", head_size_);
    if (turned_ > head_size_ || (turned_ != head_size_ && !reads("rope.dimension_count")))
      refuse_setting(key("rope.dimension_count"), "turns a part of a head");
    const GgufTensor* words = model_.find_tensor("token_embd.weight");
    if (words == nullptr || words->dims.size() != 2) refuse("it lacks the matrix token_embd.weight");
    add("vocab_size", in_range("vocab_size", words->dims.front()));
    add("hidden_size", hidden);
    add("num_hidden_layers", layers_);
    add("num_attention_heads", heads.query);
    add("num_key_value_heads", heads.key);
    add("head_dim", head_size_);
    add("intermediate_size", size("feed_forward_length"));
    add("max_position_embeddings", size("context_length"));
    add("rms_norm_eps", positive("attention.layer_norm_rms_epsilon"));
    add("tie_word_embeddings", model_.find_tensor("output.weight") == nullptr);
    hidden_ = hidden;
    heads_ = heads.query;
    is_mistral_ = is_mistral;
  }

  void add_windows() {
    const std::string_view end = "attention.sliding_window";
    const bool has_local_layers = family_.full_layers_every != 0;
    const bool has_windows = is_mistral_ || has_local_layers || family_.architecture == "phi3";
    if (!has_windows) return;
    // Files of Gemma 2 may lack the number, which is then the usual one.
    if (model_.get_int(key(end), family_.architecture == "gemma2" ? 1 : 0) == 0) {
      if (has_local_layers) add("layer_types", layer_types([](std::int64_t) { return false; }));
      return;
    }
    if (has(end)) add("sliding_window", size(end));
    if (has_local_layers) add_pattern();
  }

  template <typename IsLocal>
  Json::Array layer_types(const IsLocal& is_local) const {
    Json::Array types;
    for (std::int64_t i = 0; i < layers_; ++i) types.emplace_back(is_local(i) ? "sliding_attention" : "full_attention");
    return types;
  }

  // Unless the file says which layers see everything, it is one of so many.
  void add_pattern() {
    const std::string name = key("attention.sliding_window_pattern");
    const GgufValue* value = model_.find(name);
    if (value == nullptr || !value->is_array()) {
      const std::int64_t pattern = size("attention.sliding_window_pattern", family_.full_layers_every);
      return add("layer_types", layer_types([&](std::int64_t i) { return (i + 1) % pattern != 0; }));
    }
    const GgufArray list = value->as_array(name);
    if (list.element_type() != GgufType::boolean || list.size() < static_cast<std::size_t>(layers_))
      refuse(name + " is not a list with true or false for each layer");
    add("layer_types", layer_types([&](std::int64_t i) { return list.at(static_cast<std::size_t>(i)).as_bool(name); }));
  }

  std::optional<Json> rope_scaling() const {
    const std::string kind = model_.get_text(key("rope.scaling.type"), has("rope.scale_linear") ? "linear" : "none");
    std::optional<Json::Array> factors = rope_factors(kGgufRopeFactors), longs = rope_factors(kGgufLongFactors);
    if (longs) {
      if (factors || (kind != "none" && kind != "longrope"))
        refuse_setting(key("rope.scaling.type"), "stands beside factors of long texts");
      return longrope(*std::move(longs));
    }
    if (model_.get_double(key("rope.scaling.attn_factor"), 1) != 1)
      refuse_setting(key("rope.scaling.attn_factor"), "is not 1");
    if (factors && kind != "none") refuse_setting(key("rope.scaling.type"), "stands beside factors of frequencies");
    if (factors) return Json(Json::Object{{"rope_type", "factors"}, {"factors", *std::move(factors)}});
    if (kind == "none") return std::nullopt;
    if (kind != "linear" && kind != "yarn") refuse_setting(key("rope.scaling.type"), "is " + quoted_name(kind));
    const double factor = positive(has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear");
    if (kind == "linear") return Json(Json::Object{{"rope_type", "linear"}, {"factor", factor}});
    return yarn(factor);
  }

  Json yarn(double factor) const {
    Json::Object yarn = {{"rope_type", "yarn"}, {"factor", factor}};
    if (has("rope.scaling.original_context_length"))
      yarn.emplace_back("original_max_position_embeddings", size("rope.scaling.original_context_length"));
    for (const auto& [end, name] :
         {std::pair{"rope.scaling.yarn_beta_fast", "beta_fast"}, std::pair{"rope.scaling.yarn_beta_slow", "beta_slow"},
          std::pair{"rope.scaling.yarn_attn_factor", "attention_factor"}}) {
      if (has(end)) yarn.emplace_back(name, positive(end));
    }
    if (model_.get_double(key("rope.scaling.yarn_ext_factor"), 1) != 1)
      refuse_setting(key("rope.scaling.yarn_ext_factor"), "is not 1");
    // The converter writes one of the two numbers; llama.cpp takes the other for 1.
    if (model_.get_double(key("rope.scaling.yarn_log_multiplier"), 0) != 0) {
      yarn.emplace_back("mscale", 1.0);
      yarn.emplace_back("mscale_all_dim", positive("rope.scaling.yarn_log_multiplier"));
    }
    return yarn;
  }

  Json longrope(Json::Array longs) const {
    std::optional<Json::Array> shorts = rope_factors(kGgufShortFactors);
    if (!shorts) refuse("it has " + std::string(kGgufLongFactors) + " and lacks " + std::string(kGgufShortFactors));
    Json::Object scaling = {
        {"rope_type", "longrope"}, {"short_factor", *std::move(shorts)}, {"long_factor", std::move(longs)}};
    if (has("rope.scaling.original_context_length"))
      scaling.emplace_back("original_max_position_embeddings", size("rope.scaling.original_context_length"));
    if (has("rope.scaling.attn_factor")) scaling.emplace_back("attention_factor", positive("rope.scaling.attn_factor"));
    return scaling;
  }

  // The converter computes those of Llama 3 from its rope_scaling.
  std::optional<Json::Array> rope_factors(std::string_view name) const {
    for (const std::shared_ptr<const GgufFile>& file : model_.files()) {
      const GgufTensor* tensor = file->header().find_tensor(name);
      if (tensor == nullptr) continue;
      const std::int64_t pairs = (turned_ + 1) / 2;
      if (tensor->type->dtype != DType::f32 || tensor->dims.size() != 1 || tensor->dims.front() != pairs)
        refuse(std::string(name) + " is not a list of f32 with a number for each of the " + std::to_string(pairs) +
               " pairs of a head");
      const std::span<const std::byte> bytes = file->bytes(*tensor);
      Json::Array factors;
      for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
        const auto factor = std::bit_cast<float>(load_little_endian<std::uint32_t>(bytes.subspan(i, sizeof(float))));
        if (!std::isfinite(factor) || factor <= 0) refuse(std::string(name) + " has numbers that are not above 0");
        factors.emplace_back(double{factor});
      }
      return factors;
    }
    return std::nullopt;
  }

  void add_tokens() {
    for (const auto& [name, end] : {std::pair{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                    std::pair{"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                    std::pair{"pad_token_id", "tokenizer.ggml.padding_token_id"}}) {
      if (model_.find(end) != nullptr) add(name, model_.require_int(end));
    }
  }

  // What only one family has.
  void add_family() {
    if (family_.architecture == "gemma2") add_gemma2();
    if (family_.architecture == "gemma3") add_gemma3();
    if (family_.architecture == "granite") add_granite();
    if (family_.architecture == "mistral3") add_mistral3();
    if (family_.architecture == "phi3") add_phi3();
  }

  // The largest model scales by the width of a head that its hidden size would have, the others by that of their heads.
  void add_query_scale(std::int64_t layers_of_largest) {
    add("query_pre_attn_scalar", layers_ == layers_of_largest ? hidden_ / heads_ : head_size_);
  }

  void add_gemma2() {
    add_query_scale(46);
    for (const std::string_view end : {"attn_logit_softcapping", "final_logit_softcapping"}) {
      if (has(end)) add(std::string(end), positive(end));
    }
  }

  void add_gemma3() {
    add_query_scale(62);
    add("rope_local_base_freq", positive("rope.freq_base_swa", 10000));
    if (has("final_logit_softcapping")) add("final_logit_softcapping", positive("final_logit_softcapping"));
  }

  void add_granite() {
    for (const auto& [end, name] :
         {std::pair{"embedding_scale", "embedding_multiplier"}, std::pair{"residual_scale", "residual_multiplier"},
          std::pair{"logit_scale", "logits_scaling"}}) {
      if (has(end)) add(name, positive(end));
    }
    add("attention_multiplier", positive("attention.scale", 1 / std::sqrt(static_cast<double>(head_size_))));
    if (const GgufValue* is_turned = model_.find(key("rope.scaling.finetuned")); is_turned != nullptr) {
      if (!is_turned->as_bool(key("rope.scaling.finetuned")))
        refuse_setting(key("rope.scaling.finetuned"), "is false: no layer has positions");
    }
  }

  void add_mistral3() {
    const auto scaling = std::ranges::find(members_, "rope_scaling", &Json::Member::first);
    Json::Object rope =
        scaling == members_.end() ? Json::Object{{"rope_type", "default"}} : scaling->second.as_object("rope_scaling");
    if (has("attention.temperature_scale"))
      rope.emplace_back("llama_4_scaling_beta", model_.require_double(key("attention.temperature_scale")));
    if (scaling == members_.end()) return add("rope_scaling", std::move(rope));
    scaling->second = std::move(rope);
  }

  void add_phi3() {
    // Rounded down it gives the number again.
    if (turned_ != head_size_)
      add("partial_rotary_factor", (static_cast<double>(turned_) + 0.5) / static_cast<double>(head_size_));
    if (has("rope.scaling.original_context_length"))
      add("original_max_position_embeddings", size("rope.scaling.original_context_length"));
  }

  void add_pooling() {
    const std::int64_t pooling = model_.get_int(key("pooling_type"), 0);
    if (pooling == 0) return;
    constexpr std::array<std::string_view, 3> kModes = {"mean", "cls", "last"};
    if (pooling < 1 || pooling > static_cast<std::int64_t>(kModes.size()))
      refuse_setting(key("pooling_type"), "is " + std::to_string(pooling));
    add("pooling", kModes.at(static_cast<std::size_t>(pooling - 1)));
  }

  const GgufModel& model_;
  const GgufFamily& family_;
  std::string architecture_;
  Json::Object members_;
  std::int64_t layers_ = 0, hidden_ = 0, heads_ = 0, head_size_ = 0, turned_ = 0;
  bool is_mistral_ = false;
};

}  // namespace

GgufHeads gguf_heads(const GgufModel& model) { return ConfigReader(model).heads(); }

Json gguf_config(const GgufModel& model) { return ConfigReader(model).read(); }

}  // namespace alate::formats
