// The encoder with rotary positions that most models since 2023 have: norms before or after each part, grouped heads,
// gated feed-forward layers, windows, causal or not. Also with scores by distance (T5, ALiBi) or a table of positions
// instead of rotary positions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/blocks/distance_scores.h"
#include "models/blocks/experts.h"
#include "models/blocks/rope.h"
#include "models/encoder.h"

namespace alate::models {

/// The names of weights, without ".weight". An empty name is a part that the family does not have; a layer's name
/// stands before those below it.
struct RotaryNames {
  std::string_view words = "embed_tokens", types = {}, positions = {}, embedding_norm = {};
  std::string_view layer = "layers.";  // then the layer's number and a dot
  std::string_view query = "self_attn.q_proj", key = "self_attn.k_proj", value = "self_attn.v_proj";
  std::string_view query_key_value = {};            // one layer for all three, in this order
  std::string_view query_norm = {}, key_norm = {};  // of each head, or of all heads (RotaryConfig::norms_all_heads)
  std::string_view attention_output = "self_attn.o_proj";
  std::string_view attention_norm = {};  // of the output and the layer's input, before other norms and the residual
  std::string_view gate = "mlp.gate_proj", up = "mlp.up_proj", down = "mlp.down_proj";  // gate empty: not gated
  std::string_view gate_up = {}, up_gate = {};  // one layer for both, in this order
  // Norms: before attention and feed-forward layers, and after them (before the residual is added, or after it where
  // the family has no norms before).
  std::string_view before_attention = "input_layernorm", after_attention = {};
  std::string_view before_feed_forward = "post_attention_layernorm", after_feed_forward = {};
  std::string_view final_norm = "norm";
};

enum class NormKind { layer, rms, rms_plus_one };  // rms_plus_one: scaled by 1 + weight

struct RotaryLayer {
  std::size_t rope = 0;                      // index of RotaryConfig::ropes; not used where that is empty
  bool has_rope = true;                      // false: queries and keys of this layer have no positions
  std::int64_t window = -1;                  // tokens on each side that attention sees; -1: all
  std::int64_t head_size = 0, kv_heads = 0;  // where they differ from RotaryConfig's; 0: they do not
  ExpertSizes experts = {};                  // under `mlp`, instead of one feed-forward part
};

/// Queries at position p are multiplied by 1 + beta · log(1 + floor(p / every)), as in Llama 4.
struct QueryGrowth {
  double beta = 0;  // 0: they are not
  std::int64_t every = 1;
};

struct RotaryConfig {
  std::int64_t vocabulary = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, intermediate = 0, positions = 0;
  std::int64_t types = 0;  // 0: no table of types
  NormKind norm = NormKind::rms;
  double epsilon = 0;
  std::string activation;
  bool is_causal = false;
  bool norms_all_heads = false;  // query_norm and key_norm are of all heads side by side
  bool norms_values = false;     // of each head, without weights
  double embedding_scale = 1, attention_scale = 1;
  double residual_scale = 1;  // of what attention and feed-forward layers give, before it is added to their input
  double attention_cap = 0;   // scores become cap · tanh(score / cap); 0: none
  double logits_divisor = 1, logits_cap = 0;  // of the vocabulary's logits; cap as above, after the division
  QueryGrowth query_growth = {};
  std::vector<RopeSettings> ropes;
  std::vector<RotaryLayer> layers;
  RotaryNames names = {};
};

/// The keys of config.json of families that follow Llama's, and their defaults.
struct RotaryDefaults {
  std::string_view family;
  std::int64_t vocabulary = 32000, hidden = 4096, layers = 32, heads = 32, kv_heads = 0, intermediate = 11008,
               positions = 2048, head_size = 0;  // 0: as many as heads; hidden / heads
  std::string_view epsilon_key = "rms_norm_eps", activation_key = "hidden_act";
  double epsilon = 1e-6;
  std::string_view activation = "silu";
  RopeSource rope = {};
  bool is_rotary = true;  // false: no ropes
};

/// One kind of layer, without windows. Throws corrupt for sizes that no such model has, and as read_rope.
RotaryConfig read_rotary_config(const formats::Json& config, const RotaryDefaults& defaults);
EncoderLimits rotary_limits(const RotaryConfig& config);
/// The same for encoders in which each distance has a score.
EncoderLimits distance_limits(const RotaryConfig& config);

/// Whether layer i sees a window: as `layer_types` of current files says, otherwise `by_number`. Throws corrupt for a
/// list that is too short, unsupported naming another type of layer.
bool sees_window(const formats::Json& config, std::size_t i, bool by_number);

/// What is added to the scores of attention in the layer of this number.
using LayerScores = std::function<AddedScores(std::size_t layer)>;
/// What the layer of this number gives, from the output of its parts and the encoder's embeddings.
using LayerEnd = std::function<graph::Value(std::size_t layer, graph::Value x, graph::Value embedded)>;

/// Builds the parts of such an encoder. Both arguments must outlive it.
class RotaryEncoder {
 public:
  RotaryEncoder(EncoderScope& scope, const RotaryConfig& config) : scope_(scope), config_(config) {}

