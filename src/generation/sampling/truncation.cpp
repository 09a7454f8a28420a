#include "generation/sampling/truncation.h"

#include <cmath>
#include <span>

#include "generation/sampling/exponentials.h"
#include "generation/sampling/logit_row.h"
#include "generation/sampling/selection.h"

namespace alate::generation {
namespace {

// The surprise of candidates, -log p in nats, once they are weighed.
struct Surprises {
  explicit Surprises(Candidates& candidates)
      : log_total(std::log(candidates.total())),
        greatest(static_cast<double>(candidates.greatest())),
        logits(candidates.logits().data()) {}

  double operator()(std::size_t i) const { return log_total - (static_cast<double>(logits[i]) - greatest); }

  double log_total, greatest;
  const float* logits;
};

// Keeps the first candidates, the likeliest first, until their masses add up to `mass` and they are `count`.
template <typename MassOf>
void keep_likeliest(Candidates& candidates, double mass, std::size_t count, const MassOf& mass_of) {
  const float* const logits = candidates.logits().data();
  const auto key_of = [logits](std::size_t i) { return -logits[i]; };
  const Rank last =
      last_of_mass(candidates.size(), -candidates.greatest(), mass, count, candidates.ranks(), key_of, mass_of);
  candidates.keep_if([&](std::size_t i) { return !(last < Rank{key_of(i), static_cast<std::uint32_t>(i)}); });
}

}  // namespace

double entropy(Candidates& candidates) {
  const double total = candidates.total();
  const Surprises surprise_of(candidates);
  const float* const weights = candidates.weights().data();
  double sum = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (weights[i] > 0) sum += static_cast<double>(weights[i]) * surprise_of(i);
  }
  return sum / total;
}

void keep_top_n_sigma(Candidates& candidates, double deviations) {
  const auto count = static_cast<double>(candidates.size());
  const float* const logits = candidates.logits().data();
  const double mean = sum_of(candidates.logits()) / count;
  double squares = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double difference = static_cast<double>(logits[i]) - mean;
    squares += difference * difference;
  }
  const double least = static_cast<double>(candidates.greatest()) - deviations * std::sqrt(squares / count);
  candidates.keep_if([&](std::size_t i) { return static_cast<double>(logits[i]) >= least; });
}

void keep_top_k(Candidates& candidates, std::size_t count) {
  if (count >= candidates.size()) return;
  keep_likeliest(candidates, 0, count, [](std::size_t) { return 0.0; });
}

void keep_typical(Candidates& candidates, double mass, std::size_t min_keep) {
  const double total = candidates.total(), mean_surprise = entropy(candidates);
  const Surprises surprise_of(candidates);
  const auto key_of = [&](std::size_t i) { return finite(std::abs(surprise_of(i) - mean_surprise)); };
  const float* const weights = candidates.weights().data();
  const Rank last = last_of_mass(candidates.size(), 0, mass * total, min_keep, candidates.ranks(), key_of,
                                 [&](std::size_t i) { return static_cast<double>(weights[i]); });
  candidates.keep_if([&](std::size_t i) { return !(last < Rank{key_of(i), static_cast<std::uint32_t>(i)}); });
}

void keep_top_p(Candidates& candidates, double mass, std::size_t min_keep) {
  const double total = candidates.total();
  const float* const weights = candidates.weights().data();
  keep_likeliest(candidates, mass * total, min_keep, [=](std::size_t i) { return static_cast<double>(weights[i]); });
}

void keep_min_p(Candidates& candidates, double share, std::size_t min_keep) {
  const double least = static_cast<double>(candidates.greatest()) + std::log(share);
  const float* const logits = candidates.logits().data();
  const auto is_likely = [&](std::size_t i) { return static_cast<double>(logits[i]) >= least; };
  if (min_keep > 1) {
    std::size_t likely = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) likely += is_likely(i) ? 1 : 0;
    if (likely < min_keep) return keep_top_k(candidates, min_keep);
  }
  candidates.keep_if(is_likely);
}

void exclude_top_choices(Candidates& candidates, double threshold, std::size_t min_keep) {
  const double least = threshold * candidates.total();
  const float* const logits = candidates.logits().data();
  const float* const weights = candidates.weights().data();
  const auto is_top = [&](std::size_t i) { return static_cast<double>(weights[i]) >= least; };
  std::size_t tops = 0, kept = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_top(i)) continue;
    if (tops == 0 || logits[i] < logits[kept]) kept = i;
    ++tops;
  }
  if (tops < 2 || candidates.size() - (tops - 1) < min_keep) return;
  candidates.keep_if([&](std::size_t i) { return i == kept || !is_top(i); });
}

}  // namespace alate::generation
