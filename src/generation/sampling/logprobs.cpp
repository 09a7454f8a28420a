#include "generation/sampling/logprobs.h"

#include <algorithm>
#include <cmath>

#include "generation/sampling/exponentials.h"
#include "generation/sampling/selection.h"

namespace alate::generation {

double log_sum(std::span<const float> logits, std::vector<float>& weights) {
  weights.resize(logits.size());
  const float greatest = *std::ranges::max_element(logits);
  return static_cast<double>(greatest) + std::log(exponentials(logits, greatest, weights));
}

void top_logprobs(std::span<const float> logits, double log_of_sum, std::size_t count, std::vector<Rank>& ranks,
                  std::vector<TokenLogprob>& top) {
  greatest_ranks(logits, count, ranks);
  top.clear();
  for (const Rank& rank : ranks) {
    const double logprob = static_cast<double>(logits[rank.index]) - log_of_sum;
    top.push_back({static_cast<std::int32_t>(rank.index), static_cast<float>(logprob)});
  }
}

}  // namespace alate::generation
