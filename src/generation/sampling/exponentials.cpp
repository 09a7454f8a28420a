#include "generation/sampling/exponentials.h"

#include <array>
#include <cstddef>

namespace alate::generation {

double sum_of(std::span<const float> numbers) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes = {};
  std::size_t i = 0;
  const float* const from = numbers.data();
  for (; i + kLanes <= numbers.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(from[i + lane]);
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; i < numbers.size(); ++i) sum += static_cast<double>(numbers[i]);
  return sum;
}

double exponentials(std::span<const float> logits, float greatest, std::span<float> weights) {
  const float* const from = logits.data();
  float* const to = weights.data();
  for (std::size_t i = 0; i < logits.size(); ++i) to[i] = exp_of_nonpositive(from[i] - greatest);
  return sum_of(weights);
}

}  // namespace alate::generation
