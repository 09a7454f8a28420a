// Log probabilities of the model's own distribution.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "alate/sampling.h"
#include "generation/sampling/candidates.h"

namespace alate::generation {

/// The logarithm of the sum of e^logit; a token's log probability is its logit minus this. `weights` is scratch memory.
double log_sum(std::span<const float> logits, std::vector<float>& weights);

/// The `count` most probable tokens, the most probable first, of equal ones the smaller id; fewer if there are not so
/// many. `ranks` is scratch memory.
void top_logprobs(std::span<const float> logits, double log_of_sum, std::size_t count, std::vector<Rank>& ranks,
                  std::vector<TokenLogprob>& top);

}  // namespace alate::generation
