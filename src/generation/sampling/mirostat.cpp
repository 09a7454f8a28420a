#include "generation/sampling/mirostat.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "generation/sampling/selection.h"
#include "generation/sampling/truncation.h"

namespace alate::generation {
namespace {

constexpr std::size_t kLikeliest = 100;

// The exponent of Zipf's law, fitted to the ratios of neighbours among the likeliest candidates: equation 30 of the
// paper.
double slope(Candidates& candidates) {
  std::vector<Rank>& ranks = candidates.ranks();
  greatest_ranks(candidates.logits(), kLikeliest, ranks);
  const std::size_t count = ranks.size();
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products +=
        t * (static_cast<double>(ranks[i + 1].key) - static_cast<double>(ranks[i].key));  // log of p[i] / p[i + 1]
    squares += t * t;
  }
  return products / squares;
}

}  // namespace

void keep_by_slope(Candidates& candidates, double limit, std::size_t vocabulary_size) {
  if (candidates.size() < 2) return;
  const double s = slope(candidates), epsilon = s - 1;
  if (!(s > 0)) return;  // all equally likely
  // epsilon / (1 - size^-epsilon), and its limit at 0.
  const double log_size = std::log(static_cast<double>(vocabulary_size));
  const double factor = std::abs(epsilon) < 1e-9 ? 1 / log_size : epsilon / -std::expm1(-epsilon * log_size);
  const double count = std::pow(factor * std::exp2(limit), 1 / s);
  if (count < static_cast<double>(candidates.size()))
    keep_top_k(candidates, static_cast<std::size_t>(std::max(count, 1.0)));
}

void keep_by_surprise(Candidates& candidates, double limit) {
  const double least = candidates.total() * std::exp2(-limit);
  if (least > 1) return keep_top_k(candidates, 1);  // the likeliest has weight 1
  const float* const weights = candidates.weights().data();
  candidates.keep_if([&](std::size_t i) { return static_cast<double>(weights[i]) >= least; });
}

}  // namespace alate::generation
