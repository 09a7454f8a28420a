#include "generation/sampling/selection.h"

namespace alate::generation {

void greatest_ranks(std::span<const float> logits, std::size_t count, std::vector<Rank>& ranks) {
  ranks.clear();
  const float* const from = logits.data();
  // A heap with the last rank at its front; nearly all logits are below that.
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Rank rank = {-from[i], static_cast<std::uint32_t>(i)};
    if (ranks.size() < count) {
      ranks.push_back(rank);
      std::push_heap(ranks.begin(), ranks.end());
    } else if (count > 0 && rank < ranks.front()) {
      std::pop_heap(ranks.begin(), ranks.end());
      ranks.back() = rank;
      std::push_heap(ranks.begin(), ranks.end());
    }
  }
  std::sort_heap(ranks.begin(), ranks.end());
}

}  // namespace alate::generation