  EncoderScope& scope() const { return scope_; }
  const RotaryConfig& config() const { return config_; }

  /// Embeddings and all layers: [tokens, hidden]. An empty `scores` adds nothing; without an `end`, layers end with
  /// their feed-forward part.
  graph::Value encode(const LayerScores& scores = {}, const LayerEnd& end = {});

  /// NAME.weight and, where the file has it, NAME.bias, in float32: a head.
  graph::Value head_layer(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);
  /// The same; the file gives the number of labels.
  graph::Value projection(const std::string& name, graph::Value x);
  graph::Value norm(const std::string& name, graph::Value x, std::int64_t width);
  /// Logits of the vocabulary [tokens, vocabulary]: a product with NAME.weight, or with the word table where the file
  /// has no such table. NAME.bias, or `bias`, is added where it is there; then they are divided and capped.
  graph::Value vocabulary_logits(const std::string& name, graph::Value x, const std::string& bias = {});
  /// start_logits and end_logits [tokens].
  std::vector<EncoderOutput> span_logits(const std::string& name, graph::Value x);
  graph::Value first_tokens(graph::Value x);
  /// The mean over the visible tokens of each sequence.
  graph::Value mean_of_tokens(graph::Value x);
  /// Each sequence's last visible token that is not `padding` (-1: its last one), as transformers' classifiers over
  /// decoders choose it.
  graph::Value last_tokens(graph::Value x, std::int64_t padding);

 private:
  std::optional<graph::Value> long_texts(const RopeSettings& rope);
  graph::Value query_growth();
  graph::Value embeddings();
  graph::Value layer(std::size_t index, graph::Value x, const LayerScores& scores);
  std::int64_t head_size(const RotaryLayer& layer) const;
  std::vector<graph::Value> projections(const std::string& name, const RotaryLayer& layer, graph::Value x);
  graph::Value attention(const std::string& name, const RotaryLayer& layer, graph::Value x,
                         std::optional<AddedScores> scores);
  graph::Value feed_forward(const std::string& name, const RotaryLayer& layer, graph::Value x);
  graph::Value linear(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);

  EncoderScope& scope_;
  const RotaryConfig& config_;
  std::vector<RopeAngles> angles_;
  std::optional<graph::Value> query_growth_;  // [tokens]
};

using EncoderOutputs = std::vector<EncoderOutput>;

/// Makes a function of EncoderHead from one over the encoder, whose configuration `read` reads.
template <RotaryConfig (*read)(EncoderScope& scope), auto build>
EncoderOutputs with_rotary(EncoderScope& scope, graph::Value last_hidden_state) {
  const RotaryConfig config = read(scope);
  RotaryEncoder encoder(scope, config);
  return build(encoder, last_hidden_state);
}
template <RotaryConfig (*read)(EncoderScope& scope)>
graph::Value encode_rotary(EncoderScope& scope) {
  const RotaryConfig config = read(scope);
  return RotaryEncoder(scope, config).encode();
}

/// An encoder whose scores fall with the distance instead of rotary positions.
graph::Value encode_by_alibi(EncoderScope& scope, const RotaryConfig& config);

/// {"last_hidden_state"}.
EncoderOutputs hidden_state(RotaryEncoder& encoder, graph::Value x);

}  // namespace alate::models
