// Feed-forward layers of experts, of which each token takes a few (Shazeer et al. 2017, arXiv:1701.06538).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/encoder.h"

namespace alate::models {

/// Sizes of such a layer; no experts: it is a usual one.
struct ExpertSizes {
  std::int64_t count = 0, taken = 0;  // taken by each token
  std::int64_t hidden = 0, intermediate = 0;

  bool operator==(const ExpertSizes&) const = default;
};

/// x [tokens, hidden] through the experts under NAME, weighted by the softmax of the router's scores, which is not
/// scaled to a sum of 1 over those that are taken. Names are those of megablocks: NAME.router.layer.weight [count,
/// hidden], NAME.experts.mlp.w1 and w2 [count · intermediate, hidden], NAME.experts.bias [hidden]. All experts compute
/// all tokens, in f32; the gates of those that are not taken are 0.
graph::Value expert_layers(EncoderScope& scope, const std::string& name, const ExpertSizes& sizes,
                           std::string_view activation, graph::Value x);

}  // namespace alate::models
