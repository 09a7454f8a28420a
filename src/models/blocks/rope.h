// Rotary positions (Su et al. 2021, arXiv:2104.09864): the angles of a model's settings, as graph values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "graph/builder.h"

namespace alate::models {

/// How far a position turns each pair of values of a head.
struct RopeSettings {
  std::vector<float> frequencies;  // radians a position, one for each pair; values of a head past the pairs stay
  /// Those of all tokens of a text of more than `short_text` tokens (LongRoPE); empty: the same.
  std::vector<float> long_frequencies = {};
  std::int64_t short_text = 0;
  double scale = 1;  // of the cosines and sines

  bool operator==(const RopeSettings&) const = default;
};

/// Where config.json states them: `rope_parameters` of current files (or its member `layer_type`, where layers differ),
/// else `rope_scaling` beside `theta_key`.
struct RopeSource {
  std::string_view theta_key = "rope_theta";
  double theta = 10000;              // where the file states none
  std::string_view layer_type = {};  // "full_attention"
  bool is_scaled = true;             // rope_scaling applies
  bool is_partial = false;           // heads may be turned in part: partial_rotary_factor
  /// Of Phi-3, whose kinds "su" and "yarn" are longrope: original_max_position_embeddings where the file has none.
  std::optional<std::int64_t> phi3_positions = std::nullopt;
};

/// For heads of `width` values of a model with `positions` positions. The kinds default, linear, dynamic, llama3,
/// longrope and yarn are as in transformers' modeling_rope_utils, ntk as in the code of gte models, factors as in
/// formats::gguf_config; dynamic changes nothing within `positions`. Throws unsupported
/// naming another kind, corrupt for numbers that no such kind has.
RopeSettings read_rope(const formats::Json& config, const RopeSource& source, std::int64_t width,
                       std::int64_t positions);

/// Cosines and sines of each token, [tokens, pairs].
struct RopeAngles {
  graph::Value cosines, sines;
};
/// `is_long`, bool [tokens]: whether a token's text has more than `short_text` tokens. Not read without
/// long_frequencies.
RopeAngles rope_angles(graph::Builder& b, const RopeSettings& settings, graph::Value positions,
                       std::optional<graph::Value> is_long);

/// x [tokens, heads, width], turned.
graph::Value turned(graph::Builder& b, graph::Value x, const RopeAngles& angles);

}  // namespace alate::models
