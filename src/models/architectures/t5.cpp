// The encoder of T5 (Raffel et al. 2020, arXiv:1910.10683), mT5 (Xue et al. 2021, arXiv:2010.11934) and UMT5 (Chung et
// al. 2023, arXiv:2304.09151): norms before each part, scores that are not scaled, and a bias for each distance of two
// places instead of positions. Names and defaults are those of transformers' T5EncoderModel and its relatives.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "models/blocks/distance_scores.h"
#include "models/blocks/rotary_encoder.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using formats::Json;
using graph::Value;

// The reference has no limit; its n_positions is not read. By place, the biases of a row take the square of its length.
constexpr std::int64_t kMaxPositions = 4096, kMaxBuckets = 4096;
constexpr std::string_view kBias = "layer.0.SelfAttention.relative_attention_bias";

constexpr RotaryNames kNames = {.words = "shared",
                                .layer = "encoder.block.",
                                .query = "layer.0.SelfAttention.q",
                                .key = "layer.0.SelfAttention.k",
                                .value = "layer.0.SelfAttention.v",
                                .attention_output = "layer.0.SelfAttention.o",
                                .gate = {},
                                .up = "layer.1.DenseReluDense.wi",
                                .down = "layer.1.DenseReluDense.wo",
                                .before_attention = "layer.0.layer_norm",
                                .before_feed_forward = "layer.1.layer_norm",
                                .final_norm = "encoder.final_layer_norm"};

bool is_first_kind(const Json& json) { return json.get_string("model_type", "") == "t5"; }

// T5's keys of config.json, as those that most families have. transformers accepts either.
Json in_common_spelling(const Json& json) {
  const bool is_t5 = is_first_kind(json);
  Json::Object common = {{"max_position_embeddings", kMaxPositions}};
  const auto size = [&](std::string_view key, std::string_view common_key, std::int64_t otherwise) {
    common.emplace_back(std::string(common_key), json.get_int(json.find(key) == nullptr ? common_key : key, otherwise));
  };
  size("vocab_size", "vocab_size", is_t5 ? 32128 : 250112);
  size("d_model", "hidden_size", 512);
  size("d_ff", "intermediate_size", is_t5 ? 2048 : 1024);
  size("num_layers", "num_hidden_layers", is_t5 ? 6 : 8);
  size("num_heads", "num_attention_heads", is_t5 ? 8 : 6);
  size("d_kv", "head_dim", 64);
  return common;
}

RotaryConfig t5_config(const Json& json) {
  RotaryConfig config = read_rotary_config(in_common_spelling(json), {.family = "T5", .is_rotary = false});
  config.names = kNames;
  config.epsilon = json.get_double("layer_norm_epsilon", 1e-6);
  config.attention_scale = 1;
  config.activation = json.get_string("feed_forward_proj", is_first_kind(json) ? "relu" : "gated-gelu");
  constexpr std::string_view kGated = "gated-";
  if (config.activation.starts_with(kGated)) {
    config.names.gate = "layer.1.DenseReluDense.wi_0";
    config.names.up = "layer.1.DenseReluDense.wi_1";
    config.activation.erase(0, kGated.size());
    if (config.activation == "gelu") config.activation = "gelu_new";
  }
  return config;
}

EncoderLimits read_limits(const Json& json) {
  EncoderLimits limits = distance_limits(t5_config(json));
  limits.types = 0;
  return limits;
}

RotaryConfig t5_in(EncoderScope& scope) { return t5_config(scope.config); }

Value encode_batch(EncoderScope& scope) {
  const RotaryConfig config = t5_in(scope);
  const std::int64_t buckets = scope.config.get_int("relative_attention_num_buckets", 32);
  const std::int64_t farthest = scope.config.get_int("relative_attention_max_distance", 128);
  if (buckets < 4 || buckets > kMaxBuckets)
    throw make_error(ErrorCode::corrupt, "config.json: relative_attention_num_buckets is ", buckets,
                     ", which no T5 has");
  if (farthest <= buckets / 4)
    throw make_error(ErrorCode::corrupt, "config.json: relative_attention_max_distance is ", farthest,
                     ", but distances up to ", buckets / 4, " have buckets of their own");
  const auto scores_of = [&](std::size_t layer) {
    return learned_scores(scope, std::string(kNames.layer) + std::to_string(layer) + "." + std::string(kBias), buckets,
                          buckets, farthest, config.heads, kMaxPositions);
  };
  // T5's first layer has the biases of all, UMT5's layers each have their own.
  if (scope.config.get_string("model_type", "") == "umt5") return RotaryEncoder(scope, config).encode(scores_of);
  const AddedScores shared = scores_of(0);
  return RotaryEncoder(scope, config).encode([&](std::size_t) { return shared; });
}

// T5Model's last hidden state is the decoder's.
EncoderOutputs base(RotaryEncoder& encoder, Value x) {
  const Json* names = encoder.scope().config.find("architectures");
  if (names != nullptr && names->is_array() && !names->as_array("architectures").empty()) {
    const std::string& name = names->as_array("architectures")[0].as_string("architectures[0]");
    if (name.ends_with("T5Model"))
      throw make_error(ErrorCode::unsupported, "'", name,
                       "' of config.json's architectures is an encoder with a decoder, of which only the encoder is "
                       "built here; write EncoderModel for Model to run it: ",
                       name);
  }
  return hidden_state(encoder, x);
}

EncoderOutputs token_logits(RotaryEncoder& encoder, Value x) {
  return {{"logits", encoder.projection("classifier", x)}};
}

constexpr std::array kHeads = {EncoderHead{"ForTokenClassification", with_rotary<t5_in, token_logits>}};

constexpr std::array kTied = {
    TiedWeights{"shared.weight", "encoder.embed_tokens.weight", true},
    TiedWeights{"shared.weight", "decoder.embed_tokens.weight", true},
    TiedWeights{"shared.weight", "lm_head.weight"},
};

Architecture described(std::string_view model_type, std::string_view class_name, std::string_view examples) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = "transformer.",
          .limits = read_limits,
          .entries = kEncodes<encode_batch>,
          .base = {"EncoderModel", with_rotary<t5_in, base>},
          .heads = kHeads,
          .tied = kTied,
          .examples = examples,
          .also_read =
              "the encoder of a file that has a decoder too, for `embed`; `encoder.embed_tokens`, "
              "`decoder.embed_tokens` or a tied `lm_head` for `shared`",
          .refused = "models with their decoder (`Model`, `ForConditionalGeneration`) in `forward`"};
}

}  // namespace

Architecture t5() { return described("t5", "T5", "sentence-t5-base, gtr-t5-base, instructor-base"); }
Architecture mt5() { return described("mt5", "MT5", "mt5-small as an encoder"); }
Architecture umt5() { return described("umt5", "UMT5", "umt5-small as an encoder"); }

}  // namespace alate::models
